"""SPARQL 1.1's built-in functions and casts, argument by argument."""

from __future__ import annotations

import re

import pytest

from scepter.algebra.expressions import Call, Constant
from scepter.kernel.sparql.context import Context, blank_nodes
from scepter.kernel.sparql.expressions import compile_expression, evaluate
from scepter.rdf.terms import IRI, LANG_STRING, XSD, BlankNode, Literal, Term
from scepter.rdf.values import FALSE, TRUE, ExpressionError, value_of

A = IRI("http://example/a")
NODE = BlankNode("b")


def lit(lexical: str, datatype: str) -> Literal:
    return Literal(lexical, XSD + datatype)


def en(text: str) -> Literal:
    return Literal(text, LANG_STRING, "en")


def fr(text: str) -> Literal:
    return Literal(text, LANG_STRING, "fr")


def num(value: int) -> Literal:
    return Literal(str(value), XSD + "integer")


def call(function: str, *arguments: Term | str, context: Context | None = None) -> Term:
    terms = tuple(Constant(Literal(a) if isinstance(a, str) else a) for a in arguments)
    return evaluate(Call(function, terms), {}, context or Context())


MOMENT = lit("2011-01-10T14:45:13.815-05:00", "dateTime")


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("STR", (A,), Literal("http://example/a")),
        ("STR", (en("x"),), Literal("x")),
        ("STR", (lit("01", "integer"),), Literal("01")),
        ("LANG", (en("x"),), Literal("en")),
        ("LANG", (num(1),), Literal("")),
        ("LANGMATCHES", ("en-GB", "EN"), TRUE),
        ("LANGMATCHES", ("english", "en"), FALSE),
        ("LANGMATCHES", ("", "*"), FALSE),
        ("LANGMATCHES", ("de", "*"), TRUE),
        ("DATATYPE", (Literal("x"),), IRI(XSD + "string")),
        ("DATATYPE", (en("x"),), IRI(LANG_STRING)),
        ("DATATYPE", (lit("x", "integer"),), IRI(XSD + "integer")),
        ("IRI", ("http://example/x",), IRI("http://example/x")),
        ("URI", (A,), A),
        ("IRI", ("x", IRI("http://example/b/c")), IRI("http://example/b/x")),
        ("ABS", (lit("-1.5", "decimal"),), lit("1.5", "decimal")),
        ("ABS", (lit("-0.0", "double"),), lit("0.0E0", "double")),
        ("ABS", (num(-(10**400)),), num(10**400)),
        ("CEIL", (lit("1.2", "decimal"),), lit("2", "decimal")),
        ("CEIL", (lit("-0.5", "double"),), lit("-0.0E0", "double")),
        ("FLOOR", (lit("-1.2", "decimal"),), lit("-2", "decimal")),
        ("FLOOR", (lit("INF", "double"),), lit("INF", "double")),
        ("FLOOR", (num(5),), num(5)),
        ("ROUND", (lit("2.5", "decimal"),), lit("3", "decimal")),
        ("ROUND", (lit("-2.5", "decimal"),), lit("-2", "decimal")),
        ("ROUND", (lit("0.49999999999999994", "double"),), lit("0.0E0", "double")),
        ("ROUND", (lit("0." + "4" + "9" * 40, "decimal"),), lit("0", "decimal")),
        ("ROUND", (lit("2.5", "float"),), lit("3.0E0", "float")),
        ("CONCAT", (), Literal("")),
        ("CONCAT", (en("a"), en("b")), en("ab")),
        ("CONCAT", (en("a"), fr("b")), Literal("ab")),
        ("CONCAT", (en("a"), "b"), Literal("ab")),
        ("STRLEN", (en("a𝄞"),), num(2)),
        ("UCASE", (en("straße"),), en("STRASSE")),
        ("LCASE", ("ÀB",), Literal("àb")),
        ("ENCODE_FOR_URI", (en("Los Ängeles/~_-."),), Literal("Los%20%C3%84ngeles%2F~_-.")),
        ("CONTAINS", (en("foobar"), en("bar")), TRUE),
        ("CONTAINS", (en("foobar"), "baz"), FALSE),
        ("STRSTARTS", ("foobar", "foo"), TRUE),
        ("STRENDS", ("foobar", ""), TRUE),
        ("STRBEFORE", (en("abc"), "b"), en("a")),
        ("STRBEFORE", (en("abc"), "z"), Literal("")),
        ("STRBEFORE", (en("abc"), ""), en("")),
        ("STRAFTER", (en("abc"), en("b")), en("c")),
        ("STRAFTER", (en("abc"), ""), en("abc")),
        ("STRAFTER", ("abc", "xyz"), Literal("")),
        ("SUBSTR", ("foobar", num(4)), Literal("bar")),
        ("SUBSTR", (en("foobar"), num(4), num(1)), en("b")),
        ("SUBSTR", ("12345", lit("1.5", "decimal"), lit("2.6", "decimal")), Literal("234")),
        ("SUBSTR", ("12345", num(0), num(3)), Literal("12")),
        ("SUBSTR", ("12345", num(-3), lit("INF", "double")), Literal("12345")),
        ("SUBSTR", ("12345", lit("NaN", "double")), Literal("")),
        ("SUBSTR", ("12345", num(10**400)), Literal("")),
        ("YEAR", (MOMENT,), num(2011)),
        ("YEAR", (lit("-0044-03-15", "date"),), num(-44)),
        ("MONTH", (MOMENT,), num(1)),
        ("DAY", (MOMENT,), num(10)),
        ("HOURS", (MOMENT,), num(14)),
        ("MINUTES", (MOMENT,), num(45)),
        ("SECONDS", (MOMENT,), lit("13.815", "decimal")),
        ("TIMEZONE", (MOMENT,), lit("-PT5H", "dayTimeDuration")),
        ("TIMEZONE", (lit("2011-01-10T14:45:13Z", "dateTime"),), lit("PT0S", "dayTimeDuration")),
        ("TZ", (MOMENT,), Literal("-05:00")),
        ("TZ", (lit("2011-01-10T14:45:13", "dateTime"),), Literal("")),
        ("MD5", ("abc",), Literal("900150983cd24fb0d6963f7d28e17f72")),
        ("SHA1", ("abc",), Literal("a9993e364706816aba3e25717850c26c9cd0d89d")),
        ("SHA256", ("",), Literal("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")),
        ("STRLANG", ("chat", "FR"), fr("chat")),
        ("STRDT", ("123", IRI(XSD + "integer")), num(123)),
        ("SAMETERM", (lit("1", "integer"), lit("01", "integer")), FALSE),
        ("SAMETERM", (A, A), TRUE),
        ("ISIRI", (A,), TRUE),
        ("ISURI", (Literal("http://example/a"),), FALSE),
        ("ISBLANK", (NODE,), TRUE),
        ("ISLITERAL", (NODE,), FALSE),
        ("ISNUMERIC", (lit("1", "byte"),), TRUE),
        ("ISNUMERIC", (lit("300", "byte"),), FALSE),
        ("ISNUMERIC", (lit("true", "boolean"),), FALSE),
        ("ISNUMERIC", (A,), FALSE),
        ("+", (lit("01", "integer"),), lit("1", "integer")),
    ],
)
def test_value(function: str, arguments: tuple[Term | str, ...], expected: Term) -> None:
    assert call(function, *arguments) == expected


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("STR", (NODE,)),
        ("LANG", (A,)),
        ("LANGMATCHES", (en("en"), "*")),
        ("DATATYPE", (A,)),
        ("IRI", (num(1),)),
        ("IRI", ("relative",)),
        ("IRI", ("http://example/a b",)),
        ("IRI", (en("http://example/a"),)),
        ("ABS", ("1",)),
        ("CEIL", (lit("x", "decimal"),)),
        ("CONCAT", ("a", num(1))),
        ("STRLEN", (num(1),)),
        ("CONTAINS", ("a", en("a"))),
        ("STRSTARTS", (en("a"), fr("a"))),
        ("STRBEFORE", (A, "a")),
        ("SUBSTR", ("a", "1")),
        ("YEAR", ("2011",)),
        ("YEAR", (lit("14:45:13", "time"),)),
        ("HOURS", (lit("2011-01-10", "date"),)),
        ("TIMEZONE", (lit("2011-01-10T14:45:13", "dateTime"),)),
        ("MD5", (en("abc"),)),
        ("MD5", (num(1),)),
        ("STRLANG", (en("x"), "en")),
        ("STRLANG", ("x", "")),
        ("STRLANG", ("x", "not a tag")),
        ("STRDT", (en("x"), IRI(XSD + "string"))),
        ("STRDT", ("x", "y")),
        ("STRDT", ("x", IRI(LANG_STRING))),
        ("BNODE", (num(1),)),
        ("+", ("a",)),
        ("http://example/unknown-function", ("a",)),
    ],
)
def test_error(function: str, arguments: tuple[Term | str, ...]) -> None:
    with pytest.raises(ExpressionError):
        call(function, *arguments)


