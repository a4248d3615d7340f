"""Checks of a timed pattern: where time functions stand, and whether its state can ever be released."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never, get_args

from scepter.algebra.expressions import Call, Exists, Expression, Variable
from scepter.algebra.patterns import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Match,
    Minus,
    OrderBy,
    PathPattern,
    Pattern,
    Project,
    Related,
    Side,
    Slice,
    Union,
    Values,
)
from scepter.algebra.timed import SPELLING, TIME_FUNCTIONS, TimedWindow
from scepter.algebra.timed_bounds import duration_bounds
from scepter.algebra.walk import children, find
from scepter.errors import Span, query_error
from scepter.timeline import Allen


def grouped(pattern: Pattern) -> Group | None:
    """The grouping of the outermost SELECT, if it has one."""
    while isinstance(pattern, (Slice, Distinct, Project, OrderBy, Extend, Filter)):
        pattern = pattern.pattern
    if isinstance(pattern, Join) and isinstance(pattern.right, Values) and isinstance(pattern.left, (Group, Filter)):
        return grouped(pattern.left)  # VALUES after the solution modifiers
    return pattern if isinstance(pattern, Group) else None


def has_time(pattern: Pattern) -> bool:
    """Whether a solution of the pattern can have an interval."""
    match pattern:
        case BGP(triples):
            return bool(triples)
        case PathPattern():
            return True
        case Values() | Graph() | Match():
            return False
        case Join(left, right) | Union(left, right):
            return has_time(left) or has_time(right)
        case LeftJoin(left) | Minus(left):
            return has_time(left)
        case Related(left, right, _, optional):
            sides = {Side.LEFT: (right,), Side.RIGHT: (left,), None: (left, right)}[optional]
            return any(has_time(side) for side in sides)
        case Filter() | Extend() | Group() | OrderBy() | Project() | Distinct() | Slice():
            return has_time(pattern.pattern)
        case _:
            assert_never(pattern)


def check_time(pattern: Pattern, *, static: bool = False) -> None:
    """Raise where a time function or a temporal operator stands over what has no time."""
    for expression, over in _expressions(pattern):
        timeless = static or not any(has_time(p) for p in over)
        for call in _own_calls(expression):
            if timeless:
                raise query_error(
                    "unbound-time",
                    f"{SPELLING[call.function]}() has no value here: nothing in its group comes from the stream",
                    call.span,
                    notes=("background graphs, VALUES and BIND have no time",),
                    help="move it to the group whose interval is meant",
                )
        for exists in find(expression, Exists):
            check_time(exists.pattern, static=static)
    if static and isinstance(pattern, Related):
        raise query_error(
            "temporal-in-graph",
            "background graphs have no time: SEQ and its like cannot stand inside GRAPH",
            _first_span(pattern),
        )
    inside = static or isinstance(pattern, Graph)
    for child in children(pattern):
        if isinstance(child, _PATTERNS):
            check_time(child, static=inside)


_PATTERNS = get_args(Pattern)


def _first_span(pattern: Pattern) -> Span | None:
    return next((v.span for v in find(pattern, Variable) if v.span is not None), None)


def _expressions(pattern: Pattern) -> Iterator[tuple[Expression, tuple[Pattern, ...]]]:
    """The expressions of a node, each with the patterns whose interval its time functions speak of."""
    match pattern:
        case Filter(condition, inner):
            yield condition, (inner,)
        case Extend(inner, _, expression):
            yield expression, (inner,)
        case LeftJoin(_, right, condition) if condition is not None:
            yield condition, (right,)
        case Related(left, right, _, optional, condition) if condition is not None:
            yield condition, (left if optional is Side.LEFT else right,)
        case Group(inner, keys, aggregates):
            for _, expression in (*keys, *aggregates):
                yield expression, (inner,)
        case OrderBy(inner, conditions):
            for expression, _ in conditions:
                yield expression, (inner,)
        case _:
            return


def _own_calls(expression: Expression) -> Iterator[Call]:
    """The time functions of an expression; those inside EXISTS speak of a group there."""
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, Call) and node.function in TIME_FUNCTIONS:
            yield node
        if not isinstance(node, Exists):
            pending.extend(children(node))  # type: ignore[arg-type]  # below an expression, EXISTS apart, stand expressions


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Why state grows for ever, and the clause that would bound it."""

    message: str
    span: Span | None
    help: str


_BY_DURATION = Unbounded(
    "without a bound on the duration, what has been seen is kept for ever",
    None,
    "add FILTER (getDURATION() < …) to the outermost group",
)
_BY_WINDOW = Unbounded(
    "without WINDOW the aggregates run over everything so far, which is kept for ever",
    None,
    "add WINDOW [RANGE …] or WINDOW [ROWS …] after WHERE",
)


def unbounded(pattern: Pattern, window: TimedWindow | None) -> Unbounded | None:
    """The warning for a pattern that keeps something for ever."""
    if (group := grouped(pattern)) is not None:
        if _keeps(group.pattern, bounded=False):
            return _BY_DURATION
        return _BY_WINDOW if window is None and has_time(group.pattern) else None
    return _BY_DURATION if _keeps(pattern, bounded=False) else None


def _keeps(pattern: Pattern, *, bounded: bool) -> bool:
    """Whether an operator keeps solutions that no duration bound ever releases."""
    match pattern:
        case BGP(triples):
            return not bounded and len(triples) > 1
        case PathPattern() | Values() | Graph() | Match():
            return False
        case Join(left, right) | LeftJoin(left, right) | Minus(left, right):
            kept = has_time(left) and has_time(right) and not bounded
            return kept or _keeps(left, bounded=bounded) or _keeps(right, bounded=bounded)
        case Related(left, right, relation):
            at_once = relation in (Allen.EQUALS, Allen.FINISHES, Allen.FINISHEDBY)
            kept = has_time(left) and has_time(right) and not bounded and not at_once
            return kept or _keeps(left, bounded=bounded) or _keeps(right, bounded=bounded)
        case Union(left, right):
            return _keeps(left, bounded=bounded) or _keeps(right, bounded=bounded)
        case Filter(condition, inner):
            exists = any(has_time(e.pattern) for e in find(condition, Exists))
            within = bounded or bool(duration_bounds(condition))
            return (exists and not within) or _keeps(inner, bounded=within)
        case Extend() | Project() | Distinct() | OrderBy():
            return _keeps(pattern.pattern, bounded=bounded)
        case Group() | Slice():
            return _keeps(pattern.pattern, bounded=False) or (isinstance(pattern, Group) and has_time(pattern.pattern))
        case _:
            assert_never(pattern)
