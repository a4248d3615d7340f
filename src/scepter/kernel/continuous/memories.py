"""What is in the windows, in columns: the occurrences that patterns match, indexed for the joins of one query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.continuous.admitted import END, EVENT, EXPIRES, Admitted
from scepter.kernel.continuous.deltas import NOBODY, count_feeds, join_rows, note_rows, rebuild, remove_rows
from scepter.kernel.continuous.joins import JoinPlan
from scepter.kernel.continuous.repository import StaticIndexes, StaticTriples
from scepter.kernel.solutions import Int64
from scepter.timeline import MIN_INSTANT

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
        self._instant = MIN_INSTANT
        self.size = 0
        self._fed = np.zeros(len(plan.variables), np.int64)
        """How many rows feed each pattern."""
        self._allot(_LEAST)
        self._index(0)

    def _allot(self, capacity: int) -> None:
        self.capacity = capacity
        self.rows = Admitted.room(capacity)
        self.more = np.full(capacity, NOBODY, np.int32)
        self._carrier = np.full(capacity, NOBODY, np.int32)
        self._nexts = np.empty((capacity, int(self._plan.links.max(initial=-1)) + 1), np.int32)

    def _index(self, counted: int) -> None:
        """Put all rows into new indexes, with two buckets or more for each row that one will hold when the room is used up, if
        rows go on to feed the patterns as those do that are counted."""
        plan, rows = self._plan, self.rows
        most = int(self._fed.max()) * self.capacity // max(1, counted)
        self._heads = np.full((1 << max(4, (2 * most).bit_length()), len(plan.index_bits)), NOBODY, np.int32)
        rebuild(
            self.size, rows.ids, rows.feeds, rows.when, self._carrier,
            plan.index_first, plan.index_bits, plan.links, self._heads, self._nexts,
        )  # fmt: skip

    # ---- joins

    def add(self, new: Admitted, longest: int) -> Int64:
        """Take occurrences that end at or after all that are here: the matches that they complete, [match, pattern], as row
        numbers that hold until the next call; -1 - n is the static row n. `longest` is how long any stream's triples count."""
        self._longest = max(self._longest, longest)
        self._make_room(new)
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
            plan.variables, plan.steps, plan.at_once, plan.index_first, plan.index_bits, plan.links, self._heads, self._nexts,
            self._static.columns.ids, static.mask, static.first, static.starts, static.rows, len(plan.names),
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
            plan.index_first, plan.index_bits, plan.links, self._heads, self._nexts,
        )  # fmt: skip
        self._fed -= count_feeds(rows.feeds[self._saved : self.size], len(self._fed))
        self.size, self._saved = self._saved, None

    # ---- what has left its window

    def _make_room(self, new: Admitted) -> None:
        """When the room is used up, what is dead goes; half of the room is free then, so that each row is moved about once."""
        if self.size + len(new) > self.capacity:
            self._keep(self._alive(), len(new))
        self._fed += count_feeds(new.feeds, len(self._fed))
        if int(self._fed.max()) > len(self._heads):
            self._index(self.size + len(new))

    def release(self, instant: int) -> None:
        """What no match that ends at an instant or later can use may go."""
        self._instant = max(self._instant, instant)

    def sweep(self) -> None:
        """Let go of all that may go."""
        alive = self._alive()
        if not alive.all():
            self._keep(alive, CHUNK)

    def _alive(self) -> NDArray[np.bool_]:
        when, carrier = self.rows.when[: self.size], self._carrier[: self.size]
        # what ends now stays, even if its window is over: it may be seen again
        alive = (when[:, EXPIRES] >= self._instant) | (when[:, END] >= self._instant)
        repeated = carrier != NOBODY
        alive[repeated] = alive[carrier[repeated]]
        return alive

    def _keep(self, alive: NDArray[np.bool_], coming: int) -> None:
        rows, more, carrier = self.rows, self.more[: self.size], self._carrier[: self.size]
        moved = np.cumsum(alive) - 1
        if self._saved is not None:
            self._saved = int(alive[: self._saved].sum())
        kept = np.flatnonzero(alive)
        size = len(kept)
        capacity = max(_LEAST, 1 << (2 * (size + coming)).bit_length())
        if capacity != self.capacity:
            self._allot(capacity)
        stretch = slice(int(kept[0]), int(kept[-1]) + 1) if size and int(kept[-1] - kept[0]) == size - 1 else kept
        for column, old in zip(self.rows.columns(), rows.columns(), strict=True):
            column[:size] = old[stretch]
        self.more[:size] = _moved(more[stretch], moved, alive)
        self._carrier[:size] = _moved(carrier[stretch], moved, alive)
        self.size = size
        self._fed = count_feeds(self.rows.feeds[:size], len(self._fed))
        self._index(size)

    # ---- how much there is

    def counted(self) -> tuple[int, int]:
        """How many occurrences later matches can use, and how often they stand in patterns."""
        alive = (self.rows.when[: self.size, EXPIRES] >= self._instant) & (self._carrier[: self.size] == NOBODY)
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


def _moved(refs: NDArray[np.int32], moved: Int64, alive: NDArray[np.bool_]) -> Int64:
    """Row numbers after some rows are gone; what points at those points at nobody."""
    known = (refs != NOBODY) & alive[refs]
    return np.where(known, moved[refs], NOBODY)