@pytest.mark.parametrize(
    ("text", "pattern", "flags", "expected"),
    [
        ("abc", "b", "", True),
        ("abc", "B", "i", True),
        ("ab\ncd", "^cd", "", False),
        ("ab\ncd", "^cd", "m", True),
        ("b\n", "b$", "", False),
        ("a\nb", "a.b", "", False),
        ("a\nb", "a.b", "s", True),
        ("ab", " a b # no comment ", "x", False),
        ("ab", " a b ", "x", True),
        ("a.b", "a.b", "q", True),
        ("axb", "a.b", "q", False),
        ("é", r"\p{Ll}", "", True),
        ("é", r"^\P{L}", "", False),
        ("e", "[a-z-[aeiou]]", "", False),
        ("f", "[a-z-[aeiou]]", "", True),
        ("&&", "[&&]+", "", True),
        ("]", r"[\]]", "", True),
        ("-", "[a-]", "", True),
        ("^", "[a^]", "", True),
        ("x:y-z", r"^\i\c*$", "", True),
        ("abab", r"(ab)\1", "", True),
    ],
)
def test_regex(text: str, pattern: str, flags: str, expected: bool) -> None:
    arguments = (text, pattern, flags) if flags else (text, pattern)
    assert call("REGEX", *arguments) == (TRUE if expected else FALSE)


