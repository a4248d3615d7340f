"""The figures of the papers: every line of each gives the answers that a plain loop counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from scepter.bench import plots
from scepter.bench.contenders import contender
from scepter.bench.model import AUTOMATON, GPM, RESIDENT, Measurement, Room, Sample, Shown, Workload
from scepter.bench.workloads import figures
from scepter.bench.workloads.figures import WORKLOADS

ONCE = [figure for figure in WORKLOADS if not figure.name.endswith(("3b", "16", "8"))]
"""Figures 3 (b), 16 and 8 show other values of the runs of 3 (a), 15 and 7."""


class Small(Room):
    """A room in which everything is small."""

    def size(self, full: int, quick: int) -> int:
        return min(quick, 2_000)


@pytest.mark.parametrize("figure", ONCE, ids=[figure.name for figure in ONCE])
def test_answers(figure: Workload, tmp_path: Path) -> None:
    lines: dict[str, list[float | str]] = {}
    for point in figure.points(Small(tmp_path, quick=True)):
        lines.setdefault(point.line, []).append(point.at)
        if len(lines[point.line]) == 2:  # the first is the least of its axis, the others take longer
            (name,) = point.contenders
            found = contender(name)(point)
            assert found.answers == point.answers, (name, point.line, point.at)
            assert point.answers or "stocks" in point.line or "strict" in point.line
            if figures.COST in figure.shows:
                assert found.extra[GPM] > 0 and found.extra[AUTOMATON] > 0
    assert all(len(places) >= 2 for places in lines.values()), "a line needs two points"


def test_memory_on_the_way(tmp_path: Path) -> None:
    (figure,) = (each for each in WORKLOADS if each.name == "sparkwave-figure-8")
    for point in figure.points(Small(tmp_path, quick=True)):
        found = contender("followed")(point)
        looked = [percent for percent in range(101) if RESIDENT % percent in found.extra]
        assert found.answers == point.answers and found.state and len(looked) >= 2 and looked[-1] == 100


@pytest.mark.parametrize("shown", list(Shown))
def test_each_kind_of_picture(shown: Shown, tmp_path: Path) -> None:
    extra = {"median, ms": 1.0, "largest, ms": 2.0, GPM: 1.0, AUTOMATON: 2.0, RESIDENT % 10: 1.0, RESIDENT % 100: 2.0}
    runs = (Sample(4.0, 2.0),)
    found = [Measurement("f", at, "push, 1 agent", 9, 9, 1, runs, 3_000_000, 1_000_000, 0, extra) for at in (1, 2)]
    paths = plots.plot(Workload("f", "a paper", "stops", lambda room: iter(()), shows=(shown,)), found, tmp_path)
    assert [path.name for path in paths] == ["f.png", "f.svg"] and all(path.stat().st_size for path in paths)
