"""A followed topic without a broker: for which partitions time waits, and where a run begins again."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest

from scepter.io import kafka_live
from scepter.io.kafka_live import KafkaLive
from scepter.kafka.address import Address
from scepter.kafka.client import Bounds
from scepter.kafka.messages import Span
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Reading

NUMBER = "^^<http://www.w3.org/2001/XMLSchema#integer>"


class One:
    """A message of one event."""

    def __init__(self, partition: int, offset: int, at: int) -> None:
        self._place, self._at = (partition, offset), at

    def value(self) -> bytes:
        return f'<http://e/a> <http://e/v> "1"{NUMBER} "{self._at}"{NUMBER} .\n'.encode()

    def partition(self) -> int:
        return self._place[0]

    def offset(self) -> int:
        return self._place[1]


class Topic:
    """Two partitions that a test fills, and a clock that it moves."""

    def __init__(self) -> None:
        self.times: list[list[int]] = [[], []]
        self.now = 0.0
        self.asked = threading.Condition()
        self.questions = 0

    def held(self, address: Address) -> dict[int, Bounds]:
        with self.asked:
            self.questions += 1
            self.asked.notify_all()
        return {number: Bounds(0, len(times)) for number, times in enumerate(self.times)}

    def merged(self, address: Address, spans: Sequence[Span]) -> Iterator[list[One]]:
        yield [One(s.partition, at, self.times[s.partition][at]) for s in spans for at in range(s.start, s.stop)]


@pytest.fixture
def topic(monkeypatch: pytest.MonkeyPatch) -> Topic:
    made = Topic()
    monkeypatch.setattr(kafka_live, "partitions", lambda address: [0, 1])
    monkeypatch.setattr(kafka_live, "held", made.held)
    monkeypatch.setattr(kafka_live, "merged", made.merged)
    monkeypatch.setattr(kafka_live, "_PAUSE", 0.001)
    return made


@pytest.fixture
def live(topic: Topic) -> Iterator[KafkaLive]:
    made = KafkaLive(Address("a:1", "t", ".nt", idle=5.0), clock=lambda: topic.now)
    yield made
    made.close()


def polled(topic: Topic, live: KafkaLive) -> dict[int, list[int]]:
    """What comes once the broker was asked again."""
    found: dict[int, list[int]] = {}
    with topic.asked:
        done = topic.questions + 3
        assert topic.asked.wait_for(lambda: topic.questions >= done, 60)
    for number, batches in live.poll().items():
        found[number] = [time for batch in batches for time in batch.end.tolist()]
    return found


def opened(live: KafkaLive) -> None:
    live.open(Reading(TermKey.fixed(), 0, "t", lambda letter: None, None, ReadState(), BATCH_BYTES, {}))


def test_a_partition_is_idle_when_nothing_came_for_a_while_and_awake_with_the_others(topic: Topic, live: KafkaLive) -> None:
    opened(live)
    assert set(live.awaited) == {0, 1}
    topic.times[0] += [1, 2]
    assert polled(topic, live) == {0: [1, 2]}
    assert set(live.awaited) == {0, 1}
    topic.now = 4.0
    topic.times[0] += [3]
    assert polled(topic, live) == {0: [3]}
    topic.now = 6.0
    polled(topic, live)
    assert set(live.awaited) == {0}
    topic.now = 10.0
    polled(topic, live)
    assert set(live.awaited) == set()
    topic.times[1] += [4]
    assert polled(topic, live) == {1: [4]}
    assert set(live.awaited) == {0, 1}  # the other may be a moment later


def test_a_run_begins_again_before_the_first_event_that_it_needs(
    topic: Topic, live: KafkaLive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_live, "_STRETCH", 1)
    live.keep_places({0: 1})  # the second partition is new: all of it
    topic.times = [[0, 1], [2]]
    opened(live)
    assert polled(topic, live) == {0: [1], 1: [2]}
    topic.times[0] += [9, 5]
    polled(topic, live)
    topic.times[0] += [6]
    polled(topic, live)
    assert live.places(1) == {0: 1, 1: 0}
    assert live.places(2) == {0: 2, 1: 0}
    assert live.places(7) == {0: 2, 1: 1}  # 9 stands with 5, before 6
    assert live.places(10) == {0: 5, 1: 1}
