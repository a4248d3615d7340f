"""The compiled steps of a sequence of two labels: from instant to instant, what comes and goes, and the pairs of rows it makes.

The query is data (`Rule`). Changes are logged as (instant, +1 or -1, left row, right row); who reads the log takes together
what cancels out. The operators of `operators.py` are the readable twin.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from scepter.kernel.windowed.pairs.rows import (
    ACROSS,
    AFTER,
    BEFORE,
    CHOSEN_AFTER,
    CHOSEN_BEFORE,
    COPIES,
    COUNT,
    DOOMED,
    EARLIER,
    END,
    ENTERING,
    FIRST,
    HEAD,
    HOLDER,
    INSIDE,
    ITEM,
    LAST,
    LATER,
    MARKED,
    OLDEST,
    OUTSIDE,
    PARTNER,
    PLACE,
    SLOT,
    STANDS_FOR_OTHERS,
    START,
    TAIL,
    TWIN,
)
from scepter.physical.pairs import ALL, COMPETE, EACH, GROUP
from scepter.timeline import MAX_INSTANT, MIN_INSTANT


@njit(cache=True)
def run(instants, closed, follow, last_instant, left, right, rule, selected, doomed):  # type: ignore[no-untyped-def]
    """Evaluate at the instants up to `closed` and, after an evaluation that consumed, also `follow` later (0: do not).

    Returns the log, the pairs selected last, the rows to be consumed next, and the last instant.
    """
    log = [(np.int64(0), np.int64(0), np.int64(0), np.int64(0))][:0]
    chosen = [(row[0], row[1]) for row in selected]
    dying = [(row[0], row[1]) for row in doomed]
    redo = [np.int64(0)][:0]
    dirty = [np.int64(0)][:0]
    at = 0
    while True:
        t = instants[at] if at < len(instants) else closed + 1
        if follow > 0 and len(dying) > 0 and last_instant <= MAX_INSTANT - follow:
            t = min(t, last_instant + follow)
        if t > closed:
            break
        if at < len(instants) and instants[at] == t:
            at += 1
        last_instant = t
        changed = len(dying) > 0
        changed |= _leave(t, left, right, rule, dying, redo, dirty, log)
        changed |= _enter(t, left, right, rule, redo, dirty, log)
        if changed:
            _select(t, left, right, rule, chosen, dying, redo, dirty, log)
    return _array4(log), _array2(chosen), _array2(dying), last_instant


@njit(cache=True)
def _array4(rows):  # type: ignore[no-untyped-def]
    found = np.empty((len(rows), 4), np.int64)
    for i in range(len(rows)):
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = rows[i]
    return found


@njit(cache=True)
def _array2(rows):  # type: ignore[no-untyped-def]
    found = np.empty((len(rows), 2), np.int64)
    for i in range(len(rows)):
        found[i, 0], found[i, 1] = rows[i]
    return found


# ---------------------------------------------------------------- windows


@njit(cache=True)
def _last_inside(bounds, t):  # type: ignore[no-untyped-def]
    if bounds[0]:
        return t
    return t // bounds[2] * bounds[2] if t >= MIN_INSTANT + bounds[2] else MIN_INSTANT - 1


@njit(cache=True)
def _first_inside(bounds, t):  # type: ignore[no-untyped-def]
    if bounds[0]:
        return bounds[1]
    last = _last_inside(bounds, t)
    return last - bounds[1] + 1 if last >= MIN_INSTANT + bounds[1] else MIN_INSTANT


@njit(cache=True)
def _leave(t, left, right, rule, dying, redo, dirty, log):  # type: ignore[no-untyped-def]
    """What was consumed, and what is too old, goes."""
    for which, row in dying:
        if which == 0:
            _leave_left(row, t, left, right, rule, redo, dirty, log)
        else:
            _leave_right(row, t, left, right, rule, dirty, log)
    for which, row in dying:
        _forget_copy(left if which == 0 else right, row)
    dying.clear()
    changed = False
    first = _first_inside(left.bounds, t)
    while left.at[OLDEST] < left.at[ENTERING] and left.rows[left.at[OLDEST], END] < first:
        changed |= _leave_left(left.at[OLDEST], t, left, right, rule, redo, dirty, log)
        left.at[OLDEST] += 1
    first = _first_inside(right.bounds, t)
    while right.at[OLDEST] < right.at[ENTERING] and right.rows[right.at[OLDEST], END] < first:
        changed |= _leave_right(right.at[OLDEST], t, left, right, rule, dirty, log)
        right.at[OLDEST] += 1
    return changed


@njit(cache=True)
def _enter(t, left, right, rule, redo, dirty, log):  # type: ignore[no-untyped-def]
    """What time has reached comes in: left sides first, so that the right ones find them."""
    changed = False
    first, last = _first_inside(left.bounds, t), _last_inside(left.bounds, t)
    while left.at[ENTERING] < left.at[COUNT] and left.rows[left.at[ENTERING], END] <= last:
        row = left.at[ENTERING]
        left.at[ENTERING] += 1
        if left.rows[row, END] >= first and _take_in(left, row):
            changed = True
            _come_left(row, t, left, right, rule, redo, dirty, log)
    first, last = _first_inside(right.bounds, t), _last_inside(right.bounds, t)
    while right.at[ENTERING] < right.at[COUNT] and right.rows[right.at[ENTERING], END] <= last:
        row = right.at[ENTERING]
        right.at[ENTERING] += 1
        if right.rows[row, END] >= first and _take_in(right, row):
            changed = True
            _come_right(row, t, left, right, rule, dirty, log)
    return changed


@njit(cache=True)
def _take_in(side, row):  # type: ignore[no-untyped-def]
    """A row is inside from now on; whether its mapping is new, and then in the lists."""
    holder = side.rows[row, HOLDER]
    side.rows[row, PLACE] = INSIDE
    side.rows[holder, COPIES] = max(side.rows[holder, COPIES], 0) + 1
    if side.rows[holder, COPIES] > 1:
        return False
    slot = side.rows[holder, SLOT]
    side.rows[holder, BEFORE], side.rows[holder, AFTER] = side.slots[slot, LAST], -1
    if side.slots[slot, LAST] >= 0:
        side.rows[side.slots[slot, LAST], AFTER] = holder
    else:
        side.slots[slot, FIRST] = holder
    side.slots[slot, LAST] = holder
    side.rows[holder, EARLIER], side.rows[holder, LATER] = side.at[TAIL], -1
    if side.at[TAIL] >= 0:
        side.rows[side.at[TAIL], LATER] = holder
    else:
        side.at[HEAD] = holder
    side.at[TAIL] = holder
    return True


@njit(cache=True)
def _let_go(side, row):  # type: ignore[no-untyped-def]
    """A row is inside no more; whether its mapping has gone with it."""
    if row < 0 or side.rows[row, PLACE] < INSIDE:
        return False
    side.rows[row, PLACE] = OUTSIDE
    side.rows[side.rows[row, HOLDER], COPIES] -= 1
    return side.rows[side.rows[row, HOLDER], COPIES] == 0


@njit(cache=True)
def _unlist(side, holder):  # type: ignore[no-untyped-def]
    slot, before, after = side.rows[holder, SLOT], side.rows[holder, BEFORE], side.rows[holder, AFTER]
    if before >= 0:
        side.rows[before, AFTER] = after
    else:
        side.slots[slot, FIRST] = after
    if after >= 0:
        side.rows[after, BEFORE] = before
    else:
        side.slots[slot, LAST] = before
    earlier, later = side.rows[holder, EARLIER], side.rows[holder, LATER]
    if earlier >= 0:
        side.rows[earlier, LATER] = later
    else:
        side.at[HEAD] = later
    if later >= 0:
        side.rows[later, EARLIER] = earlier
    else:
        side.at[TAIL] = earlier


@njit(cache=True)
def _forget_copy(side, row):  # type: ignore[no-untyped-def]
    """A mapping that other items still give no longer comes from a consumed one."""
    if row < 0 or side.rows[side.rows[row, HOLDER], COPIES] <= 0:
        return
    if side.rows[row, HOLDER] == row:
        side.rows[row, PLACE] = STANDS_FOR_OTHERS
        return
    other = side.rows[row, HOLDER]
    while side.rows[other, TWIN] != row:
        if side.rows[other, TWIN] < 0:
            return
        other = side.rows[other, TWIN]
    side.rows[other, TWIN] = side.rows[row, TWIN]


# ---------------------------------------------------------------- what a mapping's coming and going changes


@njit(cache=True)
def _leave_left(row, t, left, right, rule, redo, dirty, log):  # type: ignore[no-untyped-def]
    if not _let_go(left, row):
        return False
    holder = left.rows[row, HOLDER]
    slot = left.rows[holder, SLOT]
    if rule.mode == ALL:
        other = right.slots[slot, LAST]
        while other >= 0 and right.rows[other, END] > left.rows[holder, END]:
            if right.rows[other, START] > left.rows[holder, END]:
                log.append((t, np.int64(-1), holder, other))
            other = right.rows[other, BEFORE]
    elif rule.mode == EACH:
        while left.rows[holder, PARTNER] >= 0:
            other = left.rows[holder, PARTNER]
            _part(other, t, left, right, log)
            redo.append(other)
    elif rule.mode == COMPETE:
        _mark(left, slot, dirty)
    _unlist(left, holder)
    return True


@njit(cache=True)
def _leave_right(row, t, left, right, rule, dirty, log):  # type: ignore[no-untyped-def]
    if not _let_go(right, row):
        return False
    holder = right.rows[row, HOLDER]
    slot = right.rows[holder, SLOT]
    if rule.mode == ALL:
        other = left.slots[slot, FIRST]
        while other >= 0 and left.rows[other, END] < right.rows[holder, START]:
            log.append((t, np.int64(-1), other, holder))
            other = left.rows[other, AFTER]
    elif rule.mode == EACH:
        if right.rows[holder, PARTNER] >= 0:
            _part(holder, t, left, right, log)
    elif rule.mode == COMPETE:
        _mark(left, slot, dirty)
    _unlist(right, holder)
    return True


@njit(cache=True)
def _come_left(row, t, left, right, rule, redo, dirty, log):  # type: ignore[no-untyped-def]
    slot = left.rows[row, SLOT]
    if rule.mode == COMPETE:
        _mark(left, slot, dirty)
    elif rule.mode == ALL or rule.mode == EACH:
        # right sides that are there already: only where the windows move by different steps
        other = right.slots[slot, LAST]
        while other >= 0 and right.rows[other, END] > left.rows[row, END]:
            if right.rows[other, START] > left.rows[row, END]:
                if rule.mode == ALL:
                    log.append((t, np.int64(1), row, other))
                else:
                    if right.rows[other, PARTNER] >= 0:
                        _part(other, t, left, right, log)
                    redo.append(other)
            other = right.rows[other, BEFORE]


@njit(cache=True)
def _come_right(row, t, left, right, rule, dirty, log):  # type: ignore[no-untyped-def]
    slot = right.rows[row, SLOT]
    if rule.mode == COMPETE:
        _mark(left, slot, dirty)
    elif rule.mode == ALL:
        other = left.slots[slot, FIRST]
        while other >= 0 and left.rows[other, END] < right.rows[row, START]:
            log.append((t, np.int64(1), other, row))
            other = left.rows[other, AFTER]
    elif rule.mode == EACH:
        _pair(row, t, left, right, rule, log)


@njit(cache=True)
def _mark(left, slot, dirty):  # type: ignore[no-untyped-def]
    if left.slots[slot, MARKED] == 0:
        left.slots[slot, MARKED] = 1
        dirty.append(slot)


@njit(cache=True)
def _tied(side, row, other):  # type: ignore[no-untyped-def]
    return other >= 0 and side.rows[other, END] == side.rows[row, END] and side.rows[other, START] == side.rows[row, START]


@njit(cache=True)
def _extreme_before(left, slot, time, newest):  # type: ignore[no-untyped-def]
    """The first of the first, or of the last, left sides of a key that end before a time; -1 if there is none."""
    if not newest:
        first = left.slots[slot, FIRST]
        return first if first >= 0 and left.rows[first, END] < time else -1
    last = left.slots[slot, LAST]
    while last >= 0 and left.rows[last, END] >= time:
        last = left.rows[last, BEFORE]
    while last >= 0 and _tied(left, last, left.rows[last, BEFORE]):
        last = left.rows[last, BEFORE]
    return last


@njit(cache=True)
def _pair(row, t, left, right, rule, log):  # type: ignore[no-untyped-def]
    """A right side takes its left sides, and they remember it."""
    anchor = _extreme_before(left, right.rows[row, SLOT], right.rows[row, START], rule.newest_left)
    right.rows[row, PARTNER] = anchor
    if anchor < 0:
        return
    head = left.rows[anchor, PARTNER]
    right.rows[row, CHOSEN_BEFORE], right.rows[row, CHOSEN_AFTER] = -1, head
    if head >= 0:
        right.rows[head, CHOSEN_BEFORE] = row
    left.rows[anchor, PARTNER] = row
    _log_ties(anchor, row, 1, t, left, log)


@njit(cache=True)
def _part(row, t, left, right, log):  # type: ignore[no-untyped-def]
    """A right side loses its left sides."""
    anchor = right.rows[row, PARTNER]
    _log_ties(anchor, row, -1, t, left, log)
    before, after = right.rows[row, CHOSEN_BEFORE], right.rows[row, CHOSEN_AFTER]
    if before >= 0:
        right.rows[before, CHOSEN_AFTER] = after
    else:
        left.rows[anchor, PARTNER] = after
    if after >= 0:
        right.rows[after, CHOSEN_BEFORE] = before
    right.rows[row, PARTNER] = -1


@njit(cache=True)
def _log_ties(anchor, row, sign, t, left, log):  # type: ignore[no-untyped-def]
    other = anchor
    while _tied(left, anchor, other):
        log.append((t, np.int64(sign), other, row))
        other = left.rows[other, AFTER]


# ---------------------------------------------------------------- selection


@njit(cache=True)
def _select(t, left, right, rule, chosen, dying, redo, dirty, log):  # type: ignore[no-untyped-def]
    """Select anew where something has changed."""
    if rule.mode == EACH:
        for row in redo:
            if right.rows[row, COPIES] > 0 and right.rows[row, PARTNER] < 0:
                _pair(row, t, left, right, rule, log)
        redo.clear()
    if rule.mode == COMPETE or rule.mode == GROUP:
        for one, other in chosen:
            log.append((t, np.int64(-1), one, other))
        chosen.clear()
    if rule.mode == COMPETE:
        for slot in dirty:
            left.slots[slot, MARKED] = 0
            _compete(slot, left, right, rule, chosen)
        dirty.clear()
    if rule.mode == GROUP:
        _group(left, right, rule, chosen)
    for one, other in chosen:
        log.append((t, np.int64(1), one, other))
        if rule.consumes:
            _consume(np.int64(0), one, left, rule.one_window, dying, right)
            _consume(np.int64(1), other, right, rule.one_window, dying, left)


@njit(cache=True)
def _compete(slot, left, right, rule, chosen):  # type: ignore[no-untyped-def]
    """The first or last right side of a key that has a left side before it, and those at the same time (rule 8)."""
    first = left.slots[slot, FIRST]
    if first < 0:
        return
    winner = -1
    row = right.slots[slot, LAST]
    while row >= 0 and right.rows[row, END] > left.rows[first, END]:
        if right.rows[row, START] > left.rows[first, END]:
            winner = row
            if rule.newest_right:
                break
        row = right.rows[row, BEFORE]
    if winner < 0:
        return
    while _tied(right, winner, right.rows[winner, BEFORE]):
        winner = right.rows[winner, BEFORE]
    anchor = _extreme_before(left, slot, right.rows[winner, START], rule.newest_left)
    row = winner
    while _tied(right, winner, row):
        _choose(anchor, row, left, chosen)
        row = right.rows[row, AFTER]


@njit(cache=True)
def _group(left, right, rule, chosen):  # type: ignore[no-untyped-def]
    """The first or last right sides of all, each with its left sides."""
    edge = right.at[TAIL] if rule.newest_right else right.at[HEAD]
    row = edge
    while _tied(right, edge, row):
        slot = right.rows[row, SLOT]
        # rule 7 asks for the last left side whatever its time, and drops it if it is not before
        time = (
            left.rows[left.slots[slot, LAST], END] + 1 if rule.naive and left.slots[slot, LAST] >= 0 else right.rows[row, START]
        )
        anchor = _extreme_before(left, slot, time, rule.newest_left)
        if anchor >= 0 and (not rule.naive or _before(left, anchor, right, row)):
            _choose(anchor, row, left, chosen)
        row = right.rows[row, EARLIER] if rule.newest_right else right.rows[row, LATER]


@njit(cache=True)
def _before(left, one, right, other):  # type: ignore[no-untyped-def]
    return left.rows[one, END] < right.rows[other, END] or (
        left.rows[one, END] == right.rows[other, END] and left.rows[one, START] < right.rows[other, START]
    )


@njit(cache=True)
def _choose(anchor, row, left, chosen):  # type: ignore[no-untyped-def]
    other = anchor
    while _tied(left, anchor, other):
        chosen.append((other, row))
        other = left.rows[other, AFTER]


@njit(cache=True)
def _consume(which, holder, side, one_window, dying, across):  # type: ignore[no-untyped-def]
    """The items of a mapping are gone for the next evaluation, with all their mappings (rule 9)."""
    row = holder
    while row >= 0:
        if side.rows[row, PLACE] == INSIDE:
            first = row
            while first > 0 and side.rows[first - 1, ITEM] == side.rows[row, ITEM]:
                first -= 1
            _doom(which, first, side.rows[row, ITEM], side, dying)
            if one_window:
                _doom(1 - which, side.rows[row, ACROSS], side.rows[row, ITEM], across, dying)
        row = side.rows[row, TWIN]


@njit(cache=True)
def _doom(which, first, item, side, dying):  # type: ignore[no-untyped-def]
    row = first
    while 0 <= row < side.at[COUNT] and side.rows[row, ITEM] == item:
        if side.rows[row, PLACE] == INSIDE:
            side.rows[row, PLACE] = DOOMED
            dying.append((which, row))
        row += 1
