"""Terms as columns of native values: one Arrow type for all values of a column, and text where they have none in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final, assert_never

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from scepter.rdf.terms import IRI, BlankNode, Literal, Term
from scepter.rdf.values import Date, DateTime, Value, value_or_none
from scepter.rdf.values.numeric import to_double

NOTHING: Final = -1
"""The code of a row without a term."""
_DIGITS: Final = 15
"""So many digits of a decimal number survive in a double."""
_LARGEST: Final = 300
"""The powers of ten of which that is true."""
_MOST_DIGITS: Final = 38
_INT64: Final = range(-(2**63), 2**63)


class Kind(Enum):
    """What the values of a column may have in common."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    BOOLEAN = "boolean"
    DATETIME = "dateTime with a time zone"
    LOCAL = "dateTime without one"
    DATE = "date"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class TermColumn:
    """A column of terms: the different ones, and per row which of them it is (`NOTHING`: none)."""

    terms: Sequence[Term]
    codes: NDArray[np.int64]

    def native(self, shown: Callable[[Term], str]) -> Any:
        """The column as an Arrow array; `shown` writes what has no native type.

        >>> from scepter.rdf.terms import XSD
        >>> given = [Literal("2", XSD + "integer"), Literal("2.5", XSD + "decimal")]
        >>> TermColumn(given, np.array([1, 0, -1])).native(str).to_pylist()
        [2.5, 2.0, None]
        """
        values = native_values(self.terms, shown)
        codes = pa.array(self.codes, mask=self.codes == NOTHING)
        return values.take(codes)


def native_values(terms: Sequence[Term], shown: Callable[[Term], str]) -> Any:
    """Terms as an Arrow array of one type."""
    values = [value_or_none(term) if isinstance(term, Literal) else None for term in terms]
    kinds = {_kind(value) for value in values}
    numbers = [value for value in values if isinstance(value, (int, float, Decimal))]
    match kinds:
        case _ if not kinds or Kind.TEXT in kinds:
            pass
        case _ if kinds == {Kind.INTEGER} and all(value in _INT64 for value in numbers):
            return pa.array(values, pa.int64())
        case _ if kinds <= {Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE}:
            if Kind.DOUBLE in kinds or all(_short(value) for value in numbers):
                return pa.array([to_double(value) for value in numbers], pa.float64())
            if (exact := _decimals(numbers)) is not None:
                return exact
        case _ if kinds == {Kind.BOOLEAN}:
            return pa.array(values, pa.bool_())
        case _ if kinds in ({Kind.DATETIME}, {Kind.LOCAL}):
            if (instants := _instants(values, kinds == {Kind.DATETIME})) is not None:
                return instants
        case _ if kinds == {Kind.DATE}:
            if (days := _days(values)) is not None:
                return days
    return pa.array([shown(term) for term in terms], pa.string())


def _kind(value: Value | None) -> Kind:
    match value:
        case bool():
            return Kind.BOOLEAN
        case int():
            return Kind.INTEGER
        case Decimal():
            return Kind.DECIMAL
        case float():
            return Kind.DOUBLE
        case DateTime(zone=None):
            return Kind.LOCAL
        case DateTime():
            return Kind.DATETIME
        case Date():
            return Kind.DATE
        case _:
            return Kind.TEXT


def _short(value: int | float | Decimal) -> bool:
    if isinstance(value, float):
        return True
    exact = Decimal(value)
    digits = "".join(map(str, exact.as_tuple().digits)).strip("0")
    return len(digits) <= _DIGITS and abs(exact.adjusted()) <= _LARGEST


def _decimals(numbers: Sequence[int | float | Decimal]) -> Any:
    """Exact numbers that are too long for doubles; None where they are too long for Arrow's, too."""
    given = [Decimal(value) for value in numbers]
    scale = max(max(-int(value.as_tuple().exponent), 0) for value in given)
    whole = max(value.adjusted() + 1 for value in given)
    if max(whole, 1) + scale > _MOST_DIGITS:
        return None
    return pa.array(given, pa.decimal128(_MOST_DIGITS, scale))


def _instants(values: Sequence[Value | None], zoned: bool) -> Any:
    micros = [_micros(value) for value in values if isinstance(value, DateTime)]
    if any(value is None for value in micros):
        return None
    return pa.array(micros, pa.int64()).cast(pa.timestamp("us", tz="UTC" if zoned else None))


def _micros(value: DateTime) -> int | None:
    """Microseconds since 1970; None for what is finer or farther away than a timestamp can say."""
    amount = value.instant * 1_000_000
    whole = int(amount)
    return whole if amount == whole and whole in _INT64 else None


def _days(values: Sequence[Value | None]) -> Any:
    days = [value.day for value in values if isinstance(value, Date) and value.zone is None]
    if len(days) < len(values) or any(abs(day) >= 2**31 for day in days):
        return None
    return pa.array(days, pa.int32()).cast(pa.date32())


def plain_text(term: Term, prefixes: Mapping[str, str] | None = None) -> str:
    """A term without its marks: an IRI's text (with `prefixes`, as a prefixed name where one fits), a literal's text.

    >>> plain_text(IRI("http://example/a"), {"": "http://example/"}), plain_text(Literal("a"))
    (':a', 'a')
    """
    match term:
        case IRI(value):
            for prefix, namespace in sorted((prefixes or {}).items(), key=lambda each: -len(each[1])):
                local = value.removeprefix(namespace)
                if local != value and local.replace("_", "").replace("-", "").isalnum():
                    return f"{prefix}:{local}"
            return value
        case Literal(lexical):
            return lexical
        case BlankNode():
            return str(term)
        case _:
            assert_never(term)
