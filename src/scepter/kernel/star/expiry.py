"""Until when occurrences are there whose windows count triples: known once so many later ones have come."""

from __future__ import annotations

import numpy as np

from scepter.kernel.rows import Int64
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import Kept
from scepter.timeline import MAX_INSTANT, MIN_INSTANT


class Held(Kept[tuple[int, Int64]]):
    """By an occurrence's number, the first instant at which no window holds it; the greatest while that is not known.

    Numbers grow. Those before the first that is kept are gone; number 0 is nobody's.
    """

    def __init__(self) -> None:
        super().__init__((1, np.empty(0, np.int64)))

    def add(self, until: Int64) -> Int64:
        """More occurrences; their numbers."""
        first, known = self.value
        self.value = first, np.concatenate([known, until])
        return first + len(known) + np.arange(len(until))

    def until(self, numbers: Int64) -> Int64:
        """When each of some goes."""
        first, ends = self.value
        places = numbers - first
        found = np.full(len(numbers), MIN_INSTANT)
        known = np.flatnonzero(places >= 0)
        found[known] = ends[places[known]]
        found[numbers == 0] = MAX_INSTANT
        return found

    def end(self, numbers: Int64, until: Int64) -> None:
        """Say when some go."""
        first, known = self.value
        ends = known.copy()
        ends[numbers - first] = until
        self.value = first, ends

    def forget(self, time: int) -> None:
        """Let go of the oldest, as far as all of them are gone at a time."""
        first, ends = self.value
        there = np.flatnonzero(ends > time)
        gone = int(there[0]) if len(there) else len(ends)
        self.value = first + gone, ends[gone:]

    def dump(self, name: str) -> Arrays:
        """From which number on, and when each goes."""
        first, until = self.value
        return {"first": np.array([first], np.int64), name: until}

    def load(self, name: str, arrays: Arrays) -> None:
        self.value = int(arrays["first"][0]), arrays[name]
