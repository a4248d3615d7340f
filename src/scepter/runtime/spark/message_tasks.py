"""What a task that reads a topic does with its span: events as rows of terms, or packed for the query that wants them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pyarrow as pa

from scepter.kafka.messages import Span, read_span
from scepter.kafka.payloads import Payloads
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Reading
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime.spark.arrivals import SALT_ROOM
from scepter.runtime.spark.batch import packed_rows
from scepter.runtime.spark.event_rows import arrow_of, event_rows
from scepter.runtime.spark.future import present
from scepter.runtime.spark.kafka import Messages


def rows_of(topic: Messages, span: Span, format: str, take: DeadLetterTaker) -> Iterator[pa.RecordBatch]:
    """The events of a span, or what is wanted of them."""
    packing = topic.settings.packing
    if packing is not None:
        # drawn anew by each task: no other task of the run, nor of the run before a restart, numbers its events alike
        job = packing.job
        run = ReadState(job.kind, secrets.randbits(38) * SALT_ROOM, topic.times(), job.options.limits)
        reading = _reading(topic, job.key, packing.stream, take, job.predicates, run)
        batches = present(job, _batches(topic, span, format, reading, named=job.named), take)
        yield from packed_rows(job, batches, run.salt, take)
        return
    assert topic.table is not None
    schema = arrow_of(topic.table)
    run = ReadState(topic.kind, times=topic.times(), limits=topic.settings.read_limits)
    reading = _reading(topic, TermKey.fixed(), 0, take, None, run)
    for batch in _batches(topic, span, format, reading):
        yield event_rows(batch, topic.settings.stream, schema)


def times_of(topic: Messages, span: Span, format: str) -> Iterator[EventBatch]:
    """The events of a span, without their triples."""
    packing = topic.settings.packing
    assert packing is not None
    run = ReadState(topic.kind, 0, topic.times(), packing.job.options.limits)
    reading = _reading(topic, packing.job.key, packing.stream, lambda letter: None, frozenset(), run)
    return _batches(topic, span, format, reading, named=False)


def _reading(
    topic: Messages, key: TermKey, stream: int, take: DeadLetterTaker, predicates: frozenset[int] | None, run: ReadState
) -> Reading:
    return Reading(key, stream, topic.address.name, take, predicates, run, BATCH_BYTES, {}, topic.lift())


def _batches(topic: Messages, span: Span, format: str, reading: Reading, *, named: bool = True) -> Iterator[EventBatch]:
    return Payloads(topic.address, format, reading, named).batches(read_span(topic.address, span))