@pytest.mark.parametrize("pattern", ["(", "[", "[a", "a{2,1}", r"\b", r"\Z", "(?=a)", "(?P<n>a)", r"\p{Xx}", r"\p", "*", "\\"])
def test_a_wrong_regular_expression_is_an_error(pattern: str) -> None:
    with pytest.raises(ExpressionError):
        call("REGEX", "a", pattern)


def test_regex_takes_strings_and_known_flags_only() -> None:
    for arguments in ((A, "a"), ("a", en("a")), ("a", "a", "z"), (num(1), "1")):
        with pytest.raises(ExpressionError):
            call("REGEX", *arguments)
    assert call("REGEX", en("a"), "a") == TRUE


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("abcd", "b", "Z"), Literal("aZcd")),
        ((en("abab"), "B", "Z", "i"), en("aZaZ")),
        (("abcd", "(b)(c)", "[$2$1]"), Literal("a[cb]d")),
        (("abcd", "(b)", "$12"), Literal("ab2cd")),
        (("abcd", "b", "$1"), Literal("acd")),
        (("abcd", "b", r"\$\\"), Literal("a$\\cd")),
        (("a.d", ".", "$1\\", "q"), Literal("a$1\\d")),
    ],
)
def test_replace(arguments: tuple[Term | str, ...], expected: Term) -> None:
    assert call("REPLACE", *arguments) == expected


@pytest.mark.parametrize("arguments", [("a", "x*", "b"), ("a", "a", "$"), ("a", "a", "\\n"), (num(1), "1", "2")])
def test_replace_errors(arguments: tuple[Term | str, ...]) -> None:
    with pytest.raises(ExpressionError):
        call("REPLACE", *arguments)


