"""A run on Spark, from the command line's side: the streams as Spark reads them, the cases of `scepter test`."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scepter.cases.model import Case
from scepter.cases.nquads import case_nquads
from scepter.cases.query import query_of
from scepter.cli.inputs import assign_streams
from scepter.cli.options import run_options
from scepter.errors import ScepterError, option_error
from scepter.kafka.address import is_kafka, parse_address
from scepter.kafka.topic import held, told_by
from scepter.kept import naming
from scepter.rdf.files import stream_files
from scepter.rdf.indexing import Progress
from scepter.rdf.readers import Lift
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.times import TimeProperties
from scepter.runtime.analysis import Analysis
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven
from scepter.runtime.matches import Match
from scepter.runtime.notices import Notices, received
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query
from scepter.runtime.spark.answers import faults_told, ordered_answers
from scepter.runtime.spark.folder import list_files
from scepter.runtime.spark.letters import FolderLetters, drained
from scepter.runtime.spark.range_reading import first_kind
from scepter.runtime.spark.run import analyze_with_options, run_with_options
from scepter.runtime.spark.source import register
from scepter.runtime.spark.warm_up import Claim
from scepter.timeline import TimeKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from scepter.cli.execute import Job

_WAIT: Final = 0.5


def spark_matches(job: Job, dead_letter: DeadLetterTaker, progress: Progress | None = None) -> Iterator[Match]:
    """The matches of a job over bounded input, in order. `progress` hears how far the indexing of large static files is."""
    with tempfile.TemporaryDirectory(prefix="scepter-") as folder:
        sources = {iri: spooled(source, Path(folder)) for iri, source in job.sources.items()}
        letters = Path(folder) / "dead-letters"
        with faults_told():
            found = run_with_options(
                job.query,
                job.session(),
                sources,
                job.options,
                find_files=stream_files,
                background=job.background,
                ontology=job.ontology,
                report=FolderLetters(letters),
                warn=job.warn,
                progress=progress,
                lifts=job.lifts,
            )
            yield from ordered_answers(found, job.query)
            with drained(letters) as unused:
                for letter in received(unused, Notices()):
                    dead_letter(letter)


def analyze_on_spark(
    spark: SparkSession,
    query: Query,
    given: Mapping[str, str],
    options: RunOptions,
    *,
    background: BackgroundGiven,
    ontology: OntologyGiven,
    lifts: Mapping[str, Lift],
) -> Analysis:
    """What a run over bounded sources does."""
    with tempfile.TemporaryDirectory(prefix="scepter-") as folder, faults_told():
        sources = {iri: spooled(source, Path(folder)) for iri, source in given.items()}
        return analyze_with_options(
            query, spark, sources, options,
            find_files=stream_files, background=background, ontology=ontology, lifts=lifts,
        )  # fmt: skip


def has_events(job: Job) -> bool:
    """Whether there was an event in the input of a bounded run. What came through a pipe or a topic cannot be asked again, and
    counts as one that had."""
    for iri, source in job.sources.items():
        if source == "-" or is_kafka(source) or Path(source).is_fifo():
            return True
        with suppress(ScepterError):  # nothing but files that cannot be read
            if first_kind(stream_files(source), times=job.options.times, lift=job.lifts.get(iri)) is not None:
                return True
    return False


def spooled(source: str, folder: Path) -> str:
    """The source, or the file that standard input was written to: Spark's workers cannot read a pipe."""
    pipe = source != "-" and Path(source).is_fifo()
    if source != "-" and not pipe:
        return source
    path = folder / "stdin"
    with naming(path), path.open("wb") as out:
        if pipe:
            with Path(source).open("rb") as opened:
                shutil.copyfileobj(opened, out, 1 << 20)
        else:
            shutil.copyfileobj(sys.stdin.buffer, out, 1 << 20)
    return str(path)


def live_table(job: Job, letters: Path, stop: threading.Event, tell: Callable[[str], None], claim: Claim) -> DataFrame | None:
    """The matches of a job over folders that are followed; None if it was stopped before the first event came. `claim` hears
    what the run is, and may refuse."""
    kind = _awaited_kind(job.sources, job.options.times, job.lifts, stop, tell)
    if kind is None:
        return None
    spark = job.session()
    spark.conf.set("spark.sql.codegen.wholeStage", "false")  # a micro-batch has few rows, and is planned anew
    register(spark)
    timestamps = "integer" if kind is TimeKind.INTEGER else "dateTime"
    tables = {}
    for iri, source in job.sources.items():
        reading = spark.readStream.format("rdf").options(
            stream=iri, timestamps=timestamps, names="true", deadLetterPath=str(letters), limits=job.options.limits.told()
        )
        if job.options.times.given:
            reading = reading.option("timeProperty", " ".join(job.options.times.given))
        if iri in job.lifts:
            reading = reading.option(*job.lifts[iri].option)
        if job.max_events is not None:
            reading = reading.option("maxEventsPerTrigger", str(job.max_events))
        tables[iri] = reading.load(source)
    return run_with_options(
        job.query,
        spark,
        tables,
        job.options,
        find_files=stream_files,
        background=job.background,
        ontology=job.ontology,
        report=FolderLetters(letters),
        warn=job.warn,
        lifts=job.lifts,
        claim=claim,
        kept=job.checkpoint,
        tell=tell,
    )


def _awaited_kind(
    sources: Mapping[str, str],
    times: TimeProperties,
    lifts: Mapping[str, Lift],
    stop: threading.Event,
    tell: Callable[[str], None],
) -> TimeKind | None:
    """The kind of the first time there is; waits for the first event."""
    told = False
    while not stop.is_set():
        for iri, source in sources.items():
            kind = _first_kind(source, times, lifts.get(iri))
            if kind is not None:
                return kind
        if not told:
            tell(f"waiting for the first event in {', '.join(sources.values())}")
            told = True
        stop.wait(_WAIT)
    return None


def _first_kind(source: str, times: TimeProperties, lift: Lift | None) -> TimeKind | None:
    if not is_kafka(source):
        try:
            return first_kind([file.path for file in list_files([source], begun=True)], times=times, lift=lift)
        except ScepterError:  # nothing but files that cannot be read: dead letters, once there is an event
            return None
    told = told_by(address := parse_address(source), held(address), times, lift)
    return None if told is None else told.kind


def check_followed(sources: Mapping[str, str]) -> None:
    """Refuse what cannot be followed."""
    for iri, source in sources.items():
        if source == "-":
            raise option_error(
                "not-followed",
                f"--follow reads files as they appear in a folder, and <{iri}> is given as standard input",
                help="name a folder, or leave out --follow",
            )
        if is_kafka(source):
            held(parse_address(source))
        else:
            list_files([source])


def run_case(spark: SparkSession, case: Case) -> list[Match]:
    """The matches of a case's query, its streams written to files first."""
    query = query_of(case)
    given: dict[str, Any] = {name.replace("-", "_"): value for name, value in case.options.items()}
    options = run_options(query.lowered, **given)
    with tempfile.TemporaryDirectory(prefix="scepter-") as folder:
        named: list[tuple[str, str]] = []
        for number, (name, events) in enumerate(case.streams.items()):
            path = Path(folder) / f"{number}.nq"
            path.write_text(case_nquads(events), encoding="utf-8", newline="\n")
            named.append((name, str(path)))
        streams, _ = assign_streams(query, named)
        with faults_told():
            found = run_with_options(
                query,
                spark,
                streams,
                options,
                find_files=stream_files,
                background=case.background,
                ontology=case.ontology,
            )
            return list(ordered_answers(found, query))
