"""Live input through the engine in this process: answers as they are certain.

The instant at the watermark stays open: its answers are given as soon as no other event can take them back, and it is done
again where more events of the same time come. So an answer does not wait for the event after it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.rdf.batch import DeadLetter, EventBatch, kept
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime import refusals
from scepter.runtime.engine import LocalEngine
from scepter.runtime.jumps import Jumps, Leap
from scepter.runtime.matches import Match
from scepter.runtime.work import STEP_EVENTS, Pace
from scepter.timeline import MIN_INSTANT, TimeKind

Mask: TypeAlias = NDArray[np.bool_]
Token: TypeAlias = tuple[EventBatch, int]
"""An event of a batch."""


@dataclass(slots=True)
class LivePart:
    """How far one part of a stream is: what comes in one order. A file is one part, a topic has its partitions."""

    greatest: int = MIN_INSTANT
    jumps: Jumps[Token] | None = None
    """Holds back what would move time on by too much, where that is asked for."""


@dataclass(slots=True)
class LiveInput:
    """How far one stream is."""

    iri: str
    ended: bool = False
    versions: bool = False
    """Whether it brings the versions of a graph: they come rarely, and time does not wait for them."""
    awaited: Collection[int] = (0,)
    """The parts that time waits for."""
    parts: defaultdict[int, LivePart] = field(default_factory=lambda: defaultdict(LivePart))
    leap: Leap = field(default_factory=Leap)

    @property
    def latest(self) -> int:
        """The greatest time that has come."""
        return max((part.greatest for part in self.parts.values()), default=MIN_INSTANT)

    @property
    def reached(self) -> int:
        """How far all of it is: the part that is behind, of those that are waited for; where none is, the one ahead."""
        return min((self.parts[number].greatest for number in self.awaited), default=self.latest)


@dataclass(slots=True)
class LiveRun:
    """Takes batches as they come; `clock` is the time now, in microseconds."""

    engine: LocalEngine
    inputs: Sequence[LiveInput]
    dead_letter: DeadLetterTaker
    clock: Callable[[], int]
    told: int = MIN_INSTANT
    """What is certain before this time an earlier run has told."""
    watermark: int = MIN_INSTANT
    last: int = MIN_INSTANT
    """The greatest time of an event before the watermark."""
    late: int = 0
    _kind: TimeKind | None = None
    _delay: int = 0
    _future: int | None = None
    _advance: int | None = None
    _waiting: list[EventBatch] = field(default_factory=list)
    """Events after the watermark."""
    _open: list[EventBatch] = field(default_factory=list)
    """Events at the watermark, whose instant may be done again."""
    _returned: list[Match] = field(default_factory=list)
    """The answers of that instant."""
    _saved: bool = False
    _pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        self._pace = Pace(self.engine.options.work, STEP_EVENTS)

    @property
    def kind(self) -> TimeKind | None:
        """The kind of time of what has come; None before anything has."""
        return self._kind

    def take(self, input: LiveInput, batches: Sequence[EventBatch], part: int = 0) -> None:
        """Events of a part of a stream have come; `advance` answers."""
        of = input.parts[part]
        for batch in batches:
            if self._kind is None:
                self._begin(batch.kind)
            for some in self._confirmed(input, of, self._present(input, batch)):
                usable = self._in_time(input, of, some)
                if usable.events:
                    of.greatest = max(of.greatest, int(usable.end.max()))
                    self._waiting.append(usable)

    def _begin(self, kind: TimeKind) -> None:
        options = self.engine.options
        self._kind = kind
        self._delay = options.delay_on(kind) or 0
        self._future = options.future_on(kind)
        self._advance = options.advance_on(kind)
        self.engine.prepare(kind)

    def _present(self, input: LiveInput, batch: EventBatch) -> EventBatch:
        """Those of a batch that are not too far ahead of the clock: the others move no watermark."""
        if self._future is None:
            return batch
        ahead = batch.end > self.clock() + self._future
        self._refuse(input, batch, ahead, lambda end, _: refusals.ahead(end, batch.kind))
        return kept(batch, ~ahead) if ahead.any() else batch

    def _confirmed(self, input: LiveInput, of: LivePart, batch: EventBatch) -> Iterator[EventBatch]:
        """What may move time on now, in the order in which it may: events of the batch, and others that they confirm."""
        if self._advance is not None and of.jumps is None and not input.versions:
            of.jumps = Jumps(self._advance)
        jumps = of.jumps
        if jumps is None or jumps.calm(batch.end):
            yield batch
            return
        taken = [event for at, end in enumerate(batch.end.tolist()) for event in jumps.admit(end, (batch, at))]
        self._waive(input, jumps, jumps.dropped)
        jumps.dropped = []
        begin = 0
        for at in range(1, len(taken) + 1):
            if at == len(taken) or taken[at][0] is not taken[at - 1][0] or taken[at][1] < taken[at - 1][1]:
                whole = taken[begin][0]
                yield kept(whole, np.isin(np.arange(whole.events), [place for _, place in taken[begin:at]]))
                begin = at

    def _waive(self, input: LiveInput, jumps: Jumps[Token], events: Iterable[tuple[int, Token]]) -> None:
        """Events that wait are not waited for any longer."""
        for end, (batch, _) in events:
            self.dead_letter(DeadLetter(input.iri, None, refusals.unconfirmed(end, jumps.limit, batch.kind)))

    def _in_time(self, input: LiveInput, of: LivePart, batch: EventBatch) -> EventBatch:
        """Those of a batch that are not late."""
        assert self._kind is not None
        peaks = np.maximum.accumulate(np.maximum(batch.end, of.greatest))
        behind = np.maximum(np.maximum(peaks, MIN_INSTANT + self._delay) - self._delay, self.watermark)
        late = batch.end < behind
        input.leap.seen(batch.end, late, input.iri, self._kind)
        self.late += int(late.sum())
        self._refuse(input, batch, late, lambda end, at: refusals.late(end, int(behind[at]), batch.kind))
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
            and not any(i.latest > assign.last for i in self.inputs if not i.versions)
        ):
            # times are given in order of arrival, each once: what comes next is later than all there is
            now = assign.now()
            return (assign.last if now is None else now) + 1
        streams = [input for input in self.inputs if not input.versions]
        if all(input.ended for input in streams):
            return max(self.watermark, *(i.latest for i in streams))
        seen = [i.reached for i in streams if not i.ended]
        ahead = self.engine.options.idle_streams == "ignore"
        found = max(i.reached for i in streams) if ahead else min(seen)
        return found if found == MIN_INSTANT else found - self._delay

    def advance(self) -> Sequence[Match]:
        """The answers that are certain now, each once."""
        if self._kind is None:
            return []
        reached = max(self.watermark, self.reached())
        across = self.watermark < self.told < reached
        return [match for step in ([self.told] if across else []) + [reached] for match in self._advance_to(step)]

    def _advance_to(self, reached: int) -> Sequence[Match]:
        again = any(bool((batch.end == self.watermark).any()) for batch in self._waiting)
        if reached == self.watermark and not again:
            return []
        self._leave(again)
        self.watermark = reached
        found: list[Match] = []
        before = self._part(lambda end: end < reached)
        if before or not again:
            for batch in before:
                self._pace.take(batch.end)
            for instant in self._pace.instants(reached - 1):
                found += self._fresh(self.engine.advance(instant))
                self.engine.commit()  # what keeps too much is let go before there is more of it
                self._returned = []
        self.last = max([self.last, *(int(batch.end.max()) for batch in before)])
        self.engine.save()
        self._saved = True
        self._open = self._part(lambda end: end == reached)
        self._waiting = [rest for batch in self._waiting if (rest := _where(batch, batch.end > reached)) is not None]
        opened = self._fresh(self.engine.advance(reached, reached - 1))
        self._returned += opened
        if reached <= self.told:
            found = []
        return [*found, *opened] if reached >= self.told else []

    def _leave(self, again: bool) -> None:
        """Leave the open instant: for good, or to do it again with what has come."""
        if not self._saved:
            return
        self._saved = False
        if not again:
            self.engine.commit()
            self._returned = []
            self.last = max([self.last, *(int(batch.end.max()) for batch in self._open)])
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
        for input in self.inputs:
            for part in input.parts.values():
                if part.jumps is not None:
                    self._waive(input, part.jumps, part.jumps.held)
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
