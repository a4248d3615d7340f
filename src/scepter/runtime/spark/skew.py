"""Keys that have more than a task's share of history: their rows are cut into slices of time as well.

Which keys those are a sample tells (`sampling`). A hot key has places of its own behind the buckets; its slices go to them in
turn and overlap by what answers look back, so that each answer is found whole in one of them, the one that owns it. Whatever
the sample says, answers are the same: it divides the work, nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.state.slices import NOWHERE, Slices
from scepter.runtime.spark.shares import Share


@dataclass(frozen=True, slots=True)
class HotKey:
    """A key, its places, and how its history is cut."""

    key: int
    """As rows are divided by it."""
    first: int
    """Its first place."""
    places: int
    back: int
    """What answers look back at most, from their end; or ahead, from their start."""
    length: int
    """Of a slice without its overlaps; slices of one place are further apart than answers look back."""

    def cut(self, *, before: bool, after: bool) -> Slices:
        """Its history; slices are given rows from ahead of them, from behind them, or both."""
        return Slices(self.length, self.places, self.back * before, self.back * after, self.first)


def hot_key_at(hot: Sequence[HotKey], place: int) -> HotKey | None:
    """Whose place it is; None of a bucket of all other keys."""
    return next((each for each in hot if each.first <= place < each.first + each.places), None)


def places_of(share: Share, hot: Sequence[HotKey]) -> int:
    """The buckets of a share, and the places of its hot keys."""
    return share.buckets + sum(each.places for each in hot)


def spread(keys: UInt64, times: Int64, buckets: int, hot: Sequence[HotKey], before: bool, after: bool) -> list[UInt64]:
    """The bucket or place of each row, by key: several arrays, since slices overlap."""
    found = [keys % np.uint64(buckets)]
    for each in hot:
        mine = keys == np.uint64(each.key)
        if not mine.any():
            continue
        for turn, places in enumerate(each.cut(before=before, after=after).of(times[mine])):
            if turn == len(found):
                found.append(np.full(len(keys), NOWHERE))
            found[turn][mine] = places
    return found
