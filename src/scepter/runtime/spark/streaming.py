"""Live input on Spark: the same packing, and per bucket a kernel whose state lives in Spark's state store (`bucket`).

What is behind the watermark on arrival is late: it takes no part, goes to the dead letters, and is counted in the query's
progress (`observed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from scepter.kernel.state.container import unpack
from scepter.rdf.batch import DeadLetter
from scepter.rdf.terms import IRI
from scepter.runtime import refusals
from scepter.runtime.notices import LIMIT, SKEW, TIMES, sent
from scepter.runtime.queries import Query, check_endless
from scepter.runtime.spark.batch import Reading, Report, pack_frame
from scepter.runtime.spark.bucket import FOUND, patience, ticks_per_millisecond
from scepter.runtime.spark.environment import check_live, shared
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.processor import BucketProcessor
from scepter.runtime.spark.pushdown import PACKED, packed_table
from scepter.runtime.spark.tables import arrow_schema, result_schema
from scepter.timeline import TimeKind

_READ: Final = "scepter read "
_FOUND: Final = "scepter found "


def run_streaming(
    query: Query,
    spark: SparkSession,
    job: Job,
    inputs: Mapping[int, DataFrame],
    report: Report,
    begins: Mapping[int, str] | None = None,
) -> DataFrame:
    """The matches of a job over streaming tables, as a streaming table in append mode. `begins` tells where some of the tables
    do, by stream."""
    check_endless(query, instants=job.options.evaluate_at is not None)
    check_live(spark)
    reading = Reading(shared(spark, job), report)
    delay = f"{patience(job)} milliseconds"
    wait = job.options.idle_streams == "wait"
    frames = []
    for stream, frame in inputs.items():
        packed = packed_table(frame, job, stream, (begins or {}).get(stream))
        if packed is None:
            packed = frame.mapInArrow(partial(pack_frame, reading, stream), PACKED)
        packed = packed.withColumn("event_time", _event_time(job))
        # Spark's time is the least of all watermarks: one for each stream waits for all of them, one for all for none
        timed = packed.withWatermark("event_time", delay) if wait else packed
        frames.append(timed.select("place", "blob", "event_time", "events"))
    every = reduce(DataFrame.unionAll, frames).observe(_READ + job.name, _sum("events"))
    if not wait:
        every = every.withWatermark("event_time", delay)
    schema = arrow_schema(
        query.variables, query.constructs, query.asks, job.kind, query.occurrences, parts=job.parts, why=job.options.why
    )
    found = every.select("place", "blob")
    for depth in range(job.depth):
        processor = BucketProcessor(job, schema, depth)
        found = found.groupBy("place").transformWithStateInPandas(processor, FOUND, "Append", "EventTime")
    counted = found.observe(_FOUND + job.name, _sum("matches"), _sum("late"))
    return counted.mapInArrow(
        partial(_unpacked, job.streams, job.kind, report), result_schema(query, job.kind, parts=job.parts, why=job.options.why)
    )


@dataclass(frozen=True, slots=True)
class Observed:
    """What a micro-batch of a live run did."""

    events: int
    """Read, late ones too."""
    matches: int
    late: int
    """Events behind the watermark."""


def observed(progress: Any) -> Observed:
    """The counts that a StreamingQueryProgress, or its JSON as a dict, holds of the runs in its query."""
    metrics = progress["observedMetrics"] if isinstance(progress, Mapping) else progress.observedMetrics
    read = [row for name, row in metrics.items() if name.startswith(_READ)]
    found = [row for name, row in metrics.items() if name.startswith(_FOUND)]
    return Observed(sum(row["events"] for row in read), sum(row["matches"] for row in found), sum(row["late"] for row in found))


def _sum(column: str) -> Column:
    return F.coalesce(F.sum(column), F.lit(0)).alias(column)


def _unpacked(
    streams: tuple[IRI, ...], kind: TimeKind, report: Report, packed: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The rows of matches; late events, and what is to be said about the data, are reported on the way."""
    for batch in packed:
        for letters in batch.column("letters"):
            if letters.is_valid:
                _report(streams, kind, report, letters.as_py())
        for rows in batch.column("rows"):
            if rows.is_valid:
                yield from pa.ipc.open_stream(rows.as_buffer())


def _report(streams: tuple[IRI, ...], kind: TimeKind, report: Report, letters: bytes) -> None:
    arrays, meta = unpack(letters)
    if "notice" in meta:
        sent(report).tell(meta["notice"])
        return
    if "limit" in meta:
        sent(report).tell(meta["limit"])
        report(DeadLetter(LIMIT, None, meta["limit"]))
        return
    for subject in (TIMES, SKEW):
        if subject in meta:
            report(DeadLetter(subject, None, meta[subject]))
            return
    for stream, time in zip(arrays["stream"].tolist(), arrays["time"].tolist(), strict=True):
        report(DeadLetter(streams[stream].value, None, refusals.late(time, meta["watermark"], kind)))


def _event_time(job: Job) -> Column:
    """The greatest time of a packed part as Spark's event time; the least one where it is not to move time on."""
    time = F.coalesce(F.col("time"), F.lit(0))
    return F.timestamp_millis(time) if ticks_per_millisecond(job) == 1 else F.timestamp_micros(time)
