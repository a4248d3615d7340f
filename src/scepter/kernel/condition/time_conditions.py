"""Conditions that may ask when a row happened: comparisons of times on integers, the others as SPARQL's over columns.

`getDURATION() < 10` and its like (a linear inequality over the two ends, `algebra.timed_bounds`) is decided on the columns
`start` and `end`. Elsewhere a time function is a column more; what float64 cannot tell is asked of the exact evaluator, once
for each different combination of what a condition mentions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from scepter.algebra.expressions import Call, Compare, Constant, Expression, Variable
from scepter.algebra.scope import mentioned_variables
from scepter.algebra.timed import DURATION, END, START, TIME_FUNCTIONS
from scepter.algebra.timed_bounds import Linear, linear
from scepter.algebra.walk import find
from scepter.kernel.condition.interpreter import ROW
from scepter.kernel.condition.programs import Place, compile_conjuncts
from scepter.kernel.condition.row_programs import decide_rows
from scepter.kernel.condition.time_terms import time_term, time_values
from scepter.kernel.encoding import decoded
from scepter.kernel.rows import Float64, Int8, Int64, Mask, Rows, UInt64
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import compile_condition
from scepter.kernel.texts import Texts
from scepter.physical.nodes.time_nodes import hidden
from scepter.physical.planning.pattern_properties import asks_time, is_unsteady, with_variables
from scepter.rdf.batch import INEXACT, NOT_A_NUMBER
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import XSD, Literal
from scepter.timeline import TimeKind, parse_datetime

_EXACT = 10**15
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
"""With a zone, and nothing beyond the microsecond."""
_RESOURCES = np.frombuffer(b"<_", np.uint8)
"""How IRIs and blank nodes begin."""
_FLIP = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_FUNCTIONS = (START, END, DURATION)


class TimeConditions:
    """Conditions on rows, all of which must hold; an error counts as false."""

    def __init__(
        self,
        conditions: Sequence[Expression],
        names: Sequence[str],
        kind: TimeKind,
        key: TermKey,
        texts: Texts,
        context: Context,
    ) -> None:
        self._kind, self._texts, self._context = kind, texts, context
        tests = [(condition, _comparison(condition, kind) if asks_time(condition) else None) for condition in conditions]
        self._comparisons = [test for _, test in tests if test is not None]
        rest = tuple(with_variables(condition) for condition, test in tests if test is None)
        self._functions = [f for f in _FUNCTIONS if any(hidden(f) in mentioned_variables(c) for c in rest)]
        wide = (*names, *map(hidden, self._functions))
        places: dict[str, Place] = {name: (ROW, 0, column) for column, name in enumerate(wide)}
        self._programs = compile_conjuncts(rest, lambda name, previous: None if previous else places.get(name), key)
        used = frozenset[str]().union(*map(mentioned_variables, rest)) if rest else frozenset()
        self._used = tuple(i for i, name in enumerate(names) if name in used)
        self._names = tuple(name for name in names if name in used)
        self._exact = [compile_condition(condition) for condition in rest]
        self._equalities = [_equality(condition, self._names) for condition in rest]
        """Of each condition the columns that it compares, and whether they shall be equal; None if it does something else."""
        self._unsteady = any(is_unsteady(call) for condition in rest for call in find(condition, Call))

    def holds(self, rows: Rows, start: Int64 | None = None, end: Int64 | None = None) -> Mask:
        """Which rows meet the conditions; `start` and `end` where another interval than their own counts."""
        start, end = rows.start if start is None else start, rows.end if end is None else end
        kept: Mask = np.ones(len(rows), np.bool_)
        for comparison in self._comparisons:
            kept &= comparison(start, end)
        if not self._exact or not kept.any():
            return kept
        at = np.flatnonzero(kept)
        some, start, end = (rows, start, end) if len(at) == len(rows) else (rows.take(at), start[at], end[at])
        true, open_ = decide_rows(self._programs, *self._columns(some, start, end))
        undecided = np.flatnonzero(open_)
        if len(undecided):
            true[undecided] = self._decide(some.take(undecided), start[undecided], end[undecided])
        kept[at] = true
        return kept

    def _columns(self, rows: Rows, start: Int64, end: Int64) -> tuple[UInt64, Float64, Int8]:
        """The mappings, and the time functions as numbers: those of rows without a time are unbound, which is an error."""
        if not self._functions:
            return rows.ids, rows.number, rows.scale
        values = np.stack([time_values(function, start, end) for function in self._functions], axis=1)
        timed = np.repeat((start <= end)[:, None], values.shape[1], axis=1)
        plain = NOT_A_NUMBER if self._kind is TimeKind.DATETIME else 0
        scale = np.where(np.abs(values) < _EXACT, plain, INEXACT if plain == 0 else plain).astype(np.int8)
        return (
            np.concatenate([rows.ids, timed.astype(np.uint64)], axis=1),
            np.concatenate([rows.number, values.astype(np.float64)], axis=1),
            np.concatenate([rows.scale, scale], axis=1),
        )

    def _decide(self, rows: Rows, start: Int64, end: Int64) -> Mask:
        """The exact evaluator's verdict, once for each different combination."""
        asked = [time_values(function, start, end) for function in self._functions]
        seen = [start <= end, *asked] if self._functions else []
        rows = rows.columns(self._used)  # others may hold what is no term
        told = np.column_stack([rows.ids.view(np.int64), *seen]) if seen else rows.ids
        each = np.arange(len(rows))
        first, where = (each, each) if self._unsteady else distinct(np.ascontiguousarray(told))
        verdicts, known = self._by_kinds(rows.take(first))
        for i in np.flatnonzero(~known).tolist():
            row = int(first[i])
            bindings = decoded(rows, self._names, row, self._texts)
            if start[row] <= end[row]:
                for function, values in zip(self._functions, asked, strict=True):
                    bindings[hidden(function)] = time_term(function, int(values[row]), self._kind)
            verdicts[i] = all(condition(bindings, self._context) for condition in self._exact)
        return verdicts[where]

    def _by_kinds(self, rows: Rows) -> tuple[Mask, Mask]:
        """Verdicts, and which rows have one: different terms are unequal, unless both are literals."""
        verdicts, known = np.ones((2, len(rows)), np.bool_)
        for equality in self._equalities:
            if equality is None:
                return verdicts, np.zeros(len(rows), np.bool_)
            left, right, equal = equality
            kinds = [self._texts.initials(rows.refs[:, column]) for column in (left, right)]
            resource = np.isin(kinds[0], _RESOURCES) | np.isin(kinds[1], _RESOURCES)
            known &= resource & (rows.ids[:, left] != rows.ids[:, right]) & (rows.ids[:, [left, right]] != 0).all(axis=1)
            verdicts &= not equal
        return verdicts, known


