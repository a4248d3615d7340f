"""Groups of solutions over time in columns: the fast twin of `grouping` for solutions that come as runs.

A group's members are the rows of one table of numbers, in the order of rule 12 (spec/20-ep-sparql): by end, start, mapping.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from scepter.kernel.runs import Runs
from scepter.kernel.solutions import Float64, Int64, UInt64
from scepter.kernel.texts import Texts
from scepter.kernel.timed.shaping import result_order
from scepter.kernel.timed.solutions import Timed
from scepter.rdf.distinct import distinct
from scepter.rdf.terms import Term

_END, _START, _TERMS = 0, 1, 2
"""The first columns; then, each for all variables: ids, refs, bits of numbers, scales."""


@dataclass(frozen=True, slots=True)
class Members:
    """Solutions, a row each."""

    names: Sequence[str]
    rows: Int64

    @classmethod
    def of(cls, runs: Runs, names: Sequence[str]) -> Members:
        """Complete runs."""
        bits = np.ascontiguousarray(runs.number).view(np.int64)
        when = np.column_stack([runs.time, runs.start])
        ids = np.ascontiguousarray(runs.ids).view(np.int64)
        return cls(names, np.concatenate([when, ids, runs.refs, bits, runs.scale.astype(np.int64)], axis=1))

    def __len__(self) -> int:
        return len(self.rows)

    def _block(self, number: int) -> Int64:
        width = len(self.names)
        return self.rows[:, _TERMS + number * width : _TERMS + (number + 1) * width]

    @property
    def end(self) -> Int64:
        """When each ends."""
        return self.rows[:, _END]

    @property
    def start(self) -> Int64:
        """When each starts."""
        return self.rows[:, _START]

    @property
    def ids(self) -> UInt64:
        """[solution, variable]."""
        return np.ascontiguousarray(self._block(0)).view(np.uint64)

    @property
    def refs(self) -> Int64:
        """[solution, variable]: a view."""
        return self._block(1)

    def numbers(self, name: str) -> tuple[Float64, Int64]:
        """A variable's numbers, and how exact they are (`rdf.batch`)."""
        column = self.names.index(name)
        return np.ascontiguousarray(self._block(2)[:, column]).view(np.float64), np.ascontiguousarray(self._block(3)[:, column])

    def term(self, row: int, name: str, texts: Texts) -> Term:
        """What a solution binds a variable to."""
        column = self.names.index(name)
        return texts.known(int(self._block(1)[row, column]), int(self._block(0)[row, column].view(np.uint64)))

    def timed(self, row: int, texts: Texts) -> Timed:
        """A solution as terms."""
        return Timed({name: self.term(row, name, texts) for name in self.names}, int(self.start[row]), int(self.end[row]))


@dataclass(frozen=True, slots=True)
class Entered:
    """Groups that solutions have entered: result i is that of the members from `low[i]` to before `high[i]`."""

    members: Members
    low: Int64
    high: Int64

    @property
    def end(self) -> Int64:
        """When each result was entered last."""
        return self.members.end[self.high - 1]

    @property
    def start(self) -> Int64:
        """The hull's: the least start of a result's members."""
        least: Int64 = _least(self.low, self.high, np.ascontiguousarray(self.members.start))
        return least


