"""Set functions over spans of a column against SPARQL's definition over terms: growing windows, and the last n."""

from __future__ import annotations

from decimal import Decimal
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from property.test_programs import decimal, double, integer, numbers
from scepter.algebra.expressions import Aggregate, Variable
from scepter.kernel.encoding import encoded
from scepter.kernel.group.set_functions import Listing
from scepter.kernel.group.time_grouping import Spans, span_function
from scepter.kernel.group.total_texts import encoded_quotients
from scepter.kernel.rows import NO_LINEAGE, Rows, lasting
from scepter.kernel.sparql.aggregates import compile_aggregate
from scepter.kernel.sparql.context import Context
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI, XSD, Literal, Term
from scepter.rdf.values import ExpressionError
from scepter.rdf.values.numeric import divide, format_decimal

KEY = TermKey.fixed()
plain = st.one_of(st.integers(-99, 99).map(integer), st.decimals(-99, 99, places=2).map(lambda d: decimal(f"{d:f}")))
doubles = st.one_of(st.floats(allow_nan=False).map(double), st.sampled_from([double("NaN"), double("-0.0"), double("0.0")]))
others: st.SearchStrategy[Term | None] = st.sampled_from([None, IRI("http://e/x"), Literal("a"), Literal("b")])
columns: st.SearchStrategy[list[Term | None]] = st.one_of(
    *(st.lists(each, min_size=1, max_size=9) for each in (plain, doubles, numbers, plain | doubles, plain | others))
)
aggregates = st.builds(
    Aggregate,
    st.sampled_from(["COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"]),
    st.just(Variable("v")),
    st.booleans(),
) | st.builds(Aggregate, st.just("COUNT"), st.none(), st.booleans())
LONGEST = decimal("0.000000000000001")


def by_terms(aggregate: Aggregate, terms: list[Term | None]) -> Term | None:
    try:
        return compile_aggregate(aggregate)([{} if term is None else {"v": term} for term in terms], Context())
    except ExpressionError:
        return None


def spans(terms: list[Term | None], most: int, texts: Texts) -> Spans:
    ids, refs, number, scale = encoded(terms, KEY, texts)
    time, lineage = np.arange(len(terms)), np.full(len(terms), NO_LINEAGE)
    terms_of = ids[:, None], refs[:, None], number[:, None], scale[:, None]
    rows = Rows(*terms_of, time, time, *lasting(len(terms)), lineage)
    high = np.arange(1, len(terms) + 1)
    return Spans(rows, np.maximum(high - most, 0), high)


def check(aggregate: Aggregate, terms: list[Term | None], most: int) -> None:
    texts = Texts()
    given = spans(terms, most, texts)
    ids, refs, _, _ = span_function(aggregate, ("v",), KEY, texts).values(given)
    found = [texts.known(ref, id) if id else None for ref, id in zip(refs.tolist(), ids.tolist(), strict=True)]
    expected = [by_terms(aggregate, terms[a:b]) for a, b in zip(given.low.tolist(), given.high.tolist(), strict=True)]
    assert found == expected


@settings(max_examples=300, deadline=None)
@given(aggregates, columns, st.integers(1, 9))
def test_terms_are_those_of_the_definition(aggregate: Aggregate, terms: list[Term | None], most: int) -> None:
    event(aggregate.function)
    check(aggregate, terms, most)


@pytest.mark.parametrize("function", ["SUM", "AVG", "MIN", "MAX"])
@pytest.mark.parametrize(
    "terms",
    [
        [integer(999_999_999_999_999)] * 3 + [LONGEST],
        [integer(5000), LONGEST, integer(-5000)],
        [decimal("1.0"), integer(2)],
        [double("1e308"), double("1e308"), double("-1e308")],
        [double("1"), double("NaN"), double("0.5")],
        [double("NaN"), double("2")],
        [decimal("1.0"), integer(1), decimal("0.1"), double("0.1")],
        [integer(9_007_199_254_740_991)] * 600,
    ],
)
def test_numbers_at_the_edges(function: str, terms: list[Term | None]) -> None:
    for most in (1, 2, len(terms)):
        check(Aggregate(function, Variable("v")), terms, most)


@given(st.sampled_from(["COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE"]), st.lists(plain, min_size=1, max_size=9))
@example("SUM", [double("0.1"), double("0.2"), double("0.3")])
def test_everyday_numbers_are_never_left_to_the_definition(function: str, terms: list[Term]) -> None:
    with patch.object(Listing, "_value", side_effect=AssertionError("listed")):
        check(Aggregate(function, Variable("v")), [*terms], 4)


@given(st.integers(-(2**61), 2**61), st.integers(0, 15), st.integers(1, 2**40))
@example(1, 0, 2**35)  # half of the last digit, which is even
@example(3, 0, 2**35)  # and odd
@example(2**25 + 1, 0, 2**25)
@example(2**25 + 3, 0, 2**25)
@example(-(10**18) + 1, 0, 9)
@example(10**18 - 1, 15, 10**18 - 1)
@example(2 * 10**18 - 1, 3, 2)
@example(0, 15, 7)
@example(1, 15, 2**40)
def test_quotients_in_whole_numbers_are_those_of_decimals(units: int, decimals: int, by: int) -> None:
    quotient = divide(Decimal(units).scaleb(-decimals), by)
    assert isinstance(quotient, Decimal)
    texts = Texts()
    amounts = np.array([5, units]), decimals, np.array([0, by]), np.array([True, True])
    ids, refs, number, _ = encoded_quotients(*amounts, TermKey.fixed(), texts)
    assert ids[0] == 0 and refs[0] == -1
    assert texts.term(int(refs[1])) == Literal(format_decimal(quotient), XSD + "decimal")
    assert number[1] == float(format_decimal(quotient))
