"""The plans of units that are trees of operators: the text of some is pinned, every golden case is shown in every format."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from scepter.physical.explain.explain import explain
from scepter.physical.facts import Facts
from scepter.physical.planning.planner import plan
from scepter.rdf.formats import parse_graph
from scepter.rdf.terms import Triple
from scepter.runtime.queries import Query, parse

ROOT = Path(__file__).parents[4]
FIXTURES = ROOT / "tests" / "fixtures" / "explain"
SVG = "{http://www.w3.org/2000/svg}"
LANGUAGES = {"ep-sparql": "epsparql", "obep": "obep", "rsep-ql": "rsepql", "sparkwave": "sparkwave"}
QUERIES = sorted((path for ending in LANGUAGES.values() for path in FIXTURES.glob(f"*.{ending}")), key=lambda path: path.name)


def explained(text: str, format: str, language: str | None = None) -> str:
    return parse(text, language).explain(format)


def with_ontology(query: Query, ontology: list[Triple], format: str) -> str:
    made = plan(query.program, Facts(ontology=tuple(ontology)))
    return explain(made, query.language, format, dict(query.lowered.prefixes))


def valid_cases() -> list[Any]:
    found = []
    for language in LANGUAGES:
        for path in sorted((ROOT / "cases" / language).glob("*.case.yaml")):
            case = yaml.safe_load(path.read_text())
            if "expect-error" not in case:
                found.append(pytest.param(case["query"], language, id=f"{language}-{path.name}"))
    return found


VALID = valid_cases()


def test_there_are_cases_of_every_language() -> None:
    assert len(VALID) > 80
    assert {case.values[1] for case in VALID} == set(LANGUAGES)
    assert {path.suffix[1:] for path in QUERIES} == set(LANGUAGES.values())


@pytest.mark.parametrize("query", QUERIES, ids=lambda path: path.name)
def test_text_is_pinned(query: Path, update_fixtures: bool) -> None:
    text = explained(query.read_text(), "text") + "\n"
    expected = query.with_suffix(".txt")
    if update_fixtures:
        expected.write_text(text)
    assert text == expected.read_text()


@pytest.mark.parametrize(("text", "language"), VALID)
def test_every_case_has_a_plan_in_every_format(text: str, language: str) -> None:
    plan = json.loads(explained(text, "json", language))
    assert set(plan) == {"schema", "language", "time", "assumed", "peak_memory", "stages", "units"}
    unit, *others = plan["units"]
    for each in plan["units"]:
        assert any(note.startswith("partitioning: ") for note in each["notes"])
        assert len(list(walked(each["tree"]))) > 1, "a plan has more than its result"
    if others:  # several queries are drawn one beside the other
        return
    nodes = list(walked(unit["tree"]))
    check_text(explained(text, "text", language), unit, nodes)
    if unit["automaton"] is None:  # else the automaton is drawn
        check_mermaid(explained(text, "mermaid", language), len(nodes))
        check_picture(explained(text, "svg", language), len(nodes))


def walked(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from walked(child)


def check_text(shown: str, unit: dict[str, Any], nodes: list[dict[str, Any]]) -> None:
    assert max(map(len, shown.splitlines())) <= 100
    assert not re.search(r"\?_:|_:match|_:\d|_:q\d", shown), "generated names say nothing to the user"
    assert all(f"<{stream['iri']}>" in shown for stream in unit["streams"])
    flat = re.sub(r"[\s│├└─]+", " ", shown)
    for node in nodes:
        for text in (node["label"], *node["details"]):
            assert re.sub(r"\s+", " ", text) in flat


def check_mermaid(shown: str, nodes: int) -> None:
    lines = shown.splitlines()
    assert lines[0] == "flowchart TD"
    boxes = [m for line in lines if (m := re.fullmatch(r'\s+(q1n\d+)\["([^"]*)"\]', line))]
    links = [m for line in lines if (m := re.fullmatch(r"\s+(q1n\d+) --- (q1n\d+)", line))]
    assert len(boxes) == nodes
    assert {m[2] for m in links} == {m[1] for m in boxes} - {"q1n0"}
    assert all(not re.search(r"[<>`{}|\[\]]", m[2].replace("<br/>", "")) for m in boxes)


def check_picture(shown: str, nodes: int) -> None:
    root = ElementTree.fromstring(shown)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    places = [
        tuple(float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        for box in root.iter(f"{SVG}rect")
        if box.get("class") == "state"
    ]
    assert len(places) == nodes
    for (_, y, _, h), (_, below, _, _) in pairwise(places):
        assert y + h < below, "two boxes overlap"
    assert all(x + w <= width and y + h <= height for x, y, w, h in places)
    assert all(0 <= float(text.attrib["y"]) <= height for text in root.iter(f"{SVG}text"))
    lines = [tuple(map(float, re.findall(r"[\d.]+", p.attrib["d"]))) for p in root.iter(f"{SVG}path") if p.get("class")]
    assert len(lines) == nodes - 1
    for x, top, _, bottom, _, _ in lines:
        for left, y, w, h in places:
            assert not (left < x < left + w and top < y + h and y < bottom), "a line runs through a box"


def tree_of(text: str, language: str) -> tuple[list[dict[str, Any]], list[str]]:
    query = parse(f"PREFIX : <http://e/> {text}", language)
    shown = explain(plan(query.program, Facts()), language, "json", dict(query.lowered.prefixes))
    (unit,) = json.loads(shown)["units"]
    return list(walked(unit["tree"])), unit["notes"]


@pytest.mark.parametrize(
    ("filters", "operator", "details"),
    [
        ("", "Sequence", ["planned as a sequence: a chain of SEQ over single triple patterns"]),
        ("FILTER (getDURATION() < 5)", "Sequence", [
            "planned as a sequence: a chain of SEQ over single triple patterns", "solutions shorter than 5 time units"]),
        ("FILTER (getSTARTTIME() > 5)", "Answers", []),
        ("FILTER (RAND() > 0.5 && getSTARTTIME() > 5)", "Answers", []),
    ],
)  # fmt: skip
def test_a_chain_of_seq_is_a_sequence(filters: str, operator: str, details: list[str]) -> None:
    text = f"PREFIX : <http://e/> SELECT ?a WHERE {{ {{ ?a :p ?x }} SEQ {{ ?a :q ?y }} {filters} }}"
    (unit,) = json.loads(explained(text, "json", "ep-sparql"))["units"]
    root = unit["operators"][-1]
    assert (root["operator"], root["details"]) == (operator, details)
    assert unit["columns"] is True


def test_groups_over_a_window_tell_their_keys_and_extent() -> None:
    nodes, notes = tree_of("SELECT ?a (SUM(?x) AS ?sum) { ?a :p ?x } WINDOW [ROWS 3] GROUP BY ?a", "ep-sparql")
    labels = [node["label"] for node in nodes]
    assert "#2 TimeGroup by ?a: SUM(?x) over the last 3 rows" in labels
    assert "columns: all of it" in notes


def test_bounds_reach_what_the_operators_bound_and_nothing_else() -> None:
    nodes, _ = tree_of(
        """SELECT ?a WHERE {
          { { { ?a :low ?x } OPTIONALSEQ { ?a :p ?y } } SEQ { ?a :q ?z } FILTER (getDURATION() < 9) }
          FILTER (2 * getDURATION() <= 10) }""",
        "ep-sparql",
    )
    joins = [node["label"].split(" ", 1)[1] for node in nodes if "TimeJoin" in node["label"]]
    assert joins == [
        "TimeJoin, join, by ?a, left BEFORE right, within 5", "TimeJoin, left outer join, by ?a, left AFTER right, within 5",
    ]  # fmt: skip


def test_the_condition_of_an_optional_side_is_told() -> None:
    nodes, _ = tree_of("SELECT ?a WHERE { { ?a :p ?x FILTER (?x > 1) } OPTIONALSEQ { ?a :q ?y } }", "ep-sparql")
    assert any(node["label"].endswith("left outer join, by ?a, left AFTER right, if ?x > 1") for node in nodes)


def test_an_event_beyond_rules_says_which_reasoner_serves_it_and_why() -> None:
    nodes, notes = tree_of(
        "EVENT A AS (C and not D) EVENT B AS C EVENT Idle AS D EVENT X MATCH A SEQ B EVENT Y MATCH FIRST X "
        "RETURN X, Y AS EVENT STREAM",
        "obep",
    )
    said = {node["label"].partition(" ")[2]: node["details"] for node in nodes}
    assert said["Recognise :A"][0] == ":C and not :D" and said["Recognise :A"][1].startswith("recognised by HermiT (")
    assert said["Recognise :B"] == [":C", "recognised by rules", ":B(x) if :C(x)"]
    assert {"Composite :X", "First, with no other one wholly before"} <= said.keys()
    assert "not used: :Idle" in notes


def test_sparkwave_says_what_its_patterns_use_of_the_schema() -> None:
    head = "SELECT ?x FROM STREAM <http://e/s> [RANGE 5s]"
    _, notes = tree_of(f"{head} WHERE {{ ?x a :C ; :p ?y . ?y a ?z }}", "sparkwave")
    assert "schema: reduced before the run to what the patterns use: :C, :p, every class" in notes
    _, notes = tree_of(f"{head} WHERE {{ ?x ?p ?y }}", "sparkwave")
    assert "schema: all of it is used, as a pattern can match any predicate" in notes


@pytest.mark.parametrize(
    ("window", "where", "operators"),
    [
        ("[RANGE 5s]", "?x :p ?y . ?y :q ?z FILTER (?z > 1)", ["TripleStar"]),
        ("[RANGE 5s]", "?x :p ?y . GRAPH :g { ?y :q ?z }", ["TripleStar"]),
        ("[RANGE TRIPLES 5]", "?x :p ?y", ["TripleStar"]),
        ("[RANGE 5s]", "?x :p ?y OPTIONAL { ?y :q ?z }", ["TripleStar", "TripleStar", "TimeJoin"]),
        ("[RANGE 5s]", "{ ?x :p ?y } UNION { ?x :q ?y }", ["TripleStar", "TripleStar", "Union", "MatchedOnce"]),
        ("[RANGE 5s]", "?x :p ?y FILTER EXISTS { ?y :q ?z }", ["TripleStar", "TripleStar", "TimeJoin"]),
        ("[RANGE 5s]", "?x :p ?y FILTER (timestamp(?x, :p, ?y) > 3)", ["TripleStar", "Filter"]),
        ("[RANGE 5s]", "GRAPH :g { ?x :q ?z }", ["StaticScan"]),
        ("[RANGE 5s]", " . ".join(f"?x :p{i} ?y{i}" for i in range(65)), ["TripleStar", "TripleStar", "TimeJoin"]),
    ],
)
def test_sparkwave_joins_are_stars_and_time_joins(window: str, where: str, operators: list[str]) -> None:
    text = f"PREFIX : <http://e/> SELECT ?x FROM STREAM <http://e/s> {window} WHERE {{ {where} }}"
    (unit,) = json.loads(explained(text, "json", "sparkwave"))["units"]
    beside = {"OccurrenceScan", "Occurrences", "Project", "Rename", "Answers"}
    assert [each["operator"] for each in unit["operators"] if each["operator"] not in beside] == operators
    assert not any(each["exact"] for each in unit["operators"])


def test_the_network_of_the_schema_is_drawn_as_given_and_reduced() -> None:
    query = parse("PREFIX : <http://e/>\nSELECT ?x FROM STREAM <http://e/s> [RANGE 5s] WHERE { ?x a :Target }", "sparkwave")
    many = "".join(f":K{i} rdfs:subClassOf :Other . " for i in range(20))
    schema = parse_graph(
        "PREFIX : <http://e/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
        ":A rdfs:subClassOf :Target . :B rdfs:subClassOf :A . :p rdfs:domain :B . "
        ":L rdfs:subClassOf :M . :M rdfs:subClassOf :L ." + many
    )
    text = with_ontology(query, schema, "text")
    given, reduced = text.split("Schema as given")[1].split("Schema reduced")
    assert "26 classes, 1 properties, 25 links" in " ".join(given.split())
    assert "… 12 more" in given and "◂ subClassOf :L" in given
    assert "3 classes, 1 properties, 3 links" in reduced
    assert [line.strip(" │├└─") for line in reduced.splitlines() if ":" in line and "classes" not in line] == [
        ":Target", "◂ subClassOf :A", "◂ subClassOf :B", "◂ domain :p",
    ]  # fmt: skip


def test_text_that_is_no_xml_is_drawn_all_the_same() -> None:
    text = """SELECT ?x FROM STREAM <http://e/s> [RANGE 5s] WHERE { ?x <http://e/p> ?y
      FILTER (?y != "<b>&amp;\\"']]>\\u0001\\uFFFF株式会社") }"""
    root = ElementTree.fromstring(explained(text, "svg", "sparkwave"))
    assert any("<b>&amp;" in (t.text or "") for t in root.iter(f"{SVG}text"))


def test_a_long_chain_is_no_deep_tree() -> None:
    parts = " UNION ".join(f"{{ ?x <http://e/p{n}> ?y }}" for n in range(60))
    text = f"SELECT ?x FROM STREAM <http://e/s> [RANGE 5s] WHERE {{ {parts} }}"
    (unit,) = json.loads(explained(text, "json", "sparkwave"))["units"]
    inputs = [each["inputs"] for each in unit["operators"]]
    depth: list[int] = []
    for below in inputs:
        depth.append(1 + max((depth[i] for i in below), default=0))
    assert max(depth) < 32


@pytest.mark.parametrize("query", [path for path in QUERIES if path.stem != "chain"], ids=lambda path: path.name)
def test_explaining_loads_neither_numba_nor_arrow_nor_spark(query: Path) -> None:
    program = """
import sys
from scepter.runtime.queries import parse
parse(sys.stdin.read()).explain("svg")
print([m for m in ("numba", "numpy", "pyarrow", "pyspark", "pandas") if m in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", program], input=query.read_text(), capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_ontology_of_the_run_shows_in_reasoners_and_rules() -> None:
    query = parse("PREFIX : <http://e/>\nEVENT A AS C\nRETURN A AS RDF STREAM", "obep")
    schema = parse_graph(
        "PREFIX : <http://e/> PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
        ":D rdfs:subClassOf :C ; owl:disjointWith :E . :p a owl:FunctionalProperty ."
    )
    (unit,) = json.loads(with_ontology(query, schema, "json"))["units"]
    once, contradictions = unit["tree"]["children"]
    assert once["children"][0]["details"] == [":C", "recognised by rules", ":A(x) if :C(x)", ":C(x) if :D(x)"]
    assert contradictions["details"] == ["contradiction(x) if :D(x), :E(x)"]
    (note,) = (note for note in unit["notes"] if note.startswith("reasoners: "))
    assert note.endswith("HermiT serves all events of items on which these can bear: functional property :p")
