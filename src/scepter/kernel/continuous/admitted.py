"""Triple occurrences in columns, in order of arrival or of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.solutions import Float64, Int8, Int64, UInt64

START, END, EXPIRES = 0, 1, 2
EVENT, STREAM = 0, 1
NAME = 3
FOR_EVER = 2**63 - 1
"""No end: for what no window lets go of."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """One row per occurrence that some pattern can match."""

    ids: UInt64
    """[row, position]."""
    refs: Int64
    """[row, position, and the name of the event]: where the texts stand; -1 for no name."""
    number: Float64
    """Of the object."""
    scale: Int8
    when: Int64
    """[row]: start, end, and the last instant at which the stream's window holds it."""
    source: Int64
    """[row]: the number of the event, and that of the stream."""
    feeds: UInt64
    """The patterns that it matches, as bits."""

    @classmethod
    def room(cls, rows: int) -> Admitted:
        """Room for so many rows."""
        return cls(
            np.empty((rows, 3), np.uint64), np.empty((rows, 4), np.int64), np.empty(rows), np.empty(rows, np.int8),
            np.empty((rows, 3), np.int64), np.empty((rows, 2), np.int64), np.empty(rows, np.uint64),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.feeds)

    def columns(self) -> list[NDArray[np.generic]]:
        """Its columns, in a fixed order."""
        return [self.ids, self.refs, self.number, self.scale, self.when, self.source, self.feeds]

    def first(self, rows: int) -> Admitted:
        """A copy of the first rows."""
        return Admitted(*(column[:rows].copy() for column in self.columns()))  # type: ignore[arg-type]

    def part(self, first: int, last: int) -> Admitted:
        """A stretch of rows, not copied."""
        return Admitted(*(column[first:last] for column in self.columns()))  # type: ignore[arg-type]

    def take(self, rows: NDArray[np.bool_] | Int64) -> Admitted:
        """Some rows."""
        return Admitted(*(column[rows] for column in self.columns()))  # type: ignore[arg-type]

    @classmethod
    def joined(cls, parts: Sequence[Admitted]) -> Admitted:
        """One after the other."""
        if len(parts) == 1:
            return parts[0]
        columns = zip(*(part.columns() for part in (cls.room(0), *parts)), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    def in_order(self) -> Admitted:
        """By end, then start, then arrival."""
        start, end = self.when[:, START], self.when[:, END]
        later = (end[1:] > end[:-1]) | ((end[1:] == end[:-1]) & (start[1:] >= start[:-1]))
        return self if bool(later.all()) else self.take(np.lexsort((start, end)))


def in_parts(parts: Sequence[Admitted], least: int) -> list[Admitted]:
    """All rows by end, start and arrival, in parts that hold whole instants, and at least so many rows if there are. Where
    parts come in order already, nothing is moved."""
    found: list[tuple[list[Admitted], int, int, int]] = []
    for part in parts:
        end = part.when[:, END]
        group, rows, low, high = [part], len(part), int(end.min()), int(end.max())
        while found and (found[-1][3] >= low or found[-1][1] < least):
            before, more, first, last = found.pop()
            before += group
            group, rows, low, high = before, rows + more, min(low, first), max(high, last)
        found.append((group, rows, low, high))
    return [Admitted.joined(group).in_order() for group, _, _, _ in found]
