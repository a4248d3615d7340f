"""Tables of any columns through a mapping: rows to events in the reading tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, IntegralType, TimestampNTZType, TimestampType

from scepter.errors import option_error
from scepter.lift.columns import value_column
from scepter.lift.context import no_table
from scepter.lift.model import Mapping
from scepter.lift.reader import MappedReaders, arrow_batches, needed_columns
from scepter.lift.times import KINDS, text_times
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Lift, Reading
from scepter.rdf.times import TimeProperties
from scepter.runtime.spark.jobs import Job
from scepter.timeline import TimeKind

_PLAIN = ("start", "end", "graph", "name")


def wanted_columns(job: Job, stream: int, columns: Sequence[str]) -> list[str]:
    """The columns of a stream's table that its events are made of."""
    if stream not in job.lifts:
        return [name for name in _PLAIN if name in columns]
    mapping = _mapping(job.lifts[stream], job.streams[stream].value)
    return [f"`{name}`" for name in needed_columns(mapping, columns, job.key, job.predicates, job.options.times)]


def lifted_batches(
    job: Job, stream: int, rows: Iterable[pa.RecordBatch], run: ReadState, report: Callable[[DeadLetter], None]
) -> Iterator[EventBatch]:
    """The events that a mapping makes of rows."""
    run.times = job.options.times
    reading = Reading(job.key, stream, job.streams[stream].value, report, job.predicates, run, BATCH_BYTES, {})
    yield from arrow_batches(_mapping(job.lifts[stream], reading.source_name), rows, reading)


def _mapping(lift: Lift, stream: str) -> Mapping:
    if not isinstance(lift, MappedReaders):
        raise no_table(stream)
    return lift.mapping


def lifted_kind(frame: DataFrame, stream: str, lift: Lift, times: TimeProperties) -> TimeKind | None:
    """The kind of the times that a mapping makes: the type of its column tells, or a look at the first value."""
    mapping = _mapping(lift, stream)
    needed_columns(mapping, frame.columns, TermKey.fixed(), None, times)
    section = MappedReaders(mapping).section(times)
    if section.unit is not None or section.format is not None or section.zone is not None or len(section.time.parts) > 1:
        return TimeKind.DATETIME
    reference = section.time.references[0]
    column = F.col(f"`{reference}`") if reference in frame.columns else F.col(reference.removeprefix("$."))
    kind = frame.select(column).schema.fields[0].dataType
    if isinstance(kind, (TimestampType, TimestampNTZType, DateType)):
        return TimeKind.DATETIME
    if isinstance(kind, IntegralType):
        return TimeKind.INTEGER
    if frame.isStreaming:
        raise option_error(
            "table-columns",
            f"the times of stream <{stream}> are of type {kind.simpleString()}, and a live table cannot be looked at first",
            help="say time-format or time-unit in the mapping, or cast the column to timestamp",
        )
    row = frame.select(column.cast("string")).where(column.isNotNull()).first()
    kinds, _ = text_times(value_column([None if row is None else row[0]]), None, None, None)
    return KINDS[int(kinds[0])]
