"""Windows and steps at the ends of what can be counted, and streams of which one is empty: an answer at once."""

from __future__ import annotations

import pytest

import scepter

FAR = 1 << 62
EVENTS = "EVENT ON :w { ?x :p ?y } AS E1 EVENT ON :v { ?y :q ?z } AS E2"


def answers(match: str, first: str, second: str, *given: tuple[int, str], report: str = "", stream: str = ":S") -> list[object]:
    windows = f"FROM NAMED :S WIN [{first}] AS :w FROM NAMED {stream} WIN [{second}] AS :v"
    query = f"PREFIX : <http://example/> SELECT * {windows} {EVENTS} {report} WHERE {{ MATCH {{ {match} }} }}"
    engine = scepter.Engine(scepter.parse(query, "rsep-ql"))
    events = [scepter.Event("http://example/S", f"PREFIX : <http://example/> {graph}", time) for time, graph in given]
    return [(found.start, found.end) for found in [*engine.push_all(events), *engine.close()]]


PAIR = ((1, ":a :p :b ."), (FAR, ":b :q :c ."))


@pytest.mark.parametrize(
    "match", ["E1 SEQ E2", "E1 SEQ CHRONOLOGICAL E2", "E1 SEQ RECENT E2", "E1 SEQ NAIVE E2", "LAST E1 SEQ E2"]
)
def test_a_step_of_one_tick_over_a_gap_of_half_the_time_line(match: str) -> None:
    close = "REPORT ON WINDOW CLOSE"
    assert answers(match, "RANGE 9223372036854775807 STEP 1", "RANGE 5 STEP 1", *PAIR, report=close) == [(1, FAR)]
    assert answers(match, "RANGE 5 STEP 1", "RANGE 5 STEP 1", *PAIR, report=close) == []


@pytest.mark.parametrize("match", ["E1 SEQ E2", "E1 SEQ RECENT E2", "E1 SEQ NAIVE E2"])
def test_one_stream_is_empty(match: str) -> None:
    assert answers(match, "RANGE 5", "LND 0", (1, ":a :p :b ."), (2, ":b :q :c ."), stream=":T") == []


@pytest.mark.parametrize("match", ["E1 SEQ E2", "E1 SEQ CHRONOLOGICAL E2", "E1 SEQ NAIVE E2"])
def test_items_between_two_windows_are_in_none(match: str) -> None:
    """Width 1, step 4: only items at multiples of 4 are ever inside."""
    assert answers(match, "RANGE 1 STEP 4", "RANGE 1 STEP 4", (1, ":a :p :b ."), (4, ":b :q :c ."), (8, ":z :z :z .")) == []
