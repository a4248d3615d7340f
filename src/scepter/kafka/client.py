"""The client library's part: topics, offsets, consumers. What goes wrong is told in the user's words.

Clients are made per process and never sent to another: they hold threads and sockets.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from scepter.errors import DataError, Diagnostic, OptionError, nearest, option_error
from scepter.kafka.address import EARLIEST, LATEST, Address

Client: TypeAlias = Any
"""One of the library's clients: its types are where the library is."""
_ANSWER: Final = 15.0
"""Seconds that a broker has to answer a question before anything was read."""
NO_BROKER: Final = "no-broker"
DELETED: Final = "messages-deleted"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a partition holds: offsets from `low` up to, not with, `high`. Messages of open transactions are not counted."""

    low: int
    high: int


def library() -> Any:
    """The client library, which only some users need."""
    try:
        import confluent_kafka
    except ImportError:
        raise option_error(
            "missing-package", "kafka:// needs the package confluent-kafka", help="pip install 'scepter[kafka]'"
        ) from None
    return confluent_kafka


def consumer(address: Address, **settings: Any) -> Client:
    """A consumer of what transactions have committed, which starts where it is told and keeps no place by itself."""
    library()
    from confluent_kafka import Consumer

    return _made(
        address,
        Consumer,
        {
            "group.id": "scepter",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 100,
            "queued.min.messages": 200_000,
            **settings,
        },
    )


def producer(address: Address, transactional_id: str) -> Client:
    """A producer of transactions."""
    library()
    from confluent_kafka import Producer

    return _made(address, Producer, {"transactional.id": transactional_id, "linger.ms": 5, "transaction.timeout.ms": 600_000})


def _made(address: Address, kind: Any, settings: Mapping[str, Any]) -> Any:
    from confluent_kafka import KafkaException

    try:
        return kind({"bootstrap.servers": address.servers, **_QUIET, **dict(address.settings), **settings}, logger=_SILENT)
    except KafkaException as error:
        raise option_error(
            "kafka-address", f"{address.name}: {error.args[0].str()}", help="settings are those of librdkafka"
        ) from None


_QUIET: Final = {"log_level": 0, "reconnect.backoff.max.ms": 1000, "allow.auto.create.topics": False}


def _silent() -> Any:
    import logging

    found = logging.Logger("scepter.kafka.client")
    found.addHandler(logging.NullHandler())
    return found


_SILENT: Final = _silent()
_ADMINS: Final[dict[tuple[int, Address], Client]] = {}


def admin(address: Address) -> Client:
    """The process's client for questions about an address. It is kept: one that is collected cancels its questions."""
    library()
    from confluent_kafka.admin import AdminClient

    place = (os.getpid(), address)
    if place not in _ADMINS:
        _ADMINS[place] = _made(address, AdminClient, {})
    return _ADMINS[place]


def partitions(address: Address) -> list[int]:
    """The partitions of the topic; OptionError if there is no such topic, or nobody answers."""
    from confluent_kafka import KafkaException

    try:
        topics = admin(address).list_topics(timeout=_ANSWER).topics
    except KafkaException as error:
        raise no_broker(address, error.args[0].str()) from None
    if address.topic not in topics:
        known = sorted(topic for topic in topics if not topic.startswith("__"))
        close = nearest(address.topic, known)
        hint = f"did you mean {close}?" if close else f"its topics are {', '.join(known[:20])}" if known else "it has none"
        raise option_error("unknown-topic", f"{address.name}: the broker has no topic {address.topic}", help=hint)
    return sorted(topics[address.topic].partitions)


def no_broker(address: Address, why: str) -> OptionError:
    """The error for a broker that does not answer."""
    return option_error(
        NO_BROKER, f"{address.name}: no broker answers at {address.servers}", help=f"is it running there? ({why})"
    )


def bounds(address: Address, of: Iterable[int]) -> dict[int, Bounds]:
    """What some partitions hold now."""
    from confluent_kafka.admin import OffsetSpec

    numbers = list(of)
    low, high = (_offsets(address, numbers, spec) for spec in (OffsetSpec.earliest(), OffsetSpec.latest()))
    return {number: Bounds(low[number], high[number]) for number in numbers}


def starts(address: Address, of: Mapping[int, Bounds]) -> dict[int, int]:
    """Where a first run begins in each partition, as the address says."""
    if address.start == EARLIEST:
        return {number: each.low for number, each in of.items()}
    if address.start == LATEST:
        return {number: each.high for number, each in of.items()}
    from confluent_kafka.admin import OffsetSpec

    assert isinstance(address.start, int)
    found = _offsets(address, list(of), OffsetSpec.for_timestamp(address.start))
    return {number: of[number].high if offset < 0 else offset for number, offset in found.items()}


def _offsets(address: Address, numbers: list[int], spec: Any) -> dict[int, int]:
    from confluent_kafka import IsolationLevel, KafkaException, TopicPartition

    asked = {TopicPartition(address.topic, number): spec for number in numbers}
    try:
        futures = admin(address).list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=_ANSWER)
        return {place.partition: int(future.result(2 * _ANSWER).offset) for place, future in futures.items()}
    except (KafkaException, TimeoutError) as error:
        raise no_broker(address, str(error)) from None


def gone(address: Address, seconds: float) -> DataError:
    """The error for a broker that did not come back."""
    return DataError(
        Diagnostic(
            NO_BROKER,
            f"{address.name}: no broker has answered for {seconds:.0f} seconds",
            help="start the run again when it is back; timeout=… in the address lets it wait longer",
        )
    )


def deleted(address: Address, partition: int, offset: int) -> DataError:
    """The error for messages that were deleted between planning and reading."""
    return DataError(
        Diagnostic(
            DELETED,
            f"{address.place(partition, offset)}: messages from here on were deleted before they were read",
            help="keep messages longer (the topic's retention), and start the run again: it goes on with those that are left",
        )
    )


def recreated(address: Address, partition: int, done: int, high: int, help: str) -> OptionError:
    """The error for a topic that was made anew while it was read."""
    return option_error(
        "topic-changed",
        f"{address.name} partition {partition} ends at offset {high}, and the run that goes on has read up to {done}",
        help=f"the topic was made anew: {help}",
    )
