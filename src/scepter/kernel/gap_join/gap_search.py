"""The compiled loops of a gap join.

Backwards, in order of end: a row of the right side looks along the chains of its key, newest first. The first row between that
ended before it tells, by the latest start among all that ended no later (`tops`), how far back the gap may begin; the rows of
the left side that ended since are its partners. Forwards, for left rows that come in a later round: right rows and rows between
of the stretch stand sorted by key and start, and `soonest` is the least end from a place on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inlined, inner
from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.time_join.sweep import Chains, Side, entry_of, link, longer
from scepter.rdf.lengthening import filled, lengthened_table
from scepter.rdf.words import fresh, heed, lacks, pointer
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

LEFT, BETWEEN, RIGHT = 0, 1, 2
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Lefts(NamedTuple):
    """The rows of the left side. `first_end` is the end of the first with the same mapping and start, found by `marks`."""

    side: Side
    marks: UInt64
    firsts: Chains
    first_end: Int64


class Betweens(NamedTuple):
    """The rows between. `tops` is the latest start of a row and all before it in its chain."""

    side: Side
    tops: Int64


class Rights(NamedTuple):
    """Rows of the right side: they look, and are not looked for. `last` is the latest start of those with the same mapping and
    end, which have one `group`; `repeated` says whether any has more than one."""

    keys: UInt64
    gap_keys: UInt64
    start: Int64
    end: Int64
    last: Int64
    group: Int64
    repeated: bool


class Ahead(NamedTuple):
    """The right rows and the rows between of a stretch of time, each by key and start. `rows` are places in `Rights`; entries
    of the chains are keys, and their heads say where the rows of each begin."""

    keys: Chains
    bounds: Int64
    rows: Int64
    start: Int64
    gap_keys: Chains
    gap_bounds: Int64
    gap_start: Int64
    soonest: Int64


@inner
def link_left(lefts, row, keep):  # type: ignore[no-untyped-def]
    """Enter a row; false where it ended before one with the same mapping and start that came earlier."""
    known = lefts.firsts.sizes[0]
    entry = entry_of(lefts.firsts, lefts.marks, row, True)
    if entry == known:
        lefts.firsts.heads[entry] = row
    first = lefts.side.end[lefts.firsts.heads[entry]]
    lefts.first_end[row] = min(first, lefts.side.end[row])
    if keep:
        link(lefts.side, row, True, False)
    return first <= lefts.side.end[row]


@inner
def top(betweens, row):  # type: ignore[no-untyped-def]
    """Tell the latest start of a row and all before it."""
    older = betweens.side.chains.following[row]
    start = betweens.side.start[row]
    betweens.tops[row] = start if older < 0 else max(start, betweens.tops[older])


@njit(cache=True)
def link_lefts(lefts, first, last, keep):  # type: ignore[no-untyped-def]
    """Enter rows one after the other; whether they were in order."""
    in_order = True
    for row in range(first, last):
        in_order &= link_left(lefts, row, keep)
    return in_order


@njit(cache=True)
def top_all(betweens, last):  # type: ignore[no-untyped-def]
    """Tell the tops of rows that are linked in order of end."""
    for row in range(last):
        top(betweens, row)


@njit(cache=True)
def forget_firsts(firsts, size):  # type: ignore[no-untyped-def]
    """Take back what rows from `size` on have entered: they entered it last."""
    entry = firsts.sizes[0] - 1
    while entry >= 0 and firsts.heads[entry] >= size:
        firsts.slots[firsts.where[entry]] = -1
        entry -= 1
    firsts.sizes[0] = entry + 1


@inlined
def ended(ends, following, head, single, time):  # type: ignore[no-untyped-def]
    """The newest row of a chain that ended before a time; -1 for none. Where all rows are in a single chain, they stand one
    behind the other: then it is found by bisection, from the newest on, which it is most likely near. Both columns are given
    as pointers: an array is counted at every call."""
    row = head
    if single:
        high, step = row + 1, np.int64(1)
        while high - step >= 0 and ends[high - step] >= time:
            high -= step
            step *= 2
        low = max(high - step, -1) + 1
        while low < high:
            middle = (low + high) // 2
            if ends[middle] < time:
                low = middle + 1
            else:
                high = middle
        return low - 1
    while row >= 0 and ends[row] >= time:
        row = following[row]
    return row


@njit(cache=True)
def in_order(lefts, betweens, rights, known, kinds, rows):  # type: ignore[no-untyped-def]
    """New rows, each side by end, all by end: of which kind each is, and its place. Those of the right side come first among
    equals, since they look for what has ended before."""
    left, between, right = 0, 0, 0
    for i in range(len(rows)):
        after = rights[right] if right < len(rights) else MAX_INSTANT
        first = lefts[left] if left < len(lefts) else MAX_INSTANT
        other = betweens[between] if between < len(betweens) else MAX_INSTANT
        if right < len(rights) and after <= first and after <= other:
            kinds[i], rows[i] = RIGHT, known[2] + right
            right += 1
        elif left < len(lefts) and first <= other:
            kinds[i], rows[i] = LEFT, known[0] + left
            left += 1
        else:
            kinds[i], rows[i] = BETWEEN, known[1] + between
            between += 1


@njit(cache=True)
def tell_alike(ids, start, end, last, group):  # type: ignore[no-untyped-def]
    """Of rows by end: the first with the mapping and end of each, and the latest start of all such. Whether any are alike."""
    count, repeated = len(end), False
    slots = filled(16, np.int64(-1))
    low = 0
    while low < count:
        high = low + 1
        while high < count and end[high] == end[low]:
            high += 1
        bits = 4
        while (1 << bits) < 2 * (high - low):
            bits += 1
        if (1 << bits) > len(slots):
            slots = filled(1 << bits, np.int64(-1))
        mask, shift = np.int64((1 << bits) - 1), np.uint64(64 - bits)
        if high - low > 1:
            for place in range(1 << bits):
                slots[place] = -1
        for row in range(low, high):
            group[row], last[row] = row, start[row]
            if high - low == 1:
                break
            mixed = np.uint64(0)
            for j in range(ids.shape[1]):
                mixed = (mixed ^ (mixed >> np.uint64(29)) ^ ids[row, j]) * _MIX
            slot = np.int64(mixed >> shift)
            while slots[slot] >= 0:
                same, other = True, slots[slot]
                for j in range(ids.shape[1]):
                    same &= ids[row, j] == ids[other, j]
                if same:
                    group[row], repeated = other, True
                    last[other] = max(last[other], start[row])
                    break
                slot = (slot + 1) & mask
            if group[row] == row:
                slots[slot] = row
        for row in range(low, high):
            last[row] = last[group[row]]
        low = high
    return repeated


@njit(cache=True)
def look_back(kinds, rows, lefts, betweens, rights, bound, least, cells):  # type: ignore[no-untyped-def]
    """Visit new rows in order of end; returns the pairs (left row, right row)."""
    out = fresh((max(64, len(rows)), 2), np.int64)
    count = 0
    left, between = lefts.side, betweens.side
    # The arrays by themselves: each that is taken out of a tuple within the loop is counted, which costs more than the look.
    starts, ends, first_ends, tops = left.start, left.end, lefts.first_end, betweens.tops
    chains, heads, following, sizes = left.chains, left.chains.heads, left.chains.following, left.chains.sizes
    gaps, gap_heads, gap_sizes = between.chains, between.chains.heads, between.chains.sizes
    gap_ends, gap_following = pointer(between.end, 0), pointer(between.chains.following, 0)
    left_ends, left_following = pointer(ends, 0), pointer(following, 0)
    right_starts, right_ends, lasts, keys, gap_keys = rights.start, rights.end, rights.last, rights.keys, rights.gap_keys
    keyed, gap_keyed = keys.shape[1] > 0, gap_keys.shape[1] > 0
    for i in range(len(rows)):
        at = rows[i]
        if i % 16 == 0 and heed(cells, count):
            break
        if kinds[i] == LEFT:
            link_left(lefts, at, True)
            continue
        if kinds[i] == BETWEEN:
            link(between, at, True, False)
            top(betweens, at)
            continue
        start, end, floor, row = right_starts[at], right_ends[at], MIN_INSTANT, np.int64(-1)
        entry = entry_of(gaps, gap_keys, at, False) if gap_keyed else gap_sizes[0] - 1
        if entry >= 0:
            row = ended(gap_ends, gap_following, gap_heads[entry], gap_sizes[0] == 1, lasts[at])
            if row >= 0:
                floor = tops[row]
        entry = entry_of(chains, keys, at, False) if keyed else sizes[0] - 1
        row = np.int64(-1)
        if entry >= 0:
            row = ended(left_ends, left_following, heads[entry], sizes[0] == 1, start)
        while row >= 0 and ends[row] >= floor and not longer(ends[row], end, bound):
            long_enough = least == 0 or longer(starts[row], end, least - 1)
            if long_enough and first_ends[row] >= floor and not longer(starts[row], end, bound):
                if count == len(out):
                    if lacks(cells, 32 * count):
                        return out[:0]
                    out = lengthened_table(out, count, 2 * count)
                out[count, 0], out[count, 1] = row, at
                count += 1
            row = following[row]
    return out[:count]


@inner
def _behind(starts, low, high, time):  # type: ignore[no-untyped-def]
    """The first place in a sorted stretch whose start lies behind a time."""
    while low < high:
        middle = (low + high) // 2
        if starts[middle] > time:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True)
def look_ahead(first, last, lefts, gap_keys, ahead, rights, bound, least, cells):  # type: ignore[no-untyped-def]
    """The right rows of the stretch that new left rows go before; returns the pairs (left row, right row)."""
    out = fresh((max(64, last - first), 2), np.int64)
    count = 0
    left = lefts.side
    for row in range(first, last):
        if row % 16 == 0 and heed(cells, count):
            break
        entry = entry_of(ahead.keys, left.keys, row, False)
        if entry < 0:
            continue
        ceiling = MAX_INSTANT
        gap = entry_of(ahead.gap_keys, gap_keys, row - first, False)
        if gap >= 0:
            high = ahead.gap_bounds[gap + 1]
            place = _behind(ahead.gap_start, ahead.gap_bounds[gap], high, lefts.first_end[row])
            if place < high:
                ceiling = ahead.soonest[place]
        high = ahead.bounds[entry + 1]
        place = _behind(ahead.start, ahead.bounds[entry], high, left.end[row])
        start = left.start[row]
        while place < high and ahead.start[place] <= ceiling and not longer(start, ahead.start[place], bound):
            at = ahead.rows[place]
            lasts = not longer(start, rights.end[at], bound) and (least == 0 or longer(start, rights.end[at], least - 1))
            if lasts and rights.last[at] <= ceiling:
                if count == len(out):
                    if lacks(cells, 32 * count):
                        return out[:0]
                    out = lengthened_table(out, count, 2 * count)
                out[count, 0], out[count, 1] = row, at
                count += 1
            place += 1
    return out[:count]


@njit(cache=True)
def soonest_of(end, bounds, soonest):  # type: ignore[no-untyped-def]
    """The least end from each place on, within its stretch."""
    for i in range(len(bounds) - 1):
        least = MAX_INSTANT
        for place in range(bounds[i + 1] - 1, bounds[i] - 1, -1):
            least = min(least, end[place])
            soonest[place] = least


@njit(cache=True)
def entries_of(chains, keys, entries):  # type: ignore[no-untyped-def]
    """Enter keys; the number of each."""
    for row in range(len(keys)):
        entries[row] = entry_of(chains, keys, row, True)
