"""Runs with one event more: its mapping, its place in the match, and what the window then still allows."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import NO_LINEAGE, Float64, Int8, Int64, UInt64, filled, mappings
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.forward_search import NOTHING, key_at
from scepter.kernel.sequence.moment import Moment
from scepter.kernel.sequence.run_windows import Bounds, limit_of, rank_of
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
    Waiting,
    allotted,
    no_runs,
)
from scepter.physical.sequence_plan import AtomPlan, Branch, QueryPlan
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.timeline import MAX_INSTANT

Room = tuple[Int64, UInt64, Int64, Float64, Int8]
"""Where runs are written: the matrix of their narrow columns, and their mappings."""


@njit(cache=True)
def bind(runs, slots, sure, table, rows):  # type: ignore[no-untyped-def]
    """Write the mappings of rows of a table into runs, each column at its slot: what a row leaves unbound stays as it was in
    the run, unless the slot is `sure` to be the row's. Mappings are tuples of ids, refs, numbers and scales."""
    run_ids, run_refs, run_number, run_scale = runs
    ids, refs, number, scale = table
    for i in range(len(rows)):
        row = rows[i]
        for column in range(len(slots)):
            slot = slots[column]
            if sure[column] or ids[row, column] != 0:
                run_ids[i, slot] = ids[row, column]
                run_refs[i, slot] = refs[row, column]
                run_number[i, slot] = number[row, column]
                run_scale[i, slot] = scale[row, column]


@njit(cache=True)
def begin(table, node, until, places, window, room, at):  # type: ignore[no-untyped-def]
    """Write a run for each row of a table, the first that it takes, into the room of runs from `at` on, where the window lets
    it go on beyond `until`: its narrow columns with its join key, its mapping, and whether it lives. Returns how many they are,
    and the least of their limits. `places` are the slots of the table's columns, its columns that make up the partition, and
    the slots of the join key.

    Invariant: what no row binds is unbound (id 0, NO_REF, NaN, NOT_A_NUMBER)."""
    times, starts, table_ids, table_refs, table_number, table_scale = table
    slots, partition, key = places
    narrow, ids, refs, number, scale, alive = room
    first, least = at, np.int64(MAX_INSTANT)
    for row in range(len(times)):
        limit = limit_of(times[row], starts[row], window)
        if limit <= until:
            continue
        least = min(least, limit)
        for slot in range(ids.shape[1]):
            ids[at, slot] = 0
            refs[at, slot] = NO_REF
            number[at, slot] = np.nan
            scale[at, slot] = NOT_A_NUMBER
        for column in range(len(slots)):
            slot = slots[column]
            ids[at, slot] = table_ids[row, column]
            refs[at, slot] = table_refs[row, column]
            number[at, slot] = table_number[row, column]
            scale[at, slot] = table_scale[row, column]
        narrow[TIME, at] = times[row]
        narrow[FIRST, at] = times[row]
        narrow[START, at] = starts[row]
        narrow[LIMIT, at] = limit
        narrow[RANK_LIMIT, at] = MAX_INSTANT
        narrow[LEAD, at] = NOTHING
        narrow[LEAD_RANK, at] = 0
        narrow[PASSED, at] = NOTHING
        narrow[GROUP, at] = np.int64(key_at(table_ids, row, partition))
        narrow[NODE, at] = node[row]
        narrow[ROUND, at] = 1
        narrow[KEY, at] = np.int64(key_at(ids, at, key))
        alive[at] = True
        at += 1
    return at - first, least


_ALL, _NO_LEAVES = slice(None), np.empty(0, np.int64)
Ways = tuple[Int64, Int64, NDArray[np.bool_], Int64]
Taken = tuple[tuple[AtomPlan, frozenset[int]], ...]
"""Steps: their atoms, and the slots that the steps before each have surely bound."""
_Numbers = tuple[tuple[int, frozenset[int]], ...]


@lru_cache(maxsize=1024)
def placed(numbers: tuple[int, ...]) -> Int64:
    """Some numbers as a column, for kernels."""
    return np.array(numbers, np.int64)


@lru_cache(maxsize=1024)
def _places(slots: tuple[int, ...], partition: tuple[int, ...], key: tuple[int, ...]) -> tuple[Int64, Int64, Int64]:
    return placed(slots), placed(partition), placed(key)


def _numbers(taken: Taken) -> _Numbers:
    return tuple((id(atom), settled) for atom, settled in taken)