@pytest.mark.parametrize(
    ("datatype", "source", "lexical"),
    [
        ("string", A, "http://example/a"),
        ("string", lit("1.0", "decimal"), "1"),
        ("string", lit("1e0", "double"), "1"),
        ("string", lit("1e7", "double"), "1.0E7"),
        ("string", lit("1", "boolean"), "true"),
        ("string", lit("odd", "integer"), "odd"),
        ("integer", lit("-3.9", "decimal"), "-3"),
        ("integer", lit("1e20", "double"), "100000000000000000000"),
        ("integer", lit("true", "boolean"), "1"),
        ("integer", Literal(" 7 "), "7"),
        ("integer", Literal("+07"), "7"),
        ("byte", Literal("007"), "7"),
        ("decimal", Literal("+03.10"), "3.1"),
        ("decimal", Literal("3.00"), "3"),
        ("decimal", lit("2.50", "decimal"), "2.5"),
        ("byte", lit("127.9", "float"), "127"),
        ("decimal", lit("0.1", "double"), "0.1"),
        ("decimal", lit("0.1", "float"), "0.1"),
        ("double", lit("1.5", "decimal"), "1.5E0"),
        ("float", lit("0.1", "double"), "1.0E-1"),
        ("double", Literal("1e3"), "1e3"),
        ("boolean", lit("NaN", "double"), "false"),
        ("boolean", lit("0.1", "decimal"), "true"),
        ("boolean", Literal("1"), "true"),
        ("dateTime", lit("2026-01-01Z", "date"), "2026-01-01T00:00:00Z"),
        ("date", lit("2026-01-01T10:00:00Z", "dateTime"), "2026-01-01Z"),
        ("time", lit("2026-01-01T10:00:00Z", "dateTime"), "10:00:00Z"),
        ("dayTimeDuration", lit("P1Y2D", "duration"), "P2D"),
        ("yearMonthDuration", lit("P1Y2D", "duration"), "P1Y"),
        ("duration", Literal("P1D"), "P1D"),
    ],
)
def test_cast(datatype: str, source: Term, lexical: str) -> None:
    assert call(XSD + datatype, source) == lit(lexical, datatype)


@pytest.mark.parametrize(
    ("datatype", "source"),
    [
        ("integer", A),
        ("string", NODE),
        ("integer", Literal("1.5")),
        ("integer", Literal("")),
        ("integer", lit("INF", "double")),
        ("byte", num(128)),
        ("decimal", Literal("1e3")),
        ("decimal", lit("NaN", "float")),
        ("boolean", Literal("yes")),
        ("boolean", lit("2026-01-01", "date")),
        ("dateTime", num(1)),
        ("double", lit("2026-01-01", "date")),
        ("integer", en("1")),
        ("integer", lit("x", "integer")),
        ("duration", num(1)),
    ],
)
def test_cast_error(datatype: str, source: Term) -> None:
    with pytest.raises(ExpressionError):
        call(XSD + datatype, source)


def test_functions_that_look_outside() -> None:
    context = Context(now=lambda: MOMENT, fresh=blank_nodes("n"))
    assert call("NOW", context=context) == MOMENT
    assert call("BNODE", context=context) == BlankNode("n0")
    assert call("BNODE", "label", context=context) == call("BNODE", "label", context=context) == BlankNode("n1")
    assert call("BNODE", "other", context=context) == BlankNode("n2")
    uuid = call("UUID")
    assert isinstance(uuid, IRI) and re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", uuid.value)
    text = call("STRUUID")
    assert isinstance(text, Literal) and len(text.lexical) == 36 and text != call("STRUUID")
    random = call("RAND")
    assert isinstance(random, Literal) and 0 <= value_of(random) < 1  # type: ignore[operator]


def test_now_is_one_moment_for_one_evaluation() -> None:
    context = Context()
    assert call("NOW", context=context) == call("NOW", context=context)
    assert value_of(context.now())


@pytest.mark.parametrize(
    ("function", "count"), [("STR", 0), ("STR", 2), ("NOW", 1), ("REPLACE", 2), ("NONSENSE", 1), ("IF", 2)]
)
def test_a_wrong_number_of_arguments_is_no_query(function: str, count: int) -> None:
    with pytest.raises(ValueError, match=function):
        compile_expression(Call(function, (Constant(A),) * count))
