"""What a task of the format `rdf` does with its range: events as rows of terms, or packed for the query that wants them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.types import StructType

from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.readers import Lift
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.times import TimeProperties
from scepter.runtime.spark.arrivals import SALT_ROOM
from scepter.runtime.spark.batch import packed_rows
from scepter.runtime.spark.event_rows import arrow_of, event_rows
from scepter.runtime.spark.future import present
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.pushdown import Packing
from scepter.runtime.spark.range_reading import read_on, read_range
from scepter.runtime.spark.ranges import Range
from scepter.runtime.spark.source import Settings
from scepter.timeline import TimeKind


def rows_of(
    settings: Settings, kind: TimeKind, table: StructType, part: Range, take: DeadLetterTaker, *, live: bool
) -> Iterator[pa.RecordBatch]:
    """The events of a range. `live`: a file that cannot be read is a dead letter, and not the end of the run."""
    reading = read_on if live else read_range
    if settings.packing is not None:
        yield from _packed(settings, settings.packing, part, take, reading)
        return
    schema = arrow_of(table)
    batches = reading(
        part, TermKey.fixed(), 0, take, kind=kind, times=settings.times, limits=settings.read_limits, lift=settings.lift
    )
    for batch in batches:
        yield event_rows(batch, settings.stream, schema)


def read_times(settings: Settings, part: Range) -> Iterator[EventBatch]:
    """The events of a range that a live run would read, without their triples."""
    assert settings.packing is not None
    job = settings.packing.job
    return read_on(
        part, job.key, settings.packing.stream, lambda letter: None,
        predicates=frozenset(), kind=job.kind, named=False, times=_times(settings, job), limits=job.options.limits,
        lift=_lift_of(settings, settings.packing),
    )  # fmt: skip


def _times(settings: Settings, job: Job) -> TimeProperties:
    return settings.times if settings.times.inside else job.options.times


def _lift_of(settings: Settings, packing: Packing) -> Lift | None:
    return settings.lift or packing.job.lifts.get(packing.stream)


def _packed(
    settings: Settings,
    packing: Packing,
    part: Range,
    take: DeadLetterTaker,
    reading: Callable[..., Iterator[EventBatch]],
) -> Iterator[pa.RecordBatch]:
    job = packing.job
    # drawn anew by each task: the salts of a source are its own, and a run may have several sources
    part = replace(part, salt=secrets.randbits(38) * SALT_ROOM)
    batches = reading(
        part, job.key, packing.stream, take,
        predicates=job.predicates, kind=job.kind, named=job.named, times=_times(settings, job),
        limits=job.options.limits, lift=_lift_of(settings, packing),
    )  # fmt: skip
    yield from packed_rows(job, present(job, batches, take), part.salt, take)
