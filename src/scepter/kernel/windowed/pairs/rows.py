"""The event mappings of both sides of a sequence, in columns that grow and are compacted."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.kernel.windowed.content import LandmarkBounds, TimeBounds

Int64 = NDArray[np.int64]
UInt64 = NDArray[np.uint64]

COUNT, ENTERING, OLDEST, HEAD, TAIL = range(5)
"""Places in `Side.at`: how many rows, the first one that is ahead of the window, the first that may be inside, and the ends of
the list of all mappings."""
(
    START,
    END,
    ITEM,
    SLOT,
    PLACE,
    HOLDER,
    COPIES,
    TWIN,
    BEFORE,
    AFTER,
    EARLIER,
    LATER,
    PARTNER,
    CHOSEN_BEFORE,
    CHOSEN_AFTER,
    ACROSS,
) = range(16)
"""Columns of `Side.rows`."""
FIRST, LAST, MARKED = range(3)
"""Columns of `Side.slots`: the ends of a key's list, and whether the key is to be looked at."""
STANDS_FOR_OTHERS, OUTSIDE, INSIDE, DOOMED = -1, 0, 1, 2
"""Values of PLACE: consumed while other items still give its mapping; not in the window; in it; in it for the last time."""
_SAME_SIDE = [HOLDER, TWIN, BEFORE, AFTER, EARLIER, LATER, CHOSEN_BEFORE, CHOSEN_AFTER]
_OTHER_SIDE = [PARTNER, ACROSS]
"""Columns whose values are rows."""
_NONE = -1
_ROOM = 1024
_T = TypeVar("_T", np.int64, np.uint64)


class Side(NamedTuple):
    """One side as the compiled steps see it. Rows are in order of end, start and arrival; one row per item and mapping.

    - Rows of equal mappings have one HOLDER, the first of them, which stands for the mapping while COPIES of them are inside
      the window; TWIN is the next of them.
    - Holders of equal key, that is of one SLOT, are a list (BEFORE, AFTER), and all are one (EARLIER, LATER); both in order.
    - The PARTNER of a right row is the first of the left ones it is paired with; that of a left row is the first right one that
      chose it, and CHOSEN_BEFORE and CHOSEN_AFTER are the neighbours of a right row among those.
    - ACROSS is the first row of the same item on the other side.
    """

    bounds: Int64
    """Whether it is a landmark; width or start; step."""
    at: Int64
    rows: Int64
    slots: Int64


class Arrivals(NamedTuple):
    """Rows to append to a side, in order."""

    start: Int64
    end: Int64
    item: Int64
    name: Int64
    """Ref of the event's name."""
    key: UInt64
    ids: UInt64
    refs: Int64

    def __len__(self) -> int:
        return len(self.end)


