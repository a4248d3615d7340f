"""Three-valued logic, comparison, EXISTS, PREV and iteration aggregates over one solution."""

from __future__ import annotations

import itertools

import pytest

from scepter.algebra.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Call,
    Compare,
    Constant,
    Exists,
    Expression,
    In,
    IterationAggregate,
    Negate,
    Not,
    Or,
    Previous,
    Variable,
)
from scepter.algebra.patterns import BGP, Filter, Minus, Project, TriplePattern
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.expressions import compile_expression, evaluate, holds
from scepter.optimizer.conditions import uses_previous
from scepter.rdf.terms import IRI, Literal, Triple
from scepter.rdf.values import FALSE, TRUE, ExpressionError, to_literal

T, F, E = Constant(TRUE), Constant(FALSE), Variable("unbound")
X = Variable("x")
ONE, TWO = Constant(to_literal(1)), Constant(to_literal(2))


def outcome(expression: Expression, context: Context | None = None, **bindings: Literal) -> str:
    try:
        return str({TRUE: "T", FALSE: "F"}[evaluate(expression, bindings, context or Context())])  # type: ignore[index]
    except ExpressionError:
        return "E"


def test_connectives_follow_the_truth_table() -> None:
    values: dict[str, Expression] = {"T": T, "F": F, "E": E}
    both = list(itertools.product("TFE", repeat=2))
    assert [outcome(Or(values[a], values[b])) for a, b in both] == list("TTTTFETEE")
    assert [outcome(And(values[a], values[b])) for a, b in both] == list("TFEFFFEFE")
    assert [outcome(Not(values[a])) for a in "TFE"] == list("FTE")


def test_long_chains_need_no_deep_stack() -> None:
    chain: Expression = E
    total: Expression = ONE
    for _ in range(20_000):
        chain = Or(chain, F)
        total = Arithmetic("+", total, ONE)
    assert outcome(chain) == "E" and outcome(Or(chain, T)) == "T"
    assert evaluate(total, {}, Context()) == to_literal(20_001)


@pytest.mark.parametrize(
    ("choices", "negated", "expected"),
    [
        ((), False, "F"),
        ((), True, "T"),
        ((TWO, ONE), False, "T"),
        ((TWO, E), False, "E"),
        ((E, ONE), False, "T"),
        ((E, ONE), True, "F"),
        ((TWO, E), True, "E"),
        ((TWO,), True, "T"),
        ((Constant(Literal("1.0", "http://www.w3.org/2001/XMLSchema#decimal")),), False, "T"),
    ],
)
def test_in(choices: tuple[Expression, ...], negated: bool, expected: str) -> None:
    assert outcome(In(X, choices, negated), x=to_literal(1)) == expected


def test_in_of_an_error() -> None:
    assert outcome(In(E, (ONE,))) == "E"
    assert outcome(In(E, ())) == "F"


@pytest.mark.parametrize(("operator", "expected"), [("=", "F"), ("!=", "T"), ("<", "T"), ("<=", "T"), (">", "F"), (">=", "F")])
def test_comparison(operator: str, expected: str) -> None:
    assert outcome(Compare(operator, ONE, TWO)) == expected
    assert outcome(Compare(operator, ONE, E)) == "E"


def test_conditional_forms_evaluate_what_they_need() -> None:
    assert evaluate(Call("IF", (T, ONE, E)), {}, Context()) == to_literal(1)
    assert evaluate(Call("IF", (F, E, ONE)), {}, Context()) == to_literal(1)
    assert outcome(Call("IF", (E, ONE, ONE))) == "E"
    assert evaluate(Call("COALESCE", (E, Arithmetic("/", ONE, Constant(to_literal(0))), TWO)), {}, Context()) == to_literal(2)
    assert outcome(Call("COALESCE", (E,))) == outcome(Call("COALESCE", ())) == "E"
    assert outcome(Call("BOUND", (X,))) == "F" and outcome(Call("BOUND", (X,)), x=to_literal(1)) == "T"
    assert evaluate(Negate(X), {"x": to_literal(1)}, Context()) == to_literal(-1)


def test_holds_is_false_for_an_error() -> None:
    assert holds(T, {}, Context()) and not holds(E, {}, Context()) and not holds(Not(E), {}, Context())
    assert not holds(And(T, E), {}, Context()) and holds(Or(E, T), {}, Context())


def test_a_conjunct_with_prev_is_true_in_the_first_iteration() -> None:
    rising = Compare(">", X, Previous(X))
    assert uses_previous(rising) and not uses_previous(Compare(">", X, ONE))
    condition = And(rising, Compare("<", X, TWO))
    one, three = {"x": to_literal(1)}, {"x": to_literal(3)}
    assert holds(condition, one, Context()) and not holds(condition, three, Context())
    later = Context(previous={"x": to_literal(0)})
    assert holds(condition, one, later) and not holds(condition, {"x": to_literal(0)}, later)
    assert not holds(rising, one, Context(previous={})), "a previous iteration that left ?x unbound is an error"


def test_iteration_aggregates_are_asked_of_the_context() -> None:
    count = IterationAggregate("COUNT", "B", X)
    context = Context(iterations=lambda asked: to_literal(3 if asked == count else 0))
    assert evaluate(count, {}, context) == to_literal(3)
    assert outcome(count) == "E"


def test_an_aggregate_has_no_value_for_one_solution() -> None:
    with pytest.raises(ValueError, match="COUNT"):
        compile_expression(Aggregate("COUNT", None))


P, Q, A, B = (IRI(f"http://e/{n}") for n in "pqab")
GRAPH = Graph([Triple(A, P, B), Triple(A, Q, A)])


def bgp(s: str, p: IRI, o: str) -> BGP:
    return BGP((TriplePattern(Variable(s), Constant(p), Variable(o)),))


def test_exists_sees_the_solution() -> None:
    context = Context(graph=GRAPH)
    exists = Exists(bgp("s", P, "o"))
    assert holds(exists, {}, context) and holds(exists, {"s": A}, context) and not holds(exists, {"s": B}, context)
    assert holds(Exists(bgp("s", P, "o"), negated=True), {"s": B}, context)


def test_exists_sees_the_solution_in_a_nested_filter() -> None:
    nested = Exists(Filter(Compare("=", Variable("limit"), ONE), bgp("s", P, "o")))
    context = Context(graph=GRAPH)
    assert holds(nested, {"limit": to_literal(1)}, context) and not holds(nested, {"limit": to_literal(2)}, context)


def test_exists_in_exists_sees_both_solutions() -> None:
    inner = Exists(bgp("s", Q, "t"))
    outer = Exists(Filter(inner, bgp("s", P, "o")))
    assert holds(outer, {"s": A}, Context(graph=GRAPH)) and not holds(outer, {"s": A, "t": B}, Context(graph=GRAPH))


def test_a_sub_select_in_exists_hides_what_it_does_not_project() -> None:
    hidden = Exists(Project(bgp("s", P, "o"), (Variable("o"),)))
    shown = Exists(Project(bgp("s", P, "o"), (Variable("s"),)))
    assert holds(hidden, {"s": B}, Context(graph=GRAPH)) and not holds(shown, {"s": B}, Context(graph=GRAPH))


def test_minus_in_exists_shares_no_substituted_variable() -> None:
    """Substitution turns ?s into a term on both sides, so nothing is shared and nothing taken away (§18.6)."""
    pattern = Minus(bgp("s", P, "o"), bgp("s", Q, "other"))
    assert not holds(Exists(pattern), {}, Context(graph=GRAPH))
    assert holds(Exists(pattern), {"s": A}, Context(graph=GRAPH))
