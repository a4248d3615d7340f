"""What pictures show."""

from __future__ import annotations

from pathlib import Path

import pytest

from scepter.bench import plots
from scepter.bench.model import Measurement, Sample, Workload


def measured(contender: str, at: int) -> Measurement:
    return Measurement("small", at, contender, 10, 100, 1, (Sample(4.0, 2.0),), 0, 0)


@pytest.mark.parametrize(("contenders", "rate"), [(["local", "duckdb"], 25.0), (["local", "spark"], 50.0)])
def test_spark_is_seen_on_the_wall_and_all_else_by_cpu_time(
    contenders: list[str], rate: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[dict[str, list[tuple[float | str, float]]]] = []
    monkeypatch.setattr(plots, "_scale", lambda axes, lines: drawn.append(lines))
    found = [measured(contender, at) for contender in contenders for at in (1, 2)]
    paths = plots.plot(Workload("small", "a paper", "window, s", lambda room: iter(())), found, tmp_path)
    assert [path.name for path in paths] == ["small.png", "small.svg"]
    assert drawn == [{contender: [(1, rate), (2, rate)] for contender in contenders}]
