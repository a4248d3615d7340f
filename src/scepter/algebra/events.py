"""Events defined by descriptions and by patterns of other events (spec/40-obep).

An *occurrence* is a set of triples (its assertions) with an interval. A logical event's occurrences come from single items of
the streams, a composite event's from those of its pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, assert_never

from scepter.algebra.classes import ClassExpression
from scepter.algebra.patterns import Pattern
from scepter.algebra.query import Stream
from scepter.errors import Span
from scepter.rdf.terms import IRI
from scepter.timeline import Allen, Duration


class Keep(Enum):
    """Whose assertions, or whose interval, the result of a relation has."""

    LEFT = "left"
    RIGHT = "right"
    BOTH = "both"
    """The union of the assertions; the hull of the intervals."""


@dataclass(frozen=True, slots=True)
class Occurs:
    """The occurrences of an event."""

    event: IRI


@dataclass(frozen=True, slots=True)
class Labelled:
    """The occurrences of the operand, each known to the guard by a name."""

    label: IRI
    operand: EventPattern


@dataclass(frozen=True, slots=True)
class First:
    """Those with no other one wholly before."""

    operand: EventPattern


@dataclass(frozen=True, slots=True)
class Last:
    """Those with no other one wholly after."""

    operand: EventPattern


@dataclass(frozen=True, slots=True)
class Rest:
    """`NOT E`: what is left of each item without the triples that occurrences ending then have used."""

    operand: EventPattern


@dataclass(frozen=True, slots=True)
class Either:
    """`E1 OR E2`: all of both."""

    left: EventPattern
    right: EventPattern


@dataclass(frozen=True, slots=True)
class Related:
    """Pairs whose intervals stand in a relation, with the assertions and the interval that are kept of them."""

    relation: Allen
    left: EventPattern
    right: EventPattern
    assertions: Keep
    interval: Keep


EventPattern: TypeAlias = Occurs | Labelled | First | Last | Rest | Either | Related


@dataclass(frozen=True, slots=True)
class LogicalEvent:
    """`EVENT H AS B`: H is equivalent to B."""

    event: IRI
    description: ClassExpression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CompositeEvent:
    """`EVENT H MATCH E WITHIN d IF { … }`. `guard` is asked over a dataset with one named graph per label."""

    event: IRI
    pattern: EventPattern
    within: Duration | None = None
    guard: Pattern | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


class Form(Enum):
    """What is made of the occurrences that are returned."""

    RDF_STREAM = "RDF STREAM"
    EVENT_STREAM = "EVENT STREAM"


@dataclass(frozen=True, slots=True)
class EventQuery:
    """Events, each after those it is made of, and which of them are returned."""

    streams: tuple[Stream, ...]
    """None: every stream given."""
    logical: tuple[LogicalEvent, ...]
    composite: tuple[CompositeEvent, ...]
    returned: tuple[IRI, ...]
    form: Form = Form.RDF_STREAM

    @property
    def into(self) -> IRI | None:
        """It constructs no stream for other units."""
        return None


def operands(pattern: EventPattern) -> tuple[EventPattern, ...]:
    """The patterns directly inside one."""
    match pattern:
        case Occurs():
            return ()
        case Labelled(_, operand) | First(operand) | Last(operand) | Rest(operand):
            return (operand,)
        case Either(left, right) | Related(_, left, right):
            return (left, right)
        case _:
            assert_never(pattern)


def patterns(pattern: EventPattern) -> Iterator[EventPattern]:
    """A pattern and all inside it.

    >>> [type(p).__name__ for p in patterns(First(Occurs(IRI("http://e"))))]
    ['First', 'Occurs']
    """
    yield pattern
    for operand in operands(pattern):
        yield from patterns(operand)


def needs_end(query: EventQuery) -> Span | None:
    """The place of an event that only the end of the input makes certain (rule 8: LAST), if there is one."""
    for event in query.composite:
        if any(isinstance(part, Last) for part in patterns(event.pattern)):
            return event.span or Span(0, 0)
    return None
