"""Equal numbers found by hashing, in the order they first stand: what sorting for `numpy.unique` costs many times over."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def _distinct(left: Any, right: Any) -> Any:
    bits = 4
    while (1 << bits) < 2 * len(left):
        bits += 1
    mask = (1 << bits) - 1
    shift = np.uint64(64 - bits)
    table = np.full(1 << bits, -1, np.int64)
    first = np.empty(len(left), np.int64)
    where = np.empty(len(left), np.int64)
    count = 0
    for i in range(len(left)):
        a, b = left[i], right[i]
        slot = np.int64((np.uint64(a) * _MIX ^ np.uint64(b)) * _MIX >> shift)
        while True:
            known = table[slot]
            if known < 0:
                table[slot] = count
                first[count] = i
                where[i] = count
                count += 1
                break
            if left[first[known]] == a and right[first[known]] == b:
                where[i] = known
                break
            slot = (slot + 1) & mask
    return first[:count].copy(), where


def distinct(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The place where each value first stands, and for each place which of these it equals.

    >>> distinct(np.array([7, 5, 7]))
    (array([0, 1]), array([0, 1, 0]))
    """
    return distinct_pairs(values, values)


def distinct_pairs(left: NDArray[np.int64], right: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same for pairs of values."""
    first, where = _distinct(left, right)
    return first, where
