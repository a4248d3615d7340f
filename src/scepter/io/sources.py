"""SOURCE strings of the command line: a file, a glob, a folder, or - for standard input (spec/00 §2, §3).

How a file is read follows from its extension, else from its first bytes. `READERS` and `SCHEMES` are where other formats and
brokers plug in.
"""

from __future__ import annotations

import glob
import gzip
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

import numpy as np

from scepter.errors import nearest, option_error
from scepter.io.readers import READERS, Reading, sniff
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.source import DeadLetterTaker, EventSource, Progress, Survey
from scepter.timeline import TimeKind

_HEAD: Final = 1 << 16
_GZIP_MAGIC: Final = b"\x1f\x8b"
_KNOWN: Final = ", ".join(READERS)


class _Counted(io.RawIOBase):
    """A file that tells how far it was read."""

    def __init__(self, file: IO[bytes], tell: Callable[[int], None]) -> None:
        self._file = file
        self._tell = tell

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._tell(len(data))
        return len(data)


@dataclass(slots=True)
class FileSource:
    """Files read one after the other, in the order given."""

    name: str
    paths: Sequence[Path]
    prefixes: dict[str, str] = field(default_factory=dict)

    def batches(
        self,
        key: TermKey,
        stream_index: int,
        dead_letter: DeadLetterTaker,
        *,
        predicates: frozenset[int] | None = None,
        run: ReadState | None = None,
        batch_bytes: int = BATCH_BYTES,
        progress: Progress | None = None,
    ) -> Iterator[EventBatch]:
        """The events in the order they stand."""
        run = run if run is not None else ReadState()
        total = sum(_size(path) for path in self.paths)
        done = 0

        def tell(size: int) -> None:
            nonlocal done
            done += size
            if progress is not None:
                progress(min(done, total), total)

        for path in self.paths:
            reading = Reading(key, stream_index, str(path), dead_letter, predicates, run, batch_bytes, self.prefixes)
            yield from _read_file(path, reading, tell)

    def survey(self, kind: TimeKind | None = None) -> Survey:
        """A pre-pass over the times."""
        return survey_batches(self, sum(_size(path) for path in self.paths), kind)


def survey_batches(source: EventSource, size: int, kind: TimeKind | None) -> Survey:
    """The survey of a source by reading it with every triple pruned."""
    run = ReadState(kind)
    events = disorder = first = last = 0
    nothing: frozenset[int] = frozenset()
    for batch in source.batches(TermKey.fixed(), 0, lambda letter: None, predicates=nothing, run=run):
        least, greatest = int(batch.start.min()), int(batch.end.max())
        before = int(batch.end[0]) if events == 0 else last
        peaks = np.maximum.accumulate(np.maximum(batch.end, before))
        disorder = max(disorder, int((peaks - batch.end).max()))
        first = least if events == 0 else min(first, least)
        last = max(before, greatest)
        events += batch.events
    return Survey(run.kind, disorder, first, last, events, size)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> Exception:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return option_error("unreadable-source", f"{path} cannot be read: {reason}")


def _read_file(path: Path, reading: Reading, tell: Callable[[int], None]) -> Iterator[EventBatch]:
    try:
        with path.open("rb", buffering=0) as raw:
            head = raw.read(_HEAD)
            raw.seek(0)
            counted = _Counted(raw, tell)
            if head.startswith(_GZIP_MAGIC):
                with gzip.GzipFile(fileobj=counted) as unpacked:
                    yield from _read_unpacked(path, io.BufferedReader(unpacked, _HEAD), reading)
            else:
                yield from _read_unpacked(path, io.BufferedReader(counted, _HEAD), reading)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None


def _read_unpacked(path: Path, file: io.BufferedReader, reading: Reading) -> Iterator[EventBatch]:
    extension = format_extension(path)
    if extension not in READERS:
        extension = sniff(file.peek(_HEAD)) or ""
    if extension not in READERS:
        raise option_error(
            "unknown-format",
            f"{path}: neither the extension nor the content tells its format",
            help=f"stream files end in {_KNOWN}; each may be gzipped (.gz)",
        )
    yield from READERS[extension](file, reading)


