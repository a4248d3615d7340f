"""Estimates of rows: exact of one pattern over static data, the rarest of patterns that hang together, unknown of streams."""

from __future__ import annotations

import pytest

from scepter.physical.description import OperatorFacts, describe
from scepter.physical.explain import explain
from scepter.rdf.formats import parse_graph
from scepter.runtime.inputs import load_background
from scepter.runtime.options import RunOptions
from scepter.runtime.planning import facts_of, planned
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind

PREFIX = "PREFIX : <http://e/> "
ROOMS = " ".join(f":r{i} :in :f{i % 2} ; a :Room ." for i in range(6))
STATIC = f"@prefix : <http://e/> . {ROOMS} :f0 :level 0 .\n"
SCHEMA = "@prefix : <http://e/> . :temp <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> :feels ."


def operators(text: str, language: str, *, ontology: str = "") -> tuple[OperatorFacts, ...]:
    query = parse(PREFIX + text, language)
    static = load_background(query, {None: STATIC, "http://e/g": STATIC}, None)
    facts = facts_of(RunOptions(), static, tuple(parse_graph(ontology)), TimeKind.INTEGER)
    (unit,) = describe(planned(query.program, facts), language, {"": "http://e/"}).units
    return unit.operators


def known(text: str, language: str, *, ontology: str = "") -> dict[str, int]:
    found = operators(text, language, ontology=ontology)
    return {each.text: each.estimate for each in found if each.estimate is not None}


def test_static_patterns_are_counted_by_their_constants_and_streams_are_unknown() -> None:
    text = "SELECT * WHERE { ?s :temp ?t . ?s :in :f0 . ?s a :Room }"
    assert known(text, "ep-sparql") == {"StaticScan ?s :in :f0": 3, "StaticScan ?s a :Room": 6}


def test_what_no_static_triple_can_match_is_not_looked_for() -> None:
    text = "SELECT * WHERE { ?s :temp ?t . ?s :in :f0 }"
    assert "StaticScan ?s :temp ?t" not in {each.text for each in operators(text, "ep-sparql")}
    entailing = operators(text.replace(":temp", ":feels"), "ep-sparql", ontology=SCHEMA)
    assert "StaticScan ?s :feels ?t" in {each.text for each in entailing}, "what it entails may match"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("GRAPH :g { ?s :in ?f . ?f :level ?l }", 1),
        ("GRAPH :g { ?s :in ?f . ?x a :Room }", 36),
        ("GRAPH :g { ?s :in ?f }", 6),
    ],
)
def test_the_rarest_of_patterns_that_hang_together_counts(pattern: str, expected: int) -> None:
    found = known(f"SELECT * WHERE {{ ?s :temp ?t . {pattern} }}", "ep-sparql")
    assert [estimate for text, estimate in found.items() if text.startswith("StaticScan")] == [expected]


def test_windows_join_the_rarest_static_triples_first() -> None:
    window = "SELECT * FROM NAMED :s WIN [RANGE 10 STEP 1] AS :w WHERE {{ WINDOW :w {{ ?s :temp ?t }} {} }}"
    expected = {"StaticScan ?f :level ?l in the default graph": 1, "Static look-up in the default graph: ?s :in ?f": 1}
    assert known(window.format("?s :in ?f . ?f :level ?l"), "rsep-ql") == expected
    assert known(window.format("?f :level ?l . ?s :in ?f"), "rsep-ql") == expected, "whatever the order that is written"


def test_the_text_shows_them() -> None:
    query = parse(PREFIX + "SELECT * WHERE { ?s :temp ?t . VALUES ?s { :a :b } }", "ep-sparql")
    facts = facts_of(RunOptions(), load_background(query, {None: STATIC}, None), (), TimeKind.INTEGER)
    assert "estimate: 2 rows" in explain(planned(query.program, facts), "ep-sparql")
