"""`scepter run` and `scepter test` on Spark, through the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import patience
from batches import at_time, integer, quad
from patience import PATIENCE
from scepter.cli.checkpoint import _watermark
from scepter.cli.main import app

QUERY = """\
PREFIX : <http://e/>
SELECT ?x ?v WITHIN 10 FROM STREAM S <http://e/s>
WHERE { SEQ (A; B) DEFINE GPM A ON S { ?x a :A } DEFINE GPM B ON S { ?x :v ?v } }
"""
A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
CASE = """\
name: one house
prefixes: {"": "http://e/"}
streams:
  S: |
    1 { :x a :A }
    2 { :x :v 7 }
query: |
  PREFIX : <http://e/>
  SELECT ?x ?v WITHIN 10 FROM STREAM S <http://e/s>
  WHERE { SEQ (A; B) DEFINE GPM A ON S { ?x a :A } DEFINE GPM B ON S { ?x :v ?v } }
expect:
  - {start: 1, end: 2, x: ":x", v: "7"}
"""


def opened(name: str, time: int, thing: str) -> str:
    return at_time(name, time) + quad(name, f"<http://e/{thing}>", A, "<http://e/A>")


def valued(name: str, time: int, thing: str) -> str:
    return at_time(name, time) + quad(name, f"<http://e/{thing}>", "<http://e/v>", integer(time))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.spaseq").write_text(QUERY)
    pairs = "".join(opened(f"a{i}", i, f"x{i % 10}") + valued(f"b{i}", i, f"x{(i * 7) % 10}") for i in range(400))
    (tmp_path / "s.nq").write_text(pairs + "broken\n")
    return tmp_path


@pytest.fixture
def shared(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands use the session of the tests instead of starting a JVM each."""

    @contextmanager
    def running(master: str | None, sources: object = ()) -> Iterator[Callable[[], SparkSession]]:
        yield lambda: spark

    monkeypatch.setattr("scepter.cli.session.running", running)


