"""What is in the windows, in columns: the occurrences that patterns match, indexed for the joins of one query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.continuous.admitted import END, EVENT, EXPIRES, Admitted
from scepter.kernel.continuous.deltas import NOBODY, join_rows, note_rows, rebuild, remove_rows
from scepter.kernel.continuous.joins import JoinPlan
from scepter.kernel.continuous.repository import StaticIndexes, StaticTriples
from scepter.kernel.solutions import Int64

_LEAST = 1 << 12
CHUNK = 1 << 13
"""So many occurrences are joined in one go: few enough for the caches, many enough for the calls not to count."""


class Memories:
    """The occurrences in order of time. Rows that are one more sighting of an occurrence stand behind it (`carrier`), chained
    from it (`more`)."""

    def __init__(self, plan: JoinPlan, static: StaticTriples, streamed: int) -> None:
        self._plan = plan
        self._static = static
        self._indexes = StaticIndexes.of(static, plan)
        self._streamed = streamed
        self._longest = 0
        self._saved: int | None = None
        self._swept = 0
        self.size = 0
        self._allot(_LEAST)

    def _allot(self, capacity: int) -> None:
        self.capacity = capacity
        self.rows = Admitted.room(capacity)
        self.more = np.full(capacity, NOBODY, np.int64)
        self._carrier = np.full(capacity, NOBODY, np.int64)
        self._heads = np.full((len(self._plan.index_bits), capacity), NOBODY, np.int64)
        self._nexts = np.empty_like(self._heads)

    # ---- joins

    def add(self, new: Admitted, longest: int) -> Int64:
        """Take occurrences that end at or after all that are here: the matches that they complete, [match, pattern], as row
        numbers that hold until the next call; -1 - n is the static row n. `longest` is how long any stream's triples count."""
        self._longest = max(self._longest, longest)
        self._make_room(len(new))
        first, last = self.size, self.size + len(new)
        for column, added in zip(self.rows.columns(), new.columns(), strict=True):
            column[first:last] = added
        self.more[first:last] = NOBODY
        self._carrier[first:last] = NOBODY
        self.size = last
        end = self.rows.when[:last, END]
        begin = int(np.searchsorted(end[:first], end[first])) if len(new) else first
        seen = np.full(_seen_size(end[begin:]), NOBODY, np.int64)
        rows, plan, static = self.rows, self._plan, self._indexes
        note_rows(begin, first, seen, rows.ids, rows.when, self._carrier)
        found: Int64 = join_rows(
            first, last, begin, np.uint64(self._longest), self._streamed, seen,
            rows.ids, rows.when, rows.feeds, self.more, self._carrier,
            plan.variables, plan.steps, plan.index_first, plan.index_bits, self._heads, self._nexts,
            self._static.ids, static.mask, static.first, static.starts, static.rows, len(plan.names),
        )  # fmt: skip
        return found

    # ---- instants that may be undone

    def open(self) -> None:
        """What is added from now on can be taken back."""
        if self._saved is None:
            self._saved = self.size

    def commit(self) -> None:
        """Keep what was added."""
        self._saved = None

    def undo(self) -> None:
        """Take back what was added since `open`."""
        if self._saved is None:
            return
        rows, plan = self.rows, self._plan
        remove_rows(
            self._saved, self.size, rows.ids, rows.feeds, rows.when, self.more, self._carrier,
            plan.index_first, plan.index_bits, self._heads, self._nexts,
        )  # fmt: skip
        self.size, self._saved = self._saved, None

    # ---- what has left its window

    def _make_room(self, more: int) -> None:
        if self.size + more <= self.capacity:
            return
        capacity = self.capacity
        while self.size + more > capacity:
            capacity *= 2
        self._keep(np.ones(self.size, np.bool_), capacity)

    def release(self, instant: int) -> None:
        """Let go of what no match that ends later can use, once that is worth the work: never more than half is dead."""
        if self.size > 2 * self._swept + CHUNK:
            self.sweep(instant)

    def sweep(self, instant: int) -> None:
        """Let go of what no match that ends later can use. What ends later itself stays: it may be seen again."""
        alive = self._alive(instant)
        capacity = _LEAST
        while capacity < 2 * int(alive.sum()) + CHUNK:
            capacity *= 2
        if not alive.all():
            self._keep(alive, capacity)
        self._swept = self.size

    def _alive(self, instant: int) -> NDArray[np.bool_]:
        when, carrier = self.rows.when[: self.size], self._carrier[: self.size]
        alive = (when[:, EXPIRES] >= instant) | (when[:, END] >= instant)
        repeated = carrier != NOBODY
        alive[repeated] = alive[carrier[repeated]]
        return alive

    def _keep(self, alive: NDArray[np.bool_], capacity: int) -> None:
        rows, more, carrier = self.rows, self.more[: self.size], self._carrier[: self.size]
        moved = np.cumsum(alive) - 1
        if self._saved is not None:
            self._saved = int(alive[: self._saved].sum())
        kept = np.flatnonzero(alive)
        self._allot(capacity)
        for column, old in zip(self.rows.columns(), rows.columns(), strict=True):
            column[: len(kept)] = old[kept]
        self.more[: len(kept)] = _moved(more[kept], moved, alive)
        self._carrier[: len(kept)] = _moved(carrier[kept], moved, alive)
        self.size = len(kept)
        plan = self._plan
        rebuild(
            self.size, self.rows.ids, self.rows.feeds, self.rows.when, self._carrier,
            plan.index_first, plan.index_bits, self._heads, self._nexts,
        )  # fmt: skip

    # ---- how much there is

    def counted(self, instant: int) -> tuple[int, int]:
        """How many occurrences a match that ends at an instant or later can use, and how often they stand in patterns."""
        alive = (self.rows.when[: self.size, EXPIRES] >= instant) & (self._carrier[: self.size] == NOBODY)
        feeds = self.rows.feeds[: self.size][alive]
        return int(alive.sum()), int(np.bitwise_count(feeds).sum())

    def events(self) -> Int64:
        """The numbers of the events that the occurrences come from."""
        return self.rows.source[: self.size, EVENT]


def _seen_size(ends: Int64) -> int:
    """A table for the occurrences of one instant, the largest of some: at most half full."""
    bounds = np.flatnonzero(np.diff(ends)) + 1
    largest = int(np.diff(np.concatenate([[0], bounds, [len(ends)]])).max())
    return 1 << (2 * largest).bit_length()


def _moved(refs: Int64, moved: Int64, alive: NDArray[np.bool_]) -> Int64:
    """Row numbers after some rows are gone; what points at those points at nobody."""
    known = (refs != NOBODY) & alive[refs]
    return np.where(known, moved[refs], NOBODY)
