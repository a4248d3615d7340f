"""A triple pattern that stands twice in a basic graph pattern."""

from __future__ import annotations

from scepter.algebra.patterns import BGP
from scepter.algebra.walk import Algebra
from scepter.optimizer.places import Reading, U, rewrite_unordered


def drop_duplicate_triples(unit: U) -> U:
    """Keep the first of equal triple patterns of a BGP: a graph is a set, so the second says nothing more.
    Over occurrences of triples it does: each triple pattern has an occurrence of its own.

    >>> from scepter.algebra.query import Query
    >>> from scepter.algebra.text import format_node, parse_node
    >>> before = '''(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s>
    ...     (bgp (triple ?s <p> ?o) (triple ?s <q> ?r) (triple ?s <p> ?o))))))'''
    >>> print(format_node(drop_duplicate_triples(parse_node(before, Query)).pattern.steps[0].atom.pattern))
    (bgp (triple ?s <p> ?o) (triple ?s <q> ?r))
    """
    return rewrite_unordered(unit, _drop, frozenset((Reading.GRAPH,)))


def _drop(node: Algebra) -> Algebra:
    if not isinstance(node, BGP):
        return node
    once = tuple(dict.fromkeys(node.triples))
    return node if len(once) == len(node.triples) else BGP(once)
