"""Live input on Spark: the same packing, and per bucket a kernel whose state lives in Spark's state store.

A bucket's state is one versioned blob (`kernel.state`). Solutions wait in it until the watermark has passed them; a timer wakes
the bucket when it does, also when no event comes. What is behind the watermark on arrival is late.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from scepter.errors import option_error
from scepter.kernel.query import QueryKernel, Solved, Ticks
from scepter.kernel.shipping import unpack_solved
from scepter.kernel.state import dump, restore
from scepter.runtime.matches import Matcher
from scepter.runtime.queries import Query
from scepter.runtime.spark.batch import PACKED, Reading, Report, pack_frame, shown
from scepter.runtime.spark.jobs import Job, QueryWork
from scepter.runtime.spark.tables import arrow_schema, match_table, result_schema
from scepter.timeline import MIN_INSTANT, TimeKind

_STATE = "state binary"
_ROWS = "rows binary"


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
    patience = f"{_ceil_ms(delay, job.kind)} milliseconds"
    frames = []
    for stream, frame in inputs.items():
        packed = frame.mapInArrow(partial(pack_frame, reading, stream), PACKED)
        timed = packed.withColumn("event_time", _event_time(job.kind)).withWatermark("event_time", patience)
        frames.append(timed.select((F.col("query") * job.buckets + F.col("bucket")).alias("place"), "blob", "event_time"))
    every = frames[0]
    for frame in frames[1:]:
        every = every.unionAll(frame)
    processor = BucketProcessor(job, arrow_schema(query.variables, query.constructs, query.asks, job.kind))
    buckets = every.select("place", "blob").groupBy("place")
    found = buckets.transformWithStateInPandas(processor, _ROWS, "Append", "EventTime")
    return found.mapInArrow(_unpacked, result_schema(query, job.kind))


def _unpacked(packed: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in packed:
        for rows in batch.column("rows"):
            yield from pa.ipc.open_stream(rows.as_buffer())


def _event_time(kind: TimeKind) -> Any:
    """The greatest time of a packed part as Spark's event time; a tick of an integer timeline is a millisecond there."""
    return F.timestamp_micros(F.col("time")) if kind is TimeKind.DATETIME else F.timestamp_millis(F.col("time"))


def _ceil_ms(ticks: int, kind: TimeKind) -> int:
    return -(-ticks // 1000) if kind is TimeKind.DATETIME else ticks


class BucketProcessor(StatefulProcessor):
    """One bucket of one query."""

    def __init__(self, job: Job, schema: pa.Schema) -> None:
        self._job = job  # itself: Spark does not hand broadcast variables to stateful processors
        self._schema = schema

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        self._handle = handle
        self._state = handle.getValueState("kernel", _STATE)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        """Take packed solutions, and release what the watermark has passed."""
        if int(key[0]) < 0:
            # rows that only tell how far time is: a filter on them would be moved to before Spark looks at their time
            return
        watermark = self._ticks(timerValues.getCurrentWatermarkInMs())
        work = self._restored(key)
        for frame in rows:
            for blob in frame["blob"]:
                work.kernel.accept(punctual(unpack_solved(bytes(blob), work.texts), watermark))
        yield from self._step(work, watermark)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        """The watermark has moved: release what it has passed."""
        yield from self._step(self._restored(key), self._ticks(timerValues.getCurrentWatermarkInMs()))

    def close(self) -> None:
        """Nothing to close."""

    def _restored(self, key: Any) -> QueryWork:
        job = self._job
        work = QueryWork(job, int(key[0]) // job.buckets)
        if (kept := self._state.get()) is not None:
            restore(work.kernel, work.texts, bytes(kept[0]))
        return work

    def _step(self, work: QueryWork, watermark: int) -> Iterator[pd.DataFrame]:
        packed = []
        if watermark > MIN_INSTANT:
            matcher = Matcher(work.number, work.kernel, work.texts, self._job.kind, shown)
            matches = matcher(work.kernel.release(watermark - 1, watermark - 1))
            if matches:
                packed.append(_ipc(match_table(matches, self._schema), self._schema))
        work.kernel.commit()
        if work.kernel.idle:
            self._state.clear()
        else:
            self._state.update((dump(work.kernel, work.texts),))
            self._wake(work.kernel)
        yield pd.DataFrame({"rows": packed})

    def _wake(self, kernel: QueryKernel) -> None:
        """One timer, at the first time at which something can be released."""
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        due = kernel.next_due()
        if due is not None:
            # when the watermark is beyond it; a timer that is due at once would be deleted with the one that is being handled
            self._handle.registerTimer(self._milliseconds(due) + 1)

    def _ticks(self, milliseconds: int) -> int:
        if milliseconds <= 0:
            return MIN_INSTANT
        return milliseconds * 1000 if self._job.kind is TimeKind.DATETIME else milliseconds

    def _milliseconds(self, ticks: int) -> int:
        return ticks // 1000 if self._job.kind is TimeKind.DATETIME else ticks


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


def late(solved: Solved, watermark: int) -> int:
    """How many events of a part are behind the watermark."""
    numbers: Iterable[Any] = (t.events[t.time < watermark].ravel() for t in solved.tables)
    return len(np.unique(np.concatenate([np.empty(0, np.int64), *numbers])))
