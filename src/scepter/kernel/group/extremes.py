"""MIN, MAX and SAMPLE while members come and go: the first of all that are inside, in an order of preference.

There is no taking away from a minimum. Instead members are painted onto the slots that they are inside for, the most preferred
first, each on what is still free: every slot is painted once, and painted stretches are jumped over.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from scepter.kernel.rows import Float64, Int8, Int64, UInt64
from scepter.kernel.texts import Texts
from scepter.rdf.batch import DOUBLE, MAX_SCALE
from scepter.rdf.values import order_key


@njit(cache=True)
def _paint(order, low, high, best, following):  # type: ignore[no-untyped-def]
    # Invariant: following[s] is s where slot s is free, else some slot after s with no free one between them.
    for member in order:
        slot = low[member]
        end = high[member]
        while slot < end:
            free = slot
            while following[free] != free:
                free = following[free]
            while following[slot] != slot:  # shorten the way for those who come later
                following[slot], slot = free, following[slot]
            if free >= end:
                break
            best[free] = member
            following[free] = free + 1
            slot = free + 1


def preferred(order: Int64, low: Int64, high: Int64, slots: int) -> Int64:
    """For each slot the first member, in an order, that is inside from `low` to before `high`; -1 if nobody is.

    >>> preferred(np.array([1, 0]), np.array([0, 1]), np.array([3, 2]), 4).tolist()
    [0, 1, 0, -1]
    """
    best = np.full(slots, -1, np.int64)
    _paint(order, low, high, best, np.arange(slots + 1, dtype=np.int64))
    return best


def ranked(ids: UInt64, refs: Int64, number: Float64, scale: Int8, texts: Texts, *, descending: bool) -> Int64:
    """Places in SPARQL's order of terms; equal ones in the order they stand."""
    value = _values(ids, refs, number, scale, texts)
    return np.argsort(-value if descending else value, kind="stable")


def ranks(ids: UInt64, refs: Int64, number: Float64, scale: Int8, texts: Texts) -> Int64:
    """A rank for each, equal for terms that SPARQL's order does not tell apart.

    Unbound comes first."""
    _, rank = np.unique(_values(ids, refs, number, scale, texts), return_inverse=True)
    return rank.astype(np.int64)


def _values(ids: UInt64, refs: Int64, number: Float64, scale: Int8, texts: Texts) -> Float64:
    """Numbers by value where float64 tells them apart: exact ones among themselves, and doubles among themselves and among
    integers. All others by rank."""
    exact, double = (scale >= 0) & (scale <= MAX_SCALE), scale == DOUBLE
    mixed = bool(double.any()) and bool((exact & (scale > 0)).any())
    if bool((exact | double).all()) and not mixed and not bool(np.isnan(number).any()):
        return number
    different, first, where = np.unique(ids, return_index=True, return_inverse=True)
    terms = [None if id == 0 else texts.term(ref) for id, ref in zip(different.tolist(), refs[first].tolist(), strict=True)]
    keys = [order_key(term) for term in terms]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    rank = np.empty(len(keys))
    rank[order] = _dense([keys[i] for i in order])
    return rank[where]


def _dense(keys: Sequence[object]) -> Int64:
    """Ranks of sorted keys, equal for equal ones."""
    new = [i > 0 and key != keys[i - 1] for i, key in enumerate(keys)]
    return np.cumsum(np.array(new, np.int64))
