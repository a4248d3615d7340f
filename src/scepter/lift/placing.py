"""The triples of rows put in their order, row by row, so that what is written at a time lies together.

A term stands once in a pool, however many rows have it; a triple says which of the pool's terms it has.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.inner import inner
from scepter.lift.terms import Terms, cross
from scepter.rdf.words import pointer, zeroed

EVERY, ONE = -1, -2
"""Entry i has term i; all entries have one term."""
_BLOCK: Final = 128
"""Rows that are placed pair by pair: their triples stay in the fastest memory."""
_FEW: Final = 16
"""So many triples of an event are compared each with each."""


class Pool(NamedTuple):
    """The terms of all maps, one behind the other."""

    ids: Any
    places: Any
    number: Any
    scale: Any
    good: Any


class Layout(NamedTuple):
    """Which terms the triples of each pair of predicate and object have."""

    base: Any
    """Per pair and column: the first of the map's terms in the pool."""
    index: Any
    """Per pair and column: where in `numbers` the terms of the entries stand, counted from the base; EVERY or ONE."""
    bounds: Any
    """Per pair: where in `numbers` the first entry of each row stands; EVERY: row i has entry i."""
    numbers: Any


class Triples(NamedTuple):
    """Columns of triples, and the first triple of each row."""

    ids: Any
    places: Any
    number: Any
    scale: Any
    starts: Any


@dataclass(slots=True)
class Placing:
    """Collects the pairs of a batch."""

    rows: int
    wanted: NDArray[np.uint64] | None
    """The predicates that are asked for, in order."""
    _pool: list[Terms] = field(default_factory=list)
    _bases: dict[int, int] = field(default_factory=dict)
    _size: int = 0
    _numbers: list[NDArray[np.int64]] = field(default_factory=list)
    _begins: dict[int, int] = field(default_factory=dict)
    _begun: int = 0
    _base: list[list[int]] = field(default_factory=list)
    _index: list[list[int]] = field(default_factory=list)
    _bounds: list[int] = field(default_factory=list)
    _most: int = 0

    def add(self, terms: tuple[Terms, Terms, Terms]) -> None:
        """The triples of some subjects, predicates and objects: all combinations within a row."""
        subject, predicate, object = terms
        if self.wanted is not None and not predicate.constant:
            predicate = replace(predicate, good=predicate.good & np.isin(predicate.ids, self.wanted))
        terms = (subject, predicate, object)
        self._base.append([self._pooled(each) for each in terms])
        if all(each.owner is None for each in terms):
            self._bounds.append(EVERY)
            self._index.append([self._where(each) for each in terms])
            self._most += self.rows
            return
        owner, at = aligned(terms, self.rows)
        self._bounds.append(self._begin(np.searchsorted(owner, np.arange(self.rows + 1))))
        self._index.append([self._begin(places) for places in at])
        self._most += len(owner)

    def triples(self, of_row: NDArray[np.int64]) -> tuple[Triples, int]:
        """The triples of the rows that are of an event, and how many they are; the columns may be longer."""
        if not self._base:  # nothing that a row says is asked for: events without triples, which still move time on
            none = np.zeros((3, 0), np.uint64), np.zeros((3, 0), np.int64), np.zeros(0), np.zeros(0, np.int8)
            return Triples(*none, np.zeros(self.rows, np.int64)), 0
        pool = Pool(*(_together([getattr(each, name) for each in self._pool]) for name in Pool._fields))
        pool = pool._replace(good=pool.good.view(np.uint8))  # kernels point to bytes
        layout = Layout(
            np.array(self._base, np.int64).reshape(-1, 3), np.array(self._index, np.int64).reshape(-1, 3),
            np.array(self._bounds, np.int64), _together([np.zeros(1, np.int64), *self._numbers]),
        )  # fmt: skip
        made = Triples(
            np.empty((3, self._most), np.uint64), np.empty((3, self._most), np.int64), np.empty(self._most),
            np.empty(self._most, np.int8), np.empty(self.rows, np.int64),
        )  # fmt: skip
        return made, int(place_triples(layout, pool, of_row, made))

    def _pooled(self, terms: Terms) -> int:
        base = self._bases.get(id(terms))
        if base is None:
            base = self._bases[id(terms)] = self._size
            self._pool.append(terms)
            self._size += len(terms.ids)
        return base

    def _where(self, terms: Terms) -> int:
        if terms.constant:
            return ONE
        return EVERY if terms.which is None else self._begin(terms.which)

    def _begin(self, numbers: NDArray[np.int64]) -> int:
        begin = self._begins.get(id(numbers))
        if begin is None:
            begin = self._begins[id(numbers)] = self._begun + 1  # behind the zero that keeps the numbers from being none
            self._numbers.append(numbers)
            self._begun += len(numbers)
        return begin