def scepter(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.slow
@pytest.mark.usefixtures("shared")
def test_the_same_answer_in_the_same_order_as_in_this_process(folder: Path) -> None:
    given = ("run", folder / "q.spaseq", "--stream", f"S={folder / 's.nq'}", "--events")
    local = scepter(*given, "--engine", "local")
    found = scepter(*given, "--engine", "spark", "--dead-letter", folder / "dead.jsonl")
    assert found.exit_code == 0, found.output
    assert found.stdout == local.stdout
    assert len(found.stdout.splitlines()) > 100
    assert "1 line or event could not be used" in found.stderr
    letter = json.loads((folder / "dead.jsonl").read_text())
    assert letter["text"] == "broken"


@pytest.mark.slow
@pytest.mark.usefixtures("shared")
def test_results_larger_than_the_driver_holds_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scepter.runtime.spark.answers.AT_ONCE", 20)
    given = ("run", folder / "q.spaseq", "--stream", f"S={folder / 's.nq'}")
    assert scepter(*given, "--engine", "spark").stdout == scepter(*given, "--engine", "local").stdout


@pytest.mark.slow
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("at_once", [5, 100_000])
def test_the_order_that_a_query_gives_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr("scepter.runtime.spark.answers.AT_ONCE", at_once)
    (tmp_path / "q.epsparql").write_text(
        "PREFIX : <http://e/> SELECT ?x ?v WHERE { ?x a :A . ?x :v ?v } ORDER BY DESC(?v) ?x"
    )  # fmt: skip
    values = [f"<http://e/x{i}> <http://e/v> {integer(i * 7 % 5)} {integer(i // 10)} .\n" for i in range(30)]
    kinds = [f"<http://e/x{i}> {A} <http://e/A> {integer(i // 20)} .\n" for i in range(30)]
    (tmp_path / "s.nq").write_text("".join(kinds + values))
    given = ("run", tmp_path / "q.epsparql", "--stream", f"http://e/s={tmp_path / 's.nq'}", "--engine")
    local = scepter(*given, "local").stdout
    assert scepter(*given, "spark").stdout == local
    at_one = [json.loads(line)["bindings"]["v"]["value"] for line in local.splitlines() if json.loads(line)["end"] == 1]
    assert at_one == sorted(at_one, reverse=True) and len(at_one) == 10


@pytest.mark.slow
@pytest.mark.usefixtures("shared")
def test_cases_run_on_both_engines(tmp_path: Path) -> None:
    (tmp_path / "good.case.yaml").write_text(CASE)
    (tmp_path / "bad.case.yaml").write_text(CASE.replace('v: "7"', 'v: "8"'))
    both = scepter("test", tmp_path, "--engine", "both")
    assert both.exit_code == 1
    assert "1 passed, 1 failed" in both.stdout
    assert "on the spark engine" in both.stdout
    assert "on the local engine" in both.stdout


def command(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "scepter", "run", str(folder / "q.spaseq"), "--master", "local[2]", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, start_new_session=True,
    )  # fmt: skip


def awaited(path: Path, lines: int, running: subprocess.Popen[str]) -> None:
    """Waits until a file has so many lines."""
    _until(lambda: path.exists() and len(path.read_text().splitlines()) >= lines, running)


def awaited_watermark(spark: Path, milliseconds: int, running: subprocess.Popen[str]) -> None:
    """Waits until a run has told all that is certain at a time: a micro-batch without data follows the last events."""
    _until(lambda: (_watermark(spark) or 0) >= milliseconds, running)


def _until(done: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    """Waits as long as a run goes on."""

    def killed() -> object:
        running.kill()
        return running.communicate()

    def found() -> bool:
        assert running.poll() is None or done(), running.communicate()
        return done()

    patience.awaited(found, killed)


def move_in(path: Path, text: str) -> None:
    hidden = path.with_name("." + path.name)
    hidden.write_text(text)
    hidden.replace(path)


@pytest.mark.slow
@pytest.mark.spark
def test_a_followed_folder_stopped_and_started_again_gives_every_match_once(folder: Path) -> None:
    watched = folder / "in"
    watched.mkdir()
    arguments = ("--stream", f"S={watched}", "--follow", "--checkpoint", "state", "--output", "out.jsonl", "--trigger", "100ms")
    first = command(folder, *arguments, "--dead-letter", "dead.jsonl")
    move_in(watched / "1.nq", opened("a", 1, "x") + valued("b", 2, "x") + "broken\n" + valued("c", 30, "none"))
    awaited(folder / "out.jsonl", 1, first)
    os.killpg(first.pid, signal.SIGTERM)  # as systemd and timeout do: the JVM must not hear of it
    _, said = first.communicate(timeout=PATIENCE)
    assert first.returncode == 0, said
    assert "stopping behind the current micro-batch" in said
    assert "1 match" in said
    assert "1 line or event could not be used" in said
    assert "Traceback" not in said
    move_in(watched / "2.nq", opened("d", 40, "y") + valued("e", 45, "y") + opened("z", 80, "z") + valued("f", 90, "none"))
    second = command(folder, *arguments, "--dead-letter", "dead.jsonl")
    awaited(folder / "out.jsonl", 2, second)
    awaited_watermark(folder / "state" / "spark", 90, second)
    os.killpg(second.pid, signal.SIGINT)
    _, said = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, said
    assert "stopping behind the current micro-batch" in said
    assert re.search(r"4 events  [\d,]+/s .*  1 matches", said), said
    found = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [(row["start"], row["end"]) for row in found] == [(1, 2), (40, 45)]
    assert len((folder / "dead.jsonl").read_text().splitlines()) == 1
    check_other_runs(folder, watched)


def check_other_runs(folder: Path, watched: Path) -> None:
    """A changed query, and Spark's part gone: refused, and the output stays as it is."""
    arguments = ("--stream", f"S={watched}", "--follow", "--checkpoint", "state", "--output", "out.jsonl")
    before = (folder / "out.jsonl").read_bytes()
    (folder / "q.spaseq").write_text(QUERY.replace("WITHIN 10", "WITHIN 11"))
    changed = command(folder, *arguments)
    _, said = changed.communicate(timeout=PATIENCE)
    assert changed.returncode == 2, said
    assert "error[other-query]: state holds the state of another query: line 2 is now `SELECT ?x ?v WITHIN 11" in said
    assert "--warm-up" in said
    check_taken_over(folder, *arguments)
    before = (folder / "out.jsonl").read_bytes()
    (folder / "q.spaseq").write_text(QUERY)
    shutil.rmtree(folder / "state" / "spark")
    broken = command(folder, *arguments)
    _, said = broken.communicate(timeout=PATIENCE)
    assert broken.returncode == 2, said
    assert "error[checkpoint-incomplete]: a part of state is missing" in said
    assert (folder / "out.jsonl").read_bytes() == before


def check_taken_over(folder: Path, *arguments: str) -> None:
    """The changed query, with a warm-up: what the one before has told is not told again, what it has read is known."""
    (folder / "q.spaseq").write_text(QUERY.replace("WITHIN 10", "WITHIN 60"))
    move_in(folder / "in" / "3.nq", valued("g", 99, "z") + valued("h", 140, "none"))
    changed = command(folder, *arguments, "--warm-up", "auto")
    awaited(folder / "out.jsonl", 3, changed)
    os.killpg(changed.pid, signal.SIGTERM)
    _, said = changed.communicate(timeout=PATIENCE)
    assert changed.returncode == 0, said
    assert "warm-up: events from 19 on are read again; what is certain from 90 on is told" in said, said
    found = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [(row["start"], row["end"]) for row in found] == [(1, 2), (40, 45), (80, 99)]


@pytest.mark.slow
@pytest.mark.usefixtures("shared")
def test_an_input_of_which_nothing_can_be_used_is_a_failure_here_too(folder: Path) -> None:
    (folder / "s.nq").write_text("this is no RDF\n")
    result = scepter("run", folder / "q.spaseq", "--stream", f"S={folder / 's.nq'}", "--engine", "spark")
    assert result.exit_code == 1
    assert "error[all-unusable]: nothing of the input could be used" in result.stderr
    (folder / "s.nq").write_text("this is no RDF\n" + opened("a0", 1, "x"))
    assert scepter("run", folder / "q.spaseq", "--stream", f"S={folder / 's.nq'}", "--engine", "spark").exit_code == 0


@pytest.mark.slow
@pytest.mark.usefixtures("shared")
def test_a_run_over_history_is_diagnosed_where_it_was_asked_for(folder: Path) -> None:
    given = ("--stream", f"S={folder / 's.nq'}", "--engine", "spark", "--diagnose", "--event", "b0")
    result = scepter("run", folder / "q.spaseq", *given)
    assert result.exit_code == 0
    assert ":b0 at 0, among all 800 events" in result.stderr
    assert "nearest misses:" in result.stderr


def test_compare_runs_one_query_on_both_engines(folder: Path, shared: None) -> None:
    (folder / "s.nq").write_text("".join(opened(f"a{i}", i, "x") + valued(f"b{i}", i + 1, "x") for i in range(0, 40, 4)))
    done = scepter("compare", folder / "q.spaseq", "--stream", f"S={folder / 's.nq'}", "--engine", "both")
    assert done.exit_code == 0, done.output
    counts = ["local: 10 matches", "spark: 10 matches", "in both: 10", "only in local: 0", "only in spark: 0"]
    assert done.stdout.splitlines() == counts
