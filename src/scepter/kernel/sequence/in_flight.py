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
from scepter.kernel.interrupts import interruptible
from scepter.kernel.rows import filled
from scepter.kernel.scan.solutions import Int64, Solutions
from scepter.kernel.sequence.forward_search import NOTHING, instants_after, key_of
from scepter.kernel.sequence.moment import Moment
from scepter.kernel.sequence.run_extension import RunExtension
from scepter.kernel.sequence.runs import Runs
from scepter.kernel.sequence.step_search import Keyed, StepSearch
from scepter.physical.sequence_plan import AtomPlan
from scepter.rdf.lengthening import lengthened
from scepter.rdf.words import fresh, heed
from scepter.timeline import MIN_INSTANT

_NO = np.empty(0, np.int64)
_IDLE = 15
"""Where columns left a verdict open, each run looks for itself in so many batches more."""
Mask = NDArray[np.bool_]


@dataclass(slots=True)
class Flight:
    """Runs that took a row of one step in this batch.

    Invariant: all columns have one length, but for runs that were made otherwise (`written_out`): those are `runs` alone.
    """

    row: Int64
    """What each took last, of `table`."""
    of: Int64
    """Which it was before: a place in `before`; below zero, of `waited`, from the last place on."""
    start: Int64
    limit: Int64
    table: Solutions | None = None
    atom: AtomPlan | None = None
    before: Flight | None = None
    waited: Runs | None = None
    """Those that had waited for the step, as they stood there when it began."""
    runs: Runs | None = None
    """The same written out, once they are."""

    @classmethod
    def written_out(cls, runs: Runs, row: Int64 = _NO, table: Solutions | None = None) -> Flight:
        """Runs as they are; where they were begun, with their rows."""
        return cls(row, _NO, runs.start, runs.limit, table, runs=runs)

    def __len__(self) -> int:
        return len(self.limit)

    @property
    def time(self) -> Int64:
        """When each took it."""
        if self.runs is not None:
            return self.runs.time
        assert self.table is not None
        return self.table.time[self.row]

    def written(self, extend: RunExtension) -> Runs:
        """All of them, in this order; `row` and what else there is are then put in the order in which they are written."""
        if self.runs is None:
            self.runs, order = self.taken(np.arange(len(self)), extend)
            if order is not None:
                self.row, self.of, self.start, self.limit = (c[order] for c in (self.row, self.of, self.start, self.limit))
        return self.runs

    def taken(self, places: Int64, extend: RunExtension) -> tuple[Runs, Int64 | None]:
        """Those at some places, written out, and the order they then have among these, if it is another. Those that began, or
        had waited, at one step go the same way."""
        if self.runs is not None:
            return (self.runs if len(places) == len(self) else self.runs.take(places)), None
        path = list[tuple[Flight, Int64]]()
        """Of each step from the last on: what those took whose way is not yet at its beginning."""
        parts, orders = list[Runs](), list[Int64]()
        who, at, flight = np.arange(len(places)), places, self
        while flight.runs is None:
            path.append((flight, np.full(len(places), -1, np.int64)))
            path[-1][1][who] = flight.row[at]
            of = flight.of[at]
            waited = of < 0
            if waited.any():
                assert flight.waited is not None
                orders.append(who[waited])
                parts.append(self._along(flight.waited.take(~of[waited]), path, places, orders[-1], extend))
                who, of = who[~waited], of[~waited]
            if not len(who) or flight.before is None:
                break
            at, flight = of, flight.before
        if flight.runs is not None and len(who):
            orders.append(who)
            parts.append(self._along(flight.runs.take(at), path, places, who, extend))
        if not parts:
            return extend.nobody().between(0, 0), None
        return Runs.joined(parts), None if len(parts) == 1 else np.concatenate(orders)

    def _along(self, old: Runs, path: list[tuple[Flight, Int64]], places: Int64, who: Int64, extend: RunExtension) -> Runs:
        everyone = len(who) == len(places)
        for flight, rows in reversed(path):
            assert flight.table is not None and flight.atom is not None
            old.node = extend.bound(old, flight.table, rows if everyone else rows[who], flight.atom)
        here = places if everyone else places[who]
        assert self.table is not None
        return old.replace(
            time=self.table.time[self.row[here]], start=self.start[here], limit=self.limit[here],
            passed=filled(len(here), NOTHING), round=filled(len(here), 1),
        )  # fmt: skip

    def gone_on(
        self, atom: AtomPlan, table: Solutions, waited: Runs, found: tuple[Int64, Int64], rows: tuple[Int64, Int64],
        extend: RunExtension,
    ) -> Flight:  # fmt: skip
        """The runs that took a row of the next step: of those that had waited for it, and of these; `found` are their places.
        Windows bound matches, not what an event may follow: an interval that is too long is accepted, and leads nowhere."""
        own = (_NO, _NO) if not len(found[1]) else (self.start[found[1]], self.limit[found[1]])
        start, limit = (
            np.concatenate([column[found[0]], mine]) for column, mine in zip((waited.start, waited.limit), own, strict=True)
        )
        of, row = np.concatenate([~found[0], found[1]]), np.concatenate(rows)
        start, limit = extend.reaching(np.minimum(start, table.start[row]), limit)
        inside = table.time[row] <= limit
        if not inside.all():
            row, of, start, limit = row[inside], of[inside], start[inside], limit[inside]
        return Flight(row, of, start, limit, table, atom, self, waited)


