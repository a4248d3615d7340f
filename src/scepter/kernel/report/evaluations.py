"""When a query is evaluated: stretches of multiples of a step, never written out one by one.

A stretch `[low, high)` stands for low, low + step, …; a single instant is a stretch of its own. An hour without an item, or a
gap of 2^62 ticks, costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.kernel.operator import Until
from scepter.kernel.rows import Int64, Rows, each_once, spread
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import Kept, KeptNumbers, Part
from scepter.kernel.validity.intervals import covered_before
from scepter.kernel.window.extent import Grid, plus
from scepter.rdf.words import fresh
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

NEVER = MAX_INSTANT
"""No evaluation is known."""


@inner
def next_evaluation(low, high, step, time):  # type: ignore[no-untyped-def]
    """The first evaluation at or after a time; NEVER if none is known."""
    stretch = np.searchsorted(high, time, side="right")
    if stretch >= len(low):
        return np.int64(NEVER)
    first = low[stretch]
    if time <= first:
        return first
    over = (np.uint64(time) - np.uint64(first)) % np.uint64(step)
    found = time if over == 0 else time + np.int64(np.uint64(step) - over)
    if time <= found < high[stretch]:
        return found
    return low[stretch + 1] if stretch + 1 < len(low) else np.int64(NEVER)


@njit(cache=True)
def _next(low, high, step, times):  # type: ignore[no-untyped-def]
    found = fresh(len(times), np.int64)
    for i in range(len(times)):
        found[i] = next_evaluation(low, high, step, times[i])
    return found


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Stretches in order, disjoint; `low` is the first evaluation of each."""

    low: Int64
    high: Int64
    step: int

    def next(self, time: Int64) -> Int64:
        """The first evaluation at or after each time; NEVER if there is none.

        >>> every = Evaluations(np.array([0, 40]), np.array([20, 41]), 10)
        >>> every.next(np.array([-1, 10, 11, 20, 41])).tolist() == [0, 10, 40, 40, NEVER]
        True
        """
        found: Int64 = _next(self.low, self.high, self.step, time)
        return found

    def _up(self, time: Int64, low: Int64) -> Int64:
        """The first multiple at or after times that are not before `low`."""
        over = ((time.astype(np.uint64) - low.astype(np.uint64)) % np.uint64(self.step)).astype(np.int64)
        return plus(time, np.where(over == 0, 0, self.step - over))

    def count(self, since: Int64, until: Int64) -> tuple[Int64, Int64, Int64]:
        """Of intervals: (place, first evaluation, how many) for each stretch that they meet."""
        first = np.searchsorted(self.high, since, side="right")
        last = np.searchsorted(self.low, until, side="left")
        place, stretch = spread(np.maximum(last - first, 0), first)
        begin = self._up(np.maximum(since[place], self.low[stretch]), self.low[stretch])
        end = np.minimum(until[place], self.high[stretch])
        some = np.flatnonzero(begin < end)
        size = (end[some].astype(np.uint64) - begin[some].astype(np.uint64) - np.uint64(1)) // np.uint64(self.step)
        return place[some], begin[some], size.astype(np.int64) + 1


class Schedule(Part, Protocol):
    """Says which evaluations are due, as items come and time passes."""

    def due(self, items: Rows, until: Until) -> Evaluations:
        """The evaluations since the last call, up to what is known."""
        ...


class AtItems(KeptNumbers):
    """Every instant at which there is an item (REPORT ON CONTENT CHANGE)."""

    def due(self, items: Rows, until: Until) -> Evaluations:
        times = each_once(items.end)
        return Evaluations(times, times + 1, 1)


class AtInstants(KeptNumbers):
    """The instants given (--evaluate-at). The state is how many are past."""

    def __init__(self, instants: Sequence[int]) -> None:
        super().__init__(0)
        self._instants = np.unique(np.array(instants, np.int64))

    def due(self, items: Rows, until: Until) -> Evaluations:
        """Those up to the watermark; at the end of the input all that are left."""
        (past,) = self.value
        last = len(self._instants) if until.last else int(np.searchsorted(self._instants, until.time, side="right"))
        self.value = (max(past, last),)
        times = self._instants[past:last]
        return Evaluations(times, times + 1, 1)


class AtMultiples(KeptNumbers):
    """Every multiple of a step from the first item on; bounded input ends with the first at or after the last item.

    The state is the first multiple that is not past (NEVER before any item), and the last item's time."""

    def __init__(self, grid: Grid) -> None:
        super().__init__(NEVER, MIN_INSTANT)
        self._grid = grid

    def due(self, items: Rows, until: Until) -> Evaluations:
        first, last = self.value
        if len(items):
            low, high = items.end.min(keepdims=True), items.end.max(keepdims=True)
            first = min(first, int(self._grid.ceil(low)[0])) if first == NEVER else first
            last = max(last, int(high[0]))
        stop = int(self._grid.ceil(np.array([last]))[0]) if until.last else until.time
        low, high = np.array([first]), plus(np.array([max(stop, MIN_INSTANT)]), 1)
        following = int(self._grid.ceil(high)[0]) if first != NEVER and stop >= first else first
        self.value = (following, last)
        some = slice(0, 1 if first != NEVER and stop >= first else 0)
        return Evaluations(low[some], high[some], self._grid.step)


class WhileThere(Kept[tuple[Int64, Int64]]):
    """The multiples of a step at which an item is in a window. Items are rows with validities; what is kept is their union."""

    def __init__(self, grid: Grid) -> None:
        super().__init__((np.empty(0, np.int64), np.empty(0, np.int64)))
        self._grid = grid

    def due(self, items: Rows, until: Until) -> Evaluations:
        """The multiples up to the watermark in the union of the items' validities, which begin and end on multiples."""
        since, gone = self.value
        since, gone = _united(np.concatenate([since, items.since]), np.concatenate([gone, items.until]))
        stop = MAX_INSTANT if until.last else int(self._grid.floor(until.time)) + 1
        low, high = since, np.minimum(gone, stop)
        past = low < high
        # what is over goes, what goes on begins with the next multiple
        after = self._grid.ceil(np.maximum(since, stop))
        left = after < gone
        self.value = (after[left], gone[left])
        return Evaluations(low[past], high[past], self._grid.step)

    def dump(self, name: str) -> Arrays:
        return {name: np.stack(self.value)}

    def load(self, name: str, arrays: Arrays) -> None:
        since, until = arrays[name]
        self.value = (since, until)


def _united(since: Int64, until: Int64) -> tuple[Int64, Int64]:
    """The union of intervals, as disjoint ones in order that do not touch.

    >>> [c.tolist() for c in _united(np.array([5, 0, 9]), np.array([8, 5, 12]))]
    [[0, 9], [8, 12]]
    """
    order = np.argsort(since, kind="stable")
    since, until = since[order], until[order]
    reached = covered_before(np.zeros(len(since), np.int64), until, np.full(len(since), MIN_INSTANT, np.int64))
    new = since > reached
    new[:1] = True
    first = np.flatnonzero(new)
    return since[first], np.maximum.reduceat(until, first) if len(first) else until
