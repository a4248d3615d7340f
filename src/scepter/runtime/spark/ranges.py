"""Byte ranges of stream files: each event in exactly one, wherever the cuts fall.

A range `[start, stop)` of an N-Quads file owns the events whose first line starts in it, and with them every line up to the
next event that starts at `stop` or later. So the ranges of a file part it into texts that each begin where an event begins,
and reading them one by one gives what reading the file gives. Files that cannot be cut (gzip, and the formats with a syntax
across lines) are one range.

In the dead letters of a range that does not begin the file, lines are counted from the byte that the source's name tells.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Final

import numpy as np

from scepter.errors import OptionError, ScepterError
from scepter.rdf import grouping, scanner
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.files import GZIP_MAGIC, HEAD, format_of, read_file, size_of
from scepter.rdf.hashing import TermKey
from scepter.rdf.limits import DEFAULT, ReadLimits
from scepter.rdf.messages import is_log
from scepter.rdf.nquads import (
    BATCH_BYTES,
    NQuadsReader,
    ReadState,
    line_bound,
    padded,
    row_bound,
    scratch_for,
    spare_for,
)
from scepter.rdf.readers import Lift, Reading
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.times import PROV_TIMES, TimeProperties
from scepter.timeline import TimeKind

AT_LEAST: Final = 4 << 20
"""Smaller ranges cost more in tasks than they gain in parallel work."""
_LINE_FORMATS: Final = frozenset({".nq", ".nquads", ".nt"})
_PACKED_ROOM: Final = 1 << 32
_BLOCK: Final = 1 << 16
_LOOK_BACK: Final = 1 << 12
_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_KEY: Final = TermKey.fixed()


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


def first_kind(
    paths: Iterable[str | Path],
    format: str = "",
    times: TimeProperties = PROV_TIMES,
    dead_letter: DeadLetterTaker = lambda letter: None,
    lift: Lift | None = None,
) -> TimeKind | None:
    """The kind of the first time that stands in the files, which rules the run; None if there is none. Files that cannot be
    read are an error only where no other tells the kind."""
    run = ReadState(times=times)
    unreadable: ScepterError | None = None
    for path in paths:
        reading = Reading(_KEY, 0, str(path), dead_letter, frozenset(), run, _BLOCK, {}, lift)
        try:
            for _ in read_file(Path(path), reading, extension=format):
                break
        except ScepterError as error:
            unreadable = unreadable or error
        if run.kind is not None:
            return run.kind
    if unreadable is not None:
        raise unreadable
    return None


def read_range(
    part: Range,
    key: TermKey,
    stream_index: int,
    dead_letter: DeadLetterTaker,
    *,
    predicates: frozenset[int] | None = None,
    kind: TimeKind | None = None,
    batch_bytes: int = BATCH_BYTES,
    named: bool = True,
    times: TimeProperties = PROV_TIMES,
    limits: ReadLimits = DEFAULT,
    lift: Lift | None = None,
) -> Iterator[EventBatch]:
    """The events of a range, with their names or, where nobody is shown them, without. `kind` is the run's kind of time
    (`first_kind`): ranges must not decide it each for itself."""
    path = Path(part.path)
    if not divisible(part):
        run = ReadState(kind, part.salt, times, limits)
        reading = Reading(key, stream_index, part.path, dead_letter, predicates, run, batch_bytes, {}, lift)
        yield from read_file(path, reading, extension=part.format)
        return
    with path.open("rb") as file:
        begin = event_start(file, part.start, part.size, part.stop, times=times)
        if begin >= part.stop:
            return
        end = event_start(file, part.stop, part.size, times=times)
        name = f"{part.path} from byte {begin}" if begin else part.path
        run = ReadState(kind, part.salt, times, limits)
        reader = NQuadsReader(
            key, stream_index, name, dead_letter, predicates=predicates, run=run, batch_bytes=batch_bytes, named=named
        )  # fmt: skip
        for chunk in _chunks(file, begin, end, batch_bytes):
            if (batch := reader.feed(chunk)) is not None:
                yield batch
        if (batch := reader.finish()) is not None:
            yield batch


def read_on(
    part: Range,
    key: TermKey,
    stream_index: int,
    dead_letter: DeadLetterTaker,
    *,
    predicates: frozenset[int] | None = None,
    kind: TimeKind | None = None,
    named: bool = True,
    times: TimeProperties = PROV_TIMES,
    limits: ReadLimits = DEFAULT,
    lift: Lift | None = None,
) -> Iterator[EventBatch]:
    """As `read_range`, for a run that goes on whatever a file contains: what cannot be read is a dead letter with the reason,
    and so is a file that is no longer what it was when it was first seen."""
    try:
        yield from read_range(
            part, key, stream_index, dead_letter,
            predicates=predicates, kind=kind, named=named, times=times, limits=limits, lift=lift,
        )  # fmt: skip
    except ScepterError as error:
        dead_letter(DeadLetter(part.path, None, error.diagnostic.message))
    except (OSError, EOFError, zlib.error, ValueError, MemoryError) as error:
        dead_letter(DeadLetter(part.path, None, f"cannot be read: {getattr(error, 'strerror', None) or error or type(error)}"))
    else:
        if part.stop == part.size and (size := _size(part.path)) != part.size:
            reason = f"the file has changed since it was first seen: it had {part.size} bytes and has {size}"
            dead_letter(DeadLetter(part.path, None, reason))


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _chunks(file: IO[bytes], begin: int, end: int, size: int) -> Iterator[bytes]:
    file.seek(begin)
    while begin < end and (chunk := file.read(min(size, end - begin))):
        begin += len(chunk)
        yield chunk


def event_start(file: IO[bytes], at: int, size: int, enough: int | None = None, *, times: TimeProperties = PROV_TIMES) -> int:
    """Where the first event starts of those whose first line starts at `at` or later, `size` if there is none; any number
    from `enough` on if it is not before that."""
    if at <= 0 or at >= size:
        return max(0, min(at, size))
    line = _line_start(file, at, size)
    context = _open_line(file, line, times)
    known = 1 if context else 0
    for block in _blocks(file, line, size):
        if enough is not None and line >= enough:
            break
        if _begun(context + block, times)[0] > known:
            ends = [found.end() for found in _LINE_END.finditer(block)]
            first = bisect_left(ends, True, key=lambda end: _begun(context + block[:end], times)[0] > known)
            return line + (ends[first - 1] if first else 0)
        line += len(block)
    return line


def _line_start(file: IO[bytes], at: int, size: int) -> int:
    """Where the first line starts at `at` > 0 or later."""
    position = at - 1
    for chunk in _chunks(file, position, size, _BLOCK):
        found = _LINE_END.search(chunk)
        if found is not None:
            # Where the chunk ends between CR and LF, the LF counts as an empty line: no event starts there.
            return position + found.end()
        position += len(chunk)
    return size


def _open_line(file: IO[bytes], line: int, times: TimeProperties) -> bytes:
    """A line of the event that is open where the line at `line` starts; empty if none is."""
    reach = _LOOK_BACK
    while True:
        begin = max(0, line - reach)
        start = _line_start(file, begin, line) if begin else 0
        file.seek(start)
        text = file.read(line - start)
        begun, open_at = _begun(text, times, at_start=start == 0)
        if open_at is not None:
            end = _LINE_END.search(text, open_at)
            return text[open_at : end.start() if end else None] + b"\n"
        if begun or begin == 0:
            return b""
        reach *= 4


def _blocks(file: IO[bytes], at: int, size: int) -> Iterator[bytes]:
    """Whole lines from `at` on, many at a time."""
    reach = _BLOCK
    while at < size:
        file.seek(at)
        text = file.read(min(reach, size - at))
        if not text:
            return
        if at + len(text) < size:
            whole = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
            if not whole:
                reach *= 2
                continue
            text = text[:whole]
        at += len(text)
        reach = _BLOCK
        yield text


def _begun(text: bytes, times: TimeProperties, *, at_start: bool = False) -> tuple[int, int | None]:
    """How many events a text begins; and where the one began that is still open at its end. Asked of the scanner itself, so
    that nothing else need know which lines begin an event or end one."""
    size = len(text)
    lines = line_bound(np.frombuffer(text, dtype=np.uint8))
    rows = row_bound(size, lines)
    columns = scanner.allot(rows, lines)
    state = columns.state
    state[scanner.BEGIN] = len(_BOM) if at_start and text.startswith(_BOM) else 0
    state[scanner.LIMIT] = size
    state[scanner.SPARE] = size
    state[scanner.LINE] = 1
    time_ids = times.table(_KEY)
    state[scanner.TIMES] = len(time_ids)
    state[scanner.INSIDE] = times.inside
    grouping.scan_events(
        padded(text, spare=spare_for(size, rows)), scanner.id_table(()), True, scratch_for(size), _KEY.words(), time_ids,
        columns.ids, columns.places, columns.number, columns.scale, columns.events, columns.errors, columns.known_ids, state,
    )  # fmt: skip
    consumed = int(state[scanner.CONSUMED])
    open_at = consumed if consumed < size else None
    return int(state[scanner.SALT]) + (open_at is not None), open_at
