"""A followed topic in this process: what it holds, then what comes.

A thread asks again and again how far the partitions reach, and reads what is new as a bounded run would: in the order of the
messages' times. So messages that were deleted, a new partition and a broker that goes away are seen by one question.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

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
_ASKED: Final = 1.0
"""Seconds after which the broker is asked again, though what was new is not all read: another partition may have more."""
_IDLE: Final = 5.0
"""Seconds after which a partition without messages is not waited for, where the address says nothing."""
_STRETCH: Final = 1000
"""Offsets that are remembered together, once they are read: a run that goes on reads so many too many at most."""

Came: TypeAlias = Mapping[int, Sequence[EventBatch]]
"""Events by the part of their source, those of a part in their order."""


class _Stretch(NamedTuple):
    """Messages of a partition that follow each other."""

    first: int
    """The offset of the first."""
    greatest: int
    """The greatest time of their events."""


class Awaited(frozenset[int]):
    """Partitions that time waits for from here on."""


class KafkaLive:
    """The messages of a topic as they come, from where the address says."""

    def __init__(self, address: Address, lift: Lift | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = address.name
        partitions(address)  # raises if there is no such topic, or nobody answers
        self._address, self._lift, self._clock = address, lift, clock
        self._hands: queue.Queue[Sequence[Message] | Awaited | DeadLetter | ScepterError] = queue.Queue(_WAITING)
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._reading: Reading | None = None
        self._format = address.format
        self._begin: Mapping[int, int] | None = None
        self._read_up_to: dict[int, int] = {}
        self._stretches: defaultdict[int, deque[_Stretch]] | None = None
        self.awaited: Collection[int] = ()
        """The partitions that time waits for: those that have had a message of late, or have one that is not read."""

    @property
    def topic(self) -> str:
        """The topic's name."""
        return self._address.topic

    def keep_places(self, begin: Mapping[int, int] | None) -> None:
        """Remember from where a run would have to read again. It begins at these offsets, not where the address says, and in
        a partition that has none with what it holds."""
        self._begin, self._stretches = begin, defaultdict(deque)

    def places(self, since: int) -> dict[int, int]:
        """Where a run begins again, by partition, that needs the events from a time on; asked with times that only grow."""
        assert self._stretches is not None, "keep_places first"
        for stretches in self._stretches.values():
            while stretches and stretches[0].greatest < since:
                stretches.popleft()
        return {
            number: self._stretches[number][0].first if self._stretches[number] else up_to
            for number, up_to in self._read_up_to.items()
        }

    def open(self, reading: Reading) -> None:
        """Start the thread that reads. What the messages look like is asked now, where there are any."""
        self._reading = replace(reading, lift=self._lift)
        now = held(self._address)
        if not self._format and (told := told_by(self._address, now, reading.run.times, self._lift)) is not None:
            self._format = told.format
        if self._begin is None:
            begin = starts(self._address, now)
        else:
            begin = {number: self._begin.get(number, each.low) for number, each in now.items()}
        self._read_up_to = dict(begin)
        self._waited_for: frozenset[int] = frozenset(begin)
        self._splits = reading.run.assign is None  # else the order of arrival is one of the whole topic
        self.awaited = Awaited(begin) if self._splits else (0,)
        self._thread = threading.Thread(target=self._read, args=(begin,), name=f"reads {self.name}", daemon=True)
        self._thread.start()

    def poll(self) -> Came:
        """The events of the messages that have come, by partition."""
        assert self._reading is not None, "open it first"
        found: defaultdict[int, list[EventBatch]] = defaultdict(list)
        for _ in range(self._hands.qsize()):
            hand = self._hands.get()
            if isinstance(hand, ScepterError):
                raise hand
            if isinstance(hand, Awaited):
                self.awaited = hand if self._splits else (0,)
            elif isinstance(hand, DeadLetter):
                self._reading.dead_letter(hand)
            elif told := self._told(hand):
                for number, part in _by_partition(told).items() if self._splits else ((0, told),):
                    batches = list(Payloads(self._address, self._format, self._reading).batches([part]))
                    found[number] += batches
                    self._note(number, part, batches)
        return found

    def _note(self, number: int, messages: Sequence[Message], batches: Sequence[EventBatch]) -> None:
        """Some messages of a partition are read."""
        if self._stretches is None:
            return
        self._read_up_to[number] = messages[-1].offset() + 1
        if ends := [int(batch.end.max()) for batch in batches if batch.events]:
            stretches, first = self._stretches[number], messages[0].offset()
            if stretches and first - stretches[-1].first < _STRETCH:
                first, before = stretches.pop()
                ends.append(before)
            stretches.append(_Stretch(first, max(ends)))

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
            heard = dict.fromkeys(begin, self._clock())
            while not self._closed.is_set():
                spans = self._spans(places)
                self._wait_for(spans, places, heard)
                if not spans:
                    self._closed.wait(_PAUSE)
                    continue
                self._read_spans(spans, places)
        except ScepterError as error:
            self._hand_on(error)

    def _wait_for(self, spans: Sequence[Span], places: Mapping[int, int], heard: dict[int, float]) -> None:
        """Tell which partitions time waits for, where it is no longer the same ones: those that are not idle."""
        now = self._clock()
        heard.update({number: now for number in places if number not in heard})
        heard.update({span.partition: now for span in spans})
        if spans and not self._waited_for:  # after a pause of all: the others may have something too, a moment later
            heard.update(dict.fromkeys(heard, now))
        idle = _IDLE if self._address.idle is None else self._address.idle
        awaited = Awaited(number for number, then in heard.items() if now - then < idle)
        if awaited != self._waited_for:
            self._waited_for = awaited
            self._hand_on(awaited)

    def _read_spans(self, spans: Sequence[Span], places: dict[int, int]) -> None:
        asked = self._clock()
        try:
            for hand in merged(self._address, spans):
                if not self._hand_on(hand):
                    return
                places.update({message.partition(): message.offset() + 1 for message in hand})
                if self._clock() - asked > _ASKED:
                    return
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

    def _hand_on(self, hand: Sequence[Message] | Awaited | DeadLetter | ScepterError) -> bool:
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


def _by_partition(hand: Sequence[Message]) -> Mapping[int, Sequence[Message]]:
    found: defaultdict[int, list[Message]] = defaultdict(list)
    for message in hand:
        found[message.partition()].append(message)
    return found


def follow_kafka(text: str, lift: Lift | None = None) -> KafkaLive:
    """The live source that an address names."""
    return KafkaLive(parse_address(text, waits=True), lift)
