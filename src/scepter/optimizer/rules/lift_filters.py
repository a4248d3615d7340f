"""Filters of nested groups that the scan itself can apply."""

from __future__ import annotations

from dataclasses import replace

from scepter.algebra.expressions import Constant, Expression
from scepter.algebra.patterns import BGP, Filter, Graph, Join, Pattern
from scepter.algebra.query import Query, Scan
from scepter.algebra.scope import certain, expression_variables
from scepter.algebra.walk import Algebra
from scepter.algebra.windows import ItemScan
from scepter.optimizer.conditions import conjuncts, is_movable
from scepter.optimizer.places import U, rewrite_everywhere


def lift_filters(unit: U) -> U:
    """Make nested FILTERs filters of the scan if nothing but BGPs and `GRAPH iri` are left below: such a pattern is
    matched column by column.

    An event of RSEP-QL's MATCH has its filters around its pattern, and is read in the same way.

    Only conditions over variables that their own group binds for certain move: they have the same value, or the same error,
    on the whole solution. With PARTITION BY the rule rests: which partitions an event belongs to is decided by the patterns
    without the scans' filters (SPAseq rule 14), and that must not change.

    >>> from scepter.algebra.text import format_node, parse_node
    >>> before = '''(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s>
    ...     (join (filter (> ?o 3) (bgp (triple ?s <p> ?o))) (bgp (triple ?s <q> ?r)))))))'''
    >>> print(format_node(lift_filters(parse_node(before, Query)).pattern.steps[0].atom))
    (scan "A" <http://s> (join (bgp (triple ?s <p> ?o)) (bgp (triple ?s <q> ?r))) (filters (> ?o 3)))
    """
    return unit if isinstance(unit, Query) and unit.partition else rewrite_everywhere(unit, _lift)


def _lift(node: Algebra) -> Algebra:
    if not isinstance(node, Scan | ItemScan):
        return node
    own, pattern = ([], node.pattern) if isinstance(node, Scan) else _outermost(node.pattern)
    lifted: list[Expression] = []
    bare = _bare(pattern, lifted)
    if bare is None or not lifted:
        return node
    if isinstance(node, Scan):
        return replace(node, pattern=bare, filters=(*node.filters, *lifted))
    for condition in reversed([*own, *lifted]):
        bare = Filter(condition, bare)
    return replace(node, pattern=bare)


def _outermost(pattern: Pattern) -> tuple[list[Expression], Pattern]:
    """The filters around a pattern, outermost first, and what they stand around."""
    found: list[Expression] = []
    while isinstance(pattern, Filter):
        found.append(pattern.condition)
        pattern = pattern.pattern
    return found, pattern


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
