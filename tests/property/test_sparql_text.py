"""Downward compatibility from end to end: random query texts at one instant give what pyoxigraph gives."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hypothesis import HealthCheck, assume, event, given, settings

import scepter
from conformance.sparql.answers import difference, our_answer, their_answer
from conformance.sparql.suite import PROLOGUE, Data, QueryTest
from property import sparql_wider as wider
from property.sparql_queries import asks, constructs, graphs, selects

MANY = settings(
    deadline=None,
    max_examples=int(os.environ.get("SCEPTER_EXAMPLES", "30")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def compare(query: str, graph: str, named: Mapping[str, str] | None = None, *, ordered: bool = False) -> None:
    background = {iri: PROLOGUE + text for iri, text in (named or {}).items()}
    test = QueryTest("random", "query", Data(PROLOGUE + graph, background), PROLOGUE + query)
    try:
        theirs = their_answer(test)
    except SyntaxError:
        assume(False)  # BIND of a variable that is in scope
    try:
        ours = our_answer(test)
    except scepter.QueryError as error:
        assert "[unbound-variable]" in str(error)  # refused here: nothing binds it anywhere
        return
    event(f"answer: {bool(theirs.rows or theirs.graph or theirs.boolean)}")
    same = ours.same_sequence(theirs) if ordered else ours.same_multiset(theirs)
    assert same, difference(ours, theirs)


@MANY
@given(selects(), graphs)
def test_select(query: str, graph: str) -> None:
    compare(query, graph)


@MANY
@given(asks(), graphs)
def test_ask_counts_as_select_does(query: str, graph: str) -> None:
    compare(query, graph)


@MANY
@given(constructs, graphs)
def test_construct(query: str, graph: str) -> None:
    compare(query, graph)


@MANY
@given(wider.selects(), wider.graphs)
def test_functions_dates_graphs_and_groups(query: str, graph: str) -> None:
    compare(query, graph, wider.NAMED)


@MANY
@given(wider.constructs, wider.graphs)
def test_templates_with_blank_nodes(query: str, graph: str) -> None:
    compare(query, graph, wider.NAMED)


@MANY
@given(wider.static_selects, wider.graphs)
def test_static_graphs_alone(query: str, graph: str) -> None:
    compare(query, graph, wider.NAMED)


@MANY
@given(wider.ordered_selects, wider.ranked_graphs)
def test_rows_in_order(query: str, graph: str) -> None:
    compare(query, graph, ordered=True)
