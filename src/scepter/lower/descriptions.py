"""Class expressions: syntax to algebra."""

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
    Only,
    Or,
    Property,
    Some,
    Thing,
)
from scepter.errors import query_error
from scepter.rdf.terms import IRI, OWL
from scepter.syntax import obep_tree as syntax
from scepter.syntax.tree import Constant

_OWN: dict[IRI, ClassExpression] = {IRI(OWL + "Thing"): Thing(), IRI(OWL + "Nothing"): Nothing()}


def iri_of(name: syntax.Name) -> IRI:
    """The IRI that a name stands for; a bare one needs the empty prefix."""
    if name.iri is None:
        raise query_error(
            "unknown-prefix",
            f"{name.text} is a name in the empty prefix, which is not declared",
            name.span,
            help="add PREFIX : <…> at the top, or write the whole IRI",
        )
    return name.iri


def named(iri: IRI) -> ClassExpression:
    """The class of a name; OWL's own two are what they are."""
    return _OWN.get(iri) or Named(iri)


def lower_description(description: syntax.Description) -> ClassExpression:
    """The class expression of a text."""
    match description:
        case syntax.ClassName(str(word)):
            return Thing() if word == "Thing" else Nothing()
        case syntax.ClassName(syntax.Name() as name):
            return named(iri_of(name))
        case syntax.Operation(operator, operands):
            lowered = tuple(lower_description(operand) for operand in operands)
            return And(lowered) if operator == "and" else Or(lowered) if operator == "or" else Not(lowered[0])
        case syntax.Restriction():
            return _restriction(description)
        case _:
            raise AssertionError(description)


def _restriction(restriction: syntax.Restriction) -> ClassExpression:
    property = Property(iri_of(restriction.property.name), restriction.property.inverse)
    match restriction.filler:
        case syntax.Name() as name:
            return HasValue(property, iri_of(name))
        case Constant(term):
            return HasValue(property, term)
        case None:
            if restriction.quantifier == "self":
                return HasSelf(property)
            return _quantified(restriction, property, Thing())  # `rank some` is `rank some Thing` (rule 7)
        case syntax.ClassName() | syntax.Operation() | syntax.Restriction() as filler:
            return _quantified(restriction, property, lower_description(filler))
        case _:
            assert_never(restriction.filler)


def _quantified(restriction: syntax.Restriction, property: Property, filler: ClassExpression) -> ClassExpression:
    match restriction.quantifier:
        case "some":
            return Some(property, filler)
        case "only":
            return Only(property, filler)
        case kind:
            assert restriction.count is not None  # by the grammar
            return Cardinality(kind, restriction.count, property, filler)
