"""The events that a diagnosis looks at: all of them, or all of some stretch of time."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.notation import Notation
from scepter.kernel.scan.intake import Intake
from scepter.kernel.texts import Texts
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.terms import IRI
from scepter.runtime.tasks import TermEvent, term_events
from scepter.timeline import MIN_INSTANT, TimeKind, format_instant


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Batches of events, of which those that end from `since` to `until` count."""

    key: TermKey
    kind: TimeKind
    streams: tuple[IRI, ...]
    """By their number in the batches."""
    batches: tuple[tuple[EventBatch, NDArray[np.bool_]], ...]
    """With the events that are not late."""
    reading: ReadState
    until: int
    total: int
    since: int = MIN_INSTANT
    at: int | None = None
    """The time of what is asked about: events around it are kept when they are to be fewer."""
    numbers: tuple[int, ...] = ()
    """Per batch, the number of its first event in the whole input; nothing: all batches are here."""
    without: int | None = None
    """An event that is left out."""
    _texts: dict[int, tuple[Texts, int]] = field(default_factory=dict, compare=False, repr=False)
    """By batch, for the events that are looked at."""

    @property
    def wanted(self) -> list[NDArray[np.bool_]]:
        """Per batch, which events count."""
        found = [wanted & (batch.end >= self.since) & (batch.end <= self.until) for batch, wanted in self.batches]
        if self.without is not None:
            at, place = self._place(self.without)
            found[at][place] = False
        return found

    @property
    def events(self) -> int:
        """How many events count."""
        return sum(int(np.count_nonzero(wanted)) for wanted in self.wanted)

    def ends(self, streams: frozenset[IRI] | None = None) -> NDArray[np.int64]:
        """The times of the events of some streams (None: of all), sorted."""
        numbers = [n for n, iri in enumerate(self.streams) if streams is None or iri in streams]
        parts = [
            batch.end[wanted & np.isin(batch.stream, numbers)]
            for (batch, _), wanted in zip(self.batches, self.wanted, strict=True)
        ]
        return np.sort(np.concatenate([np.empty(0, np.int64), *parts]))

    def between(self, streams: frozenset[IRI] | None, after: int, before: int) -> list[int]:
        """The numbers of the events of some streams (None: of all) that end strictly between two times, in order of time."""
        numbers = [n for n, iri in enumerate(self.streams) if streams is None or iri in streams]
        found: list[tuple[int, int]] = []
        first = 0
        for (batch, _), wanted in zip(self.batches, self.wanted, strict=True):
            inside = wanted & np.isin(batch.stream, numbers) & (batch.end > after) & (batch.end < before)
            found += ((int(batch.end[at]), first + at) for at in np.flatnonzero(inside).tolist())
            first += batch.events
        return [number for _, number in sorted(found)]

    def event(self, number: int) -> TermEvent | None:
        """An event by its number in a run over this excerpt; None for one that a query made."""
        if number >= self._firsts[-1]:
            return None
        at, place = self._place(number)
        batch = self.batches[at][0]
        one = np.zeros(batch.events, np.bool_)
        one[place] = True
        return self._terms(at, one)[0]

    def left_out(self, number: int) -> Excerpt:
        """The same without an event."""
        return replace(self, without=number)

    def names(self) -> dict[int, str]:
        """The names of the events that count, by number."""
        found: dict[int, str] = {}
        for at, wanted in enumerate(self.wanted):
            texts, base = self._read(at)
            for place in np.flatnonzero(wanted & (self.batches[at][0].name_at >= 0)).tolist():
                found[self._firsts[at] + place] = plain_name(texts, int(self.batches[at][0].name_at[place]) + base)
        return found

    def numbered(self, place: int) -> int | None:
        """The number here of an event by its place in the whole input; None if it does not count."""
        for at, wanted in enumerate(self.wanted):
            inside = place - self._shown_first(at)
            if 0 <= inside < len(wanted):
                return self._firsts[at] + inside if wanted[inside] else None
        return None

    def title(self, number: int, notation: Notation) -> str:
        """An event by name, or place in the input, and its time."""
        event = self.event(number)
        assert event is not None
        at, place = self._place(number)
        name = f"event {self._shown_first(at) + place + 1}" if event.name is None else _shown(event.name, notation)
        times = dict.fromkeys(str(format_instant(instant, self.kind)) for instant in (event.start, event.end))
        return f"{name} at {'..'.join(times)}"

    @property
    def _firsts(self) -> list[int]:
        return [0, *accumulate(batch.events for batch, _ in self.batches)]

    def _shown_first(self, at: int) -> int:
        return self.numbers[at] if self.numbers else self._firsts[at]

    def _place(self, number: int) -> tuple[int, int]:
        at = bisect_right(self._firsts, number) - 1
        return at, number - self._firsts[at]

    def _read(self, at: int) -> tuple[Texts, int]:
        if at not in self._texts:
            texts = Texts()
            self._texts[at] = (texts, texts.add(self.batches[at][0]))
        return self._texts[at]

    def _terms(self, at: int, wanted: NDArray[np.bool_]) -> list[TermEvent]:
        texts, base = self._read(at)
        return term_events(Intake(self.batches[at][0], base, self._firsts[at]), texts, self.streams, wanted)

    def shortened(self, limit: int) -> Excerpt:
        """About so many events: the first in order of time, or those around what is asked about. Events of one time stay
        together."""
        ends = self.ends()
        if len(ends) <= limit:
            return self
        if self.at is not None:
            since, until = around(ends, self.at, limit)
            return replace(self, since=since, until=until)
        until = int(ends[limit]) - 1  # the last time of which all events are among the first `limit`
        return replace(self, until=until if until >= ends[0] else int(ends[0]))


def around(ends: NDArray[np.int64], at: int, limit: int) -> tuple[int, int]:
    """The stretch of time with about so many events, half of them before an instant, as far as there are so many.

    >>> around(np.arange(100), 50, 10)
    (45, 54)
    >>> around(np.arange(100), 2, 10)
    (0, 9)
    """
    first, after = (int(np.searchsorted(ends, at, side=side)) for side in ("left", "right"))
    low = max(0, min(first - limit // 2, len(ends) - limit))
    high = min(len(ends), max(after, low + limit))
    since, until = int(ends[low]), int(ends[high - 1])
    if low and ends[low - 1] == since and since < at:  # an instant of which a part would be left out
        since += 1
    if high < len(ends) and ends[high] == until and until > at:
        until -= 1
    return since, until


def plain_name(texts: Texts, ref: int) -> str:
    """An event's name as text, without brackets."""
    name = texts.term(ref)
    return name.value if isinstance(name, IRI) else str(name)


def _shown(name: str, notation: Notation) -> str:
    return name.removeprefix("_:") if name.startswith("_:") else notation.term(IRI(name))
