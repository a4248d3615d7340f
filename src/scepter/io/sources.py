"""SOURCE strings of the command line: a file, a glob, a folder, or - for standard input (spec/00 §2, §3).

How a file is read follows from its extension, else from its first bytes. `READERS` and `SCHEMES` are where other formats and
brokers plug in.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from scepter.errors import OptionError, nearest, option_error
from scepter.io.kafka import open_kafka
from scepter.rdf.batch import EventBatch
from scepter.rdf.extensions import TABLES
from scepter.rdf.files import KNOWN, check_name, format_of, read_file, read_pipe, size_of, stream_files
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Lift, Reading, needs_map
from scepter.rdf.source import DeadLetterTaker, EventSource, Progress

FILE_BYTES: Final = 4 * BATCH_BYTES
"""How much text of a file makes a batch: nobody waits for its first events, and all that is done once for a batch counts a
quarter. With more, a scan loses as much: its text is no longer in the cache."""


@dataclass(slots=True)
class FileSource:
    """Files read one after the other, in the order given."""

    name: str
    paths: Sequence[Path]
    prefixes: dict[str, str] = field(default_factory=dict)
    lift: Lift | None = None
    told_as: str | None = None
    """What dead letters name instead of the files: they hold a pipe."""

    def batches(
        self,
        key: TermKey,
        stream_index: int,
        dead_letter: DeadLetterTaker,
        *,
        predicates: frozenset[int] | None = None,
        run: ReadState | None = None,
        batch_bytes: int = FILE_BYTES,
        progress: Progress | None = None,
    ) -> Iterator[EventBatch]:
        """The events in the order they stand."""
        run = run if run is not None else ReadState()
        if run.assign is not None:
            run.assign.restart()
        total = sum(size_of(path) for path in self.paths)
        done = 0

        def tell(size: int) -> None:
            nonlocal done
            done += size
            if progress is not None:
                progress(min(done, total), total)

        for path in self.paths:
            name = self.told_as or str(path)
            reading = Reading(key, stream_index, name, dead_letter, predicates, run, batch_bytes, self.prefixes, self.lift)
            yield from read_file(path, reading, tell)

    def lasting(self) -> FileSource:
        """Files stay."""
        return self


class PipeSource:
    """Standard input or a FIFO: read as it comes, or spooled to a temporary file once somebody wants to look ahead."""

    def __init__(self, opened: Callable[[], IO[bytes]], name: str = "-", lift: Lift | None = None) -> None:
        """`opened` is called when the first byte is wanted: a FIFO waits there for its writer."""
        self.name = name
        self._lift = lift
        self._opened = opened
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
        """The events as they come; a second time only once they are spooled."""
        if self._spooled is not None:
            yield from self._spooled.batches(
                key, stream_index, dead_letter,
                predicates=predicates, run=run, batch_bytes=batch_bytes, progress=progress,
            )  # fmt: skip
            return
        if self._started:
            raise option_error("pipe-read", "standard input can be read only once", help="name a file instead of -")
        self._started = True
        reading = Reading(
            key, stream_index, self.name, dead_letter, predicates, run or ReadState(), batch_bytes, {}, self._lift
        )
        yield from read_pipe(self._opened(), reading)

    def lasting(self) -> FileSource:
        """The pipe, spooled to a temporary file."""
        if self._spooled is None:
            if self._started:
                raise option_error("pipe-read", "standard input can be read only once", help="name a file instead of -")
            self._started = True
            self._spool = tempfile.TemporaryDirectory(prefix="scepter-")
            path = Path(self._spool.name) / "stdin"
            with path.open("wb") as out:
                shutil.copyfileobj(self._opened(), out, 1 << 20)
            if format_of(path, self._lift) is None:
                path = path.rename(path.with_suffix(".nq"))
            self._spooled = FileSource(self.name, [path], lift=self._lift, told_as=self.name)
        return self._spooled

    def close(self) -> None:
        """Drops the spooled file."""
        if self._spool is not None:
            self._spool.cleanup()
            self._spool = None


SCHEMES: Final[dict[str, Callable[[str, Lift | None], EventSource]]] = {"kafka": open_kafka}
"""Sources by the scheme of SOURCE, `kafka` for `kafka://…`."""


def _unknown_scheme(text: str, scheme: str) -> OptionError:
    close = nearest(scheme, SCHEMES)
    advice = f"did you mean {close}://?" if close else "give a file, a glob, a folder, or - for standard input"
    if scheme == "tcp":
        return option_error("unknown-scheme", f"{text}: a socket has no end that a run could read up to", help="add --follow")
    return option_error("unknown-scheme", f"{text}: no source is known by {scheme}://", help=advice)


def open_source(spec: str | Path, *, prefixes: dict[str, str] | None = None, lift: Lift | None = None) -> EventSource:
    """The source that a SOURCE string names. What cannot be read raises OptionError here, before any data is.

    `prefixes` are for files in the timeline notation; `lift` is a mapping for tables and JSON.
    """
    text = str(spec)
    if text == "-":
        return PipeSource(lambda: sys.stdin.buffer, lift=lift)
    scheme, separator, _ = text.partition("://")
    if separator:
        if scheme not in SCHEMES:
            raise _unknown_scheme(text, scheme)
        return SCHEMES[scheme](text, lift)
    check_name(text)
    if Path(text).is_fifo():  # as a shell's <(zcat …)
        return PipeSource(lambda: Path(text).open("rb", buffering=0), text, lift)
    paths = stream_files(text)
    for path in paths:
        format = format_of(path, lift)
        if format in TABLES and lift is None:
            raise needs_map(str(path))
        if format is None and size_of(path):
            raise option_error(
                "unknown-format",
                f"{path}: neither the extension nor the content tells its format",
                help=f"stream files end in {KNOWN}; each may be gzipped (.gz)",
            )
    return FileSource(text, paths, prefixes or {}, lift)
