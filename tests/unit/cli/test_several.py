"""Several queries in one run: each row says which it answers, and it is what the query answers alone."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import scepter
from scepter.cli.main import app

EX = "http://example/"
FALL = """PREFIX : <http://example/>
SELECT ?c ?q WITHIN 10 SLIDING FROM STREAM S <http://example/s>
WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?c :price ?p } DEFINE GPM B ON S { ?c :price ?q FILTER (?q < ?p) } }"""
RISE = """PREFIX : <http://example/>
SELECT ?c ?p WHERE { { ?c :price ?p } SEQ { ?c :price ?q } FILTER (?q > ?p && getDURATION() < 10) }"""
RULES = """PREFIX : <http://example/>
CONSTRUCT { ?c a :Dear } WHERE { ?c :price ?p FILTER (?p > 9) }
SELECT ?c WHERE { ?c a :Dear }
ASK { ?c a :Dear }"""
ROOMS = """PREFIX : <http://example/>
EVENT Priced AS (price some Thing)"""
TWICE = """PREFIX : <http://example/>
EVENT Twice MATCH Priced AS P SEQ Priced AS Q WITHIN 2
RETURN Twice AS EVENT STREAM
RETURN Priced AS RDF STREAM"""
QUERIES = {"fall.spaseq": FALL, "rise.epsparql": RISE, "rules.epsparql": RULES, "twice.obep": TWICE}
PRICES = [(1, 10), (2, 5), (3, 12)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {**QUERIES, "rooms.obep": ROOMS}.items():
        (tmp_path / name).write_text(text)
    number = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    lines = [f'<{EX}ACME> <{EX}price> "{price}"{number} "{time}"{number} .\n' for time, price in PRICES]
    (tmp_path / "s.nq").write_text("".join(lines))
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    queries = [str(folder / a) if a in QUERIES else a for a in arguments]
    given = ["run", *queries, "--engine", "local", "--stream", f"{EX}s={folder}/s.nq"]
    if any(a.endswith("twice.obep") for a in arguments):
        given += ["--define", str(folder / "rooms.obep")]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_each_answers_as_it_does_alone(folder: Path) -> None:
    together = rows(run(folder, *QUERIES))
    for name in QUERIES:
        alone = rows(run(folder, name))
        stem = name.partition(".")[0]
        mine = [row for row in together if str(row["query"]).partition("#")[0] == stem]
        assert [{**row, "query": None} for row in mine] == [{**row, "query": None} for row in alone], name


def test_queries_of_one_file_are_told_by_their_numbers(folder: Path) -> None:
    assert {row["query"] for row in rows(run(folder, "rules.epsparql"))} == {1, 2}


def test_one_query_says_nothing(folder: Path) -> None:
    assert all("query" not in row for row in rows(run(folder, "fall.spaseq")))


def test_csv_and_trig_say_it_too(folder: Path) -> None:
    table = list(csv.DictReader(io.StringIO(run(folder, "fall.spaseq", "rise.epsparql", "--format", "csv"))))
    assert [row["query"] for row in table] == ["fall", "rise", "rise"]
    trig = run(folder, "fall.spaseq", "rise.epsparql", "--format", "trig")
    assert "<urn:scepter:match:fall:1> {" in trig


def test_definitions_need_a_query_that_takes_them(folder: Path) -> None:
    given = ["run", str(folder / "fall.spaseq"), "--define", str(folder / "rooms.obep"), "--stream", f"S={folder}/s.nq"]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 2 and "takes no --define" in result.output


def test_python_takes_several_by_name_and_pushed_alike() -> None:
    queries = {"fall": scepter.parse(FALL), "rise": scepter.parse(RISE)}
    events = [scepter.Event(f"{EX}s", f"<{EX}ACME> <{EX}price> {price} .", time) for time, price in PRICES]
    found = scepter.run_local(queries, {f"{EX}s": events})
    assert found.to_arrow().column("query").to_pylist() == ["fall", "rise", "rise"]
    assert str(found).splitlines()[0].split() == ["query", "start", "end", "?c", "?q", "?p"]
    engine = scepter.Engine(list(queries.values()))
    pushed = [match for event in events for match in engine.push(event)] + engine.close()
    assert sorted((m.query, m.start, m.end) for m in pushed) == sorted((m.query, m.start, m.end) for m in found)
