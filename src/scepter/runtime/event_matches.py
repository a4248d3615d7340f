"""The occurrences of returned events as matches; terms, individuals and graphs are made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scepter.algebra.events import Form
from scepter.kernel.events.parts import OCCURRENCE
from scepter.kernel.rows import Int64, UInt64, spread
from scepter.kernel.texts import TextsView, one_ref_each
from scepter.rdf.terms import IRI, TYPE, Term, Triple
from scepter.runtime.graphs import Graphs, ShownGraphs, Spelt, digests
from scepter.runtime.why import Why
from scepter.timeline import TimeKind


@dataclass(slots=True)
class EventMatches:
    """Rows of answers (`runtime.matches.Batch`), in columns."""

    query: int
    kind: TimeKind
    form: Form
    start: list[int]
    end: list[int]
    returned: tuple[IRI, ...]
    event: Int64
    """Per row: which of the returned events it is an occurrence of."""
    first: Int64
    """Per row, plus one: where its triples begin."""
    ids: UInt64
    """[triple, position]."""
    refs: Int64
    individual_ids: UInt64
    """Per row; 0: it has one of its own."""
    individual_refs: Int64
    texts: TextsView
    told: Sequence[Why] | None = None
    asks: bool = False
    constructs: bool = True
    _shown: ShownGraphs = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._shown = ShownGraphs(len(self.start), self.occurrences)

    def bindings(self, row: int) -> dict[str, Term]:
        """None."""
        return {}

    def events(self, row: int) -> dict[str, list[object]]:
        """None: what a row rests on are triples."""
        return {}

    def graph(self, row: int) -> tuple[Triple, ...]:
        """The assertions, sorted, with what the individual is (rule 6)."""
        return self._shown.graph(row)

    def occurrence(self, row: int) -> tuple[IRI, Term] | None:
        """The event and its individual, for an EVENT STREAM."""
        if self.form is Form.RDF_STREAM:
            return None
        return self.returned[self.event[row]], self._shown.individual(row)

    def why(self, row: int) -> Why | None:
        """What a row rests on, if that was asked for."""
        return None if self.told is None else self.told[row]

    def graphs(self, rows: Int64) -> Graphs:
        """The graphs of some rows."""
        return self.occurrences(rows)[0]

    def occurrences(self, rows: Int64) -> tuple[Graphs, Any]:
        """The graphs of some rows, and the texts of their individuals."""
        row, within = spread(self.first[rows + 1] - self.first[rows])
        members = self.first[rows][row] + within
        each, terms = one_ref_each(self.ids[members], self.refs[members])
        spelt = Spelt.at(each, self.texts)
        individuals = self._individuals(rows, Graphs.of(len(rows), row, terms, spelt))
        named = Spelt.of(pa.array([f"<{TYPE}>", *map(str, self.returned)], pa.string()))
        type, those = len(each), np.arange(len(rows))
        own = np.column_stack([type + len(named.texts) + those, np.full(len(rows), type), type + 1 + self.event[rows]])
        spelt = Spelt.together([spelt, named, Spelt.of(individuals)])
        return Graphs.of(len(rows), np.concatenate([row, those]), np.concatenate([terms, own]), spelt), individuals

    def _individuals(self, rows: Int64, asserted: Graphs) -> Any:
        """The individual of each row: of a composite event's occurrence as `kernel.events.parts.individual_of` says."""
        own = self.individual_ids[rows] == 0
        given = Spelt.at(self.individual_refs[rows[~own]], self.texts).texts
        if not own.any():
            return given
        events = pa.array([event.value for event in self.returned], pa.string()).take(pa.array(self.event[rows]))
        start, end = (pa.array(np.asarray(times, np.int64)[rows]).cast(pa.string()) for times in (self.start, self.end))
        lines = asserted.lines()
        between = pc.if_else(pc.equal(lines, ""), "", "\n")
        texts = pc.binary_join_element_wise(events, "\n", start, "\n", end, between, lines, "")
        made = pa.array([f"<{OCCURRENCE}{digest}>" for digest in digests(texts.filter(pa.array(own)), 16)], pa.string())
        order = np.empty(len(rows), np.int64)
        order[np.flatnonzero(own)], order[np.flatnonzero(~own)] = np.arange(len(made)), len(made) + np.arange(len(given))
        return pa.concat_arrays([made, given]).take(pa.array(order))