class Groups:
    """The members of each group that a later result can need, over all solutions, the last `rows`, or those of a duration."""

    def __init__(
        self, names: Sequence[str], keys: Sequence[str], texts: Texts, rows: int | None = None, duration: int | None = None
    ) -> None:
        self._names = tuple(names)
        self._keys = [_TERMS + self._names.index(key) for key in keys]
        self._texts = texts
        self._limit = rows
        self._duration = duration
        self._members: dict[bytes, Int64] = {}
        self._before: dict[bytes, Int64 | None] | None = None
        """What was there at `save`, of the groups that were entered since."""
        self._ends: deque[tuple[int, bytes]] = deque()

    def enter(self, runs: Runs) -> Entered:
        """Solutions of instants that have passed, later than all before: a result for each group and end among them."""
        new = Members.of(runs, self._names).rows
        first, place = distinct(new[:, self._keys])
        groups = [new[row, self._keys].tobytes() for row in first.tolist()]
        known = [self._members.get(group, new[:0]) for group in groups]
        rows = np.concatenate([*known, new])
        group = np.concatenate([np.repeat(np.arange(len(groups)), [len(each) for each in known]), place])
        order = np.lexsort((rows[:, _START], rows[:, _END], group))
        rows, group, fresh = rows[order], group[order], order >= len(rows) - len(new)
        self._settle_ties(rows, group)
        last = np.append((group[1:] != group[:-1]) | (rows[1:, _END] != rows[:-1, _END]), True)
        bounds = np.searchsorted(group, np.arange(len(groups) + 1))
        high = np.flatnonzero(last & fresh) + 1
        low = self._lowest(rows, bounds[group[high - 1]], high)
        self._keep(groups, rows, bounds)
        return Entered(Members(self._names, rows), low, high)

    def _settle_ties(self, rows: Int64, group: Int64) -> None:
        """Solutions of one interval and group by their mappings."""
        tied = (group[1:] == group[:-1]) & (rows[1:, _END] == rows[:-1, _END]) & (rows[1:, _START] == rows[:-1, _START])
        if not tied.any():
            return
        members = Members(self._names, rows)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], tied, [False]]).astype(np.int8)))
        for low, high in edges.reshape(-1, 2).tolist():
            places = range(low, high + 1)
            rows[low : high + 1] = rows[sorted(places, key=lambda row: result_order(members.timed(row, self._texts)))]

    def _lowest(self, rows: Int64, first: Int64, high: Int64) -> Int64:
        """Where the window of each result begins in its group."""
        if self._limit is not None:
            return np.maximum(first, high - self._limit)
        if self._duration is not None:
            found: Int64 = _after(np.ascontiguousarray(rows[:, _END]), first, high, self._duration)
            return found
        return first

    def _keep(self, groups: list[bytes], rows: Int64, bounds: Int64) -> None:
        for number, group in enumerate(groups):
            low, high = int(bounds[number]), int(bounds[number + 1])
            if self._limit is not None:
                low = max(low, high - self._limit)
            if self._before is not None:
                self._before.setdefault(group, self._members.get(group))
            if self._duration is not None:
                end = int(rows[high - 1, _END])
                low += int(np.searchsorted(rows[low:high, _END], end - self._duration, side="right"))
                self._ends.append((end, group))
            self._members[group] = rows[low:high].copy()

    def release(self, now: int) -> None:
        """Let go what has left the window."""
        if self._duration is None:
            return
        while self._ends and self._ends[0][0] <= now + 1 - self._duration:
            _, group = self._ends.popleft()
            if (rows := self._members.get(group)) is not None and rows[-1, _END] <= now + 1 - self._duration:
                del self._members[group]

    def save(self) -> None:
        """What is entered from here on may be undone."""
        self._before = {}

    def undo(self) -> None:
        """Back to `save`."""
        for group, rows in (self._before or {}).items():
            if rows is None:
                self._members.pop(group, None)
            else:
                self._members[group] = rows
        self._before = {}

    def commit(self) -> None:
        """Keep what was entered."""
        self._before = None

    def __len__(self) -> int:
        return sum(map(len, self._members.values()))

    def refs(self) -> Iterator[Int64]:
        """The refs of all members, to be exchanged in place."""
        return (Members(self._names, rows).refs for rows in self._members.values())


@njit(cache=True)
def _least(low, high, values):  # type: ignore[no-untyped-def]
    found = np.empty(len(low), np.int64)
    for i in range(len(low)):
        at = low[i]
        found[i] = values[at]
        if i > 0 and low[i] == low[i - 1]:  # a window that has only grown: results come in order of group and time
            at = high[i - 1]
            found[i] = found[i - 1]
        for row in range(at, high[i]):
            found[i] = min(found[i], values[row])
    return found


@njit(cache=True)
def _after(end, first, high, duration):  # type: ignore[no-untyped-def]
    """Per result: the first member of its group that ends less than the duration before the last."""
    found = np.empty(len(high), np.int64)
    for i in range(len(high)):
        low = first[i]
        if i > 0 and first[i] == first[i - 1]:
            low = found[i - 1]
        while end[low] <= end[high[i] - 1] - duration:
            low += 1
        found[i] = low
    return found
