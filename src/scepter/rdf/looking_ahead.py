"""A bounded source is read to its end before its first event is used: only then is it known how late an event may come.

What was read is kept while there is room, so that the text of all but long streams is read once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.readers import Lift
from scepter.rdf.source import DeadLetterTaker, EventSource, Progress, Survey
from scepter.timeline import TimeKind

_LETTER_BYTES = 512


@dataclass(slots=True)
class Room:
    """How many bytes the sources of a run may keep together."""

    left: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run asks of a source."""

    key: TermKey = field(default_factory=TermKey.fixed)
    stream_index: int = 0
    predicates: frozenset[int] | None = frozenset()
    run: ReadState = field(default_factory=ReadState)


@dataclass(frozen=True, slots=True)
class _Part:
    """A batch (None at the end), the dead letters before it, and how far the source then was."""

    letters: list[DeadLetter]
    batch: EventBatch | None
    done: tuple[int, int]

    @property
    def bytes(self) -> int:
        return _LETTER_BYTES * len(self.letters) + (0 if self.batch is None else self.batch.bytes)


class LookedAhead:
    """A source that was read to its end: its survey, and its batches, from memory if there was room."""

    def __init__(self, source: EventSource, asked: Asked, room: Room) -> None:
        self._source = source.lasting()
        self._asked = asked
        self._room = room
        self._kept: deque[_Part] | None = deque()
        self.head: EventBatch | None = None
        """Its first events, until its batches are asked for."""
        self.survey = self._survey()

    @property
    def files(self) -> list[tuple[Path, Lift | None]]:
        """The files it reads, with what makes events of their documents; none where it reads something else."""
        return [(path, getattr(self._source, "lift", None)) for path in getattr(self._source, "paths", ())]

    def _survey(self) -> Survey:
        events = disorder = first = last = size = 0
        for part in self._parts():
            size = max(size, part.done[1])
            self._keep(part)
            batch = part.batch
            if batch is None:
                continue
            self.head = self.head or batch
            self._asked.run.kind = batch.kind
            least, greatest = int(batch.start.min()), int(batch.end.max())
            before = int(batch.end[0]) if events == 0 else last
            peaks = np.maximum.accumulate(np.maximum(batch.end, before))
            disorder = max(disorder, int((peaks - batch.end).max()))
            first = least if events == 0 else min(first, least)
            last = max(before, greatest)
            events += batch.events
        return Survey(self._asked.run.kind if events else None, disorder, first, last, events, size)

    def _parts(self) -> Iterator[_Part]:
        letters: list[DeadLetter] = []
        done = (0, 0)

        def tell(read: int, total: int) -> None:
            nonlocal done
            done = (read, total)

        for batch in self._read(letters.append, tell):
            yield _Part(letters.copy(), batch, done)
            letters.clear()
        yield _Part(letters, None, done)

    def _read(self, dead_letter: DeadLetterTaker, progress: Progress) -> Iterator[EventBatch]:
        asked = self._asked
        batches = self._source.batches(
            asked.key, asked.stream_index, dead_letter, predicates=asked.predicates, run=asked.run, progress=progress
        )
        return (batch for batch in batches if batch.events)  # one without events has no times

    def _keep(self, part: _Part) -> None:
        if self._kept is None:
            return
        self._kept.append(part)
        self._room.left -= part.bytes
        if self._room.left < 0:
            self._room.left += sum(each.bytes for each in self._kept)
            self._kept = None

    def batches(self, dead_letter: DeadLetterTaker, progress: Progress) -> Iterator[EventBatch]:
        """The events in the order they stand; to be asked for once."""
        self.head = None
        if self._kept is None:
            yield from self._read(dead_letter, progress)
            return
        while self._kept:
            part = self._kept.popleft()
            self._room.left += part.bytes
            for letter in part.letters:
                dead_letter(letter)
            progress(*part.done)
            if part.batch is not None:
                yield part.batch


def survey(source: EventSource, kind: TimeKind | None = None) -> Survey:
    """What a look at the times of a source tells; `kind` rules if it is known already."""
    return LookedAhead(source, Asked(run=ReadState(kind)), Room(0)).survey
