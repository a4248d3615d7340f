"""Queries that cannot be planned: `explain` tells the construct and the rule, and the run is refused with its place."""

from __future__ import annotations

import pytest

import scepter
from scepter.errors import QueryError
from scepter.physical.explain.explain import explain
from scepter.physical.facts import Facts
from scepter.physical.nodes.nodes import nodes
from scepter.physical.nodes.window_nodes import WindowSnapshot
from scepter.physical.planning.planner import plan
from scepter.rdf.formats import parse_graph
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind

SCHEMA = "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :A rdfs:subClassOf :B ."
RSEPQL = "SELECT ?s FROM NAMED WINDOW :w ON :a {} WHERE {{ WINDOW :w {{ ?s :p ?o }} }}"
SPARKWAVE = "SELECT ?s FROM STREAM :a {} WHERE {{ ?s :p ?o }}"


@pytest.mark.parametrize(
    ("language", "text", "facts", "message", "rule"),
    [
        ("rsep-ql", RSEPQL.format("[RANGE 1ms STEP 1ms]"), Facts(TimeKind.INTEGER, time_unit="s"), "1 ms", "rule 1 of RSEP-QL"),
        (
            "rsep-ql", RSEPQL.format("[LND 2026-01-01T00:00:00Z]"), Facts(TimeKind.INTEGER),
            "the landmark is a dateTime", "rule 1 of RSEP-QL",
        ),
        (
            "rsep-ql", RSEPQL.format("[TRIPLES 3]"), Facts(TimeKind.INTEGER, ontology=tuple(parse_graph(SCHEMA))),
            "a window of the last n triples", "rule 1 of RSEP-QL",
        ),
        ("sparkwave", SPARKWAVE.format("[RANGE 1ms]"), Facts(TimeKind.INTEGER, time_unit="s"), "1 ms", "rule 1 of Sparkwave"),
        (
            "sparkwave", SPARKWAVE.format("[RANGE 1ms STEP 1ms]"), Facts(TimeKind.INTEGER, time_unit="s"),
            "1 ms", "rule 2 of Sparkwave",
        ),
    ],
)  # fmt: skip
def test_explain_names_the_construct_and_the_rule(language: str, text: str, facts: Facts, message: str, rule: str) -> None:
    query = parse(f"PREFIX : <http://e/> {text}", language)
    shown = " ".join(explain(plan(query.program, facts), language).split())
    assert f"Refused: {message}" in shown
    assert rule in shown


def test_the_run_is_refused_with_the_place_and_the_rule() -> None:
    query = parse("PREFIX : <http://e/> " + SPARKWAVE.format("[RANGE 1ms]"), "sparkwave")
    engine = scepter.Engine(query, time_unit="s")
    with pytest.raises(QueryError) as caught:
        engine.push(scepter.Event("http://e/a", ":a :p 1 .", 1, prefixes={"": "http://e/"}))
    assert caught.value.diagnostic.code == "duration"
    assert caught.value.diagnostic.span is not None
    assert "rule 1 of Sparkwave" in str(caught.value)


def test_a_duration_that_the_assumed_time_line_does_not_have_is_told_and_no_crash() -> None:
    text = "SELECT ?s FROM STREAM :a [RANGE 10] FROM STREAM :b [RANGE 10us] WHERE { ?s :p ?o }"
    shown = parse(f"PREFIX : <http://e/> {text}", "sparkwave").explain()
    assert "Refused: 10 us is no whole number of time units" in shown
    assert "it is refused before it runs" in shown


WHOLE = "a property path that may have no step, or names no predicates, looks at the window as a whole"
PATH = """PREFIX : <http://e/> SELECT ?s FROM STREAM <http://e/s> [RANGE 10 STEP 5]
    WHERE { ?s :in ?room . ?room %s }"""


@pytest.mark.parametrize(
    ("path", "schema", "why"),
    [
        (":part+ :b", False, "a property path is followed term by term"),
        (":part+ ?b", False, "a property path between two variables is followed from the terms that are bound"),
        (":part* :b", False, WHOLE),
        ("(!:part)+ :b", False, WHOLE),
        (":part+ :b", True, "a property path under a schema looks at the window as a whole"),
    ],
)
def test_a_path_alone_is_followed_term_by_term_where_its_pairs_are_few(path: str, schema: bool, why: str) -> None:
    ontology = tuple(parse_graph("<a:A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <a:B> .")) if schema else ()
    (unit,) = plan(parse(PATH % path, "sparkwave").program, Facts(TimeKind.INTEGER, ontology=ontology)).units
    (snapshot,) = [node for node in nodes(unit.root) if isinstance(node, WindowSnapshot)]
    assert snapshot.exact == why
    assert snapshot.part is ("term by term" in why)


@pytest.mark.parametrize("graph", ["?x :part+ :b", "GRAPH :g { ?x :part+ :b }"])
def test_a_path_over_static_data_alone_is_followed_with_its_pattern(graph: str) -> None:
    text = f"""PREFIX : <http://e/> SELECT ?x FROM NAMED :s WIN [RANGE 3 STEP 1] AS :w
        WHERE {{ WINDOW :w {{ ?x :a ?v }} {graph} }}"""
    static = "<http://e/x> <http://e/part> <http://e/y> .\n<http://e/y> <http://e/part> <http://e/b> .\n"
    engine = scepter.Engine(parse(text, "rsep-ql"), background={"http://e/g" if "GRAPH" in graph else None: static})
    found = engine.push(scepter.Event("http://e/s", "<http://e/x> <http://e/a> 1 .", 1))
    assert [str(match.bindings["x"]) for match in [*found, *engine.close()]] == ["<http://e/x>"]
