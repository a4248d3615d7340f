"""Rows of state do not follow the length of the stream: each workload's peak over a stream ten times as long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from scepter.bench.contenders import contender
from scepter.bench.model import Point, Room
from scepter.bench.workloads import every
from scepter.io.sources import FileSource
from scepter.rdf.nquads import BATCH_BYTES
from scepter.runtime import local, pipeline, work

SHORT = 6_000
MORE = 1.25
"""A stream ten times as long meets somewhat greater extremes."""
SWEEP_FROM = 64
"""Lineage is swept from 16,384 nodes on, and the first stream has no more: that would hide nodes which stay. Here it is swept
almost at once, so that those which rows reach are all that is counted, up to twice as many."""
TRIED = {
    "spaseq-v-shape-3": 10, "spaseq-strict": 10, "ep-sparql-forms": "join", "ep-sparql-many": "5 chains",
    "ep-sparql-figure-1b": 10, "rsep-ql-forms": "FILTER", "rsep-ql-policies": None,
    "obep-composites": "three", "window-average": None,
}  # fmt: skip
"""Workloads over one stream in this process, and the one point that is tried; None for each."""


@dataclass(frozen=True, slots=True)
class Sized(Room):
    """A room in which streams have a given length."""

    length: int = SHORT

    def size(self, full: int, quick: int) -> int:
        return self.length


def peaks(points: Callable[[Room], Iterator[Point]], folder: Path, length: int, only: object) -> dict[object, int]:
    folder.mkdir()
    found: dict[object, int] = {}
    for point in points(Sized(folder, length=length)):
        if only is None or point.at == only:
            outcome = contender("local")(point)
            assert outcome.answers == point.answers, point.at
            assert outcome.state is not None
            key: object = point.at if only is None and isinstance(point.at, str) else only
            found[key] = max(found.get(key, 0), outcome.state)
    return found


@pytest.mark.parametrize("name", TRIED)
def test_state_is_flat(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "STEP_EVENTS", 512)
    monkeypatch.setitem(
        FileSource.batches.__kwdefaults__ or {}, "batch_bytes", BATCH_BYTES
    )  # else one holds all of the first stream
    monkeypatch.setattr(work, "_LONGEST_STEP", 1)  # the second stream is given time for longer steps, the first is not
    monkeypatch.setattr(pipeline, "_SWEEP_FROM", SWEEP_FROM)
    points = every()[name].points
    short = peaks(points, tmp_path / "short", SHORT, TRIED[name])
    long = peaks(points, tmp_path / "long", 10 * SHORT, TRIED[name])
    assert short and short.keys() == long.keys()
    for at, rows in long.items():
        assert rows < MORE * short[at], (at, short[at], rows)