class RunExtension:
    """Extends the runs of a sequence. The columns of the runs it is given are its own to write into."""

    def __init__(self, plan: QueryPlan, bounds: Bounds, lineage: Lineage, part: Callable[[str], int]) -> None:
        self._plan, self._bounds, self.lineage = plan, bounds, lineage
        self.window = bounds.window
        self._width, self._marks = len(plan.variables), len(plan.marks)
        self._none = no_runs(self._width, self._marks)
        parts = {label: part(label) for label in plan.labels}
        self._part_of = [parts[scan.label] for scan in plan.scans]
        self._ways: dict[_Numbers, Ways] = {}
        self._left: dict[_Numbers, Int64] = {}

    def nobody(self) -> Runs:
        """One run without events."""
        nothing, zero, marks = filled(1, NOTHING), np.zeros(1, np.int64), np.full((1, self._marks), NOTHING)
        return Runs(
            nothing, nothing, nothing, nothing, zero, nothing, zero, nothing, zero.view(np.uint64), filled(1, NO_LINEAGE),
            filled(1, 1), marks, *mappings(1, self._width),
        )  # fmt: skip

    def begun(
        self, table: Solutions, partition: tuple[int, ...], atom: AtomPlan, moment: Moment
    ) -> tuple[Runs, NDArray[np.bool_]]:
        """A run for each row, which is the first that it takes, where its window holds it; and which those are."""
        n = len(table)
        narrow, runs = allotted(n, self._width, self._marks)
        room = narrow, runs.ids, runs.refs, runs.number, runs.scale, np.empty(n, np.bool_)
        node = self._record(filled(n, NO_LINEAGE), table, _ALL, atom)
        self._write(table, node, partition, (), atom, NOTHING, room, 0)
        if self._marks:
            runs.marks.fill(NOTHING)
            self._marked(runs.marks, table, np.arange(n), atom)
        if moment.seen is not None:
            runs.rank_limit[:] = self._bounds.rank_limit(rank_of(moment.seen, runs.group, table.start, "left"))
        inside = self._inside(runs, moment)
        return runs.where(inside), inside

    def begin_in(
        self,
        waiting: Waiting,
        table: Solutions,
        partition: tuple[int, ...],
        key: tuple[int, ...],
        atom: AtomPlan,
        moment: Moment,
    ) -> None:
        """The same written at once where runs wait for the next step, by its join key: for rows of the last instant, behind
        which there is nothing to look at yet, and windows that count no events. The leaf of a row that is alone is the first
        step of its run as it is; several of one event have one step."""
        part, node = moment.leaves.get(id(table), (None, _NO_LEAVES))
        scans = atom.branches[0].scans
        if len(node) != 1 or len(atom.branches) > 1 or part != self._part_of[scans[0]]:
            node = self._record(filled(len(table.time), NO_LINEAGE), table, _ALL, atom)
        at, runs = waiting.room_for(len(table.time)), waiting.columns
        room = waiting.narrow, runs.ids, runs.refs, runs.number, runs.scale, waiting.alive
        waiting.added(*self._write(table, node, partition, key, atom, moment.until, room, at))

    def _write(
        self, table: Solutions, node: Int64, partition: tuple[int, ...], key: tuple[int, ...], atom: AtomPlan, until: int,
        room: tuple[Any, ...], at: int,
    ) -> tuple[int, int]:  # fmt: skip
        columns = table.time, table.start, table.ids, table.refs, table.number, table.scale
        written: tuple[int, int] = begin(
            columns, node, until, _places(atom.slots, partition, key), self._bounds.window, room, at
        )
        return written

    def __call__(
        self, old: Runs, table: Solutions, rows: Int64, atom: AtomPlan, moment: Moment, local: frozenset[int] | None = None
    ) -> Runs:
        """The runs, each with the event(s) and mapping of its row written into their columns; with `local`, by an iteration."""
        if not len(old):
            return self._none
        node = self._bound(old, table, rows, atom, local or frozenset())
        start = np.minimum(old.start, table.start[rows])
        if self._bounds.gaps:  # a run that waited had the limit of its gap bound
            limit = self._bounds.limit(old.first, start)
        else:
            limit = old.limit if self._bounds.tumbling else np.minimum(old.limit, self._bounds.limit(old.first, start))
        rank_limit = old.rank_limit
        if moment.seen is not None:
            rank_limit = np.minimum(rank_limit, self._bounds.rank_limit(rank_of(moment.seen, old.group, start, "left")))
        rounds = filled(len(rows), 1) if local is None else old.round + 1
        marks = self._marked(old.marks, table, rows, atom) if self._marks else old.marks
        runs = Runs(
            table.time[rows], old.first, start, limit, rank_limit, old.lead, old.lead_rank,
            filled(len(rows), NOTHING), old.group, node, rounds, marks, old.ids, old.refs, old.number, old.scale,
        )  # fmt: skip
        return runs.where(self._inside(runs, moment))

    def _bound(self, old: Runs, table: Solutions, rows: Int64, atom: AtomPlan, local: frozenset[int]) -> Int64:
        """Write the mapping of each run's row into its columns; returns the node of its events with those of the row."""
        sure = placed(tuple(slot in local or slot in atom.certain for slot in atom.slots))
        mapping = old.ids, old.refs, old.number, old.scale
        bind(mapping, placed(atom.slots), sure, (table.ids, table.refs, table.number, table.scale), rows)
        return self._record(old.node, table, rows, atom)

    def room(self, count: int) -> tuple[Room, Runs]:
        """Room for so many runs, and these."""
        narrow, runs = allotted(count, self._width, self._marks)
        return (narrow, runs.ids, runs.refs, runs.number, runs.scale), runs

    def left(self, taken: Taken) -> Int64:
        """The slots that some steps may leave as they are."""
        numbers = _numbers(taken)
        found = self._left.get(numbers)
        if found is None:
            written = frozenset[int]().union(*(atom.certain - settled for atom, settled in taken))
            found = self._left[numbers] = placed(tuple(slot for slot in range(self._width) if slot not in written))
        return found

    def ways(self, taken: Taken) -> Ways:
        """Where each of some steps, all of one table, writes what it takes. By step the columns that bring what was not settled
        before, -1 behind the last; the slot of each, and whether it is the row's in any case. By step, branch and scan of the
        branch the part, -1 beyond its scans."""
        numbers = _numbers(taken)
        found = self._ways.get(numbers)
        if found is None:
            atoms = [atom for atom, _ in taken]
            bring = [
                [(column, slot, slot in atom.certain) for column, slot in enumerate(atom.slots) if slot not in settled]
                for atom, settled in taken
            ]
            columns = np.full((3, len(taken), max(map(len, bring))), -1, np.int64)
            for step, each in enumerate(bring):
                columns[:, step, : len(each)] = np.array(each, np.int64).reshape(-1, 3).T
            branches = [branch for atom in atoms for branch in atom.branches]
            shape = len(atoms), max(len(atom.branches) for atom in atoms), max(len(branch.scans) for branch in branches)
            parts = np.full(shape, -1, np.int64)
            for step, atom in enumerate(atoms):
                for number, branch in enumerate(atom.branches):
                    parts[step, number, : len(branch.scans)] = [self._part_of[scan] for scan in branch.scans]
            found = self._ways[numbers] = columns[0], columns[1], columns[2].astype(np.bool_), parts
        return found

    def _inside(self, runs: Runs, moment: Moment) -> NDArray[np.bool_]:
        """Which are in their windows, which bound matches, not what an event may follow: an interval that is too long is
        accepted, and leads nowhere."""
        inside = runs.time <= runs.limit
        if moment.seen is not None:
            inside &= rank_of(moment.seen, runs.group, runs.time, "right") <= runs.rank_limit
        return inside

    def _record(self, parent: Int64, table: Solutions, rows: Int64 | slice, atom: AtomPlan) -> Int64:
        """The nodes of the events just taken."""
        if len(atom.branches) == 1:
            scans = atom.branches[0].scans
            if len(scans) == 1 and not self._plan.aggregated:
                part, events, names = self._part_of[scans[0]], table.events[rows, 0], table.names[rows, 0]
                return self.lineage.stepped(parent, part, events, names)
            return self._steps(parent, table, rows, atom, atom.branches[0])
        node, places = parent.copy(), np.arange(len(table))[rows]
        for number, branch in enumerate(atom.branches):
            of = np.flatnonzero(table.branch[places] == number)
            node[of] = self._steps(node[of], table, places[of], atom, branch)
        return node

    def _steps(self, node: Int64, table: Solutions, rows: Int64 | slice, atom: AtomPlan, branch: Branch) -> Int64:
        for position, scan in enumerate(branch.scans):
            label = self._plan.scans[scan].label
            values = self._aggregated_values(label, atom, table, rows) if self._plan.aggregated else None
            events, names = table.events[rows, position], table.names[rows, position]
            node = self.lineage.stepped(node, self._part_of[scan], events, names, values)
        return node

    def _marked(self, marks: Int64, table: Solutions, rows: Int64, atom: AtomPlan) -> Int64:
        """The marks with the times of the events just taken."""
        for column, mark in enumerate(self._plan.marks):
            for number, branch in enumerate(atom.branches):
                if all(self._plan.scans[scan].label != mark.label for scan in branch.scans):
                    continue
                of = table.branch[rows] == number if len(atom.branches) > 1 else np.ones(len(rows), np.bool_)
                if mark.first:
                    of &= marks[:, column] == NOTHING
                marks[of, column] = table.time[rows[of]]
        return marks

    def _aggregated_values(self, label: str, atom: AtomPlan, table: Solutions, rows: Int64 | slice) -> Int64:
        values = np.full((len(table.time[rows]), len(self._plan.aggregated)), -1, np.int64)
        for i, (part, slot) in enumerate(self._plan.aggregated):
            if part == label and slot in atom.slots:
                column = atom.slots.index(slot)
                bound = table.ids[rows, column] != 0
                values[bound, i] = table.refs[rows, column][bound]
        return values
