"""Whether static assertions contradict the rules: all of them are looked at once, forwards and without justifications.

Nodes are numbers, and what belongs to a concept is a sorted array of them: a million assertions take a second. Those of a file
have numbers already; all others get some.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from scepter.ontology.assertions import RDF_TYPE, Assertions, Numbered
from scepter.ontology.program import RuleProgram
from scepter.ontology.rules import BOTTOM, TOP, Concept
from scepter.rdf.terms import IRI, Term

_Nodes = NDArray[np.int64]
_NOBODY: _Nodes = np.empty(0, np.int64)


def contradicted(program: RuleProgram, assertions: Assertions) -> set[Term]:
    """The nodes that would be what nothing can be."""
    graph = assertions.only
    numbers: _Numbers = _Terms(assertions) if graph is None else _Places(graph, assertions)
    return {numbers.term(node) for node in _Closure(program, numbers).of(BOTTOM).tolist()}


class _Numbers(Protocol):
    """Assertions by the numbers of those they are about."""

    def instances(self, kind: IRI) -> _Nodes:
        """Who is said to be of a class."""
        ...

    def edges(self, predicate: IRI) -> _Nodes:
        """[triple, subject or object]."""
        ...

    def nodes(self) -> dict[Term, int]:
        """All nodes."""
        ...

    def number(self, term: Term) -> int:
        """The number of a node, which may be in no assertion."""
        ...

    def term(self, number: int) -> Term:
        """The node of a number."""
        ...


class _Terms:
    """Numbers for terms as they come."""

    def __init__(self, assertions: Assertions) -> None:
        self._assertions = assertions
        self._numbers: dict[Term, int] = {}
        self._terms: list[Term] = []

    def number(self, term: Term) -> int:
        found = self._numbers.setdefault(term, len(self._terms))
        if found == len(self._terms):
            self._terms.append(term)
        return found

    def term(self, number: int) -> Term:
        return self._terms[number]

    def instances(self, kind: IRI) -> _Nodes:
        return np.array([self.number(term) for term in self._assertions.instances(kind)], np.int64)

    def edges(self, predicate: IRI) -> _Nodes:
        triples = self._assertions.of_predicate(predicate)
        return np.array([(self.number(t.subject), self.number(t.object)) for t in triples], np.int64).reshape(-1, 2)

    def nodes(self) -> dict[Term, int]:
        return {term: self.number(term) for term in self._assertions.nodes()}


class _Places:
    """The numbers that a graph's terms have in its file; terms that it does not have are below zero."""

    def __init__(self, graph: Numbered, assertions: Assertions) -> None:
        self._graph = graph
        self._assertions = assertions
        self._others: dict[Term, int] = {}

    def number(self, term: Term) -> int:
        place = self._graph.place(term)
        return self._others.setdefault(term, -1 - len(self._others)) if place is None else place

    def term(self, number: int) -> Term:
        return self._graph.term(number) if number >= 0 else list(self._others)[-1 - number]

    def instances(self, kind: IRI) -> _Nodes:
        return self._graph.ends(RDF_TYPE, kind)[:, 0]

    def edges(self, predicate: IRI) -> _Nodes:
        return self._graph.ends(predicate)

    def nodes(self) -> dict[Term, int]:
        return {term: self.number(term) for term in self._assertions.nodes()}


class _Closure:
    """Which nodes belong to which concept, as far as one concept needs it."""

    def __init__(self, program: RuleProgram, numbers: _Numbers) -> None:
        self._program = program
        self._numbers = numbers
        self._nodes: dict[Concept, _Nodes] = {}
        self._fresh: dict[Concept, _Nodes] = {}
        self._edges: dict[IRI, _Nodes] = {}

    def of(self, goal: Concept) -> _Nodes:
        needed = self._needed(goal)
        if needed == {goal} and not self._program.inward.get(goal):
            return _NOBODY
        self._seed(needed)
        while self._fresh:
            concept, nodes = self._fresh.popitem()
            for others, head in self._program.conjunctions.get(concept, ()):
                if head in needed:
                    both = nodes
                    for other in others:
                        both = np.intersect1d(both, self._nodes.get(other, _NOBODY), assume_unique=True)
                    self._add(head, both)
            for step in self._program.onward.get(concept, ()):
                if step.head in needed:
                    edges = self._along(step.predicate, step.forward)
                    self._add(step.head, edges[np.isin(edges[:, 0], nodes), 1])
        return self._nodes.get(goal, _NOBODY)

    def _along(self, predicate: IRI, forward: bool) -> _Nodes:
        """[triple, where it starts, where it ends]."""
        if predicate not in self._edges:
            self._edges[predicate] = self._numbers.edges(predicate)
        return self._edges[predicate][:, :: 1 if forward else -1]

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
        for iri, concept in self._program.classes.items():
            if concept in needed:
                self._add(concept, self._numbers.instances(iri))
        for term, concepts in self._program.nominals.items():
            for concept in concepts:
                self._add(concept, np.array([self._numbers.number(term)]))
        if self._program.names_datatypes:
            for node, number in self._numbers.nodes().items():
                for concept in self._program.of_literal(node):
                    self._add(concept, np.array([number]))
        for step in self._program.onward.get(TOP, ()):
            if step.head in needed:
                self._add(step.head, self._along(step.predicate, step.forward)[:, 1])

    def _add(self, concept: Concept, nodes: _Nodes) -> None:
        known = self._nodes.get(concept, _NOBODY)
        fresh = np.setdiff1d(nodes, known)
        if len(fresh):
            self._nodes[concept] = np.union1d(known, fresh)
            self._fresh[concept] = np.union1d(self._fresh.get(concept, _NOBODY), fresh)
