"""The options of a run, checked before any data is read: what a query's language does not take is refused, never ignored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from scepter.errors import nearest, option_error
from scepter.lower import Lowered
from scepter.rdf.limits import split_limit
from scepter.runtime.options import RunOptions, check_derivations, check_taken
from scepter.runtime.work import WorkLimits
from scepter.timeline import parse_duration

ENGINES = ("auto", "local", "spark")


def run_options(
    lowered: Lowered,
    *,
    policy: str | None = None,
    time_unit: str | None = None,
    start: str | None = None,
    evaluate_at: str | None = None,
    max_delay: str | None = None,
    max_derivations: str | None = None,
    why: bool = False,
    idle_streams: str | None = None,
    time_property: Sequence[str] | None = None,
    limit: Sequence[str] = (),
    max_advance: str | None = None,
    max_future: str | None = None,
    warm_up: str | None = None,
    max_seconds: str | None = None,
    max_memory: str | None = None,
    max_matches: str | None = None,
    max_runs: str | None = None,
    assign_time: str | None = None,
    event_per: str | None = None,
) -> RunOptions:
    """Check the options of a run of a query."""
    found = RunOptions.of(
        policy=policy,
        time_unit="ms" if time_unit is None else time_unit,
        start=start,
        evaluate_at=None if evaluate_at is None else evaluate_at.split(","),
        max_delay=max_delay,
        max_derivations=max_derivations,
        why=why,
        idle_streams=idle_streams,
        time_property=time_property,
        limits=dict(split_limit(each) for each in limit),
        max_advance=max_advance,
        max_future=max_future,
        warm_up=warm_up,
        max_seconds=max_seconds,
        max_memory=max_memory,
        max_matches=max_matches,
        max_runs=max_runs,
        assign_time=assign_time,
        event_per=event_per,
    )
    if why and not lowered.speaks("obep"):
        raise option_error(
            "option-not-for-language",
            f"{lowered.title} takes no --why: its matches are shown by the events they selected",
            help="take --events instead",
        )
    check_derivations(max_derivations, lowered)
    check_taken(found, lowered)
    kinds = {instant.kind for instant in (*(found.evaluate_at or ()), *((found.start,) if found.start else ()))}
    if len(kinds) > 1:
        raise option_error(
            "mixed-times",
            "--start and --evaluate-at mix integers and dateTimes, and a query sees one kind of time",
            help="write all of them as the streams' timestamps are",
        )
    return found


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> str:
    """The value, if the option takes it."""
    if value not in allowed:
        close = nearest(value, allowed)
        hint = f"did you mean {close}?" if close else f"one of {', '.join(allowed)}"
        raise option_error("bad-option", f"{option} cannot be {value!r}", help=hint)
    return value


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """The options of runs that go on, and of Spark, as given."""

    master: str | None = None
    follow: bool = False
    checkpoint: object | None = None
    trigger: str | None = None
    max_events: int | None = None
    idle_streams: str | None = None
    max_future: str | None = None
    warm_up: str | None = None

    @property
    def given(self) -> list[str]:
        """Which were, by their names."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return [f"--{name.replace('_', '-')}" for name, value in values.items() if value not in (None, False)]

    @property
    def spark(self) -> list[str]:
        """Those that only Spark has a use for."""
        return [name for name in self.given if name not in ("--follow", "--idle-streams", "--max-future")]


def check_engine(engine: str, asked: SparkOptions) -> None:
    """Refuse what the engine cannot do."""
    one_of("--engine", engine, ENGINES)
    if engine == "local":
        for option in asked.spark:
            raise option_error(
                "option-not-for-engine",
                f"{option} needs Spark, and --engine local runs in this process",
                help=f"leave out {option}, or --engine local",
            )
    if not asked.follow:
        for option in (name for name in asked.given if name != "--master"):
            what = "keeps the place" if option == "--checkpoint" else "sets the pace"
            raise option_error(
                "option-not-for-engine",
                f"{option} {what} of a run that goes on, and without --follow the input is read to its end",
                help=f"add --follow, or leave out {option}",
            )


def check_work(engine: str, asked: SparkOptions, limits: WorkLimits) -> None:
    """Refuse limits that the engine cannot keep."""
    if asked.follow or not (engine == "spark" or asked.spark):
        return
    for option, value in (("--max-memory", limits.memory), ("--max-runs", limits.runs)):
        if value is not None:
            raise option_error(
                "option-not-for-engine",
                f"{option} bounds a run in this process, or one that goes on; over history, Spark's workers have the memory "
                "that the session gives them",
                help=f"leave out {option}, or take --engine local",
            )


def check_assigned(options: RunOptions, engine: str, asking: Sequence[str]) -> None:
    """Refuse to give times to events that Spark's tasks read: they know no order of arrival."""
    if options.assign_time is not None and (engine == "spark" or asking):
        raise option_error(
            "option-not-for-engine",
            "--assign-time gives times in order of arrival, which Spark's tasks do not know",
            help=f"leave out {' and '.join(asking)}" if asking else "take --engine local",
        )


def trigger_interval(text: str | None) -> str | None:
    """`--trigger` as Spark takes it.

    >>> trigger_interval("5s")
    '5000 milliseconds'
    """
    if text is None:
        return None
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise option_error("duration", f"--trigger: {error}", help="write for example 5s or 200ms") from None
    if duration.bare or duration.amount < 1000:
        raise option_error(
            "duration", f"--trigger {text} is no time of a millisecond or more", help="write for example 5s or 200ms"
        )
    return f"{duration.amount // 1000} milliseconds"
