"""`--max-advance` over history on Spark: which events nothing confirms, found out before any of them takes part.

Whether an event is confirmed depends on those before and after it, in files in the order in which they stand there. A first
pass reads the times alone: each task tells of its part in which stretches time moves on by small steps, and the driver goes
through them as a run in one process goes through the events (`runtime.jumps`). A table has no order; its events are
taken in order of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from scepter.rdf.batch import DeadLetter, EventBatch, kept
from scepter.rdf.nquads import ReadState
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime import refusals
from scepter.runtime.jumps import Stretch, stretches, unconfirmed
from scepter.runtime.spark.environment import Shared, shared
from scepter.runtime.spark.frames import frame_batches
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.lifted import lifted_batches, wanted_columns
from scepter.runtime.spark.pushdown import unheard
from scepter.runtime.spark.ranges import Range, read_range
from scepter.runtime.spark.sampling import RANGES

_TOLD: Final = "stream int, part bigint, at bigint, greatest bigint, events bigint"
_TOLD_SCHEMA: Final = pa.schema(
    [("stream", pa.int32()), *((name, pa.int64()) for name in ("part", "at", "greatest", "events"))]
)


def with_refused(spark: SparkSession, job: Job, inputs: Mapping[int, DataFrame | list[Range]]) -> Job:
    """The job, with the times of the events that nothing confirms."""
    limit = job.options.advance_on(job.kind)
    if limit is None:
        return job
    told: dict[int, list[tuple[int, int, int, int]]] = {}
    for stream, *more in _times(spark, job, inputs).collect():
        told.setdefault(stream, []).append((*more,))
    found = {
        stream: unconfirmed((Stretch(greatest, events) for _, _, greatest, events in sorted(parts)), limit)
        for stream, parts in told.items()
    }
    refused = {stream: frozenset(times) for stream, times in found.items() if times}
    # another name: what workers have made for the first pass refuses nothing
    return replace(job, refused=refused, name=f"{job.name}-confirmed") if refused else job


def _times(spark: SparkSession, job: Job, inputs: Mapping[int, DataFrame | list[Range]]) -> DataFrame:
    given, frames = shared(spark, job), []
    rows = [
        (stream, r.path, r.start, r.stop, r.size, r.salt)
        for stream, ranges in inputs.items()
        if isinstance(ranges, list)
        for r in ranges
    ]
    if rows:
        table = spark.createDataFrame(rows, RANGES).repartition(len(rows), F.monotonically_increasing_id())
        frames.append(table.mapInArrow(partial(_of_ranges, given), _TOLD))
    for stream, frame in inputs.items():
        if isinstance(frame, DataFrame):
            events = unheard(frame).select(*wanted_columns(job, stream, frame.columns))
            frames.append(events.mapInArrow(partial(_of_frame, given, stream), _TOLD))
    return reduce(DataFrame.unionAll, frames)


def _of_ranges(given: Shared[Job], tables: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    job = given.value
    for table in tables:
        for row in table.to_pylist():
            stream = row.pop("stream")
            batches = read_range(
                Range(**row), job.key, stream, _nowhere, predicates=frozenset(), kind=job.kind, named=False,
                times=job.options.times, limits=job.options.limits, lift=job.lifts.get(stream),
            )  # fmt: skip
            ends = _ends(job, batches)
            # salts grow from range to range, in the order in which a run in one process reads them
            yield _told(stream, [(row["salt"], at, *each) for at, each in enumerate(stretches(ends, _limit(job)))])


def _of_frame(given: Shared[Job], stream: int, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    job = given.value
    run = ReadState(job.kind, 0, job.options.times, job.options.limits)
    if stream in job.lifts:
        batches = lifted_batches(job, stream, rows, run, _nowhere)
    else:
        batches = frame_batches(rows, stream, job.kind, job.key, run, _nowhere, predicates=frozenset())
    ends = np.sort(_ends(job, batches))
    yield _told(stream, [(0, each.greatest, *each) for each in stretches(ends, _limit(job))])


def _ends(job: Job, batches: Iterable[EventBatch]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate([np.empty(0, np.int64), *(batch.end for batch in batches)])


def _limit(job: Job) -> int:
    limit = job.options.advance_on(job.kind)
    assert limit is not None
    return limit


def _told(stream: int, parts: list[tuple[int, int, int, int]]) -> pa.RecordBatch:
    columns = zip(*parts, strict=True) if parts else [()] * 4
    arrays = [pa.array([stream] * len(parts), pa.int32()), *(pa.array(column, pa.int64()) for column in columns)]
    return pa.RecordBatch.from_arrays(arrays, schema=_TOLD_SCHEMA)


def _nowhere(letter: DeadLetter) -> None:
    """Whoever reads all of it tells."""


def confirmed(job: Job, batches: Iterable[EventBatch], report: DeadLetterTaker) -> Iterator[EventBatch]:
    """The events that others confirm; the rest is reported."""
    if not job.refused:
        yield from batches
        return
    for batch in batches:
        gone = np.zeros(batch.events, np.bool_)
        for stream, times in job.refused.items():
            gone |= (batch.stream == stream) & np.isin(batch.end, list(times))
        for event in np.flatnonzero(gone).tolist():
            source = job.streams[int(batch.stream[event])].value
            report(DeadLetter(source, None, refusals.unconfirmed(int(batch.end[event]), _limit(job), job.kind)))
        yield kept(batch, ~gone) if gone.any() else batch
