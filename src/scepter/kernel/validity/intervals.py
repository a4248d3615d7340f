"""Sets of half-open intervals in columns: what a union adds, and what it leaves open. Nothing here is a loop over rows."""

from __future__ import annotations

import numpy as np

from scepter.kernel.rows import Int64, Mask


def covered_before(owner: Int64, until: Int64, start: Int64) -> Int64:
    """For intervals in order of owner, then since: how far those of the same owner before each one reach, at least `start`.

    `start` is per interval, equal for one owner.

    >>> of, until, start = np.array([0, 0, 1]), np.array([9, 5, 3]), np.array([1, 1, 2])
    >>> covered_before(of, until, start).tolist()
    [1, 9, 2]
    """
    if not len(owner):
        return start
    # a running maximum that starts anew with each owner: the owner's place is the number's upper part, the rank of `until`
    # its lower one, so that no smaller owner's maximum can win
    ends, rank = np.unique(until, return_inverse=True)
    first = np.ones(len(owner), np.bool_)
    first[1:] = owner[1:] != owner[:-1]
    upper = np.cumsum(first) * len(ends)
    reached = ends[np.maximum.accumulate(upper + rank) - upper]
    before = np.empty_like(start)
    before[0], before[1:] = start[0], reached[:-1]
    return np.where(first, start, np.maximum(before, start))


def coalesced(owner: Int64, since: Int64, until: Int64, covered: Int64) -> Int64:
    """Where each interval begins to add to those before it and to what is covered of its owner up to `covered`.

    The intervals are in order of `since` within an owner; what begins at or after its end adds nothing. The pieces
    `[result, until)` are disjoint and their union is that of the intervals.

    >>> of, covered = np.zeros(3, np.int64), np.full(3, 2)
    >>> coalesced(of, np.array([1, 3, 4]), np.array([5, 4, 9]), covered).tolist()
    [2, 5, 5]
    """
    order = np.argsort(owner, kind="stable")
    begins = np.empty_like(since)
    begins[order] = covered_before(owner[order], until[order], covered[order])
    return np.maximum(begins, since)


def gaps(low: Int64, high: Int64, owner: Int64, since: Int64, until: Int64) -> tuple[Int64, Int64, Int64]:
    """What the intervals of an owner leave open of `[low[owner], high[owner])`: (owner, since, until), by owner and time.

    >>> [column.tolist() for column in gaps(np.array([0]), np.array([9]), np.array([0, 0]), np.array([2, 5]), np.array([4, 6]))]
    [[0, 0, 0], [0, 4, 6], [2, 5, 9]]
    """
    since, until = np.maximum(since, low[owner]), np.minimum(until, high[owner])
    some = np.flatnonzero(since < until)
    order = some[np.lexsort((since[some], owner[some]))]
    # an empty interval at its end makes each owner's last gap one before an interval, like all others
    every = np.arange(len(low), dtype=np.int64)
    of = np.concatenate([owner[order], every])
    begin = np.concatenate([since[order], high])
    end = np.concatenate([until[order], high])
    last = np.concatenate([np.zeros(len(order), np.bool_), np.ones(len(low), np.bool_)])
    arranged = np.lexsort((last, of))
    of, begin, end = of[arranged], begin[arranged], end[arranged]
    reached = covered_before(of, end, low[of])
    open: Mask = reached < begin
    return of[open], reached[open], begin[open]


def overlap(since: Int64, until: Int64, other_since: Int64, other_until: Int64) -> tuple[Int64, Int64, Mask]:
    """The intersections of intervals, pair by pair, and which are not empty."""
    low, high = np.maximum(since, other_since), np.minimum(until, other_until)
    return low, high, low < high
