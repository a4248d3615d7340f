"""The syntax tree of Sparkwave (spec/50-sparkwave) on top of the SPARQL core's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scepter.errors import Span
from scepter.rdf.terms import IRI
from scepter.syntax.tree import Call, FilterClause, Group, Modifiers, SelectClause, StreamName, Template, Var

C_SPARQL_TIMESTAMP = "f:timestamp"
"""The function's name where the text calls it by the IRI of C-SPARQL's engine: a note says what it is read as."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A duration or a count as written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class RangeWindow:
    """`[RANGE d]`."""

    range: Amount
    span: Span


@dataclass(frozen=True, slots=True)
class StepWindow:
    """`[RANGE d STEP d]`; with TUMBLING the step is the range."""

    range: Amount
    step: Amount
    span: Span


@dataclass(frozen=True, slots=True)
class TriplesWindow:
    """`[RANGE TRIPLES n]`; `dialect` says whose other spelling was written."""

    count: Amount
    span: Span
    dialect: str | None = None


StreamWindow: TypeAlias = RangeWindow | StepWindow | TriplesWindow


@dataclass(frozen=True, slots=True)
class FromStream:
    """`FROM STREAM <iri> [window]`."""

    stream: StreamName
    window: StreamWindow | None
    span: Span


@dataclass(frozen=True, slots=True)
class FromGraph:
    """`FROM <iri>`, or `FROM NAMED <iri>`."""

    name: StreamName
    named: bool
    span: Span


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """`TIMEWINDOW (n)`: milliseconds."""

    amount: Amount
    span: Span


@dataclass(frozen=True, slots=True)
class ReportClause:
    """`REPORT ON WINDOW CLOSE`."""

    span: Span


@dataclass(frozen=True, slots=True)
class Register:
    """`REGISTER QUERY name AS` or `REGISTER STREAM name AS`; the name is a word or an IRI."""

    stream: bool
    name: str | IRI
    span: Span
    every: Amount | None = None
    """C-SPARQL's `COMPUTED EVERY d`: the step of its windows."""


@dataclass(frozen=True, slots=True)
class ConstructClause:
    """`CONSTRUCT { … }`."""

    template: Template
    span: Span


@dataclass(frozen=True, slots=True)
class AskClause:
    """`ASK`."""

    span: Span


@dataclass(frozen=True, slots=True)
class AggregateClause:
    """C-SPARQL's `AGGREGATE { (?n, COUNT, {?x}) FILTER (…) }`."""

    variable: Var
    call: Call
    keys: tuple[Var, ...]
    filters: tuple[FilterClause, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SparkwaveQuery:
    """One query; its FROM clauses in the order written."""

    register: Register | None
    result: SelectClause | ConstructClause | AskClause
    sources: tuple[FromStream | FromGraph, ...]
    group: Group
    time_window: TimeWindow | None
    modifiers: Modifiers
    span: Span
    report: ReportClause | None = None
    aggregates: tuple[AggregateClause, ...] = ()
    bare: bool = False
    """Whether it is a file of the prototype's oldest form: triples and a window."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """A HANDLERS block of the prototype, which is left alone."""

    span: Span


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a pattern file of the prototype finds a file: EPSILON_ONTOLOGY or STATIC_INSTANCES."""

    name: str
    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class SparkwaveDocument:
    """The queries of one file, the prototype's settings and HANDLERS blocks, and the prefixes in force at its end."""

    queries: tuple[SparkwaveQuery, ...]
    settings: tuple[Setting, ...]
    handlers: tuple[Handlers, ...]
    prefixes: tuple[tuple[str, str], ...]
