"""Times that do not fit each other: empty streams, streams apart, timestamps in another unit than the windows'."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import combinations

from scepter.errors import Diagnostic, Severity
from scepter.rdf.source import Survey
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query
from scepter.timeline import MICROSECONDS, Duration, TimeKind, format_instant

_FEW = 20
"""Fewer events than this say nothing about their unit."""
_YEAR = 365 * 86_400 * 1_000_000
_EPOCH_YEARS = range(1990, 2100)


def empty_streams(query: Query, surveys: Mapping[str, Survey], sources: Mapping[str, str]) -> Iterator[Diagnostic]:
    """A warning for each stream that holds no event."""
    for iri, survey in surveys.items():
        if not survey.events:
            source = f" ({sources[iri]})" if iri in sources else ""
            yield _warning("stream-empty", f"the stream {stream_name(query, iri)}{source} holds no event")


def streams_apart(query: Query, surveys: Mapping[str, Survey], options: RunOptions) -> Iterator[Diagnostic]:
    """A warning for each two streams that have no time in common and no window that reaches from one to the other."""
    there = [(iri, survey) for iri, survey in surveys.items() if survey.events and survey.kind is not None]
    window = _longest_window(query, surveys, options)
    for pair in combinations(there, 2):
        (iri, early), (other, late) = sorted(pair, key=lambda each: each[1].first)
        if late.first <= early.last or (window is not None and late.first - early.last <= window):
            continue
        assert early.kind is not None
        told = [f"{stream_name(query, i)} ({_span(s)})" for i, s in ((iri, early), (other, late))]
        apart = " and no window reaches from one to the other" if window is not None else ""
        yield _warning("streams-apart", f"the streams {' and '.join(told)} have no time in common{apart}")


def epoch_unit(query: Query, surveys: Mapping[str, Survey], options: RunOptions) -> Iterator[Diagnostic]:
    """A warning where integer timestamps are instants of our time in another unit than `--time-unit` says."""
    there = _integers(query, surveys)
    since = _since_epoch(min(s.first for s in there), max(s.last for s in there)) if there else None
    if since is not None and since != options.time_unit:
        first = min(s.first for s in there)
        message = f"timestamps such as {first} look like {since} since 1970, and are read as {options.time_unit}"
        yield _unit_warning(message, since)


def window_unit(query: Query, surveys: Mapping[str, Survey], options: RunOptions) -> Iterator[Diagnostic]:
    """A warning where all events lie in one window, or hardly two of them do, as if timestamps counted another unit."""
    there = _integers(query, surveys)
    window = _longest_window(query, surveys, options)
    events = sum(s.events for s in there)
    if window is None or events < _FEW:
        return
    first, last = min(s.first for s in there), max(s.last for s in there)
    span = max(1, last - first)
    coarser = _coarser(span, window, options.time_unit)
    if _since_epoch(first, last) is not None:
        return
    if span < window and coarser is not None:
        message = f"all {events:,} events lie within {span:,} {options.time_unit}, and the window is {_told(query)}"
        yield _unit_warning(message, coarser)
    elif span // events > window:
        apart = f"events lie {span // events:,} {options.time_unit} apart on average"
        yield _unit_warning(f"{apart}, and the window is {_told(query)}: hardly two of them lie in one", None)


def _integers(query: Query, surveys: Mapping[str, Survey]) -> list[Survey]:
    """The streams with integer timestamps, where the query's windows speak of units."""
    if all(duration.bare for duration in _durations(query)):
        return []
    return [s for s in surveys.values() if s.events and s.kind is TimeKind.INTEGER]


def stream_name(query: Query, iri: str) -> str:
    """A stream as the query calls it."""
    alias = next((s.alias for s in query.lowered.streams if s.iri.value == iri), None)
    return alias or f"<{iri}>"


def _since_epoch(first: int, last: int) -> str | None:
    """The unit in which timestamps are instants of our time, if they are in one."""
    for unit in ("s", "ms", "us"):
        years = [1970 + instant * MICROSECONDS[unit] // _YEAR for instant in (first, last)]
        if all(year in _EPOCH_YEARS for year in years):
            return unit
    return None


def _coarser(span: int, window: int, unit: str) -> str | None:
    """The next unit in which the events would fill several windows."""
    for other in ("ms", "s", "min", "h"):
        factor = MICROSECONDS[other] // MICROSECONDS[unit]
        if factor > 1 and span * factor > 2 * window:
            return other
    return None


def _longest_window(query: Query, surveys: Mapping[str, Survey], options: RunOptions) -> int | None:
    kind = next((s.kind for s in surveys.values() if s.kind is not None), None)
    if kind is None:
        return None
    try:
        return max((d.ticks(kind, options.time_unit) for d in _durations(query)), default=None)
    except ValueError:
        return None


def _durations(query: Query) -> list[Duration]:
    """Every duration that the query writes."""
    found: list[Duration] = []
    pending: list[object] = [query.lowered.program]
    while pending:
        node = pending.pop()
        if isinstance(node, Duration):
            found.append(node)
        elif isinstance(node, tuple):
            pending += node
        elif is_dataclass(node) and not isinstance(node, type):
            pending += (getattr(node, each.name) for each in fields(node))
    return found


def _told(query: Query) -> str:
    return str(max(_durations(query), key=lambda d: d.amount))


def _span(survey: Survey) -> str:
    assert survey.kind is not None
    return f"{format_instant(survey.first, survey.kind)} to {format_instant(survey.last, survey.kind)}"


def _unit_warning(message: str, unit: str | None) -> Diagnostic:
    advice = f"if they count {unit}, add --time-unit {unit}" if unit else "check --time-unit, the length of their unit"
    return Diagnostic("time-unit", message, None, advice, severity=Severity.WARNING)


def _warning(code: str, message: str) -> Diagnostic:
    return Diagnostic(code, message, severity=Severity.WARNING)
