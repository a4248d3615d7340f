"""A followed topic in this process: what it holds, then what comes.

A thread asks again and again how far the partitions reach, and reads what is new as a bounded run would: in the order of the
messages' times. So messages that were deleted, a new partition and a broker that goes away are seen by one question.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from scepter.errors import OptionError, ScepterError
from scepter.kafka.address import Address, parse_address
from scepter.kafka.client import DELETED, NO_BROKER, Bounds, gone, partitions, recreated, starts
from scepter.kafka.messages import Message, Span, merged
from scepter.kafka.payloads import Payloads, looks_like
from scepter.kafka.topic import held, skipped, told_by
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.readers import Lift, Reading

_PAUSE: Final = 0.05
"""Seconds between two questions to a broker that had nothing new."""
_WAITING: Final = 8
"""So many hands of messages may wait: then reading does."""


class KafkaLive:
    """The messages of a topic as they come, from where the address says."""

    def __init__(self, address: Address, lift: Lift | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = address.name
        partitions(address)  # raises if there is no such topic, or nobody answers
        self._address, self._lift, self._clock = address, lift, clock
        self._hands: queue.Queue[Sequence[Message] | DeadLetter | ScepterError] = queue.Queue(_WAITING)
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._reading: Reading | None = None
        self._format = address.format

    def open(self, reading: Reading) -> None:
        """Start the thread that reads. What the messages look like is asked now, where there are any."""
        self._reading = replace(reading, lift=self._lift)
        now = held(self._address)
        if not self._format and (told := told_by(self._address, now, reading.run.times, self._lift)) is not None:
            self._format = told.format
        begin = starts(self._address, now)
        self._thread = threading.Thread(target=self._read, args=(begin,), name=f"reads {self.name}", daemon=True)
        self._thread.start()

    def poll(self) -> list[EventBatch]:
        """The events of the messages that have come."""
        assert self._reading is not None, "open it first"
        found: list[EventBatch] = []
        for _ in range(self._hands.qsize()):
            hand = self._hands.get()
            if isinstance(hand, ScepterError):
                raise hand
            if isinstance(hand, DeadLetter):
                self._reading.dead_letter(hand)
            elif told := self._told(hand):
                found += Payloads(self._address, self._format, self._reading).batches([told])
        return found

    def _told(self, hand: Sequence[Message]) -> Sequence[Message]:
        """The messages from the first one on that tells the format, where nothing has told it so far."""
        if self._format:
            return hand
        assert self._reading is not None
        for number, message in enumerate(hand):
            if (format := looks_like(self._address, message, self._lift)) is not None:
                self._format = format
                return hand[number:]
            place = self._address.place(message.partition(), message.offset())
            reason = "its content does not tell its format: add format=… to the address"
            self._reading.dead_letter(DeadLetter(place, None, reason))
        return []

    def _read(self, begin: Mapping[int, int]) -> None:
        try:
            places = dict(begin)
            while not self._closed.is_set():
                spans = self._spans(places)
                if not spans:
                    self._closed.wait(_PAUSE)
                    continue
                self._read_spans(spans, places)
        except ScepterError as error:
            self._hand_on(error)

    def _read_spans(self, spans: Sequence[Span], places: dict[int, int]) -> None:
        try:
            for hand in merged(self._address, spans):
                if not self._hand_on(hand):
                    return
                places.update({message.partition(): message.offset() + 1 for message in hand})
        except ScepterError as error:
            if error.code != DELETED:
                raise
            return  # the next question tells which
        # behind the last message there may be offsets without one
        places.update({span.partition: span.stop for span in spans})

    def _spans(self, places: dict[int, int]) -> list[Span]:
        """What is new in each partition; a partition that is new begins with what it holds."""
        now = self._held()
        for number, each in now.items():
            begin = places.setdefault(number, each.low)
            if each.high < begin:
                raise recreated(self._address, number, begin, each.high, "start the run anew")
            if begin < each.low:
                self._hand_on(skipped(self._address, number, begin, each.low))
                places[number] = each.low
        return [Span(number, places[number], each.high) for number, each in now.items() if places[number] < each.high]

    def _held(self) -> Mapping[int, Bounds]:
        """What the topic holds now; a broker that is away is waited for as long as the address allows."""
        heard = self._clock()
        while not self._closed.is_set():
            try:
                return held(self._address)
            except OptionError as error:
                if error.code != NO_BROKER:
                    raise
                if self._clock() - heard > self._address.timeout:
                    raise gone(self._address, self._address.timeout) from None
                self._closed.wait(1)
        return {}

    def _hand_on(self, hand: Sequence[Message] | DeadLetter | ScepterError) -> bool:
        """Waits while the run has enough to do; False where it is over."""
        while not self._closed.is_set():
            try:
                self._hands.put(hand, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    @property
    def ended(self) -> bool:
        """More may always come."""
        return False

    def close(self) -> None:
        """Ends the thread."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join(5)


def follow_kafka(text: str, lift: Lift | None = None) -> KafkaLive:
    """The live source that an address names."""
    return KafkaLive(parse_address(text), lift)
