"""`--max-advance` over history on Spark: which events nothing confirms, found out before any of them takes part.

Whether an event is confirmed depends on those before and after it, in files in the order in which they stand there. A first
pass reads the times alone: each task tells of its part in which stretches time moves on by small steps, and the driver goes
through them as a run in one process goes through the events (`runtime.jumps`). A table has no order, nor has a topic across its
partitions; their events are taken in order of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial, reduce
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

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
from scepter.runtime.spark.ranges import Range
from scepter.runtime.spark.splits import Inputs, given_splits, nowhere, read_split, splits_of, spread

_TOLD: Final = "stream int, part bigint, at bigint, greatest bigint, events bigint"
_TOLD_SCHEMA: Final = pa.schema(
    [("stream", pa.int32()), *((name, pa.int64()) for name in ("part", "at", "greatest", "events"))]
)


def with_refused(spark: SparkSession, job: Job, inputs: Inputs) -> Job:
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


def _times(spark: SparkSession, job: Job, inputs: Inputs) -> DataFrame:
    given, frames = shared(spark, job), []
    if splits := splits_of(inputs.items()):
        frames.append(spread(spark, splits).mapInArrow(partial(_of_splits, given), _TOLD))
    for stream, frame in inputs.items():
        if isinstance(frame, DataFrame):
            events = unheard(frame).select(*wanted_columns(job, stream, frame.columns))
            frames.append(events.mapInArrow(partial(_of_frame, given, stream), _TOLD))
    return reduce(DataFrame.unionAll, frames) if frames else spark.createDataFrame([], _TOLD)


def _of_splits(given: Shared[Job], tables: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    job = given.value
    for stream, split in given_splits(tables):
        ends = _ends(job, read_split(job, stream, split, nowhere, predicates=frozenset(), named=False))
        if isinstance(split, Range):
            # salts grow from range to range, in the order in which a run in one process reads them
            yield _told(stream, [(split.salt, at, *each) for at, each in enumerate(stretches(ends, _limit(job)))])
        else:
            yield _in_order_of_time(job, stream, ends)


def _of_frame(given: Shared[Job], stream: int, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    job = given.value
    run = ReadState(job.kind, 0, job.options.times, job.options.limits)
    if stream in job.lifts:
        batches = lifted_batches(job, stream, rows, run, nowhere)
    else:
        batches = frame_batches(rows, stream, job.kind, job.key, run, nowhere, predicates=frozenset())
    yield _in_order_of_time(job, stream, _ends(job, batches))


def _in_order_of_time(job: Job, stream: int, ends: NDArray[np.int64]) -> pa.RecordBatch:
    return _told(stream, [(0, each.greatest, *each) for each in stretches(np.sort(ends), _limit(job))])


def _ends(job: Job, batches: Iterable[EventBatch]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, np.int64), *(batch.end for batch in batches)])


def _limit(job: Job) -> int:
    limit = job.options.advance_on(job.kind)
    assert limit is not None
    return limit


def _told(stream: int, parts: list[tuple[int, int, int, int]]) -> pa.RecordBatch:
    columns = zip(*parts, strict=True) if parts else [()] * 4
    arrays = [pa.array([stream] * len(parts), pa.int32()), *(pa.array(column, pa.int64()) for column in columns)]
    return pa.RecordBatch.from_arrays(arrays, schema=_TOLD_SCHEMA)


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
