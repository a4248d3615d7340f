"""Mappings that wait for their time to come, in columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scepter.kernel.solutions import Solutions
from scepter.kernel.windowed.pairs.rows import Arrivals, Int64, mixed


def arrivals(found: Solutions, shared: list[int]) -> Arrivals:
    """Solutions of a scan as rows of a side; `shared` are the columns it is joined by."""
    key = mixed([found.ids[:, column] for column in shared], len(found))
    return Arrivals(found.start, found.time, found.events[:, 0], found.names[:, 0], key, found.ids, found.refs)


class WaitingRows:
    """Rows of one side, taken out in order of end, start and arrival."""

    def __init__(self, width: int) -> None:
        none = np.empty(0, np.int64)
        empty = Arrivals(
            none, none, none, none, none.astype(np.uint64), np.empty((0, width), np.uint64), np.empty((0, width), np.int64)
        )
        self._rows = empty
        self._added: list[Arrivals] = []

    def add(self, rows: Arrivals) -> None:
        """Take rows in any order."""
        if len(rows):
            self._added.append(rows)

    @property
    def rows(self) -> Arrivals:
        """All, in order."""
        if self._added:
            columns = zip(self._rows, *self._added, strict=True)
            every = Arrivals(*(np.concatenate(parts) for parts in columns))
            self._added = []
            self._rows = _taken(every, np.lexsort((every.item, every.start, every.end)))
        return self._rows

    def due(self, closed: int) -> Arrivals:
        """Take out those up to a time."""
        rows = self.rows
        if not len(rows):
            return rows
        until = int(np.searchsorted(rows.end, closed, side="right"))
        self._rows = _taken(rows, slice(until, None))
        return _taken(rows, slice(until))

    def forget(self, item: int) -> None:
        """Let go of what came from an item on."""
        rows = self.rows
        self._rows = _taken(rows, np.flatnonzero(rows.item < item))

    def refs(self) -> Iterator[Int64]:
        """The arrays of text refs, to be exchanged in place."""
        # what is due was cut off as a view: its own arrays let others move theirs
        self._rows = _taken(self.rows, np.arange(len(self.rows)))
        yield from (self._rows.refs, self._rows.name)


def _taken(rows: Arrivals, places: Int64 | slice) -> Arrivals:
    return Arrivals(
        rows.start[places], rows.end[places], rows.item[places], rows.name[places], rows.key[places], rows.ids[places],
        rows.refs[places],
    )  # fmt: skip
