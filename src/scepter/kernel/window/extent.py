"""Windows in ticks: from which evaluation to which an item of a time is there (spec/30-rsep-ql rule 1, 50-sparkwave rule 2).

A window of width a and step b holds at an evaluation t the items with `t' - a < time <= t'`, where t' is the last multiple of b
up to t. So an item comes with the first multiple at or after its time, and goes with the first that is a whole width later.
All sums saturate at the ends of the time line: a window of 2^63-1 is one that nothing leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import Int64, Rows, timeless
from scepter.physical.nodes.nodes import Schema
from scepter.timeline import MAX_INSTANT, MIN_INSTANT


def plus(time: Int64, ticks: int | Int64) -> Int64:
    """Times so many ticks later (at least 0), at most the last instant.

    >>> plus(np.array([1, MAX_INSTANT]), 2).tolist() == [3, MAX_INSTANT]
    True
    """
    later: Int64 = np.minimum(time, MAX_INSTANT - ticks) + ticks  # type: ignore[assignment]
    return later


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of a step, counted from an origin."""

    step: int
    origin: int = 0

    def ceil(self, time: Int64) -> Int64:
        """The first multiple at or after each time; the last instant where there is none.

        >>> Grid(5).ceil(np.array([-5, -4, 0, 1, 5])).tolist(), Grid(5, 2).ceil(np.array([2, 3])).tolist()
        ([-5, 0, 0, 5, 5], [2, 7])
        """
        if self.step == 1:
            return time
        # the remainders are subtracted, not the times: a difference of two instants may not fit 64 bits
        return plus(time, np.mod(self.origin % self.step - np.mod(time, self.step), self.step))

    def floor(self, time: int) -> int:
        """The last multiple up to a time, at least the first instant.

        >>> Grid(5).floor(-1), Grid(5, 2).floor(8)
        (-5, 7)
        """
        return max(MIN_INSTANT, time - (time - self.origin) % self.step)

    def count(self, low: Int64, high: Int64) -> Int64:
        """How many multiples lie from `low` to before `high`, both multiples themselves.

        >>> Grid(5).count(np.array([0]), np.array([15])).tolist()
        [3]
        """
        # as unsigned: the difference of two instants always fits
        return ((high.astype(np.uint64) - low.astype(np.uint64)) // np.uint64(self.step)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class TimeExtent:
    """A time window: `width` ticks, moved on at the multiples of the grid."""

    width: int
    grid: Grid

    def validity(self, time: Int64) -> tuple[Int64, Int64]:
        """When items of some times are there; nowhere (since = until) if they fall between two windows.

        >>> since, until = TimeExtent(3, Grid(4)).validity(np.array([2, 4, 1]))
        >>> since.tolist(), until.tolist()
        ([4, 4, 4], [8, 8, 4])
        """
        return self.grid.ceil(time), self.grid.ceil(plus(time, self.width))


@dataclass(frozen=True, slots=True)
class LandmarkExtent:
    """All items from a time on."""

    start: int

    def validity(self, time: Int64) -> tuple[Int64, Int64]:
        """From an item's time for ever.

        >>> since, until = LandmarkExtent(5).validity(np.array([4, 6]))
        >>> (since < until).tolist()
        [False, True]
        """
        return time, np.where(time >= self.start, MAX_INSTANT, MIN_INSTANT)


Extent: TypeAlias = TimeExtent | LandmarkExtent


class Window(Stateless):
    """Rows are there while a window holds their item; rows of items that no evaluation sees are left out.

    An item belongs to a window by its end, as it is known then. Rows come in order of end, and `since` is never before it: a
    row that is given after time w is there after w alone. All operators on validities rest on that.
    """

    def __init__(self, schema: Schema, extent: Extent, *, timeless: bool = False) -> None:
        self.schema = schema
        self._extent = extent
        self._timeless = timeless

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        (rows,) = inputs
        since, gone = self._extent.validity(rows.end)
        seen = since < gone
        if not bool(seen.all()):
            kept = np.flatnonzero(seen)
            rows, since, gone = rows.take(kept), since[kept], gone[kept]
        if self._timeless:
            rows = rows.during(*timeless(len(rows)))
        return rows.valid(since, gone)
