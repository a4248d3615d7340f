"""`scepter bench` as a person calls it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from patience import PATIENCE, awaited
from scepter.bench.model import Goal, Point, Room, Workload
from scepter.bench.processes import descendants
from scepter.bench.shapes.stocks import Ticks
from scepter.bench.workloads.spaseq_v_shape import point
from scepter.cli.main import app

DOCS = Path(__file__).parents[3] / "docs" / "benchmarks" / "index.md"


def points(room: Room) -> Iterator[Point]:
    for seconds in (60, 600):
        given = point(room, Ticks.drawn(1_000), 3, seconds)
        yield replace(given, yardsticks={"pyoxigraph": ""})


def wrong(room: Room) -> Iterator[Point]:
    yield from (replace(given, answers=given.answers + 1) for given in points(room))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    goals = (
        Goal("a rate", lambda r: r[60, "local"].events_per_cpu_second, least=1e12),
        Goal("on Spark", lambda r: r[60, "spark"].cpu),
    )
    found = {"small": Workload("small", "a paper", "window, s", points, goals), "wrong": Workload("wrong", "", "", wrong)}
    monkeypatch.setattr("scepter.bench.workloads.every", lambda: found)


def test_the_list() -> None:
    done = CliRunner().invoke(app, ["bench", "--list"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == f"{'small':24} over window, s. a paper"


def test_tables_json_and_pictures(tmp_path: Path) -> None:
    target, pictures = tmp_path / "found.json", tmp_path / "pictures"
    arguments = ["bench", "small", "--quick", "--repeat", "1", "--json", str(target), "--plots", str(pictures)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "MISSED" in done.stdout and "not measured" in done.stdout
    found = json.loads(target.read_text("utf-8"))
    assert [(m["at"], m["contender"]) for m in found["measurements"]] == [
        (60, "local"), (60, "pyoxigraph"), (600, "local"), (600, "pyoxigraph"),
    ]  # fmt: skip
    assert [goal["met"] for goal in found["goals"]] == [False, None]
    assert {path.name for path in pictures.iterdir()} == {"small.png", "small.svg"}
    assert (pictures / "small.png").read_bytes().startswith(b"\x89PNG")
    assert "triples per CPU-second" in (pictures / "small.svg").read_text("utf-8")
    told = set(re.findall(r"^\| `(\w+)` \|", DOCS.read_text("utf-8"), re.MULTILINE))
    written = set(found) | {name for part in ("measurements", "goals") for name in found[part][0]} | set(found["machine"])
    assert told == written | set(found["measurements"][0]["samples"][0])


def test_a_wrong_answer_ends_it_with_1() -> None:
    done = CliRunner().invoke(app, ["bench", "wrong", "--repeat", "1", "--alone"])
    assert done.exit_code == 1
    assert re.search(r"error\[wrong-answer\]: wrong at 60, local: \d+ answers instead of \d+", done.stderr)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["smal"], "there is no workload 'smal'; did you mean small?"),
        (["--engine", "sparc"], "did you mean spark?"),
        (["--repeat", "0"], "--repeat is 0"),
    ],
)
def test_what_is_refused(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["bench", *arguments])
    assert done.exit_code == 2
    assert message in done.stderr


def test_sigterm_ends_the_measurement_too(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scepter", "bench", "spaseq-kleene", "--alone"]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=subprocess.DEVNULL) as bench:
        measurement = awaited(lambda: next(iter(descendants(bench.pid)), None))
        bench.send_signal(signal.SIGTERM)
        assert bench.wait(PATIENCE) == 128 + signal.SIGTERM
    assert awaited(lambda: not Path(f"/proc/{measurement}").exists())
    assert list(tmp_path.iterdir()) == []
