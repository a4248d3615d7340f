"""The compiled loop of a time join: a symmetric hash join that follows the order of ends.

New rows of both sides are visited by end. Each looks for partners among the rows of the other side that came before it, then
it is linked into its own side, so that every pair is found once, by the one that completes it. Hence the invariants:

- Every row that is found ended no later than the row that looks: an optional part is seen exactly if it has ended by then.
- A chain holds the rows of one key, newest first, so that ends fall along it and a search can stop. Timeless rows (start > end)
  ended before everything: they stand last, and while a table has some, no search stops early.
- Where rules feed each other, rows come in rounds, and within a stretch of time in any order (`ordered` is false): then no
  search stops early, and what has ended by then is compared.
- A row that nobody will look for is never linked (`entry` is -1); it goes when the table is next compacted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inner, plain
from scepter.kernel.interrupts import interruptible
from scepter.kernel.rows import Int64, UInt64
from scepter.rdf.lengthening import lengthened_table
from scepter.rdf.words import fresh, heed, lacks
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

ANY, BEFORE, AFTER, MEETS, METBY, OVERLAPS, OVERLAPPEDBY, STARTS, STARTEDBY = range(9)
DURING, CONTAINS, FINISHES, FINISHEDBY, EQUALS = range(9, 14)
"""Allen's relations of the left side to the right one; ANY is none."""

INNER, OUTER, EXISTS, LATE = 0, 1, 2, 3
"""All partners; all partners, and of those that can only keep a row from standing alone one; the first partner alone; the rows
that would have seen the one that looks, had it come before them."""

NO_BOUND = MAX_INSTANT
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Chains(NamedTuple):
    """Where the rows of a key are. `slots` is an open-addressed table of entries (-1: free), an entry is a key with the newest
    of its rows; `following` leads to the next older row."""

    slots: Int64
    keys: UInt64
    heads: Int64
    where: Int64
    """The slot of an entry."""
    following: Int64
    entry: Int64
    """Of a row."""
    sizes: Int64
    """[entries, linked timeless rows]."""


class Side(NamedTuple):
    """What a search looks at in the rows of a side. `loose` are the shared variables that some rows do not bind."""

    keys: UInt64
    loose: UInt64
    start: Int64
    end: Int64
    chains: Chains
    first: int
    """The first row that is new."""


class Rules(NamedTuple):
    """How pairs are chosen."""

    relation: int
    mode: int
    probes: tuple[bool, bool]
    """Whether the new rows of the left, of the right side look for partners."""
    keeps: tuple[bool, bool]
    """Whether timed rows of the side are looked for."""
    bound: int
    """The longest duration of a pair that is of use; NO_BOUND for any."""
    once: tuple[bool, bool]
    """Whether a row that looks like one already linked is left out: only that it was there counts."""
    ordered: bool
    """Whether no row ends before one that came earlier."""


@inner
def entry_of(chains, keys, row, grow):  # type: ignore[no-untyped-def]
    """The entry of a row's key, -1 where there is none and none is to be made."""
    mask = len(chains.slots) - 1
    mixed = np.uint64(0)
    for j in range(keys.shape[1]):
        mixed = (mixed ^ (mixed >> np.uint64(29)) ^ keys[row, j]) * _MIX
    slot = np.int64(mixed >> np.uint64(20)) & mask
    while True:
        entry = chains.slots[slot]
        if entry < 0:
            break
        same = True
        for j in range(keys.shape[1]):
            if chains.keys[entry, j] != keys[row, j]:
                same = False
                break
        if same:
            return entry
        slot = (slot + 1) & mask
    if not grow:
        return np.int64(-1)
    entry = chains.sizes[0]
    chains.sizes[0] += 1
    chains.slots[slot] = entry
    chains.where[entry] = slot
    for j in range(keys.shape[1]):
        chains.keys[entry, j] = keys[row, j]
    chains.heads[entry] = -1
    return entry


