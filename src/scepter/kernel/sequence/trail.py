"""What runs took within a batch: an entry for each run and step, which refers to the row that was taken and to the entry, or
the run, that took it. A run is written out from the way back to where it began or had waited: its mapping is gathered from the
rows, and its events become nodes, which entries of one beginning share."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inlined
from scepter.kernel.interrupts import interruptible
from scepter.kernel.rows import NO_LINEAGE, Int64, Mask
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.forward_search import NOTHING, key_at
from scepter.kernel.sequence.run_extension import Room, RunExtension, placed
from scepter.kernel.sequence.run_windows import SLIDING
from scepter.kernel.sequence.runs import (
    FIRST,
    GROUP,
    KEY,
    LEAD,
    LEAD_RANK,
    LIMIT,
    NODE,
    PASSED,
    RANK_LIMIT,
    ROUND,
    START,
    TIME,
    Runs,
)
from scepter.physical.sequence_plan import AtomPlan
from scepter.rdf.words import fresh, heed, zeroed
from scepter.timeline import MAX_INSTANT

_ROW, _OF, _START, _LIMIT, _NODE = range(5)


class Step(NamedTuple):
    """A step that was taken in this batch: its entries stand from `low` on."""

    table: Solutions
    atom: AtomPlan
    settled: frozenset[int]
    """The slots that runs have surely bound before it: what they take agrees with them, and changes nothing there."""
    waited: Runs
    """Those that had waited for it, as they stood when it began."""
    low: int = 0


class Trail:
    """The entries of the steps from some runs on.

    Invariants: entries of a step stand together, those of one run in order of rows. `of` is an entry of the step before, or of
    the first step a place among `base`; below zero, a run that had waited, from the last place on. `node` is that of its events
    once there is one."""

    __slots__ = ("_columns", "_extend", "_size", "base", "steps")

    def __init__(self, base: Runs, extend: RunExtension) -> None:
        self.base, self._extend = base, extend
        self.steps: list[Step] = []
        self._columns: Int64 = np.empty((5, 64), np.int64)
        self._size = 0

    def begin(self, step: Step) -> None:
        """What is taken from now on is taken by the next step."""
        self.steps.append(step._replace(low=self._size))

    @property
    def low(self) -> int:
        """Where the entries of the last step begin."""
        return self.steps[-1].low

    def last(self) -> tuple[Int64, Int64, Int64]:
        """What the last step took so far: rows, least starts, limits."""
        here = slice(self.low, self._size)
        return self._columns[_ROW, here], self._columns[_START, here], self._columns[_LIMIT, here]

    def take(self, places: Int64, rows: Int64, start: Int64, limit: Int64, low: int | None) -> None:
        """Runs at some places of columns take a row each: those that had waited, or with `low`, the entries from there on."""
        if not len(places):
            return
        if len(places) > 1 and not _in_order(places, rows):
            order = np.lexsort((rows, places))
            places, rows = places[order], rows[order]
        self._room_for(len(places))
        table, window = self.steps[-1].table, self._extend.window
        waited = low is None
        self._size = _take(
            self._columns, self._size, places, rows, (start, limit), (waited, low or 0), (table.time, table.start), window
        )

    def follow(self, runs: tuple[Int64, Int64, Int64], low: int, span: Int64, found: Int64) -> tuple[Mask, int]:
        """Runs, by their rows, starts and limits, take what was found for their rows, as far as their limits: the span of each
        row in rows with their times and starts. Returns which found something, and how many entries there are more."""
        table, window, size = self.steps[-1].table, self._extend.window, len(runs[0])
        at, before, done = 0, self._size, np.zeros(size, np.bool_)
        self._room_for(size)
        while True:
            given = runs, (low, before), span, found, window, done
            at, self._size, wanted = interruptible(_follow, lambda: (table.time,), self._columns, self._size, at, *given)
            if at == size:
                return done, self._size - before
            self._room_for(wanted + size - at)

    def _room_for(self, count: int) -> None:
        size = self._size + count
        if size > self._columns.shape[1]:
            grown = np.empty((5, max(size, 2 * self._columns.shape[1])), np.int64)
            grown[:, : self._size] = self._columns[:, : self._size]
            self._columns = grown

    def write(self, step: int, entries: Int64, room: Room, at: int, key: tuple[int, ...] = ()) -> None:
        """Write the runs of some entries of a step into the room of runs from `at` on, with their join keys."""
        if not len(entries):
            return
        steps, extend = self.steps[: step + 1], self._extend
        path, origin, begins, count = _walk(self._columns, entries, steps[-1].table.time, len(steps), room[0], at)
        taken = tuple((each.atom, each.settled) for each in steps)
        for which in np.flatnonzero(begins).tolist():
            runs = steps[which - 1].waited if which else self.base
            narrow = runs.first, runs.rank_limit, runs.lead, runs.lead_rank, runs.group, runs.node
            source = *narrow, runs.ids, runs.refs, runs.number, runs.scale
            _begin(origin, which, source, extend.left(taken[max(which - 1, 0) :]), room, at)
        low, places = 0, placed(key)
        for _, alike in groupby(steps, lambda each: id(each.table)):
            those = list(alike)
            table, ways = those[0].table, extend.ways(taken[low : low + len(those)])
            columns = table.branch, table.events, table.names, table.ids, table.refs, table.number, table.scale
            lows = np.array([each.low for each in those], np.int64)
            nodes, size = extend.lineage.room_for(count * table.events.shape[1])
            span = low, low + len(those)
            given = path, span, self._columns, lows, columns, ways, (nodes, size), room, at, places
            size = interruptible(_along, None, *given)
            extend.lineage.added(size)
            low += len(those)


def _in_order(places: Int64, rows: Int64) -> bool:
    ahead, behind = places[1:], places[:-1]
    return bool(((ahead > behind) | ((ahead == behind) & (rows[1:] > rows[:-1]))).all())


@inlined
def _limit(start, limit, window, length):  # type: ignore[no-untyped-def]
    """The limit of a run whose events start so early. (Of numbers alone: arrays are counted at every call.)"""
    return min(limit, min(start, MAX_INSTANT - max(length, 0)) + length) if window == SLIDING else limit


@njit(cache=True)
def _take(columns, at, places, rows, runs, who, table, window):  # type: ignore[no-untyped-def]
    """An entry for each pair whose event is in the window; returns where the next one goes. Windows bound matches, not what an
    event may follow: an interval that is too long is accepted, and leads nowhere."""
    starts_before, limits = runs
    waited, low = who
    times, starts = table
    kind, length = window[0], window[1]
    for i in range(len(places)):
        place, row = places[i], rows[i]
        start = min(starts_before[place], starts[row])
        limit = _limit(start, limits[place], kind, length)
        if times[row] <= limit:
            columns[_ROW, at] = row
            columns[_OF, at] = ~place if waited else low + place
            columns[_START, at] = start
            columns[_LIMIT, at] = limit
            columns[_NODE, at] = NO_LINEAGE
            at += 1
    return at


@njit(cache=True)
def _follow(columns, at, run, runs, places, span, found, window, done, cells):  # type: ignore[no-untyped-def]
    """The same for each run, from `run` on, and what was found for its row up to its limit. Returns the first run that there
    is no room for, where the next entry goes, and how many it may need."""
    rows, starts_before, limits = runs
    low, begun = places
    kind, length = window[0], window[1]
    while run < len(rows):
        if run % 16 == 0 and heed(cells, at - begun):
            break
        first, behind, before, farthest = span[rows[run], 0], span[rows[run], 1], starts_before[run], limits[run]
        if at + behind - first > columns.shape[1]:
            return run, at, behind - first
        for i in range(first, behind):
            time = found[i, 1]
            if time <= farthest:
                done[run] = True
                start = min(before, found[i, 2])
                limit = _limit(start, farthest, kind, length)
                if time <= limit:
                    columns[_ROW, at] = found[i, 0]
                    columns[_OF, at] = low + run
                    columns[_START, at] = start
                    columns[_LIMIT, at] = limit
                    columns[_NODE, at] = NO_LINEAGE
                    at += 1
        run += 1
    return run, at, 0


@njit(cache=True)
def _walk(columns, entries, times, steps, narrow, at):  # type: ignore[no-untyped-def]
    """The way of each entry: [run, step] its entries, -1 before its beginning; what it began with (0 for the base, else the
    step it had waited for, from 1 on) and the place there; which beginnings there are; and how many entries that is. What an
    entry tells of its run is written at once."""
    path, origin = fresh((len(entries), steps), np.int64), fresh((2, len(entries)), np.int64)
    begins, count = zeroed(steps + 1, np.bool_), 0
    for i in range(len(entries)):
        entry = entries[i]
        narrow[TIME, at + i] = times[columns[_ROW, entry]]
        narrow[START, at + i] = columns[_START, entry]
        narrow[LIMIT, at + i] = columns[_LIMIT, entry]
        narrow[PASSED, at + i] = NOTHING
        narrow[ROUND, at + i] = 1
        step = steps - 1
        while True:
            path[i, step] = entry
            count += 1
            entry = columns[_OF, entry]
            if entry < 0 or step == 0:
                break
            step -= 1
        origin[0, i] = step + 1 if entry < 0 else 0
        origin[1, i] = ~entry if entry < 0 else entry
        begins[origin[0, i]] = True
        for before in range(step):
            path[i, before] = -1
    return path, origin, begins, count


@njit(cache=True)
def _begin(origin, which, source, slots, room, at):  # type: ignore[no-untyped-def]
    """Write what runs began with, of those that began so: their nodes, and what their events do not change; of their mappings
    those slots."""
    first, rank_limit, lead, lead_rank, group, node, source_ids, source_refs, source_number, source_scale = source
    narrow, ids, refs, number, scale = room
    for i in range(origin.shape[1]):
        if origin[0, i] != which:
            continue
        run, here = origin[1, i], at + i
        narrow[FIRST, here] = first[run]
        narrow[RANK_LIMIT, here] = rank_limit[run]
        narrow[LEAD, here] = lead[run]
        narrow[LEAD_RANK, here] = lead_rank[run]
        narrow[GROUP, here] = np.int64(group[run])
        narrow[NODE, here] = node[run]
        for slot in slots:
            ids[here, slot] = source_ids[run, slot]
            refs[here, slot] = source_refs[run, slot]
            number[here, slot] = source_number[run, slot]
            scale[here, slot] = source_scale[run, slot]


@njit(cache=True)
def _along(path, span, columns, lows, table, ways, lineage, room, at, key, cells):  # type: ignore[no-untyped-def]
    """Write what runs took of one table at the steps from `span` on, the columns that bring something, each at its slot: what a
    row leaves unbound stays as it was, unless the slot is `sure` to be the row's. The nodes of a run stand one behind another.
    Returns how many nodes there are then.

    Invariant: equal events taken after one beginning are one node; entries of one run and event stand together."""
    branch, events, names, table_ids, table_refs, table_number, table_scale = table
    brought, slots, sure, parts = ways
    (left, right, node_part, node_event, node_name), size = lineage
    narrow, ids, refs, number, scale = room
    for i in range(len(path)):
        if i % 16 == 0 and heed(cells, 0):
            break
        here = at + i
        node = narrow[NODE, here]
        for step in range(span[0], span[1]):
            entry, way = path[i, step], step - span[0]
            if entry < 0:
                continue
            row = columns[_ROW, entry]
            for which in range(brought.shape[1]):
                column, slot = brought[way, which], slots[way, which]
                if column < 0:
                    break
                if sure[way, which] or table_ids[row, column] != 0:
                    ids[here, slot] = table_ids[row, column]
                    refs[here, slot] = table_refs[row, column]
                    number[here, slot] = table_number[row, column]
                    scale[here, slot] = table_scale[row, column]
            if columns[_NODE, entry] == NO_LINEAGE:
                beside = entry - 1
                same = beside >= lows[way] and columns[_OF, beside] == columns[_OF, entry]
                if same and columns[_NODE, beside] != NO_LINEAGE:
                    other = columns[_ROW, beside]
                    same = branch[other] == branch[row]
                    for position in range(events.shape[1]):
                        same = same and events[other, position] == events[row, position]
                    if same:
                        node = columns[_NODE, beside]
                else:
                    same = False
                if not same:
                    for position in range(events.shape[1]):
                        part = parts[way, branch[row], position]
                        if part >= 0:
                            left[size] = node
                            right[size] = NO_LINEAGE
                            node_part[size] = part
                            node_event[size] = events[row, position]
                            node_name[size] = names[row, position]
                            node = size
                            size += 1
                columns[_NODE, entry] = node
            node = columns[_NODE, entry]
        narrow[NODE, here] = node
        narrow[KEY, here] = np.int64(key_at(ids, here, key))
    return size
