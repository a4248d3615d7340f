"""The inner loops of the columnar join: occurrences in order of time in, the matches that each completes out.

Each occurrence is joined with all that came before it and then remembered: so every match is found once, when the last of its
occurrences comes. Most complete nothing: before the search, each pattern that can be asked by the occurrence's own terms is,
first the one that had nothing the last time. So of a star of n triples all but the last cost one look.

Occurrences of one pattern that agree in some positions are chained, the newest first; those of static triples stand together.
What has left its window is passed over, and a chain ends where everything is too old.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.kernel.entailment.admitted import END, EXPIRES
from scepter.kernel.rows import Int8, Int64, UInt64
from scepter.rdf.lengthening import lengthened_table
from scepter.rdf.words import fresh, heed, lacks, zeroed

NOBODY = -1
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_near = njit(cache=True, forceinline=True)
"""For what joins do for each row: a call that hands arrays on counts references to them, which costs more than the work."""


class Kept(NamedTuple):
    """Occurrences in order of end: terms, when, and the patterns each feeds as bits."""

    ids: UInt64
    when: Int64
    feeds: UInt64


class Indexes(NamedTuple):
    """Chains of occurrences that agree: `bits` of index k tells the positions, `first` where a pattern's indexes begin, `links`
    which column of `nexts` leads on. `heads` are buckets of all indexes side by side."""

    first: Int64
    bits: Int64
    links: Int64
    heads: Any
    nexts: Any


class Search(NamedTuple):
    """The patterns' variables, and for each pattern that something new matches the steps to the others: [pivot, step, (pattern,
    index)]; `at_once`: whether the new occurrence's own terms are all that a step asks by."""

    variables: Int64
    steps: Int64
    at_once: Int8
    streamed: int
    """So many patterns, the first ones, are matched by streams."""
    width: int
    """How many variables there are."""


class StaticRows(NamedTuple):
    """Static triples by bucket, for the indexes that have some (mask -1: none)."""

    ids: UInt64
    mask: Int64
    first: Int64
    starts: Int64
    rows: Int64


class Room(NamedTuple):
    """Where a search stands: the variables' values, the terms it asks by, per pattern the row chosen, per depth the place in
    the chain and in the static bucket, per pivot the step that found nothing the last time."""

    value: UInt64
    key: UInt64
    chosen: Int64
    cursor: Int64
    static_at: Int64
    static_end: Int64
    suspect: Int64


@_near
def bucket(s: Any, p: Any, o: Any, bits: Any, mask: Any) -> Any:
    """Where terms at some positions are found."""
    h = s if bits & 1 else _ZERO
    if bits & 2:
        h = (h * _MIX) ^ p
    if bits & 4:
        h = (h * _MIX) ^ o
    return np.int64((h ^ (h >> _SHIFT)) & mask)


@_near
def _insert(row: Any, pattern: Any, ids: Any,
            index_first: Any, index_bits: Any, links: Any, heads: Any, nexts: Any) -> Any:  # fmt: skip
    """Into the indexes of a pattern. Buckets of different indexes that are asked for the same term stand side by side."""
    mask = np.uint64(heads.shape[0] - 1)
    for k in range(index_first[pattern], index_first[pattern + 1]):
        at = bucket(ids[row, 0], ids[row, 1], ids[row, 2], index_bits[k], mask)
        nexts[row, links[k]] = heads[at, k]
        heads[at, k] = row


@njit(cache=True)
def remove_rows(first: Any, last: Any, kept: Any, indexes: Any) -> Any:
    """Take the newest rows back, the last one first: each is the head of its chains by then."""
    ids, _, feeds = kept
    index_first, index_bits, links, heads, nexts = indexes
    mask = np.uint64(heads.shape[0] - 1)
    for row in range(last - 1, first - 1, -1):
        for pattern in range(len(index_first) - 1):
            if (feeds[row] >> np.uint64(pattern)) & _ONE:
                for k in range(index_first[pattern], index_first[pattern + 1]):
                    at = bucket(ids[row, 0], ids[row, 1], ids[row, 2], index_bits[k], mask)
                    heads[at, k] = nexts[row, links[k]]


