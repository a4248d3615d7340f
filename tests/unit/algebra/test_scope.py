"""Variables in scope, certain variables, and the variables expressions read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from property.sparql_strategies import bgps, graph_patterns, graphs, inline_data, path_patterns, patterns
from scepter.algebra.expressions import (
    Aggregate,
    And,
    Compare,
    Constant,
    Exists,
    Expression,
    IterationAggregate,
    Previous,
    Variable,
)
from scepter.algebra.patterns import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Link,
    Minus,
    OrderBy,
    PathPattern,
    Pattern,
    Project,
    Slice,
    TriplePattern,
    Union,
    Values,
    ZeroOrMore,
)
from scepter.algebra.scope import certain, expression_variables, in_scope, mentioned_variables
from scepter.kernel.sparql.dataset import Dataset
from scepter.kernel.sparql.dataset import Graph as RDFGraph
from scepter.kernel.sparql.patterns import solutions
from scepter.rdf.terms import IRI, Triple

X, Y, Z = Variable("x"), Variable("y"), Variable("z")
A = IRI("http://e/a")
ONLY_X, ONLY_Y = Values((X,), ((A,),)), Values((Y,), ((A,),))
XY = Values((X, Y), ((A, A), (A, None)))


@pytest.mark.parametrize(
    ("pattern", "scope", "sure"),
    [
        (BGP((TriplePattern(X, Y, Variable("_:b")),)), {"x", "y", "_:b"}, {"x", "y", "_:b"}),
        (PathPattern(X, ZeroOrMore(Link(A)), Constant(A)), {"x"}, {"x"}),
        (XY, {"x", "y"}, {"x"}),
        (Join(XY, ONLY_Y), {"x", "y"}, {"x", "y"}),
        (LeftJoin(ONLY_X, ONLY_Y), {"x", "y"}, {"x"}),
        (Union(XY, ONLY_X), {"x", "y"}, {"x"}),
        (Union(ONLY_X, ONLY_Y), {"x", "y"}, set()),
        (Minus(ONLY_X, ONLY_Y), {"x"}, {"x"}),
        (Filter(Compare("=", X, Z), ONLY_X), {"x"}, {"x"}),
        (Extend(XY, Z, X), {"x", "y", "z"}, {"x", "z"}),
        (Extend(XY, Z, Y), {"x", "y", "z"}, {"x"}),
        (Extend(ONLY_X, Z, Constant(A)), {"x", "z"}, {"x", "z"}),
        (Graph(Z, ONLY_X), {"x", "z"}, {"x", "z"}),
        (Group(XY, ((X, X), (Y, Y)), ((Z, Aggregate("COUNT", None)),)), {"x", "y", "z"}, {"x", "z"}),
        (Group(XY, (), ((Z, Aggregate("SUM", X)),)), {"z"}, set()),
        (Slice(Distinct(Project(OrderBy(XY, ((X, True),)), (Y, Z)))), {"y", "z"}, set()),
    ],
)
def test_scope(pattern: Pattern, scope: set[str], sure: set[str]) -> None:
    assert in_scope(pattern) == scope and certain(pattern) == sure


def test_scope_of_a_long_chain_needs_no_deep_stack() -> None:
    chain: Pattern = ONLY_X
    for _ in range(20_000):
        chain = Union(chain, XY)
    assert in_scope(chain) == {"x", "y"} and certain(chain) == {"x"}


EXISTS = Exists(BGP((TriplePattern(Y, Z, Y),)))


@pytest.mark.parametrize(
    ("expression", "read", "mentioned"),
    [
        (And(X, EXISTS), {"x"}, {"x", "y", "z"}),
        (Compare("<", X, Previous(Y)), {"x", "y"}, {"x", "y"}),
        (Compare("<", X, IterationAggregate("SUM", "B", Y)), {"x"}, {"x"}),
        (Aggregate("SUM", X), {"x"}, {"x"}),
        (Constant(A), set(), set()),
    ],
)
def test_expression_variables(expression: Expression, read: set[str], mentioned: set[str]) -> None:
    assert expression_variables(expression) == read and mentioned_variables(expression) == mentioned


@settings(max_examples=60, deadline=None)
@given(patterns(bgps, path_patterns, inline_data(), graph_patterns), graphs, graphs)
def test_solutions_bind_what_is_certain_and_nothing_out_of_scope(
    pattern: Pattern, default: list[Triple], named: list[Triple]
) -> None:
    graph = RDFGraph(default)
    for row in solutions(pattern, graph, Dataset(graph, {IRI("http://g/1"): RDFGraph(named)})):
        assert certain(pattern) <= set(row) <= in_scope(pattern)
