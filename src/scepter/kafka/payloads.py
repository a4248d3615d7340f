"""Messages as events. A message holds one event or several, whole: no event spans two messages.

N-Quads is read many messages at a time. Two messages may use one name for two events, so that each ends with a mark that ends
an event; what is wrong with a line is told with the partition and the offset of its message, found only then.
"""

from __future__ import annotations

import io
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final

import pyoxigraph as ox

from scepter.errors import option_error
from scepter.kafka.address import Address
from scepter.kafka.messages import Message
from scepter.lift.model import Mapping
from scepter.lift.reader import MappedReaders, payload_batches
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.files import sniffed
from scepter.rdf.formats import transcode
from scepter.rdf.grouping import MESSAGE_END
from scepter.rdf.nquads import NQuadsReader
from scepter.rdf.readers import Lift, Reading, reader_of

_END: Final = b"\n#" + bytes([MESSAGE_END]) + b"\n"
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_LINES: Final = frozenset({".nq", ".nquads", ".nt"})
_DOCUMENTS: Final = {".trig": ox.RdfFormat.TRIG, ".jsonld": ox.RdfFormat.JSON_LD}
_JSON: Final = frozenset({".json", ".jsonl", ".ndjson"})
_EMPTY: Final = "a message without a value"


@dataclass(frozen=True, slots=True)
class Payloads:
    """Reads the messages of a topic."""

    address: Address
    format: str
    reading: Reading
    named: bool = True

    def batches(self, hands: Iterable[Sequence[Message]]) -> Iterator[EventBatch]:
        """The events of messages, in their order."""
        if isinstance(self.reading.lift, MappedReaders) and self.format in _JSON:
            for hand in hands:
                yield from self._mapped(self.reading.lift.mapping, hand)
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
        reading = replace(self.reading, source_name=self._place(message))
        reader = reader_of(self.format, reading)
        assert reader is not None, "addresses take no other format"
        yield from reader(io.BytesIO(value), reading)

    def _mapped(self, mapping: Mapping, hand: Sequence[Message]) -> Iterator[EventBatch]:
        """JSON through a mapping, many messages at a time; a message is a document, or a list of them."""
        documents: list[tuple[int, Any]] = []
        for number, message in enumerate(hand):
            try:
                found = json.loads(message.value() or b"")
            except ValueError as error:  # also what is not UTF-8
                self._refuse(message, _EMPTY if message.value() is None else f"not JSON: {error}")
                continue
            documents += [(number, each) for each in (found if isinstance(found, list) else [found])]

        def told(letter: DeadLetter) -> None:
            placed = letter if letter.line is None else replace(letter, source=self._place(hand[letter.line]), line=None)
            self.reading.dead_letter(placed)

        if documents:
            yield from payload_batches(mapping, documents, replace(self.reading, dead_letter=told))

    def _in_bulk(self, hands: Iterable[Sequence[Message]]) -> Iterator[EventBatch]:
        joined = _Joined()
        reader = NQuadsReader(
            self.reading.key, self.reading.stream_index, self.address.name,
            lambda letter: self.reading.dead_letter(self._placed(letter, joined)),
            predicates=self.reading.predicates, run=self.reading.run, batch_bytes=self.reading.batch_bytes, named=self.named,
        )  # fmt: skip
        for hand in hands:
            for message in hand:
                if (text := self._text(message)) is None:
                    continue
                joined.add(text, message)
                if joined.size >= self.reading.batch_bytes:
                    yield from joined.read(reader)
            # what there is of a followed topic is not kept back for what may come
            yield from joined.read(reader)

    def _text(self, message: Message) -> bytes | None:
        """A message as lines of N-Quads; None if there is nothing to read."""
        value = message.value()
        if value is None:
            self._refuse(message, _EMPTY)
            return None
        if self.format in _LINES:
            return value
        text = value.removeprefix(b"\xef\xbb\xbf")
        return b"".join(transcode(text, _DOCUMENTS[self.format], self._place(message), self.reading.dead_letter))

    def _placed(self, letter: DeadLetter, joined: _Joined) -> DeadLetter:
        """A dead letter of a text of many messages, with its own message and the line in it."""
        if letter.line is None:
            return letter
        message, line = joined.place(letter.line)
        # of a document, the lines are those that it was laid out in
        return replace(letter, source=self._place(message), line=line if self.format in _LINES else None)

    def _refuse(self, message: Message, reason: str) -> None:
        self.reading.dead_letter(DeadLetter(self._place(message), None, reason))

    def _place(self, message: Message) -> str:
        return self.address.place(message.partition(), message.offset())


class _Joined:
    """Messages that are read together."""

    def __init__(self) -> None:
        self.size = 0
        self._texts: list[bytes] = []
        self._messages: list[Message] = []
        self._before: list[int] = []
        """The lines before each message, once somebody asks."""

    def add(self, text: bytes, message: Message) -> None:
        """One more."""
        self._texts.append(text)
        self._messages.append(message)
        self.size += len(text)

    def read(self, reader: NQuadsReader) -> Iterator[EventBatch]:
        """Their events; they are then forgotten."""
        if not self._texts:
            return
        batch = reader.read(_END.join(self._texts) + _END)
        self._texts, self._messages, self._before, self.size = [], [], [], 0
        if batch is not None:
            yield batch

    def place(self, line: int) -> tuple[Message, int]:
        """The message of a line of the whole, and the line in it."""
        if not self._before:
            self._before = list(accumulate((len(_LINE_END.findall(text + _END)) for text in self._texts), initial=0))
        index = bisect_right(self._before, line - 1) - 1
        return self._messages[index], line - self._before[index]


def looks_like(address: Address, message: Message, lift: Lift | None = None) -> str | None:
    """The extension of a message's format: the address's, else what its first bytes look like; None if nothing tells."""
    if address.format:
        return address.format
    value = message.value()
    return None if value is None else sniffed(value[: 1 << 16], lift)


def unknown_format(address: Address, message: Message) -> Exception:
    """The error for messages whose format nobody tells."""
    shown = (message.value() or b"")[:60].decode("utf-8", errors="replace")
    return option_error(
        "unknown-format",
        f"{address.place(message.partition(), message.offset())}: its content does not tell its format: {shown}",
        help="add format=nq, trig, jsonld, … behind a ? to the address",
    )
