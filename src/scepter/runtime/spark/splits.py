"""What the tasks of a bounded run read: ranges of files and spans of topics, planned by the driver, one for each task."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from scepter.rdf.batch import EventBatch
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.range_reading import read_range
from scepter.runtime.spark.ranges import Range
from scepter.runtime.spark.topics import Piece, read_piece

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
