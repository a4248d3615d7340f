"""Estimates of rows: exact of one pattern over static data, the rarest of patterns that hang together, unknown of streams."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scepter.algebra.patterns import TriplePattern
from scepter.physical.explain.description import OperatorFacts, describe
from scepter.physical.explain.explain import explain
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


def joined(text: str, language: str, often: dict[str, int], **known: object) -> list[str]:
    """The scans of a plan in the order they are joined, given how often the predicates of a sample occur."""
    query = parse(PREFIX + text, language)

    def seen(triple: TriplePattern) -> int:
        return often[str(triple.predicate.term).removeprefix("<http://e/").removesuffix(">")]  # type: ignore[union-attr]

    static = load_background(query, {None: STATIC}, None)
    facts = replace(facts_of(RunOptions(**known), static, (), TimeKind.INTEGER), seen=seen, sampled=1_000)  # type: ignore[arg-type]
    (unit,) = describe(planned(query.program, facts), language, {"": "http://e/"}).units
    return [each.text.split()[2] for each in unit.operators if each.text.startswith("TripleScan")]


OFTEN = {"load": 500, "speed": 400, "alarm": 1, "other": 2}
TIMED = "SELECT * WHERE { ?s :load ?l . ?s :speed ?v . ?x :other ?y . ?s :alarm ?x }"
WINDOWED = (
    "SELECT * FROM NAMED :s WIN [RANGE 10 STEP 1] AS :w WHERE { WINDOW :w { ?s :load ?l . ?s :speed ?v . ?s :alarm ?a } }"
)
PERIODIC = "SELECT * FROM STREAM :s [RANGE 10 STEP 5] WHERE { ?s :load ?l . ?s :speed ?v . ?s :alarm ?a }"


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        (TIMED, "ep-sparql", [":alarm", ":other", ":speed", ":load"]),
        (WINDOWED, "rsep-ql", [":alarm", ":speed", ":load"]),
        (PERIODIC, "sparkwave", [":alarm", ":speed", ":load"]),
    ],
)
def test_what_a_sample_has_least_of_is_joined_first(text: str, language: str, expected: list[str]) -> None:
    assert joined(text, language, OFTEN) == expected
    cut = text.replace("SELECT *", "SELECT ?s") + " LIMIT 3"
    assert joined(cut, language, OFTEN) == joined(cut, language, dict.fromkeys(OFTEN, 0)), "LIMIT shows the order"


def test_under_a_policy_the_written_order_stays() -> None:
    text = "SELECT * WHERE { { ?s :load ?l . ?s :alarm ?x } SEQ { ?s :speed ?v } }"
    assert joined(text, "ep-sparql", OFTEN) == [":alarm", ":load", ":speed"]
    assert joined(text, "ep-sparql", OFTEN, policy="recent") == [":load", ":alarm", ":speed"]


def test_the_text_shows_them() -> None:
    query = parse(PREFIX + "SELECT * WHERE { ?s :temp ?t . VALUES ?s { :a :b } }", "ep-sparql")
    facts = facts_of(RunOptions(), load_background(query, {None: STATIC}, None), (), TimeKind.INTEGER)
    assert "estimate: 2 rows" in explain(planned(query.program, facts), "ep-sparql")
