"""Entailment by building the least model: rules applied until nothing changes, witnesses made up where something must exist.

Witnesses are made to a fixed depth only, which is enough for the small ontologies of the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from scepter.algebra.classes import (
    And,
    ClassExpression,
    HasValue,
    Named,
    Not,
    Nothing,
    Only,
    Or,
    Property,
    Some,
    Thing,
)
from scepter.ontology.axioms import Axiom, SubClassOf, SubProperty, Transitive
from scepter.rdf.terms import IRI, TYPE, BlankNode, Term, Triple

DEPTH = 3


class Contradiction(Exception):
    """There is no model."""


class Model:
    """The least model of axioms and triples."""

    def __init__(self, axioms: Sequence[Axiom], triples: Iterable[Triple], nodes: Iterable[Term] = ()) -> None:
        self.classes: set[tuple[IRI, Term]] = set()
        self.pairs: set[tuple[IRI, Term, Term]] = set()
        self.depth: dict[Term, int] = dict.fromkeys(nodes, 0)
        for s, p, o in triples:
            if p == IRI(TYPE):
                assert isinstance(o, IRI)
                self.classes.add((o, s))
                self.depth[s] = 0
            else:
                assert isinstance(p, IRI)
                self.pairs.add((p, s, o))
                self.depth[s] = self.depth[o] = 0
        for axiom in axioms:
            for value in _values(axiom):
                self.depth.setdefault(value, 0)
        while self._round(axioms):
            pass

    def _size(self) -> tuple[int, int, int]:
        return len(self.classes), len(self.pairs), len(self.depth)

    def _round(self, axioms: Sequence[Axiom]) -> bool:
        before = self._size()
        for axiom in axioms:
            match axiom:
                case SubProperty(sub, sup):
                    for x, y in self.related(sub):
                        self._relate(sup, x, y)
                case Transitive(iri):
                    here = self.related(Property(iri))
                    for x, y in here:
                        for z, w in here:
                            if y == z:
                                self._relate(Property(iri), x, w)
                case SubClassOf(sub, sup):
                    for node in list(self.depth):
                        if self.holds(sub, node):
                            self._make(sup, node)
                case _:
                    raise AssertionError(axiom)
        return self._size() != before

    def related(self, property: Property) -> list[tuple[Term, Term]]:
        return [(y, x) if property.inverse else (x, y) for p, x, y in self.pairs if p == property.iri]

    def _relate(self, property: Property, x: Term, y: Term) -> None:
        self.pairs.add((property.iri, y, x) if property.inverse else (property.iri, x, y))

    def holds(self, expression: ClassExpression, node: Term) -> bool:
        match expression:
            case Thing():
                return True
            case Nothing():
                return False
            case Named(iri):
                return (iri, node) in self.classes
            case And(operands):
                return all(self.holds(o, node) for o in operands)
            case Or(operands):
                return any(self.holds(o, node) for o in operands)
            case Some(property, filler):
                return any(x == node and self.holds(filler, y) for x, y in self.related(property))
            case HasValue(property, value):
                return (node, value) in self.related(property)
            case _:
                raise AssertionError(expression)

    def _make(self, expression: ClassExpression, node: Term) -> None:
        match expression:
            case Thing():
                return
            case Nothing():
                raise Contradiction
            case Named(iri):
                self.classes.add((iri, node))
            case And(operands):
                for operand in operands:
                    self._make(operand, node)
            case Not(operand):
                if self.holds(operand, node):
                    raise Contradiction
            case Only(property, filler):
                for x, y in self.related(property):
                    if x == node:
                        self._make(filler, y)
            case Some(property, filler):
                self._witness(property, filler, node)
            case _:
                raise AssertionError(expression)

    def _witness(self, property: Property, filler: ClassExpression, node: Term) -> None:
        witness = BlankNode(f"w{abs(hash((property, filler, node)))}")
        if witness not in self.depth and self.depth[node] < DEPTH:
            self.depth[witness] = self.depth[node] + 1
            self._relate(property, node, witness)
        if witness in self.depth:
            self._make(filler, witness)


def _values(axiom: Axiom) -> Iterable[Term]:
    pending: list[ClassExpression] = [axiom.sub, axiom.sup] if isinstance(axiom, SubClassOf) else []
    while pending:
        match pending.pop():
            case HasValue(_, value):
                yield value
            case And(operands) | Or(operands):
                pending += operands
            case Not(operand):
                pending.append(operand)
            case Some(_, filler) | Only(_, filler):
                pending.append(filler)
            case _:
                pass


def minimal_justifications(
    axioms: Sequence[Axiom], triples: Sequence[Triple], item: frozenset[Triple], goals: Iterable[IRI]
) -> set[tuple[IRI, Term, frozenset[Triple]]] | None:
    """By the definition: of all subsets the least that entail and hold a triple of the item. None: contradiction."""
    try:
        nodes = list(Model(axioms, triples).depth)
    except Contradiction:
        return None
    found: dict[tuple[IRI, Term], list[frozenset[Triple]]] = {}
    wanted = set(goals)
    for size in range(len(triples) + 1):
        for chosen in combinations(triples, size):
            subset = frozenset(chosen)
            for iri, node in Model(axioms, chosen, (n for n in nodes if not str(n).startswith("_:w"))).classes:
                sets = found.setdefault((iri, node), [])
                if iri in wanted and not any(each <= subset for each in sets):
                    sets.append(subset)
    return {
        (iri, node, each)
        for (iri, node), sets in found.items()
        for each in sets
        if iri in wanted and each & item and isinstance(node, (IRI, BlankNode)) and not str(node).startswith("_:w")
    }
