"""Messages as events. A message holds one event or several, whole: no event spans two messages.

N-Quads is read many messages at a time. Two messages may use one name for two events, so that each ends with a mark that ends
an event; what is wrong with a line is told with the partition and the offset of its message, found only then.
"""

from __future__ import annotations

import io
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final, cast

import pyoxigraph as ox

from scepter.errors import option_error
from scepter.kafka.address import Address
from scepter.kafka.messages import Message
from scepter.rdf.assigning import AssignTime
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.extensions import TABLES, is_log
from scepter.rdf.files import sniffed
from scepter.rdf.formats import transcode
from scepter.rdf.joined import Joined
from scepter.rdf.limits import BeyondLimit, loads
from scepter.rdf.messages import log_events
from scepter.rdf.nquads import NQuadsReader
from scepter.rdf.readers import Lift, Reading, needs_map, reader_of

_LINES: Final = frozenset({".nq", ".nquads", ".nt"})
_DOCUMENTS: Final = {".trig": ox.RdfFormat.TRIG, ".ttl": ox.RdfFormat.TURTLE, ".jsonld": ox.RdfFormat.JSON_LD}
_JSON: Final = frozenset({".json", ".jsonl", ".ndjson"})
_EMPTY: Final = "a message without a value"
_SHOWN: Final = 1000
"""So many bytes of a message are shown in its dead letter."""


@dataclass(frozen=True, slots=True)
class Payloads:
    """Reads the messages of a topic."""

    address: Address
    format: str
    reading: Reading
    named: bool = True

    def batches(self, hands: Iterable[Sequence[Message]]) -> Iterator[EventBatch]:
        """The events of messages, in their order."""
        if self.reading.lift is not None and self.format in _JSON:
            for hand in hands:
                yield from self._lifted(self.reading.lift, hand)
        elif self.format in _LINES or self.format in _DOCUMENTS:
            yield from self._in_bulk(hands)
        else:
            for hand in hands:
                for message in hand:
                    yield from self._one(message)

    def _one(self, message: Message) -> Iterator[EventBatch]:
        """A message of a format that is read as a whole."""
        value = message.value()
        if value is None:
            self._refuse(message, _EMPTY)
            return
        self._stamp([message])
        reading = replace(self.reading, source_name=self._place(message))
        reader = reader_of(self.format, reading)
        assert reader is not None, "addresses take no other format"
        yield from reader(io.BytesIO(value), reading)

    def _lifted(self, lift: Lift, hand: Sequence[Message]) -> Iterator[EventBatch]:
        """JSON through a mapping or a context, many messages at a time; a message is a document, or a list of them."""
        documents: list[tuple[int, Any]] = []
        for number, message in enumerate(hand):
            try:
                found = loads(message.value() or b"", self.reading.run.limits)
            except ValueError as error:  # also what is not UTF-8
                reason = str(error) if isinstance(error, BeyondLimit) else f"not JSON: {error}"
                self._refuse(message, _EMPTY if message.value() is None else reason, message.value() or b"")
                continue
            documents += [(number, each) for each in (found if isinstance(found, list) else [found])]

        def told(letter: DeadLetter) -> None:
            placed = letter if letter.line is None else replace(letter, source=self._place(hand[letter.line]), line=None)
            self.reading.dead_letter(placed)

        if documents:
            yield from lift.documents(documents, replace(self.reading, dead_letter=told))

    def _in_bulk(self, hands: Iterable[Sequence[Message]]) -> Iterator[EventBatch]:
        joined: Joined[Message] = Joined()
        reader = NQuadsReader(
            self.reading.key, self.reading.stream_index, self.address.name,
            lambda letter: self.reading.dead_letter(self._placed(letter, joined)),
            predicates=self.reading.predicates, run=self.reading.run, batch_bytes=self.reading.batch_bytes, named=self.named,
        )  # fmt: skip
        for hand in hands:
            texts, places = self._laid_out(hand)
            for part in self._parts(texts):
                self._stamp(places[part])
                joined.extend(texts[part], places[part])
                # what there is of a followed topic is not kept back for what may come
                yield from joined.read(reader)

    @property
    def _stamps(self) -> AssignTime | None:
        """What gives events the broker's times, where it does."""
        assign = self.reading.run.assign
        return assign if assign is not None and assign.how == "arrival" else None

    def _parts(self, texts: Sequence[bytes]) -> Iterator[slice]:
        """What is read together: one message, where each has a time of its own."""
        if self._stamps is None:
            return parts(texts, self.reading.batch_bytes)
        return (slice(at, at + 1) for at in range(len(texts)))

    def _stamp(self, messages: Sequence[Message]) -> None:
        """Tell the time of the messages that are read now; they are one, where it counts."""
        if self._stamps is not None:
            kind, milliseconds = messages[0].timestamp()
            self._stamps.broker = 1_000 * milliseconds if kind else None

    def _laid_out(self, hand: Sequence[Message]) -> tuple[Sequence[bytes], Sequence[Message]]:
        """Messages as lines of N-Quads, and the message of each text."""
        values = [message.value() for message in hand]
        if self.format in _LINES and None not in values:
            return cast("list[bytes]", values), hand
        pairs = [(text, message) for message in hand for text in self._texts(message)]
        return [text for text, _ in pairs], [message for _, message in pairs]

    def _texts(self, message: Message) -> Iterator[bytes]:
        """A message as lines of N-Quads; a log of several, one by one."""
        value = message.value()
        if value is None:
            self._refuse(message, _EMPTY)
        elif self.format in _LINES:
            yield value
        else:
            text, place, letters = value.removeprefix(b"\xef\xbb\xbf"), self._place(message), self.reading.dead_letter
            format = _DOCUMENTS[self.format]
            if format != ox.RdfFormat.JSON_LD and is_log(text):
                yield from (laid for laid, _ in log_events(text, format, place, letters, self.reading.run.limits))
            else:
                yield b"".join(transcode(text, format, place, letters))

    def _placed(self, letter: DeadLetter, joined: Joined[Message]) -> DeadLetter:
        """A dead letter of a text of many messages, with its own message and the line in it."""
        if letter.line is None:
            return letter
        message, line = joined.place(letter.line)
        # of a document, the lines are those that it was laid out in
        return replace(letter, source=self._place(message), line=line if self.format in _LINES else None)

    def _refuse(self, message: Message, reason: str, text: bytes = b"") -> None:
        shown = text[:_SHOWN].decode("utf-8", errors="replace")
        self.reading.dead_letter(DeadLetter(self._place(message), None, reason, shown))

    def _place(self, message: Message) -> str:
        return self.address.place(message.partition(), message.offset())


