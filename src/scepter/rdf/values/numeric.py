"""Numbers of the XSD numeric types: exact integers and decimals, float32 and float64, their texts and promotion."""

from __future__ import annotations

import decimal
import math
import re
import struct
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import cache, reduce
from typing import TypeAlias


class ExpressionError(Exception):
    """SPARQL's error value: the expression has no value for this solution."""


class Single(float):
    """A value of xsd:float: a Python float that float32 can hold.

    >>> Single(0.1) == 0.1
    False
    """

    __slots__ = ()

    def __new__(cls, value: float | int | Decimal | str) -> Single:
        """The nearest float32; beyond its range, an infinity."""
        wide = to_double(value)
        try:
            (narrow,) = struct.unpack("<f", struct.pack("<f", wide))
        except OverflowError:
            narrow = math.copysign(math.inf, wide)
        return super().__new__(cls, narrow)


Number: TypeAlias = int | Decimal | Single | float

DIGITS = 6_000
"""Sums and products are exact, and errors where they have more digits than this, before or behind the point: what it takes to
compute with more, and to read and write them, grows with their square."""
LONGEST = 2 * DIGITS + 3
"""The text of a number has at most so many characters; a longer one has no value."""
_BITS = int(DIGITS / math.log10(2))
_EXACT = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
_BOUNDED = decimal.Context(
    prec=DIGITS,
    Emax=DIGITS,
    Emin=-DIGITS,
    traps=[decimal.Rounded, decimal.Overflow, decimal.Subnormal, decimal.InvalidOperation],
)
QUOTIENT_DIGITS = 24
"""A quotient has so many digits more than its whole part."""
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
# Python refuses int <-> str beyond 4300 digits; below this bit length it is certain to accept.
_PLAIN_BITS = 14_000


def parse_integer(text: str) -> int:
    """The value of an xsd:integer's lexical form, of any length. Raises ValueError."""
    if _INTEGER.fullmatch(text) is None:
        raise ValueError(text)
    return int(text) if len(text) <= 4000 else int(_EXACT.create_decimal(text))


def parse_decimal(text: str) -> Decimal:
    """The value of an xsd:decimal's lexical form. Raises ValueError."""
    if _DECIMAL.fullmatch(text) is None:
        raise ValueError(text)
    return _EXACT.create_decimal(text)


def parse_double(text: str) -> float:
    """The value of an xsd:double's lexical form. Raises ValueError."""
    if text in _SPECIAL:
        return _SPECIAL[text]
    if _DOUBLE.fullmatch(text) is None:
        raise ValueError(text)
    return float(text)


def format_integer(value: int) -> str:
    """The canonical form of an integer."""
    return str(value) if value.bit_length() < _PLAIN_BITS else format(_EXACT.create_decimal(value), "f")


def format_decimal(value: Decimal) -> str:
    """The canonical form of a decimal: no exponent, no zeros at the end, no point where nothing follows it (XSD 1.1 §3.3.3).

    >>> format_decimal(Decimal("30.00")), format_decimal(Decimal("2.50"))
    ('30', '2.5')
    """
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").removesuffix(".")
    return "0" if text == "-0" else text


def format_double(value: float) -> str:
    """The canonical form of an xsd:double or (for a Single) an xsd:float.

    >>> format_double(1.0), format_double(0.0125), format_double(float("-inf"))
    ('1.0E0', '1.25E-2', '-INF')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    sign, digits, exponent = Decimal(_shortest(value)).as_tuple()
    significant = "".join(map(str, digits))
    scale = len(significant) - 1 + int(exponent)
    significant = significant.rstrip("0") or "0"
    mantissa = f"{significant[0]}.{significant[1:] or '0'}"
    return f"{'-' if sign else ''}{mantissa}E{0 if value == 0 else scale}"


def _shortest(value: float) -> str:
    """The fewest digits that read back as the same number of the same width."""
    if not isinstance(value, Single):
        return repr(value)
    candidates = (f"{value:.{digits}e}" for digits in range(9))
    return next((text for text in candidates if Single(float(text)) == value), repr(float(value)))


def to_double(value: float | int | Decimal | str) -> float:
    """The nearest float64; an integer beyond its range becomes an infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if Decimal(value) > 0 else -math.inf


def promote(a: Number, b: Number) -> tuple[Number, Number]:
    """Both numbers in the wider of their types: integer, decimal, float, double (XPath type promotion).

    >>> promote(1, Decimal("0.5"))
    (Decimal('1'), Decimal('0.5'))
    """
    if type(a) is type(b):
        return a, b
    rank = max(_rank(a), _rank(b))
    return _widen(a, rank), _widen(b, rank)


