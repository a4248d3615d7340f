"""What a run can be told besides its query and its data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from scepter.errors import OptionError, nearest, option_error
from scepter.lower import Lowered
from scepter.rdf.assigning import AssignTime
from scepter.rdf.limits import DEFAULT, ReadLimits
from scepter.rdf.times import PROV_TIMES, TimeProperties
from scepter.runtime.work import NO_LIMITS, WorkLimits
from scepter.timeline import TIME_UNITS, Duration, TimeKind, format_instant, instant_of, parse_duration

MAX_DERIVATIONS = 10_000
"""How many triples rules may derive at one instant before they are taken to be endless."""
_SPELLINGS = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
    **dict.fromkeys(("msec", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("usec", "µs", "micros", "microsecond", "microseconds"), "us"),
}
"""Other names that people give to time units."""
POLICIES = ("unrestricted", "chronological", "recent", "naive")


IDLE_STREAMS = ("wait", "ignore")
AUTO: Final = "auto"
FUTURE = "1h"
"""How far ahead of the clock an event of a live stream may be where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time as the user gave it."""

    value: int
    kind: TimeKind

    def on(self, kind: TimeKind, what: str) -> int:
        """The instant on a run's timeline; an option of the other kind is an error."""
        if kind is not self.kind:
            raise option_error(
                "time-kind",
                f"{what} {format_instant(self.value, self.kind)} is of kind {self.kind.value}, "
                f"but the streams' timestamps are of kind {kind.value}",
                help=f"give {what} as {'an integer' if kind is TimeKind.INTEGER else 'a dateTime, 2026-01-01T00:00:00Z'}",
            )
        return self.value


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `scepter run`, `scepter.run` and `scepter.Engine` that bear on the answer."""

    policy: str | None = None
    time_unit: str = "ms"
    start: Instant | None = None
    evaluate_at: tuple[Instant, ...] | None = None
    max_delay: Duration | None = None
    max_derivations: int = MAX_DERIVATIONS
    why: bool = False
    """Whether each answer comes with what it rests on (OBEP)."""
    idle_streams: str = "wait"
    """Live on Spark, with several streams: whether time waits for the one that is behind, or goes with the one ahead."""
    times: TimeProperties = PROV_TIMES
    """Which properties give an event its time."""
    limits: ReadLimits = DEFAULT
    """How much one input may ask of its reader."""
    max_advance: Duration | None = None
    """By how much one event alone may move time on."""
    max_future: Duration | None = None
    """Live, with dateTimes: how far ahead of the clock an event may be."""
    warm_up: Duration | Literal["auto"] | None = None
    """Live on Spark: how much of the history a new run begins with; auto: what its answers can look back."""
    work: WorkLimits = NO_LIMITS
    """How much the run may do."""
    assign_time: tuple[str, str] | None = None
    """How events without a time get one, and what of plain triples is an event."""
    indexed: bool = True
    """Whether runs find their next step by key: for benchmarks and tests (SPAseq, figure 21); no command offers it."""

    @classmethod
    def of(
        cls,
        *,
        policy: str | None = None,
        time_unit: str = "ms",
        start: int | str | datetime | None = None,
        evaluate_at: Sequence[int | str | datetime] | None = None,
        max_delay: int | str | timedelta | Duration | None = None,
        max_derivations: int | str | None = None,
        why: bool = False,
        idle_streams: str | None = None,
        time_property: str | Sequence[str] | None = None,
        limits: Mapping[str, int | str] | None = None,
        max_advance: int | str | timedelta | Duration | None = None,
        max_future: int | str | Duration | None = None,
        warm_up: int | str | Duration | None = None,
        max_seconds: float | str | None = None,
        max_memory: int | str | None = None,
        max_matches: int | str | None = None,
        max_runs: int | str | None = None,
        assign_time: str | None = None,
        event_per: str | None = None,
    ) -> RunOptions:
        """Options from what a person writes; raises OptionError that says what would be right.

        >>> RunOptions.of(time_unit="s", start=5).start.value
        5
        """
        if not isinstance(time_unit, str) or time_unit not in TIME_UNITS:
            close = _SPELLINGS.get(str(time_unit).lower()) or nearest(str(time_unit), TIME_UNITS)
            hint = f"did you mean {close}? " if close else ""
            raise option_error(
                "time-unit", f"{time_unit!r} is no time unit", help=f"{hint}the units are {', '.join(TIME_UNITS)}"
            )
        if policy is not None and policy not in POLICIES:
            close = nearest(str(policy), POLICIES)
            hint = f"did you mean {close}? " if close else ""
            raise option_error("policy", f"{policy!r} is no policy", help=f"{hint}the policies are {', '.join(POLICIES)}")
        return cls(
            policy,
            time_unit,
            None if start is None else _instant(start, "--start"),
            None if evaluate_at is None else _instants(evaluate_at),
            None if max_delay is None else _delay(max_delay),
            MAX_DERIVATIONS if max_derivations is None else _count(max_derivations),
            why,
            IDLE_STREAMS[0] if idle_streams is None else _idle(idle_streams),
            TimeProperties.of(time_property),
            ReadLimits.of(limits or {}),
            None if max_advance is None else _delay(max_advance, "--max-advance"),
            None if max_future in (None, "none") else _delay(max_future, "--max-future"),
            None if warm_up is None else AUTO if warm_up == AUTO else _delay(warm_up, "--warm-up"),
            WorkLimits.of(max_seconds, max_memory, max_matches, max_runs),
            None if (assign := AssignTime.of(assign_time, event_per)) is None else (assign.how, assign.per),
        )

    def assigner(self) -> AssignTime | None:
        """What gives events times in one run; None where they have their own."""
        return None if self.assign_time is None else AssignTime(*self.assign_time)

    def delay_on(self, kind: TimeKind) -> int | None:
        """The allowed disorder in ticks of a run's timeline, None if none was given; OptionError for a fraction of a tick."""
        return self._ticks(self.max_delay, "--max-delay", kind)

    def advance_on(self, kind: TimeKind) -> int | None:
        """By how much one event alone may move time on, in ticks."""
        return self._ticks(self.max_advance, "--max-advance", kind)

    def future_on(self, kind: TimeKind) -> int | None:
        """How far ahead of the clock an event may be, in ticks; integers know no clock."""
        return None if kind is TimeKind.INTEGER else self._ticks(self.max_future, "--max-future", kind)

    def warm_up_on(self, kind: TimeKind) -> int | None:
        """How much of the history a run begins with, in ticks; None where its query tells."""
        return None if isinstance(self.warm_up, str) else self._ticks(self.warm_up, "--warm-up", kind)

    def _ticks(self, given: Duration | None, name: str, kind: TimeKind) -> int | None:
        if given is None:
            return None
        try:
            return given.ticks(kind, self.time_unit)
        except ValueError as error:
            raise option_error("duration", f"{name}: {error}", help="choose a longer one or a finer --time-unit") from None


