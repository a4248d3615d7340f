"""Stream files: which ones a path, a folder or a glob names, in which format each is, and their events (spec/00 §2).

How a file is read follows from its extension, else from its first bytes.
"""

from __future__ import annotations

import errno
import glob
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from scepter.errors import OptionError, nearest, option_error
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.extensions import EXTENSIONS, foreign, sniff

if TYPE_CHECKING:
    from scepter.rdf.readers import Lift, Reader, Reading
    from scepter.rdf.source import DeadLetterTaker

HEAD: Final = 1 << 16
"""How much of a file is looked at to tell its format."""
GZIP_MAGIC: Final = b"\x1f\x8b"
KNOWN: Final = ", ".join(EXTENSIONS)
"""The extensions of stream files, for messages."""


class _Counted(io.RawIOBase):
    """A file that tells how far it was read."""

    def __init__(self, file: io.FileIO, tell: Callable[[int], None]) -> None:
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
        size = self._file.readinto(buffer)
        self._tell(size)
        return size


class Unpacked(io.RawIOBase):
    """What a gzipped file holds. One that is cut off or damaged ends where it breaks, with a dead letter: what stands before is
    read like any other file's."""

    def __init__(self, packed: IO[bytes] | io.RawIOBase, source: str, dead_letter: DeadLetterTaker) -> None:
        self._packed = packed
        self._unpacked = gzip.GzipFile(fileobj=packed)
        self._source = source
        self._dead_letter = dead_letter
        self._broken = False

    def close(self) -> None:
        """And the file that is unpacked."""
        super().close()
        self._unpacked.close()
        self._packed.close()

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """The next bytes, none behind the damage."""
        if self._broken:
            return 0
        try:
            # at most one step of the archive: what is whole before the damage is not thrown away with it
            return self._unpacked.readinto1(buffer)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self._broken = True
            self._dead_letter(DeadLetter(self._source, None, f"{self._source} cannot be read to its end: {error}"))
            return 0


def size_of(path: Path) -> int:
    """The file's size in bytes; OptionError if there is no such file. A link to nowhere has a byte, so that it is read."""
    try:
        return 1 if leads_nowhere(path) else path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> Exception:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return option_error("unreadable-source", f"{path} cannot be read: {reason}")


def read_file(
    path: Path, reading: Reading, tell: Callable[[int], None] = lambda size: None, extension: str | None = None
) -> Iterator[EventBatch]:
    """The events of a file of any format, gzipped or not; `tell` hears of every so many bytes read. `extension` is that of
    the format, where the file's own should not tell it."""
    if leads_nowhere(path):
        reading.dead_letter(lost(path))
        return
    try:
        with path.open("rb", buffering=0) as raw:
            head = raw.read(HEAD)
            raw.seek(0)
            counted = _Counted(raw, tell)
            if head.startswith(GZIP_MAGIC):
                file = _unpacked(counted, reading)
                head = file.peek(HEAD)
            else:  # not looked into again: large reads then go past its buffer, in whole blocks
                file = io.BufferedReader(counted, HEAD)
            yield from _read_unpacked(path, file, head, reading, extension)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unpacked(packed: IO[bytes] | io.RawIOBase, reading: Reading) -> io.BufferedReader:
    return io.BufferedReader(Unpacked(packed, reading.source_name, reading.dead_letter), HEAD)


def _read_unpacked(
    path: Path, file: io.BufferedReader, head: bytes, reading: Reading, extension: str | None
) -> Iterator[EventBatch]:
    if (why := foreign(head)) is not None:
        reading.dead_letter(DeadLetter(reading.source_name, None, why))
        return
    extension = extension or format_extension(path)
    if extension not in EXTENSIONS:
        extension = sniffed(head, reading.lift) or ""
    reader = _reader_of(extension, reading)
    if reader is None:
        raise option_error(
            "unknown-format",
            f"{path}: neither the extension nor the content tells its format",
            help=f"stream files end in {KNOWN}; each may be gzipped (.gz)",
        )
    yield from _sampled(reader, file, reading)


