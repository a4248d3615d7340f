"""Graphs equal up to the names of their blank nodes, and terms equal by value."""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from scepter.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple

Graph: TypeAlias = frozenset[Triple]
_Colours: TypeAlias = dict[BlankNode, int]

_INTEGERS = frozenset(
    XSD + name
    for name in (
        "integer", "nonPositiveInteger", "negativeInteger", "long", "int", "short", "byte",
        "nonNegativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte", "positiveInteger",
    )
)  # fmt: skip
_DECIMAL = re.compile(r"([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?\Z", re.ASCII)
_NAMED_FLOATS = {"nan": "NaN", "inf": "INF", "-inf": "-INF"}
_FLOAT = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\Z|[+-]?INF\Z|NaN\Z", re.ASCII)


def by_value(term: Term) -> Term:
    """The same term with its number in one spelling: numbers are compared by datatype and value (spec/60-cases).

    >>> by_value(Literal("+02.50", XSD + "decimal")).lexical
    '2.5'
    """
    if not isinstance(term, Literal):
        return term
    if term.datatype in _INTEGERS or term.datatype == XSD + "decimal":
        lexical = _canonical_decimal(term.lexical, point=term.datatype == XSD + "decimal")
    elif term.datatype in (XSD + "double", XSD + "float") and _FLOAT.match(term.lexical):
        lexical = _canonical_float(term.lexical, single=term.datatype == XSD + "float")
    else:
        return term
    return term if lexical is None else Literal(lexical, term.datatype)


def _canonical_decimal(lexical: str, *, point: bool) -> str | None:
    # On the characters: an integer may have more digits than int() accepts.
    match = _DECIMAL.match(lexical)
    if match is None or ("." in lexical and not point):
        return None
    sign, whole, fraction = match.groups(default="")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    digits = (whole or "0") + (f".{fraction}" if fraction else "")
    return f"-{digits}" if sign == "-" and digits != "0" else digits


def _canonical_float(lexical: str, *, single: bool) -> str:
    value = float(lexical)
    if single:
        try:
            (value,) = struct.unpack("f", struct.pack("f", value))
        except OverflowError:
            value = math.copysign(math.inf, value)
    # Names as XSD writes them: a lexical form that Python alone reads as a number must not become equal to one.
    return _NAMED_FLOATS.get(repr(value), repr(value + 0.0))


def blanked(graph: Iterable[Triple], known: Collection[str]) -> Graph:
    """The graph by value, each IRI that is not known standing as a blank node: generated IRIs are written so in cases."""
    return frozenset(Triple(*(_blank(by_value(term), known) for term in triple)) for triple in graph)


def _blank(term: Term, known: Collection[str]) -> Term:
    return BlankNode(f"generated {term.value}") if isinstance(term, IRI) and term.value not in known else term


def isomorphic(left: Graph, right: Graph) -> bool:
    """Whether renaming the blank nodes of one graph gives the other."""
    if len(left) != len(right) or _ground(left) != _ground(right):
        return False
    return _search(left, right, dict.fromkeys(_blanks(left), 0), dict.fromkeys(_blanks(right), 0))


def _ground(graph: Graph) -> Graph:
    return frozenset(triple for triple in graph if not any(isinstance(term, BlankNode) for term in triple))


def _blanks(graph: Graph) -> list[BlankNode]:
    found = {term for triple in graph for term in triple if isinstance(term, BlankNode)}
    return sorted(found, key=lambda node: node.label)


def _search(left: Graph, right: Graph, left_colours: _Colours, right_colours: _Colours) -> bool:
    """Colour refinement, then trying the partners of one node of the smallest ambiguous colour."""
    left_colours, right_colours = _refine(left, left_colours), _refine(right, right_colours)
    sizes = Counter(left_colours.values())
    if sizes != Counter(right_colours.values()):
        return False
    ambiguous = min((colour for colour, size in sizes.items() if size > 1), key=lambda colour: sizes[colour], default=None)
    if ambiguous is None:
        partner = {colour: node for node, colour in right_colours.items()}
        return _renamed(left, {node: partner[colour] for node, colour in left_colours.items()}) == right
    chosen = next(node for node, colour in left_colours.items() if colour == ambiguous)
    mark = hash(("chosen", ambiguous))
    return any(
        _search(left, right, {**left_colours, chosen: mark}, {**right_colours, candidate: mark})
        for candidate, colour in right_colours.items()
        if colour == ambiguous
    )


def _refine(graph: Graph, colours: _Colours) -> _Colours:
    classes = len(set(colours.values()))
    while True:
        seen: dict[BlankNode, list[int]] = {node: [] for node in colours}
        for subject, predicate, object in graph:
            s, p, o = (_colour(term, colours) for term in (subject, predicate, object))
            if isinstance(subject, BlankNode):
                seen[subject].append(hash(("subject", p, o)))
            if isinstance(object, BlankNode):
                seen[object].append(hash(("object", s, p)))
            if isinstance(predicate, BlankNode):
                # A generated IRI may stand as a predicate, where RDF allows no blank node.
                seen[predicate].append(hash(("predicate", s, o)))
        colours = {node: hash((colour, tuple(sorted(seen[node])))) for node, colour in colours.items()}
        if len(set(colours.values())) == classes:
            return colours
        classes = len(set(colours.values()))


def _colour(term: Term, colours: _Colours) -> int:
    return colours[term] if isinstance(term, BlankNode) else hash(term)


def _renamed(graph: Graph, names: Mapping[BlankNode, BlankNode]) -> Graph:
    return frozenset(Triple(*(names[t] if isinstance(t, BlankNode) else t for t in triple)) for triple in graph)
