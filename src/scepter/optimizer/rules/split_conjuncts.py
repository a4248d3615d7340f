"""Filters of a scan, or around the pattern of an event of MATCH, one condition each."""

from __future__ import annotations

from dataclasses import replace

from scepter.algebra.expressions import Expression
from scepter.algebra.patterns import Filter, Pattern
from scepter.algebra.query import Scan
from scepter.algebra.walk import Algebra
from scepter.algebra.windows import ItemScan
from scepter.optimizer.conditions import conjuncts
from scepter.optimizer.places import U, rewrite_everywhere


def split_conjuncts(unit: U) -> U:
    """Split a scan's filters at `&&`, and `!(a || b)` into `!a` and `!b`: each part is tested as early as it can be.

    A filter keeps a solution if it is true, neither false nor an error, and `a && b` is true exactly if both are.

    >>> from scepter.algebra.query import Query
    >>> from scepter.algebra.text import format_node, parse_node
    >>> before = '''(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s>
    ...     (bgp (triple ?s <p> ?o)) (filters (and (> ?o 3) (not (or (= ?o 5) (= ?s <x>)))))))))'''
    >>> [format_node(f) for f in split_conjuncts(parse_node(before, Query)).pattern.steps[0].atom.filters]
    ['(> ?o 3)', '(not (= ?o 5))', '(not (= ?s <x>))']
    """
    return rewrite_everywhere(unit, _split)


def _split(node: Algebra) -> Algebra:
    if isinstance(node, ItemScan):
        pattern = _nested(node.pattern)
        return node if pattern is node.pattern else replace(node, pattern=pattern)
    if not isinstance(node, Scan):
        return node
    parts = tuple(part for condition in node.filters for part in conjuncts(condition))
    return node if len(parts) == len(node.filters) else replace(node, filters=parts)


def _nested(pattern: Pattern) -> Pattern:
    """Filters around a pattern, one for each condition."""
    conditions: list[Expression] = []
    inner = pattern
    while isinstance(inner, Filter):
        conditions.append(inner.condition)
        inner = inner.pattern
    parts = [part for condition in conditions for part in conjuncts(condition)]
    if len(parts) == len(conditions):
        return pattern
    for part in reversed(parts):
        inner = Filter(part, inner)
    return inner
