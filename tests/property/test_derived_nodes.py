"""What rules derive of a new blank node, against the definitions: nodes with some of their predicates, told by one rule or by
several, beside nodes of the stream and static ones, asked for whole or in part; and rules that carry them on."""

from __future__ import annotations

from hypothesis import given, note
from hypothesis import strategies as st

from naive import epsparql as naive
from property.epsparql_strategies import events, iri, statics
from property.test_epsparql_naive import MANY, by_definition, by_engine, in_order, parsed
from scepter.rdf.terms import Triple

FIRST = (
    "CONSTRUCT { _:n :s ?v ; :q 1 } WHERE { ?x :p ?v }",
    "CONSTRUCT { _:n :q ?v ; :r ?x } WHERE { ?x :p ?v }",
    "CONSTRUCT { _:n :r ?v ; :q ?w } WHERE { { ?x :p ?v } OPTIONAL { ?x :q ?w } }",
    "CONSTRUCT { _:n :q ?v . _:m :r ?v } WHERE { ?x :p ?v }",
    "CONSTRUCT { _:n :q ?v . ?x :r ?v } WHERE { ?x :p ?v }",
    "CONSTRUCT { _:n :q ?v , 2 ; :r _:n } WHERE { ?x :p ?v }",
)
THEN = (
    "CONSTRUCT { ?n :r ?w } WHERE { { ?n :q ?v } SEQ { ?x :p ?w } }",
    "CONSTRUCT { _:n :q ?v ; :r ?w } WHERE { { ?n :q ?v ; :r ?w } SEQ { ?x :p ?v } FILTER (getDURATION() < 6) }",
    "CONSTRUCT { _:n :q ?t ; :r ?w } WHERE "
    "{ { ?n :q ?v ; :r ?w } SEQ { ?x :p ?u } FILTER (getDURATION() < 5) BIND (?v + ?u AS ?t) }",
    "CONSTRUCT { _:n :q ?v ; :r ?x } WHERE { { ?n :q ?v ; :r ?x } SEQ { ?x :p ?u } FILTER (?u > 1 && getDURATION() < 6) }",
)
ASKED = ("?n :q ?v ; :r ?w", "?n :q ?v", "?n :q 1 ; :r ?v", "?n :q ?v ; :r ?v", "?n :s ?u ; :q ?v", "?n ?k ?v ; :r ?w")
AFTER = ("", "SEQ { ?y :p ?z }", "OPTIONAL { ?y :p ?w }")


@st.composite
def programs(draw: st.DrawFn) -> str:
    rules = [draw(st.sampled_from(FIRST)), *draw(st.lists(st.sampled_from(THEN), max_size=2, unique=True))]
    asked, after = draw(st.sampled_from(ASKED)), draw(st.sampled_from(AFTER))
    body = f"{{ {asked} }} {after}" if after else asked
    names = [name for name in ("?u", "?v", "?w", "?z") if name in body]  # blank nodes have names of their own
    return "\n".join(("PREFIX : <http://example/>", *rules, f"SELECT {' '.join(names)} WHERE {{ {body} }}"))


@MANY
@given(programs(), events(), statics, st.integers(1, 10))
def test_derived_nodes(text: str, stream: list[naive.Event], static: list[Triple], size: int) -> None:
    query = parsed(text)
    note(text)
    ordered = in_order(stream)
    if "_:n :q ?" in text and "SEQ { ?x :p" in text:  # what is static comes after every node, without end
        static = [triple for triple in static if triple.predicate != iri("p")]
    assert by_engine(query, ordered, size, static=static) == by_definition(query, ordered, static)


def test_the_plan_says_where_nodes_are_rows() -> None:
    def explained(*rules: str) -> str:
        return parsed("\n".join(("PREFIX : <http://example/>", *rules, f"SELECT ?v ?w WHERE {{ {ASKED[0]} }}"))).explain()

    assert "Derive once: the CONSTRUCT at line 2, nodes with :q, :r" in explained(FIRST[1])
    assert "Picked ?n :q ?v . ?n :r ?w" in explained(FIRST[1])
    assert "nodes" not in explained(FIRST[4])
    # What another rule says of the node has to be joined with it.
    assert "Picked ?n :q ?v . ?n :r ?w" not in explained(FIRST[1], THEN[0])