class PairRows:
    """Both sides, and the terms of their mappings."""

    def __init__(
        self, bounds: tuple[LandmarkBounds | TimeBounds, LandmarkBounds | TimeBounds], widths: tuple[int, int]
    ) -> None:
        self._slots = Slots(_ROOM)
        self.sides = [_side(_ROOM, _ROOM, _numbers(each), np.array([0, 0, 0, _NONE, _NONE])) for each in bounds]
        self.ids: list[UInt64] = [np.zeros((_ROOM, width), np.uint64) for width in widths]
        self.refs: list[Int64] = [np.zeros((_ROOM, width), np.int64) for width in widths]
        self.names: list[Int64] = [np.zeros(_ROOM, np.int64) for _ in widths]
        self.selected: Int64 = np.empty((0, 2), np.int64)
        """The pairs of rows that the last evaluation selected, where a policy selects."""
        self.doomed: Int64 = np.empty((0, 2), np.int64)
        """(side, row) of the items that it consumed: the next evaluation does not see them."""

    def append(self, arrivals: tuple[Arrivals, Arrivals]) -> None:
        """Take rows that are later than all before. The rows of one item come together, also those of both sides."""
        self._make_room((len(arrivals[0]), len(arrivals[1])))
        bases = [int(side.at[COUNT]) for side in self.sides]
        for which, (side, new) in enumerate(zip(self.sides, arrivals, strict=True)):
            if not len(new):
                continue
            low, high = bases[which], bases[which] + len(new)
            rows = side.rows[low:high]
            rows[...] = _NONE
            rows[:, START], rows[:, END], rows[:, ITEM] = new.start, new.end, new.item
            rows[:, SLOT] = self._slots.assign(new.key)
            rows[:, PLACE], rows[:, COPIES] = OUTSIDE, 0
            rows[:, HOLDER], rows[:, TWIN] = _holders(new, low)
            rows[:, ACROSS] = _first_of(arrivals[1 - which].item, new.item, bases[1 - which])
            self.ids[which][low:high], self.refs[which][low:high], self.names[which][low:high] = new.ids, new.refs, new.name
            side.at[COUNT] = high

    def _make_room(self, new: tuple[int, int]) -> None:
        full = any(side.at[COUNT] + more > len(side.rows) for side, more in zip(self.sides, new, strict=True))
        if not full and self._slots.count + sum(new) <= len(self.sides[0].slots):
            return
        keep = [needed(side) for side in self.sides]
        rows = max(int(kept.sum()) + more for kept, more in zip(keep, new, strict=True))
        self.compact(keep, 2 * rows, 2 * (int(keep[0].sum()) + int(keep[1].sum()) + sum(new)))

    def compact(self, keep: list[NDArray[np.bool_]], rows: int, slots: int) -> None:
        """Keep some rows, with room for so many, and the slots that they need."""
        kept = [side.rows[: len(mask)][mask] for side, mask in zip(self.sides, keep, strict=True)]
        moved = [np.where(mask, np.cumsum(mask) - 1, _NONE) for mask in keep]
        live = np.unique(np.concatenate([each[:, SLOT] for each in kept]))
        rows, slots = max(_ROOM, rows), max(_ROOM, slots)
        self._slots = self._slots.kept(live, slots)
        for which, old in enumerate(self.sides):
            mask, table, own, other = keep[which], kept[which], moved[which], moved[1 - which]
            edges = [mask.sum(), mask[: old.at[ENTERING]].sum(), mask[: old.at[OLDEST]].sum()]
            new = _side(rows, slots, old.bounds, np.array([*edges, *_renamed(old.at[HEAD:], own)]))
            table[:, _SAME_SIDE], table[:, _OTHER_SIDE] = (
                _renamed(table[:, _SAME_SIDE], own),
                _renamed(table[:, _OTHER_SIDE], other),
            )
            table[:, SLOT] = np.searchsorted(live, table[:, SLOT])
            new.rows[: len(table)] = table
            new.slots[: len(live), :MARKED] = _renamed(old.slots[live, :MARKED], own)
            self.sides[which] = new
            self.ids[which] = _resized(self.ids[which][: len(mask)][mask], rows)
            self.refs[which] = _resized(self.refs[which][: len(mask)][mask], rows)
            self.names[which] = _resized(self.names[which][: len(mask)][mask], rows)
        self.selected = np.stack([_renamed(self.selected[:, side], moved[side]) for side in (0, 1)], axis=1)
        of_left = self.doomed[:, 0] == 0
        self.doomed[of_left, 1] = _renamed(self.doomed[of_left, 1], moved[0])
        self.doomed[~of_left, 1] = _renamed(self.doomed[~of_left, 1], moved[1])

    def inside(self, which: int) -> Int64:
        """The rows of a side that are inside its window or ahead of it."""
        side = self.sides[which]
        rows = np.arange(side.at[COUNT])
        inside: NDArray[np.bool_] = (side.rows[: len(rows), PLACE] >= INSIDE) | (rows >= side.at[ENTERING])
        return np.flatnonzero(inside)


def needed(side: Side) -> NDArray[np.bool_]:
    """Which rows of a side an evaluation may still look at."""
    rows = side.rows[: side.at[COUNT]]
    found: NDArray[np.bool_] = (rows[:, PLACE] >= INSIDE) | (rows[:, COPIES] > 0) | (np.arange(len(rows)) >= side.at[ENTERING])
    return found


def _side(rows: int, slots: int, bounds: Int64, at: Int64) -> Side:
    per_slot = np.full((slots, 3), _NONE, np.int64)
    per_slot[:, MARKED] = 0
    return Side(bounds, at.astype(np.int64), np.full((rows, 16), _NONE, np.int64), per_slot)


