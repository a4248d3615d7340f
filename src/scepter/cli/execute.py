"""From checked arguments to matches: the one place where commands meet the engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scepter.cases.compare import Answer
from scepter.cases.model import Case
from scepter.cases.query import query_of
from scepter.cases.runner import CaseEngine
from scepter.cases.source import TimelineSource
from scepter.cli import session
from scepter.cli.inputs import assign_streams, tell_warnings
from scepter.cli.options import run_options
from scepter.cli.progress import RunProgress
from scepter.errors import Diagnostic, option_error
from scepter.io.results import Shape
from scepter.io.sources import open_source
from scepter.rdf.readers import Lift
from scepter.rdf.source import DeadLetterTaker, EventSource
from scepter.runtime.engine import LocalEngine
from scepter.runtime.local import Observer, missing_stream, run_in_parts, run_local
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query
from scepter.timeline import format_instant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from scepter.cli.session import Session


@dataclass(frozen=True, slots=True)
class Job:
    """All that a run needs, checked."""

    query: Query
    streams: Mapping[str, EventSource]
    background: Mapping[str | None, Sequence[Path]]
    ontology: Sequence[Path]
    options: RunOptions
    engine: str
    sources: Mapping[str, str]
    """SOURCE as given, by stream: what Spark reads."""
    lifts: Mapping[str, Lift] = field(default_factory=dict)
    """What makes events of a stream's rows, by stream."""
    spark: Session | None = None
    follow: bool = False
    checkpoint: Path | None = None
    trigger: str | None = None
    """The least time between two micro-batches, as Spark writes it."""
    max_events: int | None = None
    reload: bool = False
    """Whether background files are read again when they change."""

    def session(self) -> SparkSession:
        """The session of a run on Spark."""
        assert self.spark is not None
        return self.spark()

    def warn(self, warning: Diagnostic) -> None:
        """Tell what may be wrong with the query, now that its ontology is known."""
        tell_warnings([warning], self.query.lowered.source)


def open_streams(
    query: Query, sources: Mapping[str, str], lifts: Mapping[str, Lift], *, follow: bool = False
) -> dict[str, EventSource]:
    """The sources of a query's streams; one that is missing or cannot be read is an error before any data is read. Sources
    that are followed may still be empty, and are not opened."""
    given = {*sources, *(iri.value for iri in query.lowered.versions)}  # these may also be read from background files
    for iri in query.streams:
        if iri not in given:
            raise missing_stream(query, iri)
    if query.lowered.every_stream and not sources:
        raise option_error(
            "missing-stream", "the query reads every stream that is given, and none was", help="add --stream NAME=SOURCE"
        )
    return {} if follow else {iri: open_source(source, lift=lifts.get(iri)) for iri, source in sources.items()}


def matches(
    job: Job,
    dead_letter: DeadLetterTaker,
    progress: RunProgress,
    observer: Observer | None = None,
    shown: Callable[[int, str | None], object] | None = None,
    counting: Callable[[LocalEngine], None] | None = None,
    *,
    named: bool = True,
) -> Iterator[Sequence[Match]]:
    """The matches of a job, sorted where its input is bounded, as many at a time as come together; the observer hears what is
    read in this process, and `counting` is given the engine, which then counts what its operators do. `named`: whether names of
    events are shown."""
    if job.engine == "spark":
        from scepter.cli.spark import spark_matches  # a local run starts without pyspark

        return ([match] for match in spark_matches(job, dead_letter, lambda done, total: progress.update(done, total, 0)))
    return run_in_parts(
        job.query,
        job.streams,
        background=job.background,
        ontology=job.ontology,
        options=job.options,
        dead_letter=dead_letter,
        progress=lambda step: progress.update(step.done, step.total, step.triples),
        warn=job.warn,
        observer=observer,
        shown=shown,
        counting=counting,
        named=named,
    )


def shape(query: Query, options: RunOptions) -> Shape:
    """What the queries of a file can answer."""
    return Shape(tuple(query.variables), query.constructs, query.asks, options.why, query.answers)


@contextmanager
def case_engines(names: Sequence[str], master: str | None = None) -> Iterator[Mapping[str, CaseEngine]]:
    """The named engines for cases, in one session."""
    engines: dict[str, CaseEngine] = {"local": _run_case_locally} if "local" in names else {}
    if "spark" not in names:
        yield engines
        return
    with session.running(master) as spark:
        from scepter.cli.spark import run_case

        yield {"spark": lambda case: [answer(match) for match in run_case(spark(), case)], **engines}


def _run_case_locally(case: Case) -> list[Answer]:
    query = query_of(case)
    given: dict[str, Any] = {name.replace("-", "_"): value for name, value in case.options.items()}
    options = run_options(query.lowered, **given)
    named = [(name, TimelineSource(name, events)) for name, events in case.streams.items()]
    streams, _ = assign_streams(query, named)
    found = run_local(
        query,
        streams,
        background=case.background,
        ontology=case.ontology,
        options=options,
    )
    return [answer(match) for match in found]


def answer(match: Match) -> Answer:
    """A match as the comparison of cases takes it."""
    start, end = (format_instant(instant, match.kind) for instant in (match.start, match.end))
    graph = None if match.graph is None else frozenset(match.graph)
    event = None if match.occurrence is None else match.occurrence[0]
    return Answer(start, end, match.bindings, graph, match.boolean, event)
