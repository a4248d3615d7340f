"""`scepter run`, through the command line: results, formats, files, errors and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from patience import PATIENCE, awaited
from scepter.cli.main import app
from scepter.errors import DataError, Diagnostic

RUNNER = CliRunner()

QUERY = """\
PREFIX : <http://example/>
SELECT ?x ?v
WITHIN 10
FROM STREAM S <http://example/s>
WHERE {
  SEQ (A; B)
  DEFINE GPM A ON S { ?x a :A }
  DEFINE GPM B ON S { ?x :v ?v }
}
"""
EVENTS = """\
PREFIX : <http://example/>
PREFIX prov: <http://www.w3.org/ns/prov#>
:e1 { :x1 a :A } :e1 prov:generatedAtTime 1 .
:e2 { :x2 a :A } :e2 prov:generatedAtTime 2 .
:e3 { :x2 :v 7 } :e3 prov:generatedAtTime 3 .
:e4 { :x1 :v "a,b" } :e4 prov:generatedAtTime 4 .
:e5 { :x1 :v 9 } :e5 prov:generatedAtTime 40 .
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.spaseq").write_text(QUERY)
    (tmp_path / "s.trig").write_text(EVENTS)
    return tmp_path


def scepter(folder: Path, *arguments: str, command: str = "run", stream: str | None = "S=s.trig") -> Result:
    given = [command, str(folder / "q.spaseq"), *arguments]
    if command == "run":
        given += ["--engine", "local"] if "--engine" not in arguments else []
        given += ["--stream", stream.replace("=", f"={folder}/", 1)] if stream is not None else []
    return RUNNER.invoke(app, given)


def rows(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    "arguments", [["--output", "/dev/full"], ["--follow", "--output", "/dev/full"], ["--dead-letter", "/dev/full"]], ids=str
)
def test_a_full_disk_is_told_with_the_files_name(folder: Path, arguments: list[str]) -> None:
    line = '<a:e> <a:p> "x" "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    events = [f'<http://example/x> a:b "{i}" .\n{line}' for i in range(50)]
    (folder / "s.nq").write_text("".join(events))
    (folder / "q.spaseq").write_text(
        QUERY.replace("SEQ (A; B)", "SEQ (B)").replace("?x :v ?v", "?x <a:p> ?v").replace("DEFINE GPM A ON S { ?x a :A }", "")
    )
    stream = "S=s.nq" if "--follow" not in arguments else None
    given = [
        "run",
        str(folder / "q.spaseq"),
        "--engine",
        "local",
        *arguments,
        "--stream",
        f"S={folder}/s.nq" if stream else "S=-",
    ]
    result = RUNNER.invoke(app, given, input="".join(events))
    assert result.exit_code == 1
    assert "error[system]: [Errno 28] No space left on device: '/dev/full'" in result.stderr


class TestResults:
    def test_json_lines_sorted_on_stdout_and_counts_on_stderr(self, folder: Path) -> None:
        result = scepter(folder)
        assert [(row["start"], row["end"]) for row in rows(result)] == [(2, 3), (1, 4)]
        assert result.stderr.strip() == "2 matches"

    def test_csv(self, folder: Path) -> None:
        result = scepter(folder, "--format", "csv")
        assert result.stdout.splitlines() == ["start,end,x,v", "2,3,http://example/x2,7", '1,4,http://example/x1,"a,b"']

    def test_a_table_with_the_querys_prefixes(self, folder: Path) -> None:
        assert ":x2" in scepter(folder, "--format", "table").stdout

    def test_events(self, folder: Path) -> None:
        assert rows(scepter(folder, "--events"))[0]["events"] == {"A": ["http://example/e2"], "B": ["http://example/e3"]}

    def test_trig_is_read_back_as_a_stream(self, folder: Path) -> None:
        first = scepter(folder, "--format", "trig", "--output", str(folder / "matches.trig"))
        assert first.exit_code == 0, first.output
        (folder / "q.spaseq").write_text(
            "PREFIX var: <urn:scepter:variable:> SELECT ?x ?v WITHIN 100 FROM STREAM M <http://example/matches> "
            "WHERE { SEQ (A) DEFINE GPM A ON M { ?m var:x ?x ; var:v ?v } }"
        )
        second = scepter(folder, stream="M=matches.trig")
        assert [(row["start"], row["end"]) for row in rows(second)] == [(2, 3), (1, 4)]
        assert second.stderr.strip() == "2 matches"

    def test_an_output_file_and_nothing_on_stdout(self, folder: Path) -> None:
        out = folder / "out.jsonl"
        result = scepter(folder, "--output", str(out))
        assert (result.exit_code, result.stdout) == (0, "")
        assert len(out.read_text().splitlines()) == 2
        assert {path.name for path in folder.iterdir()} == {"q.spaseq", "s.trig", "out.jsonl"}

    def test_nothing_found(self, folder: Path) -> None:
        (folder / "s.trig").write_text("")
        result = scepter(folder)
        assert rows(result) == []
        counts, warning = result.stderr.splitlines()
        assert counts == "0 matches"
        assert warning.startswith("warning[stream-empty]: the stream S (") and warning.endswith("s.trig) holds no event")

    def test_the_time_unit_counts(self, folder: Path) -> None:
        text = QUERY.replace("WITHIN 10", "WITHIN 2 SECONDS SLIDING")
        (folder / "q.spaseq").write_text(text)
        assert len(rows(scepter(folder, "--time-unit", "s"))) == 1
        assert len(rows(scepter(folder))) == 2


