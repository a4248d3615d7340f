"""What an iterating run gives way to (SPAseq rule 15): GREEDY lets a further iteration go before the next atom's event,
RELUCTANT the next atom's event before a further iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.query import Selection
from scepter.kernel.rows import Int64
from scepter.kernel.sequence.forward_search import NOTHING, instants_after
from scepter.kernel.sequence.runs import Runs
from scepter.kernel.sequence.step_search import Decide, StepSearch
from scepter.physical.sequence_plan import GapPlan
from scepter.timeline import MAX_INSTANT

if TYPE_CHECKING:
    from scepter.kernel.sequence.moment import Moment


@dataclass(frozen=True, slots=True)
class Rival:
    """The search that comes first, how its events follow, and for which numbers of iterations it counts."""

    search: StepSearch
    selection: Selection
    least: int
    most: int | None
    deadlines: tuple[GapPlan, ...] = ()
    """The gap bounds of its events."""

    def concerns(self, rounds: Int64) -> NDArray[np.bool_]:
        """Which runs give way to it."""
        beneath = rounds >= self.least
        return beneath if self.most is None else beneath & (rounds < self.most)

    def held(self, runs: Runs, todo: Int64, columns: tuple[int, ...], moment: Moment, decide: Decide) -> tuple[Int64, Int64]:
        """Per run the time of the first event that the rival takes in this batch, else MAX_INSTANT; and `passed` of `todo`.

        A rival in strict contiguity has one chance, the next instant; `passed` notes that it has gone by, since a run may
        wait on over many batches.
        """
        first = np.full(len(runs), MAX_INSTANT, np.int64)
        passed = runs.passed[todo].copy()
        table = moment.keyed(self.search, columns)
        mine = self.concerns(runs.round[todo])
        keys = self.search.key_of_runs(runs)
        if self.selection is Selection.STRICT:
            at = np.full(len(runs), NOTHING, np.int64)
            following = instants_after(moment.groups, moment.instants, runs.group[todo], runs.time[todo])
            following[passed != NOTHING] = NOTHING
            seen = following != NOTHING
            at[todo] = following
            passed[seen] = following[seen]
            active = todo[mine & seen]
            got, rows = self.search(Selection.STRICT, runs, keys, active, table, at - 1, runs.limit, at, decide)
        else:
            got, rows = self.search(Selection.NEXT, runs, keys, todo[mine], table, runs.time, runs.limit, runs.time, decide)
        np.minimum.at(first, got, table.rows.time[rows])
        return first, passed
