"""Hot keys of a live run, by fragment and replicate: what begins matches goes to one of a key's places, every later row of the
key to all of them.

The places are the bucket of the key and those behind it. A match belongs to the place that its first row tells. It looks at no
row before that one; so whatever the key had before it was split stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.sequence.forward_search import key_of


@dataclass(frozen=True, slots=True)
class SplitKey:
    """A hot key, from when on it is split, and over how many buckets."""

    key: int
    """As rows are divided by it."""
    since: int
    """No event that was read before it was split is later than this: matches that begin up to here stay in the key's bucket."""
    places: int


def begin_at(keys: UInt64, starts: Int64, buckets: int, split: Sequence[SplitKey]) -> UInt64:
    """The bucket of the matches that begin with each row.

    >>> keys, starts = np.array([7, 7, 7, 7, 8], np.uint64), np.array([1, 2, 3, 4, 4])
    >>> begin_at(keys, starts, 4, [SplitKey(7, 1, 3)]).tolist()
    [3, 0, 0, 3, 0]
    """
    found = keys % np.uint64(buckets)
    for each in split:
        mine = np.flatnonzero((keys == np.uint64(each.key)) & (starts > each.since))
        step = key_of(starts[mine].view(np.uint64)[:, None], (0,)) % np.uint64(each.places)
        found[mine] = (found[mine] + step) % np.uint64(buckets)
    return found


def places_of(split: SplitKey, buckets: int) -> list[int]:
    """The buckets that a split key has.

    >>> places_of(SplitKey(7, 1, 3), 4)
    [3, 0, 1]
    """
    return [(split.key + place) % buckets for place in range(split.places)]
