"""SPARQL's `=`, `<`, effective boolean value and ORDER BY over terms. Errors are raised as ExpressionError."""

from __future__ import annotations

from decimal import Decimal
from typing import TypeAlias

from scepter.rdf.terms import IRI, LANG_STRING, BlankNode, Literal, Term
from scepter.rdf.values.literals import (
    BOOLEAN,
    NUMERIC_TYPES,
    LangString,
    Value,
    value_of,
    value_or_none,
)
from scepter.rdf.values.numeric import ExpressionError, is_true, less_numbers, promote
from scepter.rdf.values.temporal import Date, DateTime, Duration, Time, less_duration

OrderKey: TypeAlias = tuple[object, ...]
_WIDEST_ZONE = 14 * 3600


def equals(a: Term, b: Term) -> bool:
    """SPARQL `a = b`.

    Values of known, different kinds are unequal. A literal without a value (unknown datatype, ill-typed) equals itself;
    against another literal it is an error, unless the other has a language tag, which no typed literal can equal
    (RDFterm-equal, and the W3C open-world tests).

    >>> from scepter.rdf.terms import XSD
    >>> equals(Literal("2", XSD + "integer"), Literal("2.0", XSD + "decimal"))
    True
    """
    if not isinstance(a, Literal) or not isinstance(b, Literal):
        return a == b
    x, y = value_or_none(a), value_or_none(b)
    if x is None or y is None:
        if a == b:
            return True
        if a.datatype == LANG_STRING or b.datatype == LANG_STRING:
            return False
        raise ExpressionError(f"{a} and {b} do not compare")
    return equal_values(x, y)


def equal_values(x: Value, y: Value) -> bool:
    """Equality of two values; values of different kinds are unequal."""
    if _kind(x) != _kind(y):
        return False
    match x, y:
        case (Duration() as p, Duration() as q):
            return (p.months, p.seconds) == (q.months, q.seconds)
        case (DateTime() | Date() | Time() as p, DateTime() | Date() | Time() as q):
            _check_zones(p, q)
            return p.instant == q.instant
        case (int() | Decimal() | float() as p, int() | Decimal() | float() as q):
            wide_p, wide_q = promote(p, q)
            return wide_p == wide_q
        case _:
            return x == y


def less(a: Term, b: Term) -> bool:
    """SPARQL `a < b`: numbers, strings without language, booleans, dates and times, durations; else an error."""
    if not isinstance(a, Literal) or not isinstance(b, Literal):
        raise ExpressionError(f"{a} and {b} have no order")
    return less_values(value_of(a), value_of(b))


def less_values(x: Value, y: Value) -> bool:
    """The order of two values of one kind; else an error."""
    if _kind(x) == _kind(y):
        match x, y:
            case (bool() as p, bool() as q):
                return p < q
            case (str() as p, str() as q):
                return p < q
            case (int() | Decimal() | float() as p, int() | Decimal() | float() as q):
                return less_numbers(p, q)
            case (DateTime() | Date() | Time() as p, DateTime() | Date() | Time() as q):
                _check_zones(p, q)
                return p.instant < q.instant
            case (Duration() as p, Duration() as q):
                return less_duration(p, q)
    raise ExpressionError(f"{type(x).__name__} and {type(y).__name__} have no order")


def _check_zones(p: DateTime | Date | Time, q: DateTime | Date | Time) -> None:
    """Two dates of which one has no time zone have no order where the zone could decide it (XSD 1.1 §D.2.1).

    SPARQL has no operators of its own for dates, so that XSD's hold (the W3C open-world tests); else the implicit zone counts.
    """
    unlike = isinstance(p, Date) and (p.zone is None) != (q.zone is None)
    if unlike and abs(p.instant - q.instant) <= _WIDEST_ZONE:
        raise ExpressionError(f"{p} and {q} compare only in one time zone")


def less_or_equal(a: Term, b: Term) -> bool:
    """SPARQL `a <= b`."""
    return less(a, b) or equals(a, b)


def effective_boolean_value(term: Term) -> bool:
    """The EBV (SPARQL 1.1 §17.2.2): an ill-typed boolean or number is false, what is no boolean, number or string an error."""
    if not isinstance(term, Literal):
        raise ExpressionError(f"{term} is neither true nor false")
    match value_or_none(term):
        case bool() as flag:
            return flag
        case int() | Decimal() | float() as number:
            return is_true(number)
        case str() as text:
            return bool(text)
        case LangString(text):
            return bool(text)
        case None if term.datatype == BOOLEAN or term.datatype in NUMERIC_TYPES:
            return False
        case _:
            raise ExpressionError(f"{term} is neither true nor false")


_NUMBER, _TEXT, _LANG, _BOOLEAN, _DATETIME, _DATE, _TIME, _DURATION, _OTHER = range(9)
_KINDS: dict[type, int] = {
    str: _TEXT,
    LangString: _LANG,
    bool: _BOOLEAN,
    DateTime: _DATETIME,
    Date: _DATE,
    Time: _TIME,
    Duration: _DURATION,
}


def _kind(value: Value) -> int:
    return _KINDS.get(type(value), _NUMBER)


def order_key(term: Term | None) -> OrderKey:
    """A key for ORDER BY: unbound, blank nodes, IRIs, literals (SPARQL 1.1 §15.1).

    It extends `<` to a total order: literals by kind (numbers, strings, tagged strings, booleans, dateTimes, dates, times,
    durations, the rest), then by value. Literals with equal values tie, so that the next sort condition decides.

    >>> sorted([IRI("http://a"), Literal("x"), None], key=order_key)[0] is None
    True
    """
    match term:
        case None:
            return (0,)
        case BlankNode():
            return (1, term.label)
        case IRI():
            return (2, term.value)
        case Literal():
            value = value_or_none(term)
            if value is None:
                return (3, _OTHER, term.datatype, term.lexical)
            return (3, _kind(value), *_value_key(value))


def _value_key(value: Value) -> OrderKey:
    match value:
        case bool() | str():
            return (value,)
        case LangString():
            return (value.text, value.language)
        case DateTime() | Date() | Time():
            return (value.instant,)
        case Duration():
            # Months count as 30.436875 days, the mean: consistent with less_duration wherever that has an answer
            # for durations of one type.
            return (value.months * Decimal("2629746") + value.seconds,)
        case _:
            # Python compares int, Decimal and float by exact value; NaN has no place among them and goes first.
            return (1, value) if value == value else (0,)
