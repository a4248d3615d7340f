"""Filters of nested groups that the scan itself can apply."""

from __future__ import annotations

from dataclasses import replace

from scepter.algebra.expressions import Constant, Expression
from scepter.algebra.patterns import BGP, Filter, Graph, Join, Pattern
from scepter.algebra.query import Query, Scan
from scepter.algebra.scope import certain, expression_variables
from scepter.algebra.walk import Algebra, rewrite
from scepter.optimizer.conditions import conjuncts, is_movable


def lift_filters(query: Query) -> Query:
    """Make nested FILTERs filters of the scan if nothing but BGPs and `GRAPH iri` are left below: such a pattern is
    matched column by column.

    Only conditions over variables that their own group binds for certain move: they have the same value, or the same error,
    on the whole solution. With PARTITION BY the rule rests: which partitions an event belongs to is decided by the patterns
    without the scans' filters (SPAseq rule 14), and that must not change.

    >>> from scepter.algebra.text import format_node, parse_node
    >>> before = '''(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s>
    ...     (join (filter (> ?o 3) (bgp (triple ?s <p> ?o))) (bgp (triple ?s <q> ?r)))))))'''
    >>> print(format_node(lift_filters(parse_node(before, Query)).pattern.steps[0].atom))
    (scan "A" <http://s> (join (bgp (triple ?s <p> ?o)) (bgp (triple ?s <q> ?r))) (filters (> ?o 3)))
    """
    return query if query.partition else rewrite(query, _lift)


def _lift(node: Algebra) -> Algebra:
    if not isinstance(node, Scan):
        return node
    lifted: list[Expression] = []
    bare = _bare(node.pattern, lifted)
    return node if bare is None or not lifted else replace(node, pattern=bare, filters=(*node.filters, *lifted))


def _bare(pattern: Pattern, lifted: list[Expression]) -> Pattern | None:
    """The pattern without its filters, which are added to `lifted`; None if something else than joins remains."""
    match pattern:
        case BGP() | Graph(Constant(), BGP()):
            return pattern
        case Join(left, right):
            first, second = _bare(left, lifted), _bare(right, lifted)
            return None if first is None or second is None else Join(first, second)
        case Filter(condition, inner):
            parts, sure = conjuncts(condition), certain(inner)
            if not all(is_movable(part) and expression_variables(part) <= sure for part in parts):
                return None
            bare = _bare(inner, lifted)
            lifted += parts
            return bare
        case _:
            return None
