"""The windows of a Sparkwave query: which streams, how long their triples count, when it is evaluated."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scepter.algebra.continuous import Extent, LastTriples, PeriodicSource, Range, Source
from scepter.algebra.query import Stream
from scepter.errors import Diagnostic, QueryError, Severity, Span, query_error
from scepter.lower.result import dialect_note
from scepter.syntax import sparkwave_tree as syntax
from scepter.timeline import MAX_INSTANT, Duration, parse_duration


@dataclass(frozen=True, slots=True)
class Windows:
    """Either periodic sources or continuous ones; `otherwise` is for streams that the query does not name."""

    continuous: tuple[Source, ...] = ()
    periodic: tuple[PeriodicSource, ...] = ()
    otherwise: Extent = None
    warnings: tuple[Diagnostic, ...] = ()


def lower_windows(query: syntax.SparkwaveQuery) -> Windows:
    """The windows of the FROM STREAM clauses and TIMEWINDOW, checked together."""
    clauses = [c for c in query.sources if isinstance(c, syntax.FromStream)]
    notes = tuple(_spelling(c.window) for c in clauses if isinstance(c.window, syntax.TriplesWindow) and c.window.dialect)
    if query.register is not None and query.register.every is not None:
        clauses, note = _computed(clauses, query.register.every)
        notes += (note,)
    _refuse_repeated(clauses)
    _refuse_mixed(clauses)
    if clauses and isinstance(clauses[0].window, syntax.StepWindow):
        if query.time_window is not None:
            raise query_error(
                "mixed-windows",
                "TIMEWINDOW is a continuous window, and the streams have periodic ones",
                query.time_window.span,
                help="leave TIMEWINDOW out",
            )
        return Windows(periodic=_periodic(clauses), warnings=notes)
    otherwise = None if query.time_window is None else _time_window(query.time_window)
    sources = tuple(Source(_stream(c), otherwise if c.window is None else _extent(c.window)) for c in clauses)
    return Windows(sources, (), otherwise, notes + _unbounded(query, sources, otherwise))


def _spelling(window: syntax.TriplesWindow) -> Diagnostic:
    """The last triples in the words of another language."""
    written = "[RANGE n TRIPLES]" if window.dialect == "C-SPARQL" else "[TRIPLES n]"
    return dialect_note(
        f"{written} is {window.dialect}'s", f"[RANGE TRIPLES {_short(window.count)}], evaluated with every triple", window.span
    )


def _computed(clauses: list[syntax.FromStream], every: syntax.Amount) -> tuple[list[syntax.FromStream], Diagnostic]:
    """C-SPARQL's `COMPUTED EVERY d` is the step of the windows that have none; a window's own step must be the same."""
    if not clauses:
        raise query_error(
            "computed-every",
            "COMPUTED EVERY needs a window to compute over, and there is no FROM STREAM",
            every.span,
            help="add FROM STREAM <iri> [RANGE …]",
        )
    found: list[syntax.FromStream] = []
    for clause in clauses:
        window = clause.window
        if isinstance(window, syntax.StepWindow):
            if _duration("STEP", window.step) != _duration("EVERY", every):
                raise query_error(
                    "computed-every",
                    f"COMPUTED EVERY {_short(every)} and STEP {_short(window.step)} differ: answers come at each step",
                    window.step.span,
                    help="write one of them, or the same in both",
                )
        elif isinstance(window, syntax.RangeWindow):
            clause = replace(clause, window=syntax.StepWindow(window.range, every, window.span))
        else:
            raise query_error(
                "computed-every",
                "COMPUTED EVERY needs a window of time: this one has no duration to compute over",
                clause.span if window is None else window.span,
                help="write [RANGE d] or [RANGE d STEP d]; without COMPUTED EVERY each triple is matched as it comes",
            )
        found.append(clause)
    return found, dialect_note(
        f"COMPUTED EVERY {_short(every)} is C-SPARQL's", f"STEP {_short(every)} of each window", every.span
    )


def _short(amount: syntax.Amount) -> str:
    return amount.text.replace(" ", "")


def _stream(clause: syntax.FromStream) -> Stream:
    return Stream(clause.stream.iri, None, clause.span)


def _refuse_repeated(clauses: list[syntax.FromStream]) -> None:
    for number, clause in enumerate(clauses):
        if any(clause.stream.iri == other.stream.iri for other in clauses[:number]):
            raise query_error("duplicate-stream", f"the stream {clause.stream.iri} is declared twice", clause.stream.span)


def _refuse_mixed(clauses: list[syntax.FromStream]) -> None:
    periodic = [c for c in clauses if isinstance(c.window, syntax.StepWindow)]
    if periodic and len(periodic) < len(clauses):
        other = next(c for c in clauses if c not in periodic)
        raise query_error(
            "mixed-windows",
            "a query has either periodic windows (STEP, TUMBLING) or continuous ones, and this one mixes them",
            other.span if other.window is None else other.window.span,
            help="give every stream a STEP, the same for all, or none",
        )


def _periodic(clauses: list[syntax.FromStream]) -> tuple[PeriodicSource, ...]:
    sources: list[PeriodicSource] = []
    for clause in clauses:
        window = clause.window
        assert isinstance(window, syntax.StepWindow)  # _refuse_mixed
        source = PeriodicSource(_stream(clause), _duration("RANGE", window.range), _duration("STEP", window.step), window.span)
        first = sources[0] if sources else source
        # A step in time units and one in seconds can be told apart only when the time unit is known.
        if source.step.bare == first.step.bare and source.step != first.step:
            raise mixed_steps(first.step, source.step, window.span)
        sources.append(source)
    return tuple(sources)


def mixed_steps(first: Duration, other: Duration, span: Span | None) -> QueryError:
    """The error for windows that would be evaluated at different times."""
    return query_error(
        "mixed-steps",
        f"all periodic windows of a query have one step, and here are two: {first} and {other}",
        span,
        help=f"write STEP {str(first).replace(' time units', '')} for this stream too",
    )


def _extent(window: syntax.StreamWindow) -> Extent:
    match window:
        case syntax.RangeWindow(amount, span):
            return Range(_duration("RANGE", amount), span)
        case syntax.TriplesWindow(amount, span):
            return LastTriples(_count("RANGE TRIPLES", amount), span)
        case syntax.StepWindow():
            raise AssertionError("a periodic window has no extent")


def _time_window(window: syntax.TimeWindow) -> Range:
    return Range(Duration(_count("TIMEWINDOW", window.amount) * 1_000), window.span)  # the prototype counts milliseconds


def _duration(word: str, amount: syntax.Amount) -> Duration:
    text = amount.text.removeprefix("+")
    if text.startswith("-"):
        raise _not_positive(word, "a duration", amount)
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise query_error("duration", str(error), amount.span) from None
    if duration.amount <= 0:
        raise _not_positive(word, "a duration", amount)
    return duration


def _count(word: str, amount: syntax.Amount) -> int:
    text = amount.text.removeprefix("+")
    if text.startswith("-") or not text.strip("0"):
        raise _not_positive(word, "a number", amount)
    return int(text) if len(text) < 16 else MAX_INSTANT // 1_000


def _not_positive(word: str, what: str, amount: syntax.Amount) -> QueryError:
    return query_error("duration", f"{word} {amount.text}: {what} must be above zero", amount.span)


def _unbounded(query: syntax.SparkwaveQuery, sources: tuple[Source, ...], otherwise: Extent) -> tuple[Diagnostic, ...]:
    """State that is never released: a stream without a window, or no stream named and no window at all."""
    endless = [source.stream for source in sources if source.extent is None]
    if not sources and otherwise is None:
        return (_warn("no window: every triple is kept for ever", query.result.span),)
    return tuple(
        _warn(f"the stream {stream.iri} has no window: its triples are kept for ever", stream.span) for stream in endless
    )


def _warn(message: str, span: Span | None) -> Diagnostic:
    help = "add a window after FROM STREAM, for example [RANGE 5m]"
    return Diagnostic("unbounded-state", message, span, help, severity=Severity.WARNING)
