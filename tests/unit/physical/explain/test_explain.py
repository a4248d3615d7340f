"""The plan in every format; the text is pinned, the others are read back."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from scepter.errors import OptionError
from scepter.runtime.queries import parse

ROOT = Path(__file__).parents[4]
FIXTURES = ROOT / "tests" / "fixtures" / "explain"
QUERIES = sorted(FIXTURES.glob("*.spaseq"), key=lambda path: path.name)
CASES = sorted((ROOT / "cases" / "spaseq").glob("*.case.yaml"), key=lambda path: path.name)
SVG = "{http://www.w3.org/2000/svg}"


def explained(text: str, format: str) -> str:
    return parse(text, "spaseq").explain(format)


def valid_cases() -> list[tuple[str, str]]:
    loaded = ((path.name, yaml.safe_load(path.read_text())) for path in CASES)
    return [(name, case["query"]) for name, case in loaded if "expect-error" not in case]


VALID = valid_cases()


@pytest.mark.parametrize("query", QUERIES, ids=lambda path: path.stem)
def test_text_is_pinned(query: Path, update_fixtures: bool) -> None:
    text = explained(query.read_text(), "text") + "\n"
    expected = query.with_suffix(".txt")
    if update_fixtures:
        expected.write_text(text)
    assert text == expected.read_text()


@pytest.mark.parametrize("query", QUERIES, ids=lambda path: path.stem)
def test_text_fits_into_a_hundred_columns(query: Path) -> None:
    assert max(map(len, explained(query.read_text(), "text").splitlines())) <= 102  # the algebra is indented by two


def test_there_are_cases_to_draw() -> None:
    assert len(VALID) > 40


@pytest.mark.parametrize("text", [text for _, text in VALID], ids=[name for name, _ in VALID])
def test_every_case_is_drawn_as_one_well_formed_picture(text: str) -> None:
    root = ElementTree.fromstring(explained(text, "svg"))
    assert root.tag == f"{SVG}svg"
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = [r for r in root.iter(f"{SVG}rect") if r.get("class") in ("state", "end")]
    labels = [t.text for t in root.iter(f"{SVG}text")]
    assert {"start", "match"} <= set(labels)
    for box in boxes:
        left, right = float(box.attrib["x"]), float(box.attrib["x"]) + float(box.attrib["width"])
        assert left >= 0
        assert right <= width
    assert all(0 <= float(t.attrib["y"]) <= height for t in root.iter(f"{SVG}text"))


@pytest.mark.parametrize("query", QUERIES, ids=lambda path: path.stem)
def test_no_text_of_a_transition_lies_on_another(query: Path) -> None:
    root = ElementTree.fromstring(explained(query.read_text(), "svg"))
    for group in root.iter(f"{SVG}g"):
        papers = [r for r in group.iter(f"{SVG}rect") if r.get("class") in ("paper", "state")]
        places = [tuple(float(r.attrib[k]) for k in ("x", "y", "width", "height")) for r in papers]
        for i, (x, y, w, h) in enumerate(places):
            for u, v, a, b in places[:i]:
                assert x + w <= u or u + a <= x or y + h <= v or v + b <= y, "two texts overlap"


@pytest.mark.parametrize("text", [text for _, text in VALID], ids=[name for name, _ in VALID])
def test_every_case_gives_json_of_one_schema(text: str) -> None:
    plan = json.loads(explained(text, "json"))
    assert plan["schema"] == "scepter-explain/2"
    assert set(plan) == {"schema", "language", "time", "assumed", "peak_memory", "stages", "units"}
    for query in plan["units"]:
        assert set(query) == {
            "number", "title", "streams", "notes", "columns", "predicates", "operators", "tree", "partitioning", "automaton",
            "warnings", "algebra",
        }  # fmt: skip
        states = {state["id"] for state in query["automaton"]["states"]}
        for transition in query["automaton"]["transitions"]:
            assert {transition["source"], transition["target"]} <= states
            assert transition["kind"] in ("begin", "follow", "repeat", "complete")
            assert transition["selection"] in ("strict", "next", "any", None)
        assert query["partitioning"]["kind"] in ("key", "tumbling", "slices", "grid", "one")
        *leaves, sequence = query["operators"]
        assert sequence["operator"] == "Sequence"
        assert sequence["inputs"] == [leaf["id"] for leaf in leaves]
        scans = [leaf for leaf in leaves if leaf["operator"] != "EventTicks"]
        assert all(scan["operator"] == "GraphScan" for scan in scans)
        assert query["columns"] is not any(scan["exact"] for scan in scans)


@pytest.mark.parametrize("query", QUERIES, ids=lambda path: path.stem)
def test_mermaid_has_a_node_per_state_and_quotes_every_text(query: Path) -> None:
    lines = explained(query.read_text(), "mermaid").splitlines()
    assert lines[0] == "flowchart LR"
    nodes = {m.group(1) for line in lines if (m := re.match(r"\s+(q\d+s\d+)[\[(]", line))}
    edges = [m for line in lines if (m := re.fullmatch(r'\s+(q\d+s\d+) -->\|"([^"]*)"\| (q\d+s\d+)', line))]
    assert len(edges) == sum("-->" in line for line in lines)
    assert {end for edge in edges for end in (edge.group(1), edge.group(3))} == nodes
    assert all(not re.search(r'[<>"`{}|]', edge.group(2).replace("<br/>", "")) for edge in edges)


@pytest.mark.parametrize(("format", "advice"), [("json5", "did you mean json?"), ("dot", "text, mermaid, json, svg")])
def test_an_unknown_format_lists_the_known_ones(format: str, advice: str) -> None:
    with pytest.raises(OptionError, match="cannot be shown") as caught:
        explained(QUERIES[0].read_text(), format)
    assert caught.value.code == "unknown-format"
    assert advice in str(caught.value)


def test_text_that_is_no_xml_is_drawn_all_the_same() -> None:
    text = """PREFIX : <http://e/> SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE {
      SEQ (A; B)
      DEFINE GPM A ON S { ?x :p ?y FILTER (?y < 3 && ?y != "<b>&amp;\\"']]>\\u0001\\uFFFF") }
      DEFINE GPM B ON S { ?x :q "株式会社" } }"""
    root = ElementTree.fromstring(explained(text, "svg"))
    assert any("<b>&amp;" in (t.text or "") for t in root.iter(f"{SVG}text"))
    assert json.loads(explained(text, "json"))


def test_many_optional_parts_are_one_state_each() -> None:
    parts = "; ".join(f"P{n}?" for n in range(7))
    definitions = " ".join(f"DEFINE GPM P{n} ON S {{ ?x :p{n} ?v{n} }}" for n in range(7))
    text = f"""PREFIX : <http://e/> SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE {{
      SEQ (A; {parts}; Z) DEFINE GPM A ON S {{ ?x :a 1 }} DEFINE GPM Z ON S {{ ?x :z 1 }} {definitions} }}"""
    (query,) = json.loads(explained(text, "json"))["units"]
    assert len(query["automaton"]["states"]) == 11
    assert len(query["automaton"]["transitions"]) == 1 + 8 * 9 // 2 + 1
    ElementTree.fromstring(explained(text, "svg"))


def test_explaining_loads_neither_numba_nor_arrow_nor_spark() -> None:
    program = """
import sys
from scepter.runtime.queries import parse
parse(sys.stdin.read(), "spaseq").explain("svg")
print([m for m in ("numba", "numpy", "pyarrow", "pyspark", "pandas") if m in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], input=QUERIES[0].read_text(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
