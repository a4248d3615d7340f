"""Optimised and plain patterns have the same solutions, errors and all."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property.sparql_strategies import GRAPHS, bgps, expressions, graph_patterns, graphs, inline_data, path_patterns, patterns
from scepter.algebra.expressions import (
    And,
    Arithmetic,
    Call,
    Compare,
    Constant,
    Expression,
    In,
    Negate,
    Not,
    Or,
    Previous,
    Variable,
)
from scepter.algebra.patterns import EMPTY, Extend, Filter, Group, Join, LeftJoin, Pattern, Slice
from scepter.algebra.query import Ask, Program, Query, Scan, Sequence, Step, Stream
from scepter.algebra.scope import in_scope
from scepter.algebra.walk import find
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.expressions import evaluate, holds
from scepter.kernel.sparql.patterns import solutions
from scepter.optimizer.optimizer import RULES, Rule, optimize
from scepter.optimizer.rules.fold_constants import fold_constants
from scepter.optimizer.rules.merge_bgps import merge_bgps
from scepter.optimizer.rules.order_triples import order_triples
from scepter.optimizer.rules.push_filters import push_filters
from scepter.optimizer.rules.split_conjuncts import split_conjuncts
from scepter.rdf.terms import IRI, XSD, Literal, Triple
from scepter.rdf.values import ExpressionError

STREAM = IRI("http://e/stream")
CONSTANTS = st.sampled_from(
    [
        Literal("true", XSD + "boolean"),
        Literal("false", XSD + "boolean"),
        Literal("maybe", XSD + "boolean"),
        Literal("0", XSD + "integer"),
        Literal("1", XSD + "integer"),
        Literal("1.0", XSD + "decimal"),
        Literal("NaN", XSD + "double"),
        Literal("x", XSD + "integer"),
        Literal(""),
        Literal("a"),
        IRI("http://e/a"),
    ]
)


def query_of(pattern: Pattern, filters: tuple[Expression, ...] = ()) -> Query:
    return Query(Ask(), (Stream(STREAM),), Sequence((Step(Scan("A", STREAM, pattern, filters)),)))


def scan_of(query: Query) -> Scan:
    return next(find(query, Scan))


def answers(scan: Scan, graph: list[Triple], named: list[list[Triple]]) -> Counter[frozenset[tuple[str, object]]]:
    dataset = Dataset(named=dict(zip(GRAPHS, map(Graph, named), strict=True)))
    context = Context(graph=Graph(graph), dataset=dataset)
    rows = solutions(scan.pattern, Graph(graph), dataset)
    return Counter(frozenset(row.items()) for row in rows if all(holds(f, row, context) for f in scan.filters))


def heavy_expressions(previous: bool = False) -> st.SearchStrategy[Expression]:
    """Expressions with many constants and connectives; with `previous`, PREV too."""
    variables = st.builds(Variable, st.sampled_from("xyz"))
    leaves: st.SearchStrategy[Expression] = st.one_of(
        st.builds(Constant, CONSTANTS),
        st.builds(Constant, CONSTANTS),
        variables,
        *([st.builds(Previous, variables)] if previous else []),
    )

    def wider(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.one_of(
            st.builds(And, inner, inner),
            st.builds(Or, inner, inner),
            st.builds(Not, inner),
            st.builds(Compare, st.sampled_from(["=", "!=", "<", ">", "<=", ">="]), inner, inner),
            st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner),
            st.builds(Negate, inner),
            st.builds(In, inner, st.lists(inner, max_size=2).map(tuple), st.booleans()),
            st.builds(lambda a, b, c: Call("IF", (a, b, c)), inner, inner, inner),
            st.builds(lambda a, b: Call("COALESCE", (a, b)), inner, inner),
        )

    return st.recursive(leaves, wider, max_leaves=6)


def joined_patterns() -> st.SearchStrategy[Pattern]:
    """Trees of joins, filters and optionals over basic graph patterns, where most rules have something to do."""
    leaves: st.SearchStrategy[Pattern] = st.one_of(bgps, bgps, bgps, st.just(EMPTY))

    def wider(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
        condition = st.one_of(expressions(bgps), heavy_expressions())
        return st.one_of(
            st.builds(Join, inner, inner),
            st.builds(Join, inner, inner),
            st.builds(Filter, condition, inner),
            st.builds(LeftJoin, inner, inner, st.one_of(st.none(), condition)),
        )

    return st.recursive(leaves, wider, max_leaves=5)


# Built once: to build a recursive strategy anew for each example costs more than the example.
JOINED = joined_patterns()
FILTERS = st.lists(heavy_expressions(), max_size=2).map(tuple)
BINDINGS = st.dictionaries(st.sampled_from("xyz"), CONSTANTS)
NAMED = st.lists(graphs, min_size=len(GRAPHS), max_size=len(GRAPHS))


@given(
    patterns(bgps, bgps, path_patterns, graph_patterns, inline_data()), st.lists(expressions(bgps), max_size=2), graphs, NAMED
)
@settings(max_examples=60, deadline=None)
def test_any_pattern_keeps_its_solutions(
    pattern: Pattern, filters: list[Expression], graph: list[Triple], named: list[list[Triple]]
) -> None:
    query = query_of(pattern, tuple(filters))
    (optimized,) = find(optimize(Program((query,))), Query)
    assert answers(scan_of(optimized), graph, named) == answers(scan_of(query), graph, named)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.__name__))
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_each_rule_alone_keeps_the_solutions(rule: Rule, data: st.DataObject) -> None:
    pattern = data.draw(JOINED)
    filters = data.draw(FILTERS)
    graph = data.draw(graphs)
    query = query_of(pattern, filters)
    after = rule(query)
    named: list[list[Triple]] = [[], []]
    assert answers(scan_of(after), graph, named) == answers(scan_of(query), graph, named)
    assert in_scope(scan_of(after).pattern) == in_scope(scan_of(query).pattern)
    again = rule(after)
    assert again is after or again != after, "a rule that changes nothing returns the same object"


@given(heavy_expressions(), BINDINGS)
@settings(max_examples=100, deadline=None)
def test_a_computed_value_is_the_same_value_or_the_same_error(
    expression: Expression, bindings: dict[str, IRI | Literal]
) -> None:
    query = query_of(Extend(EMPTY, Variable("w"), expression))
    (optimized,) = find(optimize(Program((query,))), Query)
    (extended,) = find(optimized, Extend)

    def value(e: Expression) -> object:
        try:
            return evaluate(e, bindings, Context())
        except ExpressionError:
            return "error"

    assert value(extended.expression) == value(expression)


@given(st.lists(heavy_expressions(previous=True), min_size=1, max_size=2), BINDINGS, st.one_of(st.none(), BINDINGS))
@settings(max_examples=100, deadline=None)
def test_a_filter_over_the_previous_iteration_keeps_what_it_keeps(
    filters: list[Expression], bindings: dict[str, IRI | Literal], previous: dict[str, IRI | Literal] | None
) -> None:
    query = query_of(EMPTY, tuple(filters))
    context = Context(previous=previous)
    for rules in ((fold_constants,), (split_conjuncts,), RULES):
        (optimized,) = find(optimize(Program((query,)), rules=rules), Query)
        after = all(holds(f, bindings, context) for f in scan_of(optimized).filters)
        assert after == all(holds(f, bindings, context) for f in filters)


@given(JOINED)
@settings(max_examples=30, deadline=None)
def test_what_stands_below_limit_and_group_keeps_its_order(pattern: Pattern) -> None:
    for top in (Slice(pattern, 0, 1), Group(pattern, (), ())):
        query = query_of(top)
        for rule in (merge_bgps, push_filters, order_triples):
            assert rule(query) is query