@njit(cache=True)
def rebuild(rows: Any, kept: Any, indexes: Any) -> Any:
    """Fill empty indexes."""
    ids, _, feeds = kept
    index_first, index_bits, links, heads, nexts = indexes
    for row in range(rows):
        for pattern in range(len(index_first) - 1):
            if (feeds[row] >> np.uint64(pattern)) & _ONE:
                _insert(row, pattern, ids, index_first, index_bits, links, heads, nexts)


@njit(cache=True)
def count_feeds(feeds: Any, patterns: Any) -> Any:
    """How many rows feed each pattern."""
    found = zeroed(patterns, np.int64)
    for row in range(len(feeds)):
        left = feeds[row]
        pattern = 0
        while left != _ZERO:
            found[pattern] += np.int64(left & _ONE)
            left >>= _ONE
            pattern += 1
    return found


@_near
def _agrees(row: Any, ids: Any, bits: Any, key: Any) -> Any:
    """Whether a row has the terms asked for at the positions that are known."""
    for position in range(3):  # noqa: SIM110 - numba compiles no generators
        if (bits >> position) & 1 and ids[row, position] != key[position]:
            return False
    return True


@_near
def _bind(row: Any, ids: Any, bits: Any, pattern: Any, variables: Any, value: Any) -> Any:
    """Give the variables of a pattern that are not known the terms of a row."""
    for position in range(3):
        v = variables[pattern, position]
        if v >= 0 and not (bits >> position) & 1:
            value[v] = ids[row, position]


@_near
def _ask(j: Any, bits: Any, variables: Any, value: Any, key: Any) -> Any:
    """Set the terms that a pattern is asked by."""
    for position in range(3):
        if (bits >> position) & 1:
            key[position] = value[variables[j, position]]


@_near
def _next(candidate: Any, link: Any, bits: Any, key: Any, now: Any, longest: Any, ids: Any, when: Any, nexts: Any) -> Any:
    """From a row on, the first of its chain that agrees and counts now."""
    while candidate != NOBODY:
        if np.uint64(now - when[candidate, END]) > longest:  # unsigned: any two instants have a difference
            return NOBODY
        if when[candidate, EXPIRES] >= now and _agrees(candidate, ids, bits, key):
            return candidate
        candidate = np.int64(nexts[candidate, link])
    return NOBODY


