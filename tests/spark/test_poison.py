"""Files that no reader can read, in a folder that is followed: dead letters, and the run goes on."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from batches import at_time, quad
from scepter.rdf.batch import DeadLetter
from scepter.runtime.spark.event_rows import event_schema
from scepter.runtime.spark.folder import NOTHING, Offset, list_files
from scepter.runtime.spark.range_reading import first_kind
from scepter.runtime.spark.source import EventStreamReader, Settings
from scepter.timeline import TimeKind

GOOD = at_time("e1", 1) + quad("e1")
ARCHIVE = gzip.compress(
    "".join(at_time(f"e{i}", i) + quad(f"e{i}", object=f'"{i * 7919 % 1000}"') for i in range(2_000)).encode()
)


class Followed:
    """A stream reader as Spark uses it, in this process, without Spark."""

    def __init__(self, folder: Path) -> None:
        self.letters: list[DeadLetter] = []
        self.start: Offset = NOTHING
        settings = Settings.of({"path": str(folder), "timestamps": "integer"})
        self.reader = EventStreamReader(settings, event_schema(TimeKind.INTEGER))
        self.reader.letters = self.letters.append  # type: ignore[assignment]

    def batch(self, limit: Any = None) -> int:
        """How many events the next micro-batch has."""
        end = json.loads(json.dumps(self.reader.latestOffset(self.start, limit or ReadAllAvailable())))
        parts = self.reader.partitions(self.start, end)
        again = self.reader.partitions(self.start, end)
        assert [part.value for part in parts] == [part.value for part in again]
        self.start = end
        return sum(rows.num_rows for part in parts for rows in self.reader.read(part))


def poison(folder: Path, name: str) -> str:
    path = folder / name
    match name:
        case "torn.nq.gz":
            path.write_bytes(ARCHIVE[:-100])
        case "short.nq.gz":
            path.write_bytes(ARCHIVE[:5])
        case "flipped.nq.gz":
            path.write_bytes(ARCHIVE[:200] + bytes(b ^ 255 for b in ARCHIVE[200:300]) + ARCHIVE[300:])
        case "junk.parquet":
            path.write_bytes(b"PAR1" + b"x" * 100)
        case "columns.parquet":
            pq.write_table(pa.table({"a": [1]}), path)
        case "deep.jsonld":
            path.write_text('{"a:b":' * 5_000 + "1" + "}" * 5_000)
        case "lost.nq":
            path.symlink_to(folder / "nowhere")
        case "junk.trig":
            path.write_bytes(b"\xff\xfe" * 50)
        case _:
            raise AssertionError(name)
    return str(path)


POISONS = [
    "torn.nq.gz", "short.nq.gz", "flipped.nq.gz", "junk.parquet", "columns.parquet", "deep.jsonld", "lost.nq", "junk.trig",
]  # fmt: skip


@pytest.mark.parametrize("limit", [None, ReadMaxRows(1)])
@pytest.mark.parametrize("name", POISONS)
def test_a_file_that_cannot_be_read_is_a_dead_letter(tmp_path: Path, name: str, limit: Any) -> None:
    path = poison(tmp_path, name)
    (tmp_path / "good.nq").write_text(GOOD)
    run = Followed(tmp_path)
    events = sum(run.batch(limit) for _ in range(3))
    assert events >= 1
    assert {letter.source for letter in run.letters} == {path}
    assert all(letter.reason for letter in run.letters)
    told = len(run.letters)
    assert told == 1 or name != "lost.nq"
    (tmp_path / "more.nq").write_text(at_time("e2", 2) + quad("e2"))
    assert run.batch(limit) == 1
    assert len(run.letters) == told  # once


@pytest.mark.parametrize("name", POISONS)
def test_what_cannot_be_read_does_not_decide_the_kind_of_time(tmp_path: Path, name: str) -> None:
    poison(tmp_path, name)
    os.utime(tmp_path / name, (1, 1), follow_symlinks=False)
    (tmp_path / "good.nq").write_text(GOOD)
    assert first_kind([file.path for file in list_files([str(tmp_path)])]) is TimeKind.INTEGER


def test_a_file_that_vanishes_between_planning_and_reading(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text(GOOD)
    (tmp_path / "b.nq").write_text(GOOD)
    run = Followed(tmp_path)
    end = run.reader.latestOffset(NOTHING, ReadAllAvailable())
    (tmp_path / "a.nq").unlink()
    parts = run.reader.partitions(NOTHING, end)
    assert sum(rows.num_rows for part in parts for rows in run.reader.read(part)) == 1
    assert [letter.source for letter in run.letters] == [str(tmp_path / "a.nq")]
    assert "cannot be read" in run.letters[0].reason


@pytest.mark.parametrize("text", ["", GOOD[:-30], GOOD + GOOD.replace("e1", "e2")])
def test_a_file_that_changes_after_it_was_seen_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.nq").write_text(GOOD)
    run = Followed(tmp_path)
    end = run.reader.latestOffset(NOTHING, ReadAllAvailable())
    (tmp_path / "a.nq").write_text(text)
    for part in run.reader.partitions(NOTHING, end):
        list(run.reader.read(part))
    assert "the file has changed" in run.letters[-1].reason


def test_a_file_that_grows_after_it_was_read_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text(GOOD)
    run = Followed(tmp_path)
    assert run.batch() == 1
    for number in (2, 3):
        with (tmp_path / "a.nq").open("a") as out:
            out.write(at_time(f"e{number}", number) + quad(f"e{number}"))
        assert run.batch() == 0
    (letter,) = run.letters
    assert letter.source == str(tmp_path / "a.nq")
    assert "has changed since it was read" in letter.reason


def test_a_folder_that_vanishes_is_an_empty_one(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.nq").write_text(GOOD)
    run = Followed(folder)
    assert run.batch() == 1
    (folder / "a.nq").unlink()
    folder.rmdir()
    assert run.batch() == 0
    folder.mkdir()
    (folder / "b.nq").write_text(GOOD)
    assert run.batch() == 1


def test_a_file_that_comes_too_late_is_told_once(tmp_path: Path) -> None:
    day = 86_400
    (tmp_path / "a.nq").write_text(GOOD)
    os.utime(tmp_path / "a.nq", (100 * day, 100 * day))
    run = Followed(tmp_path)
    assert run.batch() == 1
    (tmp_path / "old.nq").write_text(GOOD)
    os.utime(tmp_path / "old.nq", (1 * day, 1 * day))
    assert [run.batch() for _ in range(3)] == [0, 0, 0]
    assert [(letter.source, letter.reason) for letter in run.letters] == [
        (str(tmp_path / "old.nq"), "the file is older than the newest one done by more than maxFileAge, and not read")
    ]
    again = Followed(tmp_path)  # a restart cannot tell it from one that was read long ago
    again.start = run.start
    assert again.batch() == 0
    assert not again.letters