def _together(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.empty(0)


def aligned(
    terms: tuple[Terms, Terms, Terms], count: int
) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """The row of each triple of subjects, predicates and objects, and which of the terms it has: all combinations
    within a row."""
    owner = np.arange(count)
    at: list[NDArray[np.int64]] = []
    for each in terms:
        if each.constant:
            at.append(np.zeros(len(owner), np.int64))
            continue
        left, right = cross(owner, np.arange(count) if each.owner is None else each.owner)
        right = right if each.which is None else each.which[right]
        owner, at = owner[left], [*(places[left] for places in at), right]
    return owner, (at[0], at[1], at[2])


@inner
def _is_whole(bounds: Any, good: Any, of_row: Any) -> Any:
    """Whether each row makes one triple of each pair: where they go needs no counting then."""
    for pair in range(len(bounds)):
        if bounds[pair] != EVERY:
            return False
    for term in range(len(good)):
        if not good[term]:
            return False
    for row in range(len(of_row)):  # noqa: SIM110
        if of_row[row] < 0:
            return False
    return True


@njit(cache=True, nogil=True)
def place_triples(layout: Any, pool: Any, of_row: Any, made: Any) -> Any:
    """Writes the triples of good terms, those of a row in the order of the pairs; gives how many there are."""
    base, index = pointer(layout.base, 0), pointer(layout.index, 0)
    bounds, numbers = pointer(layout.bounds, 0), pointer(layout.numbers, 0)
    term_ids, term_places, term_good = pointer(pool.ids, 0), pointer(pool.places, 0), pointer(pool.good, 0)
    term_number, term_scale = pointer(pool.number, 0), pointer(pool.scale, 0)
    size = made.ids.shape[1]
    ids, places = pointer(made.ids, 0), pointer(made.places, 0)
    number, scale, starts = pointer(made.number, 0), pointer(made.scale, 0), pointer(made.starts, 0)
    pairs = len(layout.bounds)
    if _is_whole(layout.bounds, pool.good, of_row):
        for begin in range(0, len(of_row), _BLOCK):
            end = min(begin + _BLOCK, len(of_row))
            for row in range(begin, end):
                starts[row] = row * pairs
            for place in range(3 * pairs):
                pair, column = place // 3, place % 3
                first, kind = base[place], index[place]
                for row in range(begin, end):
                    term = first
                    if kind == EVERY:
                        term += row
                    elif kind != ONE:
                        term += numbers[kind + row]
                    at = row * pairs + pair
                    ids[column * size + at] = term_ids[term]
                    places[column * size + at] = term_places[term]
                    if column == 2:
                        number[at] = term_number[term]
                        scale[at] = term_scale[term]
        return len(of_row) * pairs
    at = 0
    for row in range(len(of_row)):
        starts[row] = at
        if of_row[row] < 0:
            continue
        for pair in range(pairs):
            low, high = row, row + 1
            if bounds[pair] != EVERY:
                low, high = numbers[bounds[pair] + row], numbers[bounds[pair] + row + 1]
            for entry in range(low, high):
                good = 1
                for column in range(3):
                    place = 3 * pair + column
                    term = base[place]
                    if index[place] == EVERY:
                        term += entry
                    elif index[place] != ONE:
                        term += numbers[index[place] + entry]
                    ids[column * size + at] = term_ids[term]
                    places[column * size + at] = term_places[term]
                    good &= term_good[term]
                    if column == 2:
                        number[at] = term_number[term]
                        scale[at] = term_scale[term]
                if good:
                    at += 1
    return at


@njit(cache=True, nogil=True)
def drop_repeated(first: Any, ids: Any, places: Any, number: Any, scale: Any) -> Any:
    """An event's triples are a set: keeps the first of equal ones; `first` is brought up to date. Gives the rows left."""
    out = 0
    for event in range(len(first) - 1):
        low, high = first[event], first[event + 1]
        begin = out
        size = 1
        while size < 2 * (high - low):
            size *= 2
        table = zeroed(size if high - low > _FEW else 1, np.int64)
        for row in range(low, high):
            repeated = False
            if high - low > _FEW:
                slot = np.int64(
                    (ids[0, row] ^ (ids[1, row] * np.uint64(3)) ^ (ids[2, row] * np.uint64(5))) & np.uint64(size - 1)
                )
                while table[slot]:
                    other = table[slot] - 1
                    if ids[0, other] == ids[0, row] and ids[1, other] == ids[1, row] and ids[2, other] == ids[2, row]:
                        repeated = True
                        break
                    slot = (slot + 1) & (size - 1)
                if not repeated:
                    table[slot] = out + 1
            else:
                for other in range(begin, out):
                    if ids[0, other] == ids[0, row] and ids[1, other] == ids[1, row] and ids[2, other] == ids[2, row]:
                        repeated = True
                        break
            if not repeated:
                for column in range(3):
                    ids[column, out] = ids[column, row]
                    places[column, out] = places[column, row]
                number[out] = number[row]
                scale[out] = scale[row]
                out += 1
        first[event] = begin
    first[len(first) - 1] = out
    return out
