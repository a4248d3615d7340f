"""SPARQL's arithmetic over terms, widened by the dates and durations of F&O §8–10 that event queries need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from scepter.rdf.terms import Literal, Term
from scepter.rdf.values import numeric
from scepter.rdf.values.literals import Value, to_literal, value_of
from scepter.rdf.values.numeric import ExpressionError
from scepter.rdf.values.temporal import (
    Date,
    DateTime,
    Duration,
    DurationKind,
    Time,
    add_months,
    day_time,
    divmod_seconds,
    exact_sum,
    scale_duration,
    shift_datetime,
)


def arithmetic(operator: str, a: Term, b: Term) -> Literal:
    """`a op b` with op one of `+ - * /`.

    >>> from scepter.rdf.terms import XSD
    >>> arithmetic("/", Literal("1", XSD + "integer"), Literal("4", XSD + "integer")).lexical
    '0.25'
    """
    return to_literal(calculate(operator, operand(a), operand(b)))


def negated(a: Term) -> Literal:
    """`- a`."""
    value = operand(a)
    if isinstance(value, Duration):
        return to_literal(_opposite(value))
    if isinstance(value, (bool, str)) or not isinstance(value, (int, Decimal, float)):
        raise ExpressionError(f"{a} is no number")
    return to_literal(numeric.negate(value))


def operand(term: Term) -> Value:
    """The value of a term in arithmetic: only literals have one."""
    if not isinstance(term, Literal):
        raise ExpressionError(f"{term} is no literal")
    return value_of(term)


def calculate(operator: str, x: Value, y: Value) -> Value:
    """`x op y` on values."""
    match x, y:
        case (bool(), _) | (_, bool()):
            pass
        case (int() | Decimal() | float(), int() | Decimal() | float()):
            return _NUMERIC[operator](x, y)
        case (Duration(), int() | Decimal() | float()) if operator in "*/":
            return _scaled(operator, x, y)
        case (int() | Decimal() | float(), Duration()) if operator == "*":
            return _scaled(operator, y, x)
        case (Duration(), Duration()):
            return _durations(operator, x, y)
        case (Duration(), DateTime() | Date() | Time()) if operator == "+":
            return _shifted(y, x)
        case (DateTime() | Date() | Time(), Duration()) if operator in "+-":
            return _shifted(x, y if operator == "+" else _opposite(y))
        case (DateTime() | Date() | Time(), DateTime() | Date() | Time()) if operator == "-" and type(x) is type(y):
            return day_time(exact_sum(x.instant, y.instant.copy_negate()))
    raise ExpressionError(f"{type(x).__name__} {operator} {type(y).__name__} has no value")


_NUMERIC: dict[str, Callable[[numeric.Number, numeric.Number], numeric.Number]] = {
    "+": numeric.add,
    "-": numeric.subtract,
    "*": numeric.multiply,
    "/": numeric.divide,
}


def _opposite(duration: Duration) -> Duration:
    return replace(duration, months=-duration.months, seconds=duration.seconds.copy_negate())


def _scaled(operator: str, duration: Duration, factor: numeric.Number) -> Duration:
    if isinstance(factor, float):
        if factor != factor or factor in (float("inf"), float("-inf")):
            raise ExpressionError(f"{duration} {operator} {factor} has no value")
        factor = Decimal(repr(float(factor)))
    exact = Decimal(factor)
    if operator == "*":
        return scale_duration(duration, exact)
    quotient = numeric.divide(duration.seconds, exact)
    months = numeric.divide(duration.months, exact)
    assert isinstance(quotient, Decimal)
    return Duration(numeric.round_half_up(months), quotient, duration.kind)


def _durations(operator: str, x: Duration, y: Duration) -> Value:
    if operator == "/":
        if not x.months and not y.months:
            return numeric.divide(x.seconds, y.seconds)
        if not x.seconds and not y.seconds:
            return numeric.divide(x.months, y.months)
    elif operator in "+-":
        other = y if operator == "+" else _opposite(y)
        months, seconds = x.months + other.months, exact_sum(x.seconds, other.seconds)
        if months * seconds >= 0:
            return Duration(months, seconds, x.kind if x.kind is y.kind else DurationKind.DURATION)
    raise ExpressionError(f"{x} {operator} {y} has no value")


def _shifted(moment: DateTime | Date | Time, duration: Duration) -> Value:
    match moment:
        case DateTime():
            return shift_datetime(moment, duration)
        case Date():
            days, _ = divmod_seconds(duration.seconds, 86_400)
            return Date(add_months(moment.day, duration.months) + days, moment.zone)
        case Time():
            if duration.months:
                raise ExpressionError(f"{moment} and {duration} do not add up")
            _, seconds = divmod_seconds(exact_sum(moment.seconds, duration.seconds), 86_400)
            return Time(seconds, moment.zone)
