"""Live sources of a run in this process: what is there, then what comes, until they end or the run is stopped.

`LIVE` is where brokers plug in: by the scheme of SOURCE, something that makes a `LiveSource`.
"""

from __future__ import annotations

import os
import queue
import re
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Protocol

from scepter.errors import OptionError, nearest, option_error
from scepter.io.fed import Fed
from scepter.io.kafka_live import Came, follow_kafka
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.extensions import EXTENSIONS, TABLES
from scepter.rdf.files import (
    CHANGED,
    HEAD,
    KNOWN,
    broken_link,
    check_name,
    format_extension,
    format_of,
    leads_nowhere,
    lost,
    read_file,
    sniffed,
)
from scepter.rdf.nquads import NQuadsReader
from scepter.rdf.readers import Lift, Reading, needs_map

_CHUNK: Final = 1 << 16
_WAITING: Final = 64
"""So many chunks of a pipe may wait: then its writer does."""
_LOOK_AGAIN: Final = 50
"""After so many looks at a folder, those that were read are looked at too."""
_LINES: Final = (".nq", ".nquads", ".nt")
"""What can be read while it is being written: a line is whole when its end is there."""
_ROWS: Final = (".csv", ".tsv", ".jsonl", ".ndjson")
"""The same, through a mapping or a context."""


class _OnePart:
    """A source that comes in one order."""

    awaited: Final[Collection[int]] = (0,)


def _whole(batches: list[EventBatch]) -> Came:
    return {0: batches} if batches else {}


_BLANK: Final = re.compile(rb"\n[ \t\r]*(?=\n)")
"""A blank line, with the end of the line before it and without its own."""
_BEGUN: Final = re.compile(rb"\n[ \t\r]{0,80}\Z")


