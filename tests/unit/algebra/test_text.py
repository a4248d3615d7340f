"""The text form: what it looks like, and what it says about text that is none."""

from __future__ import annotations

import pytest

from scepter.algebra.expressions import Aggregate, And, Call, Compare, Constant, Exists, Expression, In, Not, Or, Variable
from scepter.algebra.patterns import BGP, EMPTY, Extend, Group, LeftJoin, Slice, TriplePattern, Values
from scepter.algebra.query import (
    Construct,
    Counting,
    Iteration,
    Query,
    Scan,
    Select,
    Selection,
    Sequence,
    Sliding,
    Step,
    Stream,
    Tumbling,
)
from scepter.algebra.text import format_node, parse_node
from scepter.errors import QueryError
from scepter.rdf.terms import IRI, LANG_STRING, XSD, BlankNode, Literal
from scepter.timeline import Duration

X, Y, Z = Variable("x"), Variable("y"), Variable("z")
E = "http://example/"


def integer(number: int) -> Constant:
    return Constant(Literal(str(number), XSD + "integer"))


BODY = BGP((TriplePattern(X, Constant(IRI(E + "pow")), Y),))
SCAN = Scan("A", IRI(E + "power"), BODY, (Compare(">", Y, integer(3)), Not(Call("BOUND", (Z,)))))
QUERY = Query(
    Select(((X, None), (Z, Call("STR", (Y,)))), distinct=True),
    (Stream(IRI(E + "power"), "S1"),),
    Sequence((Step(SCAN), Step(Iteration(SCAN, Selection.STRICT, ("y",)), Selection.NEXT))),
    Tumbling(Duration(1_800_000_000)),
    (X,),
)
QUERY_TEXT = """\
PREFIX : <http://example/>
(query
  (select distinct ?x (?z (call "STR" ?y)))
  ((stream :power (alias "S1")))
  (sequence
    (step (scan "A" :power (bgp (triple ?x :pow ?y)) (filters (> ?y 3) (not (call "BOUND" ?z)))))
    (step next
      (iteration
        (scan "A" :power (bgp (triple ?x :pow ?y)) (filters (> ?y 3) (not (call "BOUND" ?z))))
        strict
        "y")))
  (window (tumbling 30min))
  (partition ?x))"""


def test_a_query_reads_like_its_plan() -> None:
    assert format_node(QUERY, {"": E, "unused": "http://unused/"}) == QUERY_TEXT
    assert parse_node(QUERY_TEXT, Query) == QUERY


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (Or(Or(X, Y), Z), "(or ?x ?y ?z)"),
        (Or(X, Or(Y, Z)), "(or ?x (or ?y ?z))"),
        (In(X, (integer(1), integer(2)), negated=True), "(in negated ?x 1 2)"),
        (In(X, ()), "(in ?x)"),
        (Compare("~", X, Y), '(compare "~" ?x ?y)'),
        (Exists(EMPTY), "(exists (bgp))"),
        (Aggregate("COUNT", None, distinct=True), '(aggregate distinct "COUNT" none)'),
        (Aggregate("GROUP_CONCAT", X, separator=", "), '(aggregate "GROUP_CONCAT" ?x (separator ", "))'),
        (LeftJoin(EMPTY, EMPTY, X), "(left-join (bgp) (bgp) (condition ?x))"),
        (Extend(EMPTY, X, Y), "(extend (bgp) ?x ?y)"),
        (Values((X, Y), ((Literal("a"), None), (IRI("u:"), BlankNode("b")))), '(values (?x ?y) ("a" none) (<u:> _:b))'),
        (Values((), ()), "(values ())"),
        (Group(EMPTY, ((X, X),), ((Y, Aggregate("SUM", Z)),)), '(group (bgp) ((?x ?x)) (?y (aggregate "SUM" ?z)))'),
        (Slice(EMPTY, 2, 5), "(slice (bgp) (offset 2) (limit 5))"),
        (Construct((), IRI(E + "out")), "(construct (into <http://example/out>))"),
        (Counting(7), "(counting 7)"),
        (Sliding(Duration(1_500_000)), "(sliding 1500ms)"),
        (Sliding(Duration(100, bare=True)), "(sliding 100 units)"),
        (Constant(Literal("x", LANG_STRING, "en-gb")), '"x"@en-gb'),
        (Constant(Literal("03.0", XSD + "decimal")), "03.0"),
        (Constant(Literal("3", XSD + "decimal")), '"3"^^xsd:decimal'),
        (Constant(Literal("a\n\"b\\")), r'"a\n\"b\\"'),
        (Constant(IRI("http://e/a b>")), r"<http://e/a\u0020b\u003E>"),
        (Variable("_:b0"), "?_:b0"),
        (Variable("two words"), '?"two words"'),
    ],
)  # fmt: skip
def test_forms(node: Expression, text: str) -> None:
    assert format_node(node) == text
    assert parse_node(text) == node


