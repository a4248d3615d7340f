"""Files that Scepter writes and reads back: caches, progress. Nothing of them is believed that another user could have written,
or that a crash may have torn.

A cache is read only from a folder that is the user's own, out of files that are; whatever is in doubt is made anew. What is
small is sealed with a checksum and written whole: a draft, synced, takes the place of the old file.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scepter.errors import option_error

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_SEAL: Final = b"scepter kept 1\n"
_DIGEST: Final = 32
_OTHERS_WRITE: Final = 0o022
_HAS_OWNERS: Final = hasattr(os, "getuid")


@contextmanager
def naming(file: str | Path) -> Iterator[None]:
    """Let an error of the system say which file it is about: that of a write does not, and a full disk is one of several."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(file)
        raise


class NamedFile(io.FileIO):
    """A file whose failed writes name it."""

    def __init__(self, file: Path | int, mode: str, shown: str | None = None) -> None:
        super().__init__(file, mode, closefd=not isinstance(file, int))
        self._shown = shown or str(file)

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or say where it failed."""
        with naming(self._shown):
            return super().write(data)


def open_named(file: Path | int, mode: str = "w", shown: str | None = None, *, newline: str = "") -> io.TextIOWrapper:
    """Text to be written into a file whose failed writes name it; `shown` where it has another name for the person."""
    return io.TextIOWrapper(io.BufferedWriter(NamedFile(file, mode, shown)), encoding="utf-8", newline=newline)


def own_folder(folder: Path) -> Path | None:
    """The folder, made if it is not there; None where it is another user's, others may write into it, or it cannot be made."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, RuntimeError):
        return None
    return folder if stat.S_ISDIR(status.st_mode) and _is_own(status) else None


def own_file(path: Path) -> int | None:
    """A descriptor of a file to read, None unless it is a plain file of the user's own that nobody else can write."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and _is_own(status):
        return descriptor
    os.close(descriptor)
    return None


def _is_own(status: os.stat_result) -> bool:
    return not _HAS_OWNERS or (status.st_uid == os.getuid() and not status.st_mode & _OTHERS_WRITE)


def sealed(data: bytes) -> bytes:
    """The data behind a checksum.

    >>> unsealed(sealed(b"x")), unsealed(sealed(b"x")[:-1])
    (b'x', None)
    """
    return _SEAL + hashlib.blake2b(data, digest_size=_DIGEST).digest() + data


def unsealed(data: bytes) -> bytes | None:
    """The data that was sealed; None if not all of it is there, or it is something else."""
    begin = len(_SEAL) + _DIGEST
    body = data[begin:]
    if not data.startswith(_SEAL) or hashlib.blake2b(body, digest_size=_DIGEST).digest() != data[len(_SEAL) : begin]:
        return None
    return body


def read_own(path: Path) -> bytes | None:
    """The sealed data of a file of the user's own; None if there is none, or it is in doubt."""
    descriptor = own_file(path)
    if descriptor is None:
        return None
    with open(descriptor, "rb") as file:
        return unsealed(file.read())


def write_whole(path: Path, data: bytes) -> None:
    """Put data in a file's place, on disk when this returns: the old file or the new one is there, whatever happens."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with naming(path), draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a folder's entries lasting; where the system cannot, it does so itself."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


class BatchRecord:
    """What is known behind the micro-batches of a run; with a path, it is kept there from run to run. A micro-batch that is
    done again is given what was known before it, not what it made known."""

    def __init__(self, path: Path | None, lost: str) -> None:
        """`lost` says what nobody can tell if the file is damaged."""
        self._path = path
        self.batches: list[tuple[int, str]] = []
        """The last micro-batch, and the one before it in case the last is done again."""
        if path is None or not path.exists():
            return
        try:
            found = json.loads(unsealed(path.read_bytes()) or b"")
            self.batches = [(int(number), str(text)) for number, text in found]
        except (ValueError, TypeError):
            raise option_error(
                "record-damaged",
                f"{path} is damaged: nobody can tell {lost}",
                help="give back the file, or start anew with another --checkpoint and another --output",
            ) from None

    def before(self, batch: int) -> str | None:
        """What was known before a micro-batch; None before the first."""
        return next((text for number, text in reversed(self.batches) if number < batch), None)

    def take(self, batch: int, text: str) -> None:
        """What is known behind a micro-batch."""
        before = [each for each in self.batches if each[0] < batch]
        self.batches = [*before[-1:], (batch, text)]
        if self._path is not None:
            write_whole(self._path, sealed(self.written().encode()))

    def written(self) -> str:
        """As text."""
        return json.dumps(self.batches)
