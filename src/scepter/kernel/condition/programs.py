"""Filters as data: a stack program per conjunct, run by one compiled interpreter over numbers and ids.

A program answers TRUE, FALSE, ERROR or UNDECIDED. UNDECIDED means that float64 cannot tell for certain, or that the expression
needs more than numbers and ids; the exact evaluator then decides (decision 0001). Nothing is ever guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.algebra.expressions import (
    And,
    Arithmetic,
    Call,
    Compare,
    Constant,
    Expression,
    In,
    Negate,
    Not,
    Or,
    Previous,
    Variable,
)
from scepter.inner import inner
from scepter.rdf.batch import DOUBLE, INEXACT, MAX_SCALE, NOT_A_NUMBER
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.numerals import exact_number
from scepter.rdf.terms import XSD, Literal, Term
from scepter.rdf.words import pointer

FALSE, TRUE, ERROR, UNDECIDED = 0, 1, 2, 3

# Where a variable's value is: in the run, in the candidate row, or in the row where it binds it and else in the run.
RUN, ROW, EITHER = 0, 1, 2

_PUSH_CONST, _PUSH_RUN, _PUSH_ROW, _PUSH_EITHER, _ADD, _SUB, _MUL, _DIV, _NEG = range(9)
_EQ, _NE, _LT, _GT, _LE, _GE, _AND, _OR, _NOT, _BOUND_RUN, _BOUND_ROW, _BOUND_EITHER, _UNKNOWN = range(9, 22)

_BOOLEAN, _FAILED, _OPEN = -10, -20, -30
_STACK = 32
_UNIT = 2.0**-52
_TINY = 1e-300
_LONG = 102  # decimals whose digits may be more than float64 holds, written so or computed: near ties stay open
_SMALLEST = 1e-280  # below it float64 has fewer digits

_ARITHMETIC = {"+": _ADD, "-": _SUB, "*": _MUL, "/": _DIV}
_COMPARISON = {"=": _EQ, "!=": _NE, "<": _LT, ">": _GT, "<=": _LE, ">=": _GE}
_PUSH = {RUN: _PUSH_RUN, ROW: _PUSH_ROW, EITHER: _PUSH_EITHER}
_BOUND = {RUN: _BOUND_RUN, ROW: _BOUND_ROW, EITHER: _BOUND_EITHER}

Place = tuple[int, int, int]
"""(RUN | ROW | EITHER, the run's slot, the row's column)."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """`row column OP expression of the run`: lets the search skip blocks of rows that cannot pass."""

    column: int
    operator: str
    """One of `< <= > >=`, seen from the row."""
    bound: Programs
    """A program of one conjunct that leaves the run's side as a number."""


class Programs(NamedTuple):
    """Conjuncts, one after the other: `code[offsets[i]:offsets[i + 1]]` is the i-th, as rows (operation, two arguments)."""

    code: NDArray[np.int64]
    offsets: NDArray[np.int64]
    constants: NDArray[np.float64]
    scales: NDArray[np.int64]
    ids: NDArray[np.uint64]


def number_of(term: Term) -> tuple[float, int]:
    """A term's float64 and scale, as the scanner gives them for objects; NaN where it is no number."""
    value, scale = exact_number(term) if isinstance(term, Literal) else (math.nan, NOT_A_NUMBER)
    return (math.nan if scale == NOT_A_NUMBER else value), scale


def _constant(term: Term) -> tuple[float, int]:
    """As `number_of`; a long integer or decimal is known up to half a unit of float64's last place, which decides all but what
    is as near."""
    value, scale = number_of(term)
    if scale != INEXACT or not isinstance(term, Literal) or term.datatype == XSD + "float":
        return value, scale
    return value, _LONG if _SMALLEST < abs(value) < math.inf else INEXACT


