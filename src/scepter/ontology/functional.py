"""Axioms and assertions in OWL's functional syntax, for the complete reasoner.

Every property is written as an object property and every literal as an individual of its own, so that a literal can fill
`Thing` (spec/40-obep rule 7) as anywhere else.
"""

from __future__ import annotations

from typing import assert_never

from scepter.algebra.classes import (
    And,
    Cardinality,
    ClassExpression,
    HasSelf,
    HasValue,
    Named,
    Not,
    Nothing,
    OneOf,
    Only,
    Or,
    Property,
    Some,
    Thing,
)
from scepter.ontology.axioms import Axiom, Chain, DisjointProperties, SubClassOf, SubProperty, Trait, Transitive
from scepter.rdf.terms import Term

_COUNTS = {"min": "ObjectMinCardinality", "max": "ObjectMaxCardinality", "exactly": "ObjectExactCardinality"}


class Individuals:
    """Names for terms, numbered as they come: no character of the data reaches the reasoner."""

    def __init__(self) -> None:
        self._numbers: dict[Term, int] = {}

    def name(self, term: Term, copy: int | None = None) -> str:
        """The name of a term's individual, in one of several copies of the data or in all."""
        number = self._numbers.setdefault(term, len(self._numbers))
        return f"<urn:scepter:i{number}>" if copy is None else f"<urn:scepter:i{number}c{copy}>"


def write_class(expression: ClassExpression, individuals: Individuals) -> str:
    """A class expression."""
    match expression:
        case Thing() | Nothing():
            return f"<http://www.w3.org/2002/07/owl#{type(expression).__name__}>"
        case Named(iri):
            return str(iri)
        case And(operands) | Or(operands):
            if len(operands) == 1:
                return write_class(operands[0], individuals)
            word = "ObjectIntersectionOf" if isinstance(expression, And) else "ObjectUnionOf"
            return f"{word}({' '.join(write_class(o, individuals) for o in operands)})"
        case Not(operand):
            return f"ObjectComplementOf({write_class(operand, individuals)})"
        case Some(property, filler):
            return f"ObjectSomeValuesFrom({write_property(property)} {write_class(filler, individuals)})"
        case Only(property, filler):
            return f"ObjectAllValuesFrom({write_property(property)} {write_class(filler, individuals)})"
        case HasValue(property, value):
            return f"ObjectHasValue({write_property(property)} {individuals.name(value)})"
        case HasSelf(property):
            return f"ObjectHasSelf({write_property(property)})"
        case OneOf(values):
            return (
                f"ObjectOneOf({' '.join(individuals.name(v) for v in values)})"
                if values
                else write_class(Nothing(), individuals)
            )
        case Cardinality(kind, number, property, filler):
            return f"{_COUNTS[kind]}({number} {write_property(property)} {write_class(filler, individuals)})"
        case _:
            assert_never(expression)


def write_property(property: Property) -> str:
    """A property or its inverse."""
    return f"ObjectInverseOf({property.iri})" if property.inverse else str(property.iri)


def write_axiom(axiom: Axiom, individuals: Individuals) -> str:
    """An axiom."""
    match axiom:
        case SubClassOf(sub, sup):
            return f"SubClassOf({write_class(sub, individuals)} {write_class(sup, individuals)})"
        case SubProperty(sub, sup):
            return f"SubObjectPropertyOf({write_property(sub)} {write_property(sup)})"
        case Transitive(iri):
            return f"TransitiveObjectProperty({iri})"
        case Chain(links, sup):
            chain = " ".join(write_property(link) for link in links)
            return f"SubObjectPropertyOf(ObjectPropertyChain({chain}) {write_property(sup)})"
        case Trait(kind, property):
            return f"{kind}({write_property(property)})"
        case DisjointProperties(first, second):
            return f"DisjointObjectProperties({write_property(first)} {write_property(second)})"
        case _:
            assert_never(axiom)
