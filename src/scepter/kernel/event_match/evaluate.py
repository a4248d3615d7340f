"""An event pattern by its definition (spec/30-rsep-ql rules 4 to 8), compiled: at an instant, over the items that end before a
time, with some variables bound.

Mappings are rows of one matrix, used as a stack: (start, end, the row of each scan or NOBODY). A function writes its mappings
from `base` on and answers with the place after the last; FULL if the matrix has no more room or the kernel is to stop, and then
nothing but the matrix has changed.
"""

from __future__ import annotations

import numpy as np

from scepter.inner import inner
from scepter.kernel.event_match.item_table import NOBODY, bucket_of, is_over, unlink
from scepter.kernel.event_match.match_tree import ANY, CHRONOLOGICAL, EXTREME, FIRST, LAST, NAIVE, RECENT, SCAN, UNRESTRICTED
from scepter.rdf.words import heed, zeroed
from scepter.timeline import MAX_INSTANT

FULL = -1
START, END, ROWS = range(3)
"""Columns of a mapping; from ROWS on its rows."""
EVER = MAX_INSTANT
"""Before this time is every item."""


@inner
def evaluate(tree, table, node, before, given, wanted, time, floor, found, base, cells):  # type: ignore[no-untyped-def]
    """The mappings of a pattern at `time`; of them only the first or last, if `wanted` says so. Nobody asks for an instant
    before `floor` any more."""
    kind = tree.kind[node]
    if kind == SCAN:
        return _looked_up(tree, table, node, before, given, wanted, time, floor, found, base)
    if kind == EXTREME:
        own = tree.choice[node]
        top = evaluate(tree, table, tree.left[node], before, given, own, time, floor, found, base, cells)
        return top if top < 0 else _extremes(found, base, top, own)
    policy = tree.choice[node]
    asked = np.int64(LAST) if policy == NAIVE else np.int64(ANY)
    first = evaluate(tree, table, tree.right[node], before, given, asked, time, floor, found, base, cells)
    if first < 0:
        return first
    competes = policy in (CHRONOLOGICAL, RECENT)
    order, group = _ranked(tree, table, node, found, base, first, policy, competes)
    left_wanted = np.int64(ANY) if policy == UNRESTRICTED else np.int64(FIRST) if policy == CHRONOLOGICAL else np.int64(LAST)
    top, winner = first, np.int64(NOBODY)
    for place in range(len(order)):
        if heed(cells, top - base):
            return FULL
        right = order[place]
        rivals = competes and winner != NOBODY and group[right - base] == group[winner - base]
        if rivals and (found[right, END] != found[winner, END] or found[right, START] != found[winner, START]):
            continue
        bound = merged(table, given, found, right)
        until = before if policy == NAIVE else found[right, START]
        after = evaluate(tree, table, tree.left[node], until, bound, left_wanted, time, floor, found, top, cells)
        if after < 0:
            return after
        if after > top:
            winner = right
        top = _paired(found, right, top, after, policy == NAIVE)
    for pair in range(first, top):  # an assignment of slices compiles for seconds: it would format a mismatch of shapes
        copy_mapping(found, base + pair - first, pair)
    top = base + top - first
    return _extremes(found, base, top, wanted) if wanted != ANY else top


@inner
def copy_mapping(found, to, of):  # type: ignore[no-untyped-def]
    """A mapping at another place."""
    for column in range(found.shape[1]):
        found[to, column] = found[of, column]


@inner
def put_row(table, found, place, row):  # type: ignore[no-untyped-def]
    """The mapping of one row."""
    for column in range(ROWS, found.shape[1]):
        found[place, column] = NOBODY
    found[place, START], found[place, END], found[place, ROWS + table.scan[row]] = table.start[row], table.end[row], row


@inner
def merged(table, given, found, mapping):  # type: ignore[no-untyped-def]
    """What is bound together with a mapping."""
    bound = given.copy()
    for scan in range(ROWS, found.shape[1]):
        row = found[mapping, scan]
        if row != NOBODY:
            for variable in range(len(bound)):
                term = table.ids[row * table.width + variable]
                if term != 0:
                    bound[variable] = term
    return bound


