"""Continuous matching: instants in, the solutions they complete out (spec/50-sparkwave rule 1)."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scepter.algebra.patterns import Pattern
from scepter.kernel.continuous.build import Build
from scepter.kernel.continuous.knowledge import Knowledge, reads_live_graph
from scepter.kernel.continuous.leaf import Clock
from scepter.kernel.continuous.occurrences import Occurrence, Sighting, Solution
from scepter.kernel.continuous.operators import latest_time
from scepter.kernel.sparql.context import Context
from scepter.kernel.window.graph import WindowGraph
from scepter.physical.continuous import asks_time, is_monotone
from scepter.rdf.terms import Term, Triple


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a stream's triples count: for so many ticks, while among the last so many, or (neither) for ever."""

    ticks: int | None = None
    triples: int | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event as continuous matching sees it: its schema statements left out."""

    sighting: Sighting
    start: int
    end: int
    triples: tuple[Triple, ...]


class _Places:
    """The last n triples of one stream."""

    __slots__ = ("count", "last", "taken")

    def __init__(self, last: int) -> None:
        self.last = last
        self.taken = 0
        self.count: deque[tuple[int, list[Occurrence]]] = deque()


class ContinuousMatching:
    """The state of one continuous query: what is in the windows, and what joins need of it."""

    def __init__(
        self,
        pattern: Pattern,
        knowledge: Knowledge,
        bounds: Callable[[int], Bounds],
        instant: Callable[[int], Term],
    ) -> None:
        self._knowledge = knowledge
        self._bounds = bounds
        self._instant = instant
        self._clock = Clock()
        self._asks_time = asks_time(pattern)
        self._live = WindowGraph(knowledge.static) if reads_live_graph(pattern) else None
        self._context = Context(graph=knowledge.static, dataset=knowledge.dataset)
        self._moment = replace(self._context, graph=self._live) if self._live is not None else self._context
        self._build = Build(pattern, knowledge.static, self._clock, self, self._context)
        self._monotone = is_monotone(pattern)
        self._occurrences: dict[Occurrence, None] = {}
        self._expiring: list[tuple[int, int, Occurrence]] = []
        self._queued = 0
        self._places: dict[int, _Places] = {}
        self._now: dict[tuple[Triple, int, int], Occurrence] = {}
        self._now_at: int | None = None

    # ---- a step

    def step(self, instant: int, arrivals: Sequence[Arrival]) -> tuple[list[Solution], list[Occurrence]]:
        """Take events that end at an instant, not before any earlier step's: the solutions that they complete, and the new
        occurrences, to be given to `undo` if the step is to be undone."""
        self._clock.round += 1
        if instant != self._now_at:
            self._now, self._now_at = {}, instant
        fresh = self._admit(instant, arrivals)
        self._evict(instant)
        kept = [occurrence for occurrence in fresh if self._holds(occurrence, instant)]
        for occurrence in kept:
            self._enter(occurrence)
        return self._build.root.delta(), kept

    def undo(self, occurrences: Iterable[Occurrence]) -> None:
        """Take back the last step: only for a query that is monotone and has no last-n windows."""
        for occurrence in occurrences:
            self._leave(occurrence)
        self._now.clear()

    def _admit(self, instant: int, arrivals: Sequence[Arrival]) -> list[Occurrence]:
        """The occurrences that are new. The triples of one time stand in N-Triples order, so that which of them are among the
        last n does not depend on arrival; an entailed triple takes its source's place."""
        fresh: list[Occurrence] = []
        counted: set[tuple[int, Triple, int]] = set()
        for start, triple, arrival in _in_order(arrivals, self._bounds):
            stream = arrival.sighting.stream
            bounds = self._bounds(stream)
            place = None
            if bounds.triples is not None:
                key = (stream, triple, start)
                place = self._take_place(stream, bounds.triples, key in counted)
                counted.add(key)
            for entailed in self._knowledge.entailed(triple):
                identity = entailed, start, instant
                occurrence = self._now.get(identity)
                if occurrence is None:
                    occurrence = self._now[identity] = Occurrence(entailed, start, instant, self._clock.round)
                    fresh.append(occurrence)
                self._hold(occurrence, arrival.sighting, bounds, place)
        return fresh

    def _take_place(self, stream: int, last: int, repeated: bool) -> int:
        places = self._places.get(stream)
        if places is None:
            places = self._places[stream] = _Places(last)
        if not repeated:
            places.taken += 1
            places.count.append((places.taken, []))
        return places.taken

    def _hold(self, occurrence: Occurrence, sighting: Sighting, bounds: Bounds, place: int | None) -> None:
        if sighting not in occurrence.sightings:
            occurrence.sightings.append(sighting)
        if place is not None:
            occurrence.places[sighting.stream] = place
            self._places[sighting.stream].count[-1][1].append(occurrence)
            return
        until = _FOR_EVER if bounds.ticks is None else occurrence.start + bounds.ticks
        if occurrence.expires is None or until > occurrence.expires:
            occurrence.expires = until
            if until < _FOR_EVER:
                self._queued += 1
                heapq.heappush(self._expiring, (until, self._queued, occurrence))

    def _enter(self, occurrence: Occurrence) -> None:
        self._occurrences[occurrence] = None
        for leaf in self._build.leaves:
            leaf.add(occurrence)
        if self._live is not None:
            self._live.enter(occurrence.triple, occurrence.end)

    def _leave(self, occurrence: Occurrence) -> None:
        del self._occurrences[occurrence]
        for memory in occurrence.homes:
            memory.remove(occurrence)
        if self._live is not None:
            self._live.leave(occurrence.triple, occurrence.end)
        for entry, store in list(occurrence.dependents.items()):
            store.discard(entry)

    # ---- what has left its window

    def _holds(self, occurrence: Occurrence, instant: int) -> bool:
        return bool(occurrence.places) or (occurrence.expires is not None and occurrence.expires >= instant)

    def _evict(self, instant: int) -> None:
        """All matches of an instant end at it: what is not in its window now is in no match any more."""
        for stream, places in self._places.items():
            while places.count and places.count[0][0] <= places.taken - places.last:
                place, occurrences = places.count.popleft()
                for occurrence in occurrences:
                    if occurrence.places.get(stream) == place:
                        del occurrence.places[stream]
                        self._drop(occurrence, instant)
        while self._expiring and self._expiring[0][0] < instant:
            self._drop(heapq.heappop(self._expiring)[2], instant)

    def _drop(self, occurrence: Occurrence, instant: int) -> None:
        if occurrence in self._occurrences and not self._holds(occurrence, instant):
            self._leave(occurrence)

    def release(self, instant: int) -> None:
        """Time has come so far: let go of what no match that ends later can use."""
        self._evict(instant)
        if self._now_at is not None and instant > self._now_at:
            self._now, self._now_at = {}, None

    # ---- what expressions see

    def context(self, solution: Solution) -> Context:
        """The surroundings of a solution."""
        context = self._moment if solution.occurrences else self._context
        if not self._asks_time:
            return context
        return replace(context, timestamp=lambda s, p, o: self._instant(latest_time(solution, Triple(s, p, o))))

    # ---- how much there is

    def state_rows(self) -> Mapping[str, int]:
        """Occurrences, entries of pattern memories, and stored solutions."""
        return {
            "occurrences": len(self._occurrences),
            "pattern entries": sum(leaf.sizes() for leaf in self._build.leaves),
            "solutions": sum(map(len, self._build.memories)),
        }

    def live_events(self) -> Iterator[int]:
        """The events that a later match may show."""
        return (sighting.number for occurrence in self._occurrences for sighting in occurrence.sightings)


_FOR_EVER = 2**64


def _in_order(arrivals: Sequence[Arrival], bounds: Callable[[int], Bounds]) -> Iterator[tuple[int, Triple, Arrival]]:
    if any(bounds(arrival.sighting.stream).triples is not None for arrival in arrivals):
        found = [(a.start, " ".join(map(str, t)), t, a) for a in arrivals for t in a.triples]
        found.sort(key=lambda entry: entry[:2])
        return ((start, triple, arrival) for start, _, triple, arrival in found)
    return ((arrival.start, triple, arrival) for arrival in arrivals for triple in arrival.triples)
