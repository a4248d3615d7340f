"""Which patterns of one event are operators in columns, and why the others are not."""

from __future__ import annotations

import pytest

import scepter
from scepter import Event

S = "http://e/s"
HEAD = f"PREFIX : <http://e/> SELECT * WITHIN 5 SLIDING FROM STREAM S <{S}> WHERE {{ SEQ (A) DEFINE GPM A ON S {{ "
EVENTS = [
    Event(S, "<http://e/a> <http://e/p> 1 . <http://e/b> <http://e/p> 2 .", 1),
    Event(S, "<http://e/a> <http://e/p> 3 . <http://e/a> <http://e/q> 4 .", 2),
]


def query(body: str) -> scepter.Query:
    return scepter.parse(HEAD + body + " } }", "spaseq")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("?x :p ?v OPTIONAL { ?x :q ?w }", [(1, "a"), (1, "b"), (2, "a")]),
        ("?x :p ?v MINUS { ?x :q ?w }", [(1, "a"), (1, "b")]),
        ("?x :p ?v MINUS { ?other :q ?w }", [(1, "a"), (1, "b"), (2, "a")]),
        ("{ ?x :p ?v } UNION { ?x :q ?v }", [(1, "a"), (1, "b"), (2, "a"), (2, "a")]),
        ("?x :p ?v VALUES ?x { :b }", [(1, "b")]),
        ("?x :p ?v BIND (?v * 2 AS ?d) FILTER (?d > 2)", [(1, "b"), (2, "a")]),
        ("?x :p ?v { ?x :q ?w FILTER (?w > 3) }", [(2, "a")]),
        ("?x :p ?v OPTIONAL { ?x :q ?w FILTER (?w > ?v) } FILTER (BOUND(?w))", [(2, "a")]),
    ],
)
def test_operators_keep_events_apart(body: str, found: list[tuple[int, str]]) -> None:
    asked = query(body)
    assert "not in columns" not in asked.explain()
    matches = scepter.run_local(asked, EVENTS)
    assert sorted((int(m.start), str(m.bindings["x"])[-2]) for m in matches) == found
    engine = scepter.Engine(asked)
    pushed = [match for event in EVENTS for match in engine.push(event)]
    assert sorted((int(m.start), str(m.bindings["x"])[-2]) for m in [*pushed, *engine.close()]) == found


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("?x :p+ ?v", "a property path needs the exact evaluator"),
        ("?x :p ?v { SELECT ?x { ?x :q ?w } }", "a sub-SELECT needs the exact evaluator"),
        ("?x :p ?v GRAPH ?g { ?x :q ?w }", "GRAPH needs the exact evaluator"),
        ("?x :p ?v FILTER EXISTS { ?x :q ?w }", "EXISTS needs the exact evaluator"),
        ("?x :p ?v BIND (RAND() AS ?r)", "RAND is evaluated anew"),
        ("VALUES ?x { 1 }", "no triple pattern looks at the event itself"),
    ],
)
def test_the_exact_evaluator_has_a_reason(body: str, reason: str) -> None:
    assert f"not all of it: {reason}" in " ".join(query(body).explain().split())
