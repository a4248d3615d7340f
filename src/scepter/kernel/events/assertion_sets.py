"""Sets of triples in columns: what occurrences assert.

An occurrence is a row whose column `ASSERTIONS` stands for a set of triples. Its id is a hash of the set, whoever made it, so
that equal sets are equal ids; its ref is the number of a set here, below NO_REF, where texts have none. Invariants:

- The members of a set are rows of triples in order of the triples' keys, each key once: union and difference are merges.
- Members below zero are static triples (-1 - row), which stay; the others came with items and go when no set has them.
- A set's number changes only in `keep`; its id never does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.kernel.rows import Float64, Int8, Int64, Mappings, UInt64, mappings, spread
from scepter.kernel.state.container import Arrays
from scepter.kernel.static.graph_columns import GraphColumns, term_columns
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Triple
from scepter.rdf.words import fresh

FIRST_REF = -2
"""The ref of set 0: NO_REF is -1."""
_TOLD = ("ids", "refs", "number", "scale")
"""What tells a triple."""
_DECODED = 50_000
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)
Cells = tuple[UInt64, Int64]
"""Ids and refs of a column of sets."""


def set_refs(numbers: Int64) -> Int64:
    """The refs of sets, from their numbers; the same the other way round.

    >>> set_refs(np.array([0, 3])).tolist(), set_refs(np.array([-2, -5])).tolist()
    ([-2, -5], [0, 3])
    """
    return FIRST_REF - numbers


class Members(NamedTuple):
    """The triples of some sets, set after set."""

    row: Int64
    """Which of the sets asked for."""
    ids: UInt64
    """[member, position]."""
    refs: Int64
    number: Float64
    """Of the object."""
    scale: Int8


class _Column:
    """A column that grows."""

    __slots__ = ("_array", "size")

    def __init__(self, kind: Any, width: tuple[int, ...] = ()) -> None:
        self._array: NDArray[Any] = np.empty((64, *width), kind)
        self.size = 0

    def add(self, values: NDArray[Any]) -> None:
        size = self.size + len(values)
        if size > len(self._array):
            grown = np.empty((max(size, 2 * len(self._array)), *self._array.shape[1:]), self._array.dtype)
            grown[: self.size] = self.array
            self._array = grown
        self._array[self.size : size] = values
        self.size = size

    @property
    def array(self) -> NDArray[Any]:
        """What has been added, to be read and set."""
        return self._array[: self.size]


class _Triples:
    """Triples by row."""

    __slots__ = ("ids", "keys", "number", "refs", "scale")

    def __init__(self) -> None:
        self.ids, self.refs = _Column(np.uint64, (3,)), _Column(np.int64, (3,))
        self.number, self.scale, self.keys = _Column(np.float64), _Column(np.int8), _Column(np.uint64)

    def add(self, ids: UInt64, refs: Int64, number: Float64, scale: Int8) -> int:
        first = self.ids.size
        given: tuple[NDArray[Any], ...] = (ids, refs, number, scale, triple_keys(ids))
        for column, values in zip(self._columns(), given, strict=True):
            column.add(values)
        return first

    def _columns(self) -> tuple[_Column, ...]:
        return self.ids, self.refs, self.number, self.scale, self.keys

    def truncate(self, size: int) -> None:
        for column in self._columns():
            column.size = size

    def keep(self, rows: Int64) -> None:
        for column in self._columns():
            kept = column.array[rows]
            column.size = 0
            column.add(kept)


class AssertionSets:
    """The sets of a unit's occurrences."""

    def __init__(self, key: TermKey, texts: Texts) -> None:
        self._key, self._texts = key, texts
        self._own, self._static = _Triples(), _Triples()
        self._first, self._count, self._ids = _Column(np.int64), _Column(np.int64), _Column(np.uint64)
        self._members = _Column(np.int64)
        self._saved = (0, 0, 0)
        self._decoded: dict[int, frozenset[Triple]] = {}

    def __len__(self) -> int:
        return self._first.size

    # ---- triples

    def add(self, ids: UInt64, refs: Int64, number: Float64, scale: Int8) -> int:
        """Take triples of items; the row of the first."""
        return self._own.add(ids, refs, number, scale)

    def add_static(self, columns: GraphColumns) -> int:
        """Take triples that stay; the row of the first. As a member, row r is -1 - r."""
        return self._static.add(columns.ids, columns.refs, columns.number, columns.scale)

    def static(self, triples: Sequence[Triple]) -> Int64:
        """Members for triples that stay."""
        first = self.add_static(term_columns(triples, self._key, self._texts))
        return -1 - first - np.arange(len(triples))

    # ---- sets

    def made(self, counts: Int64, members: Int64) -> Cells:
        """Sets of so many different members each, given one after the other."""
        first = self._members.size + np.cumsum(counts) - counts
        ordered = members.copy()
        ids = _ordered(ordered, counts, self._own.keys.array, self._static.keys.array)
        return self._added(ids, counts, first, ordered)

    def _added(self, ids: UInt64, counts: Int64, first: Int64, members: Int64) -> Cells:
        numbers = np.arange(len(self), len(self) + len(ids), dtype=np.int64)
        self._members.add(members)
        for column, values in ((self._first, first), (self._count, counts), (self._ids, ids)):
            column.add(values)
        return ids, set_refs(numbers)

    def union(self, left: Cells, right: Cells) -> Cells:
        """For each pair the set of both; where they are equal it is the one that there is."""
        ids, refs = left[0].copy(), left[1].copy()
        different = np.flatnonzero(left[0] != right[0])
        if len(different):
            pairs = np.column_stack([set_refs(left[1][different]), set_refs(right[1][different])])
            made = self._added(*_united(pairs, self._sets(), self._members.size))
            ids[different], refs[different] = made
        return ids, refs

    def without(self, cells: Cells, group: Int64, used: Cells, group_of: Int64) -> Cells:
        """Each set without the members of those used sets that have its group."""
        who, member = self._places(used[1])
        keys = self._keys(member)
        order = np.lexsort((keys, group_of[who]))
        groups, keys = group_of[who][order], keys[order]
        bounds = np.searchsorted(groups, group, "left"), np.searchsorted(groups, group, "right")
        return self._added(*_reduced(set_refs(cells[1]), np.column_stack(bounds), keys, self._sets(), self._members.size))

    def sizes(self, refs: Int64) -> Int64:
        """How many triples each set has."""
        found: Int64 = self._count.array[set_refs(refs)]
        return found

    def _sets(self) -> tuple[Int64, Int64, Int64, UInt64, UInt64]:
        return self._first.array, self._count.array, self._members.array, self._own.keys.array, self._static.keys.array

    def _places(self, refs: Int64) -> tuple[Int64, Int64]:
        """For some sets: which of them, and the member."""
        numbers = set_refs(refs)
        row, within = spread(self._count.array[numbers])
        return row, self._members.array[self._first.array[numbers][row] + within]

    def _keys(self, members: Int64) -> UInt64:
        found: UInt64 = np.empty(len(members), np.uint64)
        own = members >= 0
        found[own], found[~own] = self._own.keys.array[members[own]], self._static.keys.array[-1 - members[~own]]
        return found

    def members(self, refs: Int64) -> Members:
        """The triples of some sets."""
        row, member = self._places(refs)
        return Members(row, *self._columns(member))

    def _columns(self, member: Int64) -> Iterator[NDArray[Any]]:
        """What tells the triples of members, as `_TOLD` names it."""
        own = member >= 0
        for name in _TOLD:
            of_items, of_static = getattr(self._own, name).array, getattr(self._static, name).array
            values = np.empty((len(member), *of_items.shape[1:]), of_items.dtype)
            values[own], values[~own] = of_items[member[own]], of_static[-1 - member[~own]]
            yield values

    def columns(self) -> tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]:
        """As kernels look at them: sets (first member, how many, members), items' triples and static ones (`Members`)."""
        own, static = self._own, self._static
        return (
            (self._first.array, self._count.array, self._members.array),
            (own.ids.array, own.refs.array, own.number.array, own.scale.array),
            (static.ids.array, static.refs.array, static.number.array, static.scale.array),
        )

    def term_at(self, members: Int64, position: Int64) -> Cells:
        """The terms at positions of members: ids and refs."""
        own = members >= 0
        if own.all():
            return self._own.ids.array[members, position], self._own.refs.array[members, position]
        ids, refs = np.empty(len(members), np.uint64), np.empty(len(members), np.int64)
        for of, rows, triples in ((own, members, self._own), (~own, -1 - members, self._static)):
            at = np.flatnonzero(of)
            ids[at] = triples.ids.array[rows[at], position[at]]
            refs[at] = triples.refs.array[rows[at], position[at]]
        return ids, refs

    def terms(self, id: int, ref: int) -> frozenset[Triple]:
        """The triples of a set, as terms."""
        found = self._decoded.get(id)
        if found is None:
            if len(self._decoded) >= _DECODED:
                self._decoded.clear()
            of = self.members(np.array([ref]))
            known = self._texts.known
            found = self._decoded[id] = frozenset(
                Triple(*map(known, refs, ids)) for refs, ids in zip(of.refs.tolist(), of.ids.tolist(), strict=True)
            )
        return found

    # ---- instants that may be undone, and what is let go

    def save(self) -> None:
        self._saved = len(self), self._members.size, self._own.ids.size

    def undo(self) -> None:
        sets, members, triples = self._saved
        for column in (self._first, self._count, self._ids):
            column.size = sets
        self._members.size = members
        self._own.truncate(triples)

    def keep(self, numbers: Int64) -> Callable[[Int64], None]:
        """Let go of all but some sets; gives what exchanges refs in place."""
        kept = np.unique(numbers)
        _, member = self._places(set_refs(kept))
        own = np.unique(member[member >= 0])
        places = np.full(len(self), -1, np.int64)
        places[kept] = np.arange(len(kept))
        counts, ids = self._count.array[kept], self._ids.array[kept]
        member = np.where(member >= 0, np.searchsorted(own, member), member)
        self._own.keep(own)
        for column in (self._first, self._count, self._ids, self._members):
            column.size = 0
        self._added(ids, counts, np.cumsum(counts) - counts, member)

        def exchange(refs: Int64) -> None:
            sets = refs <= FIRST_REF
            refs[sets] = set_refs(places[set_refs(refs[sets])])

        return exchange

    # ---- what is sent or written down

    def written(self, numbers: Int64) -> Arrays:
        """Some sets with all their triples, static ones too: whoever reads them may know others. `refs` are those of texts."""
        _, member = self._places(set_refs(numbers))
        different, where = np.unique(member, return_inverse=True)
        told = dict(zip(_TOLD, self._columns(different), strict=True))
        return {"sets": self._ids.array[numbers], "counts": self._count.array[numbers], "members": where, **told}

    def read(self, arrays: Arrays) -> int:
        """Take over what `written` gave, its refs those of here; the number of the first set."""
        first, counts = len(self), arrays["counts"]
        base = self.add(*(arrays[name] for name in _TOLD))
        begin = self._members.size + np.cumsum(counts) - counts
        self._added(arrays["sets"], counts, begin, base + arrays["members"])
        return first

    def refs(self) -> Int64:
        """Where the texts of items' triples stand, to be exchanged in place."""
        found: Int64 = self._own.refs.array
        return found


