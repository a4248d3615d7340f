"""Negations before the first step of a chain (SPAseq rule 8): a run may not begin in a window that holds what they refuse.

State: of each negated pattern, the solutions that a later run could still look back at. Runs carry the latest event that was
refused before them, since the window may only become known later.
"""

from __future__ import annotations

import numpy as np

from scepter.kernel.rows import Int64
from scepter.kernel.scan.solutions import Solutions, empty
from scepter.kernel.sequence.forward_search import NOTHING, key_of, latest_before
from scepter.kernel.sequence.key_order import sort_by_key
from scepter.kernel.sequence.moment import Moment
from scepter.kernel.sequence.run_windows import Bounds, rank_of
from scepter.kernel.sequence.runs import Runs
from scepter.kernel.sequence.step_search import Decide
from scepter.physical.sequence_plan import NegationPlan, QueryPlan

_NO = np.empty(0, np.int64)


class LeadingNegations:
    """Those of one chain; there may be none."""

    def __init__(self, plans: tuple[NegationPlan, ...], plan: QueryPlan, bounds: Bounds, decide: Decide) -> None:
        self._plans, self._plan, self._bounds, self._decide = plans, plan, bounds, decide
        self.history: list[Solutions] = [empty(len(plan.atoms[n.atom].slots)) for n in plans]
        """What is looked back at, by negation."""
        self._saved = self.history

    def look_back(self, runs: Runs, moment: Moment) -> Runs:
        """Note the latest event before each run that is refused."""
        if not self._plans:
            return runs
        lead = np.full(len(runs), NOTHING, np.int64)
        for i, plan in enumerate(self._plans):
            atom = self._plan.atoms[plan.atom]
            table = Solutions.joined([self.history[i], moment.tables[plan.atom]])
            columns = tuple(atom.slots.index(s) for s in plan.key)
            keys = key_of(table.ids, columns)
            order = sort_by_key(keys)
            rows = table.take(order)
            shared = np.array([atom.slots.index(s) for s in plan.shared], np.int64)
            if any(branch.stateful for branch in atom.branches):
                found = self._latest_refused(runs, rows, plan, shared)
            else:
                found = latest_before(
                    runs.time, key_of(runs.ids, plan.key), runs.ids, keys[order], rows.time, rows.ids,
                    np.array(plan.shared, np.int64), shared,
                )  # fmt: skip
            lead = np.maximum(lead, found)
            self.history = [*self.history[:i], self._remembered(table, moment), *self.history[i + 1 :]]
        rank = np.zeros(len(runs), np.int64)
        if moment.seen is not None:
            rank = rank_of(moment.seen, runs.group, lead, "left")
        return runs.replace(lead=lead, lead_rank=rank)

    def _latest_refused(self, runs: Runs, rows: Solutions, plan: NegationPlan, shared: Int64) -> Int64:
        """As `latest_before`, where filters name variables of optional atoms left out before: rare, so pair by pair."""
        found = np.full(len(runs), NOTHING, np.int64)
        for r in range(len(runs)):
            before = np.flatnonzero(rows.time < runs.time[r])
            for slot, column in zip(plan.shared, shared.tolist(), strict=True):
                ours, theirs = runs.ids[r, slot], rows.ids[before, column]
                before = before[(theirs == ours) | (theirs == 0) | (ours == 0)]
            accepted = before[self._decide(runs, np.full(len(before), r, np.int64), rows, before, plan.atom, False)]
            if len(accepted):
                found[r] = rows.time[accepted].max()
        return found

    def _remembered(self, table: Solutions, moment: Moment) -> Solutions:
        """The part of a negated table that a later run could still look back at."""
        if self._bounds.tumbling:
            start = self._bounds.window_start(np.array([moment.until], np.int64))[0]
            return table.take(table.time >= start)
        if self._bounds.length is not None:
            return table.take(table.time >= moment.until - self._bounds.length)
        if self._bounds.events is not None and moment.seen is not None and not self._plan.partition:
            _, every = moment.seen.get(0, (0, _NO))
            oldest = every[max(0, len(every) - self._bounds.events)] if len(every) else NOTHING
            return table.take(table.time >= oldest)
        return table

    def clear(self, runs: Runs, moment: Moment) -> Runs:
        """The runs whose window holds nothing that is refused."""
        if not self._plans or not len(runs):
            return runs
        rank = np.zeros(len(runs), np.int64)
        if moment.seen is not None:
            rank = rank_of(moment.seen, runs.group, runs.time, "right")
        return runs.take(self._bounds.leading_is_clear(runs.lead, runs.lead_rank, runs.first, runs.time, rank))

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = self.history

    def undo(self) -> None:
        """Back to `save`."""
        self.history = self._saved
