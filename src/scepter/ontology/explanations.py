"""Which axioms, with the triples of a justification, make an individual what it is: for people who ask why.

The triples say what was given; a minimal set of axioms under which they are enough says how it follows. Justifications that
differ in names only have the same axioms, so that an ontology is searched once for each kind of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from scepter.algebra.classes import manchester
from scepter.algebra.events import LogicalEvent
from scepter.ontology.assertions import RDF_TYPE, Assertions
from scepter.ontology.axioms import Axiom, Ontology
from scepter.ontology.complete import named_individuals
from scepter.ontology.justifications import Justification, minimal
from scepter.ontology.locality import module
from scepter.ontology.program import compile_rules
from scepter.ontology.reasoner import RuleReasoner
from scepter.ontology.recognition import beyond, definition
from scepter.ontology.rules import BeyondFragment
from scepter.ontology.statements import statement
from scepter.rdf.terms import IRI, Literal, Term, Triple

_Shape: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Said:
    """Something that the ontology or the query states, as text and as the axioms that count."""

    text: str
    axioms: tuple[Axiom, ...]


class Explainer:
    """Why individuals are occurrences of logical events."""

    def __init__(self, events: Sequence[LogicalEvent], ontology: Ontology) -> None:
        self._events = tuple(events)
        self._ontology = ontology
        self._known: dict[_Shape, tuple[str, ...]] = {}

    @cached_property
    def _said(self) -> list[_Said]:
        said = [_Said(statement(axiom), (axiom,)) for axiom in self._ontology.axioms]
        said += [
            _Said(f"{event.event} EquivalentTo: {manchester(event.description)}", definition(event)) for event in self._events
        ]
        return said

    @cached_property
    def _spoken(self) -> frozenset[Term]:
        """The individuals that axioms and the ontology's assertions may name: no other would do in their place."""
        named = (term for axiom in self._axioms for term in named_individuals(axiom))
        return frozenset((*named, *(term for t in self._ontology.assertions for term in (t.subject, t.object))))

    @cached_property
    def _axioms(self) -> list[Axiom]:
        return [axiom for said in self._said for axiom in said.axioms]

    def axioms(self, event: IRI, individual: Term, justification: Justification) -> tuple[str, ...]:
        """The statements under which a justification makes an individual an occurrence, in Manchester syntax.

        The set is minimal where rules can show that it is enough. Where it takes the complete reasoner, it is all that the
        words of the justification can reach.
        """
        shape = self._shape(event, individual, justification)
        found = self._known.get(shape)
        if found is None:
            found = self._known[shape] = tuple(said.text for said in self._search(event, individual, justification))
        return found

    def _shape(self, event: IRI, individual: Term, justification: Justification) -> _Shape:
        numbers: dict[Term, int] = {}

        def place(term: Term) -> object:
            if term in self._spoken:
                return term
            number = numbers.setdefault(term, len(numbers))
            return (number, term.datatype) if isinstance(term, Literal) else number

        def order(triple: Triple) -> tuple[str, ...]:
            return (str(triple.predicate), str(triple.object) if triple.predicate == RDF_TYPE else "", *map(str, triple))

        triples = tuple(
            (place(s), p, o if p == RDF_TYPE else place(o)) for s, p, o in sorted(justification, key=order)
        )  # fmt: skip
        return event, triples, place(individual)

    def _search(self, event: IRI, individual: Term, justification: Justification) -> Sequence[_Said]:
        words = {o if p == RDF_TYPE else p for _, p, o in (*justification, *self._ontology.assertions)}
        reached = set(module(self._axioms, {word for word in words if isinstance(word, IRI)}))
        said = [each for each in self._said if any(axiom in reached for axiom in each.axioms)]
        assertions = Assertions((), self._ontology.assertions)

        def enough(some: Sequence[_Said]) -> bool:
            axioms = [axiom for each in some for axiom in each.axioms if beyond(axiom) is None]
            try:
                program = compile_rules(axioms, [event])
            except BeyondFragment:
                return False
            inference = RuleReasoner(program, assertions).infer(justification)
            return any(found.individual == individual for found in inference.found)

        return minimal(said, enough) if enough(said) else said
