"""The syntax tree of OBEP (spec/40-obep) on top of the SPARQL core's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scepter.errors import Span
from scepter.rdf.terms import IRI
from scepter.syntax.tree import Constant, GraphClause, Group, StreamName


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written. `iri` is None for a bare name where no empty prefix is declared."""

    text: str
    iri: IRI | None
    span: Span


@dataclass(frozen=True, slots=True)
class ClassName:
    """A class; `name` is `Thing` or `Nothing` for OWL's own two."""

    name: Name | str
    span: Span


@dataclass(frozen=True, slots=True)
class Operation:
    """`and`, `or`, `not` over class expressions."""

    operator: str
    operands: tuple[Description, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PropertyName:
    """A property, or its inverse."""

    name: Name
    inverse: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Restriction:
    """`r some C`, `r only C`, `r value a`, `r Self`, `r min n C`; a filler left out is None."""

    property: PropertyName
    quantifier: str
    filler: Description | Name | Constant | None
    count: int | None
    span: Span


Description: TypeAlias = ClassName | Operation | Restriction


@dataclass(frozen=True, slots=True)
class Reference:
    """An event's name in an event expression, with the name that AS gives its occurrence."""

    name: Name
    alias: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Parenthesised:
    """`( … ) AS name`."""

    inner: EventExpression
    alias: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Prefixed:
    """`FIRST E`, `LAST E`, `NOT E`."""

    operator: str
    operand: EventExpression
    span: Span


@dataclass(frozen=True, slots=True)
class Combination:
    """`E1 op E2`: AND, OR, SEQ or one of Allen's relations."""

    operator: str
    left: EventExpression
    right: EventExpression
    span: Span


EventExpression: TypeAlias = Reference | Parenthesised | Prefixed | Combination


@dataclass(frozen=True, slots=True)
class EventBlock(GraphClause):
    """`EVENT name { … }` in a guard: a GRAPH whose name is that of an occurrence (`label` as written)."""

    label: Name


@dataclass(frozen=True, slots=True)
class WithinClause:
    """`WITHIN duration`, as written."""

    amount: str
    span: Span


@dataclass(frozen=True, slots=True)
class ConditionClause:
    """`IF { … }`."""

    group: Group
    span: Span


@dataclass(frozen=True, slots=True)
class LogicalDefinition:
    """`EVENT H AS B`."""

    name: Name
    description: Description
    span: Span


@dataclass(frozen=True, slots=True)
class CompositeDefinition:
    """`EVENT H MATCH E WITHIN d IF { … }`; the guards in the order written."""

    name: Name
    pattern: EventExpression
    guards: tuple[WithinClause | ConditionClause, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ReturnClause:
    """`RETURN E, … AS RDF STREAM` or `AS EVENT STREAM`."""

    names: tuple[Name, ...]
    rdf: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ObepDocument:
    """One OBEP file."""

    streams: tuple[StreamName, ...]
    definitions: tuple[LogicalDefinition | CompositeDefinition, ...]
    returns: tuple[ReturnClause, ...]
    prefixes: tuple[tuple[str, str], ...]
    end: int
