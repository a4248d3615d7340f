"""From the log of pairs that came and went to the pairs whose rows are new (spec/30-rsep-ql rule 11)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.windowed.pairs.rows import Int64, UInt64


class Identities:
    """The event mappings of an answer, counted: a mapping that comes about in several ways is one (rule 5)."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def changes(self, identity: UInt64, sign: Int64) -> NDArray[np.bool_]:
        """Which entries of a log make a mapping come or go; the others are further ways to it."""
        counts = self._counts
        found = np.empty(len(identity), np.bool_)
        for i, (key, change) in enumerate(zip(identity.tolist(), sign.tolist(), strict=True)):
            count = counts.get(key, 0) + change
            if count:
                counts[key] = count
            else:
                del counts[key]
            found[i] = count == (1 if change > 0 else 0)
        return found


def fresh(row: UInt64, sign: Int64) -> Int64:
    """Places of the entries that come and are not taken back by one that goes: the bag difference of an instant's rows.

    `row` is an id of each entry's instant and row.
    """
    if not (sign < 0).any():
        return np.flatnonzero(sign > 0)
    # equal rows one after the other, those that go first: each of them takes one that comes with it
    order = np.lexsort((sign, row))
    ids, signs = row[order], sign[order]
    first = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    lengths = np.diff(np.concatenate([first, [len(ids)]]))
    going = np.add.reduceat((signs < 0).astype(np.int64), first)
    place = np.arange(len(ids)) - np.repeat(first, lengths)
    kept = place >= 2 * np.repeat(going, lengths)
    return np.sort(order[kept])
