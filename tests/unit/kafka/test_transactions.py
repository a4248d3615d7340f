"""Transactions over a broker that is away, without one: a client that fails as the library does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scepter.errors import DataError
from scepter.kafka import transactions
from scepter.kafka.address import Address
from scepter.kafka.transactions import Mark, Outgoing, Transactions

kafka = pytest.importorskip("confluent_kafka", reason="the Kafka client is not installed")
MESSAGES = [Outgoing("a", "a", "{}")]
MARKS = [Mark("t", 0, 5)]


class Client:
    """A client whose calls take 15 seconds of a clock and fail while the broker is away."""

    def __init__(self) -> None:
        self.now = 0.0
        self.away: Callable[[str], bool] = lambda call: False
        self.calls: list[str] = []
        self.aborts = False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.calls.append(name)
            if name == "poll":
                self.now += 0.1
            if self.away(name):
                if name == "produce":
                    raise BufferError
                self.now += 15
                error = kafka.KafkaError(
                    kafka.KafkaError._TIMED_OUT, "away", False, not self.aborts, self.aborts and name != "abort_transaction"
                )
                raise kafka.KafkaException(error)
            return [] if name == "committed" else None

        return call


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    found = Client()
    monkeypatch.setattr(transactions, "producer", lambda address, name: found)
    monkeypatch.setattr(transactions, "consumer", lambda address, **settings: found)
    return found


def opened(client: Client) -> Transactions:
    return Transactions(Address("localhost:9092", "t", timeout=60), "run", lambda: client.now)


@pytest.mark.parametrize("where", ["produce", "send_offsets_to_transaction", "commit_transaction"])
def test_all_steps_of_a_transaction_together_wait_as_long_as_the_address_says(client: Client, where: str) -> None:
    writing = opened(client)
    client.away = lambda call: call == where
    with pytest.raises(DataError, match="no broker has answered for 60 seconds"):
        writing.write(MESSAGES, MARKS)
    assert client.now <= 60 + 2 * 15


def test_a_transaction_that_must_be_given_up_while_the_broker_is_away(client: Client) -> None:
    writing = opened(client)
    client.away, client.aborts = lambda call: call in ("commit_transaction", "abort_transaction"), True
    with pytest.raises(DataError, match="no broker has answered"):
        writing.write(MESSAGES, MARKS)
    assert client.now <= 60 + 3 * 15


def test_a_broker_that_is_back_gets_the_rest(client: Client) -> None:
    writing = opened(client)
    client.away = lambda call: client.now < 40 and call.endswith("_transaction") and call != "begin_transaction"
    writing.write(MESSAGES, MARKS)
    assert client.calls.count("begin_transaction") >= 1 and client.calls[-1] == "commit_transaction"


class Moving(Client):
    """A client whose group's coordinator is moved while it is asked, so that it answers at once that it is none."""

    def __init__(self, until: float) -> None:
        super().__init__()
        self.until = until

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def committed(self, asked: list[Any], timeout: float) -> list[Any]:
        if self.now < self.until:
            raise kafka.KafkaException(kafka.KafkaError(kafka.KafkaError.NOT_COORDINATOR))
        return [kafka.TopicPartition(each.topic, each.partition, 4) for each in asked]


@pytest.mark.parametrize(("until", "found"), [(2.0, True), (100.0, False)])
def test_a_coordinator_that_moves_is_waited_for(monkeypatch: pytest.MonkeyPatch, until: float, found: bool) -> None:
    client = Moving(until)
    monkeypatch.setattr(transactions, "producer", lambda address, name: client)
    monkeypatch.setattr(transactions, "consumer", lambda address, **settings: client)
    writing = Transactions(Address("localhost:9092", "t", timeout=60), "run", lambda: client.now, client.pause)
    if found:
        assert writing.marks([("t", 0)]) == {("t", 0): Mark("t", 0, 4)}
        assert 2 <= client.now < 3
    else:
        with pytest.raises(DataError, match="no broker has answered for 60 seconds"):
            writing.marks([("t", 0)])


class Stuck(Client):
    """A client whose first producer never comes back from one call, and which holds what was committed."""

    def __init__(self) -> None:
        super().__init__()
        self.made = 0
        self.committed_offset = 4
        self.let_go = threading.Event()

    def producer(self) -> Stuck:
        self.made += 1
        return self

    def send_offsets_to_transaction(self, *given: Any) -> None:
        if self.made == 1:
            self.let_go.wait()

    def committed(self, asked: list[Any], timeout: float) -> list[Any]:
        return [kafka.TopicPartition(each.topic, each.partition, self.committed_offset) for each in asked]


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    found = Stuck()
    monkeypatch.setattr(transactions, "producer", lambda address, name: found.producer())
    monkeypatch.setattr(transactions, "consumer", lambda address, **settings: found)
    monkeypatch.setattr(transactions, "_STUCK", 0.05)
    yield found
    found.let_go.set()


def test_a_call_that_never_ends_is_left_behind_with_its_producer(stuck: Stuck) -> None:
    writing = opened(stuck)
    assert writing.marks([("t", 0)]) == {("t", 0): Mark("t", 0, 4)}
    writing.write(MESSAGES, MARKS)
    assert stuck.made == 2
    assert [call for call in stuck.calls if call.endswith(("_transaction", "_transactions"))] == [
        "init_transactions", "begin_transaction", "init_transactions", "begin_transaction", "commit_transaction",
    ]  # fmt: skip


def test_a_run_that_was_left_behind_by_another_one_writes_no_more(stuck: Stuck) -> None:
    writing = opened(stuck)
    writing.marks([("t", 0)])
    stuck.committed_offset = 5
    with pytest.raises(DataError, match="another run went on"):
        writing.write(MESSAGES, MARKS)
    assert "commit_transaction" not in stuck.calls
