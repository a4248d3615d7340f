"""What the tasks of a bounded run read: ranges of files and spans of topics, planned by the driver, one for each task."""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from scepter.kafka.address import Address
from scepter.kafka.messages import Span, read_span
from scepter.kafka.payloads import Payloads
from scepter.kafka.topic import divided, spans_of
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.limits import ReadLimits
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Lift, Reading
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.times import TimeProperties
from scepter.runtime.spark.arrivals import SALT_ROOM
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.range_reading import read_range
from scepter.runtime.spark.ranges import Range, divisible
from scepter.timeline import TimeKind


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of a topic for one task, and the format of its messages."""

    address: Address
    span: Span
    format: str
    salt: int
    """What keeps the numbers and the blank nodes of its events apart from those of the run's other tasks."""


def plan_pieces(address: Address, format: str, parts: int) -> list[Piece]:
    """What a topic holds now, for about so many tasks."""
    spans = divided(spans_of(address), parts)
    return [Piece(address, span, format, secrets.randbits(38) * SALT_ROOM) for span in spans]


def read_piece(
    piece: Piece, key: TermKey, stream_index: int, dead_letter: DeadLetterTaker, *, predicates: frozenset[int] | None,
    kind: TimeKind, named: bool, times: TimeProperties, limits: ReadLimits, lift: Lift | None,
) -> Iterator[EventBatch]:  # fmt: skip
    """The events of a piece."""
    run = ReadState(kind, piece.salt, times, limits)
    reading = Reading(key, stream_index, piece.address.name, dead_letter, predicates, run, BATCH_BYTES, {}, lift)
    return Payloads(piece.address, piece.format, reading, named).batches(read_span(piece.address, piece.span))


Split: TypeAlias = Range | Piece
Inputs: TypeAlias = Mapping[int, DataFrame | list[Split]]
"""Stream number -> what tasks read, or a table of events."""


def splits_of(inputs: Iterable[tuple[int, DataFrame | list[Split]]]) -> list[tuple[int, Split]]:
    """The splits among some inputs, with their streams."""
    return [(stream, split) for stream, given in inputs if isinstance(given, list) for split in given]


def spread(spark: SparkSession, splits: Sequence[tuple[int, Split]]) -> DataFrame:
    """A table of splits with their streams, each in a task of its own."""
    rows = [(number, bytearray(pickle.dumps(each))) for number, each in enumerate(splits)]
    return spark.createDataFrame(rows, "task int, split binary").repartitionById(len(rows), F.col("task"))


def given_splits(tables: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Split]]:
    """The splits of a task, with their streams."""
    for table in tables:
        yield from map(pickle.loads, table.column("split").to_pylist())


def read_split(
    job: Job,
    stream: int,
    split: Split,
    dead_letter: DeadLetterTaker,
    *,
    predicates: frozenset[int] | None,
    named: bool,
) -> Iterator[EventBatch]:
    """The events of a split."""
    options, lift = job.options, job.lifts.get(stream)
    if isinstance(split, Piece):
        return read_piece(
            split, job.key, stream, dead_letter,
            predicates=predicates, kind=job.kind, named=named, times=options.times, limits=options.limits, lift=lift,
        )  # fmt: skip
    return read_range(
        split, job.key, stream, dead_letter,
        predicates=predicates, kind=job.kind, named=named, times=options.times, limits=options.limits, lift=lift,
    )  # fmt: skip


_END: Final = 1 << 13
"""Bytes of an end that are looked at."""
_RANGES: Final = 64
"""So many are looked at."""


def with_span(job: Job, splits: Sequence[tuple[int, Split]]) -> Job:
    """The job, with the first time and the last of what it reads, as far as the ends of its ranges tell. Topics, and files that
    cannot be cut, tell nothing: to know their last time is to read all of them."""
    if all(share.slices is None for share in job.shares) or not splits:
        return job
    if not all(isinstance(split, Range) and divisible(split) for _, split in splits):
        return job
    chosen = splits[:: -(-len(splits) // _RANGES)]
    times = [time for stream, split in {*chosen, splits[-1]} for time in _ends(job, stream, split)]
    # another name: what workers have made for a sample cuts history otherwise
    return replace(job, span=(min(times), max(times)), name=f"{job.name}-cut") if times else job


def _ends(job: Job, stream: int, split: Split) -> Iterator[int]:
    """About the times of the events at both ends of a range: a single one that is far away makes no slices longer."""
    assert isinstance(split, Range)
    for start in (split.start, max(split.start, split.stop - _END)):
        part = replace(split, start=start, stop=min(split.stop, start + _END))
        read = read_split(job, stream, part, nowhere, predicates=frozenset(), named=False)
        times = np.concatenate([np.empty(0, np.int64), *(batch.end for batch in read)])
        if len(times):
            yield int(np.median(times))


def nowhere(letter: DeadLetter) -> None:
    """Whoever reads all of it tells."""
