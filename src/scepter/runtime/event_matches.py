"""The occurrences of returned events as matches; terms, individuals and graphs are made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from scepter.algebra.events import Form
from scepter.kernel.events.parts import OCCURRENCE
from scepter.kernel.rows import Int64, UInt64, spread
from scepter.kernel.texts import TextsView, one_ref_each
from scepter.rdf.lines import Column, Part, joined
from scepter.rdf.packed import Packed
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
    start: Int64
    end: Int64
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

    def occurrences(self, rows: Int64) -> tuple[Graphs, Packed]:
        """The graphs of some rows, and the texts of their individuals."""
        row, within = spread(self.first[rows + 1] - self.first[rows])
        members = self.first[rows][row] + within
        each, terms = one_ref_each(self.ids[members], self.refs[members])
        spelt = Spelt.at(each, self.texts)
        individuals = self._individuals(rows, Graphs.of(len(rows), row, terms, spelt))
        named = Spelt.of(Packed.of([f"<{TYPE}>", *map(str, self.returned)]))
        type, those = len(each), np.arange(len(rows))
        own = np.column_stack([type + len(named.texts) + those, np.full(len(rows), type), type + 1 + self.event[rows]])
        spelt = Spelt.together([spelt, named, Spelt.of(individuals)])
        return Graphs.of(len(rows), np.concatenate([row, those]), np.concatenate([terms, own]), spelt), individuals

    def _individuals(self, rows: Int64, asserted: Graphs) -> Packed:
        """The individual of each row: of a composite event's occurrence as `kernel.events.parts.individual_of` says."""
        none = self.individual_ids[rows] == 0
        given = Spelt.at(self.individual_refs[rows[~none]], self.texts).texts
        if not none.any():
            return given
        mine = np.flatnonzero(none)
        events = Column.of([event.value for event in self.returned], self.event[rows[mine]])
        lines = asserted.lines().take(mine)
        between = Column.of(["\n"], np.where(np.diff(asserted.first)[mine] > 0, 0, -1))
        parts: list[Part] = [events, "\n", self.start[rows[mine]], "\n", self.end[rows[mine]], between, lines]
        made = Packed.of([f"<{OCCURRENCE}{digest}>" for digest in digests(joined(parts, len(mine)).texts, 16)])
        place = np.where(none, np.cumsum(none) - 1, len(made) + np.cumsum(~none) - 1)
        return joined([Column(Packed.together([made, given]), place)], len(rows)).texts
