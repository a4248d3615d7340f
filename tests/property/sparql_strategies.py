"""Random small graphs, datasets and SPARQL patterns."""

from __future__ import annotations

from hypothesis import strategies as st

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
    Not,
    Or,
    Variable,
)
from scepter.algebra.patterns import (
    BGP,
    Alternative,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Inverse,
    Join,
    LeftJoin,
    Link,
    Minus,
    NegatedPropertySet,
    Node,
    OneOrMore,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    Project,
    TriplePattern,
    Union,
    Values,
    ZeroOrMore,
    ZeroOrOne,
)
from scepter.algebra.scope import in_scope
from scepter.rdf.terms import IRI, XSD, Literal, Term, Triple

NAMES = ("x", "y", "z")
IRIS = tuple(IRI(f"http://e/{n}") for n in "abc")
PREDICATES = tuple(IRI(f"http://e/{n}") for n in "pq")
GRAPHS = tuple(IRI(f"http://g/{n}") for n in "12")
LITERALS = (
    Literal("1", XSD + "integer"),
    Literal("2", XSD + "integer"),
    Literal("1.5", XSD + "decimal"),
    Literal("true", XSD + "boolean"),
    Literal("a"),
)

variables = st.sampled_from([Variable(n) for n in NAMES])
resources = st.sampled_from(IRIS)
terms: st.SearchStrategy[Term] = st.one_of(resources, st.sampled_from(LITERALS))
triples = st.builds(Triple, resources, st.sampled_from(PREDICATES), terms)
graphs = st.lists(triples, max_size=9)


def _nodes(constants: st.SearchStrategy[Term]) -> st.SearchStrategy[Node]:
    return st.one_of(variables, variables, variables, st.builds(Constant, constants))


_predicates: st.SearchStrategy[Node] = st.one_of(
    st.builds(Constant, st.sampled_from(PREDICATES)), st.builds(Constant, st.sampled_from(PREDICATES)), variables
)
_triple_patterns = st.builds(TriplePattern, _nodes(resources), _predicates, _nodes(terms))
bgps = st.builds(lambda ts: BGP(tuple(ts)), st.lists(_triple_patterns, min_size=1, max_size=3))
_links = st.builds(Link, st.sampled_from(PREDICATES))
_sets = st.builds(
    NegatedPropertySet,
    st.lists(st.sampled_from(PREDICATES), max_size=1).map(tuple),
    st.lists(st.sampled_from(PREDICATES), max_size=1).map(tuple),
).filter(lambda s: bool(s.forward or s.backward))
paths: st.SearchStrategy[Path] = st.recursive(
    st.one_of(_links, _links, _sets),
    lambda inner: st.one_of(
        st.builds(Inverse, inner),
        st.builds(PathSequence, inner, inner),
        st.builds(Alternative, inner, inner),
        st.builds(ZeroOrMore, inner),
        st.builds(OneOrMore, inner),
        st.builds(ZeroOrOne, inner),
    ),
    max_leaves=4,
)
path_patterns = st.builds(PathPattern, _nodes(resources), paths, _nodes(resources))


graph_patterns = st.builds(Graph, st.one_of(variables, st.builds(Constant, st.sampled_from(GRAPHS))), bgps)


@st.composite
def inline_data(draw: st.DrawFn) -> Values:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
    row = st.tuples(*[st.one_of(st.none(), terms) for _ in names])
    return Values(tuple(Variable(n) for n in names), tuple(draw(st.lists(row, max_size=3))))


# Ordering comparisons have a number on one side: engines extend `<` to other terms as they please.
_numbers: st.SearchStrategy[Expression] = st.builds(Constant, st.sampled_from(LITERALS[:3]))


def expressions(patterns: st.SearchStrategy[Pattern] | None = None) -> st.SearchStrategy[Expression]:
    """Expressions over the three variables; with `patterns`, EXISTS too."""
    leaves: st.SearchStrategy[Expression] = st.one_of(variables, variables, st.builds(Constant, terms))
    extra = [] if patterns is None else [st.builds(Exists, patterns, st.booleans())]

    def wider(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.one_of(
            st.builds(Compare, st.sampled_from(["=", "!="]), inner, inner),
            st.builds(Compare, st.sampled_from(["<", ">", "<=", ">="]), inner, _numbers),
            st.builds(And, inner, inner),
            st.builds(Or, inner, inner),
            st.builds(Not, inner),
            st.builds(Arithmetic, st.sampled_from("+-*"), inner, inner),
            st.builds(In, inner, st.lists(inner, min_size=1, max_size=2).map(tuple), st.booleans()),
            st.builds(lambda v: Call("BOUND", (v,)), variables),
            st.builds(lambda f, e: Call(f, (e,)), st.sampled_from(["ISIRI", "ISLITERAL", "STR", "DATATYPE"]), inner),
            st.builds(lambda a, b, c: Call("IF", (a, b, c)), inner, inner, inner),
            st.builds(lambda a, b: Call("COALESCE", (a, b)), inner, inner),
            *extra,
        )

    return st.recursive(leaves, wider, max_leaves=4)


plain_conditions: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(
        st.builds(Compare, st.sampled_from(["=", "!="]), variables, st.one_of(variables, st.builds(Constant, resources))),
        st.builds(lambda v: Call("BOUND", (v,)), variables),
    ),
    lambda inner: st.one_of(st.builds(And, inner, inner), st.builds(Or, inner, inner), st.builds(Not, inner)),
    max_leaves=3,
)


@st.composite
def _bind(draw: st.DrawFn, inner: st.SearchStrategy[Pattern]) -> Pattern:
    pattern = draw(inner)
    free = sorted({"x", "y", "z", "w"} - in_scope(pattern))
    return Extend(pattern, Variable(draw(st.sampled_from(free))), draw(expressions())) if free else pattern


@st.composite
def _sub_select(draw: st.DrawFn, inner: st.SearchStrategy[Pattern]) -> Pattern:
    pattern = draw(inner)
    if draw(st.booleans()):
        keys = draw(st.lists(variables, max_size=1))
        function = draw(st.sampled_from(["COUNT", "MIN", "MAX", "SUM", "AVG"]))
        aggregate = Aggregate(function, draw(variables), draw(st.booleans()))
        return Group(pattern, tuple((v, v) for v in keys), ((Variable("w"), aggregate),))
    names = draw(st.lists(variables, min_size=1, max_size=2, unique=True))
    projected = Project(pattern, tuple(names))
    return Distinct(projected) if draw(st.booleans()) else projected


def patterns(*leaves: st.SearchStrategy[Pattern], plain: bool = False) -> st.SearchStrategy[Pattern]:
    """Patterns over these leaves, of every operator whose answer does not depend on an order.

    The plain ones have no OPTIONAL, EXISTS, BIND or sub-SELECT, and only `=`, `!=`, BOUND and connectives in FILTER.
    """
    conditions = plain_conditions if plain else expressions(bgps)

    def wider(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
        operators: list[st.SearchStrategy[Pattern]] = [
            st.builds(Join, inner, inner),
            st.builds(Union, inner, inner),
            st.builds(Minus, inner, inner),
            st.builds(Filter, conditions, inner),
        ]
        if not plain:
            operators += [
                st.builds(LeftJoin, inner, inner, st.one_of(st.none(), conditions)),
                _bind(inner),
                _sub_select(inner),
            ]
        return st.one_of(operators)

    return st.recursive(st.one_of(*leaves), wider, max_leaves=4)
