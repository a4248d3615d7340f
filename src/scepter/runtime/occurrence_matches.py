"""The occurrences of returned events as matches; individuals and graphs are made when somebody looks at them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.events import Form
from scepter.kernel.occurrences.columns import OccurrenceColumns
from scepter.kernel.occurrences.model import Assertions, Occurrence, Part
from scepter.kernel.occurrences.network import Occurred, individual_of
from scepter.rdf.terms import IRI, TYPE, Term, Triple
from scepter.runtime.event_grounds import EventGrounds
from scepter.runtime.item_contents import Contents, Finds
from scepter.runtime.matches import MatchRows
from scepter.runtime.why import Why
from scepter.timeline import TimeKind

_TYPE = IRI(TYPE)


class OccurrenceMatches:
    """Rows of answers (`runtime.matches.Batch`): event, individual (None until it is asked for), assertions, interval."""

    asks = False
    constructs = True

    def __init__(self, query: int, kind: TimeKind, form: Form, grounds: EventGrounds | None) -> None:
        self.query = query
        self.kind = kind
        self.start: list[int] = []
        self.end: list[int] = []
        self._form = form
        self._grounds = grounds
        self._events: list[IRI] = []
        self._assertions: list[Assertions] = []
        self._individuals: list[Term | None] = []
        self._parts: dict[int, tuple[Part, ...]] = {}

    def add_logical(self, contents: Contents, finds: Finds, start: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        """Occurrences of logical events, with the individuals they were found for."""
        self.start += start.tolist()
        self.end += end.tolist()
        self._events += (contents.events[number] for number in finds.event.tolist())
        self._assertions += map(contents.assertions, finds.assertions.tolist())
        self._individuals += (contents.individuals[number] for number in finds.individual.tolist())

    def add_columns(self, event: IRI, columns: OccurrenceColumns, assertions: Callable[[int], Assertions]) -> None:
        """Occurrences of a composite event, in columns."""
        self.start += columns.start.tolist()
        self.end += columns.end.tolist()
        self._events += [event] * len(columns)
        self._assertions += map(assertions, columns.assertions.tolist())
        self._individuals += [None] * len(columns)

    def add_composite(self, occurred: Sequence[Occurred], returned: frozenset[IRI]) -> None:
        """Occurrences of composite events, as far as they are returned."""
        for each in occurred:
            if each.event in returned:
                self._parts[len(self.start)] = each.parts
                self.start.append(each.pattern.start)
                self.end.append(each.pattern.end)
                self._events.append(each.event)
                self._assertions.append(each.pattern.assertions)
                self._individuals.append(each.individual)

    def matches(self) -> MatchRows:
        """All rows."""
        return MatchRows(self, range(len(self.start)))

    # ---- a row

    def bindings(self, row: int) -> dict[str, Term]:
        """None."""
        return {}

    def events(self, row: int) -> dict[str, list[object]]:
        """None: what a row rests on are triples."""
        return {}

    def graph(self, row: int) -> tuple[Triple, ...]:
        """The assertions, sorted, with what the individual is (rule 6)."""
        graph = _sorted(self._assertions[row])
        own = Triple(self._individual(row), _TYPE, self._events[row])
        if own in self._assertions[row]:
            return graph
        at = bisect_left(graph, _spelling(own), key=_spelling)
        return (*graph[:at], own, *graph[at:])

    def occurrence(self, row: int) -> tuple[IRI, Term] | None:
        """The event and its individual, for an EVENT STREAM."""
        return None if self._form is Form.RDF_STREAM else (self._events[row], self._individual(row))

    def why(self, row: int) -> Why | None:
        """What a row rests on, if that was asked for."""
        if self._grounds is None:
            return None
        times = self.start[row], self.end[row]
        individual, parts = self._individual(row), self._parts.get(row, ())
        return self._grounds.why(Part(self._events[row], individual, self._assertions[row], *times, parts))

    def _individual(self, row: int) -> Term:
        found = self._individuals[row]
        if found is None:
            occurrence = Occurrence(self._assertions[row], self.start[row], self.end[row])
            found = self._individuals[row] = individual_of(self._events[row], occurrence)
        return found


def _spelling(triple: Triple) -> tuple[str, ...]:
    return tuple(map(str, triple))


@lru_cache(maxsize=65_536)
def _sorted(assertions: Assertions) -> tuple[Triple, ...]:
    """In the order of results; the same justifications come again and again."""
    return tuple(sorted(assertions, key=_spelling))
