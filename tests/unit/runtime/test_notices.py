"""What a run says about its data, on Spark too: once, wherever it was found."""

from __future__ import annotations

import pytest

from buckets import job_of, triples
from microbatches import Micro, graph_event
from scepter.kernel.state.container import unpack
from scepter.rdf.batch import DeadLetter
from scepter.rdf.formats import events_to_batch
from scepter.rdf.nquads import ReadState
from scepter.runtime.notices import SCHEMA_IGNORED, Notices, received, sent
from scepter.runtime.queries import parse
from scepter.runtime.spark import whole
from scepter.runtime.spark.jobs import Job, pack_batch
from scepter.runtime.spark.streaming import _report
from scepter.runtime.spark.whole import run_events

STREAM = "http://example/s"
QUERY = parse(
    "PREFIX : <http://example/> REGISTER QUERY q AS SELECT ?x FROM STREAM <http://example/s> [RANGE 10s] WHERE { ?x :p :y }",
    "sparkwave",
)
SCHEMA = ":C <http://www.w3.org/2000/01/rdf-schema#subClassOf> :D ."


def job(*, live: bool) -> Job:
    return job_of(QUERY, 1, live=live, given={STREAM})


def test_notices_take_the_way_of_dead_letters_and_are_told_once() -> None:
    letters: list[DeadLetter] = []
    for _ in range(2):  # two tasks
        task = sent(letters.append)
        task.tell("so")
        task.tell("so")
    letters.append(DeadLetter("s", 3, "broken"))
    told: list[str] = []
    assert list(received(letters, Notices(told.append))) == [DeadLetter("s", 3, "broken")]
    assert told == ["so"]


def test_history() -> None:
    given = job(live=False)
    event = graph_event(given, STREAM, 1, 1, triples(SCHEMA + " :x :p :y ."))
    blob = pack_batch(events_to_batch([event], given.key, given.kind, run=ReadState(given.kind)), 0)
    letters: list[DeadLetter] = []
    assert len(run_events(given, given.shares[0], 0, [memoryview(blob)], letters.append)) == 1
    assert [letter.reason for letter in letters] == [SCHEMA_IGNORED]


@pytest.mark.parametrize("memory_lost", [False, True])
def test_live(memory_lost: bool) -> None:
    given = job(live=True)
    live = Micro(QUERY, given)
    letters: list[DeadLetter] = []

    def said() -> int:
        for data in live.letters:
            _report(given.streams, given.kind, letters.append, data)
        live.letters.clear()
        letters.extend(live.reported)
        live.reported.clear()
        return len(letters)

    live.batch([graph_event(given, STREAM, 1, 1, triples(":x :p :y ."))])
    assert said() == 0
    for time in (2, 3):
        if memory_lost:
            whole._AT_HAND.clear()
        live.batch([graph_event(given, STREAM, time, time, triples(SCHEMA))])
    assert said() >= 1
    assert {letter.reason for letter in letters} == {SCHEMA_IGNORED}
    told: list[str] = []
    assert list(received(letters, Notices(told.append))) == []
    assert told == [SCHEMA_IGNORED]


def test_late_events_are_letters_all_the_same() -> None:
    given = job(live=True)
    live = Micro(QUERY, given)
    live.batch([graph_event(given, STREAM, 5000, 5000, triples(":x :p :y ."))])
    live.batch([graph_event(given, STREAM, 2, 2, triples(":x :p :y ."))])
    data, jump = live.letters
    assert unpack(data)[0]["time"].tolist() == [2]
    assert b"5000" in jump  # the event behind which it is late
