"""The one batch of the columnar operators: mappings with two intervals and a lineage.

A row is a solution mapping. `start` and `end` say when it *happened* (its occurrence, closed on both sides), `since` and
`until` when it *is there* (its validity, half open): patterns in time relate occurrences, windows give validities, and plain
SPARQL over windows is the same algebra on validities. `lineage` is the node of what it was made of (`kernel.lineage`).

Invariants: an id of 0 is unbound, and then its ref is NO_REF, its number NaN and its scale NOT_A_NUMBER. `start <= end`, but
for rows that have no time (static triples, inline data): those are TIMELESS, so that the hull of such a row with another is
the other's interval, and in order of end they come before everything.
`since < until`; rows that no window has touched are there for ever. Rows of one batch are in order of `end` where an operator
says so (`by_end`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.kernel.column_table import ColumnTable
from scepter.kernel.interrupts import interruptible
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.words import fresh, heed, lacks
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

Int64 = NDArray[np.int64]
UInt64 = NDArray[np.uint64]
Float64 = NDArray[np.float64]
Int8 = NDArray[np.int8]
Mask = NDArray[np.bool_]

NO_LINEAGE = -1
"""The lineage of a row that nobody will be shown the events of, and of static rows."""

TIMELESS = (MAX_INSTANT, MIN_INSTANT)
"""Start and end of a row that has no time."""

ALWAYS = MAX_INSTANT - 1
"""`until` of a row without a time that needs no triple, streamed or static: inline data and its like."""


class Mappings(NamedTuple):
    """The columns of mappings, [row, variable]; or one column of terms, [row]."""

    ids: UInt64
    refs: Int64
    number: Float64
    scale: Int8

    def take(self, rows: Int64 | Mask) -> Mappings:
        """Some rows."""
        return Mappings(self.ids[rows], self.refs[rows], self.number[rows], self.scale[rows])

    def columns(self, order: Sequence[int]) -> Mappings:
        """The same mappings with their columns chosen and ordered; -1 is a variable that none of them binds."""
        if tuple(order) == tuple(range(self.ids.shape[1])):
            return self
        free = [i for i, column in enumerate(order) if column < 0]
        if len(free) == len(order):
            return mappings(len(self.ids), len(order))
        ids, refs = self.ids.take(order, axis=1), self.refs.take(order, axis=1)
        found = Mappings(ids, refs, self.number.take(order, axis=1), self.scale.take(order, axis=1))
        if free:  # -1 has taken the last column, which is then unbound
            found.ids[:, free], found.refs[:, free] = 0, NO_REF
            found.number[:, free], found.scale[:, free] = np.nan, NOT_A_NUMBER
        return found

    def column(self, place: int) -> Mappings:
        """One column, not copied."""
        return Mappings(self.ids[:, place], self.refs[:, place], self.number[:, place], self.scale[:, place])

    def put(self, column: int, terms: Mappings, rows: Int64 | slice = slice(None)) -> None:
        """Write a column of terms, or those of some rows."""
        self.ids[rows, column], self.refs[rows, column] = terms.ids, terms.refs
        self.number[rows, column], self.scale[rows, column] = terms.number, terms.scale


@dataclass(slots=True)
class Rows(ColumnTable):
    """Columns of one length; the mapping's columns are two-dimensional, a row of them is one stretch of memory. No column is
    ever exchanged; it is not frozen, since to make a frozen one costs five times as much (decision 0280)."""

    ids: UInt64
    """[row, variable]: 0 is unbound."""
    refs: Int64
    """[row, variable]: where the term's text stands."""
    number: Float64
    scale: Int8
    start: Int64
    end: Int64
    since: Int64
    until: Int64
    lineage: Int64

    def __len__(self) -> int:
        return len(self.end)

    @property
    def width(self) -> int:
        """How many variables a mapping has room for."""
        return int(self.ids.shape[1])

    @property
    def mappings(self) -> Mappings:
        """The mappings' columns."""
        return Mappings(self.ids, self.refs, self.number, self.scale)

    def columns(self, order: Sequence[int]) -> Rows:
        """The same rows with the mapping's columns chosen and ordered; -1 is a variable that none of them binds."""
        if tuple(order) == tuple(range(self.width)):
            return self
        if not len(self):
            return empty(len(order))
        return Rows(*self.mappings.columns(order), self.start, self.end, self.since, self.until, self.lineage)

    def valid(self, since: Int64, until: Int64) -> Rows:
        """The same rows with another validity."""
        return Rows(self.ids, self.refs, self.number, self.scale, self.start, self.end, since, until, self.lineage)

    def during(self, start: Int64, end: Int64) -> Rows:
        """The same rows with another occurrence."""
        return Rows(self.ids, self.refs, self.number, self.scale, start, end, self.since, self.until, self.lineage)

    def by_end(self) -> Rows:
        """The same rows in order of end, stable."""
        if len(self.end) < 2 or bool(np.all(self.end[1:] >= self.end[:-1])):
            return self
        return self.take(np.argsort(self.end, kind="stable"))


COLUMNS = Rows.NAMES


def mappings(rows: int, width: int) -> Mappings:
    """The four columns of mappings that bind nothing."""
    shape = rows, width
    refs, number, scale = np.empty(shape, np.int64), np.empty(shape), np.empty(shape, np.int8)
    refs.fill(NO_REF)
    number.fill(np.nan)
    scale.fill(NOT_A_NUMBER)
    return Mappings(np.zeros(shape, np.uint64), refs, number, scale)


def filled(count: int, value: int) -> Int64:
    """A column of one value; a third of what `np.full` costs, which counts where rows come one at a time.

    >>> filled(2, 7).tolist()
    [7, 7]
    """
    column = np.empty(count, np.int64)
    column.fill(value)
    return column


