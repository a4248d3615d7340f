"""Events in the far future: held back until another confirms them; without the option, told when they do harm."""

from __future__ import annotations

import logging
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scepter
from batches import KEY, at_time, quad
from scepter.io.sources import open_source
from scepter.rdf.batch import DeadLetter, kept
from scepter.rdf.nquads import NQuadsReader
from scepter.runtime.jumps import Jumps, stretches, unconfirmed
from scepter.runtime.local import run_local
from scepter.runtime.options import RunOptions
from scepter.timeline import TimeKind

QUERY = """PREFIX : <http://e/>
SELECT ?s WITHIN 5 FROM STREAM S <http://e/stream> WHERE { SEQ (A) DEFINE GPM A ON S { ?s :p ?o } }"""


def found(tmp_path: Path, times: list[int], **options: object) -> tuple[list[int], list[str]]:
    path = tmp_path / "a.nq"
    path.write_text("".join(at_time(f"e{i}", t) + quad(f"e{i}") for i, t in enumerate(times)))
    letters: list[DeadLetter] = []
    query = scepter.parse(QUERY)
    given = RunOptions.of(**options)  # type: ignore[arg-type]
    matches = run_local(query, {"http://e/stream": open_source(path)}, options=given, dead_letter=letters.append)
    return [match.end for match in matches], [letter.reason for letter in letters]


FAR = 10**9


def test_one_event_in_the_far_future_makes_nothing_late(tmp_path: Path) -> None:
    times = [1, 2, FAR, *range(3, 1000)]
    ends, letters = found(tmp_path, times, max_delay=0, max_advance=100)
    assert ends == sorted(set(times) - {FAR})
    assert letters == [f"{FAR} would move time on by more than 100 (--max-advance), and no other event confirms it"]


def test_a_jump_that_is_confirmed_is_a_jump(tmp_path: Path) -> None:
    ends, letters = found(tmp_path, [1, 2, FAR, FAR + 1, 3, FAR + 2], max_delay=0, max_advance=100)
    assert ends == [1, 2, FAR, FAR + 1, FAR + 2]
    assert len(letters) == 1
    assert letters[0].startswith("late: 3")


def test_without_the_option_the_cause_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "scepter"):
        _, letters = found(tmp_path, [1, 2, 3, FAR, *range(4, 1000)], max_delay=0)
    assert len(letters) == 996
    assert len(caplog.messages) == 1
    assert f"the event at 4 is late because one at {FAR} has moved time on from 3" in caplog.messages[0]


def test_events_that_are_just_late_are_no_jump(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "scepter"):
        found(tmp_path, [1, 2, 3, 9, 4, 10, 5], max_delay=1)
    assert caplog.messages == []


def test_the_engine_holds_back_too(caplog: pytest.LogCaptureFixture) -> None:
    def event(time: int) -> scepter.Event:
        return scepter.Event("http://e/stream", "<http://e/s> <http://e/p> 1 .", time)

    engine = scepter.Engine(scepter.parse(QUERY), max_advance=100)
    matches = engine.push_all([event(1), event(FAR), event(2), event(3)])
    assert [match.end for match in matches] == [1, 2, 3]
    assert [held.end for held in engine.held] == [FAR]
    assert not engine.late
    assert [match.end for match in engine.push(event(FAR + 5))] == [FAR, FAR + 5]
    assert not engine.held
    plain = scepter.Engine(scepter.parse(QUERY))
    with caplog.at_level(logging.WARNING, "scepter"):
        plain.push_all([event(1), event(2), event(3), event(FAR), event(4), event(5)])
    assert len(plain.late) == 2
    assert len(caplog.messages) == 1


@given(st.lists(st.integers(0, 60), max_size=30), st.integers(1, 12))
def test_what_is_admitted_and_what_is_held_are_all(ends: list[int], limit: int) -> None:
    jumps: Jumps[int] = Jumps(limit)
    taken = [token for number, end in enumerate(ends) for token in jumps.admit(end, number)]
    held = [token for _, token in jumps.held]
    assert sorted([*taken, *held]) == list(range(len(ends)))
    greatest = max((ends[token] for token in taken), default=0)
    assert all(ends[token] > greatest + limit for token in held)  # nothing waits that time has come near to
    assert all(abs(ends[a] - ends[b]) > limit for a in held for b in held if a != b)  # nor that another confirms


@given(st.lists(st.integers(0, 60), min_size=1, max_size=30), st.integers(1, 12))
def test_calm_is_what_holds_nothing_back(ends: list[int], limit: int) -> None:
    one: Jumps[int] = Jumps(limit)
    calm = one.calm(np.array(ends))
    other: Jumps[int] = Jumps(limit)
    alone = [other.admit(end, number) for number, end in enumerate(ends)]
    assert calm == all(tokens == [number] for number, tokens in enumerate(alone))


def test_events_of_a_batch_can_be_left_out() -> None:
    reader = NQuadsReader(KEY, 0, "t", lambda letter: None)
    reader.feed("".join(at_time(f"e{i}", i) + quad(f"e{i}") * (i + 1) + quad(f"e{i}", object='"x"') for i in range(4)).encode())
    batch = reader.finish()
    assert batch is not None
    part = kept(batch, np.array([True, False, False, True]))
    assert (part.events, part.triples, part.end.tolist(), part.first.tolist()) == (2, 4, [0, 3], [0, 2, 4])
    assert part.object.tolist() == [*batch.object[:2], *batch.object[-2:]]


@pytest.mark.parametrize("option", ["max_advance", "max_future"])
def test_options_that_are_none(option: str) -> None:
    with pytest.raises(scepter.OptionError, match=option):
        RunOptions.of(**{option: "soon"})  # type: ignore[arg-type]


def test_the_bound_of_the_future_can_be_lifted() -> None:
    assert RunOptions.of(max_future="none").future_on(TimeKind.DATETIME) is None
    assert RunOptions.of(max_future="1h").future_on(TimeKind.DATETIME) == 3_600_000_000


@given(st.lists(st.integers(-(2**63) + 4, 2**63 - 4), max_size=8), st.integers(0, 2**62))
def test_calm_events_are_those_that_would_all_be_taken(times: list[int], limit: int) -> None:
    one_by_one: Jumps[int] = Jumps(limit)
    at_once: Jumps[int] = Jumps(limit)
    assert at_once.calm(np.array(times, np.int64)) == all(one_by_one.admit(end, end) == [end] for end in times)


def test_an_event_that_waits_does_not_disturb_those_far_before_it() -> None:
    jumps: Jumps[int] = Jumps(10, 5, [(1_000, 0)])
    assert jumps.calm(np.array([6, 12]))
    assert not jumps.calm(np.array([22, 32, 42, *range(52, 993, 10)]))  # reaches it


@given(
    st.lists(st.integers(0, 60) | st.sampled_from([-(2**63) + 4, 2**63 - 4]), max_size=30),
    st.integers(0, 12),
    st.lists(st.integers(0, 30), max_size=4),
)
def test_parts_that_are_looked_at_apart_tell_what_nothing_confirms(times: list[int], limit: int, cuts: list[int]) -> None:
    jumps: Jumps[int] = Jumps(limit)
    for time in times:
        jumps.admit(time, time)
    edges = sorted({0, len(times), *(cut for cut in cuts if cut < len(times))})
    parts = [part for a, b in pairwise(edges) for part in stretches(np.array(times[a:b], np.int64), limit)]
    assert sorted(unconfirmed(parts, limit)) == sorted(end for end, _ in jumps.held)
