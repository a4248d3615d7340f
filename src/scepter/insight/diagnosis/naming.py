"""How the parts of a sequence are called when a person is told about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scepter.algebra.query import Atom, Iteration, Negation, Optional, Query, Scan, Selection
from scepter.algebra.walk import find
from scepter.insight.diagnosis.sentences import Sentences
from scepter.physical.planning.sequence_planner import branches
from scepter.rdf.terms import IRI
from scepter.runtime.matches import Match

_OPERATORS = {Selection.STRICT: ",", Selection.NEXT: ";", Selection.ANY: ":", Selection.BEFORE: "SEQ"}


@dataclass(frozen=True, slots=True)
class Naming:
    """Names the parts of one query."""

    query: Query
    sentences: Sentences

    def streams(self) -> frozenset[IRI] | None:
        """The streams it reads; None: all."""
        return frozenset(s.iri for s in self.query.streams) or None

    def title(self, number: int, scans: Sequence[Scan] | None = None) -> str:
        """A step, or one of its branches."""
        link = self.query.pattern.steps[number]
        operator = f"{_OPERATORS[link.selection]} " if link.selection is not None else ""
        if scans is not None and len(branches(link.atom)) > 1:
            return f"{operator}{self.atom(link.atom)} by {' & '.join(map(self.name, scans))}"
        first = next(find(link.atom, Scan))
        single = isinstance(link.atom, (Scan, Iteration, Negation, Optional))
        return f"{operator}{self.atom(link.atom)}" + (f" on {self.stream(first)}" if single and not self.query.merged else "")

    def atom(self, atom: Atom) -> str:
        """An atom as SPAseq writes it."""
        match atom:
            case Scan():
                return self.name(atom)
            case Iteration(scan):
                return f"{self.name(scan)}+"
            case Negation(scan):
                return f"{self.name(scan)}!"
            case Optional(scan):
                return f"{self.name(scan)}?"
            case _:
                parts = [" & ".join(map(self.name, scans)) for scans in branches(atom)]
                return f"({' | '.join(parts)})"

    def name(self, scan: Scan) -> str:
        """A GPM by its label; what has none, by its pattern."""
        return f"{{ {self.sentences.notation.pattern(scan.pattern)} }}" if self.query.merged else scan.label

    def stream(self, scan: Scan) -> str:
        """The stream it looks at."""
        if self.query.merged:
            return "the streams"
        alias = next((s.alias for s in self.query.streams if s.iri == scan.stream), None)
        return alias or self.sentences.notation.term(scan.stream)

    def selected(self, match: Match) -> tuple[str, ...]:
        """The events of a partial match, as `A = e1 at 10`."""
        scans = {scan.label: scan for scan in find(self.query.pattern, Scan)}
        told = []
        for label, events in match.events.items():
            listed = ", ".join(self.sentences.event(e) for e in events if isinstance(e, int))
            told.append(f"{self.name(scans[label])} = {listed}")
        return tuple(told)