def _idle(given: str) -> str:
    if given not in IDLE_STREAMS:
        raise option_error("idle-streams", f"idle streams cannot be {given!r}", help=f"one of {', '.join(IDLE_STREAMS)}")
    return given


def check_taken(options: RunOptions, lowered: Lowered) -> None:
    """Refuse what a query does not take: an option is never ignored."""
    # what is selected anyway may be said, in every language
    if options.policy not in (None, POLICIES[0]) and options.policy not in lowered.policies:
        raise _no_policy(str(options.policy), lowered)
    if options.evaluate_at is not None and not lowered.takes_evaluate_at:
        raise option_error(
            "option-not-for-language",
            f"{lowered.title} takes no --evaluate-at: its matches come when they are complete; "
            "RSEP-QL and OBEP are evaluated at instants",
            help="leave out --evaluate-at",
        )


def check_derivations(given: int | str | None, lowered: Lowered) -> None:
    """Refuse a bound on derivations where nothing is derived."""
    if given is not None and not lowered.speaks("ep-sparql"):
        raise option_error(
            "option-not-for-language",
            f"{lowered.title} takes no --max-derivations: it has no rules that feed themselves",
            help="leave out --max-derivations",
        )


def _no_policy(policy: str, lowered: Lowered) -> OptionError:
    code, title = "option-not-for-language", lowered.title
    if lowered.policies:
        return option_error(code, f"{title} has no policy {policy!r}", help=f"{title} takes {', '.join(lowered.policies)}")
    reason = "the query itself says which events are selected"
    return option_error(code, f"{title} takes no --policy: {reason}", help="leave out --policy")


def _count(given: int | str) -> int:
    text = str(given)
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text)):
        raise option_error("max-derivations", f"--max-derivations cannot be {text!r}", help="write a number above zero")
    return int(text)


def _instants(given: Sequence[int | str | datetime]) -> tuple[Instant, ...]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise option_error("instant", f"the instants of evaluation are a list, not {given!r}", help="evaluate_at=[8, 10]")
    found = tuple(_instant(instant, "--evaluate-at") for instant in given)
    if not found:
        raise option_error("instant", "the list of instants of evaluation is empty", help="evaluate_at=[8, 10]")
    return found


def _instant(given: int | str | datetime, what: str) -> Instant:
    try:
        return Instant(*instant_of(given))
    except ValueError as error:
        raise option_error(
            "instant", f"{what}: {error}", help="write an integer, or a dateTime such as 2026-01-01T00:00:00Z"
        ) from None


def _delay(given: int | str | timedelta | Duration, name: str = "--max-delay") -> Duration:
    if isinstance(given, Duration):
        return given
    try:
        return parse_duration(f"{given // timedelta(microseconds=1)}us" if isinstance(given, timedelta) else str(given))
    except ValueError as error:
        raise option_error(
            "duration", f"{name}: {error}", help="write for example 5s, 200ms, or a number of time units"
        ) from None