def parts(texts: Sequence[bytes], most: int) -> Iterator[slice]:
    """Texts that are read together: as many as make so many bytes.

    >>> list(parts([b"ab", b"c", b"def", b"g"], 3))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    ends, begin = list(accumulate(map(len, texts))), 0
    while begin < len(texts):
        done = ends[begin - 1] if begin else 0
        stop = min(bisect_left(ends, done + most, begin) + 1, len(texts))
        yield slice(begin, stop)
        begin = stop


def looks_like(address: Address, message: Message, lift: Lift | None = None) -> str | None:
    """The extension of a message's format: the address's, else what its first bytes look like; None if nothing tells."""
    if address.format:
        return address.format
    value = message.value()
    found = None if value is None else sniffed(value[: 1 << 16], lift)
    return None if found in TABLES and lift is None else found


def unknown_format(address: Address, message: Message) -> Exception:
    """The error for messages whose format nobody tells, or that are JSON and nobody says what it means."""
    if sniffed((message.value() or b"")[: 1 << 16], None) in TABLES:
        return needs_map(address.place(message.partition(), message.offset()))
    shown = (message.value() or b"")[:60].decode("utf-8", errors="replace")
    return option_error(
        "unknown-format",
        f"{address.place(message.partition(), message.offset())}: its content does not tell its format: {shown}",
        help="add format=nq, trig, jsonld, … behind a ? to the address",
    )
