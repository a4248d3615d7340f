"""Join of basic graph patterns: one basic graph pattern."""

from __future__ import annotations

from functools import reduce

from scepter.algebra.patterns import BGP, Join, Pattern
from scepter.algebra.walk import Algebra
from scepter.optimizer.places import U, rewrite_unordered


def merge_bgps(unit: U) -> U:
    """Make one BGP of those that are joined, also across other joined patterns, and drop empty ones.

    Nothing moves across OPTIONAL, MINUS, UNION, FILTER or GRAPH: only what Joins alone hold together is regrouped. The blank
    nodes of the algebra are variables that lowering has given names of their own, so two BGPs never share one by accident.

    >>> from scepter.algebra.query import Query
    >>> from scepter.algebra.text import format_node, parse_node
    >>> before = '''(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s>
    ...     (join (bgp (triple ?s <p> ?o)) (values (?o)) (bgp (triple ?s <q> ?r)))))))'''
    >>> print(format_node(merge_bgps(parse_node(before, Query)).pattern.steps[0].atom.pattern))
    (join (bgp (triple ?s <p> ?o) (triple ?s <q> ?r)) (values (?o)))
    """
    return rewrite_unordered(unit, _merge)


def _merge(node: Algebra) -> Algebra:
    if not isinstance(node, Join):
        return node
    operands = _operands(node)
    groups = [p for p in operands if isinstance(p, BGP)]
    if len(groups) < 2 and not any(not g.triples for g in groups):
        return node
    merged = BGP(tuple(triple for group in groups for triple in group.triples))
    first = next(i for i, p in enumerate(operands) if isinstance(p, BGP))
    rest = [merged if i == first else p for i, p in enumerate(operands) if i == first or not isinstance(p, BGP)]
    if not merged.triples and len(rest) > 1:
        rest.remove(merged)
    return reduce(Join, rest)


def _operands(pattern: Pattern) -> list[Pattern]:
    """What Joins hold together, left to right: Join is associative and commutative (SPARQL 1.1 §18.5)."""
    found: list[Pattern] = []
    pending = [pattern]
    while pending:
        node = pending.pop()
        if isinstance(node, Join):
            pending += (node.right, node.left)
        else:
            found.append(node)
    return found