class LiveSource(Protocol):
    """A source that goes on. `poll` never waits: the run waits for all of its sources together."""

    name: str

    def open(self, reading: Reading) -> None:
        """Start reading; what cannot be read raises OptionError."""

    def poll(self) -> Came:
        """The events that have come since the last time."""

    @property
    def awaited(self) -> Collection[int]:
        """The parts from which more may come that is behind the others."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""

    def close(self) -> None:
        """Let go of what it holds."""


class _Text:
    """Text of N-Quads or N-Triples as it comes: events as soon as they are whole, which is when the next one begins, or at a
    blank line."""

    def __init__(self, reading: Reading) -> None:
        self._last = b""  # the end of the last line, and the blank that has come of the next one
        # a batch of one byte: whatever is complete is given at once
        self._reader = NQuadsReader(
            reading.key, reading.stream_index, reading.source_name, reading.dead_letter,
            predicates=reading.predicates, run=reading.run, batch_bytes=1,
        )  # fmt: skip

    def feed(self, chunk: bytes) -> list[EventBatch]:
        text = self._last + chunk
        self._last = found[0] if (found := _BEGUN.search(text)) is not None else b""
        blank = max((line.end() + 1 for line in _BLANK.finditer(text)), default=0) - (len(text) - len(chunk))
        if blank <= 0:
            return _some(self._reader.feed(chunk))
        before = _some(self._reader.feed(chunk[:blank]), self._reader.settle())
        return before + _some(self._reader.feed(chunk[blank:]))

    def finish(self) -> list[EventBatch]:
        """The end: a line that was cut off is refused as any other that is not whole."""
        return _some(self._reader.finish())


def _some(*batches: EventBatch | None) -> list[EventBatch]:
    return [batch for batch in batches if batch is not None]


def _fed(reading: Reading, lift: Lift | None) -> _Text | Fed:
    return _Text(reading) if lift is None else Fed(reading, lift)


class PipeLive(_OnePart):
    """Standard input, a FIFO or a socket: bytes that a thread waits for."""

    def __init__(self, name: str, opened: Callable[[], IO[bytes]], lift: Lift | None = None) -> None:
        """`opened` is called by the thread: a FIFO waits there for its writer."""
        self.name = name
        self._lift = lift
        self._opened = opened
        self._chunks: queue.Queue[bytes | OSError] = queue.Queue(_WAITING)
        self._text: _Text | Fed | None = None
        self._dead_letter: Callable[[DeadLetter], None] = lambda letter: None
        self._begun = self._ended = False

    def open(self, reading: Reading) -> None:
        """Start the thread that reads."""
        self._text = _fed(reading, self._lift)
        self._dead_letter = reading.dead_letter
        threading.Thread(target=self._read, name=f"reads {self.name}", daemon=True).start()

    def _read(self) -> None:
        try:
            file = self._opened()
            read: Callable[[int], bytes] = getattr(file, "read1", file.read)  # what there is, not a whole chunk
            while chunk := read(_CHUNK):
                self._chunks.put(chunk)
            file.close()
            self._chunks.put(b"")
        except OSError as error:
            self._chunks.put(error)

    def poll(self) -> Came:
        """The events of the bytes that have come."""
        assert self._text is not None, "open it first"
        found: list[EventBatch] = []
        while not self._ended and not self._chunks.empty():
            chunk = self._chunks.get()
            if isinstance(chunk, bytes) and chunk:
                self._look(chunk)
                found += self._text.feed(chunk)
                continue
            self._ended = True
            found += self._text.finish()
            if isinstance(chunk, OSError):
                self._dead_letter(DeadLetter(self.name, None, f"the source failed: {chunk.strerror or chunk}"))
        return _whole(found)

    def _look(self, chunk: bytes) -> None:
        """Say so where the first bytes are of a format that cannot be read line by line: its lines would be told one by one."""
        if self._begun:
            return
        self._begun = True
        looks = sniffed(chunk[:HEAD], self._lift)
        if self._lift is None and looks is not None and looks not in _LINES:
            reason = f"this looks like {looks}, and what is followed is read as lines of N-Quads or N-Triples"
            self._dead_letter(DeadLetter(self.name, None, reason))

    @property
    def ended(self) -> bool:
        """Whether its writer has closed it."""
        return self._ended

    def close(self) -> None:
        """The thread ends with its source, or with the process."""


class GrowingFile(_OnePart):
    """A file of lines that others write to the end of."""

    def __init__(self, path: Path, lift: Lift | None = None) -> None:
        self.name = str(path)
        self._path = path
        self._lift = lift
        self._file: IO[bytes] | None = None
        self._reading: Reading | None = None
        self._text: _Text | Fed | None = None
        self._cut = False
        """Whether the last line lacks its end."""

    def open(self, reading: Reading) -> None:
        """From its beginning."""
        self._text, self._reading = _fed(reading, self._lift), reading
        try:
            self._file = self._path.open("rb")
        except OSError as error:
            raise option_error("unreadable-source", f"{self._path} cannot be read: {error.strerror}") from None

    def poll(self) -> Came:
        """The events of what was appended."""
        assert self._file is not None and self._text is not None and self._reading is not None, "open it first"
        found: list[EventBatch] = []
        is_rotated, size = self._named()
        if not is_rotated and size < self._file.tell():
            letter = DeadLetter(self.name, None, "the file has become shorter: it is read anew from its beginning")
            self._reading.dead_letter(letter)
            self._file.seek(0)
            found += self._begun()
        read = False
        while chunk := self._file.read(_CHUNK):
            read = True
            self._cut = not chunk.endswith(b"\n")
            found += self._text.feed(chunk)
        if is_rotated and not read:  # else who writes to the old one may have more
            with suppress(OSError):  # it is gone again: the next one will do
                following = self._path.open("rb")
                self._file.close()
                self._file = following
                found += self._begun()
        return _whole(found)

    def _begun(self) -> list[EventBatch]:
        """Another text: a table has its heading again, lines go on, and no line goes on from one text to the other."""
        assert self._text is not None and self._reading is not None, "open it first"
        is_cut, self._cut = self._cut, False
        if self._lift is None:
            return self._text.feed(b"\n") if is_cut else []
        found = self._text.finish()
        self._text = _fed(self._reading, self._lift)
        return found

    def _named(self) -> tuple[bool, int]:
        """Whether the file of this name is another one than the open one, and its size; without one, that of the open one."""
        assert self._file is not None, "open it first"
        opened = os.fstat(self._file.fileno())
        try:
            there = self._path.stat()
        except OSError:
            return False, opened.st_size
        return not os.path.samestat(there, opened), there.st_size

    @property
    def ended(self) -> bool:
        """More may always come."""
        return False

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class GrowingFolder(_OnePart):
    """A folder into which others put whole files: each is read once, in order of their names among those there. One that has
    another size later is told, once."""

    def __init__(self, path: Path, lift: Lift | None = None) -> None:
        self.name = str(path)
        self._path = path
        self._lift = lift
        self._seen: set[str] = set()
        self._sizes: dict[Path, int] = {}
        self._polls = 0
        self._missed: set[str] = set()
        self._reading: Reading | None = None

    def open(self, reading: Reading) -> None:
        """Nothing is read yet: the folder may be empty."""
        self._reading = reading

    def poll(self) -> Came:
        """The events of the new files."""
        self._polls += 1
        if self._polls % _LOOK_AGAIN == 0:
            self._tell_changed()
        return _whole([batch for path in self._new() for batch in self._read(path)])

    def _new(self) -> list[Path]:
        hidden = (".", "_")  # being written, as others name them
        try:
            there = [path for path in self._path.iterdir() if path.name not in self._seen and not path.name.startswith(hidden)]
        except OSError:  # the folder is gone, or closed to us: it may come again
            return []
        known = sorted(path for path in there if format_extension(path) in EXTENSIONS)
        nowhere = [path for path in known if leads_nowhere(path)]
        for path in nowhere:
            self._miss(path)
        return [path for path in known if path not in nowhere and path.is_file()]

    def _miss(self, path: Path) -> None:
        """A link to nowhere: told once, and read when there is a file."""
        if path.name not in self._missed:
            assert self._reading is not None, "open it first"
            self._missed.add(path.name)
            self._reading.dead_letter(lost(path))

    def _tell_changed(self) -> None:
        assert self._reading is not None, "open it first"
        for path, size in list(self._sizes.items()):
            with suppress(OSError):  # it may be gone by now, and has been read
                if path.stat().st_size != size:
                    del self._sizes[path]
                    self._reading.dead_letter(DeadLetter(str(path), None, CHANGED))

    def _read(self, path: Path) -> Iterator[EventBatch]:
        assert self._reading is not None, "open it first"
        self._seen.add(path.name)
        with suppress(OSError):
            self._sizes[path] = path.stat().st_size
        asked = self._reading
        reading = Reading(
            asked.key, asked.stream_index, str(path), asked.dead_letter, asked.predicates, asked.run, asked.batch_bytes,
            asked.prefixes, self._lift,
        )  # fmt: skip
        try:
            yield from read_file(path, reading)
        except OptionError as error:  # one file that cannot be read does not end the run
            asked.dead_letter(DeadLetter(str(path), None, error.diagnostic.message))

    @property
    def ended(self) -> bool:
        """More may always come."""
        return False

    def close(self) -> None:
        """It holds nothing."""


def open_socket(spec: str, lift: Lift | None) -> LiveSource:
    """`tcp://host:port`: what a server writes, until it closes the connection."""
    host, colon, port = spec.removeprefix("tcp://").rstrip("/").rpartition(":")
    if not colon or not host or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 1 << 16:
        raise option_error("bad-stream", f"{spec} names no host and port", help="write tcp://localhost:9999")
    try:
        connected = socket.create_connection((host.strip("[]"), int(port)), timeout=10)
    except OSError as error:
        raise option_error(
            "unreadable-source", f"{spec} cannot be read: {error.strerror or error}", help="is there a server that writes?"
        ) from None
    connected.settimeout(None)

    def opened() -> IO[bytes]:
        with connected:  # the file keeps the connection
            return connected.makefile("rb")

    return PipeLive(spec, opened, lift)


LIVE: Final[dict[str, Callable[[str, Lift | None], LiveSource]]] = {"kafka": follow_kafka, "tcp": open_socket}
"""Live sources by the scheme of SOURCE, `tcp` for `tcp://…`."""


def _standard_input() -> IO[bytes]:
    """Not `sys.stdin`, whose lock the waiting thread would hold when the interpreter ends, which then aborts; but where a
    program has put something else in its place, that."""
    try:
        number = sys.stdin.fileno()
    except OSError:  # what is in its place is no file of the system's
        return sys.stdin.buffer
    return open(number, "rb", buffering=0, closefd=False)


def open_live(spec: str, lift: Lift | None = None) -> LiveSource:
    """The live source that a SOURCE string names; OptionError for one that cannot be followed in this process."""
    scheme, separator, _ = spec.partition("://")
    if separator:
        if scheme not in LIVE:
            close = nearest(scheme, LIVE)
            hint = (
                f"did you mean {close}://?"
                if close
                else "take --engine spark, or a file, a folder, a FIFO, -, kafka:// or tcp://"
            )
            raise option_error("unknown-scheme", f"{spec} cannot be followed in this process", help=hint)
        return LIVE[scheme](spec, lift)
    check_name(spec)
    path = Path(spec)
    if spec != "-" and path.is_dir():
        return GrowingFolder(path, lift)
    if spec == "-":
        return PipeLive(spec, _standard_input, lift)
    if path.is_fifo():
        return PipeLive(spec, lambda: path.open("rb"), lift)
    if leads_nowhere(path):
        raise broken_link(path)
    if not path.exists():
        raise option_error("missing-source", f"{spec} does not exist", help="a file that is followed must be there")
    format = format_of(path, lift)
    if format in TABLES and lift is None:
        raise needs_map(spec)
    if path.stat().st_size and format not in (_LINES if lift is None else _ROWS):
        raise option_error(
            "unknown-format",
            f"{spec} cannot be read while it is written: its events are not lines",
            help=f"follow N-Quads, N-Triples, CSV or JSON lines, or a folder into which files are put ({KNOWN})",
        )
    return GrowingFile(path, lift)
