"""`explain --analyze`: what each operator did, in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import scepter
from scepter.cli.main import app

PAIR = """PREFIX : <http://e/>
SELECT ?x ?v ?w WITHIN 10 SLIDING FROM STREAM S <http://e/s> WHERE {
  SEQ (A : B) DEFINE GPM A ON S { ?x :p ?v } DEFINE GPM B ON S { ?x :q ?w } }"""
JOIN = """PREFIX : <http://e/>
SELECT ?x ?v ?w FROM STREAM <http://e/s> WHERE { ?x :p ?v . ?x :q ?w FILTER (?w > 1) }"""


def events(count: int) -> list[scepter.Event]:
    texts = [f"<http://e/x> <http://e/{'pq'[t % 2]}> {t} ." for t in range(1, count + 1)]
    return [scepter.Event("http://e/s", text, t) for t, text in enumerate(texts, 1)]


def operators(text: str, language: str, count: int) -> list[dict[str, object]]:
    shown = scepter.parse(text, language).explain("json", analyze=events(count))
    (unit,) = json.loads(shown)["units"]
    found: list[dict[str, object]] = unit["operators"]
    return found


def test_a_sequence_counts_events_matches_and_what_it_kept() -> None:
    *scans, sequence = operators(PAIR, "spaseq", 5)
    assert [scan["work"]["rows_in"] for scan in scans] == [5, 5]  # type: ignore[index]
    assert sequence["work"]["rows_out"] == 3  # type: ignore[index]  # 2 with 3 and 5, 4 with 5
    assert [scan["work"]["rows_out"] for scan in scans] == [2, 3]  # type: ignore[index]
    assert all(scan["work"]["kept_most"] > 0 for scan in scans)  # type: ignore[index]  # until their time comes
    assert sequence["work"]["rows_in"] == 5  # type: ignore[index]
    assert sequence["work"]["cpu"] > 0  # type: ignore[index]


def test_operators_over_rows_count_each_for_itself() -> None:
    found = {each["text"]: each["work"] for each in operators(JOIN, "ep-sparql", 5)}
    assert found["TripleScan ?x :p ?v on :s"]["rows_in"] == 5  # type: ignore[index]
    assert found["TripleScan ?x :p ?v on :s"]["rows_out"] == 2  # type: ignore[index]
    assert found["Answers ?x ?v ?w"]["rows_out"] == 4  # type: ignore[index]  # 3 and 5, each with 2 and 4


def test_nothing_is_told_before_a_run_nor_of_one_without_events() -> None:
    query = scepter.parse(PAIR, "spaseq")
    (unit,) = json.loads(query.explain("json"))["units"]
    assert [each["work"] for each in unit["operators"]] == [None, None, None]
    assert "rows in" not in query.explain(analyze=[])


def test_the_command_runs_the_query(tmp_path: Path) -> None:
    (tmp_path / "q.spaseq").write_text(PAIR)
    (tmp_path / "s.timeline").write_text("PREFIX : <http://e/>\n1 { :x :p 1 }\n3 { :x :q 2 }\n")
    source = f"S={tmp_path / 's.timeline'}"
    shown = CliRunner().invoke(app, ["explain", str(tmp_path / "q.spaseq"), "--analyze", "--stream", source])
    assert shown.exit_code == 0, shown.output
    assert "rows in 2, out 1, kept at most" in shown.output
    assert "MB, the most that this process had" in shown.output
    shown = CliRunner().invoke(app, ["explain", str(tmp_path / "q.spaseq"), "--format", "html"])
    assert shown.exit_code == 2 and "--format html is for --analyze" in shown.output


def test_the_command_takes_rows_and_what_tells_their_times(tmp_path: Path) -> None:
    (tmp_path / "q.spaseq").write_text(PAIR)
    (tmp_path / "m.yml").write_text(
        'prefixes: {e: "http://e/"}\ntime: $(t)\n'
        "mappings: {r: {s: e:x, po: [[e:p, $(a), xsd:integer], [e:q, $(b), xsd:integer]]}}"
    )
    (tmp_path / "s.csv").write_text("t,a,b\n1,1,\n3,,2\n2,1,\n")
    given = ["--stream", f"S={tmp_path / 's.csv'}", "--map", str(tmp_path / "m.yml")]
    for more, row in (([], "rows in 3, out 2"), (["--max-delay", "0"], "rows in 2, out 1")):  # the third is late
        shown = CliRunner().invoke(app, ["explain", str(tmp_path / "q.spaseq"), "--analyze", *given, *more])
        assert shown.exit_code == 0, shown.output
        assert row in shown.output
    shown = CliRunner().invoke(app, ["explain", str(tmp_path / "q.spaseq"), *given[2:]])
    assert shown.exit_code == 2 and "--map is for --analyze" in shown.output


def test_memory_is_that_of_the_columns_kept_at_most() -> None:
    query = scepter.parse(PAIR, "spaseq")
    few, many = (json.loads(query.explain("json", analyze=events(count))) for count in (100, 1000))
    assert many["peak_memory"] >= few["peak_memory"] > 10_000_000
    work = [[each["work"] for each in found["units"][0]["operators"]] for found in (few, many)]
    assert all(each["memory"] > 0 for each in work[0] if each["kept_most"])
    least, most = (max(each["memory"] for each in found) for found in work)
    assert 5 * least < most < 20 * least


def test_a_page_of_what_a_run_did() -> None:
    page = scepter.parse(PAIR, "spaseq").explain("html", analyze=events(5))
    assert "<td>#2 Sequence of 2 steps</td><td>5</td><td>3</td>" in page
    assert "Stages" not in page


@pytest.mark.parametrize("option", ["--stream", "--background", "--policy", "--time-unit", "--engine", "--master"])
def test_what_only_a_run_takes_needs_analyze(tmp_path: Path, option: str) -> None:
    (tmp_path / "q.spaseq").write_text(PAIR)
    shown = CliRunner().invoke(app, ["explain", str(tmp_path / "q.spaseq"), option, "x=y"])
    assert isinstance(shown.exception, scepter.ScepterError) or shown.exit_code != 0
