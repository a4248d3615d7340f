"""The events of a range: where the first and the last of them begin, and what they hold."""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final

import numpy as np

from scepter.errors import ScepterError
from scepter.rdf import grouping, scanner
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.files import read_file, size_of
from scepter.rdf.hashing import TermKey
from scepter.rdf.limits import DEFAULT, ReadLimits
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
from scepter.runtime.spark.ranges import Range, divisible
from scepter.timeline import TimeKind

_BLOCK: Final = 1 << 16
_LOOK_BACK: Final = 1 << 12
_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_KEY: Final = TermKey.fixed()


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
        return size_of(Path(path))  # of a link to nowhere as it was when it was first seen
    except ScepterError:
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
