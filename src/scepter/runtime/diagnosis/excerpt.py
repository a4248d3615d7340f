"""The events that a diagnosis looks at: all of them, or all up to some time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.background import Background
from scepter.kernel.intake import Intake
from scepter.kernel.texts import Texts
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.source import EventSource
from scepter.rdf.terms import IRI
from scepter.runtime.engine import LocalEngine
from scepter.runtime.local import Input, open_inputs
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query
from scepter.runtime.tasks import TermEvent, term_events
from scepter.timeline import MAX_INSTANT, TimeKind


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Batches of events, of which those that end by `until` count."""

    key: TermKey
    kind: TimeKind
    streams: tuple[IRI, ...]
    """By their number in the batches."""
    batches: tuple[tuple[EventBatch, NDArray[np.bool_]], ...]
    """With the events that are not late."""
    reading: ReadState
    until: int
    total: int
    _texts: dict[int, tuple[Texts, int]] = field(default_factory=dict, compare=False, repr=False)
    """By batch, for the events that are looked at."""

    @property
    def wanted(self) -> list[NDArray[np.bool_]]:
        """Per batch, which events count."""
        return [wanted & (batch.end <= self.until) for batch, wanted in self.batches]

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
        firsts = [0]
        for batch, _ in self.batches:
            firsts.append(firsts[-1] + batch.events)
        if number >= firsts[-1]:
            return None
        at = bisect_right(firsts, number) - 1
        batch = self.batches[at][0]
        if at not in self._texts:
            texts = Texts()
            self._texts[at] = (texts, texts.add(batch))
        texts, base = self._texts[at]
        one = np.zeros(batch.events, np.bool_)
        one[number - firsts[at]] = True
        return term_events(Intake(batch, base, firsts[at]), texts, self.streams, one)[0]

    def shortened(self, limit: int) -> Excerpt:
        """The first events in order of time, about so many: events of one time stay together."""
        ends = self.ends()
        if len(ends) <= limit:
            return self
        until = int(ends[limit]) - 1  # the last time of which all events are among the first `limit`
        return replace(self, until=until if until >= ends[0] else int(ends[0]))


def read_excerpt(query: Query, streams: Mapping[str, EventSource], options: RunOptions, limit: int) -> Excerpt | None:
    """The first events of the streams; None where there is none at all."""
    engine = LocalEngine(query.lowered.program, options, Background())
    # this engine knows neither ontology nor background, and other queries than its own will be tried on the events
    inputs = open_inputs(query, streams, engine, options, lambda letter: None, prune=False)
    batches: list[tuple[EventBatch, NDArray[np.bool_]]] = []
    for each in inputs:
        batches += _first(each, limit)
    if engine.reading.kind is None or not batches:
        return None
    if options.start is not None:  # events before it are not seen (spec/00 §3)
        start = options.start.on(engine.reading.kind, "--start")
        batches = [(batch, wanted & (batch.end >= start)) for batch, wanted in batches]
    until = min((each.complete for each in inputs), default=MAX_INSTANT)
    total = sum(each.survey.events for each in inputs)
    excerpt = Excerpt(engine.key, engine.reading.kind, tuple(engine.streams), tuple(batches), engine.reading, until, total)
    return excerpt.shortened(limit)


def _first(source: Input, limit: int) -> list[tuple[EventBatch, NDArray[np.bool_]]]:
    found: list[tuple[EventBatch, NDArray[np.bool_]]] = []
    events = 0
    while events < limit or not found:
        read = source.read()
        if read is None:
            break
        found.append(read)
        events += read[0].events
    return found
