"""Messages written exactly once: each step of a run is one transaction, which also commits, as an offset, how far the run is.

A step that was cut off by a crash leaves nothing behind, and one that was committed is known to be: whoever starts the run
again asks for the mark first. Readers must read what is committed (`isolation.level=read_committed`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scepter.errors import DataError, Diagnostic
from scepter.kafka.address import Address
from scepter.kafka.client import consumer, gone, library, no_broker, producer

_CALL: Final = 15.0
"""Seconds that one call to the broker may take before it is made again."""
_STUCK: Final = 2 * _CALL
"""Seconds after which a call that was to end before is taken for one that never does."""
_PAUSE: Final = 0.1
"""Seconds until a call that failed at once is made again."""
ID_HEADER: Final = "scepter-match"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to write."""

    id: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a run is: an offset of a partition in the run's group, and a word about it."""

    topic: str
    partition: int
    offset: int
    word: str = ""


class _Stuck(Exception):
    """A call of the library has not come back in its time."""


class Transactions:
    """Writes to a topic for the run of a name. A second run of that name takes over: the first can write no more."""

    def __init__(
        self,
        address: Address,
        name: str,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._address = address
        self._clock = clock
        self._pause = pause
        self.ends: dict[int, int] = {}
        """By partition of the topic, the offset behind the last message written."""
        self._kafka = library()
        self._name = f"scepter-{name}"
        self._known: dict[tuple[str, int], Mark | None] = {}
        """The marks as this run has last seen or written them; None where there is none."""
        try:
            self._begin(clock() + 2 * _CALL)
        except DataError:
            raise no_broker(address, "it takes no transactions") from None

    def _begin(self, deadline: float) -> None:
        """Takes the name over: what an earlier producer of it left open is given up."""
        self._producer = producer(self._address, self._name)
        self._group = consumer(self._address, **{"group.id": self._name})
        self._retried(lambda: self._producer.init_transactions(_CALL), deadline)

    def marks(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Mark]:
        """The marks that are committed, by topic and partition; a place without one is left out."""
        every = self._committed(places, self._clock() + self._address.timeout)
        self._known |= every
        return {place: mark for place, mark in every.items() if mark is not None}

    def _committed(self, places: Iterable[tuple[str, int]], deadline: float) -> dict[tuple[str, int], Mark | None]:
        asked = [self._kafka.TopicPartition(topic, partition) for topic, partition in places]
        found: list[Any] = []
        self._retried(lambda: found.extend(self._group.committed(asked, timeout=_CALL)), deadline)
        return {
            (each.topic, each.partition): None
            if each.offset < 0
            else Mark(each.topic, each.partition, each.offset, each.metadata or "")
            for each in found
        }

    def write(self, messages: Sequence[Outgoing], marks: Sequence[Mark]) -> None:
        """All of it, or nothing. A broker that goes away is waited for as long as the address allows, for all steps and tries
        together; then the run ends, and what was begun is given up by the broker, or by the run that goes on."""
        deadline = self._clock() + self._address.timeout
        while not self._tried(messages, marks, deadline):
            if self._clock() > deadline:
                raise gone(self._address, self._address.timeout)

    def _tried(self, messages: Sequence[Outgoing], marks: Sequence[Mark], deadline: float) -> bool:
        """False if the transaction was given up, and can be tried again."""
        try:
            self._producer.begin_transaction()
            for message in messages:
                self._produce(message, deadline)
            if marks:
                told = [self._kafka.TopicPartition(m.topic, m.partition, m.offset, m.word) for m in marks]
                self._retried(lambda: self._send_offsets(told), deadline)
            self._retried(lambda: self._producer.commit_transaction(_CALL), deadline)
        except _Stuck:
            self._begin_anew(marks, deadline)
            return False
        except self._kafka.KafkaException as failure:
            error = failure.args[0]
            if error.fatal() or not error.txn_requires_abort():
                raise _broken(self._address, error.str()) from None
            self._retried(lambda: self._producer.abort_transaction(_CALL), deadline)
            return False
        self._known |= {(mark.topic, mark.partition): mark for mark in marks}
        return True

    def _send_offsets(self, told: list[Any]) -> None:
        """In a thread of its own: of a broker that was away and is back, librdkafka may wait for ever here, whatever time it
        was given (its issues 5456 and 5511)."""
        failed: list[BaseException] = []
        using, group = self._producer, self._group.consumer_group_metadata()

        def send() -> None:
            try:
                using.send_offsets_to_transaction(told, group, _CALL)
            except self._kafka.KafkaException as failure:
                failed.append(failure)

        sending = threading.Thread(target=send, name=f"sends offsets of {self._name}", daemon=True)
        sending.start()
        sending.join(_STUCK)
        if sending.is_alive():
            raise _Stuck
        if failed:
            raise failed[0]

    def _begin_anew(self, marks: Sequence[Mark], deadline: float) -> None:
        """Goes on with a new producer, unless another run has written meanwhile: that one has taken over."""
        self._begin(deadline)
        places = [(mark.topic, mark.partition) for mark in marks]
        for place, mark in self._committed(places, deadline).items():
            if place not in self._known or mark != self._known[place]:
                why = "it stopped answering, and has other marks now: another run went on, or its last transaction is lost"
                raise _broken(self._address, why)

    def _produce(self, message: Outgoing, deadline: float) -> None:
        while True:
            try:
                self._producer.produce(
                    self._address.topic, message.value.encode(), message.key.encode(), headers={ID_HEADER: message.id},
                    on_delivery=self._delivered,
                )  # fmt: skip
                return
            except BufferError:  # the library's queue is full: let it send
                if self._clock() > deadline:
                    raise gone(self._address, self._address.timeout) from None
                self._producer.poll(0.1)

    def _delivered(self, error: Any, message: Any) -> None:
        if error is None:
            self.ends[message.partition()] = message.offset() + 1

    def _retried(self, call: Callable[[], object], deadline: float) -> None:
        """Calls again what may be called again, until it is too late."""
        while True:
            try:
                call()
                return
            except self._kafka.KafkaException as failure:
                error = failure.args[0]
                if error.fatal() or error.txn_requires_abort() or not _may_pass(error, self._kafka):
                    raise
                if self._clock() > deadline:
                    raise gone(self._address, self._address.timeout) from None
                self._pause(_PAUSE)

    def close(self) -> None:
        """Leaves the broker."""
        self._group.close()


def _may_pass(error: Any, kafka: Any) -> bool:
    of = kafka.KafkaError
    passing = (
        of._TIMED_OUT, of._TRANSPORT, of._ALL_BROKERS_DOWN, of._WAIT_COORD,
        # the coordinator of a group is being found or moves: a consumer's errors do not say that they may be retried
        of.COORDINATOR_LOAD_IN_PROGRESS, of.COORDINATOR_NOT_AVAILABLE, of.NOT_COORDINATOR,
        of.NETWORK_EXCEPTION, of.REQUEST_TIMED_OUT, of.UNSTABLE_OFFSET_COMMIT,
    )  # fmt: skip
    return bool(error.retriable()) or error.code() in passing


def _broken(address: Address, why: str) -> DataError:
    return DataError(
        Diagnostic(
            "kafka-transaction",
            f"{address.name}: the broker ended the run's transactions: {why}",
            help="another run with the same checkpoint may have taken over; else start it again, and it goes on",
        )
    )
