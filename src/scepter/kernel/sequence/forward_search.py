"""Each run searches forward: the compiled inner loops of the temporal operators.

A table of candidate rows is sorted by join key and time. A run starts behind its own time in the stretch of its key and stops
at its limit; blocks of rows whose values cannot pass a threshold are skipped. A pair that only the exact evaluator can decide
is handed back (`stalled`) and the search goes on with the other runs.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.inner import inner, shared
from scepter.kernel.condition.interpreter import (
    FALSE,
    TRUE,
    UNDECIDED,
    Programs,
    decide,
    pointed,
    pointed_stack,
    pointed_values,
    thresholds_of,
)
from scepter.kernel.rows import Float64, Int8, Int64, UInt64
from scepter.kernel.sequence.runs import of_keys
from scepter.rdf.batch import INEXACT, NOT_A_NUMBER
from scepter.rdf.lengthening import filled, lengthened
from scepter.rdf.words import fresh, heed, lacks, pointer

BLOCK = 32
NEXT, ANY, STRICT, BEFORE = 0, 1, 2, 3
NOTHING = -(2**63)
"""No time at all: before every instant."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_AT_MOST_ONE = np.zeros(1, np.int64)


def key_of(ids: UInt64, columns: tuple[int, ...] | range) -> UInt64:
    """One 64-bit join key per row from the ids of some columns (0 for no columns)."""
    if not columns:
        return np.zeros(len(ids), np.uint64)
    keys: UInt64 = _keys(np.ascontiguousarray(ids), _places(columns))
    return keys


@lru_cache(maxsize=1024)
def _places(columns: tuple[int, ...] | range) -> Int64:
    return np.array(columns, np.int64)


@inner
def key_at(ids, row, columns):  # type: ignore[no-untyped-def]
    """The join key of one row."""
    key = np.uint64(0)
    for i in range(len(columns)):
        key = (key ^ ids[row, columns[i]]) * _GOLDEN
        key ^= key >> np.uint64(29)
    return key


@njit(cache=True)
def _keys(ids, columns):  # type: ignore[no-untyped-def]
    keys = fresh(len(ids), np.uint64)
    for r in range(len(ids)):
        keys[r] = key_at(ids, r, columns)
    return keys


@shared
def bounded_values(number, scale, rows, columns):  # type: ignore[no-untyped-def]
    """The values of some columns of a table, in the order of `rows`, and the least and then the greatest of each block of them.
    What float64 does not hold exactly, or is no number at all, is not a number here: the filter itself judges it, and it keeps
    its block from being skipped."""
    blocks = (len(rows) + BLOCK - 1) // BLOCK
    values = fresh((len(columns), len(rows)), np.float64)
    extremes = fresh((2 * len(columns), blocks), np.float64)
    for t in range(len(columns)):
        least, most = t, len(columns) + t
        for b in range(blocks):
            extremes[least, b] = math.inf
            extremes[most, b] = -math.inf
        for r in range(len(rows)):
            b = r // BLOCK
            kind = scale[rows[r], columns[t]]
            x = number[rows[r], columns[t]]
            if kind == INEXACT or kind == NOT_A_NUMBER or math.isnan(x):  # noqa: SIM109
                values[t, r] = math.nan
                extremes[least, b] = -math.inf
                extremes[most, b] = math.inf
            else:
                values[t, r] = x
                extremes[least, b] = min(x, extremes[least, b])
                extremes[most, b] = max(x, extremes[most, b])
    return values, extremes


@shared
def stretch_ends(keys):  # type: ignore[no-untyped-def]
    """Per row of sorted keys: where the stretch of its key ends."""
    ends = fresh(len(keys), np.int64)
    end = len(keys)
    for r in range(len(keys) - 1, -1, -1):
        if r + 1 < len(keys) and keys[r] != keys[r + 1]:
            end = r + 1
        ends[r] = end
    return ends


@inner
def _first_after(keys, times, key, time, lo, hi):  # type: ignore[no-untyped-def]
    """The first row, from `lo` on and before `hi`, of the key's stretch with a time beyond the given one."""
    while lo < hi:
        mid = (lo + hi) >> 1
        if keys[mid] < key or (keys[mid] == key and times[mid] <= time):
            lo = mid + 1
        else:
            hi = mid
    return lo


