"""Runs with one event more: its mapping, its place in the match, and what the window then still allows."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import NO_LINEAGE, filled, mappings
from scepter.kernel.scan.solutions import Int64, Solutions, UInt64
from scepter.kernel.sequence.forward_search import NOTHING
from scepter.kernel.sequence.moment import Moment
from scepter.kernel.sequence.run_windows import Bounds, rank_of
from scepter.kernel.sequence.runs import Runs, no_runs
from scepter.physical.sequence_plan import AtomPlan, Branch, QueryPlan
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.words import fresh, zeroed


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
def spread(table, slots, width):  # type: ignore[no-untyped-def]
    """The mappings of a table in so many columns, each at its slot; the others are unbound."""
    table_ids, table_refs, table_number, table_scale = table
    n = len(table_ids)
    ids, refs = zeroed((n, width), np.uint64), fresh((n, width), np.int64)
    number, scale = fresh((n, width), np.float64), fresh((n, width), np.int8)
    for i in range(n):
        for slot in range(width):
            refs[i, slot] = NO_REF
            number[i, slot] = np.nan
            scale[i, slot] = NOT_A_NUMBER
        for column in range(len(slots)):
            slot = slots[column]
            ids[i, slot] = table_ids[i, column]
            refs[i, slot] = table_refs[i, column]
            number[i, slot] = table_number[i, column]
            scale[i, slot] = table_scale[i, column]
    return ids, refs, number, scale


_ALL = slice(None)


@lru_cache(maxsize=1024)
def _placed(numbers: tuple[int, ...]) -> Int64:
    return np.array(numbers, np.int64)


class RunExtension:
    """Extends the runs of a sequence. The columns of the runs it is given are its own to write into."""

    def __init__(self, plan: QueryPlan, bounds: Bounds, lineage: Lineage, part: Callable[[str], int]) -> None:
        self._plan, self._bounds, self._lineage = plan, bounds, lineage
        self._width, self._marks = len(plan.variables), len(plan.marks)
        self._none = no_runs(self._width, self._marks)
        self._parts = {label: part(label) for label in plan.labels}

    def nobody(self) -> Runs:
        """One run without events."""
        nothing, zero, marks = filled(1, NOTHING), np.zeros(1, np.int64), np.full((1, self._marks), NOTHING)
        return Runs(
            nothing, nothing, nothing, nothing, zero, nothing, zero, nothing, zero.view(np.uint64), filled(1, NO_LINEAGE),
            filled(1, 1), marks, *mappings(1, self._width),
        )  # fmt: skip

    def begun(self, table: Solutions, group: UInt64, atom: AtomPlan, moment: Moment) -> tuple[Runs, NDArray[np.bool_]]:
        """A run for each row, which is the first that it takes, where its window holds it; and which those are."""
        time, start, n = table.time, table.start, len(table.time)
        before = time if moment.seen is None else rank_of(moment.seen, group, start, "left")
        nothing, marks = filled(n, NOTHING), np.empty((n, self._marks), np.int64)
        if self._marks:
            marks.fill(NOTHING)
            marks = self._marked(marks, table, np.arange(n), atom)
        runs = Runs(
            time, time, start, self._bounds.limit(time, start), self._bounds.rank_limit(before), nothing, filled(n, 0),
            nothing, group, self._record(filled(n, NO_LINEAGE), table, _ALL, atom), filled(n, 1), marks,
            *spread((table.ids, table.refs, table.number, table.scale), _placed(atom.slots), self._width),
        )  # fmt: skip
        inside = self._inside(runs, moment)
        return runs.where(inside), inside

    def __call__(
        self, old: Runs, table: Solutions, rows: Int64, atom: AtomPlan, moment: Moment, local: frozenset[int] | None = None
    ) -> Runs:
        """The runs, each with the event(s) and mapping of its row written into their columns; with `local`, by an iteration."""
        if not len(old):
            return self._none
        node = self.bound(old, table, rows, atom, local or frozenset())
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

    def bound(self, old: Runs, table: Solutions, rows: Int64, atom: AtomPlan, local: frozenset[int] = frozenset()) -> Int64:
        """Write the mapping of each run's row into its columns; returns the node of its events with those of the row."""
        sure = _placed(tuple(slot in local or slot in atom.certain for slot in atom.slots))
        mapping = old.ids, old.refs, old.number, old.scale
        bind(mapping, _placed(atom.slots), sure, (table.ids, table.refs, table.number, table.scale), rows)
        return self._record(old.node, table, rows, atom)

    def reaching(self, start: Int64, limit: Int64) -> tuple[Int64, Int64]:
        """The least starts of runs, and the limits that their windows then set, where nothing else bounds them."""
        return start, limit if self._bounds.tumbling else np.minimum(limit, self._bounds.limit(start, start))

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
            node = self._lineage.stepped(node, self._parts[label], events, names, values)
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
