"""What is printed in SPARQL's notation is read back as the same expression or pattern."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from property.sparql_strategies import bgps, expressions, graph_patterns, graphs, inline_data, path_patterns, patterns
from scepter.algebra.expressions import And, Arithmetic, Call, Constant, Exists, Expression, Negate, Or, Variable
from scepter.algebra.notation import format_expression, format_pattern
from scepter.algebra.patterns import Extend, Pattern
from scepter.algebra.query import Scan
from scepter.algebra.walk import Algebra, find, rewrite
from scepter.errors import QueryError
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.patterns import solutions
from scepter.lower import lower
from scepter.rdf.terms import IRI, XSD, Literal, Triple

PREFIXES = {"": "http://e/", "p": "http://e/p"}
HEADER = "PREFIX : <http://e/> PREFIX p: <http://e/p> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"


def scan_of(body: str) -> Scan:
    text = f"{HEADER} SELECT * WITHIN 5 FROM STREAM S <http://e/s> WHERE {{ SEQ (A) DEFINE GPM A ON S {{ {body} }} }}"
    (scan,) = find(lower(text, "spaseq").program, Scan)
    return scan


def leaning_left(expression: Expression) -> Expression:
    """`&&` and `||` chains in one shape: parentheses inside them are not printed."""

    def lean(node: Algebra) -> Algebra:
        if isinstance(node, And | Or):
            kind, operands, pending = type(node), list[Expression](), list[Expression]([node])
            while pending:
                current = pending.pop()
                if isinstance(current, kind):
                    pending += (current.right, current.left)
                else:
                    operands.append(current)
            whole = operands[0]
            for operand in operands[1:]:
                whole = kind(whole, operand)
            return whole
        return node

    return rewrite(expression, lean)


NUMBERS = st.sampled_from(
    [
        Literal(t, XSD + d)
        for t, d in (("1", "integer"), ("-2", "integer"), ("+.5", "decimal"), ("1e3", "double"), ("7", "byte"))
    ]
)


def calculations() -> st.SearchStrategy[Expression]:
    leaves: st.SearchStrategy[Expression] = st.one_of(st.builds(Constant, NUMBERS), st.just(Variable("x")))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner),
            st.builds(Negate, inner),
            st.builds(lambda e: Call("+", (e,)), inner),
            st.builds(lambda e: Call(XSD + "integer", (e,)), inner),
            st.builds(lambda a, b: Call("IF", (a, b, a)), inner, inner),
        ),
        max_leaves=7,
    )


@given(st.one_of(expressions(), calculations()), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_printed_expression_is_read_back(expression: Expression, prefixed: bool) -> None:
    text = format_expression(expression, PREFIXES if prefixed else None)
    (extend,) = find(scan_of(f"?x ?y ?z BIND ({text} AS ?w)"), Extend)
    assert leaning_left(extend.expression) == leaning_left(expression)


@given(patterns(bgps, path_patterns, graph_patterns, inline_data()), graphs)
@settings(max_examples=60, deadline=None)
def test_a_printed_pattern_has_the_same_solutions(pattern: Pattern, graph: list[Triple]) -> None:
    """Read back and asked again: grouping by braces is a matter of meaning, not of shape."""
    dataset = Dataset(named={IRI("http://g/1"): Graph(graph)})
    try:
        scan = scan_of(f"{{ {format_pattern(pattern, PREFIXES)} }}")
    except QueryError as error:
        # Generated trees are no queries: filters over variables that nothing binds (rule 1), AS over one that is bound.
        assert error.code in ("unbound-variable", "variable-in-scope")
        reject()

    def answer(asked: Pattern) -> Counter[frozenset[tuple[str, object]]]:
        rows = solutions(asked, Graph(graph), dataset)
        return Counter(frozenset((k, v) for k, v in row.items() if not k.startswith("_:")) for row in rows)

    assert answer(scan.pattern) == answer(pattern)


@given(bgps, st.booleans())
@settings(max_examples=20, deadline=None)
def test_exists_shows_its_pattern(pattern: Pattern, negated: bool) -> None:
    (condition,) = scan_of(f"?x ?y ?z FILTER ({format_expression(Exists(pattern, negated))})").filters
    assert condition == Exists(pattern, negated)
