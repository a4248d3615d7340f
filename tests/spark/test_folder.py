from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from batches import KEY, PROV, at_time, events_of, quad
from scepter.errors import OptionError
from scepter.runtime.spark.folder import NOTHING, Folder, Limits, Offset, count_events, events_end, list_files
from scepter.runtime.spark.range_reading import read_range
from scepter.runtime.spark.ranges import Range
from scepter.runtime.spark.source import EventStreamReader
from scepter.timeline import TimeKind

HOUR = 3_600_000_000
ALL = Limits()
FOLDER = Folder(HOUR, TimeKind.INTEGER)


def put(path: Path, first: int, count: int, minutes: int) -> None:
    path.write_text("".join(at_time(f"e{i}", i) + quad(f"e{i}", "_:x") for i in range(first, first + count)))
    os.utime(path, (minutes * 60, minutes * 60))


def read(start: Offset, end: Offset, share: int = 1 << 20) -> list[int]:
    kind = TimeKind.INTEGER
    parts = FOLDER.ranges(start, end, share)
    return [event[0] for part in parts for event in events_of(read_range(part, KEY, 0, lambda letter: None, kind=kind))]


def step(start: Offset, folder: Path, limits: Limits = ALL) -> Offset:
    """The next offset, as it comes back from a checkpoint; what is given is left as it was."""
    before = copy.deepcopy(start)
    end: Offset = json.loads(json.dumps(FOLDER.advance(start, list_files([str(folder)]), limits)))
    assert start == before
    return end


def test_nothing_new_is_the_same_offset(tmp_path: Path) -> None:
    assert step(NOTHING, tmp_path) == NOTHING
    put(tmp_path / "a.nq", 0, 2, 1)
    end = step(NOTHING, tmp_path)
    assert step(end, tmp_path) == end
    assert read(end, end) == []


def test_replay_reads_the_same_bytes_even_if_files_came_or_grew(tmp_path: Path) -> None:
    put(tmp_path / "a.nq", 0, 3, 5)
    first = step(NOTHING, tmp_path)
    put(tmp_path / "a.nq", 0, 4, 9)
    put(tmp_path / "b.nq", 10, 1, 5)
    second = step(first, tmp_path)
    assert read(NOTHING, first) == read(NOTHING, first, share=50) == [0, 1, 2]
    assert read(first, second) == [10]


def test_offsets_forget_files_that_are_long_done(tmp_path: Path) -> None:
    offset = NOTHING
    for hour in range(6):
        put(tmp_path / f"{hour}.nq", hour, 1, 60 * hour)
        end = step(offset, tmp_path)
        assert read(offset, end) == [hour]
        assert len(end["files"]) <= 2
        offset = end


def test_a_batch_over_long_history_forgets_nothing_of_its_own(tmp_path: Path) -> None:
    for hour in range(6):
        put(tmp_path / f"{hour}.nq", hour, 1, 60 * hour)
    end = step(NOTHING, tmp_path)
    assert read(NOTHING, end) == list(range(6))
    assert step(end, tmp_path) == end


def test_a_file_that_comes_too_late_is_told_and_left(tmp_path: Path) -> None:
    put(tmp_path / "new.nq", 0, 1, 600)
    end = step(NOTHING, tmp_path)
    put(tmp_path / "old.nq", 1, 1, 600 - 61)
    put(tmp_path / "young.nq", 2, 1, 600 - 59)
    following = step(end, tmp_path)
    assert read(end, following) == [2]
    assert following["old"] == [str(tmp_path / "old.nq")]


def test_a_file_that_changes_after_it_was_read_is_told_once(tmp_path: Path) -> None:
    put(tmp_path / "a.nq", 0, 3, 5)
    put(tmp_path / "b.nq", 10, 3, 5)
    first = step(NOTHING, tmp_path, Limits(events=4))
    put(tmp_path / "a.nq", 0, 5, 6)
    put(tmp_path / "b.nq", 10, 5, 6)
    second = step(first, tmp_path)  # of b there was something left to read
    assert (read(first, second), second["changed"]) == ([11, 12], [str(tmp_path / "a.nq")])
    third = step(second, tmp_path)
    assert (read(second, third), third["changed"]) == ([], [str(tmp_path / "b.nq")])
    put(tmp_path / "a.nq", 0, 9, 7)
    assert step(third, tmp_path) == third
    told = EventStreamReader.partitions(SimpleNamespace(folder=FOLDER, settings=SimpleNamespace(partitions=1)), second, third)  # type: ignore[arg-type]
    assert [(part.value[0], "has changed" in part.value[1]) for part in told] == [(str(tmp_path / "b.nq"), True)]


def test_limits_of_files_and_their_order(tmp_path: Path) -> None:
    put(tmp_path / "z.nq", 0, 1, 1)
    put(tmp_path / "b.nq", 2, 1, 2)
    put(tmp_path / "a.nq", 1, 1, 2)
    offset, seen = NOTHING, []
    for _ in range(3):
        end = step(offset, tmp_path, Limits(files=1))
        seen.append(read(offset, end))
        offset = end
    assert seen == [[0], [1], [2]]


@pytest.mark.parametrize("events", [1, 2, 3, 7, 100])
def test_limits_of_events_cut_files_of_lines(tmp_path: Path, events: int) -> None:
    put(tmp_path / "a.nq", 0, 10, 1)
    put(tmp_path / "b.nq", 10, 9, 2)
    offset, seen, salts = NOTHING, [], set()
    while (end := step(offset, tmp_path, Limits(events=events))) != offset:
        found = read(offset, end, share=200)
        assert 0 < len(found) <= events
        seen += found
        salts |= {(part.salt, part.path) for part in FOLDER.ranges(offset, end, 200)}
        offset = end
    assert seen == list(range(19))
    assert len({salt for salt, _ in salts}) == len(salts)


def test_files_that_cannot_be_cut_are_taken_whole(tmp_path: Path) -> None:
    texts = (f"<a:e{i}> {{ <a:s> <a:p> 1 }} <a:e{i}> <{PROV}generatedAtTime> {i} ." for i in range(4))
    (tmp_path / "b.trig").write_text(" ".join(texts))
    os.utime(tmp_path / "b.trig", (100, 100))
    put(tmp_path / "a.nq", 10, 1, 1)
    first = step(NOTHING, tmp_path, Limits(events=2))
    second = step(first, tmp_path, Limits(events=2))
    assert read(NOTHING, first) == [10]
    assert read(first, second) == [0, 1, 2, 3]
    assert step(second, tmp_path, Limits(events=2)) == second


def test_where_events_end(tmp_path: Path) -> None:
    put(tmp_path / "a.nq", 0, 50, 1)
    path = str(tmp_path / "a.nq")
    size = (tmp_path / "a.nq").stat().st_size
    whole = Range(path, 0, size, size)
    for events in (1, 20, 49):
        end, counted = events_end(whole, events, TimeKind.INTEGER, whole=True)
        assert counted == events
        assert count_events(Range(path, 0, end, size), TimeKind.INTEGER) == events
    assert events_end(whole, 50, TimeKind.INTEGER, whole=True) == (size, 50)
    assert events_end(whole, 51, TimeKind.INTEGER, whole=True) == (size, 50)


def test_sources_that_are_not_there_are_errors_and_empty_ones_are_not(tmp_path: Path) -> None:
    assert list_files([str(tmp_path), str(tmp_path / "*.nq")]) == []
    with pytest.raises(OptionError, match="does not exist"):
        list_files([str(tmp_path / "gone")])
