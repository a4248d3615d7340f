"""The syntax tree of EP-SPARQL (spec/20-ep-sparql) on top of the SPARQL core's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scepter.errors import Span
from scepter.syntax.tree import Constant, Group, Modifiers, SelectClause, StreamName, Template


@dataclass(frozen=True, slots=True)
class FromStream:
    """`FROM STREAM <iri>`."""

    stream: StreamName
    span: Span


@dataclass(frozen=True, slots=True)
class FromGraph:
    """`FROM <iri>`, or `FROM NAMED <iri>`."""

    graph: Constant
    named: bool
    span: Span


DatasetClause: TypeAlias = FromStream | FromGraph


@dataclass(frozen=True, slots=True)
class WindowClause:
    """`WINDOW [RANGE duration]` or `WINDOW [ROWS n]`; the amount as written."""

    amount: str
    rows: bool
    span: Span
    amount_span: Span


@dataclass(frozen=True, slots=True)
class ConstructClause:
    """`CONSTRUCT …`; that of `CONSTRUCT WHERE` has its pattern as template."""

    template: Template
    span: Span


@dataclass(frozen=True, slots=True)
class AskClause:
    """`ASK`."""

    span: Span


@dataclass(frozen=True, slots=True)
class EpsparqlQuery:
    """One query or CONSTRUCT rule."""

    result: SelectClause | ConstructClause | AskClause
    dataset: tuple[DatasetClause, ...]
    group: Group
    window: WindowClause | None
    modifiers: Modifiers
    span: Span


@dataclass(frozen=True, slots=True)
class EpsparqlDocument:
    """The queries and rules of one file, and the prefixes in force at its end."""

    queries: tuple[EpsparqlQuery, ...]
    prefixes: tuple[tuple[str, str], ...]
    unprefixed: Span | None = None
    """The first name without a prefix, as the paper prints them."""
