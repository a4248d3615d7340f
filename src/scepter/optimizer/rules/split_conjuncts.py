"""Filters of a scan, one condition each."""

from __future__ import annotations

from dataclasses import replace

from scepter.algebra.query import Query, Scan
from scepter.algebra.walk import Algebra, rewrite
from scepter.optimizer.conditions import conjuncts


def split_conjuncts(query: Query) -> Query:
    """Split a scan's filters at `&&`, and `!(a || b)` into `!a` and `!b`: each part is tested as early as it can be.

    A filter keeps a solution if it is true, neither false nor an error, and `a && b` is true exactly if both are.

    >>> from scepter.algebra.text import format_node, parse_node
    >>> before = '''(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s>
    ...     (bgp (triple ?s <p> ?o)) (filters (and (> ?o 3) (not (or (= ?o 5) (= ?s <x>)))))))))'''
    >>> [format_node(f) for f in split_conjuncts(parse_node(before, Query)).pattern.steps[0].atom.filters]
    ['(> ?o 3)', '(not (= ?o 5))', '(not (= ?s <x>))']
    """
    return rewrite(query, _split)


def _split(node: Algebra) -> Algebra:
    if not isinstance(node, Scan):
        return node
    parts = tuple(part for condition in node.filters for part in conjuncts(condition))
    return node if len(parts) == len(node.filters) else replace(node, filters=parts)
