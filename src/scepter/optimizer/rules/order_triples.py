"""The order in which a basic graph pattern is searched."""

from __future__ import annotations

from scepter.algebra.expressions import Variable
from scepter.algebra.patterns import BGP, TriplePattern
from scepter.algebra.walk import Algebra
from scepter.optimizer.places import U, rewrite_unordered

_WEIGHTS = (4, 1, 3)
"""How much a known subject, predicate and object narrow a search: an event says much with few predicates."""


def order_triples(unit: U) -> U:
    """Put first the triple patterns with most constants, then always one that hangs together with those before it.

    Which names the variables have does not matter, so that equal shapes stay equal; between equals the order stays.

    >>> from scepter.algebra.query import Query
    >>> from scepter.algebra.text import format_node, parse_node
    >>> before = '''(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s>
    ...     (bgp (triple ?s <p> ?o) (triple ?x <q> ?y) (triple ?o <r> 5) (triple ?y <q> <c>))))))'''
    >>> print(format_node(order_triples(parse_node(before, Query)).pattern.steps[0].atom.pattern))
    (bgp (triple ?o <r> 5) (triple ?s <p> ?o) (triple ?y <q> <c>) (triple ?x <q> ?y))
    """
    return rewrite_unordered(unit, _order)


def _order(node: Algebra) -> Algebra:
    if not isinstance(node, BGP):
        return node
    left, ordered = list(node.triples), list[TriplePattern]()
    bound: set[str] = set()
    while left:
        best = max(left, key=lambda triple: _rank(triple, bound))  # max keeps the first of equals
        left.remove(best)
        ordered.append(best)
        bound |= _names(best)
    return node if tuple(ordered) == node.triples else BGP(tuple(ordered))


def _rank(triple: TriplePattern, bound: set[str]) -> tuple[bool, int]:
    """A triple pattern that shares nothing with those before it would multiply the solutions: it waits."""
    names = _names(triple)
    hangs_together = not bound or not names or bool(names & bound)
    places = (triple.subject, triple.predicate, triple.object)
    known = sum(w for place, w in zip(places, _WEIGHTS, strict=True) if not isinstance(place, Variable) or place.name in bound)
    return hangs_together, known


def _names(triple: TriplePattern) -> set[str]:
    return {n.name for n in (triple.subject, triple.predicate, triple.object) if isinstance(n, Variable)}
