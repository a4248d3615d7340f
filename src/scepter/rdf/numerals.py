"""The values of numeric and time literals, read from their bytes.

`float64` results are exactly `float(lexical)`: at most 15 digits scaled by a power of ten up to 10^22 is one correctly
rounded operation on exact operands; whatever lies beyond is marked `UNDECIDED` and read by `exact_number`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

import numpy as np

from scepter.inner import inner, shared
from scepter.rdf.batch import DOUBLE, INEXACT, MAX_SCALE, NOT_A_NUMBER
from scepter.rdf.terms import RDF, XSD, Literal
from scepter.rdf.values.numeric import LONGEST
from scepter.rdf.words import load_word
from scepter.timeline import MAX_INSTANT

UNDECIDED: Final = -2
"""Scale of a number that only `exact_number` can read."""

OTHER, STRING_TYPE, LANG_STRING_TYPE, DATE_TIME, DATE_TIME_STAMP, DECIMAL, DOUBLE_TYPE, FLOAT, INTEGER = range(9)
"""Codes of datatypes; INTEGER and above are the integer types."""

_LOWEST, _GREATEST = -(2**63), 2**63 - 1
# name, least and greatest value; bounds that lie beyond int64 stand as int64's own (18 digits never reach them)
_INTEGERS: Final[list[tuple[str, int | None, int | None]]] = [
    ("integer", None, None),
    ("long", -(2**63), 2**63 - 1),
    ("int", -(2**31), 2**31 - 1),
    ("short", -(2**15), 2**15 - 1),
    ("byte", -128, 127),
    ("nonNegativeInteger", 0, None),
    ("positiveInteger", 1, None),
    ("nonPositiveInteger", None, 0),
    ("negativeInteger", None, -1),
    ("unsignedLong", 0, 2**64 - 1),
    ("unsignedInt", 0, 2**32 - 1),
    ("unsignedShort", 0, 2**16 - 1),
    ("unsignedByte", 0, 255),
]
_NAMES: Final = ["string", "dateTime", "dateTimeStamp", "decimal", "double", "float"]
_CODES: Final = [STRING_TYPE, DATE_TIME, DATE_TIME_STAMP, DECIMAL, DOUBLE_TYPE, FLOAT]
_BOUNDS: Final = {XSD + name: (least, greatest) for name, least, greatest in _INTEGERS}
_MIN: Final = np.array([_LOWEST if least is None else least for _, least, _ in _INTEGERS], dtype=np.int64)
_MAX: Final = np.array([_GREATEST if top is None or top > _GREATEST else top for _, _, top in _INTEGERS], dtype=np.int64)


def _words(text: bytes) -> list[int]:
    padded = text.ljust(24, b"\0")
    return [int.from_bytes(padded[i : i + 8], "little") for i in range(0, 24, 8)]


_LOCAL: Final = [*_NAMES, *(name for name, _, _ in _INTEGERS)]
_LOCAL_LENGTH: Final = np.array([len(name) for name in _LOCAL], dtype=np.int64)
_LOCAL_WORDS: Final = np.array([_words(name.encode()) for name in _LOCAL], dtype=np.uint64)
_LOCAL_CODE: Final = np.array([*_CODES, *range(INTEGER, INTEGER + len(_INTEGERS))], dtype=np.int64)
_XSD_BYTES: Final = np.frombuffer(b"<" + XSD.encode(), dtype=np.uint8)
_XSD_LENGTH: Final = len(_XSD_BYTES)
_LANG_STRING: Final = np.frombuffer(f"<{RDF}langString>".encode(), dtype=np.uint8)
_POWERS: Final = np.array([10.0**n for n in range(23)], dtype=np.float64)
_EXACT_DIGITS: Final = 15
_WORD_DIGITS: Final = 18


@inner
def _starts_with(buffer: Any, at: Any, expected: Any) -> Any:
    i = 0
    while i + 8 <= len(expected):
        if load_word(buffer, at + i) != load_word(expected, i):
            return False
        i += 8
    while i < len(expected):
        if buffer[at + i] != expected[i]:
            return False
        i += 1
    return True


@shared
def datatype_code(buffer: Any, at: Any, end: Any) -> Any:
    """The code of the datatype whose IRI, with its brackets and without escapes, is `buffer[at:end]`.

    At least 16 bytes follow the IRI in the buffer.
    """
    length = end - at - _XSD_LENGTH - 1
    if 3 <= length <= 18 and _starts_with(buffer, at, _XSD_BYTES):
        first = load_word(buffer, at + _XSD_LENGTH)
        if length < 8:
            first &= (np.uint64(1) << np.uint64(8 * length)) - np.uint64(1)
        for i in range(len(_LOCAL_LENGTH)):
            if _LOCAL_LENGTH[i] == length and _LOCAL_WORDS[i, 0] == first and _rest_is(buffer, at, length, i):
                return _LOCAL_CODE[i]
    if end - at == len(_LANG_STRING) and _starts_with(buffer, at, _LANG_STRING):
        return LANG_STRING_TYPE
    return OTHER


@inner
def _rest_is(buffer: Any, at: Any, length: Any, row: Any) -> Any:
    for i in range(8, length):
        expected = (_LOCAL_WORDS[row, i >> 3] >> np.uint64(8 * (i & 7))) & np.uint64(255)
        if np.uint64(buffer[at + _XSD_LENGTH + i]) != expected:
            return False
    return True


@inner
def number_of(buffer: Any, at: Any, end: Any, code: Any) -> Any:
    """(value, scale) of the lexical form `buffer[at:end]` of a datatype; scale UNDECIDED leaves it to `exact_number`."""
    if end - at > LONGEST:
        return 0.0, NOT_A_NUMBER
    if code >= INTEGER:
        return _integer(buffer, at, end, code)
    if code == DECIMAL:
        return _decimal(buffer, at, end)
    if code == DOUBLE_TYPE or code == FLOAT:  # noqa: SIM109
        value, scale = _double(buffer, at, end)
        if code == FLOAT and scale == DOUBLE:
            return np.float64(np.float32(value)), INEXACT
        return value, scale
    return 0.0, NOT_A_NUMBER


@inner
def _integer(buffer: Any, at: Any, end: Any, code: Any) -> Any:
    status, value, digits = integer_of(buffer, at, end)
    if status == 0:
        return 0.0, NOT_A_NUMBER
    if digits > _WORD_DIGITS:
        return 0.0, UNDECIDED
    if not _MIN[code - INTEGER] <= value <= _MAX[code - INTEGER]:
        return 0.0, NOT_A_NUMBER
    return np.float64(value), 0 if digits <= _EXACT_DIGITS else INEXACT


@inner
def integer_of(buffer: Any, at: Any, end: Any) -> Any:
    """(1 if it is an integer, its value, its significant digits); the value holds up to 18 digits."""
    negative = at < end and buffer[at] == 45
    i = at + 1 if at < end and (negative or buffer[at] == 43) else at
    if i == end:
        return 0, np.int64(0), 0
    value = np.int64(0)
    digits = 0
    while i < end:
        digit = np.int64(buffer[i]) - 48
        if not 0 <= digit <= 9:
            return 0, np.int64(0), 0
        if digits or digit:
            digits += 1
            if digits <= _WORD_DIGITS:
                value = value * 10 + digit
        i += 1
    return 1, -value if negative else value, digits


@inner
def _mantissa(buffer: Any, at: Any, end: Any) -> Any:
    """(next offset or -1, digits as an integer, significant digits, digits after the point), trailing zeros of the fraction
    left out. The integer holds up to 18 digits."""
    value = np.int64(0)
    digits = 0
    scale = 0
    zeros = 0
    seen = 0
    point = False
    i = at
    while i < end:
        byte = np.int64(buffer[i])
        if byte == 46 and not point:
            point = True
        elif 48 <= byte <= 57:
            seen += 1
            if point and byte == 48:
                zeros += 1
            else:
                for _ in range(zeros):
                    digits += 1 if value else 0
                    if digits <= _WORD_DIGITS:
                        value *= 10
                scale += zeros + 1 if point else 0
                zeros = 0
                digits += 1 if value or byte != 48 else 0
                if digits <= _WORD_DIGITS:
                    value = value * 10 + byte - 48
        else:
            break
        i += 1
    return (i if seen else -1), value, digits, scale


@inner
def _decimal(buffer: Any, at: Any, end: Any) -> Any:
    negative = at < end and buffer[at] == 45
    i = at + 1 if at < end and (negative or buffer[at] == 43) else at
    i, value, digits, scale = _mantissa(buffer, i, end)
    if i != end:
        return 0.0, NOT_A_NUMBER
    if digits > _EXACT_DIGITS or scale >= len(_POWERS):
        return 0.0, UNDECIDED
    number = np.float64(value) / _POWERS[scale]
    return -number if negative and value else number, scale if scale <= MAX_SCALE else INEXACT


@inner
def _double(buffer: Any, at: Any, end: Any) -> Any:
    negative = at < end and buffer[at] == 45
    i = at + 1 if at < end and (negative or buffer[at] == 43) else at
    if end - i == 3 and buffer[i] == 73 and buffer[i + 1] == 78 and buffer[i + 2] == 70:
        return -np.inf if negative else np.inf, DOUBLE
    if end - at == 3 and buffer[at] == 78 and buffer[at + 1] == 97 and buffer[at + 2] == 78:
        return np.nan, DOUBLE
    i, value, digits, scale = _mantissa(buffer, i, end)
    if i < 0:
        return 0.0, NOT_A_NUMBER
    exponent = np.int64(0)
    exponent_digits = 0
    if i < end:
        if buffer[i] != 69 and buffer[i] != 101:
            return 0.0, NOT_A_NUMBER
        status, exponent, exponent_digits = integer_of(buffer, i + 1, end)
        if status == 0:
            return 0.0, NOT_A_NUMBER
    if digits > _EXACT_DIGITS or exponent_digits > 9 or abs(exponent - scale) >= len(_POWERS):
        return 0.0, UNDECIDED
    power = exponent - scale
    number = np.float64(value) * _POWERS[power] if power >= 0 else np.float64(value) / _POWERS[-power]
    return -number if negative else number, DOUBLE


@inner
def instant_of(buffer: Any, at: Any, end: Any, code: Any) -> Any:
    """(1 for a dateTime, 2 for an integer, 0 for no time, -1 beyond 64 bits; the instant) of a time literal."""
    if code >= INTEGER:
        status, value, digits = integer_of(buffer, at, end)
        if status == 0:
            return 0, np.int64(0)
        if digits <= _WORD_DIGITS:
            return (2, value) if _MIN[code - INTEGER] <= value <= _MAX[code - INTEGER] else (0, np.int64(0))
        status, value = _long_instant(buffer, at, end, digits)
        return (status, value) if status < 0 or _MIN[code - INTEGER] <= value <= _MAX[code - INTEGER] else (0, np.int64(0))
    if code == DATE_TIME or code == DATE_TIME_STAMP:  # noqa: SIM109
        return _date_time(buffer, at, end, code == DATE_TIME_STAMP)
    return 0, np.int64(0)


@inner
def _long_instant(buffer: Any, at: Any, end: Any, digits: Any) -> Any:
    """The range of instants is symmetric, so its size decides."""
    if digits > 19:
        return -1, np.int64(0)
    size = np.uint64(0)
    for i in range(end - 19, end):
        size = size * np.uint64(10) + (np.uint64(buffer[i]) - np.uint64(48))
    if size > np.uint64(MAX_INSTANT):
        return -1, np.int64(0)
    return 2, -np.int64(size) if buffer[at] == 45 else np.int64(size)


@inner
def _two(buffer: Any, at: Any) -> Any:
    tens = np.int64(buffer[at]) - 48
    ones = np.int64(buffer[at + 1]) - 48
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else np.int64(-1)


@inner
def _days(year: Any, month: Any, day: Any) -> Any:
    """Days since the epoch of a date of the proleptic Gregorian calendar, counted in years that start in March."""
    shifted = year - 1 if month <= 2 else year
    from_march = month + 9 if month <= 2 else month - 3
    return 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + (153 * from_march + 2) // 5 + day - 719469


@inner
def _date_time(buffer: Any, at: Any, end: Any, zoned: Any) -> Any:
    """`YYYY-MM-DDThh:mm:ss(.f+)?(Z|±hh:mm)?` with a year from 1 to 9999; digits beyond the microsecond are cut off."""
    none = (0, np.int64(0))
    if end - at < 19 or buffer[at + 4] != 45 or buffer[at + 7] != 45 or buffer[at + 10] != 84:
        return none
    if buffer[at + 13] != 58 or buffer[at + 16] != 58:
        return none
    century, years, month, day = _two(buffer, at), _two(buffer, at + 2), _two(buffer, at + 5), _two(buffer, at + 8)
    hour, minute, second = _two(buffer, at + 11), _two(buffer, at + 14), _two(buffer, at + 17)
    year = century * 100 + years
    if century < 0 or years < 0 or year < 1 or not 1 <= month <= 12 or day < 1:
        return none
    one = np.int64(1)  # a literal would compile `_days` again
    next_month = _days(year + one, one, one) if month == 12 else _days(year, month + one, one)
    if _days(year, month, day) >= next_month or not (0 <= hour <= 24 and 0 <= minute <= 59 and 0 <= second <= 59):
        return none
    i, micros = _fraction(buffer, at + 19, end)
    if i < 0 or (hour == 24 and (minute or second or micros)):
        return none
    offset = _zone_minutes(buffer, i, end)
    if offset == _NO_ZONE and (i != end or zoned):
        return none
    minutes = (_days(year, month, day) * 24 + hour) * 60 + minute - (0 if offset == _NO_ZONE else offset)
    return 1, (minutes * 60 + second) * 1_000_000 + micros


_NO_ZONE: Final = 1 << 20


@inner
def _fraction(buffer: Any, at: Any, end: Any) -> Any:
    if at == end or buffer[at] != 46:
        return at, np.int64(0)
    i = at + 1
    micros = np.int64(0)
    while i < end and 48 <= buffer[i] <= 57:
        if i <= at + 6:
            micros = micros * 10 + np.int64(buffer[i]) - 48
        i += 1
    if i == at + 1:
        return -1, np.int64(0)
    for _ in range(i - at - 1, 6):
        micros *= 10
    return i, micros


@inner
def _zone_minutes(buffer: Any, at: Any, end: Any) -> Any:
    if end - at == 1 and buffer[at] == 90:
        return np.int64(0)
    if end - at != 6 or buffer[at + 3] != 58 or (buffer[at] != 43 and buffer[at] != 45):
        return np.int64(_NO_ZONE)
    hours, minutes = _two(buffer, at + 1), _two(buffer, at + 4)
    total = hours * 60 + minutes
    if hours < 0 or not 0 <= minutes <= 59 or total > 14 * 60:
        return np.int64(_NO_ZONE)
    return -total if buffer[at] == 45 else total


_INTEGER_FORM = re.compile(r"[+-]?[0-9]+\Z")
_DECIMAL_FORM = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\Z")
_DOUBLE_FORM = re.compile(r"(?:[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN)\Z")


def exact_number(literal: Literal) -> tuple[float, int]:
    """(value, scale) of any literal: the slow twin of `number_of`, without its limits.

    >>> exact_number(Literal("2.50", XSD + "decimal"))
    (2.5, 1)
    """
    lexical, datatype = literal.lexical, literal.datatype
    if len(lexical) > LONGEST:
        return 0.0, NOT_A_NUMBER
    if datatype in _BOUNDS:
        return _exact_integer(lexical, *_BOUNDS[datatype])
    if datatype == XSD + "decimal" and _DECIMAL_FORM.match(lexical):
        whole, _, fraction = lexical.lstrip("+-").partition(".")
        fraction = fraction.rstrip("0")
        digits = len((whole + fraction).lstrip("0"))
        exact = digits <= _EXACT_DIGITS and len(fraction) <= MAX_SCALE
        return float(lexical) + 0.0, len(fraction) if exact else INEXACT
    if datatype == XSD + "double" and _DOUBLE_FORM.match(lexical):
        return float(lexical), DOUBLE
    if datatype == XSD + "float" and _DOUBLE_FORM.match(lexical):
        with np.errstate(over="ignore"):
            return float(np.float32(float(lexical))), INEXACT
    return 0.0, NOT_A_NUMBER


def _exact_integer(lexical: str, least: int | None, greatest: int | None) -> tuple[float, int]:
    if not _INTEGER_FORM.match(lexical):
        return 0.0, NOT_A_NUMBER
    # Decimal compares any number of digits in linear time, where int() is quadratic and limited
    value = Decimal(lexical)
    if (least is not None and value < least) or (greatest is not None and value > greatest):
        return 0.0, NOT_A_NUMBER
    digits = len(lexical.lstrip("+-").lstrip("0"))
    return float(lexical) + 0.0, 0 if digits <= _EXACT_DIGITS else INEXACT
