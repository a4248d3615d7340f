"""What a run that goes on has written: matches and dead letters, micro-batch by micro-batch, each once.

A record in the checkpoint says which micro-batch is the last one written, how long each file was then, and how many matches
it held: formats that number matches go on behind them. The record is put in place when everything before it is on disk. After
a crash, what is behind the record is cut off, and what is before it not repeated: Spark hands the micro-batch over again, its
letters with it.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TextIO

from scepter.errors import OptionError, option_error
from scepter.kept import NamedFile, naming, sealed, unsealed, write_whole

RECORD: Final = "output.json"
OUTPUT: Final = "output"
LETTERS: Final = "letters"


class Journal:
    """The files that a run writes, by what they hold. Without a record it just writes."""

    def __init__(self, record: Path | None, files: Mapping[str, Path]) -> None:
        self._record = record
        last = _recorded(record)
        self.batch = last.batch
        """The last micro-batch that is written."""
        self.matches = last.matches
        """Written up to it, by this run and those before."""
        self._sizes = dict(last.sizes)
        for name, path in files.items():
            if self.batch < 0:  # nothing yet, or by the run of another query: it may have written elsewhere
                self._sizes[name] = min(self._sizes.get(name, 0), path.stat().st_size if path.exists() else 0)
            elif name not in self._sizes:  # what this run has not written before stays, if the run goes on
                self._sizes[name] = path.stat().st_size if path.exists() else 0
        self._paths = dict(files)
        self._files = {name: _opened(path, self._sizes[name]) for name, path in files.items()}
        self._texts = {name: _text(file) for name, file in self._files.items()}

    def text(self, name: str) -> TextIO:
        """Where to write what goes into a file."""
        return self._texts[name]

    def without_heading(self, name: str) -> None:
        """Take back the heading, which a file that goes on has already."""
        file, size = self._files[name], self._sizes[name]
        self._texts[name].flush()
        if not size and self.batch < 0:
            return
        file.seek(size)
        heading = file.read()
        file.truncate(size)
        file.seek(0)
        if self.batch < 0 and file.read(len(heading)) != heading:
            self.close()
            raise option_error(
                "output-changed",
                f"{self._paths[name]} goes on behind another query's results, and has another heading than this one's",
                help="name another --output, or take --format jsonl",
            )
        file.seek(size)

    def keep(self, batch: int, matches: int) -> None:
        """All of a micro-batch, so many matches, is written: on disk, and then in the record."""
        for name, text in self._texts.items():
            text.flush()
            if self._record is not None:
                with naming(self._paths[name]):
                    os.fsync(self._files[name].fileno())
        self._sizes |= {name: file.tell() for name, file in self._files.items()}
        self.batch = batch
        self.matches += matches
        if self._record is not None:
            told = {"batch": batch, "bytes": self._sizes, "matches": self.matches}
            write_whole(self._record, sealed(json.dumps(told).encode()))

    def close(self) -> None:
        """Hand everything on."""
        for text in self._texts.values():
            text.close()


def _text(file: io.BufferedRandom) -> TextIO:
    return io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)


@dataclass(frozen=True, slots=True)
class _Last:
    """What a record tells of the last micro-batch."""

    batch: int = -1
    sizes: Mapping[str, int] = field(default_factory=dict)
    matches: int = 0


def _recorded(record: Path | None) -> _Last:
    if record is None or not record.exists():
        return _Last()
    data = record.read_bytes()
    try:
        # before it had a checksum, the record told the size of the output alone; and it did not count matches at first
        found = json.loads(data if data.startswith(b"{") else unsealed(data) or b"")
        sizes = found["bytes"]
        by_name = sizes if isinstance(sizes, dict) else {OUTPUT: sizes}
        return _Last(int(found["batch"]), {name: int(size) for name, size in by_name.items()}, int(found.get("matches", 0)))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _damaged(record) from None


def begin_anew(record: Path) -> None:
    """Micro-batches are counted anew, behind what is written."""
    last = _recorded(record)
    if last.batch >= 0:
        told = {"batch": -1, "bytes": dict(last.sizes), "matches": last.matches}
        write_whole(record, sealed(json.dumps(told).encode()))


def last_written(record: Path) -> int:
    """The last micro-batch that a record tells of, -1 if there is none."""
    return _recorded(record).batch


def _damaged(record: Path) -> OptionError:
    return option_error(
        "record-damaged",
        f"{record} is damaged: nobody can tell which matches are written already",
        help="give back the file, or start anew with another --checkpoint and another --output",
    )


def _opened(path: Path, written: int) -> io.BufferedRandom:
    size = path.stat().st_size if path.exists() else 0
    if size < written:
        raise option_error(
            "output-changed",
            f"{path} has {size} bytes, and the run that goes on had written {written}",
            help="give back the file, or start anew with another --checkpoint",
        )
    try:
        file = io.BufferedRandom(NamedFile(path, "r+" if written else "w+"))
    except OSError as error:
        raise option_error(
            "output-not-writable", f"{path} cannot be written: {error.strerror}", help="name a file in a folder that exists"
        ) from None
    file.truncate(written)
    file.seek(written)
    return file
