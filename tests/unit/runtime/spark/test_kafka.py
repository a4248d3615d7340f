"""A live topic whose broker goes away while a micro-batch is planned. No broker is needed: the client's answers are made up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.types import StructType

from scepter.errors import DataError
from scepter.kafka.address import Address, parse_address
from scepter.kafka.client import Bounds, no_broker
from scepter.kafka.messages import Span
from scepter.runtime.spark import kafka
from scepter.runtime.spark.source import Settings
from scepter.timeline import TimeKind

ADDRESS = parse_address("kafka://localhost:9/t?format=nq&timeout=60s")


class Clock:
    """Time that passes while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def away(clock: Clock, since: float, until: float) -> Callable[[Address], dict[int, Bounds]]:
    def held(address: Address) -> dict[int, Bounds]:
        if since <= clock.now < until:
            raise no_broker(address, "made up")
        return {0: Bounds(0, 10)}

    return held


def reader(monkeypatch: pytest.MonkeyPatch, since: float, until: float) -> tuple[kafka.KafkaStreamReader, Clock]:
    clock = Clock()
    monkeypatch.setattr(kafka, "time", clock)
    monkeypatch.setattr(kafka, "held", away(clock, since, until))
    settings = Settings.of({"path": "kafka://localhost:9/t"})
    return kafka.KafkaStreamReader(ADDRESS, settings, StructType([]), TimeKind.INTEGER), clock


def test_a_micro_batch_waits_for_the_broker_while_it_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    live, clock = reader(monkeypatch, 1000, 1030)
    [part] = live.partitions({"0": 4}, {"0": 10})
    assert part.value == (Span(0, 4, 10), ".nq")
    assert clock.now == 1030


def test_a_broker_that_does_not_come_back_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    live, clock = reader(monkeypatch, 1000, float("inf"))
    with pytest.raises(DataError, match="no broker has answered for 60 seconds"):
        live.partitions({"0": 4}, {"0": 10})
    assert clock.now > 1060


def test_a_micro_batch_that_takes_long_is_no_silence_of_the_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    live, clock = reader(monkeypatch, 5000, 5002)
    assert live.latestOffset({"0": 4}, ReadAllAvailable()) == {"0": 10}
    clock.now = 5000.0  # Spark asks nothing while it works
    assert live.latestOffset({"0": 10}, ReadAllAvailable()) == {"0": 10}
