"""How far back the events reach that later answers of a program can depend on: what a live run has to remember of its input.

The answer may be too large, never too small. None: everything, as for a query without a bound, for what counts triples or
events, and for what consumes events (what is left to take depends on all that was taken).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scepter.algebra.continuous import ContinuousQuery, Extent, PeriodicQuery, Range
from scepter.algebra.events import EventQuery, First, Last, Rest, patterns
from scepter.algebra.expressions import Exists
from scepter.algebra.patterns import BGP, Distinct, Extend, Filter, Join, Pattern, Project, Related
from scepter.algebra.query import Counting, Program, Query, Unit
from scepter.algebra.timed import TimedProgram
from scepter.algebra.timed_bounds import duration_bounds
from scepter.algebra.walk import walk
from scepter.algebra.windows import Earliest, EventPattern, Followed, ItemScan, Latest, Policy, TimeWindow, WindowedQuery
from scepter.timeline import Duration, TimeKind

_BOUNDED_BY_THEIR_GROUP = (BGP, Related, Join, Filter, Extend, Project, Distinct)
"""Operators whose solutions are no shorter than those of their parts, and that look at nothing else."""


def horizon(program: Program, kind: TimeKind, time_unit: str, policy: str | None = None) -> int | None:
    """In ticks of a timeline: events that end so much before the last one concern no later answer."""
    try:
        every = [_of_unit(unit, kind, time_unit, policy) for unit in program.units]
    except ValueError:
        return None  # a duration that the time line does not have: told with its place when the run is set up
    # units may read what others construct: what concerns one then reaches back by the windows of both
    return None if None in every else sum(each for each in every if each is not None) + 1


def _of_unit(unit: Unit, kind: TimeKind, time_unit: str, policy: str | None) -> int | None:
    match unit:
        case Query(skip=skip, window=window):
            if skip is not None or window is None or isinstance(window, Counting):
                return None  # which matches are kept depends on all that were before
            return _ticks([window.duration], kind, time_unit)
        case ContinuousQuery(sources=sources, otherwise=otherwise):
            return _of_extents([source.extent for source in sources] or [otherwise], kind, time_unit)
        case PeriodicQuery(sources=sources):
            return sum(_ticks([source.range, source.step], kind, time_unit) for source in sources)
        case WindowedQuery():
            return _of_windows(unit, kind, time_unit, policy)
        case TimedProgram():
            return None if policy not in (None, Policy.UNRESTRICTED.value) else _of_timed(unit, kind)
        case EventQuery():
            durations = _composite_durations(unit)
            return None if durations is None else _ticks(durations, kind, time_unit)
        case _:
            return None


def _ticks(durations: Iterable[Duration], kind: TimeKind, time_unit: str) -> int:
    return sum(duration.ticks(kind, time_unit) for duration in durations)


def _of_extents(extents: list[Extent], kind: TimeKind, time_unit: str) -> int | None:
    ranges = [extent.duration for extent in extents if isinstance(extent, Range)]
    return max(_ticks([each], kind, time_unit) for each in ranges) if len(ranges) == len(extents) else None


def _of_windows(query: WindowedQuery, kind: TimeKind, time_unit: str, policy: str | None) -> int | None:
    given = Policy(policy or Policy.UNRESTRICTED.value)
    if any((policy or given).consumes for pattern in query.events for policy in _policies(pattern)):
        return None
    extents = [window.extent for window in query.windows]
    lengths = [
        _ticks([extent.width, extent.step or Duration(1, bare=True)], kind, time_unit)
        for extent in extents
        if isinstance(extent, TimeWindow)
    ]
    return max(lengths, default=0) if len(lengths) == len(extents) else None


def _policies(pattern: EventPattern) -> Iterator[Policy | None]:
    match pattern:
        case Followed(left, right, policy):
            yield policy
            yield from _policies(left)
            yield from _policies(right)
        case Earliest(operand) | Latest(operand):
            yield from _policies(operand)
        case ItemScan():
            return


def _of_timed(program: TimedProgram, kind: TimeKind) -> int | None:
    if program.rules or any(query.window is not None for query in program.queries):
        return None
    found = [_of_pattern(query.pattern, kind) for query in program.queries]
    return None if None in found else max((each for each in found if each is not None), default=0)


def _of_pattern(pattern: Pattern, kind: TimeKind) -> int | None:
    for node in walk(pattern):
        if isinstance(node, Exists) or (isinstance(node, Related) and node.optional is not None):
            return None
        if isinstance(node, Pattern) and not isinstance(node, _BOUNDED_BY_THEIR_GROUP):
            return None
    while isinstance(pattern, Project | Distinct | Extend):
        pattern = pattern.pattern
    if not isinstance(pattern, Filter):
        return None
    limits = [bound.longest(kind) for bound in duration_bounds(pattern.condition)]
    return min((limit for limit in limits if limit is not None), default=None)


def _composite_durations(query: EventQuery) -> list[Duration] | None:
    """The durations that bound composite events; None if one is unbounded or looks at the whole stream."""
    found = []
    for event in query.composite:
        if event.within is None or any(isinstance(part, First | Last | Rest) for part in patterns(event.pattern)):
            return None
        found.append(event.within)
    return found
