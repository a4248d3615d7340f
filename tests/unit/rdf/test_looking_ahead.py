"""What is read to look ahead is kept while there is room, and read again where there is none; nobody can tell which."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batches import KEY, Event, at_time, events_of, quad
from scepter.io.sources import open_source
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.looking_ahead import Asked, LookedAhead, Room
from scepter.rdf.nquads import ReadState
from scepter.rdf.source import EventSource

LARGE = 1 << 30


class Counted:
    """A source that counts how often it is read, in small batches."""

    def __init__(self, source: EventSource) -> None:
        self.name = source.name
        self.reads = 0
        self._source = source

    def batches(self, *given: Any, **named: Any) -> Iterator[EventBatch]:
        self.reads += 1
        return self._source.batches(*given, **named, batch_bytes=200)

    def lasting(self) -> Counted:
        return self


def counted(tmp_path: Path, events: int, name: str = "s.nq") -> Counted:
    path = tmp_path / name
    path.write_text("junk\n" + "".join(at_time(f"e{i}", i) + quad(f"e{i}") + f"bad line {i}\n" for i in range(events)))
    return Counted(open_source(path))


def given(looked: LookedAhead) -> tuple[list[Event], list[DeadLetter], list[tuple[int, int]]]:
    letters: list[DeadLetter] = []
    told: list[tuple[int, int]] = []
    events = events_of(looked.batches(letters.append, lambda read, total: told.append((read, total))))
    return events, letters, told


def asked() -> Asked:
    return Asked(KEY, 0, None, ReadState())


@pytest.mark.parametrize(("room", "reads"), [(LARGE, 1), (2000, 2), (0, 2)])
def test_the_text_is_read_once_if_there_is_room(tmp_path: Path, room: int, reads: int) -> None:
    source = counted(tmp_path, 40)
    looked = LookedAhead(source, asked(), Room(room))
    assert looked.survey.events == 40
    events, letters, told = given(looked)
    assert source.reads == reads
    assert [event[:2] for event in events] == [(i, i) for i in range(40)]
    assert [letter.line for letter in letters] == [1, *range(4, 122, 3)]
    assert told[-1] == (looked.survey.bytes, looked.survey.bytes)


def test_room_is_shared_and_given_back(tmp_path: Path) -> None:
    alone = Room(LARGE)
    looked = LookedAhead(counted(tmp_path, 40), asked(), alone)
    needed = LARGE - alone.left
    assert needed > 0
    assert len(given(looked)[0]) == 40
    assert alone.left == LARGE

    room = Room(needed + needed // 2)
    first, long, last = (counted(tmp_path, n, f"{n}.nq") for n in (40, 400, 10))
    for source in (first, long, last):
        assert len(given(LookedAhead(source, asked(), room))[0]) == looked_events(source)
    assert [first.reads, long.reads, last.reads] == [1, 2, 1]

    tight = Room(needed + needed // 2)
    kept = [LookedAhead(counted(tmp_path, 40, f"{name}.nq"), asked(), tight) for name in "ab"]
    assert [len(given(each)[0]) for each in kept] == [40, 40]
    assert [each._source.reads for each in kept] == [1, 2]  # type: ignore[attr-defined]


def looked_events(source: Counted) -> int:
    return int(Path(source.name).stem)


def test_the_survey_is_of_the_whole_source_when_room_runs_out(tmp_path: Path) -> None:
    path = tmp_path / "s.nq"
    times = [*range(100, 200), 3]
    path.write_text("".join(at_time(f"e{i}", t) + quad(f"e{i}") for i, t in enumerate(times)))
    for room in (LARGE, 1500, 0):
        survey = LookedAhead(Counted(open_source(path)), asked(), Room(room)).survey
        assert (survey.disorder, survey.first, survey.last, survey.events) == (196, 3, 199, 101)


def test_nothing_at_all(tmp_path: Path) -> None:
    (tmp_path / "none.nq").write_text("")
    looked = LookedAhead(open_source(tmp_path / "none.nq"), asked(), Room(LARGE))
    assert looked.survey.kind is None
    assert given(looked)[:2] == ([], [])
