"""The compiled interpreter of filters: stack programs over the numbers and ids of a run and a row (`condition.programs`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scepter.inner import inner
from scepter.rdf.batch import DOUBLE, INEXACT, MAX_SCALE, NOT_A_NUMBER
from scepter.rdf.words import pointer

FALSE, TRUE, ERROR, UNDECIDED = 0, 1, 2, 3

# Where a variable's value is: in the run, in the candidate row, or in the row where it binds it and else in the run.
RUN, ROW, EITHER = 0, 1, 2

PUSH_CONST, PUSH_RUN, PUSH_ROW, PUSH_EITHER, ADD, SUB, MUL, DIV, NEG = range(9)
EQ, NE, LT, GT, LE, GE, AND, OR, NOT, BOUND_RUN, BOUND_ROW, BOUND_EITHER, UNKNOWN = range(9, 22)

BOOLEAN, FAILED, OPEN = -10, -20, -30
STACK = 32
UNIT = 2.0**-52
TINY = 1e-300
LONG = 102  # decimals whose digits may be more than float64 holds, written so or computed: near ties stay open
SMALLEST = 1e-280  # below it float64 has fewer digits


class Programs(NamedTuple):
    """Conjuncts, one after the other: `code[offsets[i]:offsets[i + 1]]` is the i-th, as rows (operation, two arguments)."""

    code: NDArray[np.int64]
    offsets: NDArray[np.int64]
    constants: NDArray[np.float64]
    scales: NDArray[np.int64]
    ids: NDArray[np.uint64]


class Values(NamedTuple):
    """A run or a row as programs see it. Kernels hand each other pointers instead of the columns (`rdf.words.pointer`): what
    they point at has to come from outside, where it stays."""

    ids: Any
    number: Any
    scale: Any


class Stack(NamedTuple):
    """The stack of a program."""

    val: Any
    sca: Any
    err: Any
    ids: Any


def stack() -> Stack:
    """A stack that no program has run on."""
    return Stack(np.empty(STACK), np.empty(STACK, np.int64), np.empty(STACK), np.empty(STACK, np.uint64))


@inner
def pointed(programs):  # type: ignore[no-untyped-def]
    """Programs, given as a tuple, as kernels hand them on."""
    code, offsets, constants, scales, ids = programs
    return Programs(pointer(code, 0), pointer(offsets, 0), pointer(constants, 0), pointer(scales, 0), pointer(ids, 0))


@inner
def pointed_stack(given):  # type: ignore[no-untyped-def]
    """A stack, given as a tuple, as kernels hand it on."""
    val, sca, err, ids = given
    return Stack(pointer(val, 0), pointer(sca, 0), pointer(err, 0), pointer(ids, 0))


@inner
def pointed_values(values, row):  # type: ignore[no-untyped-def]
    """One row of contiguous columns, given as a tuple, as kernels hand it on."""
    ids, number, scale = values
    at = row * ids.shape[1]
    return Values(pointer(ids, at), pointer(number, at), pointer(scale, at))


@inner
def compare_numbers(a, sa, ea, b, sb, eb):  # type: ignore[no-untyped-def]
    """Order of two numbers, each known up to its error: -1, 0, 1; 2 for "not comparable" (NaN); 3 when float64 cannot tell."""
    if math.isnan(a) or math.isnan(b):
        # only a double is NaN; a decimal that looks like it has left float64's range on the way
        return 2 if (math.isnan(a) and sa == DOUBLE) or (math.isnan(b) and sb == DOUBLE) else 3
    error = 2.0 * (ea + eb)
    if sa == DOUBLE or sb == DOUBLE:
        error = (0.0 if sa == DOUBLE else ea) + (0.0 if sb == DOUBLE else eb)
    gap = a - b
    if a == b:
        gap = 0.0  # also for infinities
    if gap > error:
        return 1
    if gap < -error:
        return -1
    if error == 0.0:
        return 0
    if 0 <= sa <= MAX_SCALE and 0 <= sb <= MAX_SCALE and error < 0.4 * 10.0 ** -float(max(sa, sb)):
        return 0  # both are multiples of 10^-scale: a gap that is smaller than that is none
    return 3


@inner
def run_program(programs, i, run, row, stack):  # type: ignore[no-untyped-def]
    """Run the i-th conjunct; its result is on the bottom of the stack (`val[0]`, `sca[0]`). Everything is a pointer: to the
    code, to the values of the run and of the row, to the stack.

    Invariants: `top` is the highest place in use, and at the end 0. A place of scale OPEN holds a value that float64 cannot
    tell, FAILED an error, BOOLEAN 0.0 or 1.0; `err` bounds how far a number is off. An id stands for a leaf, 0 for what was
    computed."""
    code, offsets, constants, scales, const_ids = programs
    run_ids, run_number, run_scale = run
    row_ids, row_number, row_scale = row
    val, sca, err, ids = stack
    lo, hi = offsets[i], offsets[i + 1]
    top = -1
    for at in range(3 * lo, 3 * hi, 3):
        op = code[at]
        if op == PUSH_CONST:
            top += 1
            k = code[at + 1]
            val[top], sca[top], ids[top] = constants[k], scales[k], const_ids[k]
            _settle_leaf(top, val, sca, err)
        elif op <= PUSH_EITHER:
            top += 1
            column = code[at + 2]
            if op == PUSH_ROW or (op == PUSH_EITHER and row_ids[column] != 0):
                val[top], sca[top], ids[top] = row_number[column], row_scale[column], row_ids[column]
            else:
                slot = code[at + 1]
                val[top], sca[top], ids[top] = run_number[slot], run_scale[slot], run_ids[slot]
            _settle_leaf(top, val, sca, err)
            if ids[top] == 0:
                sca[top] = FAILED
        elif op <= DIV:
            top -= 1
            _arithmetic(op, top, val, sca, err, ids)
        elif op == NEG:
            val[top] = -val[top]
            ids[top] = 0
            if sca[top] == BOOLEAN:
                sca[top] = FAILED
        elif op <= GE:
            top -= 1
            _comparison(op, top, val, sca, err, ids)
        elif op == AND or op == OR:
            top -= 1
            _logic(op, top, val, sca)
        elif op == NOT:
            if sca[top] == BOOLEAN:
                val[top] = 1.0 - val[top]
            elif sca[top] != FAILED:
                sca[top] = OPEN
        elif op <= BOUND_EITHER:
            top += 1
            in_row = op != BOUND_RUN and row_ids[code[at + 2]] != 0
            in_run = op != BOUND_ROW and run_ids[code[at + 1]] != 0
            val[top] = 1.0 if in_row or in_run else 0.0
            sca[top] = BOOLEAN
            ids[top] = 0
        else:
            top += 1
            sca[top] = OPEN
            ids[top] = 0


@inner
def _settle_leaf(top, val, sca, err):  # type: ignore[no-untyped-def]
    if sca[top] == NOT_A_NUMBER or sca[top] == INEXACT:
        sca[top] = OPEN
    # the float64 nearest to a decimal is off by at most half a unit in the last place; whole numbers are exact
    err[top] = 0.0 if sca[top] == 0 or sca[top] == DOUBLE else abs(val[top]) * UNIT


@inner
def _arithmetic(op, top, val, sca, err, ids):  # type: ignore[no-untyped-def]
    sa, sb = sca[top], sca[top + 1]
    a, b, ea, eb = val[top], val[top + 1], err[top], err[top + 1]
    leaf_a, leaf_b = ids[top] != 0, ids[top + 1] != 0
    ids[top] = 0
    if sa == FAILED or sb == FAILED or sa == BOOLEAN or sb == BOOLEAN:
        sca[top] = FAILED
        return
    if sa == OPEN or sb == OPEN or (op == DIV and abs(b) <= eb):  # a divisor that may be zero
        sca[top] = OPEN
        return
    if sa == DOUBLE or sb == DOUBLE:
        # a decimal operand is promoted to the nearest double: its float64, unless it is itself a result with an error
        rounded = (sa != DOUBLE and ea > 0.0 and not leaf_a) or (sb != DOUBLE and eb > 0.0 and not leaf_b)
        sca[top] = OPEN if rounded else DOUBLE
        ea = eb = 0.0
    elif op == DIV or sa > MAX_SCALE or sb > MAX_SCALE:
        sca[top] = LONG
    else:
        scale = sa + sb if op == MUL else max(sa, sb)
        sca[top] = scale if scale <= MAX_SCALE else LONG
    if op == ADD:
        val[top] = a + b
        error = ea + eb
    elif op == SUB:
        val[top] = a - b
        error = ea + eb
    elif op == MUL:
        val[top] = a * b
        error = abs(a) * eb + abs(b) * ea + ea * eb
    else:
        val[top] = a / b
        error = (ea + abs(val[top]) * eb) / (abs(b) - eb)
    if sca[top] == LONG:
        error += TINY  # near zero float64 has fewer digits
    err[top] = 0.0 if sca[top] == DOUBLE else error + abs(val[top]) * UNIT


@inner
def _comparison(op, top, val, sca, err, ids):  # type: ignore[no-untyped-def]
    sa, sb = sca[top], sca[top + 1]
    if sa == FAILED or sb == FAILED:
        sca[top] = FAILED
    elif sa == BOOLEAN or sb == BOOLEAN or sa == OPEN or sb == OPEN:
        sca[top] = OPEN
    else:
        order = compare_numbers(val[top], sa, err[top], val[top + 1], sb, err[top + 1])
        if order == 3:
            sca[top] = OPEN
        else:
            sca[top] = BOOLEAN
            if order == 2:
                holds = op == NE
            elif op == EQ:
                holds = order == 0
            elif op == NE:
                holds = order != 0
            elif op == LT:
                holds = order < 0
            elif op == GT:
                holds = order > 0
            elif op == LE:
                holds = order <= 0
            else:
                holds = order >= 0
            val[top] = 1.0 if holds else 0.0
    ids[top] = 0


@inner
def _logic(op, top, val, sca):  # type: ignore[no-untyped-def]
    short = 0.0 if op == AND else 1.0
    a_known, b_known = sca[top] == BOOLEAN, sca[top + 1] == BOOLEAN
    if (a_known and val[top] == short) or (b_known and val[top + 1] == short):
        val[top] = short
        sca[top] = BOOLEAN
    elif a_known and b_known:
        val[top] = 1.0 - short
    elif (a_known or sca[top] == FAILED) and (b_known or sca[top + 1] == FAILED):
        sca[top] = FAILED
    else:
        sca[top] = OPEN


@inner
def decide(programs, first, last, run, row, stack):  # type: ignore[no-untyped-def]
    """All conjuncts first <= i < last: FALSE at the first that fails, UNDECIDED if none fails but some cannot be told."""
    verdict = TRUE
    for i in range(first, last):
        run_program(programs, i, run, row, stack)
        if stack.sca[0] == BOOLEAN:
            if stack.val[0] == 0.0:
                return FALSE
        elif stack.sca[0] == FAILED:
            return FALSE
        else:
            verdict = UNDECIDED
    return verdict


@inner
def thresholds_of(found, bounds, upper, programs, run, stack):  # type: ignore[no-untyped-def]
    """Write what a run's thresholds are, each with some slack for what float64 does not hold: of all of them the least values
    that pass, then the greatest, then those above and below which a value surely passes. All but `upper` are pointers."""
    val, sca, err = stack.val, stack.sca, stack.err
    for t in range(bounds):
        found[t] = -math.inf
        found[bounds + t] = math.inf
        found[2 * bounds + t] = math.inf
        found[3 * bounds + t] = math.inf
        run_program(programs, t, run, run, stack)
        if sca[0] != OPEN and sca[0] != FAILED and sca[0] != BOOLEAN and not math.isnan(val[0]):
            slack = err[0] * 4.0 + abs(val[0]) * 1e-15
            if upper[t]:
                found[bounds + t] = val[0] + slack
                found[2 * bounds + t] = -math.inf
                found[3 * bounds + t] = val[0] - slack
            else:
                found[t] = val[0] - slack
                found[2 * bounds + t] = val[0] + slack
