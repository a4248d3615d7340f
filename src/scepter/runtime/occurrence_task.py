"""Events defined by descriptions and patterns (`algebra.events.EventQuery`) at work."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.events import EventQuery, Form
from scepter.errors import Diagnostic, QueryError
from scepter.kernel.intake import Intake
from scepter.kernel.occurrences.model import Item, Occurrence, Part
from scepter.kernel.occurrences.network import Network, Occurred
from scepter.ontology.reasoner import Inference
from scepter.rdf.batch import DeadLetter
from scepter.rdf.terms import IRI, TYPE, Term, Triple
from scepter.runtime.event_grounds import EventGrounds
from scepter.runtime.matches import Match
from scepter.runtime.tasks import TermMatches
from scepter.runtime.why import Why
from scepter.timeline import MAX_INSTANT, MIN_INSTANT, Duration, format_instant

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup

_TYPE = IRI(TYPE)


_GRAPHS = 50_000


class _Waiting(NamedTuple):
    """An event whose time has not come."""

    end: int
    start: int
    graph: frozenset[Triple]
    stream: IRI
    name: str | None


class OccurrenceTask:
    """Recognises the logical events of each item and lets the composite ones follow, instant by instant."""

    feeds = None

    def __init__(self, query: EventQuery, number: int, setup: TaskSetup) -> None:
        self._query = query
        self._number = number
        self._setup = setup
        self._wanted = frozenset(stream.iri for stream in query.streams)
        assert setup.grounds is not None  # made with the engine
        self._grounds = setup.grounds
        self._recogniser = setup.grounds.recogniser
        self._traced = setup.options.why
        self._network = Network(query.composite, self._ticks, traced=self._traced)
        self._returned = frozenset(query.returned)
        self._can_conflict = self._recogniser.can_conflict
        self._graphs: dict[bytes, frozenset[Triple]] = {}
        """Contents by their ids: items that say the same are decoded and looked at once."""
        self._buffer: list[_Waiting] = []
        self._saved: list[_Waiting] = []
        self._closed = MIN_INSTANT
        self._letters: list[DeadLetter] = []

    def _ticks(self, duration: Duration) -> int:
        try:
            return duration.ticks(self._setup.kind, self._setup.options.time_unit)
        except ValueError as error:
            span = next((event.span for event in self._query.composite if event.within == duration), None)
            raise QueryError(
                Diagnostic("duration", str(error), span, "choose a longer duration or a finer --time-unit")
            ) from None

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Keep the wanted events of the streams it reads until their time has come."""
        batch, streams, names = intake.batch, self._setup.streams(), intake.names()
        if self._wanted:
            wanted = wanted & np.array([stream in self._wanted for stream in streams], np.bool_)[batch.stream]
        ids = np.stack((batch.subject, batch.predicate, batch.object), axis=1)
        for event in np.flatnonzero(wanted).tolist():
            first, last = int(batch.first[event]), int(batch.first[event + 1])
            key = ids[first:last].tobytes()
            graph = self._graphs.get(key)
            if graph is None:
                graph = self._decode(intake, first, last)
                if len(self._graphs) >= _GRAPHS:
                    self._graphs.clear()
                self._graphs[key] = graph
            self._buffer.append(
                _Waiting(
                    int(batch.end[event]),
                    int(batch.start[event]),
                    graph,
                    streams[int(batch.stream[event])],
                    self._name(int(names[event])),
                )
            )

    def _decode(self, intake: Intake, first: int, last: int) -> frozenset[Triple]:
        columns = (intake.batch.subject_at, intake.batch.predicate_at, intake.batch.object_at)
        terms = self._setup.texts.term
        return frozenset(Triple(*(terms(int(at[row]) + intake.base) for at in columns)) for row in range(first, last))

    def _name(self, ref: int) -> str | None:
        """An event's name, for the dead letters; looked up now, since texts move."""
        return None if ref < 0 or not self._can_conflict else str(self._setup.texts.term(ref))

    def release(self, until: int, closed: int) -> list[Match]:
        """Step over all instants up to `until`; what those after `closed` do is for the time being."""
        due = sorted((event for event in self._buffer if event.end <= until), key=lambda event: (event.end, event.start))
        self._buffer = [event for event in self._buffer if event.end > until]
        inferences = self._recogniser.infer([event.graph for event in due])
        found = _Results(self._query, self._number, self._setup, self._grounds)
        instants = [list(group) for _, group in groupby(zip(due, inferences, strict=True), key=lambda pair: pair[0].end)]
        for instant in instants:
            end = instant[0][0].end
            if end > closed:
                self._pass(closed, found)
            self._step(instant, min(end, closed), found)
            if end <= closed:
                self._keep(end)
        self._pass(closed, found)
        return found.matches()

    def _pass(self, closed: int, found: _Results) -> None:
        """Time goes on: what waited for certainty has it now, whatever else becomes of an instant that is still open."""
        if closed > self._closed:
            found.composite(self._network.step((), {}, closed), self._returned)
            self._keep(closed)

    def _step(self, instant: Sequence[tuple[_Waiting, Inference]], certain: int, found: _Results) -> None:
        occurrences: dict[IRI, dict[Occurrence, None]] = defaultdict(dict)
        items: list[Item] = []
        for event, inference in instant:
            if inference.conflict is not None:
                self._letters.append(self._letter(event, inference))
                continue
            items.append(Item(event.graph, event.start, event.end))
            for each in inference.found:
                occurrence = Occurrence(each.justification, event.start, event.end)
                if each.event in self._returned:
                    found.add(each.event, each.individual, occurrence)
                if self._traced:
                    part = Part(each.event, each.individual, each.justification, event.start, event.end)
                    occurrence = occurrence._replace(parts=(part,))
                occurrences[each.event][occurrence] = None
        arrived = {event: list(each) for event, each in occurrences.items()}
        found.composite(self._network.step(items, arrived, certain), self._returned)

    def _letter(self, event: _Waiting, inference: Inference) -> DeadLetter:
        conflict = inference.conflict or frozenset()
        shown = " . ".join(sorted(" ".join(map(str, triple)) for triple in conflict))
        when = format_instant(event.end, self._setup.kind)
        name = f" {event.name}" if event.name else ""
        return DeadLetter(event.stream.value, None, f"inconsistent: the item{name} at {when} contradicts the ontology", shown)

    def _keep(self, certain: int) -> None:
        self._network.merge(certain)
        for letter in self._letters:
            self._setup.dead_letter(letter)
        self._letters.clear()
        self._closed = max(self._closed, certain)

    def finish(self) -> list[Match]:
        """All that is left, and what only the end makes certain."""
        matches = self.release(MAX_INSTANT - 1, MAX_INSTANT - 1)
        found = _Results(self._query, self._number, self._setup, self._grounds)
        self._pass(MAX_INSTANT, found)
        return matches + found.matches()

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = list(self._buffer)

    def undo(self) -> None:
        """Back to `save`."""
        self._buffer = list(self._saved)
        self._network.forget()
        self._letters.clear()

    def commit(self) -> None:
        """Keep what was done since `save`."""
        self._keep(self._closed)

    def state_rows(self) -> Mapping[str, int]:
        """Occurrences and items kept, and events whose time has not come."""
        return {"occurrences": self._network.rows(), "buffered": len(self._buffer)}

    def live_events(self) -> NDArray[np.int64]:
        """Matches show assertions, not events."""
        return np.empty(0, np.int64)

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """None: terms are decoded when they are taken."""
        return iter(())


