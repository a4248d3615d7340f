"""The rows of one side of a time join: columns that grow, and where the rows of a key are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.rows import COLUMNS, NO_LINEAGE, Int64, Mappings, Mask, Rows, UInt64, empty, lasting
from scepter.kernel.state.container import Arrays
from scepter.kernel.time_join.sweep import Chains, Side, clear, enter, link_all, link_some, unlink

_LEAST = 64
_MANY = 1_000
_ROOM = 4
"""A table has room for at most so many times the rows it had when it was last compacted."""


class Table:
    """Rows in order of end, by key.

    `rows[:size]` are those taken; the last of them, from `mark` on, may be taken back. Compaction keeps the order.
    """

    def __init__(self, width: int, keys: tuple[int, ...], loose: tuple[int, ...]) -> None:
        self._keys = list(keys)
        self._loose = list(loose)
        self._columns: dict[str, NDArray[Any]] = {name: getattr(empty(width), name).copy() for name in COLUMNS}
        self.size = 0
        self._mark = 0
        self._key_ids: UInt64 = np.empty((0, len(keys)), np.uint64)
        self._loose_ids: UInt64 = np.empty((0, len(loose)), np.uint64)
        self._chains = chains_of(0, len(keys))
        self._kept = 0

    def __len__(self) -> int:
        """The rows that can be found."""
        return int(np.count_nonzero(self.linked))

    # ---- rows in and out

    def add(self, rows: Rows) -> Side:
        """Take new rows, which the sweep then links."""
        first, count = self.size, len(rows)
        if not count:
            return self._side(first)
        size = first + count
        self._room(size)
        for name in COLUMNS:
            if count == 1:  # a row costs a third of a stretch of rows
                self._columns[name][first] = getattr(rows, name)[0]
            else:
                self._columns[name][first:size] = getattr(rows, name)
        self._key_ids[first:size] = rows.ids[:, self._keys]
        if self._loose:
            self._loose_ids[first:size] = rows.ids[:, self._loose]
        self.size = size
        return self._side(first)

    def reserve(self, size: int) -> None:
        """Room for so many rows."""
        self._room(size)

    @property
    def mappings(self) -> Mappings:
        """The columns of mappings with all their room, for whoever writes rows and links them by `side`."""
        columns = self._columns
        return Mappings(columns["ids"], columns["refs"], columns["number"], columns["scale"])

    def accept(self, size: int) -> None:
        """Rows up to a size were written and linked; they last, and nobody is shown what they were made of."""
        first, self.size = self.size, size
        self._columns["since"][first:size], self._columns["until"][first:size] = lasting(size - first)
        self._columns["lineage"][first:size] = NO_LINEAGE

    def link(self, first: int) -> None:
        """Make the rows from a place on findable, where no sweep does."""
        link_all(self._side(first), first, self.size, True, False)

    @property
    def since(self) -> Int64:
        """From when each row is there."""
        column: Int64 = self._columns["since"][: self.size]
        return column

    @property
    def side(self) -> Side:
        """What a search looks at."""
        return self._side(self.size)

    def _side(self, first: int) -> Side:
        return Side(self._key_ids, self._loose_ids, self._columns["start"], self._columns["end"], self._chains, first)

    def _room(self, size: int) -> None:
        """At least so many rows, and an entry for each."""
        known = len(self._key_ids)
        if size <= known:
            return
        capacity = max(_LEAST, size, 2 * known)
        self._columns = {name: grown(column, self.size, capacity) for name, column in self._columns.items()}
        self._key_ids = grown(self._key_ids, self.size, capacity)
        self._loose_ids = grown(self._loose_ids, self.size, capacity)
        self._relink(capacity)

    def _relink(self, capacity: int) -> None:
        """Chains of another size, with the rows that were linked."""
        linked = np.flatnonzero(self.linked)
        self._chains = chains_of(capacity, len(self._keys))
        link_some(self._side(0), linked)

    def relink(self) -> None:
        """Link all rows, also those that could not be found."""
        self._chains = chains_of(len(self._key_ids), len(self._keys))
        link_all(self._side(0), 0, self.size, True, False)

    @property
    def width(self) -> int:
        """How many variables a row has room for."""
        return int(self._columns["ids"].shape[1])

    def take(self, places: Int64) -> Rows:
        """Rows by their places."""
        return Rows(*(self._columns[name].take(places, axis=0) for name in COLUMNS))

    # ---- instants that may be undone

    def save(self) -> None:
        self._mark = self.size

    def undo(self) -> None:
        self.truncate(self._mark)

    def truncate(self, size: int) -> None:
        """Forget the newest rows."""
        unlink(self._side(size), size, self.size)
        self.size = size

    # ---- what is let go

    @property
    def is_due(self) -> bool:
        """Whether a look for rows to let go pays: of many there are twice as many as were kept last time."""
        return self.size > self._kept + (self._kept if self._kept > _MANY else self._kept // 4 + 2)

    @property
    def start(self) -> Int64:
        """When each row starts."""
        column: Int64 = self._columns["start"][: self.size]
        return column

    @property
    def end(self) -> Int64:
        """When each row ends."""
        column: Int64 = self._columns["end"][: self.size]
        return column

    @property
    def linked(self) -> Mask:
        """Which rows can be found."""
        return self._chains.entry[: self.size] >= 0

    def ids(self, columns: tuple[int, ...]) -> UInt64:
        """[row, column]."""
        found: UInt64 = self._columns["ids"][: self.size][:, list(columns)]
        return found

    @property
    def key_ids(self) -> UInt64:
        """[row, variable of the key]."""
        return self._key_ids[: self.size]

    @property
    def key_refs(self) -> Int64:
        """[row, variable of the key]: where the texts stand."""
        found: Int64 = self._columns["refs"][: self.size][:, self._keys]
        return found

    def keep(self, wanted: Mask) -> Int64:
        """Let go of all other rows, and of those that cannot be found; the places that the others had. The room stays, unless
        it is much more than was used: it will be used again."""
        places = np.flatnonzero(wanted & self.linked)
        self._kept = len(places)
        if len(places) == self.size:
            return places
        room = len(self._key_ids) if len(self._key_ids) <= _ROOM * self.size else len(places)
        self._mark = int(np.searchsorted(places, self._mark))
        self._columns = {name: moved(column, places, room) for name, column in self._columns.items()}
        self._key_ids = moved(self._key_ids, places, room)
        self._loose_ids = moved(self._loose_ids, places, room)
        self.size = len(places)
        self._chains = chains_of(room, len(self._keys), self._chains)
        link_all(self._side(0), 0, self.size, True, False)
        return places

    # ---- state

    def dump(self, name: str) -> Arrays:
        """The rows that can be found, as arrays under a name."""
        return self.take(np.flatnonzero(self.linked)).dump(name)

    def load(self, name: str, arrays: Arrays) -> None:
        self.truncate(0)
        self.add(Rows.load(arrays, name))
        link_all(self._side(0), 0, self.size, True, False)
        self._mark = self._kept = self.size

    def tables(self) -> Sequence[Rows]:
        return (Rows(*(self._columns[name][: self.size] for name in COLUMNS)),)

    def lineage(self) -> Int64:
        """What its rows were made of."""
        found: Int64 = self._columns["lineage"][: self.size]
        return found


class Seen:
    """Rows of numbers that have come before."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._room = _LEAST
        self._chains = chains_of(self._room, width)

    def new(self, keys: UInt64) -> Mask:
        """Which rows have not come before; from now on they have."""
        known = int(self._chains.sizes[0])
        if known + len(keys) > self._room:
            old = self._chains.keys[:known]
            self._room = 2 * (known + len(keys))
            self._chains = chains_of(self._room, self._width)
            enter(self._chains, old, np.empty(known, np.bool_))
        found: Mask = np.empty(len(keys), np.bool_)
        enter(self._chains, keys, found)
        return found


def grown(column: NDArray[Any], size: int, capacity: int) -> NDArray[Any]:
    """A column with its first rows, and room for more."""
    found = np.empty((capacity, *column.shape[1:]), column.dtype)
    found[:size] = column[:size]
    return found


def moved(column: NDArray[Any], places: Int64, room: int) -> NDArray[Any]:
    """A column with the rows of some places first, in its own memory where it has the room asked for."""
    kept = column.take(places, axis=0)
    if room != len(column):
        return grown(kept, len(places), room)
    column[: len(places)] = kept
    return column


def chains_of(capacity: int, keys: int, before: Chains | None = None) -> Chains:
    """Empty ones, with room for so many rows; `before` is no longer used, and is taken if it has that room."""
    if before is not None and len(before.entry) == capacity:
        clear(before)
        return before
    slots = 1 << max(4, int(2 * capacity - 1).bit_length())
    return Chains(
        np.full(slots, -1, np.int64),
        np.empty((capacity, keys), np.uint64),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.full(capacity, -1, np.int64),
        np.zeros(2, np.int64),
    )
