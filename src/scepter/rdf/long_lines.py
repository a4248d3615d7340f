"""Lines of a file, none of them longer than a limit: what is longer is passed over while it is read, and takes no room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Final

from scepter.rdf.limits import BeyondLimit

SO_FAR: Final = b""
"""Behind the lines that one reading gave: who waits for more has these first."""
_BLOCK: Final = 1 << 20


class Lines:
    """The lines of a file with their numbers, each with its line feed; None for one that is too long. In time linear in the
    bytes, however they come.

    >>> import io
    >>> [each for each in Lines(io.BytesIO(b"a\\nlonger\\nb"), 3)]
    [(1, b'a\\n'), (2, None), (3, b''), (3, b'b')]
    """

    def __init__(self, file: IO[bytes], limit: int) -> None:
        # read1 gives what a pipe has, instead of waiting for a whole block
        self._read: Callable[[int], bytes] = getattr(file, "read1", file.read)
        self.limit = limit
        """In bytes. Who has seen the first line may set another one for those behind it."""
        self._lines = self._cut()

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        return self._lines

    def _cut(self) -> Iterator[tuple[int, bytes | None]]:
        begun: list[bytes] = []
        size, number = 0, 1
        while more := self._read(_BLOCK):
            *whole, rest = more.split(b"\n")
            for text in whole:
                begun.append(text)
                size += len(text)
                yield number, None if size > self.limit else b"".join(begun) + b"\n"
                begun.clear()
                size = 0
                number += 1
            size += len(rest)
            if size <= self.limit:
                begun.append(rest)
            else:
                begun.clear()
            if whole:
                yield number, SO_FAR
        if size:
            yield number, None if size > self.limit else b"".join(begun)


def read_whole(file: IO[bytes], limit: int) -> bytes:
    """All of a file; BeyondLimit if it is longer than a document may be."""
    text = file.read(limit + 1)
    if len(text) > limit:
        raise too_long(limit)
    return text


def too_long(limit: int) -> BeyondLimit:
    """What is wrong with a document of more bytes than that."""
    return BeyondLimit(f"a document of more than {limit} bytes (limit document)")


def too_much(limit: int) -> BeyondLimit:
    """What is wrong with a line or a record of more bytes than an event may have."""
    return BeyondLimit(f"an event of more than {limit} bytes (limit event)")
