"""Background files that are read again when they change: each reading is a version of their graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scepter.errors import ScepterError
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.formats import GraphEvent, events_to_batch, load_graph
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.engine import LocalEngine
from scepter.runtime.versions import DEFAULT_GRAPH
from scepter.timeline import MIN_INSTANT, TimeKind

_Stamp = tuple[tuple[int, int, int], ...]
"""Of each file when it was changed, its size, and which file it is: another one may have been moved into its place."""


@dataclass(slots=True)
class WatchedGraph:
    """The files of one graph. What cannot be read, or does not parse, is a dead letter, and the last good version stays."""

    stream: IRI
    files: Sequence[Path]
    engine: LocalEngine
    dead_letter: DeadLetterTaker
    _seen: _Stamp | None = None
    _read: int = 0
    _told: set[_Stamp] = field(default_factory=set)

    @classmethod
    def of(cls, iri: str | None, files: Sequence[Path], engine: LocalEngine, dead_letter: DeadLetterTaker) -> WatchedGraph:
        """The files of a graph; None is the default graph."""
        return cls(DEFAULT_GRAPH if iri is None else IRI(iri), files, engine, dead_letter)

    @property
    def read(self) -> bool:
        """Whether it has given a version."""
        return self._read > 0

    def poll(self, kind: TimeKind | None, latest: int) -> list[EventBatch]:
        """What the files hold, where they have changed: from the beginning the first time, then from the instant after the
        latest event. Nothing before there has been an event, whose kind of time the versions have."""
        if kind is None:
            return []
        stamp = self._stamp()
        if stamp is None or stamp == self._seen:
            return []
        try:
            triples = [triple for number, path in enumerate(self.files) for triple in self._loaded(path, number)]
        except (ScepterError, OSError) as error:
            if stamp == self._stamp() and stamp not in self._told:  # else it is being written: look again
                self._told.add(stamp)
                reason = f"the graph was changed and cannot be read, so its last version stays: {_first_line(error)}"
                self.dead_letter(DeadLetter(", ".join(map(str, self.files)), None, reason))
                self._seen = stamp
            return []
        if stamp != self._stamp():
            return []
        first, self._seen = self._seen is None and not self._read, stamp
        self._read += 1
        time = MIN_INSTANT if first else latest + 1
        event = GraphEvent(self.engine.stream_number(self.stream), None, time, time, [_texts(t) for t in triples])
        return [events_to_batch([event], self.engine.key, kind, run=self.engine.reading)]

    def _loaded(self, path: Path, number: int) -> list[Triple]:
        return list(load_graph(path, f"v{self._read}x{number}x"))

    def _stamp(self) -> _Stamp | None:
        """None while a file is missing: it is being replaced."""
        try:
            stats = [path.stat() for path in self.files]
        except OSError:
            return None
        return tuple((each.st_mtime_ns, each.st_size, each.st_ino) for each in stats)


def _texts(triple: Triple) -> tuple[str, str, str]:
    return str(triple.subject), str(triple.predicate), str(triple.object)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
