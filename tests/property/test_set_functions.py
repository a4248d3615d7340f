"""Set functions over columns of numbers against the same over terms: they may leave a result open, but never say another."""

from __future__ import annotations

import numpy as np
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from property.test_programs import decimal, double, integer, numbers
from scepter.algebra.expressions import Aggregate, Variable
from scepter.kernel.condition.programs import number_of
from scepter.kernel.sparql.aggregates import compile_aggregate
from scepter.kernel.sparql.context import Context
from scepter.kernel.time_group.sums import WHOLE, Sums, extremes, sums
from scepter.rdf.terms import Literal, Term
from scepter.rdf.values import DECIMAL, ExpressionError, to_literal

plain = st.one_of(st.integers(-99, 99).map(integer), st.decimals(-99, 99, places=2).map(lambda d: decimal(f"{d:f}")))
doubles = st.one_of(st.floats(allow_nan=False).map(double), st.sampled_from([double("NaN"), double("-0.0"), double("0.0")]))
columns = st.one_of(*(st.lists(each, min_size=1, max_size=9) for each in (plain, doubles, numbers, plain | doubles)))


def by_terms(function: str, terms: list[Term]) -> Term | None:
    try:
        return compile_aggregate(Aggregate(function, Variable("v")))([{"v": term} for term in terms], Context())
    except ExpressionError:
        return None


def column(terms: list[Term]) -> tuple[np.ndarray, np.ndarray]:
    pairs = [number_of(term) for term in terms]
    whole = [isinstance(t, Literal) and t.datatype == DECIMAL and s == 0 for t, (_, s) in zip(terms, pairs, strict=True)]
    scales = [WHOLE if w else s for w, (_, s) in zip(whole, pairs, strict=True)]
    return np.array([n for n, _ in pairs]), np.array(scales, np.int64)


def stretches(terms: list[Term]) -> tuple[np.ndarray, np.ndarray]:
    pairs = [(low, high) for low in range(len(terms)) for high in range(low + 1, len(terms) + 1)]
    return np.array([low for low, _ in pairs]), np.array([high for _, high in pairs])


def summed(terms: list[Term]) -> Sums:
    return sums(*stretches(terms), *column(terms))


LONGEST = decimal("0.000000000000001")


@settings(max_examples=200, deadline=None)
@given(columns)
@example([integer(999_999_999_999_999)] * 3 + [LONGEST])
@example([integer(5000), LONGEST, integer(-5000)])
@example([decimal("1.0"), integer(2)])
@example([double("1e308"), double("1e308"), double("-1e308")])
def test_sums_are_those_of_the_terms(terms: list[Term]) -> None:
    low, high = stretches(terms)
    found = summed(terms)
    for i, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        event("open" if found.is_open[i] else "decided")
        if not found.is_open[i]:
            assert to_literal(found.value(i)) == by_terms("SUM", terms[a:b])


@settings(max_examples=200, deadline=None)
@given(columns)
@example([double("1"), double("NaN"), double("0.5")])
@example([double("NaN"), double("2")])
@example([decimal("1.0"), integer(1), decimal("0.1"), double("0.1")])
def test_extremes_are_those_of_the_terms(terms: list[Term]) -> None:
    low, high = stretches(terms)
    for function in ("MIN", "MAX"):
        found = extremes(low, high, *column(terms), function == "MAX")
        for i, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            if found[i] >= 0:
                assert terms[found[i]] == by_terms(function, terms[a:b])


@given(st.lists(plain, min_size=1, max_size=9))
def test_everyday_numbers_are_never_left_open(terms: list[Term]) -> None:
    assert not summed(terms).is_open.any()
    assert (extremes(*stretches(terms), *column(terms), False) >= 0).all()
