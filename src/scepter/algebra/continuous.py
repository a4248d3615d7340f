"""Queries over the triples of streams: matched continuously, each match with a window of its own, or at every step of a window.

Patterns are those of `algebra.patterns`; a streamed triple matches a triple pattern at its time, a static one at any time
(spec/50-sparkwave).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from scepter.algebra.patterns import Pattern
from scepter.algebra.query import Construct, Result, Stream
from scepter.algebra.windows import Report
from scepter.errors import Span
from scepter.rdf.terms import IRI
from scepter.timeline import Duration


@dataclass(frozen=True, slots=True)
class Range:
    """A triple counts for so long after its time."""

    duration: Duration
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LastTriples:
    """A triple counts while it is among the last n of its stream."""

    count: int
    span: Span | None = field(default=None, compare=False, repr=False)


Extent: TypeAlias = Range | LastTriples | None
"""How long a triple counts; None is for ever."""


@dataclass(frozen=True, slots=True)
class Source:
    """A stream and how long its triples count."""

    stream: Stream
    extent: Extent = None


@dataclass(frozen=True, slots=True)
class ContinuousQuery:
    """Reports each match when its last triple is known. `pattern` includes the projection and modifiers of a SELECT.

    Without sources it reads every stream that is given, all with the extent `otherwise`.
    """

    result: Result
    sources: tuple[Source, ...]
    pattern: Pattern
    graphs: tuple[IRI, ...] = ()
    """The static graphs that it reads, besides the default graph."""
    otherwise: Extent = None

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams it names."""
        return tuple(source.stream for source in self.sources)

    @property
    def into(self) -> IRI | None:
        """The stream it constructs for other units."""
        return self.result.into if isinstance(self.result, Construct) else None


@dataclass(frozen=True, slots=True)
class PeriodicSource:
    """A stream and the range and step of its window."""

    stream: Stream
    range: Duration
    step: Duration
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PeriodicQuery:
    """Evaluated over the union of the windows and static data, as plain SPARQL: at the multiples of the step at which a window
    holds an event or, with `Report.WINDOW_CLOSE`, at each from the first event on."""

    result: Result
    sources: tuple[PeriodicSource, ...]
    pattern: Pattern
    graphs: tuple[IRI, ...] = ()
    report: Report = Report.CONTENT_CHANGE

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams it names."""
        return tuple(source.stream for source in self.sources)

    @property
    def into(self) -> IRI | None:
        """The stream it constructs for other units."""
        return self.result.into if isinstance(self.result, Construct) else None
