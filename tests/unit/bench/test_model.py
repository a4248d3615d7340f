"""The arithmetic of benchmarks: medians, rates, ratios, goals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scepter.bench.model import Goal, Measurement, Point, Results, Room, Sample, Verdict, Workload
from scepter.bench.tables import bound


def taken(at: float, contender: str, *cpu: float, events: int = 1000) -> Measurement:
    samples = tuple(Sample(seconds, 2 * seconds) for seconds in cpu)
    return Measurement("w", at, contender, events, 3 * events, 5, samples, 100, 10)


def test_the_median_counts() -> None:
    measurement = taken(1, "local", 0.5, 9.0, 0.25)
    assert measurement.cpu == 0.5
    assert measurement.wall == 1.0
    assert measurement.events_per_cpu_second == 2000
    assert measurement.triples_per_cpu_second == 6000
    assert measurement.triples_per_second == 3000


def test_ratios_are_taken_where_both_were() -> None:
    results = Results([taken(1, "local", 1.0), taken(1, "duckdb", 3.0), taken(2, "local", 2.0), taken(3, "duckdb", 1.0)])
    assert results.ratios("duckdb", "local") == [3.0]
    assert results[2, "local"].cpu == 2.0
    assert results.growth("local") == 2.0
    with pytest.raises(KeyError):
        results.ratios("flink", "local")
    with pytest.raises(KeyError):
        results.of("spark")


def test_growth_is_of_cost_per_event() -> None:
    results = Results([taken(1, "local", 1.0, events=1000), taken(2, "local", 10.0, events=10_000)])
    assert results.growth("local") == 1.0


def none(room: Room) -> Iterator[Point]:
    return iter(())


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (Goal("rate", lambda r: r[1, "local"].events_per_cpu_second, least=1000), True),
        (Goal("rate", lambda r: r[1, "local"].events_per_cpu_second, least=1001), False),
        (Goal("time", lambda r: r[1, "local"].cpu, most=1.0), True),
        (Goal("time", lambda r: r[1, "local"].cpu, most=0.99), False),
        (Goal("on Spark", lambda r: r[1, "spark"].cpu, most=1.0), None),
    ],
)
def test_goals(goal: Goal, met: bool | None) -> None:
    [verdict] = Workload("w", "", "", none, (goal,)).verdicts(Results([taken(1, "local", 1.0)]))
    assert verdict.met is met
    assert (verdict.value is None) is (met is None)


def test_what_a_goal_asks_for() -> None:
    assert bound(Verdict("w", "rate", None, 2e6, None)) == "≥ 2 M"
    assert bound(Verdict("w", "ratio", None, None, 1.2)) == "≤ 1.2"


def test_a_file_is_written_once(tmp_path: Path) -> None:
    room = Room(tmp_path)
    path = room.file("a", lambda path: path.write_text("first"))
    assert room.file("a", lambda path: path.write_text("second")) == path
    assert Path(path).read_text() == "first"
    assert room.size(10, 1) == 10
    assert Room(tmp_path, quick=True).size(10, 1) == 1
