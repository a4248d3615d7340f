"""The instant that is open, where it is undone and done anew with the events that come at its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from scepter.rdf.batch import EventBatch, joined
from scepter.runtime.engine import LocalEngine
from scepter.runtime.events import Event
from scepter.runtime.matches import Match

Entry: TypeAlias = tuple[int, int, int, Event]
"""An event by what it is ordered by: its end, its start, its arrival."""


class OpenInstant:
    """Its events and what was told of it. Each event is read once, and its texts are kept once, however many more come."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        """The events, as they arrived."""
        self.returned: list[Match] = []
        self._read: tuple[EventBatch, int, int] | None = None
        """The events as they were read, where the texts stand, and the salt behind them."""

    def forget(self) -> None:
        """It is closed."""
        self.entries, self._read = [], None
        self.returned.clear()

    def take(
        self, new: list[Entry], engine: LocalEngine, events: dict[int, Event], read: Callable[[list[Event]], EventBatch]
    ) -> None:
        """Have the engine take all of its events; those that are not new were read before."""
        batch, base = None, 0
        if self._read is not None:
            batch, base, engine.reading.salt = self._read
        if new:
            given = [entry[3] for entry in new]
            more = read(given)
            at = engine.add_texts(more)
            events.update(enumerate(given, engine.next_number + len(self.entries)))
            self.entries += new
            batch, base = (more, at) if batch is None else (joined(batch, more, at - base), base)
        if batch is not None:
            self._read = batch, base, engine.reading.salt
            engine.take(batch, base=base)

    def fresh(self, matches: Sequence[Match]) -> Sequence[Match]:
        """Those not returned for this instant before."""
        if not matches or not self.returned:
            return matches
        returned = Counter(match.row() for match in self.returned)  # few instants are opened twice
        fresh = []
        for match in matches:
            row = match.row()
            if returned[row]:
                returned[row] -= 1
            else:
                fresh.append(match)
        return fresh
