"""Where a run between topics goes on, without a broker."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from scepter.io import kafka_marks
from scepter.io.kafka_marks import Marks, Reached
from scepter.kafka.address import Address
from scepter.kafka.client import Bounds
from scepter.kafka.transactions import Mark
from scepter.timeline import TimeKind

OUT, IN = Address("a:1", "out"), Address("a:1", "in")


class Committed:
    """What a broker keeps of a group."""

    def __init__(self, marks: Iterable[Mark] = ()) -> None:
        self.ends: dict[int, int] = {}
        self._marks = {(mark.topic, mark.partition): mark for mark in marks}

    def marks(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Mark]:
        return {place: self._marks[place] for place in places if place in self._marks}


@pytest.fixture(autouse=True)
def two_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_marks, "held", lambda address: {0: Bounds(0, 7), 1: Bounds(0, 9)})
    monkeypatch.setattr(kafka_marks, "partitions", lambda address: [0, 1])


def begun(committed: Committed, back: int | None = 10) -> tuple[Marks, Reached | None]:
    marks = Marks(OUT, [IN], lambda kind: back)
    return marks, marks.begin(committed)  # type: ignore[arg-type]


def test_what_a_step_commits_the_next_run_finds() -> None:
    committed = Committed()
    marks, before = begun(committed)
    assert before is None
    first = marks.of(Reached(TimeKind.INTEGER, 30, {("in", 0): 3, ("in", 1): 4}))
    committed.ends.update({0: 12})  # the matches of the step
    again = marks.of(Reached(TimeKind.INTEGER, 30, {("in", 0): 5, ("in", 1): 4}))
    _, found = begun(Committed(again))
    # the instant is still open: its matches begin where they began in the first step
    assert found == Reached(TimeKind.INTEGER, 30, {("in", 0): 5, ("in", 1): 4}, {0: 7, 1: 9})
    assert {mark.offset for mark in first if mark.topic == "out"} == {7, 9}
    later = marks.of(Reached(TimeKind.INTEGER, 31, {("in", 0): 5}))
    _, found = begun(Committed(later))
    assert found is not None and found.written == {0: 12, 1: 9}
    assert found.places == {("in", 0): 5}  # a partition without a mark begins with what it holds


def test_a_run_that_looks_elsewhere_reads_everything_again() -> None:
    marks, _ = begun(Committed())
    step = marks.of(Reached(TimeKind.INTEGER, 30, {("in", 0): 3}))
    assert begun(Committed(step), back=11)[1] is None
    assert begun(Committed(step), back=None)[1] is None
    # with the output topic its marks are gone
    assert begun(Committed(mark for mark in step if mark.topic == "in"))[1] is None
