"""Whether static assertions contradict the rules: all of them are looked at once, forwards and without justifications."""

from __future__ import annotations

from collections import defaultdict

from scepter.ontology.assertions import RDF_TYPE, Assertions
from scepter.ontology.program import RuleProgram
from scepter.ontology.rules import BOTTOM, TOP, Concept
from scepter.rdf.terms import Term


def contradicted(program: RuleProgram, assertions: Assertions) -> set[Term]:
    """The nodes that would be what nothing can be."""
    return _Closure(program, assertions).of(BOTTOM)


class _Closure:
    """Which nodes belong to which concept, as far as one concept needs it."""

    def __init__(self, program: RuleProgram, assertions: Assertions) -> None:
        self._program = program
        self._assertions = assertions
        self._nodes: dict[Concept, set[Term]] = defaultdict(set)
        self._fresh: dict[Concept, set[Term]] = {}

    def of(self, goal: Concept) -> set[Term]:
        needed = self._needed(goal)
        if needed == {goal} and not self._program.inward.get(goal):
            return set()
        self._seed(needed)
        while self._fresh:
            concept, nodes = self._fresh.popitem()
            for others, head in self._program.conjunctions.get(concept, ()):
                if head in needed:
                    self._add(head, nodes.intersection(*(self._nodes[other] for other in others)))
            for step in self._program.onward.get(concept, ()):
                if step.head in needed:
                    triples = (t for node in nodes for t in self._assertions.along(step.predicate, node, step.forward))
                    self._add(step.head, {t.object if step.forward else t.subject for t in triples})
        return self._nodes[goal]

    def _needed(self, goal: Concept) -> set[Concept]:
        """The concepts that the goal may rest on."""
        needed = {goal}
        pending = [goal]
        while pending:
            concept = pending.pop()
            parts = {part for body in self._program.makers.get(concept, ()) for part in body}
            parts |= {step.concept for step in self._program.inward.get(concept, ())}
            pending += parts - needed
            needed |= parts
        return needed

    def _seed(self, needed: set[Concept]) -> None:
        by_class: dict[Term, set[Term]] = defaultdict(set)
        for subject, _, kind in self._assertions.of_predicate(RDF_TYPE):
            by_class[kind].add(subject)
        for iri, concept in self._program.classes.items():
            if concept in needed:
                self._add(concept, by_class.get(iri, set()))
        for term, concepts in self._program.nominals.items():
            for concept in concepts:
                self._add(concept, {term})
        if self._program.names_datatypes:
            for node in self._assertions.nodes():
                for concept in self._program.of_literal(node):
                    self._add(concept, {node})
        for step in self._program.onward.get(TOP, ()):
            if step.head in needed:
                triples = self._assertions.of_predicate(step.predicate)
                self._add(step.head, {t.object if step.forward else t.subject for t in triples})

    def _add(self, concept: Concept, nodes: set[Term]) -> None:
        fresh = nodes - self._nodes[concept]
        if fresh:
            self._nodes[concept] |= fresh
            self._fresh[concept] = self._fresh.get(concept, set()) | fresh