@inner
def link(side, row, keep, once):  # type: ignore[no-untyped-def]
    """Make a row the newest of its key, if it is looked for."""
    timeless = side.start[row] > side.end[row]
    if not keep and not timeless:
        side.chains.entry[row] = -1
        return
    entry = entry_of(side.chains, side.keys, row, True)
    if once:
        known = side.chains.heads[entry]
        while known >= 0:
            same = True
            for j in range(side.loose.shape[1]):
                if side.loose[known, j] != side.loose[row, j]:
                    same = False
            if same:  # it has come before, and so counts for all that this one could count for
                side.chains.entry[row] = -1
                return
            known = side.chains.following[known]
    side.chains.entry[row] = entry
    side.chains.following[row] = side.chains.heads[entry]
    side.chains.heads[entry] = row
    if timeless:
        side.chains.sizes[1] += 1


@inner
def _related(relation, a, b, c, d):  # type: ignore[no-untyped-def]
    """Whether [a, b] stands in a relation to [c, d]; what has no time stands in any (spec/20-ep-sparql rule 1)."""
    if relation == ANY or a > b or c > d:
        return True
    if relation == BEFORE:
        return b < c
    if relation == AFTER:
        return d < a
    if relation == MEETS:
        return b == c
    if relation == METBY:
        return d == a
    if relation == OVERLAPS:
        return a < c and c < b and b < d
    if relation == OVERLAPPEDBY:
        return c < a and a < d and d < b
    if relation == STARTS:
        return a == c and b < d
    if relation == STARTEDBY:
        return a == c and d < b
    if relation == DURING:
        return c < a and b < d
    if relation == CONTAINS:
        return a < c and d < b
    if relation == FINISHES:
        return c < a and b == d
    if relation == FINISHEDBY:
        return a < c and b == d
    return a == c and b == d


@inner
def _past(relation, end, start, now):  # type: ignore[no-untyped-def]
    """Whether a row that ended at `end`, and with it all older ones, is in no relation to one of [start, now] that comes later.
    Relations of equal ends need the instant itself, all others but BEFORE and AFTER some time in common."""
    if relation >= FINISHES:
        return end < now
    return relation > AFTER and end < start


@inner
def longer(start, end, bound):  # type: ignore[no-untyped-def]
    """Whether an interval is longer than a bound, for any ends of 64 bits."""
    return bound != NO_BOUND and end >= MIN_INSTANT + bound and start < end - bound


@inner
def _agree(build, row, probe, at):  # type: ignore[no-untyped-def]
    for j in range(build.loose.shape[1]):
        if build.loose[row, j] != 0 and probe.loose[at, j] != 0 and build.loose[row, j] != probe.loose[at, j]:
            return False
    return True


@inner
def _search(build, probe, at, rules, flipped, out, count):  # type: ignore[no-untyped-def]
    """Write the partners of a row behind `out[count]`; returns the new count, or -1 - count where there is no room for more.
    `flipped`: the row that looks is of the left side."""
    if build.chains.sizes[0] == 0:
        return count
    entry = entry_of(build.chains, probe.keys, at, False)
    row = build.chains.heads[entry] if entry >= 0 else np.int64(-1)
    start, end, first = probe.start[at], probe.end[at], count
    timed, stops = start <= end, rules.ordered and build.chains.sizes[1] == 0
    while row >= 0:
        s, e = build.start[row], build.end[row]
        outside = timed and s <= e and longer(min(s, start), max(e, end), rules.bound)
        if stops and timed:
            if _past(rules.relation, e, start, end):
                break
            if longer(min(e, start), end, rules.bound) and (rules.mode == INNER or count > first):
                break
        seen = rules.mode == INNER or (e >= end if rules.mode == LATE else e <= end)
        tried = seen and not (outside and (rules.mode == INNER or count > first)) and _agree(build, row, probe, at)
        if tried and (_related(rules.relation, start, end, s, e) if flipped else _related(rules.relation, s, e, start, end)):
            if count == len(out):
                return -1 - first
            out[count, 0], out[count, 1] = at, row
            count += 1
            if rules.mode == EXISTS:
                break
        row = build.chains.following[row]
    return count


