"""Continuous and periodic queries over triples as tasks of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.continuous import ContinuousQuery, LastTriples
from scepter.kernel.continuous.knowledge import Knowledge
from scepter.kernel.continuous.matching import Arrival, ContinuousMatching
from scepter.kernel.continuous.occurrences import Occurrence, Sighting, Solution
from scepter.kernel.continuous.selection import TripleSelection
from scepter.kernel.intake import Intake
from scepter.physical.plan import UnitPlan
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.continuous_answers import (
    SolutionMatches,
    counted_events,
    literal_of,
    plain,
    stream_bounds,
)
from scepter.runtime.matches import Match
from scepter.runtime.notices import SCHEMA_IGNORED

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An event that has been taken and not yet processed."""

    end: int
    start: int
    arrived: int
    sighting: Sighting
    triples: tuple[Triple, ...]


class _Buffer:
    """Events taken and not yet processed; those taken since a mark can be given back."""

    def __init__(self, setup: TaskSetup, streams: frozenset[IRI], selection: TripleSelection) -> None:
        self._setup = setup
        self._streams = streams
        self._selection = selection
        self._waiting: list[_Waiting] = []
        self._arrived = 0
        self._mark = 0

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """The wanted events of the streams that count, with the triples that count."""
        wanted = counted_events(intake, wanted, self._streams, self._setup)
        notices = self._setup.notices
        if SCHEMA_IGNORED not in notices and self._selection.has_schema(intake, wanted):
            notices.tell(SCHEMA_IGNORED)
        batch, names = intake.batch, intake.names()
        for event, triples in self._selection.triples(intake, wanted):
            if not triples:
                continue
            self._arrived += 1
            name = None if names[event] < 0 else plain(self._setup.texts.term(int(names[event])))
            sighting = Sighting(intake.number + event, name, int(batch.stream[event]))
            self._waiting.append(_Waiting(int(batch.end[event]), int(batch.start[event]), self._arrived, sighting, triples))

    def due(self, until: int | None) -> list[_Waiting]:
        """What ends by an instant, in order; None is all."""
        found = [w for w in self._waiting if until is None or w.end <= until]
        if found:
            self._waiting = [] if until is None else [w for w in self._waiting if w.end > until]
            found.sort(key=attrgetter("end", "start", "arrived"))
        return found

    def mark(self) -> None:
        """What comes after this can be given back."""
        self._mark = self._arrived

    def rewind(self) -> None:
        """Give back what came after the mark."""
        self._waiting = [w for w in self._waiting if w.arrived <= self._mark]

    def __len__(self) -> int:
        return len(self._waiting)

    def events(self) -> Iterator[int]:
        """The numbers of the events that wait."""
        return (w.sighting.number for w in self._waiting)


class ContinuousTask:
    """A continuous query at work: answers at once where nothing can take an answer back, else when the instant is closed."""

    def __init__(self, plan: UnitPlan, setup: TaskSetup) -> None:
        query = plan.unit
        assert isinstance(query, ContinuousQuery)
        knowledge = Knowledge.of(query.pattern, setup.background.dataset, query.graphs, setup.ontology)
        self._query = query
        self._setup = setup
        self._matches = SolutionMatches(query, plan.number, setup)
        bounds = stream_bounds(query, setup)
        self._matching = ContinuousMatching(query.pattern, knowledge, bounds, literal_of(setup.kind))
        extents = [query.otherwise, *(source.extent for source in query.sources)]
        counts = any(isinstance(extent, LastTriples) for extent in extents)
        streams_named = frozenset(stream.iri for stream in query.streams)
        selection = TripleSelection(None if counts else knowledge.interest(), setup.key, setup.texts)
        self._buffer = _Buffer(setup, streams_named, selection)
        self._at_once = plan.at_once
        self._open: list[Occurrence] = []

    @property
    def feeds(self) -> IRI | None:
        """The stream it constructs for others."""
        return self._query.into if self._query.into in self._setup.streams() else None

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Keep the events until they are due."""
        self._buffer.take(intake, wanted)

    def release(self, until: int, closed: int) -> list[Match]:
        """Step over the instants, one by one."""
        found = self._steps(self._buffer.due(closed), keep=False)
        if self._at_once and until > closed:
            found += self._steps(self._buffer.due(until), keep=True)
        self._matching.release(closed)
        return self._matches(found)

    def finish(self) -> list[Match]:
        """Step over what is left."""
        return self._matches(self._steps(self._buffer.due(None), keep=False))

    def _steps(self, due: list[_Waiting], *, keep: bool) -> list[Solution]:
        found: list[Solution] = []
        for instant, waiting in groupby(due, key=attrgetter("end")):
            arrivals = [Arrival(w.sighting, w.start, w.end, w.triples) for w in waiting]
            solutions, fresh = self._matching.step(instant, arrivals)
            found += solutions
            if keep:
                self._open += fresh
        return found

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._buffer.mark()
        self._open = []

    def undo(self) -> None:
        """Back to `save`: what was closed by then stays."""
        self._buffer.rewind()
        self._matching.undo(self._open)
        self._open = []

    def commit(self) -> None:
        """Keep what was done."""
        self._open = []
        self._buffer.mark()

    def state_rows(self) -> Mapping[str, int]:
        """What is in the windows, what joins keep of it, and events that wait for their instant to close."""
        return {**self._matching.state_rows(), "waiting": len(self._buffer)}

    def live_events(self) -> NDArray[np.int64]:
        """Events in the windows and waiting."""
        return np.array([*self._matching.live_events(), *self._buffer.events()], np.int64)

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """It holds terms, not refs."""
        return iter(())