def _rank(value: Number) -> int:
    if isinstance(value, int):
        return 0
    if isinstance(value, Decimal):
        return 1
    return 2 if isinstance(value, Single) else 3


def _widen(value: Number, rank: int) -> Number:
    if _rank(value) == rank:
        return value
    if rank == 1:
        return _EXACT.create_decimal(value)
    return Single(value) if rank == 2 else to_double(value)


def is_true(value: Number) -> bool:
    """The effective boolean value of a number: neither zero nor NaN."""
    return value == value and bool(value)


def less_numbers(a: Number, b: Number) -> bool:
    """a < b, in the promoted type; nothing is less than NaN, nor NaN less than anything."""
    x, y = promote(a, b)
    return x < y


def add(a: Number, b: Number) -> Number:
    """The sum, in the promoted type."""
    match promote(a, b):
        case (int() as x, int() as y):
            return _bounded(x + y)
        case (Decimal() as x, Decimal() as y):
            return _decimal(_BOUNDED.add, x, y)
        case (x, y):
            return _narrow(x, float(x) + float(y))


def subtract(a: Number, b: Number) -> Number:
    """The difference, in the promoted type."""
    match promote(a, b):
        case (int() as x, int() as y):
            return _bounded(x - y)
        case (Decimal() as x, Decimal() as y):
            return _decimal(_BOUNDED.subtract, x, y)
        case (x, y):
            return _narrow(x, float(x) - float(y))


def multiply(a: Number, b: Number) -> Number:
    """The product, in the promoted type."""
    match promote(a, b):
        case (int() as x, int() as y):
            return _bounded(x * y)
        case (Decimal() as x, Decimal() as y):
            return _decimal(_BOUNDED.multiply, x, y)
        case (x, y):
            return _narrow(x, float(x) * float(y))


def _bounded(value: int) -> int:
    if value.bit_length() > _BITS:
        raise _too_long()
    return value


def _decimal(operation: Callable[[Decimal, Decimal], Decimal], a: Decimal, b: Decimal) -> Decimal:
    try:
        return operation(a, b)
    except decimal.DecimalException:
        raise _too_long() from None


def _too_long() -> ExpressionError:
    return ExpressionError(f"a number of more than {DIGITS:,} digits")


def total(numbers: Iterable[Number]) -> Number:
    """The sum, in the widest type of all; of nothing 0. It is exact, and rounded once: no order of the numbers matters.

    >>> total([0.1, 1e100, 0.1, -1e100])
    0.2
    """
    some = list(numbers)
    if all(isinstance(number, int) for number in some):
        return sum(some)
    if not any(isinstance(number, float) for number in some):
        return reduce(add, some)
    special = {float(number) for number in some if isinstance(number, float) and not math.isfinite(number)}
    wide = any(isinstance(number, float) and not isinstance(number, Single) for number in some)
    if len(special) > 1 or any(map(math.isnan, special)):
        found = math.nan
    else:
        found = special.pop() if special else nearest(sum(map(Fraction, some), Fraction(0)))
    return found if wide else Single(found)


def nearest(exact: Fraction) -> float:
    """The double nearest to an exact number; beyond the range an infinity."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def divide(a: Number, b: Number) -> Number:
    """The quotient; of two integers it is a decimal. An exact number divided by zero is an error (F&O op:numeric-divide)."""
    match promote(a, b):
        case (int() as x, int() as y):
            return _quotient(_EXACT.create_decimal(x), _EXACT.create_decimal(y))
        case (Decimal() as x, Decimal() as y):
            return _quotient(x, y)
        case (x, y):
            return _narrow(x, _float_quotient(float(x), float(y)))


def negate(value: Number) -> Number:
    """The number with its sign turned."""
    if isinstance(value, Decimal):
        return value.copy_negate() if value else value
    return _narrow(value, -value)


def round_half_up(value: int | Decimal | float) -> int:
    """The nearest integer, and of two the greater (F&O fn:round). The value must be finite."""
    low = math.floor(value)
    return low + 1 if subtract(value, low) >= 0.5 else low


def _narrow(operand: Number, result: float) -> Number:
    """Arithmetic on float32 rounds to float32."""
    return Single(result) if isinstance(operand, Single) else result


def _quotient(a: Decimal, b: Decimal) -> Decimal:
    if not b:
        raise ExpressionError("division by zero")
    if not a:
        return Decimal(0)
    whole = a.adjusted() - b.adjusted() + 1
    if abs(whole) > DIGITS - QUOTIENT_DIGITS:
        raise _too_long()
    digits = max(0, whole) + QUOTIENT_DIGITS
    return _dividing(digits).divide(a, b)


@cache
def _dividing(digits: int) -> decimal.Context:
    """A context that stops after so many digits; made once, as that costs more than a division."""
    return decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def _float_quotient(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)
