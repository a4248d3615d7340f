"""Events in words: which reasoner serves the logical ones, and when occurrences are certain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scepter.algebra.classes import manchester
from scepter.algebra.events import EventQuery, LogicalEvent, Occurs, needs_end, patterns
from scepter.algebra.notation import Notation
from scepter.ontology.axioms import read_ontology
from scepter.ontology.recognition import Routing, route
from scepter.ontology.rule_text import conflict_rules, rules_of
from scepter.physical.event_text import reasoner, shortened
from scepter.rdf.terms import Triple


def event_notes(query: EventQuery, notation: Notation, ontology: Sequence[Triple] = ()) -> tuple[str, ...]:
    """The reasoners, the policy, when occurrences are certain, and what is of no use."""
    defined = [*(event.event for event in query.logical), *(event.event for event in query.composite)]
    made_of = {part.event for event in query.composite for part in patterns(event.pattern) if isinstance(part, Occurs)}
    idle = [notation.term(iri) for iri in defined if iri not in made_of and iri not in query.returned]
    certain = (
        "LAST is certain only at the end of bounded input, or at the instants of --evaluate-at"
        if needs_end(query) is not None
        else "an occurrence is reported once no item can still come at or before its end"
    )
    notes = [
        f"reasoners: {_reasoners(query, notation, ontology)}",
        "policy: unrestricted",
        f"release: {certain}",
    ]
    return (*notes, f"not used: {', '.join(idle)}") if idle else tuple(notes)


def _reasoners(query: EventQuery, notation: Notation, ontology: Sequence[Triple]) -> str:
    if not ontology:
        return "those that the definitions alone need; axioms of an ontology beyond rules take HermiT where they matter"
    hard = sorted({reason for _, reason in route(read_ontology(ontology), query.logical).hard})
    if not hard:
        return "those that the definitions and the ontology need"
    beyond = shortened(", ".join(hard), notation.prefixes)
    return f"by event below; HermiT serves all events of items on which these can bear: {beyond}"


@dataclass(frozen=True, slots=True)
class EventOutline:
    """The events of a query in words."""

    query: EventQuery
    notation: Notation
    routing: Routing

    @classmethod
    def of(cls, query: EventQuery, notation: Notation, ontology: Sequence[Triple]) -> EventOutline:
        """With the reasoners that the run's ontology asks for."""
        return cls(query, notation, route(read_ontology(ontology), query.logical))

    def recognised(self, event: LogicalEvent) -> Iterator[str]:
        """A logical event: its description, which reasoner serves it, and the rules compiled for it."""
        prefixes = self.notation.prefixes
        yield shortened(manchester(event.description), prefixes)
        yield f"recognised {shortened(reasoner(event, self.routing), prefixes)}"
        program = self.routing.program if event.event not in self.routing.reasons else None
        if program is not None:
            yield from (shortened(rule, prefixes) for rule in rules_of(program, event.event))

    def contradicting(self) -> Iterator[str]:
        """What makes an item inconsistent, as far as rules tell."""
        if self.routing.program is not None:
            yield from (shortened(rule, self.notation.prefixes) for rule in conflict_rules(self.routing.program))
