"""Transactions over a broker that is away, without one: a client that fails as the library does."""

from __future__ import annotations

from collections.abc import Callable
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