def numbers_of(arrays: Iterable[Int64]) -> Int64:
    """The numbers of all sets that some arrays of refs have."""
    found = [set_refs(array[array <= FIRST_REF]) for array in arrays]
    return np.concatenate([np.empty(0, np.int64), *found])


def renumbered(refs: Int64, numbers: Int64) -> Int64:
    """Refs in which sets are told by their places among some numbers, which are in order; those of texts stay.

    >>> renumbered(np.array([7, -1, -5, -2]), np.array([0, 3])).tolist()
    [7, -1, -3, -2]
    """
    return np.where(refs <= FIRST_REF, set_refs(np.searchsorted(numbers, set_refs(refs))), refs)


def placed(refs: Int64, base: int, first: int) -> Int64:
    """Refs that were sent: of texts from `base` on, of sets from the number `first` on.

    >>> placed(np.array([7, -1, -3]), 100, 5).tolist()
    [107, -1, -8]
    """
    return np.where(refs >= 0, refs + base, np.where(refs <= FIRST_REF, refs - first, refs))


def column_of(cells: Cells, width: int = 1) -> Mappings:
    """The four columns of mappings that bind a set, in their first column, and nothing else."""
    found = mappings(len(cells[0]), width)
    found.ids[:, 0], found.refs[:, 0] = cells
    return found


