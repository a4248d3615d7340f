"""The order in which a basic graph pattern is searched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

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
    ordered = tuple(node.triples[at] for at in _places(node.triples))
    return node if ordered == node.triples else BGP(ordered)


def _places(triples: Sequence[TriplePattern]) -> Iterator[int]:
    """The places of triple patterns, the best first; of equals the one that stands first. A rank changes only when a variable
    of its pattern becomes known: so they wait in a heap, and a pattern of 10,000 triples is ordered at once."""
    having: dict[str, list[int]] = defaultdict(list)
    for at, triple in enumerate(triples):
        for name in _names(triple):
            having[name].append(at)
    bound: set[str] = set()
    done = [False] * len(triples)
    heap = _heap(triples, done, bound)
    while heap:
        *rank, at = heappop(heap)
        if done[at] or tuple(rank) != _inverse(_rank(triples[at], bound)):
            continue  # a better one of the same pattern was pushed
        done[at] = True
        yield at
        known = _names(triples[at]) - bound
        if known and not bound:  # from now on patterns hang together, or do not
            bound |= known
            heap = _heap(triples, done, bound)
            continue
        bound |= known
        for other in {other for name in known for other in having[name] if not done[other]}:
            heappush(heap, (*_inverse(_rank(triples[other], bound)), other))


def _heap(triples: Sequence[TriplePattern], done: Sequence[bool], bound: set[str]) -> list[tuple[int, int, int]]:
    heap = [(*_inverse(_rank(triple, bound)), at) for at, triple in enumerate(triples) if not done[at]]
    heapify(heap)
    return heap


def _inverse(rank: tuple[bool, int]) -> tuple[int, int]:
    """The greatest first."""
    return -rank[0], -rank[1]


def _rank(triple: TriplePattern, bound: set[str]) -> tuple[bool, int]:
    """A triple pattern that shares nothing with those before it would multiply the solutions: it waits."""
    names = _names(triple)
    hangs_together = not bound or not names or bool(names & bound)
    places = triple.places
    known = sum(w for place, w in zip(places, _WEIGHTS, strict=True) if not isinstance(place, Variable) or place.name in bound)
    return hangs_together, known


def _names(triple: TriplePattern) -> set[str]:
    return {n.name for n in triple.places if isinstance(n, Variable)}
