"""Which keys of a run over history are hot (`skew`): a sample tells, the first part of each range of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from scepter.physical.distribution.hot_keys import within_key
from scepter.runtime.planning import Sample
from scepter.runtime.spark.environment import Shared, shared
from scepter.runtime.spark.jobs import Job, work
from scepter.runtime.spark.ranges import Range, divisible
from scepter.runtime.spark.shares import Form
from scepter.runtime.spark.skew import HotKey
from scepter.runtime.spark.splits import Split, given_splits, nowhere, read_split, spread

SAMPLED_FROM: Final = 64 << 20
"""Bytes of input: with less, a sample costs more than it can save."""
_SAMPLE: Final = 1 << 18
"""Bytes of a range that are looked at."""
_PARTS: Final = 4
"""A key is hot if it has more than one part in so many of what a task has on average; and so small are its places."""
_MOST: Final = 64
"""Hot keys of a unit."""
_COUNTED: Final = "share int, key decimal(20, 0), rows bigint, first bigint, last bigint"
_COUNTED_SCHEMA: Final = pa.schema(
    [("share", pa.int32()), ("key", pa.decimal128(20)), ("rows", pa.int64()), ("first", pa.int64()), ("last", pa.int64())]
)


def with_hot_keys(spark: SparkSession, job: Job, splits: Sequence[tuple[int, Split]]) -> Job:
    """The job, with the keys that a sample of the ranges (by stream) finds hot; topics are not sampled."""
    backs = divisible_keys(job)
    ranges = [(stream, split) for stream, split in splits if isinstance(split, Range)]
    if not backs or job.buckets == 1 or sum(part.stop - part.start for _, part in ranges) < SAMPLED_FROM:
        return job
    samples: list[tuple[int, Split]] = [(stream, sample_of(part)) for stream, part in ranges if divisible(part)]
    if not samples:
        return job
    counted = spread(spark, samples).mapInArrow(partial(_sample, shared(spark, job)), _COUNTED)
    return chosen(job, [(share, int(key), *more) for share, key, *more in counted.collect()])


def sampled(job: Job, inputs: Sequence[tuple[int, Sequence[Split]]]) -> Sample | None:
    """The first events of each stream, for the plan; None where there is little input, or a stream is no file."""
    ranges = [[part for part in splits if isinstance(part, Range)] for _, splits in inputs]
    size = sum(part.stop - part.start for parts in ranges for part in parts)
    if size < SAMPLED_FROM or len(inputs) < len(job.streams) or not all(parts and divisible(parts[0]) for parts in ranges):
        return None
    heads = []
    for (stream, _), parts in zip(inputs, ranges, strict=True):
        read = read_split(job, stream, sample_of(parts[0]), nowhere, predicates=job.predicates, named=False)
        heads += [batch for batch in read if batch.events][:1]
    return Sample.of(heads, job.key)


def _sample(job: Shared[Job], tables: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for stream, split in given_splits(tables):
        columns = zip(*counted_keys(job.value, stream, split), strict=True)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, _COUNTED_SCHEMA.types, strict=True)]
        if arrays:
            yield pa.RecordBatch.from_arrays(arrays, schema=_COUNTED_SCHEMA)


def sample_of(part: Range) -> Range:
    """The part of a range that is looked at."""
    return replace(part, stop=min(part.stop, part.start + _SAMPLE))


def divisible_keys(job: Job) -> Mapping[int, int]:
    """The shares whose keys may be divided, and how far their answers look back."""
    found: dict[int, int] = {}
    for share in job.shares:
        if share.form is not Form.EVENTS and share.buckets > 1:
            back = within_key(job.plan.units[share.units[0]], job.plan.facts)
            if isinstance(back, int):
                found[share.number] = back
    return found


def counted_keys(job: Job, stream: int, split: Split) -> Iterator[tuple[int, int, int, int, int]]:
    """(share, key, rows, first time, last time) of what is in a split; keys with few of its rows are left out, key 0 stands for
    all."""
    batches = [*read_split(job, stream, split, nowhere, predicates=job.predicates, named=False)]
    for number in divisible_keys(job):
        keys, times = work(job, job.shares[number]).keys(batches)
        if not len(keys):
            continue
        first, last = int(times.min()), int(times.max())
        yield number, 0, len(keys), first, last
        different, rows = np.unique(keys, return_counts=True)
        for key, count in zip(different.tolist(), rows.tolist(), strict=True):
            if key and count * 100 * _PARTS * job.buckets > len(keys):
                yield number, key, count, first, last


def chosen(job: Job, counted: Iterable[tuple[int, int, int, int, int]]) -> Job:
    """The job with its hot keys, given (share, key, rows, first time, last time) of parts of the input."""
    rows: Counter[tuple[int, int]] = Counter()
    spans: dict[int, tuple[int, int]] = {}
    for share, key, count, first, last in counted:
        rows[share, key] += count
        before = spans.get(share, (first, last))
        spans[share] = min(before[0], first), max(before[1], last)
    hot: dict[int, tuple[HotKey, ...]] = {}
    for number, back in divisible_keys(job).items():
        total, (first, last) = rows[number, 0], spans.get(number, (0, 0))
        found: list[HotKey] = []
        at = job.shares[number].buckets
        keys = [(count, key) for (share, key), count in rows.items() if share == number and key]
        for count, key in sorted(keys, reverse=True)[:_MOST]:
            places = -(-_PARTS * count * job.shares[number].buckets // total)
            length = max(4 * back, (last - first) // (4 * places))
            if places > 1 and last - first > 2 * length:
                found.append(HotKey(key, at, places, back, length))
                at += places
        if found:
            hot[number] = tuple(found)
    # another name: what workers have made for the sample knows no hot keys
    return replace(job, hot=hot, name=f"{job.name}-spread") if hot else job
