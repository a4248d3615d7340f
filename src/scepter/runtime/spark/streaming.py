"""Live input on Spark: the same packing, and per bucket a kernel whose state lives in Spark's state store.

A bucket's state is one versioned blob (`kernel.state`). Solutions wait in it until the watermark has passed them; a timer wakes
the bucket when it does, also when no event comes. What is behind the watermark on arrival is late: it takes no part, goes to
the dead letters, and is counted in the query's progress (`observed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from scepter.algebra.query import Ask
from scepter.errors import option_error
from scepter.kernel.container import pack, unpack
from scepter.kernel.query import QueryKernel, Solved, Ticks
from scepter.kernel.shipping import unpack_solved
from scepter.kernel.state import dump, restore
from scepter.rdf.batch import DeadLetter
from scepter.rdf.terms import IRI
from scepter.runtime.matches import Matcher
from scepter.runtime.queries import Query
from scepter.runtime.spark.batch import PACKED, Reading, Report, pack_frame, shown
from scepter.runtime.spark.jobs import Job, QueryWork, new_work
from scepter.runtime.spark.tables import arrow_schema, match_table, result_schema
from scepter.timeline import MIN_INSTANT, TimeKind

_STATE: Final = "state binary"
_ANSWERED: Final = "answered boolean"
_FOUND: Final = "rows binary, matches bigint, late bigint, letters binary"
_METRICS: Final = "scepter "


def run_streaming(query: Query, spark: SparkSession, job: Job, inputs: Mapping[int, DataFrame], report: Report) -> DataFrame:
    """The matches of a job over streaming tables, as a streaming table in append mode."""
    if not job.divided:
        raise option_error(
            "streaming",
            f"this {query.language} program cannot run on a streaming table yet",
            help="run it over bounded input, or with scepter.Engine",
        )
    reading = Reading(spark.sparkContext.broadcast(job), report)
    delay = 0 if job.options.max_delay is None else job.options.max_delay.ticks(job.kind, job.options.time_unit)
    patience = f"{-(-delay // ticks_per_millisecond(job))} milliseconds"
    frames = []
    for stream, frame in inputs.items():
        packed = frame.mapInArrow(partial(pack_frame, reading, stream), PACKED)
        timed = packed.withColumn("event_time", _event_time(job)).withWatermark("event_time", patience)
        frames.append(timed.select((F.col("query") * job.buckets + F.col("bucket")).alias("place"), "blob", "event_time"))
    every = frames[0]
    for frame in frames[1:]:
        every = every.unionAll(frame)
    processor = BucketProcessor(job, arrow_schema(query.variables, query.constructs, query.asks, job.kind, query.occurrences))
    buckets = every.select("place", "blob").groupBy("place")
    found = buckets.transformWithStateInPandas(processor, _FOUND, "Append", "EventTime")
    counted = found.observe(_METRICS + job.name, *(F.coalesce(F.sum(c), F.lit(0)).alias(c) for c in ("matches", "late")))
    return counted.mapInArrow(partial(_unpacked, job.streams, report), result_schema(query, job.kind))


@dataclass(frozen=True, slots=True)
class Observed:
    """What a micro-batch of a live run did."""

    matches: int
    late: int
    """Events behind the watermark."""


def observed(progress: Any) -> Observed:
    """The counts that a StreamingQueryProgress, or its JSON as a dict, holds of the runs in its query."""
    metrics = progress["observedMetrics"] if isinstance(progress, Mapping) else progress.observedMetrics
    ours = [row for name, row in metrics.items() if name.startswith(_METRICS)]
    return Observed(sum(row["matches"] for row in ours), sum(row["late"] for row in ours))


def _unpacked(streams: tuple[IRI, ...], report: Report, packed: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of matches; late events are reported on the way."""
    for batch in packed:
        for letters in batch.column("letters"):
            if letters.is_valid:
                _report_late(streams, report, letters.as_py())
        for rows in batch.column("rows"):
            if rows.is_valid:
                yield from pa.ipc.open_stream(rows.as_buffer())


def _report_late(streams: tuple[IRI, ...], report: Report, letters: bytes) -> None:
    arrays, meta = unpack(letters)
    for stream, time in zip(arrays["stream"].tolist(), arrays["time"].tolist(), strict=True):
        report(DeadLetter(streams[stream].value, None, f"late: {time} is behind the watermark {meta['watermark']}"))


def ticks_per_millisecond(job: Job) -> int:
    """How Spark, which tells time in milliseconds, is told a run's times: a tick of an integer timeline counts as one unless
    it is a microsecond, so that small numbers move the watermark."""
    return 1000 if job.kind is TimeKind.DATETIME or job.options.time_unit == "us" else 1


