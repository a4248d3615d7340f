"""The syntax tree of RSEP-QL (spec/30-rsep-ql) on top of the SPARQL core's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scepter.errors import Span
from scepter.rdf.terms import IRI, Literal
from scepter.syntax.tree import Group, LanguageElement, Modifiers, SelectClause, Template, Var


@dataclass(frozen=True, slots=True)
class Name:
    """An IRI that names a stream, a window or a graph; as text, it is what was written."""

    iri: IRI
    span: Span
    written: str

    def __str__(self) -> str:
        return self.written


@dataclass(frozen=True, slots=True)
class LandmarkExtent:
    """`LND t`: an integer, a dateTime as a bare word, or a literal."""

    instant: str | Literal
    span: Span


@dataclass(frozen=True, slots=True)
class RangeExtent:
    """`RANGE width STEP step`; both as written, with their places."""

    width: str
    width_span: Span
    step: str | None
    step_span: Span | None


@dataclass(frozen=True, slots=True)
class CountExtent:
    """`ELEMENTS n STEP m`, or CQELS-QL's `TRIPLES n`."""

    count: str
    triples: bool
    span: Span
    step: str | None = None


@dataclass(frozen=True, slots=True)
class EntailmentRegime:
    """RSP-QL's `UNDER ENTAILMENT REGIME name`."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class WindowDeclaration:
    """`FROM NAMED stream WIN [ … ] AS name`, or `FROM NAMED WINDOW name ON stream [ … ]`."""

    name: Name
    stream: Name
    extent: LandmarkExtent | RangeExtent | CountExtent
    span: Span
    written: str | None = None
    """The window as CQELS-QL writes it, where the stream is read: `[NOW]`."""


@dataclass(frozen=True, slots=True)
class FromGraph:
    """`FROM <graph>`, or `FROM NAMED <graph>`."""

    graph: Name
    named: bool
    span: Span


@dataclass(frozen=True, slots=True)
class EventDeclaration:
    """`EVENT ON window { … } AS label`."""

    window: Name
    group: Group
    label: str
    label_span: Span
    span: Span


@dataclass(frozen=True, slots=True)
class PolicyClause:
    """`POLICY name`."""

    name: str
    span: Span
    name_span: Span


@dataclass(frozen=True, slots=True)
class ReportClause:
    """`REPORT ON CONTENT CHANGE`, or `REPORT ON WINDOW CLOSE`."""

    window_close: bool
    span: Span


@dataclass(frozen=True, slots=True)
class RegisterClause:
    """`REGISTER ISTREAM name AS`."""

    operator: str | None
    name: Name
    span: Span
    regime: EntailmentRegime | None = None


@dataclass(frozen=True, slots=True)
class StreamOperator:
    """ISTREAM, RSTREAM or DSTREAM behind SELECT or CONSTRUCT."""

    word: str
    span: Span


@dataclass(frozen=True, slots=True)
class ConstructClause:
    """`CONSTRUCT { … }`."""

    template: Template
    span: Span
    operator: StreamOperator | None = None
    """RSP-QL's `CONSTRUCT RSTREAM { … }`."""


@dataclass(frozen=True, slots=True)
class AskClause:
    """`ASK`."""

    span: Span


@dataclass(frozen=True, slots=True)
class EventLabel:
    """An event's label."""

    label: str
    span: Span


@dataclass(frozen=True, slots=True)
class Extreme:
    """`FIRST E` or `LAST E`; without an operand it is an error that lowering words."""

    word: str
    operand: EventExpression | None
    span: Span


@dataclass(frozen=True, slots=True)
class EventSequence:
    """`E SEQ E …`: the operands, and between them the policies as written (None where none is)."""

    operands: tuple[EventExpression, ...]
    policies: tuple[EventLabel | None, ...]
    span: Span


EventExpression: TypeAlias = EventLabel | Extreme | EventSequence


@dataclass(frozen=True, slots=True)
class MatchClause(LanguageElement):
    """`MATCH { E }` in a group."""

    pattern: EventExpression
    span: Span


@dataclass(frozen=True, slots=True)
class WindowClause(LanguageElement):
    """`WINDOW name { … }` in a group."""

    name: Name | Var
    group: Group
    span: Span


RsepqlClause: TypeAlias = WindowDeclaration | FromGraph | EventDeclaration | PolicyClause | ReportClause


@dataclass(frozen=True, slots=True)
class RsepqlQuery:
    """One RSEP-QL query; its clauses in the order written."""

    register: RegisterClause | None
    result: SelectClause | ConstructClause | AskClause
    clauses: tuple[RsepqlClause, ...]
    group: Group
    modifiers: Modifiers
    span: Span
    operator: StreamOperator | None = None
    """Behind SELECT or CONSTRUCT."""


@dataclass(frozen=True, slots=True)
class RsepqlDocument:
    """The queries of one file, and the prefixes in force at its end."""

    queries: tuple[RsepqlQuery, ...]
    prefixes: tuple[tuple[str, str], ...]