@inner
def _paired(found, right, low, high, naive):  # type: ignore[no-untyped-def]
    """Make pairs of left sides, in place: they end with the right one. A naive left side may turn out not to be before."""
    top = low
    for left in range(low, high):
        if naive and not _is_before(found, left, right):
            continue
        found[top, START], found[top, END] = found[left, START], found[right, END]
        for scan in range(ROWS, found.shape[1]):
            found[top, scan] = found[left, scan] if found[right, scan] == NOBODY else found[right, scan]
        top += 1
    return top


@inner
def _is_before(found, a, b):  # type: ignore[no-untyped-def]
    return found[a, END] < found[b, END] or (found[a, END] == found[b, END] and found[a, START] < found[b, START])


@inner
def _extremes(found, base, top, wanted):  # type: ignore[no-untyped-def]
    """Keep the first or last of mappings, with their ties."""
    best = base
    for each in range(base + 1, top):
        if _is_before(found, each, best) if wanted == FIRST else _is_before(found, best, each):
            best = each
    if best >= top:
        return top
    start, end, kept = found[best, START], found[best, END], base
    for each in range(base, top):
        if found[each, START] == start and found[each, END] == end:
            copy_mapping(found, kept, each)
            kept += 1
    return kept


@inner
def _ranked(tree, table, node, found, base, top, policy, competes):  # type: ignore[no-untyped-def]
    """Right sides in the order in which they are asked: those that compete together, the one that wins first. And who competes
    with whom."""
    count = top - base
    order, group = np.arange(base, top), zeroed(count, np.uint64)
    if not competes or count < 2:
        return order, group
    for i in range(count):
        mixed = np.uint64(1)
        for at in range(tree.columns_from[node], tree.columns_from[node + 1]):
            term = np.uint64(0)
            for scan in range(ROWS, found.shape[1]):
                row = found[base + i, scan]
                if row != NOBODY and table.ids[row * table.width + tree.columns[at]] != 0:
                    term = table.ids[row * table.width + tree.columns[at]]
            mixed = (mixed ^ term) * np.uint64(0xFF51AFD7ED558CCD)
            mixed ^= mixed >> np.uint64(32)
        group[i] = mixed
    gap = count // 2
    while gap > 0:  # Shell's sort: short, quick to compile, and right sides are few
        for i in range(gap, count):
            moved, at = order[i], i
            while at >= gap and _comes_before(found, group, base, moved, order[at - gap], policy == RECENT):
                order[at] = order[at - gap]
                at -= gap
            order[at] = moved
        gap //= 2
    return order, group


@inner
def _comes_before(found, group, base, a, b, backward):  # type: ignore[no-untyped-def]
    if group[a - base] != group[b - base]:
        return group[a - base] < group[b - base]
    return _is_before(found, b, a) if backward else _is_before(found, a, b)


@inner
def _looked_up(tree, table, node, before, given, wanted, time, floor, found, base):  # type: ignore[no-untyped-def]
    """The rows of a scan. LAST and all are found from the newest on, FIRST from the oldest on."""
    scan, top = tree.choice[node], base
    bucket = bucket_of(tree, table, node, given, 0)
    row = table.oldest[bucket] if wanted == FIRST else table.newest[bucket]
    start, end = np.int64(0), np.int64(0)
    while row != NOBODY:
        following = table.newer[row] if wanted == FIRST else table.older[row]
        if is_over(table, row, floor):
            unlink(table, bucket, row)
        elif wanted == FIRST and table.end[row] >= before:
            break
        elif table.scan[row] == scan and table.end[row] < before and table.since[row] <= time < table.until[row]:
            if wanted != ANY and top > base and (table.start[row] != start or table.end[row] != end):
                break
            if _agrees(table, row, given):
                if top >= len(found):
                    return FULL
                put_row(table, found, top, row)
                start, end = table.start[row], table.end[row]
                top += 1
        row = following
    return top


@inner
def _agrees(table, row, given):  # type: ignore[no-untyped-def]
    for variable in range(len(given)):
        term = table.ids[row * table.width + variable]
        if term != 0 and given[variable] != 0 and term != given[variable]:
            return False
    return True
