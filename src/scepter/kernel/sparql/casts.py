"""Casts: the constructor functions `xsd:integer(…)` and their like (SPARQL 1.1 §17.5), widened to all types with values."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

from scepter.rdf.terms import IRI, STRING, XSD, BlankNode, Literal, Term
from scepter.rdf.values import (
    BOOLEAN,
    CASTS,
    DATETIME,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER_TYPES,
    Date,
    DateTime,
    Duration,
    DurationKind,
    ExpressionError,
    LangString,
    Number,
    Single,
    Time,
    Value,
    to_literal,
    value_of,
    value_or_none,
)
from scepter.rdf.values.numeric import format_decimal, format_double, format_integer, is_true, to_double


def cast(datatype: str, term: Term) -> Literal:
    """The term as a literal of the datatype, or ExpressionError.

    >>> cast(XSD + "integer", Literal("3.9", DECIMAL)).lexical
    '3'
    """
    if datatype == STRING:
        return Literal(text_of(term))
    if not isinstance(term, Literal):
        raise ExpressionError(f"{term} is no literal")
    value = value_of(term)
    if isinstance(value, str):
        stripped = Literal(value.strip(" \t\r\n"), datatype)
        parsed = value_of(stripped)
        if isinstance(parsed, (bool, Decimal)):  # "1" is true
            return to_literal(parsed)
        return Literal(format_integer(parsed), datatype) if isinstance(parsed, int) else stripped
    return _CASTS[datatype](value, datatype)


def is_cast(iri: str) -> bool:
    """Whether an IRI names a cast."""
    return iri in CASTS


def text_of(term: Term) -> str:
    """The cast to xsd:string: an IRI's text, a value's canonical text, else the lexical form."""
    match term:
        case IRI():
            return term.value
        case BlankNode():
            raise ExpressionError(f"{term} is no string")
        case Literal():
            value = value_or_none(term)
            return term.lexical if value is None else _text(value)


def _text(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return format_integer(value)
        case Decimal():
            return format_decimal(value)
        case float():
            return _float_text(value)
        case LangString():
            return value.text
        case _:
            return str(value)


def _float_text(value: float) -> str:
    """F&O §19.1.2.2: plain digits between a millionth and a million, else the canonical form."""
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    if not 1e-6 <= abs(value) < 1e6:
        return format_double(value)
    return format_decimal(Decimal(format_double(value)))


def _number(value: Value) -> Number:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, Decimal, float)):
        return value
    raise ExpressionError(f"{type(value).__name__} is no number")


def _finite(value: Value) -> int | Decimal:
    number = _number(value)
    if not isinstance(number, float):
        return number
    if not math.isfinite(number):
        raise ExpressionError(f"{number} is not finite")
    return Decimal(format_double(number))


def _to_integer(value: Value, datatype: str) -> Literal:
    result = Literal(format_integer(int(_finite(value))), datatype)
    value_of(result)
    return result


def _to_decimal(value: Value, _: str) -> Literal:
    return to_literal(Decimal(_finite(value)))


def _to_boolean(value: Value, _: str) -> Literal:
    if isinstance(value, bool):
        return to_literal(value)
    return to_literal(is_true(_number(value)))


def _to_datetime(value: Value, _: str) -> Literal:
    match value:
        case DateTime():
            return to_literal(value)
        case Date():
            return to_literal(DateTime(value.day, Decimal(0), value.zone))
        case _:
            raise ExpressionError(f"{type(value).__name__} is no moment")


def _to_date(value: Value, _: str) -> Literal:
    if isinstance(value, (DateTime, Date)):
        return to_literal(Date(value.day, value.zone))
    raise ExpressionError(f"{type(value).__name__} is no date")


def _to_time(value: Value, _: str) -> Literal:
    if isinstance(value, (DateTime, Time)):
        return to_literal(Time(value.seconds, value.zone))
    raise ExpressionError(f"{type(value).__name__} is no time")


def _to_duration(value: Value, datatype: str) -> Literal:
    if not isinstance(value, Duration):
        raise ExpressionError(f"{type(value).__name__} is no duration")
    kind = DurationKind(datatype.removeprefix(XSD))
    months = 0 if kind is DurationKind.DAY_TIME else value.months
    seconds = Decimal(0) if kind is DurationKind.YEAR_MONTH else value.seconds
    return to_literal(Duration(months, seconds, kind))


_CASTS: dict[str, Callable[[Value, str], Literal]] = {
    **dict.fromkeys(INTEGER_TYPES, _to_integer),
    **{XSD + kind.value: _to_duration for kind in DurationKind},
    BOOLEAN: _to_boolean,
    DECIMAL: _to_decimal,
    FLOAT: lambda value, _: to_literal(Single(_number(value))),
    DOUBLE: lambda value, _: to_literal(to_double(_number(value))),
    DATETIME: _to_datetime,
    XSD + "date": _to_date,
    XSD + "time": _to_time,
}
