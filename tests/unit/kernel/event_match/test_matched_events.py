"""The state of an event pattern, written down and taken over: the answers stay the same."""

from __future__ import annotations

import random

import pytest

import scepter
from scepter.kernel.event_match.matched_events import EventMatch
from scepter.runtime.pipeline import Pipeline

TRIPLES = [":a :p :b", ":b :q :c", ":c :r :d", ":e :p :b", ":b :q :f", ":f :r :g", ":c :r :h", ":b :q :c"]


OTHERS = ["", "MATCH { E1 }", "OPTIONAL { MATCH { E2 SEQ CHRONOLOGICAL E3 } }"]
"""What stands beside a MATCH: none, one that sees what it consumes, one that consumes too."""


def answers(match: str, again: int | None, beside: str = "") -> list[tuple[object, ...]]:
    """The rows; after so many events the state is written down and read again."""
    query = f"""PREFIX : <http://example/> SELECT * FROM NAMED :S WIN [RANGE 6 STEP 1] AS :w
      EVENT ON :w {{ ?x :p ?y }} AS E1 EVENT ON :w {{ ?y :q ?z }} AS E2 EVENT ON :w {{ ?z :r ?u }} AS E3
      WHERE {{ MATCH {{ {match} }} {beside} }}"""
    engine = scepter.Engine(scepter.parse(query, "rsep-ql"))
    found: list[scepter.Match] = []
    for time, triple in enumerate(TRIPLES * 3):
        found += engine.push(scepter.Event("http://example/S", f"PREFIX : <http://example/> {triple} .", time))
        if time == again:
            tasks = engine._engine._tasks
            assert tasks is not None
            (task,) = tasks
            assert isinstance(task, Pipeline)
            for operator in (each for each in task._operators if isinstance(each, EventMatch)):
                operator.load({name: array.copy() for name, array in operator.dump().items()})
                operator.save()
    return [(m.start, m.end, sorted(map(str, m.bindings.items()))) for m in [*found, *engine.close()]]


@pytest.mark.parametrize(
    "match",
    [
        "E1 SEQ E2 SEQ E3",
        "E1 SEQ RECENT E2 SEQ RECENT E3",
        "E1 SEQ CHRONOLOGICAL E2",
        "E1 SEQ NAIVE E2",
        "E1 SEQ (E2 SEQ RECENT E3)",
    ],
)
@pytest.mark.parametrize("beside", OTHERS)
def test_state_goes_on_where_it_was(match: str, beside: str) -> None:
    wanted = answers(match, None, beside)
    assert wanted
    for again in (3, 5, 9, 14):
        assert answers(match, again, beside) == wanted


def test_what_is_consumed_stays_so_when_the_table_grows() -> None:
    """A right side that has had its turn still waits when the table is renewed for more rows: it must not have another."""
    query = """PREFIX : <http://example/> SELECT ?x ?z FROM NAMED :S WIN [LND 0] AS :w
      EVENT ON :w { ?x :p ?y } AS E1 EVENT ON :w { ?y :q ?z } AS E2 WHERE { MATCH { E1 SEQ CHRONOLOGICAL E2 } }"""
    engine = scepter.Engine(scepter.parse(query, "rsep-ql"))
    found: list[scepter.Match] = []
    draw = random.Random(3)
    for time in range(1, 200):
        triple = f":a{time} :p :y" if draw.random() < 0.6 else f":y :q :z{time}"
        found += engine.push(scepter.Event("http://example/S", f"PREFIX : <http://example/> {triple} .", time))
    ends = [match.end for match in [*found, *engine.close()]]
    assert len(ends) == len(set(ends)) == 81
