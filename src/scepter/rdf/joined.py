"""Messages that are read together: each is lines of N-Quads and ends with a mark that ends an event.

What is wrong with a line is told with the place of its message, which is looked up only then.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, Generic, TypeVar

from scepter.rdf.batch import EventBatch
from scepter.rdf.grouping import MESSAGE_END
from scepter.rdf.nquads import NQuadsReader

Place = TypeVar("Place")
_END: Final = b"\n#" + bytes([MESSAGE_END]) + b"\n"
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


class Joined(Generic[Place]):
    """Messages with their places: a line of a file, an offset of a topic."""

    def __init__(self) -> None:
        self.size = 0
        self._texts: list[bytes] = []
        self._places: list[Place] = []
        self._before: list[int] = []
        """The lines before each message, once somebody asks."""

    def add(self, text: bytes, place: Place) -> None:
        """One more."""
        self._texts.append(text)
        self._places.append(place)
        self.size += len(text)

    def extend(self, texts: Sequence[bytes], places: Sequence[Place]) -> None:
        """Many more."""
        self._texts += texts
        self._places += places
        self.size += sum(map(len, texts))

    def read(self, reader: NQuadsReader) -> Iterator[EventBatch]:
        """Their events; they are then forgotten."""
        if not self._texts:
            return
        batch = reader.read(_END.join(self._texts) + _END)
        self._texts, self._places, self._before, self.size = [], [], [], 0
        if batch is not None:
            yield batch

    def place(self, line: int) -> tuple[Place, int]:
        """The message of a line of the whole, and the line in it."""
        if not self._before:
            self._before = list(accumulate((len(_LINE_END.findall(text + _END)) for text in self._texts), initial=0))
        index = bisect_right(self._before, line - 1) - 1
        return self._places[index], line - self._before[index]