def triple_keys(ids: UInt64) -> UInt64:
    """A hash of each triple, from its terms' ids."""
    keys: UInt64 = _triple_keys(np.ascontiguousarray(ids))
    return keys


@njit(cache=True)
def _triple_keys(ids):  # type: ignore[no-untyped-def]
    keys = fresh(len(ids), np.uint64)
    for row in range(len(ids)):
        key = np.uint64(0)
        for position in range(3):
            key = (key ^ ids[row, position]) * _MIX
            key ^= key >> _SHIFT
        keys[row] = key
    return keys


@njit(cache=True, inline="always")
def _key(member, own, static):  # type: ignore[no-untyped-def]
    return own[member] if member >= 0 else static[-1 - member]


@njit(cache=True, inline="always")
def _mixed(total, key):  # type: ignore[no-untyped-def]
    """The hash of a set with one member more: a sum, so that the order does not matter."""
    mixed = key * _MIX
    return total + (mixed ^ (mixed >> _SHIFT)) * _MIX


@njit(cache=True)
def _ordered(members, counts, own, static):  # type: ignore[no-untyped-def]
    """Sort the members of each set by their keys, in place; the ids of the sets. Most sets are small."""
    ids = fresh(len(counts), np.uint64)
    low = 0
    for i in range(len(counts)):
        total = np.uint64(1)
        for at in range(low, low + counts[i]):
            member = members[at]
            key = _key(member, own, static)
            total = _mixed(total, key)
            to = at
            while to > low and _key(members[to - 1], own, static) > key:
                members[to] = members[to - 1]
                to -= 1
            members[to] = member
        ids[i] = total if total != np.uint64(0) else np.uint64(1)
        low += counts[i]
    return ids