@dataclass(slots=True)
class _Writer:
    locate: Callable[[str, bool], Place | None]
    key: TermKey
    code: list[tuple[int, int, int]]
    constants: list[tuple[float, int, int]]

    def emit(self, expression: Expression) -> None:
        match expression:
            case Variable(name):
                self.push(self.locate(name, False))
            case Previous(Variable(name)):
                self.push(self.locate(name, True))
            case Constant(term):
                value, scale = _constant(term)
                self.constants.append((value, scale, term_id(self.key, str(term))))
                self.code.append((_PUSH_CONST, len(self.constants) - 1, 0))
            case Compare(operator, left, right):
                self.binary(_COMPARISON[operator], left, right)
            case Arithmetic(operator, left, right):
                self.binary(_ARITHMETIC[operator], left, right)
            case And(left, right):
                self.binary(_AND, left, right)
            case Or(left, right):
                self.binary(_OR, left, right)
            case Not(operand):
                self.emit(operand)
                self.code.append((_NOT, 0, 0))
            case Negate(operand):
                self.emit(operand)
                self.code.append((_NEG, 0, 0))
            case In(operand, choices, negated) if choices:
                self.choice(operand, choices, negated)
            case Call("BOUND", (Variable(name),)) if (place := self.locate(name, False)) is not None:
                self.code.append((_BOUND[place[0]], place[1], place[2]))
            case _:
                self.code.append((_UNKNOWN, 0, 0))

    def push(self, place: Place | None) -> None:
        self.code.append((_UNKNOWN, 0, 0) if place is None else (_PUSH[place[0]], place[1], place[2]))

    def binary(self, operation: int, left: Expression, right: Expression) -> None:
        self.emit(left)
        self.emit(right)
        self.code.append((operation, 0, 0))

    def choice(self, operand: Expression, choices: tuple[Expression, ...], negated: bool) -> None:
        for i, choice in enumerate(choices):
            self.binary(_EQ, operand, choice)
            if i:
                self.code.append((_OR, 0, 0))
        if negated:
            self.code.append((_NOT, 0, 0))


def compile_conjuncts(conjuncts: tuple[Expression, ...], locate: Callable[[str, bool], Place | None], key: TermKey) -> Programs:
    """Compile filters; `locate(variable, previous)` says where a variable's value is, None where it has no place."""
    writer = _Writer(locate, key, [], [])
    offsets = [0]
    for conjunct in conjuncts:
        start = len(writer.code)
        writer.emit(conjunct)
        if _depth(writer.code[start:]) > _STACK:
            del writer.code[start:]
            writer.code.append((_UNKNOWN, 0, 0))
        offsets.append(len(writer.code))
    return Programs(
        np.array(writer.code or [(0, 0, 0)], np.int64),
        np.array(offsets, np.int64),
        np.array([c[0] for c in writer.constants] or [0.0]),
        np.array([c[1] for c in writer.constants] or [0], np.int64),
        np.array([c[2] for c in writer.constants] or [0], np.uint64),
    )


def _depth(code: list[tuple[int, int, int]]) -> int:
    depth = most = 0
    for operation, _, _ in code:
        if operation in (_ADD, _SUB, _MUL, _DIV) or _EQ <= operation <= _OR:
            depth -= 1
        elif operation not in (_NEG, _NOT):
            depth += 1
        most = max(most, depth)
    return most


_FLIP = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def thresholds(
    conjuncts: tuple[Expression, ...], locate: Callable[[str, bool], Place | None], key: TermKey
) -> tuple[Threshold, ...]:
    """The conjuncts of the form `candidate's variable < expression of the run`, for skipping."""
    found = []
    for conjunct in conjuncts:
        if not isinstance(conjunct, Compare) or conjunct.operator not in _FLIP:
            continue
        sides = ((conjunct.left, conjunct.operator, conjunct.right), (conjunct.right, _FLIP[conjunct.operator], conjunct.left))
        for candidate, operator, bound in sides:
            if not isinstance(candidate, Variable) or not _is_of_run(bound, locate):
                continue
            place = locate(candidate.name, False)
            if place is not None and place[0] == ROW:
                found.append(Threshold(place[2], operator, compile_conjuncts((bound,), locate, key)))
                break
    return tuple(found)