def test_a_list_is_broken_only_when_it_does_not_fit() -> None:
    assert len(fitting := format_node(And(Variable("a" * 45), Variable("b" * 45)))) == 99
    assert "\n" not in fitting
    assert len(format_node(And(Variable("a" * 46), Variable("b" * 45)))) == 100
    assert format_node(Not(And(Variable("a" * 46), Variable("b" * 45)))).startswith("(not\n  (and")


def test_comments_and_layout_do_not_matter() -> None:
    assert parse_node("# a plan\n( and ?x # left\n\t?y)\n") == And(X, Y)


def test_a_long_disjunction_is_no_deep_text() -> None:
    long: Expression = X
    for _ in range(5_000):
        long = Or(long, Y)
    text = format_node(long)
    assert text.startswith("(or ?x ?y ?y")
    assert format_node(parse_node(text)) == text


def test_nesting_within_the_limit_round_trips() -> None:
    deep: Expression = X
    for _ in range(190):
        deep = Not(deep)
    assert parse_node(format_node(deep)) == deep


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", (1, 1), "no node: the text is empty"),
        ("# only a comment", (1, 17), "no node: the text is empty"),
        ("?x ?y", (1, 4), "more than one node"),
        ("(and ?x", (1, 8), "the text ends inside a list"),
        ("(and ?x ?y))", (1, 12), "')' without its '('"),
        ('(call "STR', (1, 7), "a string that does not end"),
        ("(annd ?x ?y)", (1, 2), "no node is called annd"),
        ("(and ?x)", (1, 1), "(and …) needs two operands or more"),
        ("()", (1, 1), "expected a node"),
        ("(not (bgp))", (1, 6), "expected an expression"),
        ("(step\n  (bgp))", (2, 3), "expected an atom of a sequence"),
        ("(step later (bgp))", (1, 7), "expected an atom of a sequence"),
        ("(exists)", (1, 1), "(exists …) lacks its pattern: a graph pattern"),
        ("(ask ?x)", (1, 6), "(ask …) takes nothing here"),
        ("(bgp ?x)", (1, 6), "expected (triple …)"),
        ("(triple ?x ?y (not ?z))", (1, 15), "expected a variable or a term"),
        ("(sliding 30)", (1, 10), "expected a duration such as 30s or 100 units"),
        ("(slice (bgp) (limit 1) (limit 2))", (1, 24), "limit is given twice"),
        ("(slice (bgp) (limit 1 2))", (1, 14), "expected (limit x) where x is an integer or none"),
        ('(iteration (scan "A" <s> (bgp)) next ?x)', (1, 38), "expected a string"),
        ('(iteration (scan "A" <s> (bgp)) soon)', (1, 33), "expected strict or next or any or before"),
        ('(stream "a"@en)', (1, 9), "expected an IRI"),
        ('(scan "a"@en <s> (bgp))', (1, 7), "expected a string, found a literal with a datatype or a language"),
        ("(not :x)", (1, 6), "the prefix : is not declared"),
        ('(not "x"^^t:y)', (1, 6), "the prefix t: is not declared"),
        (r'(not "\q")', (1, 6), r"\q is no escape"),
        (r"PREFIX : <\q> ?x", (1, 11), r"\q is no escape"),
        ("(group (bgp) ((?x)) )", (1, 15), "expected a list of a variable and an expression"),
        ("(" * 5000, (1, 200), "lists nested deeper than 200"),
    ],
)
def test_bad_text_is_refused_at_its_place(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_node(text)
    assert (caught.value.diagnostic.message, (caught.value.line, caught.value.column)) == (message, place)


def test_the_kind_may_be_demanded() -> None:
    with pytest.raises(QueryError, match=r"expected \(query …\)"):
        parse_node("(bgp)", Query)


def test_an_error_renders_with_a_caret_and_a_near_name() -> None:
    with pytest.raises(QueryError) as caught:
        parse_node("PREFIX : <http://e/>\n(sequnce (step :x))", name="plan")
    assert str(caught.value) == (
        "error[algebra-text]: no node is called sequnce\n"
        "  --> plan:2:2\n 2 | (sequnce (step :x))\n   |  ^^^^^^^\nhelp: did you mean sequence?"
    )


def test_what_is_no_node_is_refused() -> None:
    with pytest.raises(TypeError, match="has no place in the algebra"):
        format_node(Not(3.5))  # type: ignore[arg-type]
