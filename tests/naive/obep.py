"""OBEP by its definitions (spec/40-obep): all occurrences of the whole stream at once, by nested loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from naive.chase import minimal_justifications
from scepter.algebra.classes import Named
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
)
from scepter.kernel.events.parts import individual_of
from scepter.kernel.sparql.dataset import EMPTY_GRAPH, Dataset, Graph
from scepter.kernel.sparql.patterns import solutions
from scepter.ontology.axioms import Axiom, SubClassOf
from scepter.rdf.terms import IRI, TYPE, Term, Triple
from scepter.timeline import Interval, TimeKind


@dataclass(frozen=True)
class Event:
    """An item of a stream."""

    stream: str
    start: int
    end: int
    triples: tuple[Triple, ...]


class Occurrence(NamedTuple):
    """Assertions, interval, and what names stand for."""

    assertions: frozenset[Triple]
    start: int
    end: int
    names: tuple[tuple[IRI, frozenset[Triple]], ...] = ()


class Result(NamedTuple):
    """What is returned of an occurrence."""

    event: IRI
    start: int
    end: int
    graph: frozenset[Triple]


def evaluate(query: EventQuery, axioms: Sequence[Axiom], static: Sequence[Triple], stream: Sequence[Event]) -> set[Result]:
    """The results of a query over a whole stream."""
    # The data of the tests never states an event, so that its definition read the other way round says nothing.
    every = [*axioms, *(SubClassOf(e.description, Named(e.event)) for e in query.logical)]
    wanted = [e.event for e in query.logical]
    occurrences: dict[IRI, set[Occurrence]] = {event: set() for event in wanted}
    items: list[Event] = []
    results: set[Result] = set()
    for event in stream:
        graph = frozenset(event.triples)
        found = minimal_justifications(every, sorted(graph | set(static), key=str), graph, wanted)
        if found is None:
            continue
        items.append(event)
        for iri, node, justification in found:
            occurrences[iri].add(Occurrence(justification, event.start, event.end))
            if iri in query.returned:
                results.add(Result(iri, event.start, event.end, justification | {_typed(node, iri)}))
    for composite in query.composite:
        occurrences[composite.event] = set()
        for each in _matches(composite, occurrences, items):
            individual = individual_of(composite.event, each.start, each.end, each.assertions)
            assertions = each.assertions | {_typed(individual, composite.event)}
            occurrences[composite.event].add(Occurrence(assertions, each.start, each.end))
            if composite.event in query.returned:
                results.add(Result(composite.event, each.start, each.end, assertions))
    return results


def _typed(node: Term, event: IRI) -> Triple:
    return Triple(node, IRI(TYPE), event)


def _matches(composite: CompositeEvent, occurrences: Mapping[IRI, set[Occurrence]], items: Sequence[Event]) -> set[Occurrence]:
    found = set()
    for each in evaluate_pattern(composite.pattern, occurrences, items):
        if composite.within is not None and each.end - each.start > composite.within.ticks(TimeKind.INTEGER, "ms"):
            continue
        if composite.guard is not None:
            dataset = Dataset(named={name: Graph(assertions) for name, assertions in each.names})
            if not solutions(composite.guard, EMPTY_GRAPH, dataset):
                continue
        found.add(each._replace(names=()))
    return found


def evaluate_pattern(
    pattern: EventPattern, occurrences: Mapping[IRI, set[Occurrence]], items: Sequence[Event]
) -> set[Occurrence]:
    """All occurrences of a pattern."""

    def of(operand: EventPattern) -> set[Occurrence]:
        return evaluate_pattern(operand, occurrences, items)

    match pattern:
        case Occurs(event):
            return set(occurrences[event])
        case Labelled(label, operand):
            return {each._replace(names=((label, each.assertions), *each.names)) for each in of(operand)}
        case First(operand):
            every = of(operand)
            return {each for each in every if not any(other.end < each.start for other in every)}
        case Last(operand):
            every = of(operand)
            return {each for each in every if not any(each.end < other.start for other in every)}
        case Rest(operand):
            every = of(operand)
            rests = set()
            for item in items:
                used = {triple for each in every if each.end == item.end for triple in each.assertions}
                if rest := frozenset(item.triples) - used:
                    rests.add(Occurrence(rest, item.start, item.end))
            return rests
        case Either(left, right):
            return of(left) | of(right)
        case Related():
            pairs = ((a, b) for a in of(pattern.left) for b in of(pattern.right))
            return {
                _pair(pattern, a, b)
                for a, b in pairs
                if pattern.relation.holds(Interval(a.start, a.end), Interval(b.start, b.end))
            }
        case _:
            assert_never(pattern)


def _pair(pattern: Related, a: Occurrence, b: Occurrence) -> Occurrence:
    assertions = {Keep.LEFT: a.assertions, Keep.RIGHT: b.assertions, Keep.BOTH: a.assertions | b.assertions}
    hull = (min(a.start, b.start), max(a.end, b.end))
    start, end = {Keep.LEFT: (a.start, a.end), Keep.RIGHT: (b.start, b.end), Keep.BOTH: hull}[pattern.interval]
    return Occurrence(assertions[pattern.assertions], start, end, a.names + b.names)
