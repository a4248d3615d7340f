"""`scepter.run`: a query over Spark tables and files, tables out."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from scepter.errors import Diagnostic, a_type, option_error
from scepter.kafka.address import Address, is_kafka, parse_address
from scepter.kafka.topic import Told, held, told_by
from scepter.rdf.batch import DeadLetter
from scepter.rdf.hashing import TermKey
from scepter.rdf.indexing import Progress
from scepter.rdf.readers import Lift
from scepter.rdf.terms import IRI
from scepter.rdf.untimed import Untimed, no_times
from scepter.runtime.analysis import Analysis
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven, load_background, load_ontology
from scepter.runtime.local import missing_stream
from scepter.runtime.maps import ContextGiven, MapGiven, lifts_of
from scepter.runtime.options import FUTURE, RunOptions, check_taken
from scepter.runtime.planning import facts_of, planned
from scepter.runtime.queries import Query, by_stream
from scepter.runtime.registry import grounds_of
from scepter.runtime.spark.batch import analyze_batch, run_batch
from scepter.runtime.spark.each_batch import SkewLetters, mark_of
from scepter.runtime.spark.environment import cores, prepare
from scepter.runtime.spark.frames import frame_kind
from scepter.runtime.spark.identity import BUCKETS, Identity
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.kept_run import LIVE_BUCKETS, claimed
from scepter.runtime.spark.lifted import lifted_kind
from scepter.runtime.spark.pushdown import source_options
from scepter.runtime.spark.range_reading import first_kind
from scepter.runtime.spark.ranges import next_salt, plan_ranges
from scepter.runtime.spark.sampling import sampled
from scepter.runtime.spark.shares import A_CORE
from scepter.runtime.spark.shipped_background import ShippedBackground
from scepter.runtime.spark.source import Settings
from scepter.runtime.spark.splits import Inputs, Split, plan_pieces
from scepter.runtime.spark.streaming import run_streaming
from scepter.runtime.spark.tables import QUERY
from scepter.runtime.spark.warm_up import Claim, Found, kept_folder, warmed
from scepter.timeline import TimeKind

_MOST_BUCKETS = 4096

Given: TypeAlias = DataFrame | str | Path
FindFiles: TypeAlias = Callable[[str], Sequence[Path]]
"""The files that a SOURCE (file, glob, folder) stands for."""


def run(
    query: Query,
    spark: SparkSession,
    streams: Mapping[str, Given],
    *,
    find_files: FindFiles,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    policy: str | None = None,
    time_unit: str = "ms",
    start: int | str | datetime | None = None,
    evaluate_at: Sequence[int | str | datetime] | None = None,
    max_delay: int | str | timedelta | None = None,
    why: bool = False,
    idle_streams: str | None = None,
    time_property: str | Sequence[str] | None = None,
    limits: Mapping[str, int | str] | None = None,
    map: MapGiven = None,
    context: ContextGiven = None,
    max_future: int | str | None = None,
    max_advance: int | str | timedelta | None = None,
    warm_up: int | str | None = None,
    checkpoint: str | Path | None = None,
) -> DataFrame:
    """The matches as a DataFrame: start, end, then one column per projected variable (struct<type, value, datatype, lang>),
    or `graph`, or `boolean`."""
    options = RunOptions.of(
        policy=policy,
        time_unit=time_unit,
        start=start,
        evaluate_at=evaluate_at,
        max_delay=max_delay,
        why=why,
        idle_streams=idle_streams,
        time_property=time_property,
        limits=limits,
        max_future=FUTURE if max_future is None else max_future,
        warm_up=warm_up,
        max_advance=max_advance,
    )
    if max_advance is not None and any(isinstance(each, DataFrame) and each.isStreaming for each in streams.values()):
        raise option_error(
            "max-advance",
            "max_advance needs a driver that keeps how far time is from micro-batch to micro-batch, and writeStream is Spark's",
            help="take scepter run --follow --max-advance D, or max_future=",
        )
    folder = None if checkpoint is None else kept_folder(checkpoint)
    found = run_with_options(
        query, spark, streams, options, find_files=find_files, background=background, ontology=ontology, parts=False,
        lifts=lifts_of(query, map, streams, options.times, context), kept=folder,
        claim=partial(claimed, folder), report=_unheard if folder is None else SkewLetters(folder),
        told_as="" if folder is None else mark_of(folder),
    )  # fmt: skip
    return _called(found, query.answers)


def _unheard(letter: DeadLetter) -> None:
    """Nobody has asked for letters."""


def _called(found: DataFrame, names: Sequence[str | int]) -> DataFrame:
    """The matches with what the query of each is called, where there are several."""
    if not names:
        return found.drop(QUERY)
    name = F.element_at(F.array(*(F.lit(str(each)) for each in names)), F.col(QUERY) + 1)
    rest = [F.col(f"`{column}`") for column in found.columns if column != QUERY]
    return found.select(name.alias("query"), *rest)


def run_with_options(
    query: Query,
    spark: SparkSession,
    streams: Mapping[str, Given],
    options: RunOptions,
    *,
    find_files: FindFiles,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    report: Callable[[DeadLetter], None] = lambda letter: None,
    parts: bool = True,
    warn: Callable[[Diagnostic], None] = lambda diagnostic: None,
    progress: Progress | None = None,
    lifts: Mapping[str, Lift] | None = None,
    claim: Claim = lambda identity: Found(),
    kept: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
    told_as: str = "",
) -> DataFrame:
    """As `run`, with the columns `_query` (which query of the file) and, if `parts`, `_events` (part -> names of events).
    `claim` hears what a live run is before anything of it starts, and may refuse; `kept` is where it keeps with what it
    began. Its driver tells its tasks from those of others by `told_as`."""
    job, inputs, found = _prepared(
        query, spark, streams, options, find_files=find_files, background=background, ontology=ontology, report=report,
        parts=parts, warn=warn, progress=progress, lifts=lifts, claim=claim,
    )  # fmt: skip
    job = replace(job, told_as=told_as)
    if not job.live:
        if options.warm_up is not None:
            raise option_error(
                "warm-up", "warm_up begins a live run with history, and all streams are bounded", help="leave out warm_up"
            )
        return run_batch(query, spark, job, inputs, report)
    tables = {n: what for n, what in inputs.items() if isinstance(what, DataFrame) and what.isStreaming}
    if len(tables) < len(inputs):
        raise option_error(
            "streaming", "some streams are live and some are bounded", help="give all of them as streaming tables"
        )
    begun = warmed(spark, job, tables, kept, found)
    if begun.line is not None:
        tell(begun.line)
    return run_streaming(query, spark, begun.job, tables, report, begun.begins)


def analyze_with_options(
    query: Query,
    spark: SparkSession,
    streams: Mapping[str, Given],
    options: RunOptions,
    *,
    find_files: FindFiles,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    lifts: Mapping[str, Lift] | None = None,
) -> Analysis:
    """Run a query over bounded streams, forget its matches, and give the plan that ran with what its operators did."""
    job, inputs, _ = _prepared(
        query, spark, streams, options, find_files=find_files, background=background, ontology=ontology, parts=False,
        report=lambda letter: None, lifts=lifts,
    )  # fmt: skip
    if job.live:
        raise option_error("analyze", "a live run has no end to be analysed at", help="give bounded streams, such as files")
    return Analysis(query, job.plan, analyze_batch(spark, job, inputs, lambda letter: None))


def _prepared(
    query: Query,
    spark: SparkSession,
    streams: Mapping[str, Given],
    options: RunOptions,
    *,
    find_files: FindFiles,
    background: BackgroundGiven,
    ontology: OntologyGiven,
    report: Callable[[DeadLetter], None],
    parts: bool,
    warn: Callable[[Diagnostic], None] = lambda diagnostic: None,
    progress: Progress | None = None,
    lifts: Mapping[str, Lift] | None = None,
    claim: Claim = lambda identity: Found(),
) -> tuple[Job, Inputs, Found]:
    """The job of a run, planned and checked, its inputs by number of stream, and what `claim` answers."""
    check_taken(options, query.lowered)
    if options.assign_time is not None:
        raise option_error(
            "option-not-for-engine",
            "--assign-time gives times in order of arrival, which Spark's tasks do not know",
            help="take --engine local",
        )
    given = by_stream(query, streams)
    for iri in query.streams:
        if iri not in given:
            raise missing_stream(query, iri)
    for iri, what in given.items():
        if not isinstance(what, (DataFrame, str, Path)):
            raise option_error(
                "streams",
                f"the stream <{iri}> is given as {a_type(what)}",
                help="give a file's name, a topic's address or a DataFrame; spark.createDataFrame makes one of a table",
            )
    prepare(spark)
    named = [iri.value for iri in dict.fromkeys(s.iri for unit in query.program.units for s in unit.streams)]
    numbers = {iri: i for i, iri in enumerate(dict.fromkeys([*named, *given]))}
    lifts = lifts or {}
    lifts = {iri: lift for iri, lift in lifts.items() if iri in given and not _is_lifted(given[iri])}
    topics = {iri: _topic(address, options, lifts.get(iri)) for iri, what in given.items() if (address := _address(what))}
    files = {iri: None if iri in topics else _files(what, find_files) for iri, what in given.items()}
    static = load_background(query, background, ontology, progress)
    schema = load_ontology(query, ontology)
    for unit in query.program.units:  # what is wrong with them is told here, before any worker reads data
        if (grounds := grounds_of(unit, static, schema)) is not None:
            for warning in grounds.doubtful(query.lowered):
                warn(warning)
    shipped = ShippedBackground.of(static)
    shipped.give(spark)
    live = any(isinstance(what, DataFrame) and what.isStreaming for what in given.values())
    kind = _kind(given, files, topics, options, report, lifts)
    order = tuple(IRI(iri) for iri in numbers)
    facts = facts_of(options, static, schema, kind)
    plan = planned(query.program, facts)
    identity, found, buckets = None, Found(), _buckets(spark)
    if live:
        buckets, asked = _live_buckets(spark)
        identity = Identity.of(query.program, options, kind, order, query.text, buckets, asked=asked)
        found = claim(identity)
        identity = identity if found.buckets is None else identity.in_buckets(found.buckets)
        buckets = identity.buckets
    job = Job(
        name=uuid.uuid4().hex,
        plan=plan,
        options=options,
        kind=kind,
        key=TermKey.random() if identity is None else identity.key,
        streams=order,
        static=shipped,
        ontology=schema,
        buckets=buckets,
        live=live,
        cores=cores(spark),
        identity=identity,
        lifts={numbers[iri]: lift for iri, lift in lifts.items() if iri in numbers},
        parts=parts,
    )
    inputs: dict[int, DataFrame | list[Split]] = {}
    salt, tasks = 0, 2 * cores(spark)
    for iri, what in given.items():
        there = files[iri]
        if iri in topics:
            address, told = topics[iri]
            inputs[numbers[iri]] = [] if told is None else [*plan_pieces(address, told.format, tasks)]
        elif there is not None:
            paths, format = there
            ranges = plan_ranges(paths, parts=tasks, salt=salt, format=format)
            salt = next_salt(ranges, salt)
            inputs[numbers[iri]] = [*ranges]
        elif isinstance(what, DataFrame):
            inputs[numbers[iri]] = what
    sample = None if live else sampled(job, [(n, there) for n, there in inputs.items() if isinstance(there, list)])
    if sample is not None:
        job = replace(job, plan=planned(query.program, sample.known(facts)))
    return job, inputs, found


def _address(what: Given) -> Address | None:
    """The topic of a bounded stream, given by its address or as a table that is the topic and nothing else."""
    if is_kafka(what):
        return parse_address(str(what))
    settings = _settings(what)
    return None if settings is None else settings.topic


def _settings(what: Given) -> Settings | None:
    """What a bounded table reads, where tasks can read it without it; None of any other."""
    options = source_options(what) if isinstance(what, DataFrame) and not what.isStreaming else None
    if options is None:
        return None
    settings = Settings.of(options)
    own = settings.dead_letters is not None or settings.times.inside or settings.lift is not None
    return None if own else settings  # what is its own, its reader writes or knows


def _topic(address: Address, options: RunOptions, lift: Lift | None) -> tuple[Address, Told | None]:
    """A topic and what its first messages tell. What is wrong with it is told here, by the driver."""
    return address, told_by(address, held(address), options.times, lift)


def _is_lifted(what: Given) -> bool:
    """Whether a table's own reader maps its rows: then it holds events."""
    options = source_options(what) if isinstance(what, DataFrame) else None
    return options is not None and not {"map", "context"}.isdisjoint(name.lower() for name in options)


