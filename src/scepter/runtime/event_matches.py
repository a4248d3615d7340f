"""The occurrences of returned events as matches; terms, individuals and graphs are made when somebody looks at them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from scepter.algebra.events import Form
from scepter.kernel.events.parts import individual_of
from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.texts import TextsView
from scepter.rdf.terms import IRI, TYPE, Term, Triple
from scepter.runtime.why import Why
from scepter.timeline import TimeKind

_TYPE = IRI(TYPE)


@dataclass(slots=True)
class EventMatches:
    """Rows of answers (`runtime.matches.Batch`). The terms are the individual of each row, then its triples, one by one."""

    query: int
    kind: TimeKind
    form: Form
    start: list[int]
    end: list[int]
    event: Sequence[IRI]
    first: list[int]
    """Per row, plus one: where its triples begin."""
    ids: UInt64
    """[triple, position]."""
    refs: Int64
    individual_ids: list[int]
    """Per row; 0: it has one of its own."""
    individual_refs: list[int]
    texts: TextsView
    told: Sequence[Why] | None = None
    asks: bool = False
    constructs: bool = True
    _graphs: dict[int, tuple[Triple, ...]] = field(default_factory=dict)

    def bindings(self, row: int) -> dict[str, Term]:
        """None."""
        return {}

    def events(self, row: int) -> dict[str, list[object]]:
        """None: what a row rests on are triples."""
        return {}

    def graph(self, row: int) -> tuple[Triple, ...]:
        """The assertions, sorted, with what the individual is (rule 6)."""
        graph = self._asserted(row)
        own = Triple(self._individual(row), _TYPE, self.event[row])
        at = bisect_left(graph, _spelling(own), key=_spelling)
        return graph if at < len(graph) and graph[at] == own else (*graph[:at], own, *graph[at:])

    def _asserted(self, row: int) -> tuple[Triple, ...]:
        found = self._graphs.get(row)
        if found is None:
            here = slice(self.first[row], self.first[row + 1])
            terms = zip(self.refs[here].tolist(), self.ids[here].tolist(), strict=True)
            triples = (Triple(*map(self.texts.term, refs, ids)) for refs, ids in terms)
            found = self._graphs[row] = tuple(sorted(triples, key=_spelling))
        return found

    def _individual(self, row: int) -> Term:
        if self.individual_ids[row]:
            return self.texts.term(self.individual_refs[row], self.individual_ids[row])
        return individual_of(self.event[row], self.start[row], self.end[row], frozenset(self._asserted(row)))

    def occurrence(self, row: int) -> tuple[IRI, Term] | None:
        """The event and its individual, for an EVENT STREAM."""
        return None if self.form is Form.RDF_STREAM else (self.event[row], self._individual(row))

    def why(self, row: int) -> Why | None:
        """What a row rests on, if that was asked for."""
        return None if self.told is None else self.told[row]


def _spelling(triple: Triple) -> tuple[str, ...]:
    return tuple(map(str, triple))
