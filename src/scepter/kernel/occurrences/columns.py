"""Occurrences in columns, and the content of items as a key: what many items share is looked at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.rdf.batch import EventBatch

Int64 = NDArray[np.int64]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@dataclass(frozen=True, slots=True)
class OccurrenceColumns:
    """Occurrences of one event: the number of their assertions (who makes them knows which those are), and when."""

    assertions: Int64
    start: Int64
    end: Int64

    def __len__(self) -> int:
        return len(self.end)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> OccurrenceColumns:
        """Some of them."""
        return OccurrenceColumns(self.assertions[rows], self.start[rows], self.end[rows])

    def distinct(self) -> OccurrenceColumns:
        """Each once."""
        return self.take(distinct((self.assertions, self.start, self.end)))


NO_OCCURRENCES = OccurrenceColumns(*(np.empty(0, np.int64) for _ in range(3)))


def joined(parts: Sequence[OccurrenceColumns]) -> OccurrenceColumns:
    """All of several."""
    if len(parts) == 1:
        return parts[0]
    return OccurrenceColumns(
        np.concatenate([NO_OCCURRENCES.assertions, *(part.assertions for part in parts)]),
        np.concatenate([NO_OCCURRENCES.start, *(part.start for part in parts)]),
        np.concatenate([NO_OCCURRENCES.end, *(part.end for part in parts)]),
    )


def distinct(columns: Sequence[Int64]) -> NDArray[np.intp]:
    """The first row of each kind, in order.

    >>> distinct((np.array([3, 1, 3]), np.array([0, 0, 0]))).tolist()
    [0, 1]
    """
    order = np.lexsort(columns)
    if not len(order):
        return order
    differs = np.logical_or.reduce([column[order[1:]] != column[order[:-1]] for column in columns])
    # lexsort is stable: the first of equal rows is the first given
    return np.sort(order[np.concatenate([[True], differs])])


def spread(counts: Int64) -> tuple[Int64, Int64]:
    """For so many places per row: the row of each place, and its number within the row.

    >>> [column.tolist() for column in spread(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    rows = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return rows, np.arange(len(rows)) - before[rows]


def content_keys(batch: EventBatch, used: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Per event a key of its used triples, in the order given; 0 if there is none. Like the terms' ids that it is made of, a
    key is 64 bits of a keyed hash and stands for what it was made from."""
    keys: NDArray[np.uint64] = _content_keys(batch.first, batch.subject, batch.predicate, batch.object, used)
    return keys


@njit(cache=True)
def _content_keys(first, subject, predicate, object, used):  # type: ignore[no-untyped-def]
    keys = np.zeros(len(first) - 1, np.uint64)
    for event in range(len(keys)):
        key = np.uint64(0)
        for row in range(first[event], first[event + 1]):
            if used[row]:
                for word in (subject[row], predicate[row], object[row]):
                    key = (key ^ word) * _FACTOR
                    key ^= key >> _SHIFT
        keys[event] = key
    return keys
