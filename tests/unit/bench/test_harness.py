"""Points in processes of their own, answers checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from scepter.bench.contenders import contender
from scepter.bench.harness import Choice, check, measurements
from scepter.bench.measure import headed, measured
from scepter.bench.model import Point, Room, Workload
from scepter.bench.shapes.stocks import Ticks
from scepter.bench.workloads.spaseq_v_shape import point
from scepter.errors import DataError, OptionError


def small(folder: Path, seconds: int = 600) -> Point:
    return point(Room(folder), Ticks.drawn(2_000), 3, seconds)


def points(room: Room, wrong_by: int = 0) -> Iterator[Point]:
    found = point(room, Ticks.drawn(2_000), 3, 600)
    yield replace(found, answers=found.answers + wrong_by, contenders=("local",))


def test_a_workload_from_end_to_end(tmp_path: Path) -> None:
    left_out: dict[str, str] = {}
    workload = Workload("small", "", "window, s", points)
    found = list(measurements(workload, Room(tmp_path), Choice(repeats=2), left_out.__setitem__))
    assert [m.contender for m in found if m.contender != "flink"] == ["local", "pyoxigraph", "duckdb"]
    local = found[0]
    assert (local.workload, local.at, local.events, local.triples) == ("small", 600, 2_000, 6_000)
    assert len(local.samples) == 2
    assert all(sample.cpu > 0 and sample.wall > 0 for m in found for sample in m.samples)
    assert local.answers == found[1].answers == found[2].answers > 10
    assert local.state is not None and local.state > 0
    assert 1 << 20 < local.begun <= local.peak


def test_a_wrong_answer_is_an_error(tmp_path: Path) -> None:
    workload = Workload("small", "", "window, s", partial(points, wrong_by=1))
    choice = Choice(repeats=1, yardsticks=False)
    with pytest.raises(DataError, match=r"small at 600, local: \d+ answers instead of \d+"):
        list(measurements(workload, Room(tmp_path), choice, lambda name, why: None))


@pytest.mark.parametrize(
    ("name", "found", "wanted", "right"),
    [
        ("local", 100, 100, True),
        ("local", 99, 100, False),
        ("local", 101, 100, False),
        ("live", 99, 100, True),
        ("live", 98, 100, False),
        ("live", 101, 100, False),
    ],
)
def test_what_counts_as_right(name: str, found: int, wanted: int, right: bool) -> None:
    if right:
        check("here", name, found, wanted)
    else:
        with pytest.raises(DataError, match="here: "):
            check("here", name, found, wanted)


def test_a_process_that_fails_is_told(tmp_path: Path) -> None:
    def broken(room: Room) -> Iterator[Point]:
        yield replace(small(room.folder), query="SELECT nothing", contenders=("local",))

    with pytest.raises(DataError, match=r"broken at 600, local failed:\n(?s:.*)error\["):
        list(measurements(Workload("broken", "", "", broken), Room(tmp_path), Choice(yardsticks=False), lambda name, why: None))


def test_a_yardstick_that_takes_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def only(room: Room) -> Iterator[Point]:
        yield replace(small(room.folder), contenders=(), yardsticks={"pyoxigraph": ""})

    monkeypatch.setattr("scepter.bench.harness.PATIENCE", 0.01)
    left_out: dict[str, str] = {}
    assert list(measurements(Workload("slow", "", "", only), Room(tmp_path), Choice(), left_out.__setitem__)) == []
    assert left_out == {"pyoxigraph in slow at 600": "it took more than 0.01 s"}


@pytest.mark.parametrize(
    ("engine", "yardsticks", "wanted"),
    [
        ("local", False, ["local"]),
        ("spark", False, ["spark"]),
        ("both", False, ["local", "spark"]),
        ("local", True, ["local", "pyoxigraph"]),
    ],
)
def test_what_runs_a_point(engine: str, yardsticks: bool, wanted: list[str]) -> None:
    given = Point(1, "", "spaseq", {}, 0, 0, 0, yardsticks={"pyoxigraph": ""})
    assert list(Choice(engine, 1, yardsticks).contenders(given)) == wanted


@pytest.mark.parametrize("engine", ["local", "spark", "both"])
def test_tasks_of_spark_in_this_process_are_run_whichever_engine_is_asked_for(engine: str) -> None:
    given = Point(1, "", "spaseq", {}, 0, 0, 0, contenders=("tasks",))
    assert list(Choice(engine).contenders(given)) == ["tasks"]


def test_no_runs_are_refused() -> None:
    with pytest.raises(OptionError, match="--repeat is 0"):
        Choice(repeats=0)


def test_the_head_of_streams_is_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = small(tmp_path)
    monkeypatch.setattr("scepter.bench.measure.HEAD", 1_000)
    into = tmp_path / "head"
    into.mkdir()
    [path] = headed(given, into).streams.values()
    text = Path(path).read_text("utf-8")
    [whole] = given.streams.values()
    assert 0 < len(text) <= 1_000
    assert text.endswith(" .\n")
    assert Path(whole).read_text("utf-8").startswith(text)


def test_a_file_that_is_no_lines_is_not_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scepter.bench.measure.HEAD", 10)
    path = tmp_path / "events.parquet"
    path.write_bytes(b"PAR1\n" * 5)
    given = Point(1, "", "", {"s": str(path)}, 0, 0, 0)
    assert headed(given, tmp_path).streams == {"s": str(path)}


@pytest.mark.parametrize("seconds", [10, 60, 600, 3_600])
def test_engine_plain_loop_and_yardstick_agree(tmp_path: Path, seconds: int) -> None:
    given = small(tmp_path, seconds)
    for name in ("local", "duckdb"):
        assert measured(contender(name), given, 1)["answers"] == [given.answers], name