@inner
def _join(
    row: Any, pivot: Any, last: Any, longest: Any, kept: Any, search: Any, indexes: Any, static: Any, room: Any, out: Any,
    found: Any, cells: Any,
) -> Any:  # fmt: skip
    """Join rows up to `last`: the first is new (pivot NOBODY), or has been joined up to a pivot. Matches are written behind
    those found. Where there is no room for those of a pivot, the row, the pivot, and how many were found before.

    One function that makes no arrays, as the state of the search (a place per depth in the chain and in the static bucket)
    stays in registers and on the stack this way. Invariants: below `depth` each pattern of the pivot's steps has its row in
    `chosen` and its variables in `value`; a row is linked after it was joined for a pivot, so that it never meets itself.
    """
    ids, when, feeds = kept
    variables, steps, at_once, streamed, _ = search
    index_first, index_bits, links, heads, nexts = indexes
    static_ids, static_mask, static_first, static_starts, static_rows = static
    value, key, chosen, cursor, static_at, static_end, suspect = room
    patterns = len(variables)
    depth_max = patterns - 1
    mask = np.uint64(heads.shape[0] - 1)
    tried = 0
    while row < last:
        now = when[row, END]
        left = feeds[row]
        if pivot != NOBODY:
            left >>= np.uint64(pivot)
        else:
            pivot = 0
        while left != _ZERO:
            if left & _ONE:
                _bind(row, ids, 0, pivot, variables, value)
                chosen[pivot] = row
                depth = 0
                entering = True
                step = suspect[pivot]
                for _ in range(depth_max):
                    j = steps[pivot, step, 0]
                    k = steps[pivot, step, 1]
                    bits = index_bits[k]
                    if at_once[pivot, step] and static_mask[k] < 0:
                        _ask(j, bits, variables, value, key)
                        head = np.int64(heads[bucket(key[0], key[1], key[2], bits, mask), k]) if j < streamed else NOBODY
                        if _next(head, links[k], bits, key, now, longest, ids, when, nexts) == NOBODY:
                            suspect[pivot] = step
                            depth = -1
                            break
                    step = step + 1 if step + 1 < depth_max else 0
                before = found
                while depth >= 0:
                    tried += 1
                    if tried % 65_536 == 0 and heed(cells, found):
                        return last, pivot, 0
                    if depth == depth_max:
                        if found == len(out):
                            return row, pivot, before
                        for pattern in range(patterns):
                            out[found, pattern] = chosen[pattern]
                        found += 1
                        depth -= 1
                        entering = False
                        continue
                    j = steps[pivot, depth, 0]
                    k = steps[pivot, depth, 1]
                    bits = index_bits[k]
                    _ask(j, bits, variables, value, key)
                    if entering:
                        cursor[depth] = heads[bucket(key[0], key[1], key[2], bits, mask), k] if j < streamed else NOBODY
                        static_at[depth] = static_end[depth] = 0
                        if static_mask[k] >= 0:
                            b = static_first[k] + bucket(key[0], key[1], key[2], bits, np.uint64(static_mask[k]))
                            static_at[depth] = static_starts[b]
                            static_end[depth] = static_starts[b + 1]
                    candidate = _next(cursor[depth], links[k], bits, key, now, longest, ids, when, nexts)
                    taken = candidate != NOBODY
                    cursor[depth] = NOBODY
                    if taken:
                        cursor[depth] = nexts[candidate, links[k]]
                        chosen[j] = candidate
                        _bind(candidate, ids, bits, j, variables, value)
                    while not taken and static_at[depth] < static_end[depth]:
                        candidate = static_rows[static_at[depth]]
                        static_at[depth] += 1
                        if _agrees(candidate, static_ids, bits, key):
                            taken = True
                            chosen[j] = -1 - candidate
                            _bind(candidate, static_ids, bits, j, variables, value)
                    depth += 1 if taken else -1
                    entering = taken
                _insert(row, pivot, ids, index_first, index_bits, links, heads, nexts)
            left >>= _ONE
            pivot += 1
        row += 1
        pivot = NOBODY
    return row, pivot, found


@njit(cache=True)
def join_rows(first: Any, last: Any, longest: Any, kept_: Any, search_: Any, indexes_: Any, static_: Any, cells: Any) -> Any:
    """The matches that rows complete, [match, pattern]: a row, or -1 - a static row. `longest` is how long triples count. What
    has a name above is given as a plain tuple (`inner.plain`)."""
    kept, search, indexes, static = Kept(*kept_), Search(*search_), Indexes(*indexes_), StaticRows(*static_)
    patterns = len(search.variables)
    room = Room(
        zeroed(max(1, search.width), np.uint64), zeroed(3, np.uint64),
        fresh(patterns, np.int64), fresh(patterns, np.int64),
        fresh(patterns, np.int64), fresh(patterns, np.int64), zeroed(patterns, np.int64),
    )  # fmt: skip
    out = fresh((256, patterns), np.int64)
    row, pivot, found = first, NOBODY, 0
    while True:
        row, pivot, found = _join(row, pivot, last, longest, kept, search, indexes, static, room, out, found, cells)
        if row == last:
            return (out[:0] if lacks(cells, 8 * found * patterns) else out[:found]).copy()
        if lacks(cells, 16 * len(out) * patterns):
            return out[:0].copy()
        out = lengthened_table(out, found, 2 * len(out))
