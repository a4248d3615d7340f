"""What a run tells besides its matches, through the command line: its diagnosis, its warnings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from scepter.cli.main import app

RUNNER = CliRunner()

QUERY = """\
PREFIX : <http://example/>
SELECT ?x ?v
WITHIN 10
FROM STREAM S <http://example/s>
WHERE {
  SEQ (A; B)
  DEFINE GPM A ON S { ?x a :A }
  DEFINE GPM B ON S { ?x :v ?v FILTER (?v > 5) }
}
"""
EVENTS = """\
PREFIX : <http://example/>
PREFIX prov: <http://www.w3.org/ns/prov#>
:e1 { :x1 a :A } :e1 prov:generatedAtTime 1 .
:e2 { :x2 a :A } :e2 prov:generatedAtTime 2 .
:e3 { :x2 :v 3 } :e3 prov:generatedAtTime 3 .
:e4 { :x1 :v 7 } :e4 prov:generatedAtTime 40 .
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.spaseq").write_text(QUERY)
    (tmp_path / "s.trig").write_text(EVENTS)
    return tmp_path


def scepter(folder: Path, *arguments: str, engine: str = "local") -> Result:
    query, stream = folder / "q.spaseq", f"S={folder / 's.trig'}"
    return RUNNER.invoke(app, ["run", str(query), "--stream", stream, "--engine", engine, *arguments])


class TestDiagnose:
    def test_the_diagnosis_goes_to_stderr(self, folder: Path) -> None:
        result = scepter(folder, "--diagnose")
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr.splitlines() == [
            "0 matches",
            "diagnosis: all 4 events",
            "",
            "spaseq query: 0 matches",
            "  A on S",
            "    on S                                                            4",
            "    graph pattern                                                   2",
            "    partial matches so far                                          2",
            "  ; B on S",
            "    on S                                                            4",
            "    graph pattern                                                   2",
            "    FILTER (?v > 5)                                                 1",
            "    joined on ?x                                                    1",
            "    later than A                                                    1",
            "    WITHIN 10 time units                                            0  ◀ nothing passes",
            "    the first that fits                                             0",
            "    partial matches so far                                          0",
            "  2 partial matches came farthest, through A:",
            "    A = :e1 at 1",
            "      ?x = :x1",
            "      stopped: B = :e4 at 40: it fits, but comes after the window of the match closes at 10: WITHIN 10 time units",
            "    A = :e2 at 2",
            "      ?x = :x2",
            "      stopped: none of the 1 found by B has ?x = :x2",
        ]

    def test_standard_input_is_read_a_second_time(self, folder: Path) -> None:
        given = ["run", str(folder / "q.spaseq"), "--stream", "S=-", "--engine", "local", "--diagnose"]
        program = [sys.executable, "-m", "scepter", *given]
        done = subprocess.run(program, input=EVENTS, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "")
        assert "diagnosis: all 4 events" in done.stderr

    def test_matches_are_written_and_counted(self, folder: Path) -> None:
        (folder / "s.trig").write_text(EVENTS.replace("40", "4"))
        result = scepter(folder, "--diagnose")
        assert len(result.stdout.splitlines()) == 1
        assert "spaseq query: 1 match" in result.stderr
        assert "came farthest" not in result.stderr

    def test_it_is_not_for_input_without_an_end(self, folder: Path) -> None:
        result = scepter(folder, "--diagnose", "--follow", engine="spark")
        assert result.exit_code == 2
        assert result.stderr.splitlines() == [
            "error[option-not-for-engine]: --diagnose looks at bounded input",
            "help: leave out --follow, or leave out --diagnose",
        ]

    def test_one_event(self, folder: Path) -> None:
        result = scepter(folder, "--diagnose", "--event", "e1")
        assert result.exit_code == 0
        assert "diagnosis: " in result.stderr and ":e1 at" in result.stderr

    def test_an_event_that_is_not_there(self, folder: Path) -> None:
        result = scepter(folder, "--diagnose", "--event", "e77x")
        assert result.exit_code == 2
        assert "error[unknown-event]: no event is called 'e77x'" in result.stderr

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (
                ["--event", "e1"],
                ["error[no-diagnosis]: --event and --key say what a diagnosis is about", "help: add --diagnose"],
            ),
            (["--diagnose", "--key", "x"], ["error[key]: --key takes ?VAR=TERM, not 'x'", "help: for example --key ?card=:c7"]),
            (["--diagnose", "--key", "?x=:a", "--key", "x=:b"], ["error[key]: --key gives ?x twice", "help: give it once"]),
        ],
    )
    def test_what_a_diagnosis_cannot_be_about(self, folder: Path, options: list[str], said: list[str]) -> None:
        result = scepter(folder, *options)
        assert (result.exit_code, result.stderr.splitlines()) == (2, said)

    def test_standard_input_is_gone_after_a_run_on_spark(self, folder: Path) -> None:
        given = [str(folder / "q.spaseq"), "--stream", "S=-", "--engine", "spark", "--diagnose"]
        result = RUNNER.invoke(app, ["run", *given], input=EVENTS)
        assert result.exit_code == 2
        assert result.stderr.splitlines() == [
            "error[option-not-for-engine]: --diagnose reads '-' a second time after a run on Spark, and it can be read once",
            "help: write it to a file, or take --engine local",
        ]


class TestWarnings:
    def test_each_once_after_the_counts(self, folder: Path) -> None:
        (folder / "q.spaseq").write_text(QUERY.replace(":v ?v", ":V ?v"))
        lines = scepter(folder).stderr.splitlines()
        assert lines[:2] == ["0 matches", "warning[predicate-absent]: the stream S never has the predicate :V"]
        assert lines[-1] == "help: did you mean :v?"

    def test_a_time_unit_by_another_name(self, folder: Path) -> None:
        result = scepter(folder, "--time-unit", "sec")
        assert result.exit_code == 2
        assert result.stderr.splitlines() == [
            "error[time-unit]: 'sec' is no time unit",
            "help: did you mean s? the units are us, ms, s, min, h, d",
        ]

    def test_a_stream_by_another_name(self, folder: Path) -> None:
        other = ["--stream", f"http://example/ss={folder / 's.trig'}"]
        lines = scepter(folder, *other).stderr.splitlines()
        assert lines[:2] == [
            "warning[stream-unused]: the query reads no stream 'http://example/ss'; it reads <http://example/s>",
            "help: did you mean http://example/s?",
        ]
