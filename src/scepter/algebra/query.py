"""Queries: temporal operators over scans, and what is made of their solutions.

The shape for SPAseq: a `Query` whose pattern is a `Sequence` of `Step`s over `Scan`s. The nodes are those every language
lowers to; a language's difference is a value in them (a selection, a window), never a flag that names it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias

from scepter.algebra.expressions import Expression, Variable
from scepter.algebra.patterns import Pattern, TriplePattern
from scepter.errors import Span
from scepter.rdf.terms import IRI
from scepter.timeline import Duration


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of the streamset: its IRI and the alias the query gives it."""

    iri: IRI
    alias: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scan:
    """A graph pattern evaluated per event of a stream. `filters` are the outermost FILTERs' conjuncts; they see the match
    so far (SPAseq rule 1). `pattern` is the rest of the body."""

    label: str
    stream: IRI
    pattern: Pattern
    filters: tuple[Expression, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """`(A & B)`: events at the same time, mappings joined."""

    left: Atom
    right: Atom


@dataclass(frozen=True, slots=True)
class Disjunction:
    """`(A | B)`: the union."""

    left: Atom
    right: Atom


class Preference(Enum):
    """Which numbers of iterations go on (SPAseq rule 15)."""

    EVERY = "every"
    """Every number that is allowed is a partial match of its own."""
    GREEDY = "greedy"
    """What can be a further iteration is one: the next atom's event comes before it."""
    RELUCTANT = "reluctant"
    """What can be the next atom's event is that: a further iteration comes before it."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """`B+`, `B{n,m}` (Kleene): `least` to `most` iterations, each of which follows the last by `selection`; `local` variables
    are bound anew by each."""

    scan: Scan
    selection: Selection
    local: tuple[str, ...]
    least: int = 1
    most: int | None = None
    preference: Preference = Preference.EVERY


@dataclass(frozen=True, slots=True)
class Negation:
    """`B!`: no event is accepted by the scan."""

    scan: Scan


@dataclass(frozen=True, slots=True)
class Optional:
    """`B?` = `B` or `B!`."""

    scan: Scan


Atom: TypeAlias = Scan | Conjunction | Disjunction | Iteration | Negation | Optional


class Selection(Enum):
    """How one event follows another."""

    STRICT = "strict"
    """Strict contiguity: nothing of the streamset strictly between (`,`)."""
    NEXT = "next"
    """Skip-till-next: nothing strictly between would have been accepted (`;`)."""
    ANY = "any"
    """Skip-till-any (`:`)."""
    BEFORE = "before"
    """Every later one whose interval starts after the last one's end (EP-SPARQL's SEQ)."""


@dataclass(frozen=True, slots=True)
class Gap:
    """`WITHIN d OF A`: at most so long after the last event of the part `label` (SPAseq rule 16)."""

    duration: Duration
    label: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One atom of a sequence and the operator before it (None for the first)."""

    atom: Atom
    selection: Selection | None = None
    bound: Gap | None = None


@dataclass(frozen=True, slots=True)
class Sequence:
    """Atoms joined left-associatively."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Tumbling:
    """All events of a match lie in one `[origin + k·d, origin + (k+1)·d)` (SPAseq rule 10)."""

    duration: Duration
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sliding:
    """`end - start <= d`, or `< d`."""

    duration: Duration
    span: Span | None = field(default=None, compare=False, repr=False)
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Counting:
    """At most n events of the streamset have their time in `[start, end]`."""

    events: int
    span: Span | None = field(default=None, compare=False, repr=False)


Window: TypeAlias = Tumbling | Sliding | Counting


class Resume(Enum):
    """Where the search goes on after a match."""

    NEXT = "next"
    """Behind the match's first event."""
    PAST_LAST = "past-last"
    """Behind its end."""
    FIRST = "first"
    """At the first event of one of its parts."""
    LAST = "last"
    """At the last event of one of its parts."""


@dataclass(frozen=True, slots=True)
class AfterMatch:
    """`AFTER MATCH SKIP …`: no later match begins before that (SPAseq rule 17)."""

    resume: Resume
    label: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Select:
    """Rows: one column per projected variable; `expression` None is the variable itself."""

    columns: tuple[tuple[Variable, Expression | None], ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Construct:
    """One graph per match; with `into`, an event of that stream."""

    template: tuple[TriplePattern, ...]
    into: IRI | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """True, the first time there is a match."""


Result: TypeAlias = Select | Construct | Ask


@dataclass(frozen=True, slots=True)
class Query:
    """A pattern over a streamset and what is made of its matches."""

    result: Result
    streams: tuple[Stream, ...]
    pattern: Sequence
    window: Window | None = None
    partition: tuple[Variable, ...] = ()
    merged: bool = False
    """Whether its streams are read as one."""
    solutions: bool = False
    """Whether a match is a mapping and an interval, whatever events it came from."""
    skip: AfterMatch | None = None
    timeouts: bool = False
    """Whether the result is made of the partial matches that ran out of time (SPAseq rule 18)."""

    @property
    def into(self) -> IRI | None:
        """The stream it constructs."""
        return self.result.into if isinstance(self.result, Construct) else None


class Unit(Protocol):
    """What a program consists of: something that reads streams and may construct one. `Query` is one kind of unit."""

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams it names."""
        ...

    @property
    def into(self) -> IRI | None:
        """The stream it constructs for other units."""
        ...


@dataclass(frozen=True, slots=True)
class Program:
    """The units of one file, in order; one may read a stream that another constructs."""

    units: tuple[Unit, ...]