@njit(cache=True)
def _united(pairs, sets, base):  # type: ignore[no-untyped-def]
    """The unions of pairs of sets: ids, counts, where each begins behind `base`, members."""
    first, count, members, own, static = sets
    room = 0
    for i in range(len(pairs)):
        room += count[pairs[i, 0]] + count[pairs[i, 1]]
    made = fresh(room, np.int64)
    ids, counts, firsts = fresh(len(pairs), np.uint64), fresh(len(pairs), np.int64), fresh(len(pairs), np.int64)
    size = 0
    for i in range(len(pairs)):
        a, b = first[pairs[i, 0]], first[pairs[i, 1]]
        a_end, b_end = a + count[pairs[i, 0]], b + count[pairs[i, 1]]
        firsts[i], total = base + size, np.uint64(1)
        begin = size
        while a < a_end or b < b_end:
            take_left = b >= b_end or (a < a_end and _key(members[a], own, static) <= _key(members[b], own, static))
            member = members[a] if take_left else members[b]
            key = _key(member, own, static)
            if a < a_end and _key(members[a], own, static) == key:
                a += 1
            if b < b_end and _key(members[b], own, static) == key:
                b += 1
            made[size] = member
            size += 1
            total = _mixed(total, key)
        counts[i] = size - begin
        ids[i] = total if total != np.uint64(0) else np.uint64(1)
    return ids, counts, firsts, made[:size]


@njit(cache=True)
def _reduced(numbers, bounds, used, sets, base):  # type: ignore[no-untyped-def]
    """Sets without the keys of their stretch of `used`, which is in order: as `_united`."""
    first, count, members, own, static = sets
    room = 0
    for i in range(len(numbers)):
        room += count[numbers[i]]
    made = fresh(room, np.int64)
    ids, counts, firsts = fresh(len(numbers), np.uint64), fresh(len(numbers), np.int64), fresh(len(numbers), np.int64)
    size = 0
    for i in range(len(numbers)):
        firsts[i], total = base + size, np.uint64(1)
        begin, at = size, bounds[i, 0]
        for place in range(first[numbers[i]], first[numbers[i]] + count[numbers[i]]):
            key = _key(members[place], own, static)
            while at < bounds[i, 1] and used[at] < key:
                at += 1
            if at < bounds[i, 1] and used[at] == key:
                continue
            made[size] = members[place]
            size += 1
            total = _mixed(total, key)
        counts[i] = size - begin
        ids[i] = total if total != np.uint64(0) else np.uint64(1)
    return ids, counts, firsts, made[:size]
