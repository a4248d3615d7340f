"""Live input through the engine in this process: answers as they are certain.

The instant at the watermark stays open: its answers are given as soon as no other event can take them back, and it is done
again where more events of the same time come. So an answer does not wait for the event after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.rdf.batch import DeadLetter, EventBatch, kept
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.timeline import MIN_INSTANT, TimeKind

Mask: TypeAlias = NDArray[np.bool_]


@dataclass(slots=True)
class LiveInput:
    """How far one stream is."""

    iri: str
    greatest: int = MIN_INSTANT
    ended: bool = False
    versions: bool = False
    """Whether it brings the versions of a graph: they come rarely, and time does not wait for them."""


@dataclass(slots=True)
class LiveRun:
    """Takes batches as they come; `clock` is the time now, in microseconds."""

    engine: LocalEngine
    inputs: Sequence[LiveInput]
    dead_letter: DeadLetterTaker
    clock: Callable[[], int]
    watermark: int = MIN_INSTANT
    late: int = 0
    _kind: TimeKind | None = None
    _delay: int = 0
    _future: int | None = None
    _waiting: list[EventBatch] = field(default_factory=list)
    """Events after the watermark."""
    _open: list[EventBatch] = field(default_factory=list)
    """Events at the watermark, whose instant may be done again."""
    _returned: list[Match] = field(default_factory=list)
    """The answers of that instant."""
    _saved: bool = False

    @property
    def kind(self) -> TimeKind | None:
        """The kind of time of what has come; None before anything has."""
        return self._kind

    def take(self, input: LiveInput, batches: Sequence[EventBatch]) -> None:
        """Events of a stream have come; `advance` answers."""
        for batch in batches:
            if self._kind is None:
                self._begin(batch.kind)
            usable = self._usable(input, batch)
            if usable.events:
                input.greatest = max(input.greatest, int(usable.end.max()))
                self._waiting.append(usable)

    def _begin(self, kind: TimeKind) -> None:
        options = self.engine.options
        self._kind = kind
        self._delay = options.delay_on(kind) or 0
        self._future = options.future_on(kind)
        self.engine.prepare(kind)

    def _usable(self, input: LiveInput, batch: EventBatch) -> EventBatch:
        """Those of a batch that are neither too far ahead of the clock, so that they move no watermark, nor late."""
        if self._future is not None:
            ahead = batch.end > self.clock() + self._future
            self._refuse(input, batch, ahead, lambda end, _: f"in the future: {end} is beyond --max-future ahead of the clock")
            batch = kept(batch, ~ahead) if ahead.any() else batch
        peaks = np.maximum.accumulate(np.maximum(batch.end, input.greatest))
        behind = np.maximum(np.maximum(peaks, MIN_INSTANT + self._delay) - self._delay, self.watermark)
        late = batch.end < behind
        self.late += int(late.sum())
        self._refuse(input, batch, late, lambda end, at: f"late: {end} is behind the watermark {int(behind[at])}")
        return kept(batch, ~late) if late.any() else batch

    def _refuse(self, input: LiveInput, batch: EventBatch, which: Mask, reason: Callable[[int, int], str]) -> None:
        for at in np.flatnonzero(which).tolist():
            self.dead_letter(DeadLetter(input.iri, None, reason(int(batch.end[at]), at)))

    def reached(self) -> int:
        """How far time is known: all that may still come is at this time or later."""
        assign = self.engine.reading.assign
        if (
            assign is not None
            and assign.kind is self._kind
            and not any(i.greatest > assign.last for i in self.inputs if not i.versions)
        ):
            # times are given in order of arrival, each once: what comes next is later than all there is
            now = assign.now()
            return (assign.last if now is None else now) + 1
        streams = [input for input in self.inputs if not input.versions]
        if all(input.ended for input in streams):
            return max(self.watermark, *(i.greatest for i in streams))
        seen = [i.greatest for i in streams if not i.ended]
        ahead = self.engine.options.idle_streams == "ignore"
        found = max(i.greatest for i in streams) if ahead else min(seen)
        return found if found == MIN_INSTANT else found - self._delay

    def advance(self) -> Sequence[Match]:
        """The answers that are certain now, each once."""
        if self._kind is None:
            return []
        reached = max(self.watermark, self.reached())
        again = any(bool((batch.end == self.watermark).any()) for batch in self._waiting)
        if reached == self.watermark and not again:
            return []
        self._leave(again)
        self.watermark = reached
        found: list[Match] = []
        if self._part(lambda end: end < reached) or not again:
            found += self._fresh(self.engine.advance(reached - 1))
            self.engine.commit()
            self._returned = []
        self.engine.save()
        self._saved = True
        self._open = self._part(lambda end: end == reached)
        self._waiting = [rest for batch in self._waiting if (rest := _where(batch, batch.end > reached)) is not None]
        opened = self._fresh(self.engine.advance(reached, reached - 1))
        self._returned += opened
        return [*found, *opened]

    def _leave(self, again: bool) -> None:
        """Leave the open instant: for good, or to do it again with what has come."""
        if not self._saved:
            return
        self._saved = False
        if not again:
            self.engine.commit()
            self._returned = []
            return
        salt = self.engine.reading.salt
        self.engine.undo()
        self.engine.reading.salt = salt  # blank nodes that were read since keep their labels
        self._waiting = [*self._open, *self._waiting]

    def _part(self, wanted: Callable[[NDArray[np.int64]], Mask]) -> list[EventBatch]:
        """Take the waiting events of some times."""
        parts = [part for batch in self._waiting if (part := _where(batch, wanted(batch.end))) is not None]
        for part in parts:
            self.engine.take(part)
        return parts

    def _fresh(self, matches: Sequence[Match]) -> list[Match]:
        """Those not given for the open instant before."""
        given = Counter(match.row() for match in self._returned)
        fresh = []
        for match in matches:
            row = match.row() if given else None
            if row is not None and given[row]:
                given[row] -= 1
            else:
                fresh.append(match)
        return fresh

    def finish(self) -> Sequence[Match]:
        """All sources have ended, or the run is stopped: what is left."""
        found = list(self.advance())
        if self._kind is None:
            return found
        if self._saved:
            self.engine.commit()
        for batch in self._waiting:
            self.engine.take(batch)
        self._waiting = []
        return [*found, *self.engine.finish()]


def _where(batch: EventBatch, wanted: Mask) -> EventBatch | None:
    """The wanted events of a batch; None where there is none."""
    if wanted.all():
        return batch
    return kept(batch, wanted) if wanted.any() else None
