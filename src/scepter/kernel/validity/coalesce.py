"""DISTINCT on validities, and the union of a window's graphs: each mapping is there once, however often it is given.

Pieces need to be disjoint, not maximal: a repeat contributes what the ones before it do not cover, and nothing is taken back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scepter.kernel.column_table import ColumnTable
from scepter.kernel.operator import Until
from scepter.kernel.rows import Int64, Rows, UInt64, concat, empty
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import Clock, Held, InParts, KeptRows
from scepter.kernel.validity.intervals import coalesced
from scepter.kernel.validity.key_index import KeyIndex
from scepter.kernel.window.extent import Grid
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.distinct import distinct
from scepter.timeline import MAX_INSTANT, MIN_INSTANT


@dataclass(frozen=True, slots=True)
class Covered(ColumnTable):
    """Mappings and how far they are covered."""

    ids: UInt64
    until: Int64


def _once(covered: Covered, keys: UInt64) -> tuple[Covered, UInt64]:
    """Each mapping once, as far as the farthest reaches: a triple that comes every second is one row, not 3,600."""
    first, of = distinct(covered.ids)
    reach = np.full(len(first), MIN_INSTANT, np.int64)
    np.maximum.at(reach, of, covered.until)
    return Covered(covered.ids[first], reach), keys[first]


class Coverage(KeyIndex[Covered]):
    """How far mappings are covered by what was seen of them."""

    def __init__(self, width: int) -> None:
        super().__init__(_once)
        self._width = width

    def cover(self, ids: UInt64, since: Int64, until: Int64) -> Int64:
        """Where each of some intervals, in order of `since`, begins to add something; at its end if it does not."""
        keys = key_of(ids, range(ids.shape[1]))
        first, of = distinct(ids)
        reached = np.full(len(first), MIN_INSTANT, np.int64)
        for place, table, row in self.probe(keys[first]):
            same = np.flatnonzero((table.ids[row] == ids[first[place]]).all(axis=1))
            np.maximum.at(reached, place[same], table.until[row[same]])
        begins = np.minimum(coalesced(of, since, until, reached[of]), until)
        np.maximum.at(reached, of, until)
        self.add(Covered(ids[first], reached), keys[first])
        return begins

    def evict(self, time: int) -> None:
        """No row that is there at `time` or before will come any more."""
        self.keep(lambda table: table.until > time + 1)

    def renumber(self, number: Int64) -> None:
        """The first column holds numbers that are others now; -1 is no longer in use."""
        tables, self.value = self.runs(), ()
        for table in tables:
            kept = np.flatnonzero(number[table.ids[:, 0].astype(np.int64)] >= 0)
            ids = table.ids[kept]
            ids[:, 0] = number[ids[:, 0].astype(np.int64)]
            self.add(Covered(ids, table.until[kept]), key_of(ids, range(ids.shape[1])))

    def dump(self, name: str) -> Arrays:
        tables = self.runs()
        return {
            f"{name}.ids": np.concatenate([np.empty((0, self._width), np.uint64), *(t.ids for t in tables)]),
            f"{name}.until": np.concatenate([np.empty(0, np.int64), *(t.until for t in tables)]),
        }

    def load(self, name: str, arrays: Arrays) -> None:
        ids = arrays[f"{name}.ids"]
        self.add(Covered(ids, arrays[f"{name}.until"]), key_of(ids, range(ids.shape[1])))


class Coalesce(InParts):
    """Each mapping once at a time. Rows wait until they are there, as only in order of `since` a repeat is known by its end.

    A row's occurrence and lineage are those of the one that contributes the piece."""

    def __init__(self, schema: Schema, grid: Grid | None = None) -> None:
        self.schema = schema
        self._held = Held(len(schema.variables))
        self._covered = Coverage(len(schema.variables))
        self._clock = Clock(grid)
        self._parts = {"closed": self._clock, "held": self._held, "covered": self._covered}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        rows = self._held.due(inputs[0], self._clock.advance(until))
        if not len(rows):
            return rows
        since = self._covered.cover(rows.ids, rows.since, rows.until)
        new = since < rows.until
        if bool(new.all()):
            return rows.valid(since, rows.until)
        return rows.valid(since, rows.until).take(new)

    def evict(self, time: int) -> None:
        self._covered.evict(min(time, self._clock.closed))

    def state_rows(self) -> Mapping[str, int]:
        return {"mappings": len(self._covered), "waiting": len(self._held)}


class Latest(InParts):
    """Each mapping once at a time, with the occurrence that ended last.

    The rows are those of one window: what ends later comes no earlier and goes no earlier. So the next occurrence hides the one
    before it for good, and one row of each mapping is all there is to keep.
    """

    def __init__(self, schema: Schema, grid: Grid | None = None) -> None:
        self.schema = schema
        self._held = Held(len(schema.variables))
        self._last = KeptRows(len(schema.variables))
        self._clock = Clock(grid)
        self._parts = {"closed": self._clock, "held": self._held, "last": self._last}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The pieces of the stretch that is certain now."""
        start, stop = self._clock.closed + 1, self._clock.advance(until) + 1
        due = self._held.due(inputs[0], stop - 1)
        rows = concat([self._last.value, due], due.width)
        if stop <= start or not len(rows):
            return empty(due.width)
        _, of = distinct(rows.ids)
        order = np.lexsort((rows.end, rows.since, of))
        rows, of = rows.take(order), of[order]
        followed = np.zeros(len(rows), np.bool_)
        followed[:-1] = of[1:] == of[:-1]
        hidden = np.full(len(rows), MAX_INSTANT, np.int64)
        hidden[:-1][followed[:-1]] = rows.since[1:][followed[:-1]]
        self._last.value = rows.take(np.flatnonzero(~followed & (rows.until > stop)))
        low, high = np.maximum(rows.since, start), np.minimum(np.minimum(rows.until, hidden), stop)
        seen = np.flatnonzero(low < high)
        return rows.take(seen).valid(low[seen], high[seen])

    def state_rows(self) -> Mapping[str, int]:
        return {"latest": len(self._last), "waiting": len(self._held)}
