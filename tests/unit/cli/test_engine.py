"""Which engine runs where none is named, and what is said of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scepter.cli import engine
from scepter.cli.engine import Choice, choose_engine, input_bytes
from scepter.cli.main import app

QUERY = "SELECT ?x WITHIN 9 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }"
EVENT = '<http://e/a> <http://e/p> <http://e/b> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file that is large, on a machine that has two cores and Java."""
    (tmp_path / "s.nq").write_text(EVENT)
    monkeypatch.setattr(engine, "_LARGE", 10)
    monkeypatch.setattr(engine, "_cores", lambda: 2)
    monkeypatch.setattr(engine, "find_java", lambda: (tmp_path, "the PATH"))
    return str(tmp_path / "s.nq")


def test_options_that_need_spark_ask_for_it() -> None:
    assert choose_engine(["--follow", "--checkpoint"], ["-"]).line() == "engine: spark, for --follow and --checkpoint"


def test_spark_submit_has_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert choose_engine([], []).line() == "engine: spark, for spark-submit, which has started it"


def test_small_input_stays(tmp_path: Path) -> None:
    (tmp_path / "s.nq").write_text("x" * 1234)
    assert choose_engine([], [str(tmp_path / "s.nq")]).line() == "engine: local, for 1.2 kB of input"


def test_large_input_asks_for_spark(large: str) -> None:
    assert choose_engine([], [large]) == Choice(
        "spark", f"{len(EVENT)} bytes of input on 2 cores; --engine local stays in this process"
    )


def test_what_is_looked_at_in_this_process_stays(large: str) -> None:
    assert choose_engine([], [large], stay=True).engine == "local"


def test_spark_is_of_no_use_on_one_core(large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_cores", lambda: 1)
    assert choose_engine([], [large]) == Choice("local", f"{len(EVENT)} bytes of input on one core")


def test_without_java_the_run_goes_on_here(large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find_java", lambda: None)
    choice = choose_engine([], [large])
    assert choice.engine == "local"
    assert "there is no Java" in choice.why


def test_sizes(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text("12345")
    (tmp_path / "b.nq.gz").write_text("12345")
    os.mkfifo(tmp_path / "pipe")
    assert input_bytes([str(tmp_path / "a.nq"), str(tmp_path / "missing")]) == 5
    assert input_bytes([str(tmp_path / "*.gz")]) == 50
    assert input_bytes(["-"]) is None
    assert input_bytes(["kafka://broker/topic"]) is None
    assert input_bytes([str(tmp_path / "pipe")]) is None
    assert input_bytes([str(tmp_path)]) is None


def test_one_line_tells_and_a_named_engine_needs_none(tmp_path: Path) -> None:
    (tmp_path / "q.spaseq").write_text(QUERY)
    (tmp_path / "s.nq").write_text(EVENT)
    given = ["run", str(tmp_path / "q.spaseq"), "--stream", f"S={tmp_path / 's.nq'}", "--format", "csv"]
    told = CliRunner().invoke(app, given)
    assert told.exit_code == 0, told.output
    assert told.stderr.splitlines() == [f"engine: local, for {len(EVENT)} bytes of input", "1 match"]
    assert told.stdout.splitlines() == ["start,end,x", "1,1,http://e/a"]
    assert CliRunner().invoke(app, [*given, "--engine", "local"]).stderr == "1 match\n"


def test_nothing_is_told_of_an_engine_whose_sources_are_missing(tmp_path: Path) -> None:
    (tmp_path / "q.spaseq").write_text(QUERY)
    told = CliRunner().invoke(app, ["run", str(tmp_path / "q.spaseq"), "--stream", f"S={tmp_path / 'none.nq'}"])
    assert told.exit_code == 2
    assert told.stderr.startswith("error[missing-source]")
    told = CliRunner().invoke(app, ["run", str(tmp_path / "q.spaseq")])
    assert told.exit_code == 2
    assert told.stderr.startswith("error[missing-stream]")


def test_a_diagnosis_on_spark_reads_its_input_again(tmp_path: Path) -> None:
    (tmp_path / "q.spaseq").write_text(QUERY)
    given = ["run", str(tmp_path / "q.spaseq"), "--stream", "S=-", "--diagnose", "--master", "local[2]"]
    told = CliRunner().invoke(app, given)
    assert told.exit_code == 2
    assert told.stderr.splitlines()[-1] == "help: write it to a file, or take --engine local"