@inner
def _first_from(keys, times, key, time, near, rows):  # type: ignore[no-untyped-def]
    """The same of all rows, looked for from a place on that is near: for who asks in the order of keys and times, mostly right
    there. (A twin of `_first_after`, whose bounds double.)"""
    if near > 0 and (keys[near - 1] > key or (keys[near - 1] == key and times[near - 1] > time)):
        return _first_after(keys, times, key, time, np.int64(0), near - 1)
    low, high, step = near, near, np.int64(1)
    while high < rows and (keys[high] < key or (keys[high] == key and times[high] <= time)):
        low = high + 1
        high += step
        step *= 2
    return _first_after(keys, times, key, time, low, min(high, rows))


@inner
def _next_within(position, stop, bounds, lower, upper, values, rows, least, most, blocks):  # type: ignore[no-untyped-def]
    """The first row from `position` on whose values all lie within their bounds, or `stop`; blocks that cannot hold one are
    passed over. A value that is no number lies within every bound: the filter itself judges it. All are pointers: `values` has
    a stretch of so many `rows` for each bound, `least` and `most` of so many `blocks`."""
    while position < stop:
        if position % BLOCK == 0:
            block = position // BLOCK
            skip = False
            for t in range(bounds):
                if most[t * blocks + block] < lower[t] or least[t * blocks + block] > upper[t]:
                    skip = True
            if skip:
                position += BLOCK
                continue
        end = min(stop, position - position % BLOCK + BLOCK)
        low, high = lower[0], upper[0]
        while position < end:
            x = values[position]
            if not (x < low or x > high):
                within = True
                for t in range(1, bounds):
                    y = values[t * rows + position]
                    if y < lower[t] or y > upper[t]:
                        within = False
                if within:
                    return position
            position += 1
    return stop


class Asking(NamedTuple):
    """The runs that search, by their places, and how far each has come: `resume` is a row to go on from, or -1; `forced` is the
    exact evaluator's verdict about that row; `found` is the time at which it accepted its first row so far, or NOTHING."""

    todo: Int64
    resume: Int64
    forced: Int64
    found: Int64


class RunColumns(NamedTuple):
    """What a search looks at in runs. `only` (STRICT) is the one time at which a run may take rows."""

    time: Int64
    key: UInt64
    limit: Int64
    rank_limit: Int64
    only: Int64
    values: tuple[UInt64, Float64, Int8]


class RowColumns(NamedTuple):
    """The candidate rows: keys, times, ends and ranks are sorted by key, then time; the other columns stand at `order`."""

    keys: UInt64
    times: Int64
    ends: Int64
    ranks: Int64
    order: Int64
    starts: Int64
    branches: Int8
    values: tuple[UInt64, Float64, Int8]


class Limits(NamedTuple):
    """Thresholds: columns of rows that the i-th program, run on a run, bounds from above or below. `values` has the columns in
    the rows' order, `extremes` the least and then the greatest of each block of them; `room` is for four bounds of each."""

    upper: NDArray[np.bool_]
    programs: tuple[Any, ...]
    values: Float64
    extremes: Float64
    room: Float64


class Filters(NamedTuple):
    """What a pair must meet: slots and columns that have to agree, and per branch of the atom its conjuncts."""

    shared_run: Int64
    shared_row: Int64
    branch_first: Int64
    programs: Programs


class Few(NamedTuple):
    """What few rows, as they came, look for the runs of their keys by: the chains of a pool (`Waiting.chains`), the columns of
    the rows' keys and of the values that thresholds bound, and those thresholds of the pool's first rows so far, which the
    others are added to (`Waiting.bounds`). Without chains, rows are in order and runs are told by `Asking`."""

    newest: Int64
    before: Int64
    linked: int
    size: int
    alive: NDArray[np.bool_]
    key: Int64
    bounded: Int64
    bounds: Float64
    known: int


NO_CHAINS = (
    _AT_MOST_ONE[:0], _AT_MOST_ONE[:0], 0, 0, np.empty(0, np.bool_), _AT_MOST_ONE[:0], _AT_MOST_ONE[:0], np.empty((0, 0)), 0
)  # fmt: skip
"""Of `Few`."""