def _spelling(triple: Triple) -> tuple[str, ...]:
    return tuple(map(str, triple))


@lru_cache(maxsize=65_536)
def _sorted(assertions: frozenset[Triple]) -> tuple[Triple, ...]:
    """In the order of results; the same justifications come again and again."""
    return tuple(sorted(assertions, key=_spelling))


class _Results:
    """The occurrences of returned events, as matches."""

    def __init__(self, query: EventQuery, number: int, setup: TaskSetup, grounds: EventGrounds) -> None:
        occurrences: list[tuple[IRI, Term]] | None = [] if query.form is Form.EVENT_STREAM else None
        whys: list[Why] | None = [] if setup.options.why else None
        self._batch = TermMatches(number, setup.kind, graphs=[], occurrences=occurrences, whys=whys)
        self._grounds = grounds
        self._seen: set[tuple[IRI, Term, Occurrence]] = set()

    def add(self, event: IRI, individual: Term, occurrence: Occurrence, parts: tuple[Part, ...] = ()) -> None:
        """An occurrence of an event with an individual; its assertions include what that is (rule 6)."""
        key = (event, individual, occurrence)
        if key in self._seen:
            return
        self._seen.add(key)
        self._batch.start.append(occurrence.start)
        self._batch.end.append(occurrence.end)
        if self._batch.occurrences is not None:
            self._batch.occurrences.append((event, individual))
        if self._batch.whys is not None:
            part = Part(event, individual, occurrence.assertions, occurrence.start, occurrence.end, parts)
            self._batch.whys.append(self._grounds.why(part))
        assert self._batch.graphs is not None
        graph = _sorted(occurrence.assertions)
        own = Triple(individual, _TYPE, event)
        if own not in occurrence.assertions:
            at = bisect_left(graph, _spelling(own), key=_spelling)
            graph = (*graph[:at], own, *graph[at:])
        self._batch.graphs.append(graph)

    def composite(self, occurred: Sequence[Occurred], returned: frozenset[IRI]) -> None:
        """The occurrences of composite events that are returned."""
        for each in occurred:
            if each.event in returned:
                self.add(each.event, each.individual, each.pattern, each.parts)

    def matches(self) -> list[Match]:
        """All of them."""
        return self._batch.matches()
