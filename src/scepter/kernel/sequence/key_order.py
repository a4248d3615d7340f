"""The order by join key of rows that stand in order of time."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.kernel.rows import Int64, UInt64
from scepter.rdf.lengthening import filled
from scepter.rdf.words import fresh, zeroed

_FEW = 1 << 12
"""So many different keys are told apart by hashing, and their rows counted; more are sorted."""
_SHORT = 1 << 10
"""Fewer rows are sorted at once: the table of keys costs more."""
_AS_THEY_ARE = np.zeros(1, np.int64)


def sort_by_key(keys: UInt64) -> Int64:
    """The order that sorts rows by key, stable.

    >>> sort_by_key(np.array([7, 5, 7, 5], np.uint64)).tolist()
    [1, 3, 0, 2]
    """
    if len(keys) < 2:
        return _AS_THEY_ARE[: len(keys)]
    if bool((keys[1:] >= keys[:-1]).all()):
        return np.arange(len(keys), dtype=np.int64)
    different, number, count = (keys, _AS_THEY_ARE, _AS_THEY_ARE) if len(keys) < _SHORT else _numbered(keys, _FEW)
    if len(number) < len(keys):
        return np.argsort(keys, kind="stable")
    ranked = different.argsort()
    places = np.empty(len(ranked), np.int64)
    places[ranked] = np.cumsum(count[ranked]) - count[ranked]
    order: NDArray[np.int64] = _placed(number, places)
    return order


@njit(cache=True)
def _numbered(keys, most):  # type: ignore[no-untyped-def]
    """The different keys in the order they first stand, of each row its key's number, and how many rows each has. Of more keys
    than `most` no row is told."""
    bits = 1
    while (1 << bits) < 2 * most:
        bits += 1
    mask, shift = (1 << bits) - 1, np.uint64(64 - bits)
    table = filled(1 << bits, np.int64(-1))
    different, count = fresh(most, np.uint64), zeroed(most, np.int64)
    number = fresh(len(keys), np.int64)
    found = 0
    for row in range(len(keys)):
        slot = np.int64((keys[row] * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while table[slot] >= 0 and different[table[slot]] != keys[row]:
            slot = (slot + 1) & mask
        if table[slot] < 0:
            if found == most:
                return different[:0], number[:0], count[:0]
            table[slot] = found
            different[found] = keys[row]
            found += 1
        number[row] = table[slot]
        count[number[row]] += 1
    return different[:found], number, count[:found]


@njit(cache=True)
def _placed(number, places):  # type: ignore[no-untyped-def]
    """The rows, each at the next place of its number."""
    order = fresh(len(number), np.int64)
    for row in range(len(number)):
        order[places[number[row]]] = row
        places[number[row]] += 1
    return order
