"""Runs with one event more: its mapping, its place in the match, and what the window then still allows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import NO_LINEAGE, mappings
from scepter.kernel.scan.solutions import Int64, Solutions, UInt64
from scepter.kernel.sequence.forward_search import NOTHING
from scepter.kernel.sequence.moment import Moment
from scepter.kernel.sequence.run_windows import Bounds, rank_of
from scepter.kernel.sequence.runs import Runs, no_runs
from scepter.physical.sequence_plan import AtomPlan, QueryPlan


class RunExtension:
    """Extends the runs of a sequence. The columns of the runs it is given are its own to write into."""

    def __init__(self, plan: QueryPlan, bounds: Bounds, lineage: Lineage, part: Callable[[str], int]) -> None:
        self._plan, self._bounds, self._lineage = plan, bounds, lineage
        self._width, self._marks = len(plan.variables), len(plan.marks)
        self._none = no_runs(self._width, self._marks)
        self._parts = {label: part(label) for label in plan.labels}

    def blank(self, n: int) -> Runs:
        """Runs without events."""
        nothing, zero, marks = np.empty(n, np.int64), np.zeros(n, np.int64), np.empty((n, self._marks), np.int64)
        nothing.fill(NOTHING)
        marks.fill(NOTHING)
        ids, refs, number, scale = mappings(n, self._width)
        return Runs(
            time=nothing, first=nothing, start=nothing, limit=nothing, rank_limit=zero, lead=nothing, lead_rank=zero,
            passed=nothing, group=zero.view(np.uint64), node=zero + NO_LINEAGE, round=zero + 1, marks=marks,
            ids=ids, refs=refs, number=number, scale=scale,
        )  # fmt: skip

    def begun(self, table: Solutions, group: UInt64, atom: AtomPlan, moment: Moment) -> Runs:
        """A run for each row, which is the first that it takes."""
        n = len(table)
        before = np.zeros(n, np.int64) if moment.seen is None else rank_of(moment.seen, group, table.start, "left")
        limit, rank_limit = self._bounds.limit(table.time, table.start), self._bounds.rank_limit(before)
        blank = self.blank(n).replace(first=table.time, start=table.start, limit=limit, rank_limit=rank_limit, group=group)
        return self(blank, table, np.arange(n), atom, moment)

    def __call__(
        self, old: Runs, table: Solutions, rows: Int64, atom: AtomPlan, moment: Moment, local: frozenset[int] | None = None
    ) -> Runs:
        """The runs, each with the event(s) and mapping of its row written into their columns; with `local`, by an iteration."""
        again, local = local is not None, local or frozenset()
        if not len(old):
            return self._none
        ids, refs, number, scale = old.ids, old.refs, old.number, old.scale
        slots = list(atom.slots)
        sure = all(slot in local or slot in atom.certain for slot in slots)
        if sure:
            ids[:, slots], refs[:, slots] = table.ids.take(rows, axis=0), table.refs.take(rows, axis=0)
            number[:, slots], scale[:, slots] = table.number.take(rows, axis=0), table.scale.take(rows, axis=0)
        for column, slot in () if sure else enumerate(slots):
            new = table.ids[rows, column]
            bound = slice(None) if slot in local or slot in atom.certain else new != 0
            at = rows[bound]
            ids[bound, slot] = new[bound]
            refs[bound, slot] = table.refs[at, column]
            number[bound, slot] = table.number[at, column]
            scale[bound, slot] = table.scale[at, column]
        start = np.minimum(old.start, table.start[rows])
        if self._bounds.gaps:  # a run that waited had the limit of its gap bound
            limit = self._bounds.limit(old.first, start)
        else:
            limit = old.limit if self._bounds.tumbling else np.minimum(old.limit, self._bounds.limit(old.first, start))
        rank_limit = old.rank_limit
        if moment.seen is not None:
            rank_limit = np.minimum(rank_limit, self._bounds.rank_limit(rank_of(moment.seen, old.group, start, "left")))
        node = self._record(old.node, table, rows, atom)
        rounds = old.round + 1 if again else np.ones(len(rows), np.int64)
        passed = np.empty(len(rows), np.int64)
        passed.fill(NOTHING)
        marks = self._marked(old.marks, table, rows, atom) if self._marks else old.marks
        runs = Runs(
            table.time[rows], old.first, start, limit, rank_limit, old.lead, old.lead_rank,
            passed, old.group, node, rounds, marks, ids, refs, number, scale,
        )  # fmt: skip
        # the window bounds matches, not what an event may follow: an interval that is too long is accepted, and leads nowhere
        inside = runs.time <= runs.limit
        if moment.seen is not None:
            inside &= rank_of(moment.seen, runs.group, runs.time, "right") <= runs.rank_limit
        return runs if bool(inside.all()) else runs.take(inside)

    def _record(self, parent: Int64, table: Solutions, rows: Int64, atom: AtomPlan) -> Int64:
        node = parent.copy()
        for number, branch in enumerate(atom.branches):
            for position, scan in enumerate(branch.scans):
                of = np.flatnonzero(table.branch[rows] == number) if len(atom.branches) > 1 else slice(None)
                label = self._plan.scans[scan].label
                at = rows[of]
                values = self._aggregated_values(label, atom, table, at)
                part = self._parts[label]
                node[of] = self._lineage.stepped(node[of], part, table.events[at, position], table.names[at, position], values)
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

    def _aggregated_values(self, label: str, atom: AtomPlan, table: Solutions, rows: Int64) -> Int64:
        values = np.full((len(rows), len(self._plan.aggregated)), -1, np.int64)
        for i, (part, slot) in enumerate(self._plan.aggregated):
            if part == label and slot in atom.slots:
                column = atom.slots.index(slot)
                bound = table.ids[rows, column] != 0
                values[bound, i] = table.refs[rows, column][bound]
        return values
