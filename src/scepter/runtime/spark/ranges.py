"""Byte ranges of stream files: each event in exactly one, wherever the cuts fall.

A range `[start, stop)` of an N-Quads file owns the events whose first line starts in it, and with them every line up to the
next event that starts at `stop` or later. So the ranges of a file part it into texts that each begin where an event begins,
and reading them one by one gives what reading the file gives. Files that cannot be cut (gzip, and the formats with a syntax
across lines) are one range.

In the dead letters of a range that does not begin the file, lines are counted from the byte that the source's name tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from scepter.errors import OptionError
from scepter.rdf.extensions import is_log
from scepter.rdf.files import GZIP_MAGIC, HEAD, format_of, size_of

AT_LEAST: Final = 4 << 20
"""Smaller ranges cost more in tasks than they gain in parallel work."""
_LINE_FORMATS: Final = frozenset({".nq", ".nquads", ".nt"})
_PACKED_ROOM: Final = 1 << 32


@dataclass(frozen=True, slots=True)
class Range:
    """The events that start in `[start, stop)` of a file, which counts as `size` bytes long even if it has grown since."""

    path: str
    start: int
    stop: int
    size: int
    salt: int = 0
    """What keeps the numbers and the blank nodes of its events apart from those of the run's other ranges: it takes one
    salt per event, and never more than it has bytes unless its file is packed."""
    format: str = ""
    """The extension of the file's format, where the file itself should not tell it."""

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.stop <= self.size:
            raise ValueError(f"no range of a file of {self.size} bytes: {self.start} to {self.stop}")


def plan_ranges(
    paths: Iterable[str | Path], *, parts: int = 1, at_least: int = AT_LEAST, salt: int = 0, format: str = ""
) -> list[Range]:
    """Ranges of about equal size for so many tasks, none much smaller than `at_least` bytes, in the order of the files.

    `salt` is where the salts of this plan begin: `next_salt` of an earlier plan of the same run.
    """
    # absolute, since workers run in folders of their own
    files = [Range(str(Path(path).absolute()), 0, size, size) for path in paths if (size := size_of(Path(path)))]
    share = max(1, at_least, -(-sum(file.size for file in files) // max(1, parts)))
    ranges: list[Range] = []
    for file in files:
        ranges += cut(Range(file.path, 0, file.size, file.size, salt, format), share)
        salt = next_salt(ranges, salt)
    return ranges


def cut(whole: Range, share: int) -> list[Range]:
    """Pieces of a range of at most about `share` bytes each; the range itself where its file cannot be cut."""
    length = whole.stop - whole.start
    count = max(1, -(-length // max(1, share)))
    if count == 1 or not divisible(whole):
        return [whole]
    edges = [whole.start + length * i // count for i in range(count + 1)]
    salt = whole.salt - whole.start
    return [Range(whole.path, start, stop, whole.size, salt + start, whole.format) for start, stop in pairwise(edges)]


def next_salt(ranges: Sequence[Range], salt: int = 0) -> int:
    """A salt beyond all that reading the ranges uses; `salt` if there are none."""
    if not ranges:
        return salt
    last = ranges[-1]
    length = last.stop - last.start
    return last.salt + (length if divisible(last) else max(length, _PACKED_ROOM))


def divisible(part: Range) -> bool:
    """Whether a file can be read in ranges: N-Quads or timestamped N-Triples, not gzipped."""
    path = Path(part.path)
    try:
        if (part.format or format_of(path)) not in _LINE_FORMATS:
            return False
        with path.open("rb") as file:
            head = file.read(HEAD)
            # whether a line begins an event of a log, only what stands before it tells
            return not head.startswith(GZIP_MAGIC) and not is_log(head)
    except (OSError, OptionError):  # whoever reads it tells why it cannot be read
        return False
