"""What a run read and found, kept for its report: all times, and more of the first events and matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.scan.intake import Intake
from scepter.kernel.texts import Texts
from scepter.rdf.batch import EventBatch
from scepter.rdf.source import Survey
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.matches import Match
from scepter.runtime.tasks import term_events

MOST_EVENTS = 5_000
"""Of more events than this only those of matches are drawn one by one."""
MOST_MATCHES = 2_000


class RunLog:
    """Hears what a run reads (an `Observer`) and what it finds."""

    def __init__(self, *, events: bool = True) -> None:
        """Without `events` only what is surveyed and counted is kept."""
        self._keeps = events
        self.surveys: Mapping[str, Survey] = {}
        self.matches: list[Match] = []
        """The first ones."""
        self.found = 0
        self.names: dict[int, str | None] = {}
        """Of the first events."""
        self.triples: dict[int, tuple[Triple, ...]] = {}
        self._columns: list[tuple[NDArray[np.int64], ...]] = []

    def surveyed(self, surveys: Mapping[str, Survey]) -> None:
        """What the look ahead told of each stream."""
        self.surveys = surveys

    def taken(self, stream: str, batch: EventBatch, wanted: NDArray[np.bool_], number: int) -> None:
        """A batch that is taken."""
        if not self._keeps:
            return
        kept = np.flatnonzero(wanted)
        place = np.full(len(kept), list(self.surveys).index(stream), np.int64)
        self._columns.append((kept + number, place, batch.start[kept], batch.end[kept]))
        room = MOST_EVENTS - len(self.names)
        if room > 0:
            first = np.zeros(batch.events, np.bool_)
            first[kept[:room]] = True
            texts = Texts()
            intake = Intake(batch, texts.add(batch), number)
            for event in term_events(intake, texts, [IRI("")] * (int(batch.stream.max()) + 1), first):
                self.names[event.number] = event.name
                self.triples[event.number] = event.triples

    def matched(self, matches: Sequence[Match]) -> None:
        """Matches that are found."""
        self.found += len(matches)
        if self._keeps:
            self.matches += matches[: max(0, MOST_MATCHES - len(self.matches))]

    @property
    def events(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Number, stream (its place in `surveys`), start and end of every event."""
        empty = (np.empty(0, np.int64),) * 4
        numbers, streams, starts, ends = (np.concatenate(parts) for parts in zip(empty, *self._columns, strict=True))
        return numbers, streams, starts, ends
