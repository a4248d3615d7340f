"""The syntax tree of SPAseq (spec/10-spaseq) on top of the SPARQL core's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scepter.errors import Span
from scepter.rdf.terms import IRI
from scepter.syntax.tree import Group, SelectClause, StreamName, Template, Var


@dataclass(frozen=True, slots=True)
class Quantifier:
    """How many iterations (`{n}`, `{n,m}`, `{n,}`, `+`), and which of them are preferred: `greedy`, `reluctant` or all."""

    least: int
    most: int | None
    preference: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """A GPM's name in the sequence, with its postfix operator `+`, `?` or `!`; what iterates has a quantifier and is a `+`."""

    name: str
    postfix: str | None
    span: Span
    name_span: Span
    quantifier: Quantifier | None = None


@dataclass(frozen=True, slots=True)
class Combination:
    """Atoms joined by `&` or by `|`."""

    operator: str
    operands: tuple[SequenceAtom, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Parenthesised:
    """`( … )`, with the postfix operator that a user may have put after it (lowering refuses it)."""

    inner: SequenceAtom
    postfix: str | None
    span: Span


SequenceAtom: TypeAlias = Reference | Combination | Parenthesised


@dataclass(frozen=True, slots=True)
class GapBound:
    """`WITHIN duration OF label` behind an atom; the duration as written."""

    amount: str
    amount_span: Span
    label: str
    label_span: Span
    span: Span


@dataclass(frozen=True, slots=True)
class SequenceStep:
    """One atom and the operator before it: `,`, `;`, `:`, or None for the first."""

    operator: str | None
    atom: SequenceAtom
    gap: GapBound | None = None


@dataclass(frozen=True, slots=True)
class SequenceClause:
    """`SEQ ( … )`."""

    steps: tuple[SequenceStep, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Definition:
    """`DEFINE GPM name ON stream { … }`; the stream is an alias or an IRI."""

    name: str
    name_span: Span
    stream: str | IRI
    stream_span: Span
    group: Group
    span: Span


@dataclass(frozen=True, slots=True)
class WithinClause:
    """`WITHIN duration`, `WITHIN duration SLIDING`, `WITHIN n EVENTS`; the amount as written."""

    amount: str
    sliding: bool
    events: bool
    span: Span
    amount_span: Span


@dataclass(frozen=True, slots=True)
class PartitionClause:
    """`PARTITION BY (?x …)`."""

    variables: tuple[Var, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class FromStream:
    """`FROM STREAM alias <iri>`."""

    alias: str | None
    stream: StreamName
    span: Span
    alias_span: Span | None


@dataclass(frozen=True, slots=True)
class IntoStream:
    """`INTO STREAM <iri>`."""

    stream: StreamName
    span: Span


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
class SkipClause:
    """`AFTER MATCH SKIP …`: `past last`, `to next`, or `to first` and `to last` with a GPM's label."""

    to: str
    label: str | None
    span: Span
    label_span: Span | None


@dataclass(frozen=True, slots=True)
class TimeoutClause:
    """`ON TIMEOUT`: the result is made of partial matches that ran out of time."""

    span: Span


SpaseqClause: TypeAlias = WithinClause | PartitionClause | FromStream | IntoStream | SkipClause | TimeoutClause


@dataclass(frozen=True, slots=True)
class SpaseqQuery:
    """One SPAseq query; its clauses in the order written."""

    result: SelectClause | ConstructClause | AskClause
    clauses: tuple[SpaseqClause, ...]
    sequence: SequenceClause
    definitions: tuple[Definition, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SpaseqDocument:
    """The queries of one file, and the prefixes in force at its end."""

    queries: tuple[SpaseqQuery, ...]
    prefixes: tuple[tuple[str, str], ...]
