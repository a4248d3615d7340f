"""The operator of MATCH: the mappings of an event pattern, each from when to when it is there.

Four ways lead to them. A steady pattern (`tree`) is decided when its last item comes: if it consumes nothing, for all time
(`settle`); else at the evaluations at which a right side comes or waits for its turn (`compete`), where what is selected is
there for this one evaluation, since its items are consumed. Any other pattern is evaluated as a whole where its items change
(`follow`), or at every evaluation after a change or a consumption (`exhaust`). So is one that others consume beside, with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from scepter.kernel.event_match import item_table as table
from scepter.kernel.event_match import match_steps as steps
from scepter.kernel.event_match.evaluate import ROWS
from scepter.kernel.event_match.item_store import Store, gathered
from scepter.kernel.event_match.match_steps import (
    AGAIN,
    AT,
    COUNT,
    INSTANT,
    LINKED,
    OUT_ROWS,
    WAITING,
    Coming,
    Due,
    Waiting,
)
from scepter.kernel.event_match.match_tree import SCAN, Shape
from scepter.kernel.interrupts import BY_INSTANT, Ends, interruptible
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Until
from scepter.kernel.report.evaluations import Schedule
from scepter.kernel.rows import NO_LINEAGE, Int64, Rows, concat, empty, mappings
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import Clock, InParts
from scepter.kernel.window.extent import Grid
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.distinct import distinct
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

_NONE = np.empty(0, np.int64)


class EventMatch(InParts):
    """Inputs are the rows of its scans in their windows, from left to right, and then the items that the schedule looks at."""

    _replaced = ("_store", "_rights", "_changes", "_evicted")

    def __init__(
        self,
        shape: Shape,
        schemas: Sequence[Schema],
        window: Sequence[int],
        *,
        together: bool,
        schedule: Schedule,
        grid: Grid | None,
        lineage: Lineage,
    ) -> None:
        """`window` says of each scan which window it reads; `together`, whether all of them move at the same instants."""
        self.schema = reduce(Schema.joined, schemas[: shape.own])
        self._shape, self._schemas, self._lineage = shape, tuple(schemas), lineage
        self._root = shape.roots[0]
        self._consuming = np.array(shape.consuming, np.bool_)
        self._steady = shape.steady and together
        self._nodes = np.zeros(len(schemas), np.int64)
        for node in np.flatnonzero(shape.tree.kind == SCAN):
            self._nodes[shape.tree.choice[node]] = node
        self._right = len(schemas) - 1
        """A steady pattern's last scan, whose rows nobody looks up."""
        self._schedule = schedule
        self._clock = Clock(grid)
        self._parts = {"closed": self._clock, "schedule": schedule}
        self._store = Store.empty(np.array(window, np.int64), len(shape.variables))
        self._found = np.empty((64, ROWS + len(schemas)), np.int64)
        self._out = np.empty((64, OUT_ROWS + len(schemas)), np.int64)
        self._rights, self._changes = _NONE, _NONE
        self._waiting = _waiting(0)
        self._at = np.array([0, 0, 0, MIN_INSTANT, 0, 0], np.int64)
        self._evicted = MIN_INSTANT - 1
        self._opened = self._filled()

    # ---- rows in

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The mappings that are certain now, each with its validity."""
        *scans, items = inputs
        due = self._schedule.due(items, until)
        start, stop = self._clock.closed + 1, self._clock.advance(until) + 1
        new = self._taken(scans)
        self._at[AT] = self._at[COUNT] = self._at[LINKED] = 0
        if self._steady:
            self._take_turns(new, Due(due.low, due.high, due.step))
        elif self._consuming.any():
            self._exhaust(new, Due(due.low, due.high, due.step))
        else:
            self._follow(new, start, stop)
        return self._given()

    def _taken(self, scans: Sequence[Rows]) -> Int64:
        """Put new rows into the table; their numbers."""
        count = sum(map(len, scans))
        if not count:
            return _NONE
        if not self._store.has_room(count):
            self._renew(count)
        rows, scan, item = gathered(scans, self._schemas, self._shape.variables, self._lineage)
        new = self._store.add(rows, scan, item)
        if self._store.table.log[0, 1]:
            links = np.count_nonzero(scan != self._right) if self._steady else count
            self._store.table = table.logging(self._store.table, 0, int(links))
        return new

    # ---- the four ways

    def _take_turns(self, new: Int64, due: Due) -> None:
        scan = self._store.table.scan[new]
        coming = Coming(new[scan != self._right], self._nodes)
        rights = np.concatenate([self._rights, new[scan == self._right]])
        if not self._consuming.any():
            selects = self._shape.selects
            self._loop(steps.settle, lambda: (self._store.table.end[rights],), self._root, rights, coming, selects)
            return
        waiting = _waiting(int(self._at[WAITING]) + len(rights))
        for to, of in zip(waiting, self._waiting, strict=True):
            to[: self._at[WAITING]] = of[: self._at[WAITING]]
        self._waiting = waiting
        self._loop(steps.compete, BY_INSTANT, self._root, rights, coming, waiting, due, self._consuming)
        self._rights = rights[self._at[AT] :]

    def _exhaust(self, new: Int64, due: Due) -> None:
        self._changes = np.unique(np.concatenate([self._changes, self._instants(new)]))
        self._loop(steps.exhaust, BY_INSTANT, self._shape.roots, self._changes, Coming(new, self._nodes), due, self._consuming)
        self._changes = self._changes[self._at[AT] :]

    def _follow(self, new: Int64, start: int, stop: int) -> None:
        """From where the last call stopped: what was there then may still be there."""
        known = np.unique(np.concatenate([self._changes, self._instants(new)]))
        at = int(np.searchsorted(known, stop))
        begin = np.array([start] if start < stop and self._store.size else [], np.int64)
        changes = np.unique(np.concatenate([begin, known[:at]])) if start < stop else known[:0]
        changes = changes[changes >= start]
        self._loop(steps.follow, lambda: (changes,), self._root, changes, Coming(new, self._nodes), np.int64(stop))
        self._changes = known[at:]

    def _instants(self, new: Int64) -> Int64:
        """When rows come and go."""
        rows = self._store.table
        return np.concatenate([rows.since[new], rows.until[new][rows.until[new] < MAX_INSTANT]])

    def _loop(self, step: Any, ends: Ends, *given: Any) -> None:
        """Run a compiled loop, with more room whenever it asks for it; `ends` as of `interruptible`."""
        plainly = [tuple(each) if isinstance(each, tuple) else each for each in given]
        while True:
            room = self._found, self._out, self._at
            full = interruptible(step, ends, tuple(self._shape.tree), tuple(self._store.table), *plainly, room)
            if full == steps.DONE:
                return
            if full == steps.FOUND_FULL:
                self._found = _larger(self._found)
            elif full == steps.OUT_FULL:
                self._out = _larger(self._out)
            else:
                self._store.table = table.logging(self._store.table, len(self._out) * len(self._consuming))

    # ---- mappings out

    def _given(self) -> Rows:
        out = self._out[: self._at[COUNT], : OUT_ROWS + self._shape.own]
        width = len(self.schema.variables)
        if not len(out):
            return empty(width)
        held = self._store.rows
        ids, refs, number, scale = mappings(len(out), width)
        lineage = np.full(len(out), NO_LINEAGE, np.int64)
        for scan in range(self._shape.own):
            row = out[:, OUT_ROWS + scan]
            lineage = self._lineage.joined(lineage, held.lineage[row])
            columns = [i for i, name in enumerate(self.schema.variables) if name in self._schemas[scan].variables]
            for column in columns:
                unbound = ids[:, column] == 0
                for to, of in ((ids, held.ids), (refs, held.refs), (number, held.number), (scale, held.scale)):
                    to[:, column] = np.where(unbound, of[row, column], to[:, column])
        since, until, start, end = (out[:, i].copy() for i in range(OUT_ROWS))
        return self._once(Rows(ids, refs, number, scale, start, end, since, until, lineage), out[:, OUT_ROWS:])

    def _once(self, rows: Rows, made_of: Int64) -> Rows:
        """Event mappings are a set (rule 5): one that comes about in several ways is there once, and shows them all. Equal ones
        have equal ends, so that one call sees them."""
        times = np.stack([rows.start, rows.end, rows.since, rows.until], axis=1).view(np.uint64)
        first, same = distinct(np.concatenate([rows.ids, times[:, :2]], axis=1))
        if len(first) == len(rows):
            return rows
        order = np.lexsort(made_of.T[::-1])  # what a mapping was made of is shown in order of time
        rows, times = rows.take(order), times[order]
        first, way = distinct(np.concatenate([rows.ids, times], axis=1))
        if len(first) < len(rows):
            lineage = rows.lineage[first]
            for at in np.setdiff1d(np.arange(len(rows)), first).tolist():
                lineage[way[at]] = self._lineage.joined(lineage[way[at], None], rows.lineage[at, None])[0]
            rows = replace(rows.take(first), lineage=lineage)
        first, same = distinct(np.concatenate([rows.ids, times[first][:, :2]], axis=1))
        return rows if len(first) == len(rows) else self._pieces(rows, same)

    def _pieces(self, rows: Rows, same: Int64) -> Rows:
        """Mappings that come about in ways that last differently: cut where one of their ways begins or ends."""
        often = np.bincount(same)[same] > 1
        parts = [rows.take(~often)]
        for mapping in np.unique(same[often]).tolist():
            ways = rows.take(same == mapping)
            cuts = np.unique(np.concatenate([ways.since, ways.until]))
            for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
                there = ways.take((ways.since <= low) & (ways.until >= high))
                if len(there):
                    node = reduce(self._lineage.joined, there.lineage[:, None])
                    whole = replace(there.between(0, 1), lineage=node)
                    parts.append(whole.valid(np.array([low]), np.array([high])))
        return concat(parts, rows.width)

    # ---- state

    def _renew(self, more: int) -> None:
        """Let go of rows that are over, and make room for more."""
        kept = self._store.alive(self._evicted)
        if self._steady:
            kept &= self._store.table.scan[: self._store.size] != self._right
        kept[self._rights] = True
        kept[self._waiting.row[: self._at[WAITING]]] = True
        self._store, number = self._store.renewed(np.flatnonzero(kept), more)
        self._rights = number[self._rights]
        row, used = self._waiting.row.copy(), slice(self._at[WAITING])  # a slot beyond those in use names no row
        row[used] = number[row[used]]
        self._waiting = self._waiting._replace(row=row)
        self._link_all()

    def _link_all(self) -> None:
        """Chain all rows of a table in which none is."""
        rows = np.arange(self._store.size)
        if self._steady:
            rows = rows[self._store.table.scan[rows] != self._right]
        table.link(tuple(self._shape.tree), tuple(self._store.table), self._nodes, rows)

    def save(self) -> None:
        super().save()
        self._store.table.log[0] = (0, 1, 0)
        self._opened = self._filled()

    def undo(self) -> None:
        """Back to `save`: the table that was there then, if it has been renewed since."""
        super().undo()
        table.take_back(self._store.table)
        self._store.size, self._store.slots, self._waiting, self._at = self._opened
        self._opened = self._filled()

    def _filled(self) -> tuple[int, int, Waiting, Int64]:
        """How far the store is filled, and copies of what loops write into."""
        row, group, loses = self._waiting
        return self._store.size, self._store.slots, Waiting(row.copy(), group.copy(), loses.copy()), self._at.copy()

    def evict(self, time: int) -> None:
        """Rows that are over go when there is no more room."""
        self._evicted = max(self._evicted, min(time, self._clock.closed))

    def dump(self) -> Arrays:
        """The rows that later evaluations see, who waits, and when something changes."""
        self._renew(0)
        waiting, at = [column[: self._at[WAITING]] for column in self._waiting], self._at[[INSTANT, AGAIN]]
        own: Arrays = {"scan": self._store.table.scan[: self._store.size], "item": self._store.table.slot[: self._store.size]}
        own |= dict(zip(("waiting", "group", "loses"), waiting, strict=True)) | {"consumed": self._store.consumed}
        clock = np.array([self._clock.closed, self._evicted])
        own |= {"rights": self._rights, "changes": self._changes, "at": at, "clock": clock}
        return own | self._store.held().dump("rows") | self._schedule.dump("schedule")

    def load(self, arrays: Arrays) -> None:
        rows = Rows.load(arrays, "rows")
        self._store = Store.empty(self._store.table.window, rows.width, 2 * len(rows))
        self._store.add(rows, arrays["scan"], arrays["item"])
        self._store.consumed[...] = arrays["consumed"]
        self._rights, self._changes = arrays["rights"], arrays["changes"]
        self._waiting = Waiting(arrays["waiting"], arrays["group"], arrays["loses"])
        self._at[[INSTANT, AGAIN]], self._at[WAITING] = arrays["at"], len(arrays["waiting"])
        closed, self._evicted = arrays["clock"].tolist()
        self._clock.value = (closed,)
        self._schedule.load("schedule", arrays)
        self._link_all()

    def lineages(self) -> Iterator[Int64]:
        """Those of rows; first, rows that are over go: they would hold lineage until there is no more room. Not while an
        instant is open."""
        self._renew(0)
        return super().lineages()

    def _kept_rows(self) -> Iterator[Rows]:
        yield self._store.held()

    def state_rows(self) -> Mapping[str, int]:
        alive = self._store.alive(self._evicted)
        if self._steady:
            alive &= self._store.table.scan[: self._store.size] != self._right
        return {"mappings": int(np.count_nonzero(alive)), "candidates": int(self._at[WAITING]) + len(self._rights)}


def _waiting(room: int) -> Waiting:
    return Waiting(np.zeros(room, np.int64), np.zeros(room, np.uint64), np.zeros(room, np.int64))


def _larger(matrix: Int64) -> Int64:
    grown = np.empty((4 * len(matrix), matrix.shape[1]), np.int64)
    grown[: len(matrix)] = matrix
    return grown
