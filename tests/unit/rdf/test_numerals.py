from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit

from scepter.rdf.batch import DOUBLE, INEXACT, NOT_A_NUMBER
from scepter.rdf.lexing import SENTINEL
from scepter.rdf.numerals import UNDECIDED, datatype_code, exact_number, instant_of, number_of
from scepter.rdf.terms import XSD, Literal
from scepter.timeline import MAX_INSTANT, MIN_INSTANT, parse_datetime

_NUMBER_OF = njit(lambda buffer, at, end, code: number_of(buffer, at, end, code))
_INSTANT_OF = njit(lambda buffer, at, end, code: instant_of(buffer, at, end, code))
"""Python calls kernels, not what they call."""


def code_of(datatype: str) -> int:
    raw = f"<{XSD}{datatype}>".encode()
    return int(datatype_code(np.frombuffer(raw + SENTINEL, dtype=np.uint8), 0, len(raw)))


def kernel(lexical: str, datatype: str) -> tuple[float, int]:
    raw = lexical.encode()
    value, scale = _NUMBER_OF(np.frombuffer(raw + SENTINEL, dtype=np.uint8), 0, len(raw), code_of(datatype))
    return float(value), int(scale)


def number(lexical: str, datatype: str) -> tuple[float, int]:
    """By the kernel, and where it leaves the decision, by the exact reader; both must agree where both speak."""
    value, scale = kernel(lexical, datatype)
    exact = exact_number(Literal(lexical, XSD + datatype))
    if scale == UNDECIDED:
        return exact
    assert (scale, repr(value)) == (exact[1], repr(exact[0]))
    return value, scale


@pytest.mark.parametrize(
    ("lexical", "datatype", "expected"),
    [
        ("5", "integer", (5.0, 0)),
        ("-007", "integer", (-7.0, 0)),
        ("+0", "integer", (0.0, 0)),
        ("-0", "integer", (0.0, 0)),
        ("999999999999999", "integer", (999999999999999.0, 0)),
        ("1000000000000000", "integer", (1e15, INEXACT)),
        ("9007199254740993", "integer", (9007199254740992.0, INEXACT)),
        ("1" * 40, "integer", (float("1" * 40), INEXACT)),
        ("1" * 400, "integer", (math.inf, INEXACT)),
        ("2.50", "decimal", (2.5, 1)),
        ("2.0", "decimal", (2.0, 0)),
        ("2", "decimal", (2.0, 0)),
        (".5", "decimal", (0.5, 1)),
        ("5.", "decimal", (5.0, 0)),
        ("-0.0", "decimal", (0.0, 0)),
        ("0.1", "decimal", (0.1, 1)),
        ("100.00000000000000000000", "decimal", (100.0, 0)),
        ("0.000000000000001", "decimal", (1e-15, 15)),
        ("0.0000000000000001", "decimal", (1e-16, INEXACT)),
        ("0." + "0" * 30 + "1", "decimal", (1e-31, INEXACT)),
        ("123456789.1234567", "decimal", (123456789.1234567, INEXACT)),
        ("1e3", "double", (1000.0, DOUBLE)),
        ("1E-3", "double", (0.001, DOUBLE)),
        ("-0", "double", (-0.0, DOUBLE)),
        ("INF", "double", (math.inf, DOUBLE)),
        ("-INF", "double", (-math.inf, DOUBLE)),
        ("0.8414709848078965", "double", (0.8414709848078965, DOUBLE)),
        ("1e400", "double", (math.inf, DOUBLE)),
        ("1e-400", "double", (0.0, DOUBLE)),
        ("1e99999999999999999999", "double", (math.inf, DOUBLE)),
        ("0.1", "float", (float(np.float32(0.1)), INEXACT)),
        ("1e40", "float", (math.inf, INEXACT)),
    ],
)
def test_values(lexical: str, datatype: str, expected: tuple[float, int]) -> None:
    assert repr(number(lexical, datatype)) == repr(expected)


def test_nan_is_a_double() -> None:
    value, scale = number("NaN", "double")
    assert math.isnan(value)
    assert scale == DOUBLE


