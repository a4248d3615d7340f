"""What a query asks not to be there, against the definitions: gaps between two patterns, optional parts that are unbound, in
queries and in rules that feed themselves; and sums and quotients that rules compute."""

from __future__ import annotations

from hypothesis import given, note
from hypothesis import strategies as st

from naive import epsparql as naive
from property.epsparql_strategies import events
from property.test_epsparql_naive import MANY, by_definition, by_engine, in_order, parsed

LEAVES = ("?x :p ?a", "?y :p ?a", "?x :p ?a . ?x :q ?o", "?x :q ?a FILTER (?a > 1)", ":a :p ?a", "?x ?r ?a")
BETWEEN = ("?x :p ?b", "?z :p ?b", "?x :q ?b", "?x :p ?b . ?x :q ?d", ":a :p ?b")
BOUNDS = ("", "&& getDURATION() < 4", "&& getDURATION() > 2", "&& getDURATION() <= 6")


@st.composite
def gaps(draw: st.DrawFn) -> str:
    left, right = draw(st.sampled_from(LEAVES)), draw(st.sampled_from(LEAVES)).replace("?a", "?c").replace("?o", "?e")
    between, bound = draw(st.sampled_from(BETWEEN)), draw(st.sampled_from(BOUNDS))
    shown = draw(st.sampled_from(("*", "?a ?c", "?a ?b")))
    return f"""PREFIX : <http://example/> SELECT {shown} WHERE {{
      {{ {left} }} SEQ {{ {right} }} EQUALSOPTIONAL {{ {{ {left} }} SEQ {{ {between} }} SEQ {{ {right} }} }}
      FILTER (!BOUND(?b) {bound}) }}"""


@st.composite
def unbound(draw: st.DrawFn) -> str:
    left, right = draw(st.sampled_from(LEAVES)), draw(st.sampled_from(BETWEEN))
    operator, bound = draw(st.sampled_from(("OPTIONAL", "EQUALSOPTIONAL", "OPTIONALSEQ"))), draw(st.sampled_from(BOUNDS[:2]))
    sides = (right, left) if operator == "OPTIONALSEQ" else (left, right)
    return f"""PREFIX : <http://example/> SELECT * WHERE {{
      {{ {sides[0]} }} {operator} {{ {sides[1]} }} FILTER (!BOUND(?b) {bound}) }}"""


@st.composite
def averages(draw: st.DrawFn) -> str:
    """The paper's queries (5) and (6), with other patterns, keys and bounds."""
    price, between = draw(st.sampled_from((("?x :p ?v", "?x :p ?b"), (":a :p ?v", ":a :p ?b"), ("?y :p ?v", "?y :q ?b"))))
    key = "; :of ?x" if "?x" in price else ""
    bound, computed = draw(st.integers(2, 6)), draw(st.sampled_from(("?s + ?v", "?s * ?v - 1.5", "?s / ?v", "-?s")))
    point = f"?point :count ?n ; :sum ?s {key}"
    return f"""PREFIX : <http://example/>
      CONSTRUCT {{ _:n :count 1 ; :sum ?v {key} }} WHERE {{ {price} }}
      CONSTRUCT {{ _:n :count ?m ; :sum ?t {key} }} WHERE {{
        {{ {point} }} SEQ {{ {price} }} EQUALSOPTIONAL {{ {{ {point} }} SEQ {{ {between} }} SEQ {{ {price} }} }}
        FILTER (!BOUND(?b) && getDURATION() < {bound}) BIND (?n + 1 AS ?m) BIND ({computed} AS ?t) }}
      SELECT ?n ?s (?s / ?n AS ?mean) WHERE {{
        {{ {price} }} SEQ {{ {point} }} EQUALSOPTIONAL {{ {{ {price} }} SEQ {{ {between} }} SEQ {{ {point} }} }}
        FILTER (!BOUND(?b) && getDURATION() > 1) }}"""


@MANY
@given(st.one_of(gaps(), gaps(), unbound(), averages()), events(12), st.integers(1, 20))
def test_what_is_absent(text: str, stream: list[naive.Event], size: int) -> None:
    query = parsed(text)
    note(text)
    ordered = in_order(stream)
    assert by_engine(query, ordered, size) == by_definition(query, ordered)


TWICE = """PREFIX : <http://example/> SELECT * WHERE {
  { ?x :p ?a . ?x :q ?o } SEQ { ?x :p ?c } EQUALSOPTIONAL { { ?x :p ?a . ?x :q ?o } SEQ { ?x :q ?b } SEQ { ?x :p ?c } }
  FILTER (!BOUND(?b)) }"""
"""Left rows with one mapping and start, and several ends: the first tells where the gap begins."""


def test_the_plan_says_gap_join() -> None:
    assert "GapJoin, by ?x, left BEFORE right" in parsed(TWICE).explain()
    other = TWICE.replace("?x :q ?b", "?c :q ?b")
    assert "GapJoin" not in parsed(other).explain()
    assert "anti-join" in parsed(other).explain()
