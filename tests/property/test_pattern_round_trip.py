"""A pattern written as SPARQL, parsed and lowered again has the solutions it had."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hypothesis import given, reject, settings

import sparql_text
from property.sparql_strategies import GRAPHS, bgps, graph_patterns, graphs, inline_data, path_patterns, patterns
from scepter.algebra.expressions import Expression
from scepter.algebra.patterns import Pattern
from scepter.errors import QueryError
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.patterns import solutions
from scepter.lower.expressions import Place
from scepter.lower.sparql import GroupLowering
from scepter.rdf.terms import Triple
from scepter.syntax import tree
from scepter.syntax.parse import parse_spaseq


@dataclass(frozen=True, slots=True)
class PlainSparql:
    """No additions, and variables that nothing binds are SPARQL's business."""

    def unbound(self, variable: tree.Var, place: Place) -> None:
        pass

    def call(self, call: tree.Call, place: Place) -> Expression | None:
        return None

    def iteration(self, call: tree.IterationCall, place: Place) -> Expression:
        raise AssertionError("not generated")


def lowered(body: str) -> Pattern:
    text = f"ASK FROM STREAM S <http://example/s> {{ SEQ (A) DEFINE GPM A ON S {{ {body} }} }}"
    return GroupLowering(PlainSparql()).group(parse_spaseq(text).queries[0].definitions[0].group)


def answers(pattern: Pattern, graph: list[Triple], named: list[Triple]) -> Counter[frozenset[tuple[str, str]]]:
    dataset = Dataset(named={GRAPHS[0]: Graph(named), GRAPHS[1]: Graph(graph[:3])})
    rows = solutions(pattern, Graph(graph), dataset)
    return Counter(frozenset((n, str(t)) for n, t in row.items() if not n.startswith("_:")) for row in rows)


@settings(max_examples=80, deadline=None)
@given(patterns(bgps, path_patterns, graph_patterns, inline_data()), graphs, graphs)
def test_a_pattern_survives_its_text(pattern: Pattern, graph: list[Triple], named: list[Triple]) -> None:
    try:
        again = lowered(sparql_text.group(pattern))
    except QueryError as error:
        assert error.code == "variable-in-scope"  # the algebra can do what SPARQL's text cannot say
        reject()
    assert answers(again, graph, named) == answers(pattern, graph, named)