class Links:
    """What rows of one table have found in another, by one condition: for this batch, for all steps that have the condition.

    Invariant: what stands at `first` in `found`, so many as `count` says, is all that a row finds up to the time `reach`.
    """

    __slots__ = ("count", "first", "found", "next_at", "reach")

    def __init__(self, size: int) -> None:
        self.reach, self.first = filled(size, MIN_INSTANT), np.zeros(size, np.int64)
        self.count, self.next_at = np.zeros(size, np.int64), filled(size, NOTHING)
        self.found = _NO

    def add(self, rows: Int64, reach: Int64, asking: Int64, found: Int64) -> None:
        """What rows have found, told in order of their places among them."""
        count = np.bincount(asking, minlength=len(rows))
        self.first[rows], self.count[rows], self.reach[rows] = np.cumsum(count) - count + len(self.found), count, reach
        self.found = np.concatenate([self.found, found])


class Link:
    """The search of a step that looks at nothing of a run but what its last row has bound."""

    def __init__(self, search: StepSearch, partition: tuple[int, ...]) -> None:
        """`search` takes the columns of the last step's table for those of runs; `partition` are those of the partition."""
        self._search, self._partition, self._idle = search, partition, 0

    def __call__(self, selection: Selection, flight: Flight, table: Keyed, moment: Moment) -> tuple[Int64, Int64, Mask] | None:
        """The accepted pairs (place of the run, row), and which runs need not wait; None where more than columns decides."""
        before = flight.table
        assert before is not None
        if self._idle:
            self._idle -= 1
            return None
        alike = id(before), id(table.rows), selection, self._partition, self._search.shape
        links = moment.links.setdefault(alike, Links(len(before)))
        rows, farthest = _asking(flight.row, flight.limit, links.reach)
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
            links.add(rows, farthest, *found)
        times = table.rows.time
        given = flight.row, flight.limit, links.first, links.count, links.found, times
        of, at = interruptible(_following, lambda: (times,), *given)
        if selection is Selection.STRICT:
            next_at = links.next_at[flight.row]
            return of, at, (next_at != NOTHING) & (next_at <= flight.limit)
        done = np.zeros(len(flight), np.bool_)
        if selection is Selection.NEXT:
            done[of] = True
        return of, at, done


@njit(cache=True)
def _asking(row, limit, reach):  # type: ignore[no-untyped-def]
    """The rows that some runs took and that have to look farther than they did, each once, with the farthest of the limits."""
    farthest = reach.copy()
    size = 0
    for i in range(len(row)):
        if limit[i] > farthest[row[i]]:
            size += farthest[row[i]] == reach[row[i]]
            farthest[row[i]] = limit[i]
    rows, limits = fresh(size, np.int64), fresh(size, np.int64)
    if size:
        at = 0
        for r in range(len(reach)):
            if farthest[r] > reach[r]:
                rows[at] = r
                limits[at] = farthest[r]
                at += 1
    return rows, limits


@njit(cache=True)
def _following(row, limit, first, count, found, times, cells):  # type: ignore[no-untyped-def]
    """Each run with what was found for its row, as far as its limit."""
    out, taken, size = fresh(max(64, len(row)), np.int64), fresh(max(64, len(row)), np.int64), np.int64(0)
    for i in range(len(row)):
        if i % 16 == 0 and heed(cells, size):
            break
        begin = first[row[i]]
        for at in range(begin, begin + count[row[i]]):
            if times[found[at]] <= limit[i]:
                if size == len(out):
                    out, taken = lengthened(out, size), lengthened(taken, size)
                out[size] = i
                taken[size] = found[at]
                size += 1
    return out[:size], taken[:size]
