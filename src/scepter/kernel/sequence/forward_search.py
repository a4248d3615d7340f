"""Each run searches forward: the compiled inner loops of the temporal operators.

A table of candidate rows is sorted by join key and time. A run starts behind its own time in the stretch of its key and stops
at its limit; blocks of rows whose values cannot pass a threshold are skipped. A pair that only the exact evaluator can decide
is handed back (`stalled`) and the search goes on with the other runs.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.inner import inner
from scepter.kernel.condition.programs import (
    _BOOLEAN,
    _FAILED,
    _OPEN,
    FALSE,
    TRUE,
    UNDECIDED,
    Programs,
    decide,
    run_program,
    stack,
)
from scepter.kernel.scan.solutions import Float64, Int8, UInt64
from scepter.rdf.lengthening import lengthened
from scepter.rdf.words import pointer

BLOCK = 32
NEXT, ANY, STRICT, BEFORE = 0, 1, 2, 3
NOTHING = -(2**63)
"""No time at all: before every instant."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def key_of(ids: UInt64, columns: tuple[int, ...]) -> UInt64:
    """One 64-bit join key per row from the ids of some columns (0 for no columns)."""
    key = np.zeros(len(ids), np.uint64)
    for column in columns:
        key = (key ^ ids[:, column]) * _GOLDEN
        key ^= key >> np.uint64(29)
    return key


@njit(cache=True)
def block_extremes(number):  # type: ignore[no-untyped-def]
    """Least and greatest of each block of rows; a row that is no number keeps its block from being skipped."""
    rows = len(number)
    blocks = (rows + BLOCK - 1) // BLOCK
    least = np.full(blocks, math.inf)
    most = np.full(blocks, -math.inf)
    for r in range(rows):
        b = r // BLOCK
        x = number[r]
        if math.isnan(x):
            least[b] = -math.inf
            most[b] = math.inf
        else:
            if x < least[b]:
                least[b] = x
            if x > most[b]:
                most[b] = x
    return least, most


@njit(cache=True)
def stretch_ends(keys):  # type: ignore[no-untyped-def]
    """Per row of sorted keys: where the stretch of its key ends."""
    ends = np.empty(len(keys), np.int64)
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


@njit(cache=True)
def search_forward(  # type: ignore[no-untyped-def]
    mode, todo, resume, forced, found_time,
    run_time, run_key, run_limit, run_rank_limit, run_only, run_ids, run_number, run_scale,
    keys, times, ends, ranks, order, starts, branches, row_ids, row_number, row_scale,
    shared_run, shared_row,
    branch_first, code, offsets, constants, scales, const_ids,
    th_column, th_upper, th_code, th_offsets, th_constants, th_scales, th_ids, th_values, th_least, th_most,
    stack_val, stack_sca, stack_err, stack_ids, limits,
):  # fmt: skip
    """Search for the runs in `todo`, in rows whose keys, times and ranks are sorted and whose other columns stand at `order`.
    Returns (pairs' runs, pairs' rows, stalled places in todo, stalled rows, verdict pending).

    `run_only` (STRICT) is the one time at which a run may take rows. `resume` is a row to go on from, or -1. `forced` is
    the exact evaluator's decision about that row. `found_time[i]` is where todo[i] accepted its first row so far, or NOTHING.
    What is given to other kernels from in here goes as a pointer (`rdf.hashing.pointer`), so that columns must be contiguous.
    """
    val, sca, err, ids = pointer(stack_val, 0), pointer(stack_sca, 0), pointer(stack_err, 0), pointer(stack_ids, 0)
    rows, blocks, run_width, row_width = len(keys), th_least.shape[1], run_ids.shape[1], row_ids.shape[1]
    capacity = max(64, len(todo))
    out_run = np.empty(capacity, np.int64)
    out_row = np.empty(capacity, np.int64)
    out = 0
    stalled = np.empty(16, np.int64)
    stalled_row = np.empty(16, np.int64)
    stall = 0
    bounds = len(th_column)
    lower, upper = pointer(limits, 0), pointer(limits, bounds)
    surely_above, surely_below = pointer(limits, 2 * bounds), pointer(limits, 3 * bounds)
    for i in range(len(todo)):
        r = todo[i]
        key = run_key[r]
        limit = run_limit[r]
        rank_limit = run_rank_limit[r]
        at = r * run_width
        run_values = pointer(run_ids, at), pointer(run_number, at), pointer(run_scale, at)
        for t in range(bounds):
            lower[t] = -math.inf
            upper[t] = math.inf
            surely_above[t] = math.inf
            surely_below[t] = math.inf
            run_program(pointer(th_code, 0), th_offsets[t], th_offsets[t + 1],
                        pointer(th_constants, 0), pointer(th_scales, 0), pointer(th_ids, 0),
                        run_values[0], run_values[1], run_values[2], run_values[0], run_values[1], run_values[2],
                        val, sca, err, ids)  # fmt: skip
            if sca[0] != _OPEN and sca[0] != _FAILED and sca[0] != _BOOLEAN and not math.isnan(val[0]):
                slack = err[0] * 4.0 + abs(val[0]) * 1e-15
                if th_upper[t]:
                    upper[t] = val[0] + slack
                    surely_above[t] = -math.inf
                    surely_below[t] = val[0] - slack
                else:
                    lower[t] = val[0] - slack
                    surely_above[t] = val[0] + slack
        position = resume[i]
        if position < 0:
            position = _first_after(pointer(keys, 0), pointer(times, 0), key, run_time[r], np.int64(0), rows)
        stop = position
        if position < rows and keys[position] == key:
            stop = ends[position]
            if times[stop - 1] > limit:
                stop = _first_after(pointer(keys, 0), pointer(times, 0), key, limit, position, rows)
        first = resume[i] >= 0
        while position < stop:
            if bounds > 0 and not first:
                position = _next_within(
                    position, stop, bounds, lower, upper,
                    pointer(th_values, 0), rows, pointer(th_least, 0), pointer(th_most, 0), blocks,
                )  # fmt: skip
                if position >= stop:
                    break
            time = times[position]
            if mode == NEXT and found_time[i] != NOTHING and time != found_time[i]:
                break
            if (mode == STRICT and time != run_only[r]) or ranks[position] > rank_limit:
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
                        at = row * row_width
                        verdict = decide(pointer(code, 0), conjuncts, behind, pointer(offsets, 0),
                                         pointer(constants, 0), pointer(scales, 0), pointer(const_ids, 0),
                                         run_values[0], run_values[1], run_values[2],
                                         pointer(row_ids, at), pointer(row_number, at), pointer(row_scale, at),
                                         val, sca, err, ids)  # fmt: skip
            if verdict == UNDECIDED:
                if stall == len(stalled):
                    stalled, stalled_row = lengthened(stalled, stall), lengthened(stalled_row, stall)
                stalled[stall] = i
                stalled_row[stall] = position
                stall += 1
                if mode == NEXT:
                    break
            elif verdict == TRUE:
                if out == capacity:
                    capacity *= 2
                    out_run, out_row = lengthened(out_run, out), lengthened(out_row, out)
                out_run[out] = r
                out_row[out] = position
                out += 1
                if found_time[i] == NOTHING:
                    found_time[i] = time
            position += 1
    return out_run[:out].copy(), out_row[:out].copy(), stalled[:stall].copy(), stalled_row[:stall].copy()


