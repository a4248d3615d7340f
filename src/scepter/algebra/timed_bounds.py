"""Bounds on a solution's duration that its FILTERs state, however they are written (spec/20-ep-sparql rule 11).

A condition is read as a linear inequality over the interval's two ends: `getDURATION() < d`,
`getENDTIME() <= getSTARTTIME() + d` and `2 * (getENDTIME() - getSTARTTIME()) < d` all bound the duration from above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from scepter.algebra.expressions import And, Arithmetic, Call, Compare, Constant, Expression, Negate
from scepter.algebra.timed import DURATION, END, START
from scepter.rdf.terms import Literal
from scepter.rdf.values import Duration, value_or_none
from scepter.timeline import MICROSECONDS, TimeKind

_LONGEST_MONTH = 31 * MICROSECONDS["d"]
_FLIPPED = {">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Linear:
    """`end * END + start * START + number + microseconds + months`."""

    end: Fraction = Fraction(0)
    start: Fraction = Fraction(0)
    number: Fraction = Fraction(0)
    microseconds: Fraction = Fraction(0)
    months: Fraction = Fraction(0)

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """The sum, or with a factor of -1 the difference."""
        return Linear(
            self.end + factor * other.end,
            self.start + factor * other.start,
            self.number + factor * other.number,
            self.microseconds + factor * other.microseconds,
            self.months + factor * other.months,
        )

    def times(self, factor: Fraction) -> Linear:
        """A multiple."""
        return Linear(
            self.end * factor, self.start * factor, self.number * factor, self.microseconds * factor, self.months * factor
        )

    def constant(self) -> Fraction | None:
        """The number it is, if it is nothing but one."""
        return self.number if self == Linear(number=self.number) else None


@dataclass(frozen=True, slots=True)
class DurationBound:
    """An upper bound of a duration: a number of time units, or a length of time."""

    number: Fraction
    microseconds: Fraction
    strict: bool

    def longest(self, kind: TimeKind) -> int | None:
        """The longest duration allowed, in ticks of a timeline; None where the bound is of the other kind.

        >>> DurationBound(Fraction(15), Fraction(0), strict=True).longest(TimeKind.INTEGER)
        14
        """
        other, limit = (self.microseconds, self.number) if kind is TimeKind.INTEGER else (self.number, self.microseconds)
        if other:
            return None
        return math.ceil(limit) - 1 if self.strict else math.floor(limit)


def duration_bounds(condition: Expression) -> list[DurationBound]:
    """The upper bounds of the duration that a condition implies.

    >>> ten = Constant(Literal("10", "http://www.w3.org/2001/XMLSchema#integer"))
    >>> [bound.strict for bound in duration_bounds(Compare(">=", ten, Call(DURATION, ())))]
    [False]
    """
    found = []
    pending = [condition]
    while pending:
        match pending.pop():
            case And(left, right):
                pending += (right, left)
            case Compare(operator, left, right):
                found += _bounds(operator, left, right)
            case _:
                continue
    return found


def least_duration(condition: Expression, kind: TimeKind) -> int:
    """The shortest duration that a comparison lets through, in ticks of a timeline; 0 where it tells none.

    >>> ten = Constant(Literal("10", "http://www.w3.org/2001/XMLSchema#integer"))
    >>> least_duration(Compare("<", ten, Call(DURATION, ())), TimeKind.INTEGER)
    11
    """
    match condition:
        case Compare(">" | ">=" as operator, left, right):
            return least_duration(Compare(_FLIPPED[operator], right, left), kind)
        case Compare("<" | "<=" as operator, left, right):
            lower, upper = linear(left), linear(right)
        case _:
            return 0
    if lower is None or upper is None:
        return 0
    difference = upper.plus(lower, -1)
    if difference.end <= 0 or difference.end != -difference.start or difference.months:
        return 0
    rest = difference.times(-1 / difference.end)
    other, limit = (rest.microseconds, rest.number) if kind is TimeKind.INTEGER else (rest.number, rest.microseconds)
    if other:
        return 0
    return max(0, math.floor(limit) + 1 if operator == "<" else math.ceil(limit))


def counts_units(left: Expression, right: Expression) -> bool:
    """Whether a comparison sets the interval's ends against a bare number, as only integer timestamps can be."""
    lower, upper = linear(left), linear(right)
    if lower is None or upper is None:
        return False
    difference = lower.plus(upper, -1)
    return bool(difference.end or difference.start) and bool(difference.number)


def _bounds(operator: str, left: Expression, right: Expression) -> list[DurationBound]:
    if operator in _FLIPPED:
        return _bounds(_FLIPPED[operator], right, left)
    if operator == "=":
        return _bounds("<=", left, right) + _bounds("<=", right, left)
    lower, upper = linear(left), linear(right)
    if operator == "!=" or lower is None or upper is None:
        return []
    difference = lower.plus(upper, -1)
    if difference.end <= 0 or difference.end != -difference.start:
        return []
    rest = difference.times(-1 / difference.end)
    # A duration below some months is below their longest length: more than that is never let through.
    microseconds = rest.microseconds + max(rest.months, Fraction(0)) * _LONGEST_MONTH
    return [DurationBound(rest.number, microseconds, operator == "<")]


def linear(expression: Expression) -> Linear | None:
    """The linear function of the interval's ends that an expression is; None for any other."""
    match expression:
        case Constant(Literal() as literal):
            return _constant(literal)
        case Call(function, ()):
            one = Fraction(1)
            return {DURATION: Linear(one, -one), START: Linear(start=one), END: Linear(end=one)}.get(function)
        case Call("+", (operand,)):
            return linear(operand)
        case Negate(operand):
            inner = linear(operand)
            return None if inner is None else inner.times(Fraction(-1))
        case Arithmetic(operator, left, right):
            a, b = linear(left), linear(right)
            return None if a is None or b is None else _calculated(operator, a, b)
        case _:
            return None


def _calculated(operator: str, a: Linear, b: Linear) -> Linear | None:
    if operator in "+-":
        return a.plus(b, 1 if operator == "+" else -1)
    if (factor := b.constant()) is not None and not (operator == "/" and not factor):
        return a.times(factor if operator == "*" else 1 / factor)
    if operator == "*" and (factor := a.constant()) is not None:
        return b.times(factor)
    return None


def _constant(literal: Literal) -> Linear | None:
    match value_or_none(literal):
        case bool() | None:
            return None
        case Duration(months, seconds):
            return Linear(microseconds=Fraction(seconds) * 1_000_000, months=Fraction(months))
        case float() as number if not math.isfinite(number):
            return None
        case value:
            try:
                return replace(Linear(), number=Fraction(value))  # type: ignore[arg-type]  # other values are refused
            except (TypeError, ValueError):
                return None
