"""Queries over triple occurrences: patterns whose solutions carry intervals, and rules that feed back into the stream.

The patterns are those of `algebra.patterns`, read over time (spec/20-ep-sparql): a triple pattern is matched by an occurrence
of a triple anywhere in the stream, and every operator gives its solutions an interval.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from scepter.algebra.patterns import Pattern, TriplePattern
from scepter.algebra.query import Counting, Result, Sliding, Stream
from scepter.errors import Span
from scepter.rdf.terms import IRI

DURATION, START, END = "GETDURATION", "GETSTARTTIME", "GETENDTIME"
TIME_FUNCTIONS = frozenset({DURATION, START, END})
"""The calls (without arguments) that speak of a solution's interval."""

SPELLING = {DURATION: "getDURATION", START: "getSTARTTIME", END: "getENDTIME"}
"""As the user writes them."""

TimedWindow: TypeAlias = Sliding | Counting
"""Over which solutions of a group its aggregates run: those of the last d, or the last n."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What a pattern is matched against: the occurrences of some streams (None for all), and static graphs.

    `default` names the background graphs that make up the default graph, `named` those that GRAPH sees; None is what the run
    was given.
    """

    streams: tuple[IRI, ...] | None = None
    default: tuple[IRI, ...] | None = None
    named: tuple[IRI, ...] | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """Derives triples: each solution's template enters the stream with the solution's interval."""

    label: str
    template: tuple[TriplePattern, ...]
    pattern: Pattern
    sources: Sources = Sources()
    window: TimedWindow | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TimedQuery:
    """A pattern over occurrences and what is made of its solutions."""

    result: Result
    pattern: Pattern
    sources: Sources = Sources()
    window: TimedWindow | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TimedProgram:
    """Queries over one stream of occurrences and the rules that feed it: all see the closure."""

    queries: tuple[TimedQuery, ...]
    rules: tuple[Rule, ...] = ()
    streams: tuple[Stream, ...] = ()
    """The streams named, in order."""

    @property
    def parts(self) -> tuple[Rule | TimedQuery, ...]:
        """All that has a pattern."""
        return (*self.rules, *self.queries)

    @property
    def into(self) -> IRI | None:
        """None: what rules derive stays among themselves."""
        return None
