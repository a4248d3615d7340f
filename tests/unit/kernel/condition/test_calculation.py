"""Arithmetic in columns against arithmetic on terms."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scepter.algebra.arithmetic import can_calculate
from scepter.algebra.expressions import Arithmetic, Constant, Negate, Variable
from scepter.kernel.encoding import decoded, encoded
from scepter.kernel.operator import Until
from scepter.kernel.row.mapping import Extend
from scepter.kernel.rows import NO_LINEAGE, Rows, lasting, mappings
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import compile_expression
from scepter.kernel.texts import Texts
from scepter.physical.nodes import nodes
from scepter.physical.nodes.time_nodes import Inline
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI, XSD, Literal, Term
from scepter.rdf.values import ExpressionError

KEY = TermKey.fixed()
X, Y = Variable("x"), Variable("y")
_integers = st.one_of(st.integers(-20, 20), st.integers(-(10**16), 10**16))
_lexical = st.one_of(
    _integers.map(lambda n: (str(n), "integer")),
    _integers.map(lambda n: (f"0{abs(n)}", "integer")),
    _integers.map(lambda n: (str(n), "decimal")),
    st.builds(lambda n, d: (f"{Decimal(n).scaleb(-d):f}", "decimal"), _integers, st.integers(0, 18)),
    st.sampled_from(
        [("1.5", "double"), ("7", "int"), ("NaN", "double"), ("x", "integer"), ("2.50", "decimal"), ("-0", "decimal")]
    ),
)
_numbers: st.SearchStrategy[Term | None] = st.one_of(
    _lexical.map(lambda given: Literal(given[0], XSD + given[1])), st.just(IRI("http://e/")), st.none()
)
_expressions = st.one_of(
    st.builds(Arithmetic, st.sampled_from("+-*/"), st.just(X), st.just(Y)),
    st.builds(
        lambda first, second: Arithmetic(second, Arithmetic(first, X, Constant(Literal("1.20", XSD + "decimal"))), Negate(Y)),
        st.sampled_from("+-*/"),
        st.sampled_from("+-*/"),
    ),
)


def table(values: list[tuple[Term | None, Term | None]], texts: Texts) -> Rows:
    ids, refs, number, scale = mappings(len(values), 2)
    for i in range(2):
        ids[:, i], refs[:, i], number[:, i], scale[:, i] = encoded([row[i] for row in values], KEY, texts)
    at = np.arange(len(values))
    return Rows(ids, refs, number, scale, at, at, *lasting(len(values)), np.full(len(values), NO_LINEAGE))


@settings(deadline=None, max_examples=150)
@given(_expressions, st.lists(st.tuples(_numbers, _numbers), min_size=1, max_size=6))
def test_the_same_terms_as_term_by_term(expression: Arithmetic, values: list[tuple[Term | None, Term | None]]) -> None:
    texts = Texts()
    rows = table(values, texts)
    node = nodes.Extend(Inline(("x", "y"), ()), "z", expression)
    made = Extend(node, KEY, texts, Context()).process([rows], Until(10))
    slow = compile_expression(expression)
    for row in range(len(values)):
        given = decoded(rows, ("x", "y"), row, texts)
        try:
            wanted: Term | None = slow(given, Context())
        except ExpressionError:
            wanted = None
        assert decoded(made, ("x", "y", "z"), row, texts).get("z") == wanted
        again = encoded([wanted], KEY, texts)
        assert made.ids[row, 2] == again[0][0]
        assert np.array_equal(made.number[row, 2], again[2][0], equal_nan=True)
        assert made.scale[row, 2] == again[3][0]


def test_what_is_no_arithmetic() -> None:
    assert not can_calculate(Constant(Literal("1", XSD + "integer")))
    assert not can_calculate(Arithmetic("+", X, Constant(Literal("1.0", XSD + "double"))))
