"""Filters on rows, of one event or of several at one time: what columns keep is what the exact evaluator keeps."""

from __future__ import annotations

import numpy as np
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from property.test_programs import KEY, combined, comparisons, numbers, values
from scepter.algebra.expressions import Call, Compare, Constant, Expression, Variable
from scepter.kernel.condition.programs import number_of
from scepter.kernel.condition.row_conditions import Conditions
from scepter.kernel.condition.time_conditions import TimeConditions
from scepter.kernel.rows import Rows, filled, lasting
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import compile_condition
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import term_id
from scepter.rdf.terms import IRI, BlankNode, Literal, Term
from scepter.timeline import TimeKind

NAMES = ("r0", "c0", "c1")
"""Of what `comparisons` mention; the others have no column."""
strings = st.builds(
    lambda function, name, text: Compare("=", Call(function, (Variable(name),)), Constant(text)),
    st.sampled_from(["STR", "LCASE"]),
    st.sampled_from(NAMES),
    numbers,
)
conditions = st.one_of(comparisons, comparisons, strings, st.recursive(comparisons | strings, combined, max_leaves=4))
rows = st.lists(st.tuples(values, values, values), max_size=6)


def table_of(given_rows: list[tuple[Term | None, ...]], texts: Texts) -> Solutions:
    n, width = len(given_rows), len(NAMES)
    flat = [term for row in given_rows for term in row]
    refs = [-1 if term is None else int(texts.append([str(term)])[0]) for term in flat]
    pairs = [(np.nan, -1) if term is None else number_of(term) for term in flat]
    return Solutions(
        np.arange(n), np.arange(n), np.zeros(n, np.int8), np.arange(n)[:, None], np.full((n, 1), -1),
        np.array([0 if term is None else term_id(KEY, str(term)) for term in flat], np.uint64).reshape(n, width),
        np.array(refs, np.int64).reshape(n, width),
        np.array([number for number, _ in pairs], np.float64).reshape(n, width),
        np.array([scale for _, scale in pairs], np.int8).reshape(n, width),
    )  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(conditions, max_size=2).map(tuple), rows)
def test_columns_keep_what_the_exact_evaluator_keeps(
    given_conditions: tuple[Expression, ...], given_rows: list[tuple[Term | None, ...]]
) -> None:
    texts = Texts()
    table = table_of(given_rows, texts)
    filters = Conditions(given_conditions, NAMES, KEY)

    def surroundings(row: int) -> list[Context]:
        asked.append(row)
        return [Context()] * len(given_conditions)

    asked: list[int] = []
    kept = filters.keep(table, texts, surroundings)
    event("some rows by the exact evaluator" if asked else "all rows in columns")
    verdicts = filters.decide(table, np.arange(len(table)), texts, surroundings)
    assert kept.time.tolist() == np.flatnonzero(verdicts).tolist()


equalities = st.builds(Compare, st.sampled_from(["=", "!="]), *[st.sampled_from(NAMES).map(Variable)] * 2)
terms = st.none() | st.sampled_from(
    [IRI("http://e/a"), IRI("http://e/b"), BlankNode("b"), Literal("a"), Literal("a", "http://e/t")]
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(equalities | comparisons, min_size=1, max_size=2),
    st.lists(st.tuples(terms | values, terms, terms), max_size=6),
)
@example([Compare("!=", Variable("r0"), Variable("c0"))], [(Literal("a"), Literal("a", "http://e/t"), None)])
@example(
    [Compare("!=", Variable("r0"), Variable("c0"))], [(IRI("http://e/a"), Literal("a"), None), (BlankNode("b"), None, None)]
)
def test_equality_of_terms_of_any_kind(given_conditions: list[Expression], given_rows: list[tuple[Term | None, ...]]) -> None:
    texts = Texts()
    table = table_of(given_rows, texts)
    count = len(table)
    rows = Rows(
        table.ids, table.refs, table.number, table.scale, filled(count, 1), filled(count, 2), *lasting(count), filled(count, -1)
    )
    exact = [compile_condition(condition) for condition in given_conditions]
    bound = [{name: term for name, term in zip(NAMES, row, strict=True) if term is not None} for row in given_rows]
    wanted = [all(condition(each, Context()) for condition in exact) for each in bound]
    held = TimeConditions(given_conditions, NAMES, TimeKind.INTEGER, KEY, texts, Context()).holds(rows)
    assert held.tolist() == wanted
