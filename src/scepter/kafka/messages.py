"""Messages of a topic, between offsets.

A transaction leaves offsets without a message (its marker, and whatever was aborted), so that the end of a span is reached by a
message at or behind it, or by the partition's own end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.kafka.address import Address
from scepter.kafka.client import Client, consumer, deleted, gone, library

AT_ONCE: Final = 10_000
_WAIT: Final = 0.02
"""A consumer waits so long for a full hand of messages: it gives what it has only then."""
_KEPT: Final = 8
_CONSUMERS: Final[dict[tuple[int, Address], list[Client]]] = {}
"""Consumers that nobody uses, by process and address."""

_BEFORE: Final = -(1 << 62)

Clock: TypeAlias = Callable[[], float]


class Message(Protocol):
    """What is asked of a message."""

    def value(self) -> bytes | None: ...  # noqa: D102
    def partition(self) -> int: ...  # noqa: D102
    def offset(self) -> int: ...  # noqa: D102
    def timestamp(self) -> tuple[int, int]: ...  # noqa: D102
    def headers(self) -> list[tuple[str, bytes]] | None: ...  # noqa: D102
    def error(self) -> Any: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Span:
    """Offsets of a partition from `start` up to, not with, `stop`."""

    partition: int
    start: int
    stop: int


def read_span(address: Address, span: Span, clock: Clock = time.monotonic) -> Iterator[list[Message]]:
    """The messages of a span, in hands. A broker that is gone is waited for as long as the address allows."""
    if span.start >= span.stop:
        return
    reading = _taken(address)
    kafka = library()
    try:
        reading.assign([kafka.TopicPartition(address.topic, span.partition, span.start)])
        heard = clock()
        done = False
        while not done:
            messages: list[Message] = reading.consume(AT_ONCE, _WAIT)
            hand = [message for message in messages if message.error() is None]
            if len(hand) < len(messages):
                for code in {message.error().code() for message in messages if message.error() is not None}:
                    if code == kafka.KafkaError._PARTITION_EOF:
                        done = True
                    elif code == kafka.KafkaError._AUTO_OFFSET_RESET:
                        raise deleted(address, span.partition, span.start)
            if hand and hand[-1].offset() >= span.stop - 1:  # offsets of a partition only grow
                done = True
                hand = [message for message in hand if message.offset() < span.stop]
            if hand or done:
                heard = clock()
            elif clock() - heard > address.timeout:
                raise gone(address, address.timeout)
            if hand:
                yield hand
    finally:
        with suppress(kafka.KafkaException):
            reading.unassign()
        _give_back(address, reading)


def _taken(address: Address) -> Client:
    """A consumer of this process: to connect takes longer than to read a short span."""
    idle = _CONSUMERS.get((os.getpid(), address))
    return idle.pop() if idle else consumer(address)


def _give_back(address: Address, reading: Client) -> None:
    idle = _CONSUMERS.setdefault((os.getpid(), address), [])
    if len(idle) < _KEPT and len(_CONSUMERS) <= _KEPT:
        idle.append(reading)
    else:
        reading.close()


def merged(address: Address, spans: Iterable[Span]) -> Iterator[list[Message]]:
    """The messages of several partitions in the order of the times that the broker or the producer gave them, so that a
    second reading gives the same order, and one partition does not stand behind the other."""
    return in_order([read_span(address, span) for span in spans])


def in_order(streams: Sequence[Iterator[list[Message]]]) -> Iterator[list[Message]]:
    """Hands of messages of several streams as one: always the message whose time is the least among those that come next in
    their streams. A message with an earlier time than one before it in its stream follows that one."""
    if len(streams) == 1:
        yield from streams[0]
        return
    waiting: list[list[Message]] = [[] for _ in streams]
    times: list[NDArray[np.int64]] = [np.empty(0, np.int64) for _ in streams]
    last = [_BEFORE for _ in streams]
    going = set(range(len(streams)))
    while True:
        for number in [number for number in going if not waiting[number]]:
            hand = next(streams[number], None)
            if hand is None:
                going.remove(number)
                continue
            stamps = np.array([message.timestamp()[1] for message in hand], np.int64)
            stamps[0] = max(int(stamps[0]), last[number])
            waiting[number], times[number] = hand, np.maximum.accumulate(stamps)
            last[number] = int(times[number][-1])
        # nothing that is still to come goes before the end of this one
        end, stream = min(((last[number], number) for number in going), default=(None, 0))
        taken: list[Message] = []
        stamps_taken: list[NDArray[np.int64]] = []
        for number, hand in enumerate(waiting):
            side: Literal["left", "right"] = "right" if number <= stream else "left"
            count = len(hand) if end is None else int(np.searchsorted(times[number], end, side))
            taken += hand[:count]
            stamps_taken.append(times[number][:count])
            waiting[number], times[number] = hand[count:], times[number][count:]
        if taken:
            order = np.argsort(np.concatenate(stamps_taken), kind="stable").tolist()
            yield [taken[place] for place in order]
        if end is None:
            return


def shared(limit: int, waiting: Mapping[int, int]) -> dict[int, int]:
    """How many messages of each partition to take of a limit: in proportion to what waits there, and no partition nothing.

    >>> shared(10, {0: 30, 1: 10, 2: 0})
    {0: 8, 1: 2, 2: 0}
    """
    total = sum(waiting.values())
    if total <= limit:
        return dict(waiting)
    found = {number: min(1, count) for number, count in waiting.items()}
    room, more = max(0, limit - sum(found.values())), total - sum(found.values())
    for number, count in waiting.items():
        found[number] += room * (count - found[number]) // max(1, more)
    left = max(0, limit - sum(found.values()))
    for number, count in waiting.items():  # what rounding has left
        one = min(1, left, count - found[number])
        found[number] += one
        left -= one
    return found