def format_extension(path: Path) -> str:
    """The extension that tells the format, in lower case, without .gz.

    >>> format_extension(Path("a.nq.gz"))
    '.nq'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return "".join(suffixes[-1:])


class PipeSource:
    """Standard input: read as it comes, or spooled to a temporary file once somebody wants to look ahead."""

    def __init__(self, stream: IO[bytes], name: str = "-") -> None:
        self.name = name
        self._stream = stream
        self._spool: tempfile.TemporaryDirectory[str] | None = None
        self._spooled: FileSource | None = None
        self._started = False

    def batches(
        self,
        key: TermKey,
        stream_index: int,
        dead_letter: DeadLetterTaker,
        *,
        predicates: frozenset[int] | None = None,
        run: ReadState | None = None,
        batch_bytes: int = BATCH_BYTES,
        progress: Progress | None = None,
    ) -> Iterator[EventBatch]:
        """The events as they come; a second time only after a survey."""
        if self._spooled is not None:
            yield from self._spooled.batches(
                key, stream_index, dead_letter,
                predicates=predicates, run=run, batch_bytes=batch_bytes, progress=progress,
            )  # fmt: skip
            return
        if self._started:
            raise option_error("pipe-read", "standard input can be read only once", help="name a file instead of -")
        self._started = True
        reading = Reading(key, stream_index, self.name, dead_letter, predicates, run or ReadState(), batch_bytes, {})
        file: IO[bytes] = io.BufferedReader(self._stream, _HEAD)  # type: ignore[type-var]
        head = file.peek(_HEAD)  # type: ignore[attr-defined]
        if head.startswith(_GZIP_MAGIC):
            file = io.BufferedReader(gzip.GzipFile(fileobj=file), _HEAD)
            head = file.peek(_HEAD)
        yield from READERS[sniff(head) or ".nq"](file, reading)

    def survey(self, kind: TimeKind | None = None) -> Survey:
        """Spools the pipe, then looks at the times."""
        if self._spooled is None:
            if self._started:
                raise option_error("pipe-read", "standard input can be read only once", help="name a file instead of -")
            self._started = True
            self._spool = tempfile.TemporaryDirectory(prefix="scepter-")
            path = Path(self._spool.name) / "stdin"
            with path.open("wb") as out:
                shutil.copyfileobj(self._stream, out, 1 << 20)
            if format_of(path) is None:
                path = path.rename(path.with_suffix(".nq"))
            self._spooled = FileSource(self.name, [path])
        return self._spooled.survey(kind)

    def close(self) -> None:
        """Drops the spooled file."""
        if self._spool is not None:
            self._spool.cleanup()
            self._spool = None


def format_of(path: Path) -> str | None:
    """The extension of the format a file is read as, None if nothing tells."""
    extension = format_extension(path)
    if extension in READERS:
        return extension
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(_GZIP_MAGIC):
            with gzip.open(path) as unpacked:
                head = unpacked.read(_HEAD)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None
    return sniff(head)


SCHEMES: Final[dict[str, Callable[[str], EventSource]]] = {}
"""Sources by the scheme of SOURCE, `kafka` for `kafka://…`: brokers register here."""


def open_source(spec: str | Path, *, prefixes: dict[str, str] | None = None) -> EventSource:
    """The source that a SOURCE string names. What cannot be read raises OptionError here, before any data is.

    `prefixes` are for files in the timeline notation.
    """
    text = str(spec)
    if text == "-":
        return PipeSource(sys.stdin.buffer)
    scheme, separator, _ = text.partition("://")
    if separator:
        if scheme not in SCHEMES:
            close = nearest(scheme, SCHEMES)
            raise option_error(
                "unknown-scheme",
                f"{text}: no source is known by {scheme}://",
                help=f"did you mean {close}://?" if close else "give a file, a glob, a folder, or - for standard input",
            )
        return SCHEMES[scheme](text)
    paths = _paths(text)
    for path in paths:
        if format_of(path) is None and _size(path):
            raise option_error(
                "unknown-format",
                f"{path}: neither the extension nor the content tells its format",
                help=f"stream files end in {_KNOWN}; each may be gzipped (.gz)",
            )
    return FileSource(text, paths, prefixes or {})


def _paths(text: str) -> list[Path]:
    path = Path(text)
    if path.is_dir():
        found = sorted(child for child in path.iterdir() if child.is_file() and format_extension(child) in READERS)
        if not found:
            raise option_error("empty-source", f"{path} holds no stream file", help=f"stream files end in {_KNOWN}")
        return found
    if path.exists():
        return [path]
    if glob.has_magic(text):
        found = sorted(Path(name) for name in glob.glob(text, recursive=True) if Path(name).is_file())  # noqa: PTH207
        if not found:
            raise option_error("empty-source", f"no file matches {text}")
        return found
    siblings = [child.name for child in path.parent.iterdir()] if path.parent.is_dir() else []
    close = nearest(path.name, siblings)
    raise option_error(
        "missing-source",
        f"{path} does not exist",
        help=f"did you mean {path.parent / close}?" if close else "give a file, a glob, a folder, or - for standard input",
    )
