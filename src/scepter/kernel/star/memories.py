"""What is in the windows, in columns: the occurrences that patterns match, indexed for the joins of one star."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.kernel.entailment.admitted import END, EXPIRES
from scepter.kernel.interrupts import interruptible
from scepter.kernel.rows import Int64, Mask
from scepter.kernel.star.deltas import NOBODY, Indexes, Kept, Search, StaticRows, count_feeds, join_rows, rebuild, remove_rows
from scepter.kernel.star.join_plan import JoinPlan
from scepter.kernel.star.occurrence_rows import Occurring
from scepter.kernel.star.repository import StaticIndexes, StaticTriples
from scepter.kernel.state.container import Arrays
from scepter.timeline import MIN_INSTANT

_LEAST = 1 << 12
CHUNK = 1 << 13
"""So many occurrences are joined in one go: few enough for the caches, many enough for the calls not to count."""


class Memories:
    """The occurrences in order of end, in room that is used again."""

    def __init__(self, plan: JoinPlan, static: StaticTriples, streamed: int) -> None:
        self._plan = plan
        self._static = static
        self._indexes = StaticIndexes.of(static, plan)
        self._streamed = streamed
        self._saved: int | None = None
        self._instant = MIN_INSTANT
        self.size = 0
        self._fed = np.zeros(len(plan.variables), np.int64)
        """How many rows feed each pattern."""
        self._allot(_LEAST)
        self._index(0)

    def _allot(self, capacity: int) -> None:
        self.capacity = capacity
        self.rows = Occurring.room(capacity)
        self._nexts = np.empty((capacity, int(self._plan.links.max(initial=-1)) + 1), np.int32)

    def _index(self, counted: int) -> None:
        """Put all rows into new indexes, with two buckets or more for each row that one will hold when the room is used up, if
        rows go on to feed the patterns as those do that are counted."""
        most = int(self._fed.max()) * self.capacity // max(1, counted)
        self._heads = np.full((1 << max(4, (2 * most).bit_length()), len(self._plan.index_bits)), NOBODY, np.int32)
        rebuild(self.size, self._kept(), self._chains())

    def _kept(self) -> Kept:
        return Kept(self.rows.ids, self.rows.when, self.rows.feeds)

    def _chains(self) -> Indexes:
        plan = self._plan
        return Indexes(plan.index_first, plan.index_bits, plan.links, self._heads, self._nexts)

    # ---- joins

    def add(self, new: Occurring, longest: int) -> Int64:
        """Take occurrences that end at or after all that are here: the matches that they complete, [match, pattern], as row
        numbers that hold until the next call; -1 - n is the static row n. `longest` is how long any triple counts."""
        self._make_room(new)
        first, last = self.size, self.size + len(new)
        self.rows.put(first, new)
        self.size = last
        plan, static = self._plan, self._indexes
        search = Search(plan.variables, plan.steps, plan.at_once, self._streamed, len(plan.names))
        statics = StaticRows(self._static.columns.ids, static.mask, static.first, static.starts, static.rows)
        kept, chains = tuple(self._kept()), tuple(self._chains())
        given = first, last, np.uint64(longest), kept, tuple(search), chains, tuple(statics)
        found: Int64 = interruptible(join_rows, lambda: (new.when[:, END],), *given)
        return found

    # ---- instants that may be undone

    def save(self) -> None:
        self._saved = self.size

    def undo(self) -> None:
        """Take back what was added since `save`."""
        assert self._saved is not None
        remove_rows(self._saved, self.size, self._kept(), self._chains())
        self._fed -= count_feeds(self.rows.feeds[self._saved : self.size], len(self._fed))
        self.size = self._saved

    # ---- what has left its window

    def _make_room(self, new: Occurring) -> None:
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

    def _alive(self) -> Mask:
        alive: Mask = self.rows.when[: self.size, EXPIRES] >= self._instant
        return alive

    def _keep(self, alive: Mask, coming: int) -> None:
        if self._saved is not None:
            self._saved = int(alive[: self._saved].sum())
        kept = np.flatnonzero(alive)
        size = len(kept)
        capacity = max(_LEAST, 1 << (2 * (size + coming)).bit_length())
        together = bool(size) and int(kept[-1] - kept[0]) == size - 1
        rows = self.rows.part(slice(int(kept[0]), int(kept[-1]) + 1) if together else kept)
        if capacity != self.capacity:
            self._allot(capacity)
        self.rows.put(0, rows)
        self.size = size
        self._fed = count_feeds(self.rows.feeds[:size], len(self._fed))
        self._index(size)

    # ---- what is written down

    def dump(self, name: str) -> Arrays:
        """What later matches can use, columns called by themselves."""
        self.sweep()
        return {key: np.ascontiguousarray(column) for key, column in self.rows.part(slice(0, self.size)).dump().items()}

    def load(self, name: str, arrays: Arrays) -> None:
        rows = Occurring.load(arrays)
        self.size, self._saved = 0, None
        self._fed[:] = 0
        self._index(0)
        self._make_room(rows)
        self.rows.put(0, rows)
        self.size = len(rows)
        self._index(self.size)

    def tables(self) -> Sequence[Occurring]:
        """What later matches can use, not copied."""
        self.sweep()
        return (self.rows.part(slice(0, self.size)),)

    def counted(self) -> tuple[int, int]:
        """How many occurrences later matches can use, and how often they stand in patterns."""
        alive = self._alive()
        feeds = self.rows.feeds[: self.size][alive]
        return int(alive.sum()), int(np.bitwise_count(feeds).sum())
