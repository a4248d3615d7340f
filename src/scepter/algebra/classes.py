"""Class expressions of description logic, in OWL 2's words: what logical events and ontologies are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from scepter.rdf.terms import IRI, Term


@dataclass(frozen=True, slots=True)
class Property:
    """A property or its inverse."""

    iri: IRI
    inverse: bool = False

    def inverted(self) -> Property:
        """The other direction."""
        return Property(self.iri, not self.inverse)


@dataclass(frozen=True, slots=True)
class Thing:
    """Everything; literals count (spec/40-obep rule 7)."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """The empty class."""


@dataclass(frozen=True, slots=True)
class Named:
    """A class by its name."""

    iri: IRI


@dataclass(frozen=True, slots=True)
class And:
    """`C and D`."""

    operands: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """`C or D`."""

    operands: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """`not C`."""

    operand: ClassExpression


@dataclass(frozen=True, slots=True)
class Some:
    """`r some C`."""

    property: Property
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class Only:
    """`r only C`."""

    property: Property
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class HasValue:
    """`r value a`."""

    property: Property
    value: Term


@dataclass(frozen=True, slots=True)
class HasSelf:
    """`r Self`."""

    property: Property


@dataclass(frozen=True, slots=True)
class OneOf:
    """`{a, b}`; only ontologies write it."""

    values: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Cardinality:
    """`r min n C`, `r max n C`, `r exactly n C`."""

    kind: str
    number: int
    property: Property
    filler: ClassExpression


ClassExpression: TypeAlias = Thing | Nothing | Named | And | Or | Not | Some | Only | HasValue | HasSelf | OneOf | Cardinality


def parts(expression: ClassExpression) -> tuple[ClassExpression, ...]:
    """The class expressions directly inside one."""
    match expression:
        case And(operands) | Or(operands):
            return operands
        case Not(operand):
            return (operand,)
        case Some(_, filler) | Only(_, filler) | Cardinality(_, _, _, filler):
            return (filler,)
        case Thing() | Nothing() | Named() | HasValue() | HasSelf() | OneOf():
            return ()
        case _:
            assert_never(expression)


def names(expression: ClassExpression) -> Iterator[IRI]:
    """The classes and properties that an expression names, in order.

    >>> [iri.value for iri in names(Some(Property(IRI("http://p")), Named(IRI("http://C"))))]
    ['http://p', 'http://C']
    """
    match expression:
        case Named(iri):
            yield iri
        case Some(property) | Only(property) | HasValue(property) | HasSelf(property) | Cardinality(property=property):
            yield property.iri
        case _:
            pass
    for part in parts(expression):
        yield from names(part)


def manchester(expression: ClassExpression) -> str:
    """The expression in Manchester syntax, with full IRIs.

    >>> manchester(And((Named(IRI("http://C")), Some(Property(IRI("http://p"), True), Thing()))))
    '<http://C> and inverse <http://p> some Thing'
    """
    match expression:
        case Thing() | Nothing():
            return type(expression).__name__
        case Named(iri):
            return str(iri)
        case And(operands):
            return " and ".join(map(_inside, operands))
        case Or(operands):
            return " or ".join(map(_inside, operands))
        case Not(operand):
            return f"not {_inside(operand)}"
        case Some(property, filler):
            return f"{_property(property)} some {_inside(filler)}"
        case Only(property, filler):
            return f"{_property(property)} only {_inside(filler)}"
        case HasValue(property, value):
            return f"{_property(property)} value {value}"
        case HasSelf(property):
            return f"{_property(property)} Self"
        case OneOf(values):
            return "{" + ", ".join(map(str, values)) + "}"
        case Cardinality(kind, number, property, filler):
            return f"{_property(property)} {kind} {number} {_inside(filler)}"
        case _:
            assert_never(expression)


def _inside(expression: ClassExpression) -> str:
    text = manchester(expression)
    return f"({text})" if isinstance(expression, (And, Or)) else text


def _property(property: Property) -> str:
    return f"inverse {property.iri}" if property.inverse else str(property.iri)