def sweep(order: Int64, left: Side, right: Side, rules: Rules) -> Int64:
    """Visit new rows in order: those of `order` below 0 are of the left side (-1 - row), the others of the right. Returns the
    pairs (left row, right row)."""

    def ends() -> tuple[Int64, Int64]:
        return left.end[-1 - order[order < 0]], right.end[order[order >= 0]]

    pairs: Int64 = interruptible(_sweep, ends, order, plain(left), plain(right), tuple(rules))
    return pairs


@njit(cache=True)
def _sweep(order, left_, right_, rules_, cells):  # type: ignore[no-untyped-def]
    """What has a name above is given as a plain tuple (`inner.plain`)."""
    left = Side(left_[0], left_[1], left_[2], left_[3], Chains(*left_[4]), left_[5])
    right = Side(right_[0], right_[1], right_[2], right_[3], Chains(*right_[4]), right_[5])
    rules = Rules(*rules_)
    out = fresh((max(64, len(order)), 2), np.int64)
    found = fresh((max(64, len(order)), 2), np.int64)
    count = 0
    for i in range(len(order)):
        step = order[i]
        if i % 16 == 0 and heed(cells, count):
            break
        of_left = step < 0
        at = -1 - step if of_left else step
        if rules.probes[0] if of_left else rules.probes[1]:
            while True:
                if of_left:
                    added = _search(right, left, at, rules, True, found, 0)
                else:
                    added = _search(left, right, at, rules, False, found, 0)
                if added >= 0:
                    break
                if lacks(cells, 32 * len(found)):
                    return out[:0]
                found = fresh((2 * len(found), 2), np.int64)
            if count + added > len(out):
                if lacks(cells, 32 * (count + added)):
                    return out[:0]
                out = lengthened_table(out, count, 2 * (count + added))
            for j in range(added):
                out[count, 0] = found[j, 0] if of_left else found[j, 1]
                out[count, 1] = found[j, 1] if of_left else found[j, 0]
                count += 1
        if of_left:
            link(left, at, rules.keeps[0], rules.once[0])
        else:
            link(right, at, rules.keeps[1], rules.once[1])
    return out[:count]


@njit(cache=True)
def clear(chains):  # type: ignore[no-untyped-def]
    """Forget all keys and rows: slot by slot, since most are free."""
    for entry in range(chains.sizes[0]):
        chains.slots[chains.where[entry]] = -1
    chains.entry[:] = -1
    chains.sizes[:] = 0


@njit(cache=True)
def link_all(side, first, last, keep, once):  # type: ignore[no-untyped-def]
    """Link rows that nobody looks for partners of: what a table held before it was compacted or written down."""
    for row in range(first, last):
        link(side, row, keep, once)


@njit(cache=True)
def link_some(side, rows):  # type: ignore[no-untyped-def]
    """Link rows by their places, in order."""
    for row in rows:
        link(side, row, True, False)


@njit(cache=True)
def enter(chains, keys, new):  # type: ignore[no-untyped-def]
    """Mark the rows of a table of keys that were not entered before, and enter them."""
    for row in range(len(keys)):
        known = chains.sizes[0]
        new[row] = entry_of(chains, keys, row, True) == known


@njit(cache=True)
def unlink(side, first, last):  # type: ignore[no-untyped-def]
    """Take back the newest rows: each is the head of its chain by then."""
    for row in range(last - 1, first - 1, -1):
        entry = side.chains.entry[row]
        if entry >= 0:
            side.chains.heads[entry] = side.chains.following[row]
            if side.start[row] > side.end[row]:
                side.chains.sizes[1] -= 1
    # Keys that came with these rows were entered last: without them the table is as it was.
    entry = side.chains.sizes[0] - 1
    while entry >= 0 and side.chains.heads[entry] < 0:
        side.chains.slots[side.chains.where[entry]] = -1
        entry -= 1
    side.chains.sizes[0] = entry + 1