def _numbers(bounds: LandmarkBounds | TimeBounds) -> Int64:
    if isinstance(bounds, LandmarkBounds):
        return np.array([1, bounds.start, 1], np.int64)
    return np.array([0, bounds.width, bounds.step], np.int64)


def _renamed(rows: Int64, moved: Int64) -> Int64:
    """Rows by their new numbers; what is no row, or has not been kept, is none."""
    if not len(moved):
        return np.full_like(rows, _NONE)
    return np.where(rows < 0, _NONE, moved[rows])


def _resized(values: NDArray[_T], rows: int) -> NDArray[_T]:
    new = np.zeros((rows, *values.shape[1:]), values.dtype)
    new[: len(values)] = values
    return new


def mixed(columns: list[NDArray[Any]], rows: int) -> UInt64:
    """One id of several 64-bit columns of a row: as far from a collision as term ids are. One column is itself."""
    if not columns:
        return np.zeros(rows, np.uint64)
    found = columns[0].astype(np.uint64)
    for column in columns[1:]:
        _mix(found, column)
    return found


@njit(cache=True)
def _mix(found, column):  # type: ignore[no-untyped-def]
    for i in range(len(found)):
        value = found[i]
        value = (value ^ (value >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        value = (value ^ (value >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        found[i] = value + np.uint64(column[i])


def _holders(new: Arrivals, base: int) -> tuple[Int64, Int64]:
    """Per row the first row of the same mapping, and the next one."""
    rows = np.arange(base, base + len(new))
    if len(new) == 1:
        return rows, np.array([_NONE])
    identity = mixed([new.end, new.start, *new.ids.T], len(new))
    order = np.argsort(identity, kind="stable")
    again = np.flatnonzero(identity[order[1:]] == identity[order[:-1]])
    holder, twin = rows.copy(), np.full(len(new), _NONE, np.int64)
    for place in again.tolist():  # few: equal items at one time
        one, next_one = order[place], order[place + 1]
        holder[next_one] = holder[one]
        twin[one] = rows[next_one]
    return holder, twin


def _first_of(items: Int64, wanted: Int64, base: int) -> Int64:
    """For each wanted item its first row among `items`, or none."""
    if not len(items):
        return np.full(len(wanted), _NONE, np.int64)
    order = np.argsort(items, kind="stable")
    place = np.minimum(np.searchsorted(items[order], wanted), len(items) - 1)
    found = order[place]
    return np.where(items[found] == wanted, found + base, _NONE)


class Slots:
    """Small numbers for keys, given in order of appearance; they go when rows are compacted."""

    def __init__(self, room: int) -> None:
        self.count = 0
        size = 1 << max(4, (2 * room - 1).bit_length())
        self._keys = np.zeros(size, np.uint64)
        self._slots = np.full(size, _NONE, np.int64)

    def assign(self, keys: UInt64) -> Int64:
        """The slots of keys, new ones where needed."""
        if 2 * (self.count + len(keys)) > len(self._keys):
            raise AssertionError("no room for slots")  # `PairRows._make_room` comes first
        slots = np.empty(len(keys), np.int64)
        self.count = _assign(keys, slots, self._keys, self._slots, self.count)
        return slots

    def kept(self, live: Int64, room: int) -> Slots:
        """The keys of some slots, numbered anew in the order given."""
        used = self._slots >= 0
        by_slot = np.zeros(self.count, np.uint64)
        by_slot[self._slots[used]] = self._keys[used]
        fresh = Slots(max(room, _ROOM))
        fresh.assign(by_slot[live])
        return fresh


@njit(cache=True)
def _assign(keys, slots, table_keys, table_slots, count):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(table_keys) - 1)
    for i in range(len(keys)):
        key = keys[i]
        place = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask
        while table_slots[place] >= 0 and table_keys[place] != key:
            place = (place + np.uint64(1)) & mask
        if table_slots[place] < 0:
            table_keys[place] = key
            table_slots[place] = count
            count += 1
        slots[i] = table_slots[place]
    return count
