"""Who is in which group when: rows that enter and leave, and the slots between changes in which every group stays the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scepter.kernel.rows import Int64, Mask, Rows, concat


@dataclass(frozen=True, slots=True)
class Membership:
    """Rows that are inside, and the number of each one's group. Never changed in place."""

    rows: Rows
    group: Int64

    def joined(self, rows: Rows, group: Int64) -> Membership:
        """With more rows."""
        if not len(rows):
            return self
        return Membership(concat([self.rows, rows], rows.width), np.concatenate([self.group, group]))

    def take(self, kept: Int64 | Mask) -> Membership:
        """Some of them."""
        at = np.flatnonzero(kept) if kept.dtype == np.bool_ else kept
        return Membership(self.rows.take(at), self.group[at])


@dataclass(frozen=True, slots=True)
class Changes:
    """What changes in a stretch of time: members that enter (+1) or leave (-1) a group at an instant."""

    member: Int64
    """Its place among `members`."""
    group: Int64
    time: Int64
    sign: Int64

    @classmethod
    def of(cls, inside: Membership, start: int, closed: int) -> Changes:
        """From `start` to `closed`. Who is there before has entered before; who is there later enters later."""
        enters = np.flatnonzero((inside.rows.since >= start) & (inside.rows.since <= closed))
        leaves = np.flatnonzero(inside.rows.until <= closed)
        member = np.concatenate([enters, leaves])
        time = np.concatenate([inside.rows.since[enters], inside.rows.until[leaves]])
        sign = np.concatenate([np.ones(len(enters), np.int64), np.full(len(leaves), -1, np.int64)])
        return cls(member, inside.group[member], time, sign)


class Slots:
    """Different pairs of group and instant at which something changes, by group, then time.

    A slot lasts to the next of its group, the last one to the end of the stretch."""

    __slots__ = ("_ranks", "_times", "first", "group", "last", "time")

    def __init__(self, group: Int64, time: Int64) -> None:
        """From changes, in any order."""
        self._times = np.unique(time)
        ranks = np.unique(self._rank(group, time))
        self._ranks = ranks
        each = len(self._times) + 1
        self.group: Int64 = ranks // each
        self.time: Int64 = self._times[ranks % each]
        self.first: Mask = np.ones(len(ranks), np.bool_)
        self.last: Mask = np.ones(len(ranks), np.bool_)
        self.first[1:] = self.last[:-1] = self.group[1:] != self.group[:-1]

    def __len__(self) -> int:
        return len(self.group)

    def _rank(self, group: Int64, time: Int64) -> Int64:
        # one word orders by group, then time: there are fewer groups and times than a word of 63 bits holds
        return group * (len(self._times) + 1) + np.searchsorted(self._times, time)

    def at(self, group: Int64, time: Int64) -> Int64:
        """The first slot of a group that begins at or after a time; the next group's first one if there is none."""
        found: Int64 = np.searchsorted(self._ranks, self._rank(group, time))
        return found

    def summed(self, slot: Int64, amount: Int64, base: Int64) -> Int64:
        """What groups amount to in each slot: `base` (per group) and all that changed up to it.

        Sums may wrap on the way: subtracting undoes that, as long as each result fits."""
        change = np.zeros((len(self), *amount.shape[1:]), np.int64)
        np.add.at(change, slot, amount)
        running = np.cumsum(change, axis=0)
        starts = np.flatnonzero(self.first)
        before = (running - change)[starts]
        counts = np.diff(np.append(starts, len(self)))
        result: Int64 = running - np.repeat(before, counts, axis=0) + base[self.group]
        return result
