"""When two answers are the same: blank nodes are all alike, and a computed number is its value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from scepter.rdf.terms import BlankNode, Literal, Term, Triple
from scepter.rdf.values import ExpressionError, number_of, to_literal

_EITHER_OF_EQUALS = ("min", "max")
"""Columns that may show any of several equal numbers, `2` or `2.0`."""
_COMPUTED = ("count", "sum", "avg", *_EITHER_OF_EQUALS)


def comparable(term: Term) -> str:
    """A term's text; blank nodes have lost their labels."""
    return "_" if isinstance(term, BlankNode) else str(term)


def comparable_number(term: Term, *, with_datatype: bool) -> object:
    """A number by value and, if wanted, datatype; any other term as it is."""
    if not isinstance(term, Literal):
        return comparable(term)
    try:
        number = number_of(term)
    except ExpressionError:
        return comparable(term)
    return str(to_literal(number)) if with_datatype else number


def comparable_row(row: Iterable[tuple[str, Term]]) -> object:
    """A row of bindings."""
    return frozenset(
        (name, comparable_number(term, with_datatype=name not in _EITHER_OF_EQUALS) if name in _COMPUTED else comparable(term))
        for name, term in row
    )


def comparable_graph(triples: Iterable[Triple]) -> object:
    """A graph up to blank nodes (exactly so where each of them occurs in one triple)."""
    return frozenset(Counter(tuple(comparable(term) for term in triple) for triple in triples).items())
