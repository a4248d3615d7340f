"""CSV in blocks of whole records, before anybody reads them: in time linear in the bytes, whatever is left open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Final

import numpy as np

_BLOCK: Final = 2 << 20
_QUOTE: Final = ord('"')
_LINE_FEED: Final = ord("\n")


def record_blocks(file: IO[bytes], limit: int, too_long: Callable[[int], None]) -> Iterator[tuple[int, bytes]]:
    """Blocks that end behind a record, each with the line that it begins on. A record of more than `limit` bytes ends with its
    last whole line: its quote is one that never ends. A line that long is passed over, and `too_long` hears its number."""
    # read1 gives what a pipe has, instead of waiting for a whole block
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    begun: list[bytes] = []  # of a record that no reading has ended yet
    size, line, quoted, passing = 0, 1, False, False
    while more := read(_BLOCK):
        if passing:
            more = more[more.find(b"\n") + 1 :] if b"\n" in more else b""
            passing = not more
            line += not passing
        cut = _record_end(more, quoted)
        if not cut and size + len(more) > limit:
            more = b"".join([*begun, more])
            begun, size, cut = [], 0, more.rfind(b"\n") + 1
        if cut:
            block = b"".join([*begun, more[:cut]])
            yield line, block
            line += block.count(b"\n")
            begun, size, quoted, more = [], 0, False, more[cut:]
        if size + len(more) > limit:  # not one line feed in it
            too_long(line)
            begun, size, quoted, more, passing = [], 0, False, b"", True
        begun.append(more)
        size += len(more)
        quoted ^= bool(more.count(b'"') % 2)
    if size:
        yield line, b"".join(begun)


def _record_end(text: bytes, quoted: bool) -> int:
    """Behind the last line end that is in no quoted cell, where the text begins in one or not; 0 if there is none."""
    end = text.rfind(b"\n") + 1
    if not end or text.count(b'"', 0, end) % 2 == quoted:
        return end
    data = np.frombuffer(text, np.uint8, end)
    ends = np.flatnonzero(data == _LINE_FEED)
    before = np.searchsorted(np.flatnonzero(data == _QUOTE), ends)
    outside = np.flatnonzero(before % 2 == quoted)
    return int(ends[outside[-1]]) + 1 if len(outside) else 0
