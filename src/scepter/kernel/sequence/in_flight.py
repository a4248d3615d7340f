"""Runs in flight: within a batch a run is the one it was before and a row that it took. It is written out, with all it binds
and its events, where it stays to wait or is complete.

What a step looks at is mostly what the step before has bound. Then runs that came to one row by different ways, or at different
steps of one condition, look for the same: the row looks once for all of them, as far as any of them may go (`Link`), and each
takes what lies within its own limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.algebra.query import Selection
from scepter.kernel.rows import Int64, filled
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.forward_search import NOTHING, instants_after, key_of
from scepter.kernel.sequence.moment import Moment
from scepter.kernel.sequence.run_extension import RunExtension
from scepter.kernel.sequence.runs import Runs, Waiting
from scepter.kernel.sequence.step_search import Keyed, StepSearch
from scepter.kernel.sequence.trail import Step, Trail
from scepter.rdf.words import fresh
from scepter.timeline import MIN_INSTANT

_NO = np.empty(0, np.int64)
_IDLE = 15
"""Where columns left a verdict open, each run looks for itself in so many batches more."""
Mask = NDArray[np.bool_]


@dataclass(slots=True)
class Flight:
    """Runs that took a row of one step in this batch.

    Invariant: all columns have one length, but for runs that were made otherwise (`written_out`): those may have no rows.
    """

    row: Int64
    """What each took last, of `table`."""
    start: Int64
    limit: Int64
    table: Solutions | None = None
    runs: Runs | None = None
    """The same written out, once they are."""
    trail: Trail | None = None
    """What they took, from where they were written out last; of it the entries of `step`, which begin at `low`."""
    step: int = 0
    low: int = 0

    @classmethod
    def written_out(cls, runs: Runs, row: Int64 = _NO, table: Solutions | None = None) -> Flight:
        """Runs as they are; where they were begun, with their rows."""
        return cls(row, runs.start, runs.limit, table, runs)

    @classmethod
    def on(cls, trail: Trail) -> Flight:
        """What the last step of a trail took."""
        return cls(*trail.last(), trail.steps[-1].table, None, trail, len(trail.steps) - 1, trail.low)

    def __len__(self) -> int:
        return len(self.limit)

    @property
    def earliest(self) -> Int64:
        """When the first of them took its row: one time."""
        if self.table is None:
            assert self.runs is not None
            return filled(1, int(self.runs.time.min()))
        at = int(self.row.min())
        return self.table.time[at : at + 1]

    def going_on(self, step: Step, extend: RunExtension) -> Trail:
        """Where the next step notes what is taken, by these and by those that had waited for it."""
        trail = self.trail
        if trail is None:
            assert self.runs is not None
            trail = Trail(self.runs, extend)
        trail.begin(step)
        return trail

    def written(self, extend: RunExtension) -> Runs:
        """All of them, in this order."""
        if self.runs is None:
            assert self.trail is not None
            room, self.runs = extend.room(len(self))
            self.trail.write(self.step, np.arange(self.low, self.low + len(self)), room, 0)
        return self.runs

    def stay(self, places: Int64, waiting: Waiting, search: StepSearch, extend: RunExtension) -> None:
        """Those at some places wait for the step of a search."""
        count = len(places)
        if not count:
            return
        if self.runs is not None:
            runs = self.runs if count == len(self) else self.runs.take(places)
            waiting.append(runs, search.key_of_runs(runs))
            return
        assert self.trail is not None
        at, runs = waiting.room_for(count), waiting.columns
        room = waiting.narrow, runs.ids, runs.refs, runs.number, runs.scale
        self.trail.write(self.step, self.low + places, room, at, search.key)
        waiting.alive[at : at + count] = True
        waiting.added(count, int(runs.limit[at : at + count].min()))


class Links:
    """What rows of one table have found in another, by one condition: for this batch, for all steps that have the condition.

    Invariant: what stands from `span[row, 0]` to `span[row, 1]` in `found` is all that a row finds up to the time `reach`.
    """

    __slots__ = ("found", "next_at", "reach", "span")

    def __init__(self, size: int) -> None:
        self.reach, self.next_at = filled(size, MIN_INSTANT), filled(size, NOTHING)
        self.span: Int64 = np.zeros((size, 2), np.int64)
        self.found: Int64 = np.empty((0, 3), np.int64)
        """Rows, each with its time and its start beside it: what follows links looks at few places."""

    def add(self, rows: Int64, reach: Int64, asking: Int64, found: Int64, table: Solutions) -> None:
        """What rows, in any order, have found in a table, told in order of their places among them."""
        count = np.bincount(asking, minlength=len(rows))
        behind = np.cumsum(count) + len(self.found)
        self.span[rows, 0], self.span[rows, 1], self.reach[rows] = behind - count, behind, reach
        told = np.stack([found, table.time[found], table.start[found]], axis=1)
        self.found = np.concatenate([self.found, told]) if len(self.found) else told


class Link:
    """The search of a step that looks at nothing of a run but what its last row has bound."""

    def __init__(self, search: StepSearch, partition: tuple[int, ...]) -> None:
        """`search` takes the columns of the last step's table for those of runs; `partition` are those of the partition."""
        self._search, self._partition, self._idle = search, partition, 0

    def __call__(
        self, selection: Selection, flight: Flight, trail: Trail, table: Keyed, moment: Moment
    ) -> tuple[int, Mask] | None:
        """Notes what runs take; how many that are, and which runs need not wait. None where more than columns decides."""
        before = flight.table
        assert before is not None
        if self._idle:
            self._idle -= 1
            return None
        alike = id(before), id(table.rows), selection, self._partition, self._search.shape
        links = moment.links.setdefault(alike, Links(len(before)))
        rows, farthest = _asking(flight.row, flight.limit, links.reach, moment.by_key(before, self._search.key))
        if len(rows):
            time, ids = before.time[rows], before.ids.take(rows, axis=0)
            only = time
            if selection is Selection.STRICT:
                only = instants_after(moment.groups, moment.instants, key_of(ids, self._partition), time)
                links.next_at[rows] = only
            columns = ids, before.number.take(rows, axis=0), before.scale.take(rows, axis=0)
            found = self._search.of_rows(selection, time, columns, farthest, only, table)
            if found is None:
                self._idle = _IDLE
                return None
            links.add(rows, farthest, *found, table.rows)
        runs = flight.row, flight.start, flight.limit
        done, count = trail.follow(runs, flight.low, links.span, links.found)
        if selection is Selection.STRICT:
            next_at = links.next_at[flight.row]
            return count, (next_at != NOTHING) & (next_at <= flight.limit)
        return count, done if selection is Selection.NEXT else np.zeros(len(flight), np.bool_)


@njit(cache=True)
def _asking(row, limit, reach, order):  # type: ignore[no-untyped-def]
    """The rows that some runs took and that have to look farther than they did, each once and in this order of
    all rows, with the farthest of the limits."""
    farthest = reach.copy()
    size = 0
    for i in range(len(row)):
        if limit[i] > farthest[row[i]]:
            size += farthest[row[i]] == reach[row[i]]
            farthest[row[i]] = limit[i]
    rows, limits = fresh(size, np.int64), fresh(size, np.int64)
    if size:
        at = 0
        for r in order:
            if farthest[r] > reach[r]:
                rows[at] = r
                limits[at] = farthest[r]
                at += 1
    return rows, limits