@pytest.mark.parametrize(
    ("lexical", "datatype"),
    [
        ("", "integer"),
        ("+", "integer"),
        ("1.0", "integer"),
        (" 1", "integer"),
        ("1 ", "integer"),
        ("1e2", "integer"),
        ("0x1", "integer"),
        ("١", "integer"),
        ("--1", "integer"),
        ("128", "byte"),
        ("-129", "byte"),
        ("32768", "short"),
        ("2147483648", "int"),
        ("-2147483649", "int"),
        ("9223372036854775808", "long"),
        ("-1", "nonNegativeInteger"),
        ("0", "positiveInteger"),
        ("1", "nonPositiveInteger"),
        ("0", "negativeInteger"),
        ("-1", "unsignedLong"),
        ("18446744073709551616", "unsignedLong"),
        ("4294967296", "unsignedInt"),
        ("65536", "unsignedShort"),
        ("256", "unsignedByte"),
        ("", "decimal"),
        (".", "decimal"),
        ("1e1", "decimal"),
        ("1.2.3", "decimal"),
        ("INF", "decimal"),
        ("", "double"),
        ("e1", "double"),
        ("1e", "double"),
        ("1e1.5", "double"),
        ("inf", "double"),
        ("nan", "double"),
        ("-NaN", "double"),
        ("1_000", "double"),
        ("Infinity", "double"),
        (".", "double"),
        ("1e+", "float"),
        ("x", "float"),
    ],
)
def test_ill_typed_is_no_number(lexical: str, datatype: str) -> None:
    assert number(lexical, datatype) == (0.0, NOT_A_NUMBER)


@pytest.mark.parametrize(
    ("lexical", "datatype"),
    [
        ("127", "byte"),
        ("-128", "byte"),
        ("9223372036854775807", "long"),
        ("-9223372036854775808", "long"),
        ("18446744073709551615", "unsignedLong"),
        ("4294967295", "unsignedInt"),
        ("0", "nonPositiveInteger"),
    ],
)
def test_bounds_of_derived_types_are_numbers(lexical: str, datatype: str) -> None:
    value, scale = number(lexical, datatype)
    assert value == float(lexical)
    assert scale in (0, INEXACT)


@pytest.mark.parametrize("datatype", ["strin", "strings", "Integer", "boolean", "nonNegativeIntegex", "int\u00e9", ""])
def test_other_datatypes_are_no_numbers(datatype: str) -> None:
    assert kernel("1", datatype) == (0.0, NOT_A_NUMBER)


def instant(lexical: str, datatype: str) -> tuple[int, int]:
    raw = lexical.encode()
    kind, value = _INSTANT_OF(np.frombuffer(raw + SENTINEL, dtype=np.uint8), 0, len(raw), code_of(datatype))
    return int(kind), int(value)


@pytest.mark.parametrize(
    "lexical",
    [
        "2026-01-01T00:00:00Z",
        "2026-01-01T01:05:00+01:00",
        "1969-12-31T23:59:59.999999",
        "2024-02-29T12:30:15.5-14:00",
        "2000-12-31T24:00:00Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.1234567Z",
        "1900-03-01T00:00:00Z",
    ],
)
def test_date_times_agree_with_the_timeline(lexical: str) -> None:
    assert instant(lexical, "dateTime") == (1, parse_datetime(lexical))


@pytest.mark.parametrize(
    "lexical",
    [
        "",
        "2026-01-01",
        "2026-1-1T00:00:00",
        "2026-02-29T00:00:00",
        "2026-13-01T00:00:00",
        "2026-00-01T00:00:00",
        "2026-01-00T00:00:00",
        "2026-01-32T00:00:00",
        "2026-01-01T25:00:00",
        "2026-01-01T24:00:01",
        "2026-01-01T00:60:00",
        "2026-01-01T00:00:60",
        "2026-01-01T00:00:00.",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00+15:00",
        "0000-01-01T00:00:00",
        "2026-01-01T00:00:00ZZ",
        "2026-01-01 00:00:00",
        "-2026-01-01T00:00:00",
        "12026-01-01T00:00:00",
        "2026-01-01T00:00:00+14:01",
    ],
)
def test_what_is_no_date_time(lexical: str) -> None:
    assert instant(lexical, "dateTime")[0] == 0


def test_date_time_stamps_need_a_zone() -> None:
    assert instant("2026-01-01T00:00:00", "dateTimeStamp")[0] == 0
    assert instant("2026-01-01T00:00:00Z", "dateTimeStamp")[0] == 1


def test_integer_instants_have_64_bits() -> None:
    assert instant(str(MAX_INSTANT), "integer") == (2, MAX_INSTANT)
    assert instant(str(MIN_INSTANT), "integer") == (2, MIN_INSTANT)
    assert instant("000" + str(MAX_INSTANT), "long") == (2, MAX_INSTANT)
    assert instant(str(MAX_INSTANT + 1), "integer")[0] == -1
    assert instant("-" + "9" * 30, "integer")[0] == -1
    assert instant("300", "byte")[0] == 0
    assert instant(str(MAX_INSTANT), "int")[0] == 0
    assert instant("1.5", "decimal")[0] == 0
