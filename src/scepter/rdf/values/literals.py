"""From literals to values and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias, assert_never

from scepter.rdf.terms import LANG_STRING, STRING, XSD, Literal
from scepter.rdf.values.numeric import (
    LONGEST,
    ExpressionError,
    Number,
    Single,
    format_decimal,
    format_double,
    format_integer,
    parse_decimal,
    parse_double,
    parse_integer,
)
from scepter.rdf.values.temporal import (
    Date,
    DateTime,
    Duration,
    DurationKind,
    Time,
    parse_date,
    parse_datetime,
    parse_duration,
    parse_time,
)


@dataclass(frozen=True, slots=True)
class LangString:
    """The value of a language-tagged string."""

    text: str
    language: str


Temporal: TypeAlias = DateTime | Date | Time
Value: TypeAlias = bool | Number | str | LangString | Temporal | Duration

BOOLEAN = XSD + "boolean"
INTEGER = XSD + "integer"
DECIMAL = XSD + "decimal"
FLOAT = XSD + "float"
DOUBLE = XSD + "double"
DATETIME = XSD + "dateTime"
TRUE = Literal("true", BOOLEAN)
FALSE = Literal("false", BOOLEAN)

_INTEGER_RANGES: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}
INTEGER_TYPES = frozenset(XSD + name for name in _INTEGER_RANGES)
NUMERIC_TYPES = INTEGER_TYPES | {DECIMAL, FLOAT, DOUBLE}
CASTS = NUMERIC_TYPES | {STRING, BOOLEAN, DATETIME, XSD + "date", XSD + "time", *(XSD + kind.value for kind in DurationKind)}
"""The datatypes that a literal can be cast to."""
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def value_of(literal: Literal) -> Value:
    """The value of a literal; ExpressionError when its datatype is unknown or its lexical form is ill-typed.

    >>> value_of(Literal("05", INTEGER))
    5
    """
    value = _value(literal)
    if value is None:
        raise ExpressionError(f"{literal} has no value")
    return value


def number_of(literal: Literal) -> Number:
    """The value of a numeric literal, else ExpressionError."""
    value = _value(literal)
    if isinstance(value, bool) or not isinstance(value, (int, Decimal, float)):
        raise ExpressionError(f"{literal} is no number")
    return value


@lru_cache(maxsize=65_536)
def _value(literal: Literal) -> Value | None:
    parser = _PARSERS.get(literal.datatype)
    if literal.datatype == LANG_STRING:
        return None if literal.language is None else LangString(literal.lexical, literal.language.lower())
    if parser is None or (len(literal.lexical) > LONGEST and parser is not str):
        return None
    try:
        return parser(literal.lexical)
    except (ValueError, ExpressionError):
        return None


def value_or_none(literal: Literal) -> Value | None:
    """The value of a literal, None where `value_of` raises."""
    return _value(literal)


def to_literal(value: Value) -> Literal:
    """The literal of a value, in canonical form.

    >>> str(to_literal(Decimal("2.50")))
    '"2.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    """
    match value:
        case bool():
            return TRUE if value else FALSE
        case int():
            return Literal(format_integer(value), INTEGER)
        case Decimal():
            return Literal(format_decimal(value), DECIMAL)
        case Single():
            return Literal(format_double(value), FLOAT)
        case float():
            return Literal(format_double(value), DOUBLE)
        case str():
            return Literal(value)
        case LangString():
            return Literal(value.text, LANG_STRING, value.language)
        case DateTime():
            return Literal(str(value), DATETIME)
        case Date():
            return Literal(str(value), XSD + "date")
        case Time():
            return Literal(str(value), XSD + "time")
        case Duration():
            return Literal(str(value), XSD + value.kind.value)
        case _:
            assert_never(value)


def boolean(value: bool) -> Literal:
    """An xsd:boolean."""
    return TRUE if value else FALSE


def _parse_boolean(text: str) -> bool:
    try:
        return _BOOLEANS[text]
    except KeyError:
        raise ValueError(text) from None


def _ranged(low: int | None, high: int | None) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = parse_integer(text)
        if (low is not None and value < low) or (high is not None and value > high):
            raise ValueError(text)
        return value

    return parse


def _zoned(text: str) -> DateTime:
    moment = parse_datetime(text)
    if moment.zone is None:
        raise ValueError(text)
    return moment


def _duration(kind: DurationKind) -> Callable[[str], Duration]:
    return lambda text: parse_duration(text, kind)


_PARSERS: dict[str, Callable[[str], Value]] = {
    **{XSD + name: _ranged(low, high) for name, (low, high) in _INTEGER_RANGES.items()},
    **{XSD + kind.value: _duration(kind) for kind in DurationKind},
    STRING: str,
    BOOLEAN: _parse_boolean,
    DECIMAL: parse_decimal,
    FLOAT: lambda text: Single(parse_double(text)),
    DOUBLE: parse_double,
    DATETIME: parse_datetime,
    XSD + "dateTimeStamp": _zoned,
    XSD + "date": parse_date,
    XSD + "time": parse_time,
}