class TestDeadLetters:
    BROKEN = (
        '<http://example/x1> <http://example/v> "never closed <http://example/e9> .\n'
        "<http://example/x1> <http://example/v> <http://example/y> <http://example/e9> .\n"
        "<http://example/e9> <http://www.w3.org/ns/prov#generatedAtTime> "
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    )

    def test_a_count_on_stderr(self, folder: Path) -> None:
        (folder / "s.nq").write_text(self.BROKEN)
        result = scepter(folder, stream="S=s.nq")
        assert result.exit_code == 0
        assert "1 line or event could not be used: --dead-letter PATH shows which and why" in result.stderr

    def test_a_file_of_them(self, folder: Path) -> None:
        (folder / "s.nq").write_text(self.BROKEN)
        letters = folder / "dead.jsonl"
        result = scepter(folder, "--dead-letter", str(letters), stream="S=s.nq")
        (letter,) = [json.loads(line) for line in letters.read_text().splitlines()]
        assert letter["line"] == 1
        assert f"see {letters}" in result.stderr


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--policy", "recent"], "SPAseq takes no --policy"),
            (["--evaluate-at", "8"], "SPAseq takes no --evaluate-at"),
            (["--time-unit", "week"], "time unit"),
            (["--start", "soon"], "soon"),
            (["--start", "2026-01-01T00:00:00Z"], "--start"),
            (["--max-delay", "late"], "late"),
            (["--format", "xml"], "--format cannot be 'xml'"),
            (["--format", "trig", "--events"], "--events cannot be shown in TriG"),
            (["--why"], "SPAseq takes no --why"),
            (["--language", "sql"], "sql"),
            (["--language", "obep"], "note: read as obep, as --language says; q.spaseq looks like spaseq"),
            (["--engine", "flink"], "--engine cannot be 'flink'"),
            (["--follow"], "cannot be read while it is written"),
            (["--trigger", "5s", "--follow"], "--trigger needs Spark"),
            (["--idle-streams", "ignore"], "--idle-streams sets the pace"),
            (["--master", "local[2]"], "--master needs Spark"),
            (["--checkpoint", "dir"], "--checkpoint needs Spark"),
            (["--background", "none.ttl"], "there is no file none.ttl"),
            (["--ontology", "none.ttl"], "there is no file none.ttl"),
            (["--output", "/nowhere/at/all"], "cannot be written"),
            (["--stream", "S=other.trig"], "given twice"),
            (["--stream", "nonsense"], "NAME=SOURCE"),
            (["--stream", "other.trig"], "=other.trig"),
            (["--output", "none/at/all"], "there is no folder none/at; make it first"),
        ],
    )
    def test_options_before_any_data(self, folder: Path, arguments: list[str], words: str) -> None:
        result = scepter(folder, *arguments)
        assert result.exit_code == 2, result.output
        assert words in result.stderr
        assert result.stdout == ""

    def test_a_stream_nobody_gave(self, folder: Path) -> None:
        result = scepter(folder, stream=None)
        assert result.exit_code == 2
        assert "add --stream S=SOURCE" in result.stderr

    def test_no_stream_for_a_query_that_names_none(self, folder: Path) -> None:
        (folder / "any.epsparql").write_text("SELECT ?x { ?x ?p ?o }")
        result = RUNNER.invoke(app, ["run", str(folder / "any.epsparql"), "--engine", "local"])
        assert result.exit_code == 2
        assert "the query reads every stream that is given, and none was" in result.stderr

    def test_a_source_that_is_not_there(self, folder: Path) -> None:
        result = scepter(folder, stream="S=none.nq")
        assert result.exit_code == 2
        assert "none.nq" in result.stderr

    def test_a_stream_the_query_does_not_read_is_a_warning(self, folder: Path) -> None:
        result = scepter(folder, "--stream", "T=never-opened.nq")
        assert len(rows(result)) == 2
        assert "warning[stream-unused]" in result.stderr

    def test_a_background_graph_nobody_gave(self, folder: Path) -> None:
        graph = QUERY.replace("?x a :A }", "?x a :A GRAPH <http://example/nowhere> { ?x :owner ?o } }")
        (folder / "q.spaseq").write_text(graph)
        result = scepter(folder)
        assert result.exit_code == 2
        assert "http://example/nowhere" in result.stderr

    def test_a_background_graph_the_query_never_names_is_fine(self, folder: Path) -> None:
        (folder / "b.ttl").write_text("<http://example/a> <http://example/b> <http://example/c> .")
        assert len(rows(scepter(folder, "--background", f"http://example/g={folder}/b.ttl"))) == 2

    def test_a_wrong_query_with_its_place(self, folder: Path) -> None:
        (folder / "q.spaseq").write_text(QUERY.replace("?v }", "?v FILTER(?v > ?limit) }"))
        for command in ("run", "check", "explain"):
            result = scepter(folder, command=command)
            assert result.exit_code == 2
            assert "q.spaseq:8:" in result.stderr
            assert "^^^^^^" in result.stderr

    def test_a_missing_query_file(self, tmp_path: Path) -> None:
        for command in ("run", "check", "explain"):
            result = scepter(tmp_path, command=command)
            assert result.exit_code == 2
            assert "there is no query file" in result.stderr

    def test_the_dead_letters_of_a_run_that_never_starts_stay_as_they_were(self, folder: Path) -> None:
        letters = folder / "dead.jsonl"
        letters.write_text("old")
        assert scepter(folder, "--dead-letter", str(letters), stream="S=none.nq").exit_code == 2
        assert letters.read_text() == "old"

    def test_no_run_writes_over_what_it_reads(self, folder: Path) -> None:
        for option, name in (("--dead-letter", "s.trig"), ("--output", "s.trig"), ("--output", "q.spaseq")):
            result = scepter(folder, option, str(folder / name))
            assert result.exit_code == 2
            assert f"{name} is a file that the run reads" in result.stderr
        assert (folder / "s.trig").read_text() == EVENTS
        both = scepter(folder, "--dead-letter", str(folder / "out"), "--output", str(folder / "out"))
        assert both.exit_code == 2
        assert "also writes" in both.stderr
        assert scepter(folder, "--dead-letter", os.devnull, "--output", os.devnull).exit_code == 0

    def test_without_a_jvm_the_way_to_one_or_around_it_is_told(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        result = scepter(folder, "--engine", "spark")
        assert result.exit_code == 2
        assert "scepter[jdk]" in result.stderr
        assert "--engine local" in result.stderr


class TestFailures:
    @pytest.mark.parametrize(
        ("error", "code", "words"),
        [
            (DataError(Diagnostic("broken", "the data broke")), 1, "error[broken]: the data broke"),
            (OSError(28, "No space left on device"), 1, "error[system]: [Errno 28] No space left"),
            (ZeroDivisionError("of ours"), 1, "ZeroDivisionError: of ours"),
            (KeyboardInterrupt(), 130, "interrupted"),
        ],
    )
    def test_exit_codes(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
    ) -> None:
        def breaking(*arguments: object, named: bool) -> Iterator[object]:
            raise error
            yield

        monkeypatch.setattr("scepter.cli.bounded.matches", breaking)
        out = folder / "out.jsonl"
        out.write_text("old")
        result = scepter(folder, "--output", str(out))
        assert result.exit_code == code, result.output
        assert words in result.stderr
        assert result.stdout == ""
        assert out.read_text() == "old"
        assert {path.name for path in folder.iterdir()} == {"q.spaseq", "s.trig", "out.jsonl"}


def test_check_and_explain(folder: Path) -> None:
    checked = scepter(folder, command="check")
    assert (checked.exit_code, checked.stdout) == (0, "")
    assert "no errors (spaseq)" in checked.stderr
    explained = scepter(folder, command="explain")
    assert explained.exit_code == 0
    assert explained.stdout.strip()
    assert scepter(folder, "--format", "pdf", command="explain").exit_code == 2


def program(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "scepter", "run", str(folder / "q.spaseq"), "--engine", "local", *arguments]


def opened_by_a_reader(pipe: Path) -> int:
    """The other end of a pipe, once somebody reads it: not while kernels are loaded, where a callback of the compiler can
    swallow an interrupt."""

    def opened() -> int | None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return None

    return awaited(opened, lambda: "nobody reads")


class TestProcess:
    def test_standard_input(self, folder: Path) -> None:
        done = subprocess.run(program(folder, "--stream", "S=-"), input=EVENTS, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == 2

    def test_results_are_utf_8_in_any_locale(self, folder: Path) -> None:
        (folder / "s.trig").write_text(EVENTS.replace('"a,b"', '"é🎉"'), encoding="utf-8")
        environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
        arguments = program(folder, "--stream", f"S={folder}/s.trig")
        done = subprocess.run(arguments, capture_output=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        assert "é🎉" in done.stdout.decode()

    def test_a_reader_that_goes_away_is_no_failure(self, folder: Path) -> None:
        lines = [f"<urn:x{n}> a <http://example/A> . <urn:x{n}> <http://example/v> 1" for n in range(20_000)]
        half = len(lines) // 2
        (folder / "s.trig").write_text(
            "PREFIX prov: <http://www.w3.org/ns/prov#>\n"
            f"<urn:e1> {{ {' . '.join(lines[:half])} }} <urn:e1> prov:generatedAtTime 1 .\n"
            f"<urn:e2> {{ {' . '.join(lines[:half])} }} <urn:e2> prov:generatedAtTime 2 .\n"
        )
        run = subprocess.Popen(
            program(folder, "--stream", f"S={folder}/s.trig"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.readline()
        run.stdout.close()
        complaint = run.stderr.read()
        run.stderr.close()
        assert run.wait(PATIENCE) == 141
        assert "Traceback" not in complaint

    def test_an_interrupt_leaves_no_file_and_exit_code_130(self, folder: Path) -> None:
        pipe = folder / "pipe.nq"
        os.mkfifo(pipe)
        # what a shell starts in the background ignores SIGINT, and so would what the tests start
        ignored = signal.signal(signal.SIGINT, signal.default_int_handler)
        run = subprocess.Popen(
            program(folder, "--stream", f"S={pipe}", "--output", str(folder / "out.jsonl")),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        signal.signal(signal.SIGINT, ignored)
        end = opened_by_a_reader(pipe)
        assert list(folder.glob("*.part"))
        run.send_signal(signal.SIGINT)
        _, complaint = run.communicate(timeout=PATIENCE)
        os.close(end)
        assert run.returncode == 130, complaint
        assert "Traceback" not in complaint
        assert not [path for path in folder.iterdir() if "out.jsonl" in path.name]


SENSED = """\
PREFIX : <http://example/>
PREFIX sosa: <http://www.w3.org/ns/sosa/>
:e1 { :x1 a :A ; sosa:resultTime 1 }
:e2 { :x1 :v 7 ; sosa:resultTime 3 }
"""


def test_an_input_without_times_is_an_error_that_names_what_was_seen(folder: Path) -> None:
    (folder / "s.trig").write_text(SENSED.replace("resultTime 1", 'resultTime "1970-01-01T00:00:01Z"'))
    letters = folder / "letters.jsonl"
    result = scepter(folder, "--dead-letter", str(letters))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "note: times were seen as <http://www.w3.org/ns/sosa/resultTime>" in result.stderr
    assert "help: add --time-property sosa" in result.stderr
    assert [json.loads(line)["reason"] for line in letters.read_text().splitlines()] == ["an event without a time"] * 2


def test_an_empty_input_is_no_error(folder: Path) -> None:
    (folder / "s.trig").write_text("")
    assert scepter(folder).exit_code == 0


@pytest.mark.parametrize("property", ["sosa", "http://www.w3.org/ns/sosa/resultTime"])
def test_the_property_that_gives_the_time(folder: Path, property: str) -> None:
    (folder / "s.trig").write_text(SENSED)
    [row] = rows(scepter(folder, "--time-property", property))
    assert (row["start"], row["end"]) == (1, 3)


class TestTermination:
    @pytest.mark.parametrize("group", [False, True], ids=["to the process", "to the group"])
    def test_a_termination_leaves_no_file_and_exit_code_143(self, folder: Path, group: bool) -> None:
        pipe = folder / "pipe.nq"
        os.mkfifo(pipe)
        run = subprocess.Popen(
            program(folder, "--stream", f"S={pipe}", "--output", str(folder / "out.jsonl")),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        end = opened_by_a_reader(pipe)
        assert list(folder.glob(".out.jsonl*.part"))
        (os.killpg if group else os.kill)(run.pid, signal.SIGTERM)
        _, complaint = run.communicate(timeout=PATIENCE)
        os.close(end)
        assert (run.returncode, complaint.splitlines()[-1]) == (143, "terminated")
        assert "Traceback" not in complaint
        assert not [path for path in folder.iterdir() if "out.jsonl" in path.name]


class TestUnusable:
    def test_an_input_of_which_nothing_can_be_used_is_a_failure(self, folder: Path) -> None:
        (folder / "s.nq").write_text("this is no RDF\nnor is this\n")
        result = scepter(folder, stream="S=s.nq")
        assert result.exit_code == 1
        assert "could not be used" in result.stderr
        assert "error[all-unusable]: nothing of the input could be used" in result.stderr

    def test_an_input_of_which_some_can_be_used_is_not(self, folder: Path) -> None:
        (folder / "s.nq").write_text(
            'this is no RDF\n<urn:x> <urn:p> <urn:o> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        )
        assert scepter(folder, stream="S=s.nq").exit_code == 0

    def test_an_empty_input_is_not(self, folder: Path) -> None:
        (folder / "s.nq").write_text("")
        assert scepter(folder, stream="S=s.nq").exit_code == 0


def test_what_spark_says_is_not_a_fault_of_ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class FromTheJvm(Exception):
        pass

    FromTheJvm.__module__ = "py4j.protocol"

    def breaking(*arguments: object, named: bool) -> Iterator[object]:
        raise FromTheJvm("An error occurred while calling x.\n: org.apache.spark.SparkException: Could not parse 'x'\n\tat y")
        yield

    monkeypatch.setattr("scepter.cli.bounded.matches", breaking)
    result = scepter(folder)
    assert (result.exit_code, result.stderr) == (1, "error[spark]: Spark failed: Could not parse 'x'\n")


def test_too_little_memory_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaking(*arguments: object, named: bool) -> Iterator[object]:
        raise MemoryError
        yield

    monkeypatch.setattr("scepter.cli.bounded.matches", breaking)
    result = scepter(folder)
    assert result.exit_code == 1
    assert result.stderr.startswith("error[memory]: ")


PLACES = {
    "p.n3": "@prefix : <http://e/> . :kitchen :in :house .",
    "p.ttl": "PREFIX : <http://e/> :kitchen :in :house .",
    "p.rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://e/">'
    '<rdf:Description rdf:about="http://e/kitchen"><in rdf:resource="http://e/house"/></rdf:Description></rdf:RDF>',
}


@pytest.mark.parametrize("name", PLACES)
def test_a_background_of_any_format_by_its_local_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(PLACES[name])
    (tmp_path / "s.nt").write_text(
        '<http://e/ann> <http://e/at> <http://e/kitchen> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    )
    (tmp_path / "q.spaseq").write_text(
        "PREFIX : <http://e/> SELECT ?x ?p WITHIN 10 SLIDING FROM STREAM S <http://e/s> "
        "WHERE { SEQ (A) DEFINE GPM A ON S { ?x :at ?r . GRAPH :places { ?r :in ?p } } }"
    )
    given = ["run", f"{tmp_path}/q.spaseq", "--streams", str(tmp_path), "--background", f"places={tmp_path}/{name}"]
    found = CliRunner().invoke(app, [*given, "--engine", "local", "--format", "csv"])
    assert found.stdout == "start,end,x,p\n3,3,http://e/ann,http://e/house\n", found.output
