"""Filters of nested groups, as close to what binds their variables as can be."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from scepter.algebra.expressions import And, Expression
from scepter.algebra.patterns import Extend, Filter, Join, LeftJoin, Minus, Pattern, Union
from scepter.algebra.scope import certain, expression_variables
from scepter.algebra.walk import Algebra
from scepter.optimizer.conditions import conjuncts, is_movable
from scepter.optimizer.places import U, rewrite_unordered


def push_filters(unit: U) -> U:
    """Move each condition of a nested FILTER down to the side of a Join (or the left of an OPTIONAL) that always binds its
    variables, into both sides of a UNION, and below MINUS and BIND.

    A variable that one side binds for certain has the same value after the Join, so the condition has the same value, or
    the same error. A scan's own filters are not touched: they see the match so far. EXISTS asks the graph it stands in
    and stays where it is, and so does a condition that is another each time it is computed, or that speaks of the time of
    its group's solution. A temporal operator keeps what stands above it: under a policy it selects before it is filtered.

    >>> from scepter.algebra.query import Query
    >>> from scepter.algebra.text import format_node, parse_node
    >>> before = '''(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s>
    ...     (filter (and (> ?o 3) (< ?o ?v)) (join (bgp (triple ?s <p> ?o)) (values (?v) (4))))))))'''
    >>> print(format_node(push_filters(parse_node(before, Query)).pattern.steps[0].atom.pattern))
    (filter (< ?o ?v) (join (filter (> ?o 3) (bgp (triple ?s <p> ?o))) (values (?v) (4))))
    """
    return rewrite_unordered(unit, _push)


def _push(node: Algebra) -> Algebra:
    if not isinstance(node, Filter):
        return node
    pattern, kept = node.pattern, list[Expression]()
    for condition in conjuncts(node.condition):
        lower = _lowered(condition, pattern) if expression_variables(condition) and is_movable(condition) else None
        if lower is None:
            kept.append(condition)
        else:
            pattern = lower
    if pattern is node.pattern:
        return node
    return replace(node, condition=reduce(And, kept), pattern=pattern) if kept else pattern


def _lowered(condition: Expression, pattern: Pattern) -> Pattern | None:
    """The pattern with the condition somewhere inside it, or None if it has to stay above."""
    names = expression_variables(condition)
    match pattern:
        case Join(left, right):
            if names <= certain(left):
                return Join(_placed(condition, left), right)
            return Join(left, _placed(condition, right)) if names <= certain(right) else None
        case LeftJoin(left) if names <= certain(left):
            return replace(pattern, left=_placed(condition, left))
        case Union(left, right):
            return Union(_placed(condition, left), _placed(condition, right))
        case Minus(left, right):
            return Minus(_placed(condition, left), right)
        case Extend(inner, variable) if variable.name not in names:
            return replace(pattern, pattern=_placed(condition, inner))
        case Filter(_, inner):
            lower = _lowered(condition, inner)
            return None if lower is None else replace(pattern, pattern=lower)
        case _:
            return None


def _placed(condition: Expression, pattern: Pattern) -> Pattern:
    return _lowered(condition, pattern) or Filter(condition, pattern)
