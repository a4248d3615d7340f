"""`scepter.run`: a query over Spark tables and files, tables out."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession

from scepter.errors import option_error
from scepter.rdf.batch import DeadLetter
from scepter.rdf.hashing import TermKey
from scepter.rdf.source import EventSource
from scepter.rdf.terms import IRI
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven, load_background, load_ontology
from scepter.runtime.local import missing_stream
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query
from scepter.runtime.spark.batch import run_batch
from scepter.runtime.spark.frames import frame_kind
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.splits import OpenSource, Split, plan_splits
from scepter.runtime.spark.tables import PARTS, QUERY
from scepter.timeline import TimeKind

Given: TypeAlias = DataFrame | str | Path


def run(
    query: Query,
    spark: SparkSession,
    streams: Mapping[str, Given],
    *,
    open_source: OpenSource,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    policy: str | None = None,
    time_unit: str = "ms",
    start: int | str | None = None,
    evaluate_at: Sequence[int | str] | None = None,
    max_delay: int | str | None = None,
) -> DataFrame:
    """The matches as a DataFrame: start, end, then one column per projected variable (struct<type, value, datatype, lang>),
    or `graph`, or `boolean`."""
    options = RunOptions.of(policy=policy, time_unit=time_unit, start=start, evaluate_at=evaluate_at, max_delay=max_delay)
    found = run_with_options(query, spark, streams, options, open_source=open_source, background=background, ontology=ontology)
    return found.drop(QUERY, PARTS)


def run_with_options(
    query: Query,
    spark: SparkSession,
    streams: Mapping[str, Given],
    options: RunOptions,
    *,
    open_source: OpenSource,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    report: Callable[[DeadLetter], None] = lambda letter: None,
) -> DataFrame:
    """As `run`, with the columns `_query` (which query of the file) and `_events` (part -> names of events) besides."""
    given = {query.resolve_stream(name) if not query.lowered.every_stream else name: what for name, what in streams.items()}
    for iri in query.streams:
        if iri not in given:
            raise missing_stream(query, iri)
    named = [iri.value for iri in dict.fromkeys(s.iri for unit in query.program.units for s in unit.streams)]
    numbers = {iri: i for i, iri in enumerate(dict.fromkeys([*named, *given]))}
    sources = {iri: open_source(str(what)) for iri, what in given.items() if not isinstance(what, DataFrame)}
    static = load_background(query, background)
    kind = _kind(given, sources)
    job = Job(
        name=uuid.uuid4().hex,
        program=query.program,
        options=options,
        kind=kind,
        key=TermKey.random(),
        streams=tuple(IRI(iri) for iri in numbers),
        default=tuple(static.dataset.default),
        named=tuple((iri.value, tuple(graph)) for iri, graph in static.dataset.named.items()),
        ontology=load_ontology(query, ontology),
        buckets=_buckets(spark),
    )
    inputs: dict[int, DataFrame | list[Split]] = {}
    for iri, what in given.items():
        if isinstance(what, DataFrame):
            if what.isStreaming:
                raise option_error("streaming", "streaming tables are not supported yet", help="give bounded tables or files")
            inputs[numbers[iri]] = what
        else:
            paths = list(getattr(sources[iri], "paths", ()))
            inputs[numbers[iri]] = plan_splits(numbers[iri], str(what), paths, spark.sparkContext.defaultParallelism * 2)
    return run_batch(query, spark, job, inputs, open_source, report)


def _kind(given: Mapping[str, Given], sources: Mapping[str, EventSource]) -> TimeKind:
    for iri, what in given.items():
        if isinstance(what, DataFrame):
            return frame_kind(what, iri)
        first = next(sources[iri].batches(TermKey.fixed(), 0, lambda letter: None, predicates=frozenset()), None)
        if first is not None:
            return first.kind
    return TimeKind.INTEGER


def _buckets(spark: SparkSession) -> int:
    partitions = int(spark.conf.get("spark.sql.shuffle.partitions") or 200)
    return max(1, 4 * partitions)