@inner
def _sorted_few(ids, times, columns):  # type: ignore[no-untyped-def]
    """The order by key of few rows in order of time, with the keys and times in it."""
    n = len(ids)
    order, keys, ordered = fresh(n, np.int64), fresh(n, np.uint64), fresh(n, np.int64)
    for r in range(n):
        key, at = key_at(ids, r, columns), r
        while at > 0 and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            order[at] = order[at - 1]
            at -= 1
        keys[at] = key
        order[at] = r
    for r in range(n):
        ordered[r] = times[order[r]]
    return order, keys, ordered


@njit(cache=True)
def search_forward(mode, asking, run_columns, row_columns, few, filters, thresholds, room, cells):  # type: ignore[no-untyped-def]
    """Search for the runs in `asking`, or for those that have the key of one of few rows. Returns the pairs (a row of runs, a
    row of rows) and the stalled ones (places in `todo`, rows); where rows came in order, by their places in it. What has a name
    above is given as a plain tuple (`inner.plain`).

    Invariants: `position` runs over the stretch of the run's key, from the first row after the run's time to `stop`, the first
    beyond its limit, and never back. A pair is written, refused or stalled when it is passed, so that each is told once. A run
    of NEXT that stalls ends its search there: what is behind depends on the verdict. `first` is true only for the row that
    `resume` names. What is given to other kernels from in here goes as a pointer, so that columns must be contiguous.
    """
    todo, resume, forced, found_time = asking
    run_time, run_key, run_limit, run_rank_limit, run_only, runs = run_columns
    keys, times, ends, ranks, order, starts, branches, candidates = row_columns
    shared_run, shared_row, branch_first, filtering = filters
    th_upper, bounding, th_values, th_extremes, limits = thresholds
    newest, before, linked, size, alive, key_columns, bounded, kept, known = few
    programs, bounds_of, stack = pointed(filtering), pointed(bounding), pointed_stack(room)
    bounds = len(th_upper)
    if len(newest) > 0:
        order, keys, times = _sorted_few(candidates[0], times, key_columns)
        ends = stretch_ends(keys)
        todo = of_keys(keys, run_key, alive, newest, before, linked, size)
        resume, forced = filled(len(todo), np.int64(-1)), filled(len(todo), np.int64(0))
        found_time = filled(len(todo), np.int64(NOTHING))
        th_values, th_extremes = bounded_values(candidates[1], candidates[2], order, bounded)
        for r in range(known, size):
            thresholds_of(pointer(kept, 4 * bounds * r), bounds, th_upper, bounds_of, pointed_values(runs, r), stack)
    run_ids, row_ids = runs[0], candidates[0]
    rows, blocks = len(keys), th_extremes.shape[1]
    th_least, th_most = pointer(th_extremes, 0), pointer(th_extremes, bounds * blocks)
    capacity = max(64, len(todo))
    out_run = fresh(capacity, np.int64)
    out_row = fresh(capacity, np.int64)
    out = np.int64(0)  # a literal would compile `lengthened` again
    stalled = fresh(16, np.int64)
    stalled_row = fresh(16, np.int64)
    stall = np.int64(0)
    near = np.int64(0)  # where the last run began to look: the next one may do so right behind it
    for i in range(len(todo)):
        if i % 16 == 0 and heed(cells, out):
            out = stall = np.int64(0)
            break
        r = todo[i]
        lower = pointer(limits, 0)
        if len(newest) > 0:  # few rows: most runs pass by all of them, and are not looked at further
            lower = pointer(kept, 4 * bounds * r)
            upper = pointer(lower, bounds)
            beyond = 0
            for t in range(bounds if blocks == 1 else 0):
                if th_most[t] < lower[t] or th_least[t] > upper[t]:
                    beyond += 1
            if beyond > 0:
                continue
        key = run_key[r]
        limit = run_limit[r]
        position = resume[i]
        if position < 0:
            position = near = _first_from(pointer(keys, 0), pointer(times, 0), key, run_time[r], near, rows)
        stop = position
        if position < rows and keys[position] == key:
            stop = ends[position]
            if mode == STRICT:
                limit = min(limit, run_only[r])
            if times[position] > limit:
                stop = position
            elif times[stop - 1] > limit:
                stop = _first_after(pointer(keys, 0), pointer(times, 0), key, limit, position, stop)
        if position == stop:
            continue
        run_values = pointed_values(runs, r)
        if len(newest) == 0:
            thresholds_of(lower, bounds, th_upper, bounds_of, run_values, stack)
        upper, surely_above, surely_below = pointer(lower, bounds), pointer(lower, 2 * bounds), pointer(lower, 3 * bounds)
        first = resume[i] >= 0
        while position < stop:
            if bounds > 0 and not first:
                position = _next_within(
                    position, stop, bounds, lower, upper,
                    pointer(th_values, 0), rows, th_least, th_most, blocks,
                )  # fmt: skip
                if position >= stop:
                    break
            time = times[position]
            if mode == NEXT and found_time[i] != NOTHING and time != found_time[i]:
                break
            if (mode == STRICT and time != run_only[r]) or ranks[position] > run_rank_limit[r]:
                break
            verdict = FALSE
            if first:
                verdict = forced[i]
                first = False
            else:
                passes = True
                row = order[position]
                if mode == BEFORE and starts[row] <= run_time[r]:
                    passes = False
                for j in range(len(shared_run)):
                    a = run_ids[r, shared_run[j]]
                    b = row_ids[row, shared_row[j]]
                    if a != b and a != 0 and b != 0:
                        passes = False
                        break
                if passes:
                    conjuncts = branch_first[branches[row]]
                    behind = branch_first[branches[row] + 1]
                    sure = behind - conjuncts == bounds  # every conjunct is a threshold, and its value far beyond it
                    for t in range(bounds):
                        sure = sure and surely_above[t] < th_values[t, position] < surely_below[t]
                    if sure:
                        verdict = TRUE
                    else:
                        verdict = decide(programs, conjuncts, behind, run_values, pointed_values(candidates, row), stack)
            if verdict == UNDECIDED:
                if stall == len(stalled):
                    if lacks(cells, 32 * stall):
                        return _two(out_run, out_row, 0), _two(stalled, stalled_row, 0)
                    stalled, stalled_row = lengthened(stalled, stall), lengthened(stalled_row, stall)
                stalled[stall] = i
                stalled_row[stall] = position
                stall += 1
                if mode == NEXT:
                    break
            elif verdict == TRUE:
                if out == capacity:
                    capacity *= 2
                    if lacks(cells, 16 * capacity):
                        return _two(out_run, out_row, 0), _two(stalled, stalled_row, 0)
                    out_run, out_row = lengthened(out_run, out), lengthened(out_row, out)
                out_run[out] = r
                out_row[out] = position
                out += 1
                if found_time[i] == NOTHING:
                    found_time[i] = time
            position += 1
    if len(newest) > 0 and th_extremes.shape[1] > 0:  # whose pointers were looked at: it is kept until here
        for i in range(out):
            out_row[i] = order[out_row[i]]
    if lacks(cells, 16 * (out + stall)):
        out = stall = np.int64(0)
    return _two(out_run, out_row, out), _two(stalled, stalled_row, stall)


