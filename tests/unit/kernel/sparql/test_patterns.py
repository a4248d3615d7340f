"""The operators of the SPARQL algebra over small graphs, where random comparison with other engines says too little."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scepter.algebra.expressions import (
    Aggregate,
    Arithmetic,
    Call,
    Compare,
    Constant,
    Exists,
    Expression,
    Variable,
)
from scepter.algebra.patterns import (
    BGP,
    EMPTY,
    Alternative,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Link,
    Minus,
    NegatedPropertySet,
    Node,
    OrderBy,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    Project,
    Slice,
    TriplePattern,
    Union,
    Values,
    ZeroOrMore,
    ZeroOrOne,
)
from scepter.kernel.sparql.context import Context, Row, blank_nodes
from scepter.kernel.sparql.dataset import Dataset
from scepter.kernel.sparql.dataset import Graph as RDFGraph
from scepter.kernel.sparql.patterns import compile_pattern, solutions
from scepter.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple
from scepter.rdf.values import to_literal

A, B, C, P, Q, G, H = (IRI(f"http://e/{n}") for n in "abcpqgh")
ONE, TWO, THREE = to_literal(1), to_literal(2), to_literal(3)


def var(name: str) -> Variable:
    return Variable(name)


def node(item: str | Term) -> Node:
    return Variable(item) if isinstance(item, str) else Constant(item)


def bgp(*triples: tuple[str | Term, str | Term, str | Term]) -> BGP:
    return BGP(tuple(TriplePattern(node(s), node(p), node(o)) for s, p, o in triples))


def path(s: str | Term, item: Path, o: str | Term) -> PathPattern:
    return PathPattern(node(s), item, node(o))


def values(**columns: Term | None) -> Values:
    return Values(tuple(Variable(name) for name in columns), (tuple(columns.values()),))


def rows(name: str, *terms: Term | None) -> Values:
    return Values((Variable(name),), tuple((term,) for term in terms))


def answer(pattern: Pattern, *triples: tuple[Term, Term, Term], context: Context | None = None) -> list[Row]:
    return solutions(pattern, RDFGraph(Triple(*t) for t in triples), context=context)


def column(pattern: Pattern, name: str, *triples: tuple[Term, Term, Term]) -> list[Term | None]:
    return [row.get(name) for row in answer(pattern, *triples)]


def test_the_empty_pattern_has_one_solution() -> None:
    assert answer(EMPTY) == [{}] and answer(EMPTY, (A, P, B)) == [{}]


def test_a_variable_twice_in_a_triple_must_agree() -> None:
    assert answer(bgp(("x", P, "x")), (A, P, B), (B, P, B)) == [{"x": B}]
    assert answer(bgp(("x", "x", "y")), (A, P, B), (P, P, B)) == [{"x": P, "y": B}]


def test_joins_compare_terms_and_filters_compare_values() -> None:
    data = ((A, P, TWO), (B, P, Literal("2.0", XSD + "decimal")))
    assert len(answer(bgp(("x", P, "v"), ("y", P, "v")), *data)) == 2
    equal = Filter(Compare("=", var("v"), var("w")), bgp(("x", P, "v"), ("y", P, "w")))
    assert len(answer(equal, *data)) == 4


def test_a_literal_is_no_subject() -> None:
    assert answer(bgp(("x", P, "v"), ("v", P, "w")), (A, P, ONE)) == []


@pytest.mark.parametrize("size", [3, 8, 9, 50])
def test_indexes_and_scans_find_the_same(size: int) -> None:
    data = [Triple(IRI(f"http://e/{i % 5}"), P if i % 2 else Q, IRI(f"http://e/{i}")) for i in range(size)]
    graph = RDFGraph(data)
    for s in (None, data[0].subject, B):
        for p in (None, P, C):
            for o in (None, data[1].object, A):
                wanted = [t for t in data if s in (None, t.subject) and p in (None, t.predicate) and o in (None, t.object)]
                assert list(graph.match(s, p, o)) == wanted


def test_a_graph_is_a_set_in_order() -> None:
    graph = RDFGraph([Triple(A, P, B), Triple(B, P, A), Triple(A, P, B)])
    assert list(graph) == [Triple(A, P, B), Triple(B, P, A)] and Triple(A, P, B) in graph and len(graph) == 2


def test_a_long_pattern_needs_no_deep_stack() -> None:
    chain = bgp(*((f"v{i}", P, f"v{i + 1}") for i in range(1100)))
    assert len(answer(chain, (A, P, A))) == 1
    choices: Pattern = values(x=A)
    for _ in range(3000):
        choices = Union(choices, values(x=B))
    assert len(answer(choices)) == 3001


def test_join_of_partly_bound_rows() -> None:
    left = Values((var("x"), var("y")), ((A, None), (None, B), (A, B)))
    right = Values((var("x"), var("y")), ((A, C), (None, B)))
    assert answer(Join(left, right)) == [{"x": A, "y": C}, {"x": A, "y": B}, {"y": B}, {"x": A, "y": B}]


def test_a_filter_sees_its_own_group_only() -> None:
    nested = Join(values(x=A), Filter(Compare("=", var("x"), Constant(A)), values(y=B)))
    assert answer(nested) == []


def test_the_condition_of_an_optional_sees_both_sides() -> None:
    pattern = LeftJoin(rows("x", ONE, THREE), rows("y", TWO), Compare("<", var("x"), var("y")))
    assert answer(pattern) == [{"x": ONE, "y": TWO}, {"x": THREE}]


def test_optional_keeps_every_match() -> None:
    assert len(answer(LeftJoin(values(x=A), bgp(("x", P, "y"))), (A, P, B), (A, P, C))) == 2
    assert answer(LeftJoin(values(x=B), bgp(("x", P, "y"))), (A, P, B)) == [{"x": B}]


def test_minus_needs_a_shared_variable() -> None:
    assert answer(Minus(values(x=A), values(y=A))) == [{"x": A}]
    assert answer(Minus(values(x=A), values(x=A))) == []
    assert answer(Minus(values(x=A), values(x=B))) == [{"x": A}]
    assert answer(Minus(values(x=A), Values((), ((),)))) == [{"x": A}]


def test_minus_compares_what_both_rows_bind() -> None:
    right = Values((var("x"), var("y")), ((None, B), (A, C)))
    left = Values((var("x"), var("y")), ((A, None), (A, B), (None, None), (C, None)))
    assert answer(Minus(left, right)) == [{}, {"x": C}]


def test_an_error_in_bind_leaves_the_variable_unbound() -> None:
    pattern = Extend(values(x=ONE), var("y"), Arithmetic("/", var("x"), Constant(to_literal(0))))
    assert answer(pattern) == [{"x": ONE}]


def test_bind_sees_what_bind_bound() -> None:
    first = Extend(values(x=ONE), var("y"), Arithmetic("+", var("x"), var("x")))
    assert answer(Extend(first, var("z"), Arithmetic("+", var("y"), var("x")))) == [{"x": ONE, "y": TWO, "z": THREE}]


def test_bnode_labels_are_one_node_per_solution() -> None:
    pattern: Pattern = rows("x", A, B)
    for name, label in (("b1", "l"), ("b2", "l"), ("b3", "m")):
        pattern = Extend(pattern, var(name), Call("BNODE", (Constant(Literal(label)),)))
    first, second = answer(pattern, context=Context(fresh=blank_nodes("n")))
    assert first["b1"] == first["b2"] != first["b3"]
    assert len({first["b1"], first["b3"], second["b1"], second["b3"]}) == 4 and second["b1"] == second["b2"]


def test_graph_ranges_over_named_graphs_only() -> None:
    dataset = Dataset(RDFGraph([Triple(C, P, C)]), {G: RDFGraph([Triple(A, P, B)]), H: RDFGraph([Triple(B, P, H)])})

    def over(pattern: Pattern) -> list[Row]:
        return solutions(pattern, dataset.default, dataset)

    assert over(Graph(Constant(G), bgp(("x", P, "y")))) == [{"x": A, "y": B}]
    assert over(Graph(Constant(C), EMPTY)) == []
    assert over(Graph(var("g"), EMPTY)) == [{"g": G}, {"g": H}]
    assert over(Graph(var("g"), bgp(("x", P, "g")))) == [{"x": B, "g": H}]
    assert over(Join(rows("g", H, C), Graph(var("g"), bgp(("x", P, "y"))))) == [{"g": H, "x": B, "y": H}]
    assert over(Filter(Exists(Graph(var("g"), bgp(("x", P, "y")))), rows("g", G, H, C, ONE))) == [{"g": G}, {"g": H}]
    inside = Graph(Constant(G), Filter(Exists(bgp((A, P, "y"))), values(z=ONE)))
    assert over(inside) == [{"z": ONE}], "EXISTS looks at the active graph"


def test_project_keeps_duplicates_and_drops_blank_node_variables() -> None:
    pattern = Project(bgp(("_:b", P, "y")), (var("y"), var("nothing")))
    assert answer(pattern, (A, P, C), (B, P, C)) == [{"y": C}, {"y": C}]
    assert answer(Distinct(pattern), (A, P, C), (B, P, C)) == [{"y": C}]


def test_order_by_takes_several_conditions_and_equal_rows_go_by_their_terms() -> None:
    data = Values((var("x"), var("y")), ((TWO, A), (None, B), (ONE, B), (TWO, C), (Literal("2.0", XSD + "decimal"), B)))
    ordered = OrderBy(data, ((var("x"), True), (var("y"), False)))
    assert [row["y"] for row in answer(ordered)] == [A, B, C, B, B]
    assert column(OrderBy(rows("x", A, ONE, None, BlankNode("b")), ((var("x"), False),)), "x") == [None, BlankNode("b"), A, ONE]
    assert column(OrderBy(rows("x", TWO, ONE), ((Arithmetic("+", var("x"), Constant(A)), False),)), "x") == [ONE, TWO]


@pytest.mark.parametrize(
    ("offset", "limit", "expected"), [(0, 0, []), (1, 1, [TWO]), (2, None, [THREE]), (5, 2, []), (1, 9, [TWO, THREE])]
)
def test_slice(offset: int, limit: int | None, expected: list[Term]) -> None:
    assert column(Slice(rows("x", ONE, TWO, THREE), offset, limit), "x") == expected
    assert column(Slice(rows("x", THREE, TWO, ONE), offset, limit), "x") == expected, "whatever the order they are found in"


def aggregate(function: str, operand: Expression | None, *terms: Term | None, distinct: bool = False) -> Term | None:
    over = Group(rows("x", *terms), (), ((var("r"), Aggregate(function, operand, distinct, ",")),))
    (row,) = answer(over)
    return row.get("r")


@pytest.mark.parametrize(
    ("function", "terms", "expected"),
    [
        ("COUNT", (), to_literal(0)),
        ("COUNT", (ONE, None, ONE), TWO),
        ("SUM", (), to_literal(0)),
        ("SUM", (ONE, TWO), THREE),
        ("SUM", (ONE, A), None),
        ("SUM", (ONE, None), None),
        ("SUM", (ONE, Literal("x")), None),
        ("AVG", (), to_literal(0)),
        ("AVG", (ONE, TWO), Literal("1.5", XSD + "decimal")),
        ("AVG", (ONE, BlankNode("b")), None),
        ("MIN", (), None),
        ("MIN", (TWO, Literal("1.5", XSD + "decimal"), THREE), Literal("1.5", XSD + "decimal")),
        ("MIN", (ONE, A), A),
        ("MAX", (ONE, A, Literal("z")), Literal("z")),
        ("MAX", (ONE, None), None),
        ("SAMPLE", (), None),
        ("SAMPLE", (None, A), A),
        ("GROUP_CONCAT", (), Literal("")),
        ("GROUP_CONCAT", (ONE, A, Literal("x")), Literal("1,http://e/a,x")),
        ("GROUP_CONCAT", (BlankNode("b"),), None),
    ],
)
def test_set_functions(function: str, terms: tuple[Term | None, ...], expected: Term | None) -> None:
    assert aggregate(function, var("x"), *terms) == expected


def test_distinct_set_functions_compare_terms() -> None:
    two = Literal("2.0", XSD + "decimal")
    assert aggregate("COUNT", var("x"), TWO, two, TWO, distinct=True) == TWO
    assert aggregate("SUM", var("x"), TWO, TWO, ONE, distinct=True) == THREE
    assert aggregate("COUNT", None, TWO, TWO, None) == THREE
    assert aggregate("COUNT", None, TWO, TWO, None, distinct=True) == TWO
    assert aggregate("GROUP_CONCAT", var("x"), TWO, TWO, ONE, distinct=True) == Literal("2,1")


def test_groups() -> None:
    data = Values((var("k"), var("v")), ((A, ONE), (B, TWO), (A, THREE), (None, ONE)))
    counted = Group(data, ((var("k"), var("k")),), ((var("n"), Aggregate("COUNT", None)),))
    assert answer(counted) == [{"k": A, "n": TWO}, {"k": B, "n": ONE}, {"n": ONE}]
    computed = Group(data, ((var("parity"), Call("STR", (var("v"),))),), ((var("n"), Aggregate("COUNT", var("k"))),))
    assert [row["n"] for row in answer(computed)] == [ONE, ONE, ONE]
    assert answer(Group(rows("k"), ((var("k"), var("k")),), ((var("n"), Aggregate("COUNT", None)),))) == []


def test_blank_nodes_of_the_pattern_do_not_count_as_distinct() -> None:
    over = Group(bgp(("_:b", P, "y")), (), ((var("n"), Aggregate("COUNT", None, distinct=True)),))
    assert answer(over, (A, P, C), (B, P, C)) == [{"n": ONE}]


@pytest.mark.parametrize("expression", [Aggregate("MEDIAN", Variable("x")), Aggregate("SUM", None), Variable("x")])
def test_what_is_no_aggregate_is_refused(expression: Expression) -> None:
    with pytest.raises(ValueError, match=r"aggregate|SUM"):
        compile_pattern(Group(EMPTY, (), ((var("r"), expression),)))


STAR = ZeroOrMore(Link(P))


def test_a_zero_length_path_at_a_term_needs_no_node() -> None:
    assert answer(path(A, STAR, A)) == [{}]
    assert answer(path(A, STAR, B)) == []
    assert answer(path("x", STAR, A)) == [{"x": A}]
    assert answer(path(A, ZeroOrOne(Link(P)), "x")) == [{"x": A}]


def test_a_zero_length_path_at_a_variable_needs_a_node() -> None:
    assert answer(path("x", STAR, "y")) == []
    assert answer(path("x", STAR, "x"), (A, Q, ONE)) == [{"x": A}, {"x": ONE}]
    assert answer(Join(values(x=C), path("x", STAR, "y")), (A, P, B)) == []
    assert answer(Join(values(x=C), path("x", STAR, C)), (A, P, B)) == [{"x": C}]
    assert answer(LeftJoin(values(x=C), path("x", STAR, "y")), (A, P, B)) == [{"x": C}]
    assert answer(path(C, PathSequence(STAR, STAR), "y"), (A, P, B)) == []
    assert answer(Filter(Exists(path("x", STAR, "y")), values(x=C))) == [{"x": C}], "EXISTS makes it a term"


def test_paths_end_in_cycles() -> None:
    cycle = ((A, P, B), (B, P, C), (C, P, A))
    assert column(path(A, STAR, "y"), "y", *cycle) == [A, B, C]
    assert len(answer(path("x", STAR, "y"), *cycle)) == 9
    assert len(answer(Join(bgp(("x", P, "z")), path("x", STAR, "y")), *cycle)) == 9


def test_sequences_and_alternatives_keep_duplicates() -> None:
    diamond = ((A, P, B), (A, P, C), (B, P, H), (C, P, H))
    assert column(path(A, PathSequence(Link(P), Link(P)), "y"), "y", *diamond) == [H, H]
    assert column(path(A, Alternative(Link(P), Link(P)), "y"), "y", (A, P, B)) == [B, B]


def test_negated_property_sets_look_both_ways_only_when_told() -> None:
    data = ((A, P, B), (C, Q, A))
    assert column(path(A, NegatedPropertySet((Q,), ()), "y"), "y", *data) == [B]
    assert column(path(A, NegatedPropertySet((), (P,)), "y"), "y", *data) == [C]
    assert column(path(A, NegatedPropertySet((Q,), (P,)), "y"), "y", *data) == [B, C]
    assert column(path(A, NegatedPropertySet((P,), (Q,)), "y"), "y", *data) == []


def test_a_plan_runs_over_any_graph() -> None:
    plan = compile_pattern(bgp(("x", P, "y")))
    for triples in ([Triple(A, P, B)], [], [Triple(B, P, C), Triple(A, Q, C)]):
        assert len(list(plan(Context(graph=RDFGraph(triples))))) == sum(t.predicate == P for t in triples)


def test_the_evaluator_starts_without_spark_or_compiled_kernels() -> None:
    code = "import sys, scepter.kernel.sparql.patterns; print({'pyspark', 'numba', 'numpy', 'rdflib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
