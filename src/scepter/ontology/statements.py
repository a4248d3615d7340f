"""Axioms as people write them: Manchester syntax, one line each."""

from __future__ import annotations

from typing import assert_never

from scepter.algebra.classes import And, ClassExpression, Nothing, Property, Some, Thing, manchester
from scepter.ontology.axioms import Axiom, Chain, DisjointProperties, SubClassOf, SubProperty, Trait, Transitive


def statement(axiom: Axiom) -> str:
    """An axiom in Manchester syntax, with full IRIs.

    >>> from scepter.algebra.classes import Named
    >>> from scepter.rdf.terms import IRI
    >>> statement(SubClassOf(Some(Property(IRI("http://r")), Thing()), Named(IRI("http://C"))))
    '<http://r> Domain: <http://C>'
    """
    match axiom:
        case SubClassOf(Some(Property(iri, False), Thing()), sup):
            return f"{iri} Domain: {manchester(sup)}"
        case SubClassOf(Some(Property(iri, True), Thing()), sup):
            return f"{iri} Range: {manchester(sup)}"
        case SubClassOf(And((first, second)), Nothing()):
            return f"{_operand(first)} DisjointWith: {manchester(second)}"
        case SubClassOf(sub, sup):
            return f"{_operand(sub)} SubClassOf: {manchester(sup)}"
        case SubProperty(sub, sup) if sub == sup.inverted():
            return f"{sub.iri} Characteristics: Symmetric"
        case SubProperty(sub, sup):
            return f"{_property(sub)} SubPropertyOf: {_property(sup)}"
        case Transitive(iri):
            return f"{iri} Characteristics: Transitive"
        case Chain(links, sup):
            return f"{_property(sup)} SubPropertyChain: {' o '.join(map(_property, links))}"
        case Trait(kind, property):
            return f"{_property(property)} Characteristics: {kind.removesuffix('ObjectProperty')}"
        case DisjointProperties(first, second):
            return f"{_property(first)} DisjointWith: {_property(second)}"
        case _:
            assert_never(axiom)


def _operand(expression: ClassExpression) -> str:
    text = manchester(expression)
    return f"({text})" if " " in text else text


def _property(property: Property) -> str:
    return f"inverse {property.iri}" if property.inverse else str(property.iri)
