"""Events that are whole or nothing: half a version of a graph would be another graph.

A reader leaves out a line that it cannot read and keeps the rest of its event. Here the event goes too, with a dead letter of
its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from scepter.rdf.batch import DeadLetter, EventBatch, kept
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.scanner import decode_term
from scepter.rdf.source import DeadLetterTaker, EventSource, Progress

_NAME = re.compile(r"(<[^<>\s]*>|_:\S+)\s*\.\s*$")


@dataclass(slots=True)
class WholeEvents:
    """Hears what a reader refuses, and keeps the events of which it refused nothing.

    A line tells its event by the graph's name at its end. One that is cut off tells nothing: it is the last that was read, so
    it belongs to the last event.
    """

    dead_letter: DeadLetterTaker
    _broken: set[str] = field(default_factory=set)
    _cut: bool = False
    _source: str = ""

    def refused(self, letter: DeadLetter) -> None:
        """Takes a reader's dead letter."""
        self.dead_letter(letter)
        self._source = letter.source
        if letter.text:
            found = _NAME.search(letter.text)
            if found is None:
                self._cut = True
            else:
                self._broken.add(found[1])

    def whole(self, batch: EventBatch) -> EventBatch:
        """The events of a batch of which nothing was refused."""
        if not self._broken and not self._cut:
            return batch
        names = [None if at < 0 else str(decode_term(batch.buffer, at)) for at in batch.name_at.tolist()]
        broken = np.array([name in self._broken for name in names], np.bool_)
        if batch.events:
            broken[-1] |= self._cut
        self._broken -= set(filter(None, names))
        self._cut = False
        for event in np.flatnonzero(broken).tolist():
            reason = f"the version {names[event] or ''} has lines that cannot be read: the last good one stays"
            self.dead_letter(DeadLetter(self._source, None, reason))
        return kept(batch, ~broken) if broken.any() else batch


@dataclass(slots=True)
class WholeEventsOf:
    """A bounded source, without the events that cannot be read to their end."""

    source: EventSource
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.source.name

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
        """The whole events in the order they stand."""
        check = WholeEvents(dead_letter)
        read = self.source.batches(
            key, stream_index, check.refused, predicates=predicates, run=run, batch_bytes=batch_bytes, progress=progress
        )
        return map(check.whole, read)

    def lasting(self) -> WholeEventsOf:
        """The same events from a place that can be read many times."""
        return WholeEventsOf(self.source.lasting())
