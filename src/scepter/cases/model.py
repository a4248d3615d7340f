"""A case and what it expects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import yaml

from scepter.cases.document import Document
from scepter.errors import Diagnostic, QueryError
from scepter.rdf.terms import IRI, Term, Triple
from scepter.rdf.timeline_notation import TimelineEvent

Time: TypeAlias = int | str
"""An instant as results show it: an integer, or ISO 8601 in UTC."""


@dataclass(frozen=True, slots=True)
class Row:
    """An expected row; a variable that is absent is unbound."""

    start: Time
    end: Time
    bindings: Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class TimedGraph:
    """An expected graph; `event` is the class of an EVENT STREAM's event."""

    start: Time
    end: Time
    graph: frozenset[Triple]
    event: IRI | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """`expect:` a multiset of rows."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Graphs:
    """`expect-graphs:` and `expect-events:`, a multiset of graphs."""

    graphs: tuple[TimedGraph, ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """`expect-boolean:` whether it holds, and where it first does if that is said."""

    holds: bool
    interval: tuple[Time, Time] | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """`expect-error:` words that the message contains."""

    words: str


Expectation: TypeAlias = Rows | Graphs | Truth | Refusal


@dataclass(frozen=True, slots=True)
class Case:
    """One case: what goes in, and what must come out."""

    path: Path
    name: str
    language: str | None
    prefixes: Mapping[str, str]
    options: Mapping[str, str]
    streams: Mapping[str, tuple[TimelineEvent, ...]]
    """Their events, and the versions of graphs that vary."""
    background: Mapping[str | None, str]
    """Per graph (None: the default graph) its Turtle with the case's prefixes declared."""
    versions: tuple[str, ...]
    """Of `streams`, those that are the versions of a background graph."""
    ontology: str | None
    query: str
    expectation: Expectation
    known: frozenset[str]
    """The IRIs of the input and the expectation: any other IRI in a result is generated."""
    document: Document
    query_node: yaml.Node

    def in_file(self, error: QueryError) -> QueryError:
        """An error in the query's text, pointing into the case file instead."""
        span = error.diagnostic.span
        if span is None or error.source is None or error.source.text != self.query:
            return error
        line, column = error.source.position(span.start)
        place = self.document.place(self.query_node, line, column, span.end - span.start)
        told = error.diagnostic
        moved = Diagnostic(told.code, told.message, place, told.help, told.notes, told.severity)
        return QueryError(moved, self.document.source)