def each_once(times: Int64) -> Int64:
    """The different ones of some times, sorted.

    >>> each_once(np.array([5, 3, 5])).tolist()
    [3, 5]
    """
    if len(times) < 2:
        return times
    # mostly in order as they are, for which `np.unique` hashes them all the same
    ordered = times if bool(np.all(times[1:] >= times[:-1])) else np.sort(times)
    kept = np.ones(len(times), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=kept[1:])
    found: Int64 = ordered[kept]
    return found


def lasting(count: int) -> tuple[Int64, Int64]:
    """The validity of rows that no window has touched.

    >>> since, until = lasting(1)
    >>> bool(since[0] == MIN_INSTANT), bool(until[0] == MAX_INSTANT)
    (True, True)
    """
    return filled(count, MIN_INSTANT), filled(count, MAX_INSTANT)


def timeless(count: int) -> tuple[Int64, Int64]:
    """Start and end of rows that have no time."""
    return filled(count, MAX_INSTANT), filled(count, MIN_INSTANT)


def lasting_rows(columns: Mappings, start: Int64, end: Int64, lineage: Int64 | None = None) -> Rows:
    """Rows that no window has touched."""
    return Rows(*columns, start, end, *lasting(len(end)), filled(len(end), NO_LINEAGE) if lineage is None else lineage)


@cache
def empty(width: int) -> Rows:
    """No rows, of a given width; always the same, since there is nothing in them to change.

    >>> len(empty(3)), empty(3).width
    (0, 3)
    """
    none = np.empty(0, np.int64)
    return Rows(*mappings(0, width), none, none, none, none, none)


def concat(parts: Sequence[Rows], width: int) -> Rows:
    """All rows of batches of one width, one after the other."""
    return Rows.joined([part for part in parts if len(part)] or [empty(width)])


def interleaved(first: Rows, second: Rows) -> Rows:
    """Two batches in order of end as one; of equal ends those of the first come first."""
    if not len(first) or not len(second):
        return first if len(first) else second
    if first.end[-1] <= second.end[0]:
        return concat([first, second], first.width)
    is_second = np.empty(len(first) + len(second), np.bool_)
    _merge(np.ascontiguousarray(first.end), np.ascontiguousarray(second.end), is_second)
    columns = []
    for name in COLUMNS:
        of_first, of_second = getattr(first, name), getattr(second, name)
        column = np.empty((len(is_second), *of_first.shape[1:]), of_first.dtype)
        if name == "scale":
            column[~is_second], column[is_second] = of_first, of_second
        else:
            _weave(_words(of_first), _words(of_second), is_second, _words(column))
        columns.append(column)
    return Rows(*columns)


def _words(column: NDArray[Any]) -> UInt64:
    """A column of words of any kind: one kind is compiled."""
    return np.ascontiguousarray(column).view(np.uint64).reshape(len(column), -1)


@njit(cache=True)
def _merge(first, second, is_second):  # type: ignore[no-untyped-def]
    at, other = 0, 0
    for i in range(len(is_second)):
        is_second[i] = at == len(first) or (other < len(second) and second[other] < first[at])
        if is_second[i]:
            other += 1
        else:
            at += 1


@njit(cache=True)
def _weave(first, second, is_second, out):  # type: ignore[no-untyped-def]
    at, other = 0, 0
    for i in range(len(is_second)):
        if is_second[i]:
            for j in range(out.shape[1]):
                out[i, j] = second[other, j]
            other += 1
        else:
            for j in range(out.shape[1]):
                out[i, j] = first[at, j]
            at += 1


def cut(rows: Rows, time: int) -> tuple[Rows, Rows]:
    """Rows in order of end: those up to a time, and those after it."""
    if len(rows.end) and rows.end[-1] <= time:
        return rows, empty(rows.ids.shape[1])
    at = int(np.searchsorted(rows.end, time, side="right"))
    return rows.between(0, at), rows.between(at, len(rows))


def merged(left: Mappings, right: Mappings, places: Sequence[int], width: int) -> Mappings:
    """The mappings of compatible pairs: the left's columns first, the right's put at `places` where the left binds nothing."""
    wide = right.columns([places.index(i) if i in places else -1 for i in range(width)])
    first = left.columns([i if i < left.ids.shape[1] else -1 for i in range(width)])
    unbound = first.ids == 0
    return Mappings(
        np.where(unbound, wide.ids, first.ids),
        np.where(unbound, wide.refs, first.refs),
        np.where(unbound, wide.number, first.number),
        np.where(unbound, wide.scale, first.scale),
    )


def spread(count: Int64, first: Int64 | int = 0) -> tuple[Int64, Int64]:
    """For stretches of so many places, each from `first` on: (which stretch, place) of each place.

    >>> [column.tolist() for column in spread(np.array([2, 0, 1]), np.array([5, 7, 9]))]
    [[0, 0, 2], [5, 6, 9]]
    """
    firsts = np.zeros(len(count), np.int64) if isinstance(first, int) else first
    spreading: tuple[Int64, Int64] = interruptible(_spread, None, count, firsts)
    return spreading


@njit(cache=True)
def _spread(count, first, cells):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(len(count)):
        total += count[i]
    if lacks(cells, 16 * total):
        total = 0
    of, place = fresh(total, np.int64), fresh(total, np.int64)
    at = 0
    for i in range(len(count)):
        if total == 0 or (i % 16 == 0 and heed(cells, 0)):
            break
        for j in range(count[i]):
            of[at] = i
            place[at] = first[i] + j
            at += 1
    return of, place