def _is_of_run(expression: Expression, locate: Callable[[str, bool], Place | None]) -> bool:
    match expression:
        case Variable(name):
            return (place := locate(name, False)) is not None and place[0] == RUN
        case Previous(Variable(name)):
            return (place := locate(name, True)) is not None and place[0] == RUN
        case Constant(term):
            return number_of(term)[1] != NOT_A_NUMBER
        case Arithmetic(_, left, right):
            return _is_of_run(left, locate) and _is_of_run(right, locate)
        case Negate(operand):
            return _is_of_run(operand, locate)
        case _:
            return False


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
    return Stack(np.empty(_STACK), np.empty(_STACK, np.int64), np.empty(_STACK), np.empty(_STACK, np.uint64))


@inner
def pointed(programs):  # type: ignore[no-untyped-def]
    """Programs as kernels hand them on."""
    return Programs(
        pointer(programs.code, 0), pointer(programs.offsets, 0), pointer(programs.constants, 0), pointer(programs.scales, 0),
        pointer(programs.ids, 0),
    )  # fmt: skip


@inner
def pointed_stack(given):  # type: ignore[no-untyped-def]
    """A stack as kernels hand it on."""
    return Stack(pointer(given.val, 0), pointer(given.sca, 0), pointer(given.err, 0), pointer(given.ids, 0))


