"""Which composite events are joined in columns, and which go through operators over occurrences."""

from __future__ import annotations

from dataclasses import dataclass

from scepter.algebra.events import (
    CompositeEvent,
    Either,
    EventPattern,
    EventQuery,
    First,
    Keep,
    Labelled,
    Last,
    Occurs,
    Related,
    Rest,
    patterns,
)
from scepter.algebra.expressions import Call
from scepter.algebra.patterns import Pattern
from scepter.algebra.walk import find
from scepter.physical.facts import Facts
from scepter.physical.nodes import Node
from scepter.physical.unit_nodes import EventJoin, EventNetwork, Recognise, Returned
from scepter.rdf.terms import IRI
from scepter.timeline import Allen

_VOLATILE = frozenset({"NOW", "RAND", "UUID", "STRUUID", "BNODE"})


def event_plan(query: EventQuery, facts: Facts) -> Node:
    """The operators of an event query: sequences of two logical events in columns, all other composite ones in a network, and
    all of them there where somebody asks why."""
    logical = frozenset(event.event for event in query.logical)
    recognised = Recognise(query.logical)
    joins: list[EventJoin] = []
    slow: list[CompositeEvent] = []
    reasons: dict[str, None] = {}
    for event in query.composite:
        if reason := _reason(event, logical, facts):
            slow.append(event)
            reasons[reason] = None
        else:
            joins.append(EventJoin(event, recognised))
    sources: tuple[Node, ...] = tuple(joins)
    if slow:
        sources = (*joins, EventNetwork(tuple(slow), (recognised, *joins), "; ".join(reasons)))
    returned = frozenset(query.returned)
    direct = (recognised,) if returned & logical or not sources else ()
    return Returned(query, (*direct, *sources))


def _reason(event: CompositeEvent, logical: frozenset[IRI], facts: Facts) -> str:
    """Why an event goes through the network; empty for one that is joined in columns."""
    if facts.exact:
        return "the exact evaluator is asked for"
    if facts.why:
        return "each answer tells what it rests on"
    if in_columns(event, logical):
        return ""
    if isinstance(event.pattern, Related) and event.pattern.relation is Allen.BEFORE:
        if any(isinstance(part, First | Last | Rest | Either) for part in patterns(event.pattern)):
            return "FIRST, LAST, NOT and OR look at whole occurrences"
        return "a sequence of composite events, or with a guard that is another each time"
    return "only a sequence of two logical events is joined in columns"


@dataclass(frozen=True, slots=True)
class Operand:
    """A logical or composite event of a pattern, and its labels."""

    event: IRI
    labels: tuple[IRI, ...]


def operand_of(pattern: EventPattern) -> Operand | None:
    """The event that a pattern is, under its labels; None if it is anything else."""
    labels: list[IRI] = []
    while isinstance(pattern, Labelled):
        labels.append(pattern.label)
        pattern = pattern.operand
    return Operand(pattern.event, tuple(labels)) if isinstance(pattern, Occurs) else None


def in_columns(event: CompositeEvent, logical: frozenset[IRI]) -> bool:
    """Whether an event is a sequence of two logical ones, with a guard that depends on nothing but their assertions."""
    pattern = event.pattern
    if not isinstance(pattern, Related) or pattern.relation is not Allen.BEFORE or pattern.assertions is not Keep.RIGHT:
        return False
    operands = operand_of(pattern.left), operand_of(pattern.right)
    return all(each is not None and each.event in logical for each in operands) and (
        event.guard is None or is_lasting(event.guard)
    )


def is_lasting(guard: Pattern) -> bool:
    """Whether a guard says the same of the same assertions whenever it is asked."""
    return all(call.function.upper() not in _VOLATILE for call in find(guard, Call))
