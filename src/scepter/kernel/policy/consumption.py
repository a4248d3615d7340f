"""The compiled loop of policies: each right side with the earliest or latest left side that fits and is not consumed.

Right sides are visited in order; by then all left sides that ended no later are linked. Hence the invariants:

- Left sides stand in their table in the order that settles ties, so that along the chain of a key, which can be followed both
  ways, the first one that fits is the one that is taken.
- Time only goes on: what is consumed, or too old for the row that looks, is so for all that come later, and leaves its chain.
  So a chain is walked over what waits, not over what has been.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.kernel.rows import NO_LINEAGE, Int64, UInt64
from scepter.kernel.time_join.sweep import Side, entry_of, link, longer
from scepter.rdf.lengthening import lengthened
from scepter.rdf.words import fresh

_MIX = np.uint64(0x9E3779B97F4A7C15)


class Nodes(NamedTuple):
    """The lineage: operands, and of leaves the number of their occurrence and its arrival."""

    left: Int64
    right: Int64
    part: Int64
    event: Int64


class Lefts(NamedTuple):
    """The left sides that wait. Chains lead from the newest to older ones; `newer` and, by key, `oldest` the other way."""

    side: Side
    lineage: Int64
    newer: Int64
    oldest: Int64


class Rights(NamedTuple):
    """The right sides that come, in order."""

    keys: UInt64
    loose: UInt64
    start: Int64
    end: Int64
    lineage: Int64


class Consumed(NamedTuple):
    """Numbers of occurrences in the order they were consumed, each with the end of what used it; `slots` finds them."""

    slots: Int64
    numbers: Int64
    latest: Int64
    size: Int64


class How(NamedTuple):
    """How pairs are chosen: of equal intervals or one before the other, the latest or the earliest, within a duration."""

    equal: bool
    recent: bool
    bound: int


@inner
def _slot(consumed, number):  # type: ignore[no-untyped-def]
    """Where a number stands, or could."""
    mask = len(consumed.slots) - 1
    slot = np.int64((np.uint64(number) * _MIX) >> np.uint64(20)) & mask
    while consumed.slots[slot] >= 0 and consumed.numbers[consumed.slots[slot]] != number:
        slot = (slot + 1) & mask
    return slot


@inner
def _below(nodes, node):  # type: ignore[no-untyped-def]
    """The leaves of a node."""
    found, stack = fresh(8, np.int64), fresh(8, np.int64)
    count, depth = 0, 1
    stack[0] = node
    while depth > 0:
        depth -= 1
        at = stack[depth]
        while at != NO_LINEAGE:
            if nodes.event[at] >= 0:
                if count == len(found):
                    found = lengthened(found, count)
                found[count] = at
                count += 1
            if nodes.right[at] != NO_LINEAGE:
                if depth == len(stack):
                    stack = lengthened(stack, depth)
                stack[depth] = nodes.right[at]
                depth += 1
            at = nodes.left[at]
    return found[:count]


@inner
def _is_consumed(consumed, nodes, node):  # type: ignore[no-untyped-def]
    """Whether something that a row rests on is."""
    if node == NO_LINEAGE or consumed.size[0] == 0:
        return False
    if nodes.left[node] == NO_LINEAGE and nodes.right[node] == NO_LINEAGE:
        return consumed.slots[_slot(consumed, nodes.part[node])] >= 0
    found = False
    for leaf in _below(nodes, node):
        found = found or consumed.slots[_slot(consumed, nodes.part[leaf])] >= 0
    return found


@inner
def _consume(consumed, nodes, leaves, end):  # type: ignore[no-untyped-def]
    for leaf in leaves:
        slot = _slot(consumed, nodes.part[leaf])
        if consumed.slots[slot] < 0:
            place = consumed.size[0]
            consumed.slots[slot] = place
            consumed.numbers[place] = nodes.part[leaf]
            consumed.latest[place] = end
            consumed.size[0] = place + 1


@inner
def _follow(lefts, row):  # type: ignore[no-untyped-def]
    """Make a row that is linked the newest from the other end too."""
    older = lefts.side.chains.following[row]
    lefts.newer[row] = -1
    if older >= 0:
        lefts.newer[older] = row
    else:
        lefts.oldest[lefts.side.chains.entry[row]] = row


@inner
def _leave(lefts, row):  # type: ignore[no-untyped-def]
    """Take a row out of its chain."""
    chains = lefts.side.chains
    entry, older, newer = chains.entry[row], chains.following[row], lefts.newer[row]
    if newer >= 0:
        chains.following[newer] = older
    else:
        chains.heads[entry] = older
    if older >= 0:
        lefts.newer[older] = newer
    else:
        lefts.oldest[entry] = newer
    chains.entry[row] = -1


@inner
def _is_over(side, row, now, how):  # type: ignore[no-untyped-def]
    """Whether a left side fits none that ends at `now` or later."""
    return side.end[row] < now if how.equal else longer(side.start[row], now, how.bound)


@inner
def _fits(lefts, row, rights, at, how):  # type: ignore[no-untyped-def]
    side = lefts.side
    start, end = rights.start[at], rights.end[at]
    if how.equal:
        if side.start[row] != start or side.end[row] != end or longer(start, end, how.bound):
            return False
    elif side.end[row] >= start or longer(side.start[row], end, how.bound):
        return False
    for j in range(side.loose.shape[1]):
        if side.loose[row, j] != 0 and rights.loose[at, j] != 0 and side.loose[row, j] != rights.loose[at, j]:
            return False
    return True


@inner
def _partner(lefts, rights, at, nodes, consumed, how):  # type: ignore[no-untyped-def]
    """The left side that a right one is paired with; -1 where there is none."""
    chains = lefts.side.chains
    entry = entry_of(chains, rights.keys, at, False)
    if entry < 0:
        return np.int64(-1)
    row = chains.heads[entry] if how.recent else lefts.oldest[entry]
    while row >= 0:
        further = chains.following[row] if how.recent else lefts.newer[row]
        if _is_over(lefts.side, row, rights.end[at], how) or _is_consumed(consumed, nodes, lefts.lineage[row]):
            _leave(lefts, row)
        elif _fits(lefts, row, rights, at, how):
            return row
        elif not how.recent and not how.equal and lefts.side.end[row] >= rights.start[at]:
            break  # and so does every newer one
        row = further
    return np.int64(-1)


@njit(cache=True)
def pair(lefts, rights, nodes, consumed, how, at, out):  # type: ignore[no-untyped-def]
    """Go on from `at`: [the next left side to link, behind the last one, the next right side, pairs so far]. Whether all is
    done: if not, what is consumed needs more room."""
    while at[2] < len(rights.end):
        b = at[2]
        while at[0] < at[1] and lefts.side.end[at[0]] <= rights.end[b]:
            link(lefts.side, at[0], True, False)
            _follow(lefts, at[0])
            at[0] += 1
        if not _is_consumed(consumed, nodes, rights.lineage[b]):
            a = _partner(lefts, rights, b, nodes, consumed, how)
            if a >= 0:
                first, second = _below(nodes, lefts.lineage[a]), _below(nodes, rights.lineage[b])
                if consumed.size[0] + len(first) + len(second) > len(consumed.numbers):
                    return False
                _consume(consumed, nodes, first, lefts.side.end[a])
                _consume(consumed, nodes, second, rights.end[b])
                out[at[3], 0], out[at[3], 1] = a, b
                at[3] += 1
        at[2] = b + 1
    while at[0] < at[1]:
        link(lefts.side, at[0], True, False)
        _follow(lefts, at[0])
        at[0] += 1
    return True


@njit(cache=True)
def follow_all(lefts, last):  # type: ignore[no-untyped-def]
    """The way back along chains that were linked anew, up to a row."""
    for row in range(last):
        if lefts.side.chains.entry[row] >= 0:
            _follow(lefts, row)


@njit(cache=True)
def lasting(lefts, last, nodes, consumed, how, now):  # type: ignore[no-untyped-def]
    """Which left sides up to a row may still be paired with what ends at `now` or later."""
    found = fresh(last, np.bool_)
    for row in range(last):
        over = _is_over(lefts.side, row, now, how)
        found[row] = not over and not _is_consumed(consumed, nodes, lefts.lineage[row])
    return found


@njit(cache=True)
def find_all(consumed):  # type: ignore[no-untyped-def]
    """Enter all numbers into empty slots."""
    for place in range(consumed.size[0]):
        consumed.slots[_slot(consumed, consumed.numbers[place])] = place


@njit(cache=True)
def grounds(nodes, roots):  # type: ignore[no-untyped-def]
    """A number for the set of occurrences below each node."""
    found = fresh(len(roots), np.int64)
    for i in range(len(roots)):
        leaves, mixed = _below(nodes, roots[i]), np.int64(0)
        for j in range(len(leaves)):
            known = False
            for k in range(j):
                known = known or nodes.part[leaves[k]] == nodes.part[leaves[j]]
            if not known:
                mixed += nodes.part[leaves[j]]  # hashes already, and in any order
        found[i] = mixed
    return found


@njit(cache=True)
def arrivals(nodes, roots):  # type: ignore[no-untyped-def]
    """The first arrival below each node; -1 below none."""
    found = fresh(len(roots), np.int64)
    for i in range(len(roots)):
        first = np.int64(-1)
        for leaf in _below(nodes, roots[i]):
            if first < 0 or nodes.event[leaf] < first:
                first = nodes.event[leaf]
        found[i] = first
    return found