def _event_time(job: Job) -> Column:
    """The greatest time of a packed part as Spark's event time."""
    return F.timestamp_millis(F.col("time")) if ticks_per_millisecond(job) == 1 else F.timestamp_micros(F.col("time"))


class BucketProcessor(StatefulProcessor):
    """One bucket of one query; and, at places below zero, the times of all events."""

    def __init__(self, job: Job, schema: pa.Schema) -> None:
        self._job = job  # itself: Spark does not hand broadcast variables to stateful processors
        self._schema = schema
        self._scale = ticks_per_millisecond(job)
        self._identities = [job.identity(number) for number in range(len(job.program.queries))]

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        self._handle = handle
        self._state = handle.getValueState("kernel", _STATE)
        self._answered = handle.getValueState("answered", _ANSWERED)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        """Take packed solutions, and release what the watermark has passed."""
        place, watermark = int(key[0]), self._ticks(timerValues.getCurrentWatermarkInMs())
        blobs = (bytes(blob) for frame in rows for blob in frame["blob"])
        if place < 0:
            yield from _late(blobs, watermark)
        elif not self._is_answered(place):
            work = self._restored(place)
            for blob in blobs:
                work.kernel.accept(punctual(unpack_solved(blob, work.texts), watermark))
            yield from self._step(work, watermark)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        """The watermark has moved: release what it has passed."""
        place = int(key[0])
        if not self._is_answered(place):
            yield from self._step(self._restored(place), self._ticks(timerValues.getCurrentWatermarkInMs()))

    def close(self) -> None:
        """Nothing to close."""

    def _asks(self, query: int) -> bool:
        return isinstance(self._job.program.queries[query].result, Ask)

    def _is_answered(self, place: int) -> bool:
        return self._asks(place // self._job.buckets) and self._answered.get() is not None

    def _restored(self, place: int) -> QueryWork:
        work = new_work(self._job, place // self._job.buckets)
        if (kept := self._state.get()) is not None:
            restore(work.kernel, work.texts, bytes(kept[0]), self._identities[work.number])
        return work

    def _step(self, work: QueryWork, watermark: int) -> Iterator[pd.DataFrame]:
        if watermark > MIN_INSTANT:
            matcher = Matcher(work.number, work.kernel, work.texts, self._job.kind, shown)
            matches = matcher(work.kernel.release(watermark - 1, watermark - 1))
            if matches:
                yield _found(rows=_ipc(match_table(matches, self._schema), self._schema), matches=len(matches))
                if self._asks(work.number):
                    self._answered.update((True,))
                    self._state.clear()
                    self._sleep()
                    return
        work.kernel.commit()
        self._sleep()
        if work.kernel.idle:
            self._state.clear()
        else:
            self._state.update((dump(work.kernel, work.texts, self._identities[work.number]),))
            self._wake(work.kernel, watermark)

    def _sleep(self) -> None:
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)

    def _wake(self, kernel: QueryKernel, watermark: int) -> None:
        """One timer, at the first time at which something can be released."""
        due = kernel.next_due()
        if due is not None:
            # when the watermark is beyond it; Spark takes no timer that is due already, and its watermark starts at 0
            self._handle.registerTimer(max(due, watermark, 0) // self._scale + 1)

    def _ticks(self, milliseconds: int) -> int:
        return MIN_INSTANT if milliseconds <= 0 else milliseconds * self._scale


def _found(rows: bytes | None = None, matches: int = 0, late: int = 0, letters: bytes | None = None) -> pd.DataFrame:
    return pd.DataFrame({"rows": [rows], "matches": [matches], "late": [late], "letters": [letters]})


def _late(blobs: Iterable[bytes], watermark: int) -> Iterator[pd.DataFrame]:
    """Those of some events' times that are behind the watermark."""
    streams: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    times: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for blob in blobs:
        arrays, _ = unpack(blob)
        behind = arrays["time"] < watermark
        streams.append(arrays["stream"][behind])
        times.append(arrays["time"][behind])
    stream, time = np.concatenate(streams), np.concatenate(times)
    if len(time):
        yield _found(late=len(time), letters=pack({"stream": stream, "time": time}, {"watermark": watermark}))


def _ipc(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> bytes:
    """Rows as one value: nested columns would go through pandas, which knows none."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def punctual(solved: Solved, watermark: int) -> Solved:
    """What is not behind the watermark."""
    tables = tuple(t.take(t.time >= watermark) for t in solved.tables)
    keep = solved.ticks.times >= watermark
    return Solved(tables, Ticks(solved.ticks.groups[keep], solved.ticks.times[keep]))