def search_local(programs: Programs, ids: UInt64, number: Float64, scale: Int8) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Filters on rows alone: which are kept, and which only the exact evaluator can decide."""
    rows = np.ascontiguousarray(ids), np.ascontiguousarray(number), np.ascontiguousarray(scale)
    kept, undecided = _search_local(
        programs.code, programs.offsets, programs.constants, programs.scales, programs.ids, *rows, *stack()
    )
    return kept, undecided


@njit(cache=True)
def _search_local(  # type: ignore[no-untyped-def]
    code, offsets, constants, scales, const_ids, row_ids, row_number, row_scale, stack_val, stack_sca, stack_err, stack_ids
):
    val, sca, err, ids = pointer(stack_val, 0), pointer(stack_sca, 0), pointer(stack_err, 0), pointer(stack_ids, 0)
    width = row_ids.shape[1]
    kept = np.zeros(len(row_ids), np.bool_)
    undecided = np.zeros(len(row_ids), np.bool_)
    for r in range(len(row_ids)):
        row = pointer(row_ids, r * width), pointer(row_number, r * width), pointer(row_scale, r * width)
        verdict = decide(pointer(code, 0), 0, len(offsets) - 1, pointer(offsets, 0),
                         pointer(constants, 0), pointer(scales, 0), pointer(const_ids, 0),
                         row[0], row[1], row[2], row[0], row[1], row[2], val, sca, err, ids)  # fmt: skip
        kept[r] = verdict == TRUE
        undecided[r] = verdict == UNDECIDED
    return kept, undecided


@njit(cache=True)
def latest_before(run_time, run_key, run_ids, keys, times, row_ids, shared_run, shared_row):  # type: ignore[no-untyped-def]
    """Per run: the time of the latest compatible row strictly before the run, or NOTHING."""
    found = np.full(len(run_time), NOTHING, np.int64)
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
    found = np.full(len(run_time), NOTHING, np.int64)
    for r in range(len(run_time)):
        at = _first_after(pointer(groups, 0), pointer(times, 0), run_group[r], run_time[r], np.int64(0), len(groups))
        if at < len(groups) and groups[at] == run_group[r]:
            found[r] = times[at]
    return found


def sort_by_key(keys: UInt64) -> NDArray[np.int64]:
    """The order that sorts rows (already in order of time) by key."""
    if len(keys) < 2 or bool(np.all(keys[1:] >= keys[:-1])):
        return np.arange(len(keys), dtype=np.int64)
    return np.argsort(keys, kind="stable")
