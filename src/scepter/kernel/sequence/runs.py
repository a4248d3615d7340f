"""Runs (partial matches) in columns, and those that wait for their next event."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from scepter.inner import shared
from scepter.kernel.column_table import ColumnTable
from scepter.kernel.rows import Float64, Int8, Int64, UInt64, filled
from scepter.rdf.lengthening import lengthened
from scepter.rdf.words import fresh
from scepter.timeline import MAX_INSTANT


@dataclass(slots=True)
class Runs(ColumnTable):
    """One row per run; the two-dimensional columns have one row per run and one column per slot."""

    time: Int64
    """Time of the last event."""
    first: Int64
    """Time of the first event."""
    start: Int64
    """Least start of its events."""
    limit: Int64
    """The last time at which the window lets it go on."""
    rank_limit: Int64
    """The last count of events at which the window lets it go on."""
    lead: Int64
    """Time of the latest event that a leading negation would refuse."""
    lead_rank: Int64
    """Events before `lead`."""
    passed: Int64
    """For a negation before strict contiguity: the next instant, seen and free of the negated events."""
    group: UInt64
    """The partition."""
    node: Int64
    """The last of its events, in the tree of nodes."""
    round: Int64
    """How many iterations of the atom taken last there were."""
    marks: Int64
    """One column per mark of the plan: the time of the event it speaks of, NOTHING before there is one."""
    ids: UInt64
    refs: Int64
    number: Float64
    scale: Int8

    def __len__(self) -> int:
        return len(self.time)

    def where(self, mask: NDArray[np.bool_]) -> Runs:
        """The runs where a mask is true; they themselves where it is so for all."""
        return self if bool(mask[0] if len(mask) == 1 else mask.all()) else self.take(mask)


_NAMES = Runs.NAMES
KEY = _NAMES.index("marks")
"""The narrow columns are those before it; in a matrix of them, their join keys stand here."""
TIME, FIRST, START, LIMIT, RANK_LIMIT, LEAD, LEAD_RANK, PASSED, GROUP, NODE, ROUND = range(KEY)
_every = attrgetter(*_NAMES)
_TYPES = {"group": np.uint64, "ids": np.uint64, "number": np.float64, "scale": np.int8}
_WIDE = frozenset(("ids", "refs", "number", "scale"))


def no_runs(width: int, marks: int = 0) -> Runs:
    """No rows."""
    columns = dict.fromkeys(_WIDE, width) | {"marks": marks}
    return Runs(*(np.empty((0, columns[n]) if n in columns else 0, _TYPES.get(n, np.int64)) for n in _NAMES))


def allotted(capacity: int, width: int, marks: int = 0) -> tuple[Int64, Runs]:
    """Room for so many runs: its narrow columns are the rows of one matrix, their join keys the last; so a kernel that writes
    runs is given few arrays."""
    narrow, shape = np.empty((KEY + 1, capacity), np.int64), (capacity, width)
    columns = [narrow[i].view(np.uint64) if name == "group" else narrow[i] for i, name in enumerate(_NAMES[:KEY])]
    mapping = np.empty(shape, np.uint64), np.empty(shape, np.int64), np.empty(shape), np.empty(shape, np.int8)
    return narrow, Runs(*(*columns, np.empty((capacity, marks), np.int64), *mapping))


@shared
def of_keys(wanted, keys, alive, newest, before, linked, size):  # type: ignore[no-untyped-def]
    """The live rows that have one of the wanted keys, which are sorted, in order. Rows of one remainder of keys are a chain,
    from the `newest` to the one `before` it, and so on; those from `linked` on are put into theirs first."""
    remainder = np.uint64(len(newest) - 1)
    for row in range(linked, size):
        chain = np.int64(keys[row] & remainder)
        before[row] = newest[chain]
        newest[chain] = row
    found, count = fresh(64, np.int64), 0
    for i in range(len(wanted)):
        key = wanted[i]
        if i and key == wanted[i - 1]:
            continue
        first = count
        row = newest[np.int64(key & remainder)]
        while row >= 0:
            if keys[row] == key and alive[row]:
                if count == len(found):
                    found = lengthened(found, count)
                found[count] = row
                count += 1
            row = before[row]
        for at in range((count - first) // 2):  # a chain goes from the newest to the oldest
            newer = found[first + at]
            found[first + at] = found[count - 1 - at]
            found[count - 1 - at] = newer
    turned = 0
    for at in range(1, count):
        if found[at] < found[at - 1]:
            turned += 1
    gap = 1  # by Shell's sort, where the rows of several keys are to be put in order
    while 3 * gap < count:
        gap = 3 * gap + 1
    if turned == 0:
        gap = 0
    while gap > 0:
        for i in range(gap, count):
            row, at = found[i], i
            while at >= gap and found[at - gap] > row:
                found[at] = found[at - gap]
                at -= gap
            found[at] = row
        gap //= 3
    return found[:count].copy()


_NO_CHAINS = np.empty(0, np.int64)


class Waiting:
    """Runs that wait, with their join keys: append, kill, and undo back to a savepoint.

    Dead rows stay in place until `sweep`. While an instant is open, a row that is killed lives on until it is closed: what else
    comes at the same time finds it too (skip-till-next takes all that continue a run at one time). So a savepoint is a length,
    the list of those killed since, and what stood where something was written over.
    """

    def __init__(self, width: int, marks: int = 0) -> None:
        self._width, self._marks = width, marks
        self._size = 0
        self._allot(0)
        self._dead = 0
        self._newest, self._before, self._linked = _NO_CHAINS, _NO_CHAINS, 0
        """The chains of the first so many rows by their keys, made when they are asked for."""
        self._bounds, self._bounded = np.empty((0, 0)), 0
        """What the search for their next events needs of the first so many rows' values; alike."""
        self._saved: tuple[int, list[Int64], list[tuple[str, Int64, Int64]]] | None = None
        self._earliest: int | None = None
        """A lower bound of the live runs' limits: nothing can expire before it."""

    def _allot(self, capacity: int) -> None:
        self.narrow, self.columns = allotted(capacity, self._width, self._marks)
        """All rows, dead ones too, and the room behind them; the narrow ones as one matrix."""
        self.keys: UInt64 = self.narrow[KEY].view(np.uint64)
        """The join keys of all rows, and the room behind them."""
        self.alive: NDArray[np.bool_] = np.empty(capacity, np.bool_)
        """Which rows live, and the room behind them."""

    def __len__(self) -> int:
        return self._size - self._dead

    @property
    def runs(self) -> Runs:
        """All rows, dead ones too: a view."""
        return Runs(*[getattr(self.columns, n)[: self._size] for n in _NAMES])

    @property
    def key(self) -> UInt64:
        """The join keys of all rows: a view."""
        return self.keys[: self._size]

    def live(self, mask: NDArray[np.bool_] | None = None) -> Int64:
        """The places of the live rows (where a mask over all rows is true)."""
        alive = self.alive[: self._size]
        return np.flatnonzero(alive if mask is None else alive & mask)

    def of_keys(self, keys: UInt64) -> Int64:
        """The places of the live rows that have one of some keys (sorted), in order. Costs what is found, and once per row."""
        newest, before, linked, size = self.chains()
        places: Int64 = of_keys(keys, self.keys, self.alive, newest, before, linked, size)
        return places

    def chains(self) -> tuple[Int64, Int64, int, int]:
        """What `of_keys` is given behind the rows, all of which it links."""
        linked, size = self._linked, self._size
        if size > len(self._newest):
            self._newest = filled(1 << (2 * size).bit_length(), -1)
            self._before, linked = np.empty_like(self._newest), 0
        self._linked = size
        return self._newest, self._before, linked, size

    def bounds(self, width: int) -> tuple[Float64, int]:
        """Room for so many numbers of each row, and of how many they are known; the caller adds those of the others."""
        size, known = self._size, self._bounded
        if size > len(self._bounds):
            grown = np.empty((len(self.alive), width))
            if known:
                grown[:known] = self._bounds[:known]
            self._bounds = grown
        self._bounded = size
        return self._bounds, known

    def room_for(self, count: int) -> int:
        """Where so many rows more can be written; they are there when `added` says so."""
        size = self._size + count
        if size > len(self.alive):
            self._move(slice(self._size), max(size, 2 * len(self.alive), 64))
        return self._size

    def added(self, count: int, earliest: int) -> None:
        """So many rows more have been written, the least of their limits is `earliest`."""
        if count:
            self._size += count
            self._earliest = earliest if self._earliest is None else min(self._earliest, earliest)

    def append(self, runs: Runs, key: UInt64) -> None:
        """Add rows."""
        count = len(runs)
        if not count:
            return
        at = self.room_for(count)
        columns, given = _every(self.columns), _every(runs)
        if count == 1:  # a row costs a third of a stretch of rows
            for column, each in zip(columns, given, strict=True):
                column[at] = each[0]
            self.keys[at], self.alive[at] = key[0], True
        else:
            for column, each in zip(columns, given, strict=True):
                column[at : at + count] = each
            self.keys[at : at + count], self.alive[at : at + count] = key, True
        self.added(count, int(runs.limit[0] if count == 1 else runs.limit.min()))

    def _move(self, rows: Int64 | slice, capacity: int) -> None:
        """Take some rows, in order, to new room."""
        narrow, alive, wide = self.narrow[:, rows], self.alive[rows], [column[rows] for column in _every(self.columns)[KEY:]]
        self._allot(capacity)
        size = len(alive)
        self.narrow[:, :size], self.alive[:size] = narrow, alive
        for column, old in zip(_every(self.columns)[KEY:], wide, strict=True):
            column[:size] = old

    def kill(self, rows: Int64) -> None:
        """Mark rows as dead."""
        if not len(rows):
            return
        if self._saved is not None:
            self._saved[1].append(rows)
            return
        self.alive[rows] = False
        self._dead += len(rows)

    def assign(self, name: str, rows: Int64, values: Int64) -> None:
        """Write a column of some rows."""
        column = getattr(self.columns, name)
        if self._saved is not None:
            self._saved[2].append((name, rows, column[rows]))
        column[rows] = values

    def expired(self, until: int) -> Int64:
        """The live rows whose limit is not beyond `until`."""
        if self._earliest is None or self._earliest > until:
            return np.empty(0, np.int64)
        limit = self.columns.limit[: self._size]
        rows = self.live(limit <= until)
        if self._saved is None:
            later = limit[self.live(limit > until)]
            self._earliest = int(later.min()) if len(later) else None
        return rows

    def rests(self, until: int) -> bool:
        """Whether no live row has a limit up to `until`, told at no cost; it may be so where this is false."""
        return self._earliest is None or self._earliest > until

    def first_limit(self) -> int | None:
        """The least limit of the live rows; None without one, or if none of them has a limit."""
        rows = self.live()
        if not len(rows):
            return None
        least = int(self.runs.limit[rows].min())
        return None if least == MAX_INSTANT else least

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = (self._size, [], [])

    def commit(self) -> None:
        """Keep what was done since `save`, and sweep when more rows are dead than alive."""
        killed, self._saved = self._saved and self._saved[1], None
        if killed:
            self.kill(np.unique(np.concatenate(killed)))
        if self._dead > 256 and self._dead * 2 > self._size:
            self.sweep()

    def undo(self) -> None:
        """Back to `save`; stays saved."""
        if self._saved is None:
            return
        size, _, written = self._saved
        for name, rows, old in reversed(written):
            getattr(self.columns, name)[rows] = old
        self._size, self._saved = size, (size, [], [])
        self._bounded = min(self._bounded, size)
        if size < self._linked:
            self._unlink()

    def _unlink(self) -> None:
        self._newest, self._before, self._linked = _NO_CHAINS, _NO_CHAINS, 0

    def sweep(self) -> None:
        """Drop the dead rows for good."""
        if not self._dead:
            return
        rows = self.live()
        self._move(rows, max(64, len(rows) + len(rows) // 2))
        self._size, self._dead, self._bounded = len(rows), 0, 0
        self._unlink()


def merged(runs: Runs) -> Runs:
    """Runs with the same events and the same mapping are one: iterations that differ only in values bound anew since.

    Of those that is kept which a leading negation refused the longest ago: it is clear of it wherever another one is.
    """
    if len(np.unique(runs.node)) == len(runs):
        return runs
    rows = np.concatenate([runs.node[:, None].view(np.uint64), runs.ids], axis=1)
    earliest = np.argsort(runs.lead, kind="stable")
    _, first = np.unique(rows[earliest], axis=0, return_index=True)
    return runs if len(first) == len(runs) else runs.take(np.sort(earliest[first]))
