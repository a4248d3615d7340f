"""What a program's `foreachBatch` does for the tasks of the next micro-batch."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from scepter.errors import OptionError
from scepter.rdf.batch import DeadLetter
from scepter.runtime.notices import SKEW
from scepter.runtime.spark.each_batch import TOLD, SkewLetters, each_batch, mark_of
from scepter.runtime.spark.live_skew import SKEWED


class Session:
    """A session, or a micro-batch's table; it hears what tasks are told, by property."""

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}
        self.sparkContext = SimpleNamespace(setLocalProperty=self.told.__setitem__)
        self.sparkSession = self

    def known(self, folder: Path) -> Any:
        (found,) = (json.loads(text) for name, text in self.told.items() if name == SKEWED.named(mark_of(folder)))
        return found


def test_what_tasks_find_is_told_to_the_next_micro_batch_and_to_a_later_start(tmp_path: Path) -> None:
    session: Any = Session()
    report, wrote = SkewLetters(tmp_path), []

    def write(rows: Any, number: int) -> None:
        wrote.append(number)
        report(DeadLetter("notice", None, "not asked for"))
        if number == 4:
            report(DeadLetter(SKEW, None, '{"0": [[7, 50, 2]]}'))

    taken = each_batch(write, session, tmp_path)
    assert session.known(tmp_path) == []
    taken(session, 3)
    assert session.known(tmp_path) == []
    taken(session, 4)
    known = [[4, '{"0": [[7, 50, 2]]}']]
    assert session.known(tmp_path) == known
    taken(session, 5)
    assert wrote == [3, 4, 5] and session.known(tmp_path) == known
    assert not list((tmp_path / TOLD).iterdir())
    later: Any = Session()
    each_batch(write, later, tmp_path)
    assert later.known(tmp_path) == known


def test_what_a_micro_batch_has_left_that_is_done_again_is_not_taken(tmp_path: Path) -> None:
    session: Any = Session()
    SkewLetters(tmp_path)(DeadLetter(SKEW, None, '{"0": [[7, 50, 2]]}'))
    each_batch(lambda rows, number: None, session, tmp_path)(session, 4)
    assert session.known(tmp_path) == []


def test_a_micro_batch_that_was_not_written_makes_nothing_known(tmp_path: Path) -> None:
    session: Any = Session()

    def write(rows: Any, number: int) -> None:
        SkewLetters(tmp_path)(DeadLetter(SKEW, None, '{"0": [[7, 50, 2]]}'))
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        each_batch(write, session, tmp_path)(session, 4)
    assert session.known(tmp_path) == []


def test_runs_of_one_thread_are_told_apart(tmp_path: Path) -> None:
    session: Any = Session()
    for name in ("one", "two"):
        each_batch(lambda rows, number: None, session, tmp_path / name)
    assert len(session.told) == 2


def test_a_folder_that_the_driver_cannot_write_is_refused() -> None:
    with pytest.raises(OptionError, match="no folder that the driver can write"):
        each_batch(lambda rows, number: None, Session(), "s3://bucket/state")  # type: ignore[arg-type]


def test_a_driver_that_is_elsewhere_tells_nothing(tmp_path: Path) -> None:
    def write(rows: Any, number: int) -> None: ...

    remote: Any = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    assert each_batch(write, remote, tmp_path) is write
