"""The events of a case as a source that engines read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scepter.rdf.batch import EventBatch
from scepter.rdf.formats import events_to_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.source import DeadLetterTaker, Progress
from scepter.rdf.timeline_notation import TimelineEvent


@dataclass(slots=True)
class TimelineSource:
    """Events at hand, in the order given."""

    name: str
    events: Sequence[TimelineEvent]

    def batches(
        self,
        key: TermKey,
        stream_index: int,
        dead_letter: DeadLetterTaker,
        *,
        predicates: frozenset[int] | None = None,
        run: ReadState | None = None,
        batch_bytes: int = BATCH_BYTES,
        progress: Progress | None = None,
    ) -> Iterator[EventBatch]:
        """All events in one batch, none without events."""
        if self.events:
            events = [event.graph_event(stream_index) for event in self.events]
            yield events_to_batch(
                events, key, self.events[0].kind, run=run, predicates=predicates, source_name=self.name, dead_letter=dead_letter
            )

    def lasting(self) -> TimelineSource:
        """Events at hand stay."""
        return self