@inner
def _two(first, second, count):  # type: ignore[no-untyped-def]
    """So many of two columns, as the rows of one array: to give back two costs Python twice as much."""
    both = fresh((2, count), np.int64)
    for i in range(count):
        both[0, i] = first[i]
        both[1, i] = second[i]
    return both


@njit(cache=True)
def latest_before(run_time, run_key, run_ids, keys, times, row_ids, shared_run, shared_row):  # type: ignore[no-untyped-def]
    """Per run: the time of the latest compatible row strictly before the run, or NOTHING."""
    found = filled(len(run_time), np.int64(NOTHING))
    for r in range(len(run_time)):
        position = _first_after(pointer(keys, 0), pointer(times, 0), run_key[r], run_time[r] - 1, np.int64(0), len(keys)) - 1
        while position >= 0 and keys[position] == run_key[r]:
            compatible = True
            for j in range(len(shared_run)):
                a = run_ids[r, shared_run[j]]
                b = row_ids[position, shared_row[j]]
                if a != b and a != 0 and b != 0:
                    compatible = False
                    break
            if compatible:
                found[r] = times[position]
                break
            position -= 1
    return found


@njit(cache=True)
def instants_after(groups, times, run_group, run_time):  # type: ignore[no-untyped-def]
    """Per run: the first instant of its group strictly after its time, or NOTHING."""
    found = filled(len(run_time), np.int64(NOTHING))
    at = np.int64(0)
    for r in range(len(run_time)):
        at = _first_from(pointer(groups, 0), pointer(times, 0), run_group[r], run_time[r], at, len(groups))
        if at < len(groups) and groups[at] == run_group[r]:
            found[r] = times[at]
    return found