@inner
def pointed_values(values, row):  # type: ignore[no-untyped-def]
    """One row of contiguous columns as kernels hand it on."""
    at = row * values.ids.shape[1]
    return Values(pointer(values.ids, at), pointer(values.number, at), pointer(values.scale, at))


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

    Invariants: `top` is the highest place in use, and at the end 0. A place of scale _OPEN holds a value that float64 cannot
    tell, _FAILED an error, _BOOLEAN 0.0 or 1.0; `err` bounds how far a number is off. An id stands for a leaf, 0 for what was
    computed."""
    code, offsets, constants, scales, const_ids = programs
    run_ids, run_number, run_scale = run
    row_ids, row_number, row_scale = row
    val, sca, err, ids = stack
    lo, hi = offsets[i], offsets[i + 1]
    top = -1
    for at in range(3 * lo, 3 * hi, 3):
        op = code[at]
        if op == _PUSH_CONST:
            top += 1
            k = code[at + 1]
            val[top], sca[top], ids[top] = constants[k], scales[k], const_ids[k]
            _settle_leaf(top, val, sca, err)
        elif op <= _PUSH_EITHER:
            top += 1
            column = code[at + 2]
            if op == _PUSH_ROW or (op == _PUSH_EITHER and row_ids[column] != 0):
                val[top], sca[top], ids[top] = row_number[column], row_scale[column], row_ids[column]
            else:
                slot = code[at + 1]
                val[top], sca[top], ids[top] = run_number[slot], run_scale[slot], run_ids[slot]
            _settle_leaf(top, val, sca, err)
            if ids[top] == 0:
                sca[top] = _FAILED
        elif op <= _DIV:
            top -= 1
            _arithmetic(op, top, val, sca, err, ids)
        elif op == _NEG:
            val[top] = -val[top]
            ids[top] = 0
            if sca[top] == _BOOLEAN:
                sca[top] = _FAILED
        elif op <= _GE:
            top -= 1
            _comparison(op, top, val, sca, err, ids)
        elif op == _AND or op == _OR:
            top -= 1
            _logic(op, top, val, sca)
        elif op == _NOT:
            if sca[top] == _BOOLEAN:
                val[top] = 1.0 - val[top]
            elif sca[top] != _FAILED:
                sca[top] = _OPEN
        elif op <= _BOUND_EITHER:
            top += 1
            in_row = op != _BOUND_RUN and row_ids[code[at + 2]] != 0
            in_run = op != _BOUND_ROW and run_ids[code[at + 1]] != 0
            val[top] = 1.0 if in_row or in_run else 0.0
            sca[top] = _BOOLEAN
            ids[top] = 0
        else:
            top += 1
            sca[top] = _OPEN
            ids[top] = 0


@inner
def _settle_leaf(top, val, sca, err):  # type: ignore[no-untyped-def]
    if sca[top] == NOT_A_NUMBER or sca[top] == INEXACT:
        sca[top] = _OPEN
    # the float64 nearest to a decimal is off by at most half a unit in the last place; whole numbers are exact
    err[top] = 0.0 if sca[top] == 0 or sca[top] == DOUBLE else abs(val[top]) * _UNIT


@inner
def _arithmetic(op, top, val, sca, err, ids):  # type: ignore[no-untyped-def]
    sa, sb = sca[top], sca[top + 1]
    a, b, ea, eb = val[top], val[top + 1], err[top], err[top + 1]
    leaf_a, leaf_b = ids[top] != 0, ids[top + 1] != 0
    ids[top] = 0
    if sa == _FAILED or sb == _FAILED or sa == _BOOLEAN or sb == _BOOLEAN:
        sca[top] = _FAILED
        return
    if sa == _OPEN or sb == _OPEN or (op == _DIV and abs(b) <= eb):  # a divisor that may be zero
        sca[top] = _OPEN
        return
    if sa == DOUBLE or sb == DOUBLE:
        # a decimal operand is promoted to the nearest double: its float64, unless it is itself a result with an error
        rounded = (sa != DOUBLE and ea > 0.0 and not leaf_a) or (sb != DOUBLE and eb > 0.0 and not leaf_b)
        sca[top] = _OPEN if rounded else DOUBLE
        ea = eb = 0.0
    elif op == _DIV or sa > MAX_SCALE or sb > MAX_SCALE:
        sca[top] = _LONG
    else:
        scale = sa + sb if op == _MUL else max(sa, sb)
        sca[top] = scale if scale <= MAX_SCALE else _LONG
    if op == _ADD:
        val[top] = a + b
        error = ea + eb
    elif op == _SUB:
        val[top] = a - b
        error = ea + eb
    elif op == _MUL:
        val[top] = a * b
        error = abs(a) * eb + abs(b) * ea + ea * eb
    else:
        val[top] = a / b
        error = (ea + abs(val[top]) * eb) / (abs(b) - eb)
    if sca[top] == _LONG:
        error += _TINY  # near zero float64 has fewer digits
    err[top] = 0.0 if sca[top] == DOUBLE else error + abs(val[top]) * _UNIT


@inner
def _comparison(op, top, val, sca, err, ids):  # type: ignore[no-untyped-def]
    sa, sb = sca[top], sca[top + 1]
    if sa == _FAILED or sb == _FAILED:
        sca[top] = _FAILED
    elif sa == _BOOLEAN or sb == _BOOLEAN or sa == _OPEN or sb == _OPEN:
        sca[top] = _OPEN
    else:
        order = compare_numbers(val[top], sa, err[top], val[top + 1], sb, err[top + 1])
        if order == 3:
            sca[top] = _OPEN
        else:
            sca[top] = _BOOLEAN
            if order == 2:
                holds = op == _NE
            elif op == _EQ:
                holds = order == 0
            elif op == _NE:
                holds = order != 0
            elif op == _LT:
                holds = order < 0
            elif op == _GT:
                holds = order > 0
            elif op == _LE:
                holds = order <= 0
            else:
                holds = order >= 0
            val[top] = 1.0 if holds else 0.0
    ids[top] = 0


@inner
def _logic(op, top, val, sca):  # type: ignore[no-untyped-def]
    short = 0.0 if op == _AND else 1.0
    a_known, b_known = sca[top] == _BOOLEAN, sca[top + 1] == _BOOLEAN
    if (a_known and val[top] == short) or (b_known and val[top + 1] == short):
        val[top] = short
        sca[top] = _BOOLEAN
    elif a_known and b_known:
        val[top] = 1.0 - short
    elif (a_known or sca[top] == _FAILED) and (b_known or sca[top + 1] == _FAILED):
        sca[top] = _FAILED
    else:
        sca[top] = _OPEN


@njit(cache=True)
def decide(programs, first, last, run, row, stack):  # type: ignore[no-untyped-def]
    """All conjuncts first <= i < last: FALSE at the first that fails, UNDECIDED if none fails but some cannot be told."""
    verdict = TRUE
    for i in range(first, last):
        run_program(programs, i, run, row, stack)
        if stack.sca[0] == _BOOLEAN:
            if stack.val[0] == 0.0:
                return FALSE
        elif stack.sca[0] == _FAILED:
            return FALSE
        else:
            verdict = UNDECIDED
    return verdict
