"""One traversal for all nodes: order, identity, depth."""

from __future__ import annotations

from typing import get_args

import pytest

from scepter.algebra.expressions import And, Call, Constant, Exists, Expression, Not, Or, Variable
from scepter.algebra.patterns import BGP, EMPTY, Filter, Group, Join, Link, OneOrMore, PathPattern, TriplePattern, Values
from scepter.algebra.query import Ask, Query, Scan, Select, Selection, Sequence, Sliding, Step, Stream
from scepter.algebra.walk import NODE_TYPES, WRITTEN_TYPES, Algebra, children, find, is_node, rewrite, walk
from scepter.errors import Span
from scepter.rdf.terms import IRI, Literal
from scepter.timeline import Duration

X, Y, Z = Variable("x"), Variable("y"), Variable("z")
P = Constant(IRI("http://e/p"))
ONE = Constant(Literal("1"))
BODY = BGP((TriplePattern(X, P, Y),))
SCAN = Scan("A", IRI("http://e/s"), BODY, (Not(X),))
QUERY = Query(
    Select(((X, None), (Z, Call("STR", (Y,))))),
    (Stream(IRI("http://e/s")),),
    Sequence((Step(SCAN), Step(SCAN, Selection.NEXT))),
    Sliding(Duration(5)),
    (X,),
)


def test_every_dataclass_of_the_algebra_is_a_node() -> None:
    names = {t.__name__ for t in NODE_TYPES}
    assert {"Variable", "Exists", "BGP", "Link", "TriplePattern", "Scan", "Step", "Tumbling", "Select", "Program"} <= names
    assert len({t.__name__ for t in WRITTEN_TYPES}) == len(WRITTEN_TYPES)
    assert set(get_args(Algebra)) == set(NODE_TYPES)


def test_terms_durations_and_enums_are_no_nodes() -> None:
    assert not any(
        is_node(v) for v in (IRI("a"), Literal("a"), Duration(1), Selection.ANY, None, "x", Span(0, 1), (X,), Variable)
    )


def test_children_reach_into_tuples_of_tuples_and_skip_what_is_no_node() -> None:
    assert children(QUERY) == (QUERY.result, QUERY.streams[0], QUERY.pattern, QUERY.window, X)
    assert children(QUERY.result) == (X, Z, Call("STR", (Y,)))
    assert children(Values((X, Y), ((Literal("1"), None),))) == (X, Y)
    assert children(Group(BODY, ((X, X),), ((Y, Z),))) == (BODY, X, X, Y, Z)
    assert children(PathPattern(X, OneOrMore(Link(IRI("p"))), Y)) == (X, OneOrMore(Link(IRI("p"))), Y)
    assert children(Ask()) == ()


def test_walk_is_pre_order() -> None:
    names = [type(n).__name__ for n in walk(Filter(Exists(BODY), EMPTY))]
    assert names == ["Filter", "Exists", "BGP", "TriplePattern", "Variable", "Constant", "Variable", "BGP"]


def test_find_returns_occurrences_not_distinct_nodes() -> None:
    assert len(list(find(QUERY, Scan))) == 2
    assert [v.name for v in find(And(X, And(Y, X)), Variable)] == ["x", "y", "x"]
    assert list(find(QUERY, Ask)) == []


def test_a_rewrite_that_changes_nothing_returns_the_same_object() -> None:
    assert rewrite(QUERY, lambda n: n) is QUERY


def test_a_rewrite_shares_what_it_does_not_touch() -> None:
    tree = Join(BODY, Filter(Z, EMPTY))
    result = rewrite(tree, lambda n: ONE if n == Z else n)
    assert result == Join(BODY, Filter(ONE, EMPTY))
    assert result.left is BODY


def test_a_rewrite_is_bottom_up() -> None:
    seen: list[str] = []

    def note(node: Algebra) -> Algebra:
        seen.append(type(node).__name__)
        return Or(node.left, node.right) if isinstance(node, And) else node

    tree: Expression = And(And(X, Y), Z)
    assert rewrite(tree, note) == Or(Or(X, Y), Z)
    assert seen[-1] == "And"
    assert seen.index("Variable") < seen.index("And")


def test_a_rewrite_keeps_spans_and_order_within_tuples() -> None:
    call = Call("CONCAT", (X, ONE, Y, X), Span(3, 9))
    result = rewrite(call, lambda n: Z if n == X else n)
    assert result == Call("CONCAT", (Z, ONE, Y, Z))
    assert result.span == Span(3, 9)


def test_equal_nodes_that_are_different_objects_are_each_visited() -> None:
    count = 0

    def tally(node: Algebra) -> Algebra:
        nonlocal count
        count += 1
        return node

    rewrite(And(Variable("x"), Variable("x")), tally)
    assert count == 3
    count = 0
    rewrite(And(X, X), tally)
    assert count == 2


def test_a_rewrite_that_returns_no_node_says_so() -> None:
    with pytest.raises(TypeError, match="a rewrite of Variable returned None"):
        rewrite(Not(X), lambda n: None if isinstance(n, Variable) else n)  # type: ignore[arg-type,return-value]


def test_depth_is_no_limit() -> None:
    deep: Expression = X
    for _ in range(20_000):
        deep = Or(deep, Y)
    assert sum(1 for _ in walk(deep)) == 40_001
    renamed = rewrite(deep, lambda n: Z if n is X else n)
    assert next(v for v in find(renamed, Variable)) is Z
