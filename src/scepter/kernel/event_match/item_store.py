"""The rows that an event pattern keeps: the table that loops read, and beside it what only shows in results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scepter.kernel.event_match import item_table as tables
from scepter.kernel.event_match.item_table import Table
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import COLUMNS, Int8, Int64, Mask, Rows, concat, lasting_rows, mappings
from scepter.physical.nodes.nodes import Schema

_FIRST = np.zeros(1, np.int64)


@dataclass(slots=True)
class Store:
    """`size` rows under numbers in order of end, then start. Its arrays have room for more; one without is `renewed`, and what
    it was stays as it is, for an instant that is undone."""

    table: Table
    rows: Rows
    """Terms, times and lineage of each row, with room for as many as the table."""
    size: int = 0
    slots: int = 0

    @staticmethod
    def empty(window: Int64, width: int, rows: int = 0) -> Store:
        """With room for some rows."""
        table = tables.fresh(window, width, rows)
        room = len(table.scan)
        return Store(table, lasting_rows(mappings(room, width), np.zeros(room, np.int64), np.zeros(room, np.int64)))

    def has_room(self, rows: int) -> bool:
        """Whether so many more fit."""
        return self.size + rows <= len(self.table.scan)

    def add(self, rows: Rows, scan: Int64, slot: Int64) -> Int64:
        """Take rows in order of end, each of a scan and of an item (numbered from 0 on); their numbers. There is room."""
        low, high = self.size, self.size + len(rows)
        if len(rows) == 1:  # a row costs a third of a stretch of rows
            for name in COLUMNS:
                getattr(self.rows, name)[low] = getattr(rows, name)[0]
            for name in ("ids", "start", "end", "since", "until"):
                getattr(self.table, name)[low] = getattr(rows, name)[0]
        else:
            for name in COLUMNS:
                getattr(self.rows, name)[low:high] = getattr(rows, name)
            for name in ("ids", "start", "end", "since", "until"):
                getattr(self.table, name)[low:high] = getattr(rows, name)
        self.table.scan[low:high] = scan
        self.table.slot[low:high] = slot + self.slots
        items = int(slot.max(initial=-1)) + 1
        self.table.consumed[:, self.slots : self.slots + items] = 0
        self.size, self.slots = high, self.slots + items
        return np.arange(low, high, dtype=np.int64)

    def alive(self, time: int) -> Mask:
        """Which rows evaluations after a time may see."""
        table = self.table
        hidden = table.consumed[table.window[table.scan[: self.size]], table.slot[: self.size]]
        alive: Mask = (table.until[: self.size] > time + 1) & (hidden == 0)
        return alive

    def renewed(self, kept: Int64, more: int) -> tuple[Store, Int64]:
        """Another with some of the rows and room for as many more and then some, nothing linked; and of each row its new
        number."""
        made = Store.empty(self.table.window, self.rows.width, 2 * (len(kept) + more))
        slots, slot = np.unique(self.table.slot[kept], return_inverse=True)
        made.add(self.rows.take(kept), self.table.scan[kept], slot.astype(np.int64))
        made.consumed[...] = self.consumed[:, slots]  # a right side that waits stays until somebody finds it consumed
        number = np.full(self.size, tables.NOBODY, np.int64)
        number[kept] = np.arange(len(kept))
        return made, number

    @property
    def consumed(self) -> Int8:
        """By window and item, whether it is consumed."""
        return self.table.consumed[:, : self.slots]

    def held(self) -> Rows:
        """All rows, not copied."""
        return self.rows.between(0, self.size)


def gathered(
    inputs: Sequence[Rows], schemas: Sequence[Schema], variables: tuple[str, ...], lineage: Lineage
) -> tuple[Rows, Int64, Int64]:
    """The rows of all scans over the pattern's variables, in order of end, then start; of each its scan and its item."""
    counts = [len(rows) for rows in inputs]
    filled = [number for number, count in enumerate(counts) if count]
    wide = [inputs[number].columns(schemas[number].columns(variables)) for number in filled]
    if sum(counts) == 1:
        return wide[0], np.array(filled), _FIRST
    rows = concat(wide, len(variables))
    scan = np.repeat(np.arange(len(inputs), dtype=np.int64), counts)
    event = lineage.event(rows.lineage)
    order = np.lexsort((event, rows.start, rows.end))
    _, item = np.unique(event[order], return_inverse=True)
    return rows.take(order), scan[order], item.astype(np.int64)