def _equality(condition: Expression, names: Sequence[str]) -> tuple[int, int, bool] | None:
    match condition:
        case Compare("=" | "!=" as operator, Variable(left), Variable(right)) if left in names and right in names:
            return names.index(left), names.index(right), operator == "="
    return None


def _comparison(condition: Expression, kind: TimeKind) -> Callable[[Int64, Int64], Mask] | None:
    """A comparison of times as one of integers; None where it is not one, or where SPARQL's rules are needed."""
    if not isinstance(condition, Compare):
        return None
    if kind is TimeKind.DATETIME:
        return _of_moments(condition)
    lower, upper = linear(condition.left), linear(condition.right)
    if lower is None or upper is None:
        return None
    difference = lower.plus(upper, -1)
    if difference.microseconds or difference.months or not (difference.end or difference.start):
        return None
    factors = (difference.end, difference.start, difference.number)
    if any(f.denominator != 1 for f in factors) or any(abs(f) > 2**20 for f in factors[:2]) or abs(factors[2]) > 2**61:
        return None
    # Decided on columns only where nothing overflows; else by the exact evaluator.
    return _linear_test(condition.operator, *map(int, factors))


def _linear_test(operator: str, of_end: int, of_start: int, constant: int) -> Callable[[Int64, Int64], Mask]:
    """`of_end * end + of_start * start + constant OP 0`."""
    room = 2**61 // (abs(of_end) + abs(of_start))

    def test(start: Int64, end: Int64) -> Mask:
        timed = start <= end
        low, high = (int(start[timed].min()), int(end[timed].max())) if timed.any() else (0, 0)
        if of_end == -of_start or (-room < low and high < room):
            # Of a duration only the difference has to fit: it is at most 2^64, and wraps only beyond 2^63.
            if of_end == -of_start and high - low >= room:
                return timed & _wide(operator, of_end, of_start, constant, start, end)
            value = of_end * end + of_start * start if of_end != -of_start else of_end * (end - start)
            return timed & _OPERATORS[operator](value, -constant)
        return timed & _wide(operator, of_end, of_start, constant, start, end)

    return test


def _wide(operator: str, of_end: int, of_start: int, constant: int, start: Int64, end: Int64) -> Mask:
    """The same in integers of any size."""
    value = of_end * end.astype(object) + of_start * start.astype(object)
    found: Mask = np.asarray(_OPERATORS[operator](value, -constant), np.bool_)
    return found


_OPERATORS: dict[str, Callable[[Int64, int], Mask]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def _of_moments(condition: Compare) -> Callable[[Int64, Int64], Mask] | None:
    """On a dateTime timeline: one time function against one constant of its kind."""
    match condition:
        case Compare(operator, Call(function, ()), Constant(Literal() as literal)) if function in TIME_FUNCTIONS:
            pass
        case Compare(flipped, Constant(Literal() as literal), Call(function, ())) if function in TIME_FUNCTIONS:
            operator = _FLIP[flipped]
        case _:
            return None
    limit = _microseconds(function, literal)
    if limit is None:
        return None
    of_end, of_start = {DURATION: (1, -1), START: (0, 1), END: (1, 0)}[function]
    return _linear_test(operator, of_end, of_start, -limit)


def _microseconds(function: str, literal: Literal) -> int | None:
    """The constant on the timeline, where that is all there is to say of it."""
    if function == DURATION:
        bound = linear(Constant(literal))
        plain = bound is not None and bound == Linear(microseconds=bound.microseconds)
        return int(bound.microseconds) if bound is not None and plain and bound.microseconds.denominator == 1 else None
    if literal.datatype != XSD + "dateTime" or _MOMENT.fullmatch(literal.lexical) is None:
        return None
    try:
        return parse_datetime(literal.lexical)
    except ValueError:
        return None
