"""Batches of events as `Event` objects, and rows pushed one by one: where a mapping meets `scepter.Engine`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Lift, Reading
from scepter.rdf.scanner import term_text
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.times import TimeProperties
from scepter.runtime.events import Event


def batch_events(batch: EventBatch, stream: str) -> Iterator[Event]:
    """The events of a batch one by one; those without triples are left out."""
    columns = (batch.subject_at, batch.predicate_at, batch.object_at)
    for event in range(batch.events):
        rows = range(int(batch.first[event]), int(batch.first[event + 1]))
        texts = [tuple(term_text(batch.buffer, int(column[row])) for column in columns) for row in rows]
        if texts:
            at = int(batch.name_at[event])
            name = None if at < 0 else term_text(batch.buffer, at).strip("<>")
            yield Event.of_texts(stream, texts, int(batch.start[event]), int(batch.end[event]), batch.kind, name)  # type: ignore[arg-type]


def row_events(
    lift: Lift, row: Mapping[str, Any], stream: str, times: TimeProperties, dead_letter: DeadLetterTaker
) -> list[Event]:
    """The events of one row; a row that makes none is a dead letter."""
    reading = Reading(TermKey.fixed(), 0, stream, dead_letter, None, ReadState(times=times), BATCH_BYTES, {})
    return [event for batch in lift.documents([(None, row)], reading) for event in batch_events(batch, stream)]
