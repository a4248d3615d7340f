"""The rows of all scans of an event pattern in one table, chained by what they are looked up by.

Chains are in order of end, then start, as rows come. A row that is over or consumed is taken out of its chain when somebody
meets it. Whatever is written while an instant is open is written down in a log, and undone from its end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.kernel.event_match.match_tree import pointed_tree
from scepter.kernel.rows import Int8, Int64, UInt64
from scepter.rdf.words import pointer

NOBODY = -1
ENTRIES = 3
"""So many entries of the log does it take to link a row."""
OLDER, NEWER, NEWEST, OLDEST, CONSUMED = range(5)


class Table(NamedTuple):
    """Columns by row, chains, and what was consumed."""

    scan: Int64
    slot: Int64
    """Which item a row is of, by its number in `consumed`."""
    start: Int64
    end: Int64
    since: Int64
    until: Int64
    ids: UInt64
    """[row, variable of the pattern]: 0 is unbound."""
    older: Int64
    newer: Int64
    newest: Int64
    """[bucket]: the last row of its chain; buckets are a power of two."""
    oldest: Int64
    consumed: Int8
    """[window, slot]."""
    window: Int64
    """[scan]: its window."""
    log: Int64
    """[entry, (what, where, what was there)]; its first row is (how many entries, whether it is written, how many entries are
    set aside for rows that are yet to be linked)."""


class Pointed(NamedTuple):
    """A table as compiled functions hand it on: pointers, since to take an array out of a tuple counts its references."""

    scan: Any
    slot: Any
    start: Any
    end: Any
    since: Any
    until: Any
    ids: Any
    """Of row r from r * `width` on."""
    width: int
    older: Any
    newer: Any
    newest: Any
    buckets: int
    oldest: Any
    consumed: Any
    """Of window w from w * `slots` on."""
    slots: int
    window: Any
    log: Int64


@inner
def pointed(table):  # type: ignore[no-untyped-def]
    """A table, given as a tuple, as compiled functions hand it on."""
    scan, slot, start, end, since, until, ids, older, newer, newest, oldest, consumed, window, log = table
    return Pointed(
        pointer(scan, 0), pointer(slot, 0), pointer(start, 0), pointer(end, 0), pointer(since, 0), pointer(until, 0),
        pointer(ids, 0), ids.shape[1], pointer(older, 0), pointer(newer, 0), pointer(newest, 0), len(newest),
        pointer(oldest, 0), pointer(consumed, 0), consumed.shape[1], pointer(window, 0), log,
    )  # fmt: skip


@inner
def bucket_of(tree, table, node, ids, first):  # type: ignore[no-untyped-def]
    """The chain of a scan's rows with the terms that it is looked up by, those of a mapping from `first` on. Chains may be
    shared: who walks compares terms."""
    mixed = np.uint64(tree.choice[node] + 1) * np.uint64(0x9E3779B97F4A7C15)
    for i in range(tree.columns_from[node], tree.columns_from[node + 1]):
        mixed = (mixed ^ ids[first + tree.columns[i]]) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
    return np.int64((mixed >> np.uint64(7)) & np.uint64(table.buckets - 1))


@inner
def logged(table, what, where, old):  # type: ignore[no-untyped-def]
    """Write down what was at a place, if an instant is open."""
    if table.log[0, 1]:
        size = table.log[0, 0] + 1
        table.log[size, 0], table.log[size, 1], table.log[size, 2] = what, where, old
        table.log[0, 0] = size


@inner
def has_room(table, entries):  # type: ignore[no-untyped-def]
    """Whether so many entries can be written down."""
    return not table.log[0, 1] or table.log[0, 0] + table.log[0, 2] + entries < len(table.log)


@njit(cache=True)
def link(tree_, table_, nodes, rows):  # type: ignore[no-untyped-def]
    """Append rows to their chains."""
    linked(pointed_tree(tree_), pointed(table_), nodes, rows, 0, len(rows))


@inner
def linked(tree, table, nodes, rows, first, last):  # type: ignore[no-untyped-def]
    """Append some of the rows to their chains; `nodes` are the tree's nodes by scan. The log has set three entries a row
    aside."""
    for place in range(first, last):
        row = rows[place]
        bucket = bucket_of(tree, table, nodes[table.scan[row]], table.ids, row * table.width)
        before = table.newest[bucket]
        table.older[row], table.newer[row] = before, NOBODY
        logged(table, NEWEST, bucket, before)
        table.newest[bucket] = row
        if before == NOBODY:
            logged(table, OLDEST, bucket, table.oldest[bucket])
            table.oldest[bucket] = row
        else:
            logged(table, NEWER, before, NOBODY)
            table.newer[before] = row
        if table.log[0, 1]:
            table.log[0, 2] -= ENTRIES


@inner
def unlink(table, bucket, row):  # type: ignore[no-untyped-def]
    """Take a row out of its chain; if the log has no room, somebody does it later."""
    if not has_room(table, 2):
        return
    older, newer = table.older[row], table.newer[row]
    if older == NOBODY:
        logged(table, OLDEST, bucket, row)
        table.oldest[bucket] = newer
    else:
        logged(table, NEWER, older, row)
        table.newer[older] = newer
    if newer == NOBODY:
        logged(table, NEWEST, bucket, row)
        table.newest[bucket] = older
    else:
        logged(table, OLDER, newer, row)
        table.older[newer] = older


@inner
def is_over(table, row, floor):  # type: ignore[no-untyped-def]
    """Whether nobody will see a row any more: no evaluation at `floor` or later."""
    return table.until[row] <= floor or table.consumed[table.window[table.scan[row]] * table.slots + table.slot[row]] != 0


@inner
def consume(table, window, slot):  # type: ignore[no-untyped-def]
    """Hide an item of a window. The log has room."""
    where = window * table.slots + slot
    if table.consumed[where] == 0:
        logged(table, CONSUMED, where, 0)
        table.consumed[where] = 1


@njit(cache=True)
def take_back(table):  # type: ignore[no-untyped-def]
    """Undo what the log says, the last first."""
    for entry in range(table.log[0, 0], 0, -1):
        what, where, old = table.log[entry, 0], table.log[entry, 1], table.log[entry, 2]
        if what == OLDER:
            table.older[where] = old
        elif what == NEWER:
            table.newer[where] = old
        elif what == NEWEST:
            table.newest[where] = old
        elif what == OLDEST:
            table.oldest[where] = old
        else:
            slots = table.consumed.shape[1]
            table.consumed[where // slots, where % slots] = old
    table.log[0, 0] = table.log[0, 2] = 0


def fresh(window: Int64, variables: int, rows: int) -> Table:
    """An empty table with room for some rows; `window` says of each scan which window it reads."""
    room = 1 << max(6, int(rows).bit_length())
    number = [np.full(room, NOBODY, np.int64) for _ in range(10)]
    consumed = np.zeros((int(window.max(initial=0)) + 1, room), np.int8)
    ids, log = np.zeros((room, variables), np.uint64), np.zeros((64, 3), np.int64)
    scan, slot, start, end, since, until, older, newer, newest, oldest = number
    return Table(scan, slot, start, end, since, until, ids, older, newer, newest, oldest, consumed, window, log)


def logging(table: Table, entries: int, links: int = 0) -> Table:
    """The table with room for more entries of the log, those for rows to be linked set aside."""
    table.log[0, 2] += links * ENTRIES
    used = int(table.log[0, 0] + table.log[0, 2])
    if used + entries < len(table.log):
        return table
    log = np.zeros((2 * (used + entries) + 64, 3), np.int64)
    known = int(table.log[0, 0]) + 1
    log[:known] = table.log[:known]
    return table._replace(log=log)
