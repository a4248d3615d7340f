"""Equal rows of numbers found by hashing, in the order they first stand: sorting for `numpy.unique` costs many times that."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.rdf.lengthening import filled
from scepter.rdf.words import fresh

_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def _distinct(rows: Any) -> Any:
    count, width = rows.shape
    bits = 4
    while (1 << bits) < 2 * count:
        bits += 1
    mask = (1 << bits) - 1
    shift = np.uint64(64 - bits)
    table = filled(1 << bits, np.int64(-1))
    first = fresh(count, np.int64)
    where = fresh(count, np.int64)
    found = 0
    for i in range(count):
        mixed = np.uint64(0)
        for j in range(width):
            mixed = (mixed ^ (mixed >> np.uint64(29)) ^ rows[i, j]) * _MIX
        slot = np.int64(mixed >> shift)
        while True:
            known = table[slot]
            if known < 0:
                table[slot] = found
                first[found] = i
                where[i] = found
                found += 1
                break
            other = first[known]
            same = True
            for j in range(width):
                if rows[other, j] != rows[i, j]:
                    same = False
                    break
            if same:
                where[i] = known
                break
            slot = (slot + 1) & mask
    return first[:found].copy(), where


def distinct(
    rows: NDArray[np.int64] | NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of a table, the places where each row first stands, and for each place which of these it equals.

    >>> distinct(np.array([[7, 0], [5, 0], [7, 0]]))
    (array([0, 1]), array([0, 1, 0]))
    """
    first, where = _distinct(rows.view(np.uint64))  # one kind of rows is compiled
    return first, where
