"""The plan of events as a tree: what is returned, of what it is made, and which reasoner serves the logical events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from scepter.algebra.classes import manchester
from scepter.algebra.events import (
    CompositeEvent,
    Either,
    EventPattern,
    EventQuery,
    First,
    Keep,
    Labelled,
    Last,
    Occurs,
    Related,
    Rest,
    needs_end,
    patterns,
)
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import Pattern
from scepter.ontology.axioms import read_ontology
from scepter.ontology.recognition import Routing, route
from scepter.ontology.rule_text import conflict_rules, rules_of
from scepter.physical.event_plan import reasoner, shortened
from scepter.physical.operators import Operators
from scepter.physical.tree import Node
from scepter.rdf.terms import Term, Triple
from scepter.timeline import Allen

_ASSERTIONS = {Keep.LEFT: "of the left side", Keep.RIGHT: "of the right side", Keep.BOTH: "of both sides"}
_INTERVAL = {Keep.LEFT: "of the left side", Keep.RIGHT: "of the right side", Keep.BOTH: "around both sides"}


def event_notes(query: EventQuery, notation: Notation, ontology: Sequence[Triple] = ()) -> tuple[str, ...]:
    """The reasoners, the policy, when occurrences are certain, and what is of no use."""
    defined = [*(event.event for event in query.logical), *(event.event for event in query.composite)]
    made_of = {part.event for event in query.composite for part in patterns(event.pattern) if isinstance(part, Occurs)}
    idle = [notation.term(iri) for iri in defined if iri not in made_of and iri not in query.returned]
    certain = (
        "LAST is certain only at the end of bounded input"
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

    def recognised(self) -> Iterator[str]:
        """Each logical event: which reasoner serves it, its description, and the rules compiled for it."""
        told = False
        for event in self.query.logical:
            prefixes, name = self.notation.prefixes, self.notation.term(event.event)
            yield f"{name}: {shortened(manchester(event.description), prefixes)}"
            yield f"  recognised {shortened(reasoner(event, self.routing), prefixes)}"
            program = self.routing.program if event.event not in self.routing.reasons else None
            if program is not None:
                # what makes an item inconsistent is one for all events, and stands with the first
                rules = [*rules_of(program, event.event), *([] if told else conflict_rules(program))]
                told = True
                yield from (f"  {shortened(rule, prefixes)}" for rule in rules)

    def composite(self, event: CompositeEvent) -> Node:
        """A composite event and what it is made of."""
        within = () if event.within is None else (f"within {event.within}",)
        guard = () if event.guard is None else (self._guard(event.pattern, event.guard),)
        return Node(f"Composite event {self.notation.term(event.event)}", within, (self._pattern(event.pattern), *guard))

    def _guard(self, pattern: EventPattern, guard: Pattern) -> Node:
        labels = [part.label for part in patterns(pattern) if isinstance(part, Labelled)]
        graphs: dict[Term, Node] = {iri: Node(f"EVENT {self.notation.term(iri)}") for iri in labels}
        operators = Operators(self.notation, graphs=graphs).knowing(guard)
        return Node("IF", ("asked over the assertions of each occurrence",), (operators.pattern(guard),))

    def _pattern(self, pattern: EventPattern) -> Node:
        match pattern:
            case Occurs(event):
                return Node(f"Event {self.notation.term(event)}")
            case Labelled(label, operand):
                inner = self._pattern(operand)
                return Node(f"{inner.label} AS {self.notation.term(label)}", inner.details, inner.children)
            case First(operand):
                return Node("FIRST", ("with no other one wholly before",), (self._pattern(operand),))
            case Last(operand):
                return Node("LAST", ("with no other one wholly after",), (self._pattern(operand),))
            case Rest(operand):
                return Node("NOT", ("what occurrences that end then leave of each item",), (self._pattern(operand),))
            case Either(left, right):
                return Node("OR", (), (self._pattern(left), self._pattern(right)))
            case Related():
                return self._related(pattern)
            case _:
                assert_never(pattern)

    def _related(self, pattern: Related) -> Node:
        relation, assertions, interval = pattern.relation, pattern.assertions, pattern.interval
        sides = (self._pattern(pattern.left), self._pattern(pattern.right))
        if relation is Allen.EQUALS:
            return Node("AND", (f"equal intervals; assertions {_ASSERTIONS[assertions]}",), sides)
        word = "SEQ" if relation is Allen.BEFORE and assertions is Keep.RIGHT else relation.value
        return Node(word, (f"assertions {_ASSERTIONS[assertions]}, interval {_INTERVAL[interval]}",), sides)