def _files(what: Given, find_files: FindFiles) -> tuple[Sequence[Path], str] | None:
    """The files of a bounded stream and the format they are to be read in; None of a table that is more than its files."""
    if not isinstance(what, DataFrame):
        return find_files(str(what)), ""
    settings = _settings(what)
    if settings is None:
        return None
    return [path for source in settings.sources for path in find_files(source)], settings.format


def _kind(
    given: Mapping[str, Given],
    files: Mapping[str, tuple[Sequence[Path], str] | None],
    topics: Mapping[str, tuple[Address, Told | None]],
    options: RunOptions,
    report: Callable[[DeadLetter], None],
    lifts: Mapping[str, Lift],
) -> TimeKind:
    letters: list[DeadLetter] = []
    untimed, times = Untimed(letters.append), options.times
    for iri, what in given.items():
        there = files[iri]
        kind: TimeKind | None
        if iri in topics:
            told = topics[iri][1]
            kind = None if told is None else told.kind
        elif isinstance(what, DataFrame):
            kind = lifted_kind(what, iri, lifts[iri], times) if iri in lifts else frame_kind(what, iri)
        else:
            assert there is not None
            kind = first_kind(there[0], times=times, dead_letter=untimed, lift=lifts.get(iri))
        if kind is not None:
            return kind
    if untimed.events:
        for letter in letters:  # nobody else will read the files
            report(letter)
        raise no_times(
            [(path, lifts.get(iri)) for iri, there in files.items() if there is not None for path in there[0]],
            times, untimed.why,
        )  # fmt: skip
    return options.evaluate_at[0].kind if options.evaluate_at else TimeKind.INTEGER


def _live_buckets(spark: SparkSession) -> tuple[int, bool]:
    """How many buckets a live run has, and whether that was asked for; else, at its first start, some for each core."""
    given = spark.conf.get(BUCKETS, None)
    if given is None:
        return min(_MOST_BUCKETS, max(LIVE_BUCKETS, A_CORE * cores(spark))), False
    if not given.isdigit() or not 0 < int(given) <= _MOST_BUCKETS:
        raise option_error(
            "buckets", f"{BUCKETS} cannot be {given!r}", help=f"a number from 1 to {_MOST_BUCKETS}, some four for each core"
        )
    return int(given), True


def _buckets(spark: SparkSession) -> int:
    """Some for each core, so that cores that are done early find more to do, and not more than the session wants."""
    partitions = int(spark.conf.get("spark.sql.shuffle.partitions") or 200)
    return max(1, A_CORE * min(partitions, cores(spark)))
