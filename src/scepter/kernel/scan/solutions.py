"""Solutions in columns: one row per mapping of a graph pattern on an event (or on several at one time)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scepter.kernel.column_table import ColumnTable
from scepter.kernel.rows import Float64, Int8, Int64, Mappings, UInt64, mappings


@dataclass(slots=True)
class Solutions(ColumnTable):
    """Rows in order of time. The two-dimensional columns have one row per solution, so that a solution is one stretch of
    memory."""

    time: Int64
    start: Int64
    branch: Int8
    """Which branch of a disjunction the row comes from."""
    events: Int64
    """[row, scan of the branch]: the event's number, -1 beyond the branch's scans."""
    names: Int64
    """[row, scan of the branch]: ref of the event's name, -1 without one."""
    ids: UInt64
    """[row, column]: 0 is unbound."""
    refs: Int64
    number: Float64
    scale: Int8

    def __len__(self) -> int:
        return len(self.time)

    @property
    def width(self) -> int:
        """How many columns a mapping has."""
        return int(self.ids.shape[1])

    @property
    def mappings(self) -> Mappings:
        """The mappings' columns."""
        return Mappings(self.ids, self.refs, self.number, self.scale)

    def columns(self, order: Sequence[int]) -> Solutions:
        """The same rows with the mapping's columns chosen and ordered; -1 is a variable that none of them binds."""
        if tuple(order) == tuple(range(self.width)):
            return self
        return Solutions(self.time, self.start, self.branch, self.events, self.names, *self.mappings.columns(order))

    def by_time(self) -> Solutions:
        """The same rows in order of time, stable."""
        if len(self) < 2 or bool(np.all(self.time[1:] >= self.time[:-1])):
            return self
        return self.take(np.argsort(self.time, kind="stable"))


def empty(width: int, scans: int = 1) -> Solutions:
    """No rows, of a given width."""
    none, events = np.empty(0, np.int64), np.empty((0, scans), np.int64)
    return Solutions(none, none, np.empty(0, np.int8), events, events, *mappings(0, width))


def spread(table: Solutions, places: Sequence[int], width: int, scans: int, branch: int) -> Solutions:
    """Put a table's columns at `places` of a wider one (the rest unbound), as rows of a branch with room for `scans` events."""
    if table.width == width and tuple(places) == tuple(range(width)) and table.events.shape[1] == scans:
        if branch == 0:
            return table
        return table.replace(branch=np.full(len(table), branch, np.int8))
    rows = len(table)
    mapping = table.columns([places.index(i) if i in places else -1 for i in range(width)])
    events = np.full((rows, scans), -1, np.int64)
    names = np.full((rows, scans), -1, np.int64)
    events[:, : table.events.shape[1]] = table.events
    names[:, : table.names.shape[1]] = table.names
    return mapping.replace(branch=np.full(rows, branch, np.int8), events=events, names=names)
