"""One broker for all tests of this folder; without Java, Maven or the client, they are skipped and say why."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from patience import PATIENCE
from scepter.bench.broker import Broker, NoBroker, broker, create_topics


class Topics:
    """Makes topics of a broker, fills them and reads them."""

    def __init__(self, running: Broker) -> None:
        self.broker = running

    def new(self, partitions: int = 1) -> str:
        """A topic of its own."""
        name = f"t{uuid.uuid4().hex[:12]}"
        create_topics(self.broker.address, {name: partitions})
        return name

    def url(self, topic: str, query: str = "") -> str:
        return f"kafka://{self.broker.address}/{topic}{query and '?' + query}"

    def fill(self, topic: str, values: Iterable[str | bytes | None], partition: int | None = None, begin: int = 0) -> None:
        """Messages whose times count up; without a partition, to one after the other."""
        from confluent_kafka import Producer

        client = Producer({"bootstrap.servers": self.broker.address})
        count = len(client.list_topics(topic, timeout=PATIENCE).topics[topic].partitions)
        failed: list[Any] = []
        for number, value in enumerate(values):
            text = value.encode() if isinstance(value, str) else value
            place = number % count if partition is None else partition
            client.produce(
                topic, text, partition=place, timestamp=1_000_000 + begin + number,
                on_delivery=lambda error, message: failed.append(error) if error else None,
            )  # fmt: skip
            client.poll(0)
        assert client.flush(PATIENCE) == 0 and not failed

    def read(self, topic: str, *, committed: bool = True) -> list[Any]:
        """All messages of a topic to its end now."""
        from confluent_kafka import Consumer, TopicPartition

        client = Consumer(
            {
                "bootstrap.servers": self.broker.address,
                "group.id": "reader",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed" if committed else "read_uncommitted",
            }
        )
        numbers = client.list_topics(topic, timeout=PATIENCE).topics[topic].partitions
        client.assign([TopicPartition(topic, number, 0) for number in numbers])
        found, ended = [], 0
        while ended < len(numbers):
            message = client.poll(PATIENCE)
            assert message is not None
            if message.error() is None:
                found.append(message)
            else:
                ended += 1
        client.close()
        return found

    def forget_what_no_run_needs(self, topic: str) -> list[int]:
        """Delete all before the offsets that a run's group has committed; where each partition begins then."""
        from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
        from confluent_kafka.admin import AdminClient

        client = AdminClient({"bootstrap.servers": self.broker.address})
        groups = [each.group_id for each in client.list_consumer_groups().result(PATIENCE).valid]
        asked = [client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]) for group in groups]
        found = [place for each in asked for future in each.values() for place in future.result(PATIENCE).topic_partitions]
        marks = [TopicPartition(topic, place.partition, place.offset) for place in found if place.topic == topic]
        for future in client.delete_records(marks).values() if marks else ():
            future.result(PATIENCE)
        return [place.offset for place in sorted(marks, key=lambda place: place.partition)]

    def matches(self, topic: str) -> list[dict[str, Any]]:
        """The JSON of the messages that are committed."""
        return [json.loads(message.value()) for message in self.read(topic)]


@pytest.fixture(scope="session")
def topics() -> Iterator[Topics]:
    pytest.importorskip("confluent_kafka", reason="the Kafka client is not installed: pip install 'scepter[kafka]'")
    try:
        running = broker()
        found = running.__enter__()
    except NoBroker as why:
        pytest.skip(f"no Kafka broker: {why}")
    yield Topics(found)
    running.__exit__(None, None, None)