def _sampled(reader: Reader, file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    from scepter.rdf.letters import Sampled  # loads the kernels

    letters = Sampled(reading.dead_letter, reading.run.limits.letters)
    yield from reader(file, replace(reading, dead_letter=letters))
    letters.finish()


def _reader_of(extension: str, reading: Reading) -> Reader | None:
    from scepter.rdf.readers import reader_of  # loads the kernels: who only lists files does not read them

    return reader_of(extension, reading)


def read_pipe(raw: Any, reading: Reading) -> Iterator[EventBatch]:
    """The events of a pipe, gzipped or not, in the format that its first bytes tell, else N-Quads."""
    file: Any = io.BufferedReader(raw, HEAD)
    if file.peek(HEAD).startswith(GZIP_MAGIC):
        file = _unpacked(file, reading)
    head = file.peek(HEAD)
    if (why := foreign(head)) is not None:
        reading.dead_letter(DeadLetter(reading.source_name, None, why))
        return
    reader = _reader_of(sniffed(head, reading.lift) or ".nq", reading)
    assert reader is not None
    yield from _sampled(reader, file, reading)


def sniffed(head: bytes, lift: Lift | None) -> str | None:
    """The extension of the format that first bytes look like; a mapping is asked before anybody else."""
    return (None if lift is None else lift.sniff(head)) or sniff(head)


def leads_nowhere(path: Path) -> bool:
    """Whether a name in a folder is a link that leads to nothing, to itself, or to where we may not go."""
    try:
        path.stat()
    except OSError:
        return path.is_symlink()
    return False


CHANGED: Final = (
    "the file has changed since it was read, and is not read again: move files into the folder when they are complete"
)
"""What is told of a file of a folder that is followed."""


def broken_link(path: Path) -> OptionError:
    """The error for a link to nowhere that is named."""
    return option_error("missing-source", f"{path} is a link to nowhere", help=f"look where it leads: ls -l {path}")


def lost(path: Path) -> DeadLetter:
    """What is told of a link to nowhere."""
    return DeadLetter(str(path), None, f"{path} cannot be read: it is a link to nowhere")


def format_extension(path: Path) -> str:
    """The extension that tells the format, in lower case, without .gz.

    >>> format_extension(Path("a.nq.gz"))
    '.nq'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return "".join(suffixes[-1:])


def format_of(path: Path, lift: Lift | None = None) -> str | None:
    """The extension of the format a file is read as, None if nothing tells."""
    extension = format_extension(path)
    if extension in EXTENSIONS:
        return extension
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
        if head.startswith(GZIP_MAGIC):
            with gzip.open(path) as unpacked:
                head = unpacked.read(HEAD)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None
    return sniffed(head, lift)


def check_name(text: str) -> None:
    """OptionError for what is too long to be a file's name: often the content of one, which asking for would fail."""
    try:
        Path(text).stat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            told = f"'{text[:40].splitlines()[0]}…' is no file's name: it has {len(text)} characters"
            raise option_error("missing-source", told, help="write it to a file, and name that") from None
    except ValueError:  # a zero byte: no such file, says whoever looks for it
        pass


def stream_files(text: str) -> list[Path]:
    """The files that a path, a folder or a glob names, sorted by name, with a folder's links to nowhere, which whoever reads
    them tells of; OptionError if there is none."""
    path = Path(text)
    if path.is_dir():
        known = sorted(child for child in path.iterdir() if format_extension(child) in EXTENSIONS)
        found = [child for child in known if child.is_file() or leads_nowhere(child)]
        if not found:
            deep = next((each for each in path.rglob("*") if format_extension(each) in EXTENSIONS and each.is_file()), None)
            advice = f"stream files end in {KNOWN}" if deep is None else f"its folders do: '{path}/**/*{deep.suffix}'"
            raise option_error("empty-source", f"{path} holds no stream file", help=advice)
        return found
    if path.exists():
        return [path]
    if glob.has_magic(text):
        found = sorted(Path(name) for name in glob.glob(text, recursive=True) if Path(name).is_file())  # noqa: PTH207
        if not found:
            raise option_error("empty-source", f"no file matches {text}")
        return found
    if path.is_symlink():
        raise broken_link(path)
    siblings = [child.name for child in path.parent.iterdir()] if path.parent.is_dir() else []
    close = nearest(path.name, siblings)
    raise option_error(
        "missing-source",
        f"{path} does not exist",
        help=f"did you mean {path.parent / close}?" if close else "give a file, a glob, a folder, or - for standard input",
    )
