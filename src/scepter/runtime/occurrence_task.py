"""Events defined by descriptions and patterns (`algebra.events.EventQuery`) at work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.events import Occurs, Rest, patterns
from scepter.errors import Diagnostic, QueryError
from scepter.kernel.intake import Intake
from scepter.kernel.occurrences.columns import OccurrenceColumns, distinct
from scepter.kernel.occurrences.model import Item, Occurrence, Part
from scepter.kernel.occurrences.network import Network, occurred_in
from scepter.kernel.occurrences.sequences import ColumnarSequence
from scepter.physical.unit_nodes import EventJoin, Returned
from scepter.rdf.batch import DeadLetter
from scepter.rdf.terms import IRI
from scepter.runtime.item_contents import Contents, Finds, Items
from scepter.runtime.matches import Match
from scepter.runtime.occurrence_matches import OccurrenceMatches
from scepter.timeline import MAX_INSTANT, MIN_INSTANT, Duration, format_instant

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


class OccurrenceTask:
    """Recognises the logical events of items and lets the composite ones follow.

    Sequences of two logical events run in columns over all items of a release; other composite events, and all of them where
    somebody asks why, go through the network of operators, instant by instant.
    """

    feeds = None

    def __init__(self, returned: Returned, number: int, setup: TaskSetup) -> None:
        query = returned.query
        self._query = query
        self._number = number
        self._setup = setup
        self._wanted = frozenset(stream.iri for stream in query.streams)
        assert setup.grounds is not None  # made with the engine
        self._grounds = setup.grounds
        self._traced = setup.options.why
        quick = {node.event.event for node in returned.sources if isinstance(node, EventJoin)}
        slow = [event for event in query.composite if event.event not in quick]
        self._asks_items = any(isinstance(part, Rest) for event in slow for part in patterns(event.pattern))
        self._contents = Contents(setup.grounds.recogniser, setup.key, whole=self._asks_items)
        self._sequences = [
            ColumnarSequence(event, self._ticks, self._contents.assertions) for event in query.composite if event.event in quick
        ]
        bounds = {sequence.event: sequence.bounds for sequence in self._sequences}
        self._network = Network(slow, self._ticks, traced=self._traced, bounds=bounds) if slow else None
        self._asked = {part.event for event in slow for part in patterns(event.pattern) if isinstance(part, Occurs)}
        self._returned = frozenset(query.returned)
        self._can_conflict = setup.grounds.recogniser.can_conflict
        self._buffer: list[Items] = []
        self._saved: list[Items] = []
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
        batch, streams = intake.batch, self._setup.streams()
        if self._wanted:
            wanted = wanted & np.array([stream in self._wanted for stream in streams], np.bool_)[batch.stream]
        rows = np.flatnonzero(wanted)
        if len(rows):
            contents = self._contents.numbers(intake, rows, self._setup.texts)
            # an event's name is told with a dead letter, and needs its text until then
            names = intake.names()[rows] if self._can_conflict else np.full(len(rows), -1, np.int64)
            self._buffer.append(Items(batch.start[rows], batch.end[rows], batch.stream[rows], contents, names))

    def release(self, until: int, closed: int) -> Sequence[Match]:
        """Step over all instants up to `until`; what those after `closed` do is for the time being."""
        found = self._results()
        self._release(until, closed, found)
        return found.matches()

    def _results(self) -> OccurrenceMatches:
        return OccurrenceMatches(self._number, self._setup.kind, self._query.form, self._grounds if self._traced else None)

    def _release(self, until: int, closed: int, found: OccurrenceMatches) -> None:
        items = Items.joined(self._buffer)
        self._buffer = [rest] if len(rest := items.take(items.end > until)) else []
        due = items.take(items.end <= until)
        due = due.take(np.lexsort((due.start, due.end)))
        self._contents.infer(due.content)
        self._step(due.take(due.end <= closed), closed, found)
        self._pass(closed, found)
        self._step(due.take(due.end > closed), closed, found)

    def _pass(self, closed: int, found: OccurrenceMatches) -> None:
        """Time goes on: what waited for certainty has it now, whatever else becomes of an instant that is still open."""
        if closed > self._closed:
            if self._network is not None:
                found.add_composite(self._network.step((), {}, closed), self._returned)
            self._keep(closed)

    def _step(self, items: Items, closed: int, found: OccurrenceMatches) -> None:
        """Let items that are sorted by time do what they do; those up to `closed` do it for good."""
        if not len(items):
            return
        conflicting = self._contents.conflicting(items.content)
        self._letters += (self._letter(items, row) for row in conflicting)
        items = items.take(np.delete(np.arange(len(items)), conflicting)) if conflicting else items
        finds = self._contents.finds(items.content)
        columns = {event: _columns(items, finds, number) for number, event in enumerate(self._contents.events)}
        self._return_logical(items, finds, found)
        made: dict[IRI, OccurrenceColumns] = {}
        for sequence in self._sequences:
            results = made[sequence.event] = sequence.step(columns[sequence.left], columns[sequence.right])
            if sequence.event in self._returned:
                found.add_columns(sequence.event, results, self._contents.assertions)
        if self._network is not None:
            self._step_network(items, finds, made, closed, found)

    def _return_logical(self, items: Items, finds: Finds, found: OccurrenceMatches) -> None:
        numbers = [number for number, event in enumerate(self._contents.events) if event in self._returned]
        rows = np.flatnonzero(np.isin(finds.event, numbers)) if numbers else np.empty(0, np.intp)
        if len(rows):
            finds = finds.take(rows)
            start, end = items.start[finds.item], items.end[finds.item]
            each = distinct((finds.event, finds.individual, finds.assertions, start, end))
            found.add_logical(self._contents, finds.take(each), start[each], end[each])

    def _step_network(
        self, items: Items, finds: Finds, made: Mapping[IRI, OccurrenceColumns], closed: int, found: OccurrenceMatches
    ) -> None:
        """The operators, at each instant at which something is new to them."""
        assert self._network is not None
        arrived: dict[int, dict[IRI, dict[Occurrence, None]]] = defaultdict(lambda: defaultdict(dict))
        present: dict[int, list[Item]] = defaultdict(list)
        if self._asks_items:
            for start, end, content in zip(items.start.tolist(), items.end.tolist(), items.content.tolist(), strict=True):
                present[end].append(Item(self._contents.graphs[content], start, end))
        for event, occurrence in self._logical(items, finds):
            arrived[occurrence.end][event][occurrence] = None
        for event, columns in made.items():
            if event in self._asked:
                for each in _occurrences(columns, self._contents):
                    arrived[each.end][event][occurred_in(event, each).occurrence] = None
        for end in sorted({*present, *arrived}):
            certain = min(end, closed)
            now = {event: list(each) for event, each in arrived[end].items()}
            found.add_composite(self._network.step(present.get(end, ()), now, certain), self._returned)
            if end <= closed:
                self._network.merge(end)

    def _logical(self, items: Items, finds: Finds) -> Iterator[tuple[IRI, Occurrence]]:
        """The logical occurrences that the operators ask for."""
        contents = self._contents
        for item, number, individual, assertions in zip(
            finds.item.tolist(), finds.event.tolist(), finds.individual.tolist(), finds.assertions.tolist(), strict=True
        ):
            if (event := contents.events[number]) in self._asked:
                sets, start, end = contents.assertions(assertions), int(items.start[item]), int(items.end[item])
                part = (Part(event, contents.individuals[individual], sets, start, end),) if self._traced else ()
                yield event, Occurrence(sets, start, end, (), part)

    def _letter(self, items: Items, row: int) -> DeadLetter:
        inference = self._contents.inferences[int(items.content[row])]
        conflict = (inference and inference.conflict) or frozenset()
        shown = " . ".join(sorted(" ".join(map(str, triple)) for triple in conflict))
        when = format_instant(int(items.end[row]), self._setup.kind)
        ref = int(items.name[row])
        name = "" if ref < 0 else f" {self._setup.texts.term(ref)}"
        stream = self._setup.streams()[int(items.stream[row])]
        return DeadLetter(stream.value, None, f"inconsistent: the item{name} at {when} contradicts the ontology", shown)

    def _keep(self, certain: int) -> None:
        for part in (*self._sequences, *((self._network,) if self._network else ())):
            part.merge(certain)
        for letter in self._letters:
            self._setup.dead_letter(letter)
        self._letters.clear()
        self._closed = max(self._closed, certain)

    def finish(self) -> Sequence[Match]:
        """All that is left, and what only the end makes certain."""
        found = self._results()
        self._release(MAX_INSTANT - 1, MAX_INSTANT - 1, found)
        self._pass(MAX_INSTANT, found)
        return found.matches()

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = list(self._buffer)

    def undo(self) -> None:
        """Back to `save`."""
        self._buffer = list(self._saved)
        for part in (*self._sequences, *((self._network,) if self._network else ())):
            part.forget()
        self._letters.clear()

    def commit(self) -> None:
        """Keep what was done since `save`."""
        self._saved.clear()
        self._keep(self._closed)
        if self._contents.is_full:
            self._renew()

    def _renew(self) -> None:
        live = np.concatenate([np.empty(0, np.int64), *(sequence.live() for sequence in self._sequences)])
        items = Items.joined(self._buffer)
        contents, assertions = self._contents.renew(items.content, live)
        self._buffer = [Items(items.start, items.end, items.stream, contents[items.content], items.name)]
        for sequence in self._sequences:
            sequence.renumber(assertions)

    def state_rows(self) -> Mapping[str, int]:
        """Occurrences and items kept, and events whose time has not come."""
        kept = sum(sequence.rows() for sequence in self._sequences) + (self._network.rows() if self._network else 0)
        return {"occurrences": kept, "buffered": sum(map(len, self._buffer))}

    def live_events(self) -> NDArray[np.int64]:
        """Matches show assertions, not events."""
        return np.empty(0, np.int64)

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """The names of events whose time has not come."""
        return (items.name for items in self._buffer)


def _columns(items: Items, finds: Finds, event: int) -> OccurrenceColumns:
    """The occurrences of an event, each once: several individuals may share one."""
    rows = np.flatnonzero(finds.event == event)
    item = finds.item[rows]
    return OccurrenceColumns(finds.assertions[rows], items.start[item], items.end[item]).distinct()


def _occurrences(columns: OccurrenceColumns, contents: Contents) -> Iterator[Occurrence]:
    for number, start, end in zip(columns.assertions.tolist(), columns.start.tolist(), columns.end.tolist(), strict=True):
        yield Occurrence(contents.assertions(number), start, end)
