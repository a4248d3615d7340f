"""Times as terms: what getSTARTTIME(), getENDTIME() and getDURATION() give."""

from __future__ import annotations

from scepter.algebra.timed import DURATION, END, START
from scepter.kernel.rows import Int64
from scepter.rdf.terms import XSD, Literal, Term
from scepter.rdf.values import DATETIME, to_literal
from scepter.timeline import TimeKind, format_instant


def time_values(function: str, start: Int64, end: Int64) -> Int64:
    """What a time function says of rows that have a time."""
    return {START: start, END: end}[function] if function != DURATION else end - start


def time_term(function: str, value: int, kind: TimeKind) -> Term:
    """Such a value as a term."""
    return duration_literal(value, kind) if function == DURATION else instant_literal(value, kind)


def instant_literal(time: int, kind: TimeKind) -> Literal:
    """A time as a literal.

    >>> instant_literal(7, TimeKind.INTEGER).lexical
    '7'
    """
    return to_literal(time) if kind is TimeKind.INTEGER else Literal(str(format_instant(time, kind)), DATETIME)


def duration_literal(ticks: int, kind: TimeKind) -> Literal:
    """A duration as a literal: an integer, or an xsd:duration.

    >>> duration_literal(86_400_000_000 + 1_500_000, TimeKind.DATETIME).lexical
    'P1DT1.5S'
    """
    if kind is TimeKind.INTEGER:
        return to_literal(ticks)
    seconds, fraction = divmod(ticks, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    day, hour = divmod(hours, 24)
    decimals = f".{fraction:06d}".rstrip("0") if fraction else ""
    clock = "".join(f"{amount}{unit}" for amount, unit in ((hour, "H"), (minute, "M")) if amount)
    clock += f"{second}{decimals}S" if second or fraction else ""
    text = (f"{day}D" if day else "") + (f"T{clock}" if clock else "")
    return Literal(f"P{text}" if text else "PT0S", XSD + "duration")
