"""Which files of a folder a stream has read: offsets that tell all there is to tell, so that any replay reads the same bytes.

An offset holds the files of its micro-batch and those of the last `max_age`, each with its time of modification, the size it
counts for, and how many of its bytes are done. A file that appears later than `max_age` behind the newest one done is not
taken any more, as in Spark's own file source: it is a dead letter. A file counts with the size it had when it was first seen:
move files into the folder when they are complete. One that has another size after it was read is told once.

Whatever a file contains, the run goes on. What cannot be read here (a torn archive, a link to nowhere) is taken all the same:
its task finds out, and makes it a dead letter.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from scepter.errors import OptionError
from scepter.rdf.files import leads_nowhere, size_of, stream_files
from scepter.rdf.times import PROV_TIMES, TimeProperties
from scepter.runtime.spark.ranges import Range, cut, divisible, next_salt
from scepter.timeline import TimeKind

if TYPE_CHECKING:
    from scepter.rdf.readers import Lift

Offset: TypeAlias = dict[str, Any]
"""{"mark": newest time done, "salt": next salt, "files": {path: {"time", "size", "done", "salt"}}, "old": [path, …], "changed":
[path, …]}: the last two are those that this offset is the first to find too old, or changed since they were read."""

NOTHING: Final[Offset] = {"mark": -1, "salt": 0, "files": {}}
_LOG: Final = logging.getLogger(__name__)
_COUNTED_BYTES: Final = 1 << 20
_BYTES_PER_EVENT: Final = 256


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it stands in the folder."""

    path: str
    time: int
    """Microseconds of its last modification."""
    size: int


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a micro-batch may take; None: all there is."""

    files: int | None = None
    events: int | None = None


def begin_behind(files: Iterable[Found], done: Mapping[str, tuple[int, int]], format: str) -> Offset:
    """The offset of a first run that leaves out a beginning of files, given as the bytes of it and the size of the file when it
    was looked at; a file that has changed since is read as a whole."""
    entries: Offset = {}
    salt = 0
    for file in files:
        left_out, size = done.get(file.path, (0, 0))
        if left_out and size == file.size:
            entries[file.path] = {"time": file.time, "size": file.size, "done": left_out, "salt": salt}
            salt = next_salt([Range(file.path, 0, file.size, file.size, salt, format)])
    return {**NOTHING, "salt": salt, "files": entries}


def list_files(sources: Iterable[str], *, begun: bool = False) -> list[Found]:
    """The files that are there now, oldest first; a folder may still be empty, and, once a run has begun, gone."""
    found: dict[str, Found] = {}
    for source in sources:
        try:
            paths = stream_files(source)
        except OptionError as error:
            if error.code != "empty-source" and not (begun and error.code == "missing-source"):
                raise
            paths = []
        for path in paths:
            if not path.name.startswith((".", "_")) and (file := _found(path)) is not None:
                found[file.path] = file
    return sorted(found.values(), key=lambda file: (file.time, file.path))


def _found(path: Path) -> Found | None:
    """The file as it stands; None if it is gone again."""
    try:
        state = path.lstat() if leads_nowhere(path) else path.stat()
        return Found(str(path.absolute()), state.st_mtime_ns // 1000, size_of(path))
    except (OSError, OptionError):
        return None


@dataclass(slots=True)
class Folder:
    """Advances offsets over the files that are there."""

    max_age: int
    """Microseconds."""
    kind: TimeKind
    format: str = ""
    times: TimeProperties = PROV_TIMES
    lift: Lift | None = None
    _listed: set[str] | None = None
    """The files of the listing before; after a restart nobody knows which of the old ones have been read."""

    def advance(self, start: Offset, files: Iterable[Found], limits: Limits) -> Offset:
        """The offset behind as many of the files as the limits allow; `start` itself if there is nothing new."""
        kept: Offset = {
            path: entry
            for path, entry in start["files"].items()
            if entry["done"] < entry["size"] or entry["time"] > start["mark"] - self.max_age
        }
        mark, salt, taken, left = start["mark"], start["salt"], 0, limits.events
        files = list(files)
        old = self._come_too_late(start, files)
        for file in self._waiting(start, kept, files):
            if (limits.files is not None and taken >= limits.files) or left == 0:
                break
            entry = kept.get(file.path)
            if entry is None:
                entry = {"time": file.time, "size": file.size, "done": 0, "salt": salt}
                salt = next_salt([Range(file.path, 0, file.size, file.size, salt, self.format)])
            done = entry["size"]
            if left is not None:
                part = Range(file.path, entry["done"], entry["size"], entry["size"], 0, self.format)
                done, counted = events_end(part, left, self.kind, whole=taken == 0, times=self.times, lift=self.lift)
                left -= min(counted, left)
            kept[file.path] = {**entry, "done": done}
            mark = max(mark, file.time)
            taken += 1
        changed = _changed(start["files"], files)
        for path in changed:
            if path in kept:
                kept[path] = {**kept[path], "changed": True}
        return {"mark": mark, "salt": salt, "files": kept, "old": old, "changed": changed} if taken or old or changed else start

    def _come_too_late(self, start: Offset, files: Sequence[Found]) -> list[str]:
        """The files that have come since the listing before, and are too old to be read."""
        known, self._listed = self._listed, {file.path for file in files}
        found = [
            file.path
            for file in files
            if file.size and file.path not in start["files"] and file.time <= start["mark"] - self.max_age
        ]
        if known is None:
            if found:
                _LOG.warning("%d files are older than the newest one done by more than maxFileAge, and not read", len(found))
            return []
        return [path for path in found if path not in known]

    def _waiting(self, start: Offset, kept: Offset, files: Iterable[Found]) -> Iterator[Found]:
        for file in files:
            entry = kept.get(file.path)
            if entry is not None:
                waits = entry["done"] < entry["size"]
            else:
                young = file.time > start["mark"] - self.max_age
                waits = young and file.size > 0 and file.path not in start["files"]
            if waits:
                yield file

    def ranges(self, start: Offset, end: Offset, share: int) -> list[Range]:
        """What lies between two offsets, in pieces of about `share` bytes."""
        found: list[Range] = []
        for path, entry in sorted(end["files"].items(), key=lambda item: (item[1]["time"], item[0])):
            done = start["files"].get(path, {"done": 0})["done"]
            if done < entry["done"]:
                salt = entry["salt"] + done
                found += cut(Range(path, done, entry["done"], entry["size"], salt, self.format), share)
        return found


def _changed(entries: Offset, files: Iterable[Found]) -> list[str]:
    """The files that were read to their end and have another size now, unless that was told."""
    sizes = {path: each["size"] for path, each in entries.items() if each["done"] == each["size"] and "changed" not in each}
    return [file.path for file in files if sizes.get(file.path, file.size) != file.size]


def events_end(
    part: Range, events: int, kind: TimeKind, *, whole: bool, times: TimeProperties = PROV_TIMES, lift: Lift | None = None
) -> tuple[int, int]:
    """Where the first so many events of a range end, and how many they are. What cannot be cut is taken as a whole, or, unless
    `whole` forces it, not at all if it holds more."""
    if not divisible(part):
        count = count_events(part, kind, times, lift)
        return (part.stop, count) if count <= events or whole else (part.start, events)
    at, counted = part.start, 0
    step = min(_COUNTED_BYTES, max(1, events) * _BYTES_PER_EVENT)
    while at < part.stop:
        stop = min(at + step, part.stop)
        count = _count_between(part, at, stop, kind, times)
        if counted + count > events:
            room = events - counted
            places = range(at, stop + 1)
            counts = partial(_count_between, part, at, kind=kind, times=times)
            index = bisect_right(places, room, key=counts)
            return places[index - 1], events
        at, counted = stop, counted + count
    return part.stop, counted


def _count_between(part: Range, start: int, stop: int, kind: TimeKind, times: TimeProperties) -> int:
    return count_events(Range(part.path, start, stop, part.size, 0, part.format), kind, times)


def count_events(part: Range, kind: TimeKind, times: TimeProperties = PROV_TIMES, lift: Lift | None = None) -> int:
    """How many good events a range holds."""
    # only who counts events reads them here, and loads kernels
    from scepter.rdf.hashing import TermKey
    from scepter.runtime.spark.range_reading import read_on

    batches = read_on(part, TermKey.fixed(), 0, lambda letter: None, predicates=frozenset(), kind=kind, times=times, lift=lift)
    return sum(batch.events for batch in batches)
