"""Values of literals: lexical spaces, comparison, arithmetic, order."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from scepter.rdf.batch import INEXACT, NOT_A_NUMBER
from scepter.rdf.numerals import exact_number
from scepter.rdf.terms import IRI, LANG_STRING, XSD, BlankNode, Literal, Term
from scepter.rdf.values import (
    ExpressionError,
    LangString,
    Single,
    arithmetic,
    effective_boolean_value,
    equals,
    less,
    less_or_equal,
    negated,
    order_key,
    to_literal,
    value_of,
    value_or_none,
)

A, B = IRI("http://a"), IRI("http://b")
EN = Literal("xyz", LANG_STRING, "en")
STRANGE = Literal("xyz", "http://example/unknown")
ILL = Literal("xyz", XSD + "integer")


def lit(lexical: str, datatype: str) -> Literal:
    return Literal(lexical, XSD + datatype)


@pytest.mark.parametrize(
    ("datatype", "lexical", "value"),
    [
        ("integer", "-007", -7),
        ("byte", "-128", -128),
        ("unsignedLong", "18446744073709551615", 2**64 - 1),
        ("decimal", ".5", Decimal("0.5")),
        ("decimal", "5.", Decimal(5)),
        ("decimal", "1." + "1" * 50, Decimal("1." + "1" * 50)),
        ("double", "1e400", math.inf),
        ("double", "-INF", -math.inf),
        ("float", "0.1", Single(0.1)),
        ("float", "1e39", math.inf),
        ("boolean", "1", True),
        ("string", " a ", " a "),
    ],
)
def test_a_lexical_form_has_its_value(datatype: str, lexical: str, value: object) -> None:
    found = value_of(lit(lexical, datatype))
    assert found == value and type(found) is type(value if datatype != "float" else Single(0))


@pytest.mark.parametrize(
    "literal",
    [
        lit("300", "byte"),
        lit("-1", "nonNegativeInteger"),
        lit("0", "positiveInteger"),
        lit("1.0", "integer"),
        lit("1e3", "decimal"),
        lit(".", "decimal"),
        lit("", "integer"),
        lit(" 1", "integer"),
        lit("1\n", "integer"),
        lit("١", "integer"),
        lit("1_000", "integer"),
        lit("inf", "double"),
        lit("nan", "double"),
        lit("TRUE", "boolean"),
        lit("2026-02-29T00:00:00", "dateTime"),
        lit("2026-01-01T24:00:01", "dateTime"),
        lit("2026-01-01T00:00:60", "dateTime"),
        lit("2026-01-01T00:00:00+14:01", "dateTime"),
        lit("2026-01-01T00:00:00", "dateTimeStamp"),
        lit("2026-13-01", "date"),
        lit("02026-01-01", "date"),
        lit("25:00:00", "time"),
        lit("P", "duration"),
        lit("P1DT", "duration"),
        lit("P1.5D", "duration"),
        lit("P1M", "dayTimeDuration"),
        lit("P1D", "yearMonthDuration"),
        lit("P" + "9" * 40 + "D", "duration"),
        Literal("x", "http://example/unknown"),
        Literal("x", LANG_STRING),
    ],
)
def test_what_is_outside_the_lexical_space_has_no_value(literal: Literal) -> None:
    assert value_or_none(literal) is None
    with pytest.raises(ExpressionError):
        value_of(literal)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (lit("2", "integer"), lit("2.0", "decimal")),
        (lit("2", "byte"), lit("2.0E0", "double")),
        (lit("0.1", "decimal"), lit("0.1", "double")),
        (lit("0.1", "decimal"), lit("0.1", "float")),
        (lit("-0.0", "double"), lit("0", "integer")),
        (lit("true", "boolean"), lit("1", "boolean")),
        (lit("2026-01-01T01:00:00+01:00", "dateTime"), lit("2026-01-01T00:00:00Z", "dateTime")),
        (lit("2026-01-01T00:00:00", "dateTime"), lit("2026-01-01T00:00:00Z", "dateTime")),
        (lit("2025-12-31T24:00:00.00", "dateTime"), lit("2026-01-01T00:00:00", "dateTime")),
        (lit("P1Y", "yearMonthDuration"), lit("P12M", "duration")),
        (lit("PT24H", "dayTimeDuration"), lit("P1D", "duration")),
        (lit("P0M", "yearMonthDuration"), lit("PT0S", "dayTimeDuration")),
        (EN, Literal("xyz", LANG_STRING, "en")),
        (STRANGE, STRANGE),
        (ILL, ILL),
        (A, A),
    ],
)
def test_equal(a: Term, b: Term) -> None:
    assert equals(a, b) and equals(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (lit("NaN", "double"), lit("NaN", "double")),
        (lit("9007199254740993", "integer"), lit("9007199254740992", "integer")),
        (lit("1." + "0" * 40 + "1", "decimal"), lit("1", "integer")),
        (lit("0.1", "float"), lit("0.1", "double")),
        (Literal("1"), lit("1", "integer")),
        (lit("1", "boolean"), lit("1", "integer")),
        (Literal("xyz"), EN),
        (EN, STRANGE),
        (EN, Literal("xyz", LANG_STRING, "de")),
        (A, Literal("http://a")),
        (A, BlankNode("a")),
        (A, B),
        (STRANGE, A),
    ],
)
def test_unequal(a: Term, b: Term) -> None:
    assert not equals(a, b) and not equals(b, a)


@pytest.mark.parametrize(
    ("a", "b"), [(Literal("xyz"), ILL), (Literal("xyz"), STRANGE), (ILL, STRANGE), (STRANGE, lit("1", "byte"))]
)
def test_pairs_that_do_not_value_compare(a: Term, b: Term) -> None:
    for x, y in ((a, b), (b, a)):
        with pytest.raises(ExpressionError):
            equals(x, y)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (lit("2", "integer"), lit("10", "integer")),
        (lit("1.5", "decimal"), lit("2", "integer")),
        (lit("9007199254740992", "integer"), lit("9007199254740993", "integer")),
        (lit("false", "boolean"), lit("true", "boolean")),
        (Literal("B"), Literal("a")),
        (lit("2026-01-01T00:00:00+01:00", "dateTime"), lit("2026-01-01T00:00:00Z", "dateTime")),
        (lit("-0001-01-01T00:00:00Z", "dateTime"), lit("0001-01-01T00:00:00Z", "dateTime")),
        (lit("2026-01-01T00:00:00.0000000001Z", "dateTime"), lit("2026-01-01T00:00:00.0000000002Z", "dateTime")),
        (lit("99999-01-01", "date"), lit("100000-01-01", "date")),
        (lit("01:00:00", "time"), lit("02:00:00", "time")),
        (lit("PT59M", "duration"), lit("PT1H", "dayTimeDuration")),
        (lit("-P1D", "duration"), lit("PT0S", "duration")),
        (lit("P27D", "duration"), lit("P1M", "duration")),
    ],
)
def test_less(a: Term, b: Term) -> None:
    assert less(a, b) and not less(b, a) and less_or_equal(a, b) and not less_or_equal(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (A, B),
        (A, Literal("x")),
        (EN, EN),
        (Literal("1"), lit("2", "integer")),
        (lit("2026-01-01", "date"), lit("2026-01-01T00:00:00", "dateTime")),
        (lit("P30D", "duration"), lit("P1M", "duration")),
        (STRANGE, STRANGE),
        (ILL, lit("1", "integer")),
    ],
)
def test_no_order(a: Term, b: Term) -> None:
    with pytest.raises(ExpressionError):
        less(a, b)


def test_nan_is_neither_less_nor_equal() -> None:
    nan, one = lit("NaN", "double"), lit("1", "integer")
    assert not less(nan, one) and not less(one, nan) and not less_or_equal(nan, nan)


@pytest.mark.parametrize(
    ("a", "operator", "b", "lexical", "datatype"),
    [
        (lit("1", "integer"), "+", lit("2", "byte"), "3", "integer"),
        (lit("1", "integer"), "/", lit("3", "integer"), "0." + "3" * 25, "decimal"),
        (lit("6", "integer"), "/", lit("2", "integer"), "3", "decimal"),
        (lit("0.1", "decimal"), "+", lit("0.2", "decimal"), "0.3", "decimal"),
        (lit("1." + "0" * 40 + "1", "decimal"), "*", lit("1", "integer"), "1." + "0" * 40 + "1", "decimal"),
        (lit("9" * 30, "integer"), "*", lit("9" * 30, "integer"), str((10**30 - 1) ** 2), "integer"),
        (lit("1", "decimal"), "/", lit("1" + "0" * 40, "integer"), "0." + "0" * 39 + "1", "decimal"),
        (lit("1", "integer"), "+", lit("0.5", "double"), "1.5E0", "double"),
        (lit("16777216", "float"), "+", lit("1", "float"), "1.6777216E7", "float"),
        (lit("0.5", "float"), "*", lit("0.5", "decimal"), "2.5E-1", "float"),
        (lit("1", "double"), "/", lit("0", "integer"), "INF", "double"),
        (lit("-1", "double"), "/", lit("0", "double"), "-INF", "double"),
        (lit("0", "double"), "/", lit("0", "double"), "NaN", "double"),
        (lit("2026-03-01T00:00:00Z", "dateTime"), "-", lit("2026-02-28T12:00:00Z", "dateTime"), "PT12H", "dayTimeDuration"),
        (lit("2024-02-29T10:00:00Z", "dateTime"), "+", lit("P1Y", "yearMonthDuration"), "2025-02-28T10:00:00Z", "dateTime"),
        (lit("2026-01-01T00:00:00Z", "dateTime"), "-", lit("PT0.5S", "dayTimeDuration"), "2025-12-31T23:59:59.5Z", "dateTime"),
        (lit("PT1H", "dayTimeDuration"), "+", lit("2026-01-01T23:30:00", "dateTime"), "2026-01-02T00:30:00", "dateTime"),
        (lit("2026-03-31", "date"), "-", lit("P1M", "duration"), "2026-02-28", "date"),
        (lit("23:30:00", "time"), "+", lit("PT1H", "dayTimeDuration"), "00:30:00", "time"),
        (lit("PT1H", "dayTimeDuration"), "*", lit("1.5", "decimal"), "PT1H30M", "dayTimeDuration"),
        (lit("2", "double"), "*", lit("P1M", "yearMonthDuration"), "P2M", "yearMonthDuration"),
        (lit("P1D", "dayTimeDuration"), "/", lit("PT6H", "dayTimeDuration"), "4", "decimal"),
        (lit("P1D", "duration"), "-", lit("PT25H", "duration"), "-PT1H", "duration"),
        (lit("P1Y", "duration"), "+", lit("P1D", "dayTimeDuration"), "P1Y1D", "duration"),
    ],
)  # fmt: skip
def test_arithmetic(a: Term, operator: str, b: Term, lexical: str, datatype: str) -> None:
    assert arithmetic(operator, a, b) == lit(lexical, datatype)


@pytest.mark.parametrize(
    ("a", "operator", "b"),
    [
        (lit("1", "integer"), "/", lit("0", "integer")),
        (lit("1", "decimal"), "/", lit("0.0", "decimal")),
        (lit("true", "boolean"), "+", lit("1", "integer")),
        (Literal("1"), "+", lit("1", "integer")),
        (A, "+", lit("1", "integer")),
        (ILL, "+", lit("1", "integer")),
        (lit("2026-01-01", "date"), "-", lit("2026-01-01T00:00:00", "dateTime")),
        (lit("2026-01-01", "date"), "+", lit("2026-01-01", "date")),
        (lit("01:00:00", "time"), "+", lit("P1M", "duration")),
        (lit("P1M", "duration"), "-", lit("P1D", "duration")),
        (lit("PT1S", "duration"), "*", lit("NaN", "double")),
        (lit("PT1S", "duration"), "/", lit("0", "integer")),
    ],
)
def test_arithmetic_without_a_value(a: Term, operator: str, b: Term) -> None:
    with pytest.raises(ExpressionError):
        arithmetic(operator, a, b)


def test_negation() -> None:
    assert negated(lit("1.50", "decimal")) == lit("-1.5", "decimal")
    assert negated(lit("0", "decimal")) == lit("0", "decimal")
    assert negated(lit("P1D", "duration")) == lit("-P1D", "duration")
    for term in (Literal("1"), A, lit("true", "boolean"), lit("2026-01-01", "date")):
        with pytest.raises(ExpressionError):
            negated(term)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (lit("true", "boolean"), True),
        (lit("0", "boolean"), False),
        (lit("maybe", "boolean"), False),
        (ILL, False),
        (lit("0.0", "decimal"), False),
        (lit("NaN", "double"), False),
        (lit("-0.0", "float"), False),
        (lit("9" * 400, "integer"), True),
        (Literal(""), False),
        (Literal("false"), True),
        (EN, True),
        (Literal("", LANG_STRING, "en"), False),
    ],
)
def test_effective_boolean_value(term: Term, expected: bool) -> None:
    assert effective_boolean_value(term) is expected


@pytest.mark.parametrize("term", [A, BlankNode("b"), STRANGE, lit("2026-01-01", "date"), lit("PT1S", "duration")])
def test_no_effective_boolean_value(term: Term) -> None:
    with pytest.raises(ExpressionError):
        effective_boolean_value(term)


def test_order_by_puts_every_term_in_one_order() -> None:
    ordered: list[Term | None] = [
        None, BlankNode("a"), BlankNode("b"), A, B,
        lit("NaN", "double"), lit("-INF", "double"), lit("-1", "integer"), lit("1.5", "decimal"),
        lit("9" * 400, "integer"), lit("INF", "float"),
        Literal("a"), Literal("b"), EN, lit("false", "boolean"), lit("true", "boolean"),
        lit("2026-01-01T01:00:00+02:00", "dateTime"), lit("2026-01-01T00:00:00Z", "dateTime"),
        lit("2026-01-01", "date"), lit("00:00:01", "time"), lit("PT1S", "duration"), lit("P1M", "duration"), STRANGE, ILL,
    ]  # fmt: skip
    shuffled = ordered[::2] + ordered[1::2]
    assert sorted(shuffled, key=order_key) == ordered


def test_equal_values_tie_in_order_by() -> None:
    assert order_key(lit("2", "integer")) == order_key(lit("2.0", "decimal")) == order_key(lit("2e0", "double"))
    assert order_key(lit("2026-01-01T01:00:00+01:00", "dateTime")) == order_key(lit("2026-01-01T00:00:00", "dateTime"))


@pytest.mark.parametrize(
    "literal",
    [
        lit("0", "integer"), lit("-12", "integer"), lit("1" * 5000, "integer"), lit("0", "decimal"), lit("-0.001", "decimal"),
        lit("0.0E0", "double"), lit("-0.0E0", "double"), lit("1.5E-300", "double"), lit("1.0E22", "double"),
        lit("5.0E-324", "double"),
        lit("1.0E-1", "float"), lit("3.4028235E38", "float"), lit("1.0E-45", "float"), lit("NaN", "float"),
        lit("true", "boolean"), Literal("x"), EN,
        lit("2026-01-01T00:00:00.5Z", "dateTime"), lit("-0044-03-15T12:00:00", "dateTime"),
        lit("12345-01-01T00:00:00-05:30", "dateTime"),
        lit("2026-01-01Z", "date"), lit("23:59:59.999", "time"),
        lit("P1Y2M3DT4H5M6.7S", "duration"), lit("-PT0.1S", "dayTimeDuration"), lit("P0M", "yearMonthDuration"),
    ],
)  # fmt: skip
def test_canonical_forms_come_back(literal: Literal) -> None:
    assert to_literal(value_of(literal)) == literal


def test_language_tags_do_not_depend_on_case() -> None:
    assert value_of(Literal("x", LANG_STRING, "EN")) == LangString("x", "en")


def test_numbers_too_long_for_python_text_are_numbers_all_the_same() -> None:
    huge = lit("9" * 5000, "integer")
    assert value_of(huge) == 10**5000 - 1
    assert arithmetic("+", huge, lit("1", "integer")).lexical == "1" + "0" * 5000
    for other in (Literal("x"), lit("true", "boolean"), lit("P1D", "duration")):
        with pytest.raises(ExpressionError):
            less(huge, other)
        with pytest.raises(ExpressionError):
            arithmetic("-", huge, other)


@pytest.mark.parametrize("datatype", ["integer", "decimal", "double", "duration", "dateTime"])
def test_a_text_beyond_any_number_has_no_value(datatype: str) -> None:
    """To read a whole number takes time quadratic in its digits: a million of them took minutes, and nothing stops it."""
    long = {"duration": f"PT{'9' * 1_000_000}S", "dateTime": f"2026-01-01T00:00:00.{'9' * 1_000_000}Z"}.get(
        datatype, "9" * 1_000_000
    )
    literal = lit(long, datatype)
    assert value_or_none(literal) is None
    assert value_of(lit("9" * 12_000, "integer")) == 10**12_000 - 1
    if datatype in ("integer", "decimal", "double"):
        assert exact_number(literal) == (0.0, NOT_A_NUMBER)
        assert exact_number(lit("9" * 12_000, "integer"))[1] == INEXACT


@pytest.mark.parametrize(
    ("operator", "a", "b"),
    [
        ("*", lit("9" * 4_000, "integer"), lit("9" * 4_000, "integer")),
        ("+", lit("9" * 6_000, "integer"), lit("1", "integer")),
        ("-", lit("-" + "9" * 6_000, "integer"), lit("1", "integer")),
        ("*", lit("0." + "3" * 4_000, "decimal"), lit("0." + "3" * 4_000, "decimal")),
        ("*", lit("0." + "0" * 4_000 + "1", "decimal"), lit("0." + "0" * 4_000 + "1", "decimal")),
        ("*", lit("1" + "0" * 4_000 + ".0", "decimal"), lit("1" + "0" * 4_000 + ".0", "decimal")),
        ("+", lit("1" + "0" * 4_000 + ".0", "decimal"), lit("0." + "0" * 4_000 + "1", "decimal")),
        ("/", lit("9" * 4_000, "integer"), lit("0." + "0" * 4_000 + "1", "decimal")),
        ("/", lit("0." + "0" * 4_000 + "1", "decimal"), lit("9" * 4_000, "integer")),
    ],
)
def test_arithmetic_that_gives_too_many_digits_has_no_value(operator: str, a: Literal, b: Literal) -> None:
    with pytest.raises(ExpressionError, match="6,000 digits"):
        arithmetic(operator, a, b)


@pytest.mark.parametrize("start", [lit("100", "integer"), lit("1.1", "decimal"), lit("0.1", "decimal"), lit("10.0", "decimal")])
def test_squares_of_squares_end(start: Literal) -> None:
    value = start
    with pytest.raises(ExpressionError):
        for _ in range(60):
            value = arithmetic("*", value, value)
    assert value_of(value) is not None  # what is computed can be read again
