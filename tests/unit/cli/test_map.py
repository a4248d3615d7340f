"""`scepter map`, and `scepter run --map`."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from patience import PATIENCE
from scepter.cli.main import app

MAP = """\
prefixes: {ex: "http://example/"}
time: $(time)
mappings:
  reading: {s: "ex:$(sensor)", po: [[ex:v, $(value), xsd:integer]]}
"""
CSV = "time,sensor,value\n1,a,1\n2,b,5\nnever,b,6\n4,a,3\n"
QUERY = """PREFIX : <http://example/>
SELECT ?d ?x ?y WITHIN 10 SLIDING FROM STREAM S <http://example/s>
WHERE { SEQ (A; B)  DEFINE GPM A ON S { ?d :v ?x }  DEFINE GPM B ON S { ?d :v ?y FILTER (?y > ?x) } }"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "r.csv").write_text(CSV)
    (tmp_path / "m.yml").write_text(MAP)
    (tmp_path / "q.spaseq").write_text(QUERY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scepter(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def run(*arguments: str) -> Result:
    return scepter("run", "q.spaseq", "--engine", "local", "--format", "csv", *arguments)


ANSWER = "start,end,d,x,y\n1,4,http://example/a,1,3\n"


def test_events_are_printed_as_queries_see_them(folder: Path) -> None:
    result = scepter("map", "r.csv", "--map", "m.yml", "--limit", "1")
    assert result.exit_code == 0
    assert result.stdout == (
        '_:e1 <http://www.w3.org/ns/prov#generatedAtTime> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        '_:e1 {\n  <http://example/a> <http://example/v> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n}\n'
    )
    whole = scepter("map", "r.csv", "--map", "m.yml", "--format", "nquads")
    assert whole.stderr == "not used: r.csv:4: 'never' of time is no time\n"
    (folder / "r.nq").write_text(whole.stdout)
    assert run("--stream", "S=r.nq").stdout == ANSWER


def test_a_mapping_without_a_time_prints_triples(folder: Path) -> None:
    (folder / "m.yml").write_text(MAP.replace("time: $(time)\n", ""))
    result = scepter("map", "r.csv", "--map", "m.yml", "--format", "nquads", "--limit", "1")
    assert result.stdout == '<http://example/a> <http://example/v> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    assert run("--stream", "S=r.csv", "--map", "m.yml").exit_code == 2


def test_an_archive_that_is_cut_off_is_told(folder: Path) -> None:
    (folder / "r.csv.gz").write_bytes(gzip.compress(CSV.encode())[:-4])
    for arguments in (["--suggest"], ["--map", "m.yml"]):
        result = scepter("map", "r.csv.gz", *arguments)
        assert result.exit_code == 0
        assert "not used: r.csv.gz cannot be read to its end" in result.stderr
        assert "sensor" in result.stdout or "example/a" in result.stdout


def test_a_suggestion_can_be_run(folder: Path) -> None:
    result = scepter("map", "r.csv", "--suggest")
    assert "time: $(time)" in result.stdout and "s: ex:$(sensor)" in result.stdout
    (folder / "s.yml").write_text(result.stdout)
    assert scepter("map", "r.csv", "--map", "s.yml", "--limit", "1").exit_code == 0


@pytest.mark.parametrize("arguments", [("r.csv",), ("r.csv", "--suggest", "--map", "m.yml"), ("no.csv", "--map", "m.yml")])
def test_wrong_options(folder: Path, arguments: tuple[str, ...]) -> None:
    assert scepter("map", *arguments).exit_code == 2


def test_rows_are_run(folder: Path) -> None:
    result = run("--stream", "S=r.csv", "--map", "m.yml", "--dead-letter", "l.jsonl")
    assert (result.exit_code, result.stdout) == (0, ANSWER)
    [letter] = [json.loads(line) for line in (folder / "l.jsonl").read_text().splitlines()]
    assert (letter["source"], letter["line"], letter["reason"]) == ("r.csv", 4, "'never' of time is no time")
    assert run("--stream", "S=r.csv", "--map", "S=m.yml").stdout == ANSWER


def test_a_folder_of_tables_and_rdf(folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "d" / "a.csv").write_text("time,sensor,value\n1,a,1\n")
    (folder / "d" / "b.jsonl").write_text('{"time": 2, "sensor": "b", "value": 5}\n')
    line = '<http://example/a> <http://example/v> "3"^^<http://www.w3.org/2001/XMLSchema#integer>'
    (folder / "d" / "c.nt").write_text(f'{line} "4"^^<http://www.w3.org/2001/XMLSchema#integer> .\n')
    assert run("--stream", "S=d", "--map", "m.yml").stdout == ANSWER


def test_rows_without_a_map_are_an_error_that_says_so(folder: Path) -> None:
    result = run("--stream", "S=r.csv")
    assert result.exit_code == 2
    assert result.stderr == (
        "error[needs-map]: r.csv holds rows or documents, and nothing says how they become events\n"
        "help: add --map FILE; scepter map r.csv --suggest writes a first one\n"
    )


def test_a_table_in_which_no_row_has_a_time_ends_with_an_error(folder: Path) -> None:
    (folder / "r.csv").write_text("time,sensor,value\nx,a,1\n")
    result = run("--stream", "S=r.csv", "--map", "m.yml")
    assert result.exit_code == 1
    assert "error[no-times]: no row of the input has a time: 'x' of time is no time\nhelp: say in the mapping" in result.stderr


def test_streams_of_a_folder_by_the_last_part_of_their_names(folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "d" / "s.csv").write_text(CSV)
    assert run("--streams", "d", "--map", "m.yml").stdout == ANSWER
    assert run("--streams", "d", "--stream", "S=r.csv", "--map", "m.yml").stdout == ANSWER
    (folder / "d" / "s.jsonl").write_text("")
    several = run("--streams", "d", "--map", "m.yml")
    assert several.exit_code == 2 and "several files are named as the stream" in several.stderr
    assert run("--streams", "nowhere", "--map", "m.yml").exit_code == 2


def test_a_background_graph_by_the_last_part_of_its_name(folder: Path) -> None:
    query = QUERY.replace("{ ?d :v ?x }", "{ ?d :v ?x GRAPH :sites { ?d :site :here } }")
    (folder / "q.spaseq").write_text(query)
    (folder / "sites.ttl").write_text("<http://example/a> <http://example/site> <http://example/here> .")
    assert run("--stream", "S=r.csv", "--map", "m.yml", "--background", "sites=sites.ttl").stdout == ANSWER


def test_a_pipe_of_the_shell(folder: Path) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=lambda: pipe.write_text(CSV))
    writing.start()
    command = [sys.executable, "-m", "scepter", "run", "q.spaseq", "--engine", "local", "--format", "csv"]
    done = subprocess.run([*command, "--stream", "S=pipe", "--map", "m.yml"], capture_output=True, text=True, timeout=PATIENCE)
    writing.join(PATIENCE)
    assert done.stdout == ANSWER, done.stderr


def test_a_pipe_of_the_shell_is_mapped(folder: Path) -> None:
    for name, content in (("pipe", CSV.encode()), ("packed", gzip.compress(CSV.encode()))):
        pipe = folder / name
        os.mkfifo(pipe)
        writing = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
        writing.start()
        result = scepter("map", name, "--map", "m.yml", "--format", "nquads")
        writing.join(60)
        assert result.exit_code == 0 and result.stdout.count(" <http://example/v> ") == 3, result.stderr


def test_documents_without_the_field_of_the_time(folder: Path) -> None:
    (folder / "n.json").write_text('{"readings": [{"time": 1, "sensor": "a", "value": 1}]}')
    result = run("--stream", "S=n.json", "--map", "m.yml")
    assert result.exit_code == 1
    assert result.stderr == (
        "error[no-times]: no row of the input has a time: time is empty or absent, which is no time\n"
        "help: name the field of the time in the mapping; documents within a document need an iterator: "
        "sources: [['FILE~jsonpath', '$.items[*]']]\n"
    )


def test_a_field_that_no_document_has(folder: Path) -> None:
    (folder / "r.jsonl").write_text('{"time": 1, "sensor": "a", "valeu": 1}\n{"time": 2, "sensor": "a", "valeu": 2}\n')
    result = run("--stream", "S=r.jsonl", "--map", "m.yml")
    assert result.exit_code == 0
    assert "warning[predicate-absent]: the stream S never has the predicate :v\n" in result.stderr


def test_lines_of_json_ld(folder: Path) -> None:
    context = '"@context": {"@vocab": "http://example/", "at": "http://www.w3.org/ns/sosa/resultTime"}'
    rows = [(1, "a", 1), (2, "b", 5), (4, "a", 3)]
    lines = [f'{{{context}, "@id": "http://example/{s}", "v": {v}, "at": {t}, "in": {{"w": 1}}}}' for t, s, v in rows]
    (folder / "r.ndjsonld").write_text("\n".join([lines[0], "{broken", lines[1], "", lines[2]]) + "\n")
    result = run("--stream", "S=r.ndjsonld", "--time-property", "sosa", "--dead-letter", "l.jsonl")
    assert result.stdout == ANSWER
    assert json.loads((folder / "l.jsonl").read_text())["line"] == 2


def test_a_context_is_shown_as_a_mapping_is(folder: Path) -> None:
    (folder / "d.jsonl").write_text('{"d": "a", "v": 1, "at": 1}\n{"d": "b", "v": 2}\n{"d": "a", "v": 3, "at": 4}\n{"d": ')
    (folder / "c.jsonld").write_text('{"@context": {"@base": "http://example/", "@vocab": "http://example/", "d": "@id"}}')
    given = ("map", "d.jsonl", "--context", "c.jsonld")
    found = scepter(*given, "--time-property", "http://example/at", "--format", "nquads")
    assert found.exit_code == 0, found.output
    assert [line.split(":")[1] for line in found.stderr.splitlines()] == [" d.jsonl", " d.jsonl"]
    (folder / "d.nq").write_text(found.stdout)
    assert run("--stream", "S=d.nq").stdout == ANSWER
    assert run("--stream", "S=d.jsonl", "--context", "c.jsonld", "--time-property", "http://example/at").stdout == ANSWER
    once = scepter(*given, "--time-property", "http://example/at", "--limit", "1").stdout
    assert "<http://example/a> <http://example/v>" in once and "_:e2" not in once
    plain = scepter(*given, "--limit", "3")  # nothing says which property is the time
    assert len(plain.stdout.splitlines()) == 3 and "generatedAtTime" not in plain.stdout
    assert "--time-property says which" in plain.stderr
    assert scepter("map", "d.jsonl", "--context", "c.jsonld", "--suggest").exit_code == 2
