"""The events of a run in this process, as far as pictures of its matches need them: names that know their numbers, times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scepter.rdf.batch import EventBatch
from scepter.rdf.source import Survey
from scepter.rdf.terms import parse_term

MOST_EVENTS = 200_000
"""Of so many events the times are kept."""


class EventName(str):
    """An event's name that knows the event's number."""

    __slots__ = ("number",)
    number: int

    @classmethod
    def of(cls, number: int, name: str | None) -> EventName:
        """As matches show events."""
        if name is not None and name.startswith('"'):  # a name that no IRI can be comes as a literal
            name = str(getattr(parse_term(name), "lexical", name))
        text = cls(f"#{number}" if name is None else name)
        text.number = number
        return text


@dataclass(frozen=True, slots=True)
class Seen:
    """An event that was read."""

    stream: str
    start: int
    end: int


class SeenEvents:
    """Hears what a run reads (an `Observer`), and keeps the times of the first events."""

    def __init__(self) -> None:
        self.surveys: Mapping[str, Survey] = {}
        self._firsts: list[int] = []
        self._batches: list[tuple[str, NDArray[np.int64], NDArray[np.int64]]] = []
        self._kept = 0

    def surveyed(self, surveys: Mapping[str, Survey]) -> None:
        """What the look ahead told of each stream."""
        self.surveys = surveys

    def taken(self, stream: str, batch: EventBatch, wanted: NDArray[np.bool_], number: int) -> None:
        """A batch that is taken."""
        if self._kept < MOST_EVENTS:
            self._kept += batch.events
            self._firsts.append(number)
            self._batches.append((stream, batch.start.copy(), batch.end.copy()))

    def event(self, number: int) -> Seen | None:
        """The event of that number; None where it was not kept."""
        at = int(np.searchsorted(self._firsts, number, side="right")) - 1
        if at < 0:
            return None
        stream, start, end = self._batches[at]
        row = number - self._firsts[at]
        return Seen(stream, int(start[row]), int(end[row])) if row < len(start) else None
