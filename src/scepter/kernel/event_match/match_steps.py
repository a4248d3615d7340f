"""Compiled loops over the instants at which an event pattern is asked.

Each goes on until all is done or a matrix is full; then it says which, the caller makes it larger, and it goes on where it
stopped; or until `heed` tells it to stop, which the caller looks at first. What it found is in `out`: (since, until, start,
end, the row of each scan). What has a name is given to them as a plain tuple (`inner.plain`), and named inside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.kernel.event_match.evaluate import END, EVER, ROWS, START, evaluate, merged, put_row
from scepter.kernel.event_match.item_table import NOBODY, consume, has_room, linked, pointed
from scepter.kernel.event_match.match_tree import ANY, CHRONOLOGICAL, FIRST, LAST, RECENT, SCAN, UNRESTRICTED, pointed_tree
from scepter.kernel.report.evaluations import next_evaluation
from scepter.kernel.rows import Int64, UInt64
from scepter.rdf.words import heed, zeroed
from scepter.timeline import MAX_INSTANT

DONE, FOUND_FULL, OUT_FULL, LOG_FULL = range(4)
AT, COUNT, WAITING, INSTANT, AGAIN, LINKED = range(6)
"""Where a loop stands: in its list, how much is in `out`, how many right sides wait, the last evaluation, whether that one was
left unfinished (1) or has consumed something (2), and how many new rows are linked."""
OUT_ROWS = 4


class Room(NamedTuple):
    """What loops write to."""

    found: Int64
    out: Int64
    at: Int64


class Coming(NamedTuple):
    """New rows in order of end, to be linked when their time has come: a row that looks back walks over none that are later."""

    rows: Int64
    nodes: Int64
    """[scan]: its node of the tree."""


class Due(NamedTuple):
    """Evaluations, as stretches of multiples of a step from `low` to before `high`."""

    low: Int64
    high: Int64
    step: int


class Waiting(NamedTuple):
    """Right sides that have left sides, or have just come: by who competes with whom, then in order of end and start."""

    row: Int64
    group: UInt64
    loses: Int64
    """Whether it turned out to have no left side; such a one will never have."""


@inner
def _link(tree, table, coming, time, at):  # type: ignore[no-untyped-def]
    """Link the new rows that end up to a time."""
    first = last = at[LINKED]
    while last < len(coming.rows) and table.end[coming.rows[last]] <= time:
        last += 1
    if last > first:
        linked(tree, table, coming.nodes, coming.rows, first, last)
        at[LINKED] = last


@inner
def _give(table, room, low, high, since, until, narrow):  # type: ignore[no-untyped-def]
    """Put mappings out; `narrow`: each only as long as all of its rows are there. Whether there was room."""
    found, out = room.found, room.out
    at = room.at[COUNT]
    if at + high - low > len(out):
        return False
    for mapping in range(low, high):
        ends = until
        for scan in range(ROWS, found.shape[1]):
            row = found[mapping, scan]
            out[at, OUT_ROWS + scan - ROWS] = row
            if narrow and row != NOBODY:
                ends = min(ends, table.until[row])
        out[at, 0], out[at, 1], out[at, 2], out[at, 3] = since, ends, found[mapping, START], found[mapping, END]
        at += 1
    room.at[COUNT] = at
    return True


@inner
def _partners(tree, table, root, row, wanted, time, floor, room, cells):  # type: ignore[no-untyped-def]
    """The pairs of one right side, from the second place of `found` on."""
    found = room.found
    put_row(table, found, 0, row)
    bound = merged(table, zeroed(table.width, np.uint64), found, 0)
    one = np.int64(1)
    top = evaluate(tree, table, tree.left[root], table.start[row], bound, wanted, time, floor, found, one, cells)
    for pair in range(1, top):
        found[pair, END], found[pair, ROWS + table.scan[row]] = table.end[row], row
    return top


@njit(cache=True)
def settle(tree_, table_, root, rights, coming_, selects, room_, cells):  # type: ignore[no-untyped-def]
    """The pairs of right sides, for all time: a steady pattern that consumes nothing. If it selects, who is selected lasts
    until one of them leaves; if it does not, each pair lasts as long as its rows."""
    tree, table, coming, room = pointed_tree(tree_), pointed(table_), Coming(*coming_), Room(*room_)
    while room.at[AT] < len(rights):
        if room.at[AT] % 16 == 0 and heed(cells, room.at[COUNT]):
            return FOUND_FULL
        row, before = rights[room.at[AT]], room.at[COUNT]
        time = floor = table.since[row]
        _link(tree, table, coming, table.end[row], room.at)
        while time < table.until[row]:
            if tree.kind[root] == SCAN:
                put_row(table, room.found, 0, row)
                low, top = 0, 1
            else:
                low, top = 1, _partners(tree, table, root, row, np.int64(ANY), time, floor, room, cells)
            if top < 0:
                room.at[COUNT] = before
                return FOUND_FULL
            until = table.until[row]
            if selects:
                for mapping in range(low, top):
                    for scan in range(ROWS, room.found.shape[1]):
                        if room.found[mapping, scan] != NOBODY:
                            until = min(until, table.until[room.found[mapping, scan]])
            if not _give(table, room, low, top, time, until, not selects):
                room.at[COUNT] = before
                return OUT_FULL
            if top == low or not selects:
                break
            time = until
        room.at[AT] += 1
    _link(tree, table, coming, np.int64(MAX_INSTANT), room.at)
    return DONE


@inner
def _consume(tree, table, room, low, consuming):  # type: ignore[no-untyped-def]
    """Hide what an evaluation has selected from later ones."""
    for mapping in range(low, room.at[COUNT]):
        for scan in range(len(consuming)):
            row = room.out[mapping, OUT_ROWS + scan]
            if consuming[scan] and row != NOBODY:
                consume(table, table.window[scan], table.slot[row])


@inner
def _wait(tree, table, root, waiting, room, row):  # type: ignore[no-untyped-def]
    """A right side comes: put it where those are that it competes with, in order."""
    mixed = np.uint64(row + 1)
    if tree.choice[root] != UNRESTRICTED:
        mixed = np.uint64(0)
        for at in range(tree.columns_from[root], tree.columns_from[root + 1]):
            mixed = (mixed ^ table.ids[row * table.width + tree.columns[at]]) * np.uint64(0xFF51AFD7ED558CCD)
            mixed ^= mixed >> np.uint64(32)
    place = room.at[WAITING]
    while place > 0 and waiting.group[place - 1] > mixed:
        place -= 1  # rows come in order of end and start, so that of one group the new one is the last
    for at in range(room.at[WAITING], place, -1):
        waiting.row[at], waiting.group[at] = waiting.row[at - 1], waiting.group[at - 1]
        waiting.loses[at] = waiting.loses[at - 1]
    waiting.row[place], waiting.group[place], waiting.loses[place] = row, mixed, 0
    room.at[WAITING] += 1


@inner
def _still(table, waiting, room, time):  # type: ignore[no-untyped-def]
    """Those that wait and may have left sides at a time."""
    kept = 0
    for at in range(room.at[WAITING]):
        row = waiting.row[at]
        gone = table.until[row] <= time or table.consumed[table.window[table.scan[row]] * table.slots + table.slot[row]] != 0
        if not gone and not waiting.loses[at]:
            waiting.row[kept], waiting.group[kept], waiting.loses[kept] = row, waiting.group[at], 0
            kept += 1
    room.at[WAITING] = kept


@inner
def _compete(tree, table, root, waiting, room, time, cells):  # type: ignore[no-untyped-def]
    """One evaluation: in each group the first (RECENT: last) right sides that have left sides win."""
    policy = tree.choice[root]
    wanted = np.int64(ANY) if policy == UNRESTRICTED else np.int64(FIRST) if policy == CHRONOLOGICAL else np.int64(LAST)
    count, low = room.at[WAITING], 0
    while low < count:
        high = low + 1
        while policy != UNRESTRICTED and high < count and waiting.group[high] == waiting.group[low]:
            high += 1
        winner = NOBODY
        for step in range(high - low):
            place = high - 1 - step if policy == RECENT else low + step
            row = waiting.row[place]
            if winner != NOBODY and (table.end[row] != table.end[winner] or table.start[row] != table.start[winner]):
                break
            top = _partners(tree, table, root, row, wanted, time, time, room, cells)
            if top < 0:
                return FOUND_FULL
            if top == 1:
                waiting.loses[place] = 1
                continue
            winner = row
            if not _give(table, room, 1, top, time, time + 1, False):
                return OUT_FULL
        low = high
    return DONE


@njit(cache=True)
def compete(tree_, table_, root, rights, coming_, waiting_, due_, consuming, room_, cells):  # type: ignore[no-untyped-def]
    """Evaluate a steady pattern that consumes, at each evaluation at which a right side comes or waits. `rights` are in order
    of entry; those that no evaluation that is due sees stay."""
    tree, table, coming, room = pointed_tree(tree_), pointed(table_), Coming(*coming_), Room(*room_)
    waiting, due = Waiting(*waiting_), Due(*due_)
    at = room.at
    while True:
        if at[AGAIN] != 1:
            time = np.int64(MAX_INSTANT)
            if at[WAITING] > 0:
                time = next_evaluation(due.low, due.high, due.step, at[INSTANT] + 1)
            elif at[AT] < len(rights):
                time = next_evaluation(due.low, due.high, due.step, table.since[rights[at[AT]]])
            _link(tree, table, coming, time, at)
            if time == MAX_INSTANT:
                return DONE
            at[INSTANT] = time
            _still(table, waiting, room, time)
            while at[AT] < len(rights) and table.since[rights[at[AT]]] <= time:
                if time < table.until[rights[at[AT]]]:
                    _wait(tree, table, root, waiting, room, rights[at[AT]])
                at[AT] += 1
        before = at[COUNT]
        full = _compete(tree, table, root, waiting, room, at[INSTANT], cells)
        if full == DONE and not has_room(table, (at[COUNT] - before) * len(consuming)):
            full = LOG_FULL
        if full != DONE:
            at[COUNT], at[AGAIN] = before, 1
            return full
        at[AGAIN] = 0
        _consume(tree, table, room, before, consuming)


@njit(cache=True)
def follow(tree_, table_, root, changes, coming_, stop, room_, cells):  # type: ignore[no-untyped-def]
    """Evaluate a pattern that consumes nothing as a whole, wherever what it sees changes: between two changes it is constant,
    after the last one as far as time is known."""
    tree, table, coming, room = pointed_tree(tree_), pointed(table_), Coming(*coming_), Room(*room_)
    at, nothing = room.at, zeroed(table.width, np.uint64)
    while at[AT] < len(changes):
        if at[AT] % 16 == 0 and heed(cells, at[COUNT]):
            return FOUND_FULL
        time = changes[at[AT]]
        until = changes[at[AT] + 1] if at[AT] + 1 < len(changes) else stop
        _link(tree, table, coming, time, at)
        top = evaluate(tree, table, root, np.int64(EVER), nothing, np.int64(ANY), time, time, room.found, np.int64(0), cells)
        if top < 0:
            return FOUND_FULL
        if not _give(table, room, 0, top, time, until, False):
            return OUT_FULL
        at[AT] += 1
    _link(tree, table, coming, np.int64(MAX_INSTANT), at)
    return DONE


@njit(cache=True)
def exhaust(tree_, table_, roots, changes, coming_, due_, consuming, room_, cells):  # type: ignore[no-untyped-def]
    """Evaluate a pattern that consumes as a whole, at each evaluation before which something changed or was consumed; `roots`
    are its own and those of patterns that consume beside it. These see the same, and only consume."""
    tree, table, coming, room = pointed_tree(tree_), pointed(table_), Coming(*coming_), Room(*room_)
    due = Due(*due_)
    at, nothing = room.at, zeroed(table.width, np.uint64)
    while True:
        time = np.int64(MAX_INSTANT)
        if at[AGAIN] == 2:
            time = next_evaluation(due.low, due.high, due.step, at[INSTANT] + 1)
        elif at[AGAIN] == 1:
            time = at[INSTANT]
        elif at[AT] < len(changes):
            time = next_evaluation(due.low, due.high, due.step, max(changes[at[AT]], at[INSTANT] + 1))
        _link(tree, table, coming, time, at)
        if time == MAX_INSTANT:
            return DONE
        before = own = at[COUNT]
        full = DONE
        for place in range(len(roots)):
            root, ever = roots[place], np.int64(EVER)
            top = evaluate(tree, table, root, ever, nothing, np.int64(ANY), time, time, room.found, np.int64(0), cells)
            if top < 0:
                full = FOUND_FULL
                break
            if not _give(table, room, 0, top, time, time + 1, False):
                full = OUT_FULL
                break
            if place == 0:
                own = at[COUNT]
        if full == DONE and not has_room(table, (at[COUNT] - before) * len(consuming)):
            full = LOG_FULL
        at[INSTANT] = time
        if full != DONE:
            at[COUNT], at[AGAIN] = before, 1
            return full
        while at[AT] < len(changes) and changes[at[AT]] <= time:
            at[AT] += 1
        _consume(tree, table, room, before, consuming)
        at[AGAIN] = 2 if at[COUNT] > before else 0
        at[COUNT] = own
