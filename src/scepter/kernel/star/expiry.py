"""Until when occurrences are there whose windows count triples: known once so many later ones have come."""

from __future__ import annotations

import numpy as np

from scepter.kernel.rows import Int64
from scepter.timeline import MAX_INSTANT, MIN_INSTANT


class Held:
    """By an occurrence's number, the first instant at which no window holds it; the greatest while that is not known.

    Numbers grow. Those before the first that is kept are gone; number 0 is nobody's.
    """

    def __init__(self) -> None:
        self._first = 1
        self._until: Int64 = np.empty(0, np.int64)

    @property
    def following(self) -> int:
        """The next number."""
        return self._first + len(self._until)

    def add(self, until: Int64) -> Int64:
        """More occurrences; their numbers."""
        numbers = np.arange(self.following, self.following + len(until))
        self._until = np.concatenate([self._until, until])
        return numbers

    def until(self, numbers: Int64) -> Int64:
        """When each of some goes."""
        places = numbers - self._first
        found = np.full(len(numbers), MIN_INSTANT)
        known = np.flatnonzero(places >= 0)
        found[known] = self._until[places[known]]
        found[numbers == 0] = MAX_INSTANT
        return found

    def end(self, numbers: Int64, until: Int64) -> None:
        """Say when some go."""
        self._until[numbers - self._first] = until

    def forget(self, time: int) -> None:
        """Let go of the oldest, as far as all of them are gone at a time."""
        there = np.flatnonzero(self._until > time)
        gone = int(there[0]) if len(there) else len(self._until)
        self._first, self._until = self._first + gone, self._until[gone:]

    def arrays(self) -> tuple[int, Int64]:
        """What it knows, to be put back with `restore`."""
        return self._first, self._until

    def restore(self, first: int, until: Int64) -> None:
        """Back to what `arrays` gave."""
        self._first, self._until = first, until.copy()
