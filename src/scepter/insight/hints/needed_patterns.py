"""What every match of a unit needs: its triples and its filters, those of optional and negated parts left aside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.expressions import Expression
from scepter.algebra.patterns import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Project,
    Related,
    Side,
    Slice,
    TriplePattern,
)
from scepter.algebra.query import Atom, Conjunction, Disjunction, Iteration, Query, Scan, Unit
from scepter.algebra.timed import TimedProgram
from scepter.algebra.windows import WindowedQuery, is_window_graph, scans
from scepter.optimizer.conditions import conjuncts
from scepter.rdf.terms import IRI


@dataclass(frozen=True, slots=True)
class Needed:
    """A graph pattern of which every match has a solution, with the conditions that must hold together."""

    stream: IRI | None
    """The stream its events come from; None: any."""
    triples: tuple[TriplePattern, ...]
    conditions: tuple[Expression, ...]
    graphs: tuple[Graph, ...] = ()
    """The patterns over static graphs that must have a solution too."""


def needed_patterns(unit: Unit) -> Iterator[Needed]:
    """The patterns that every match of a unit goes through."""
    match unit:
        case Query():
            for step in unit.pattern.steps:
                for scan in _needed_scans(step.atom):
                    triples, conditions, _ = _parts(scan.pattern)
                    filters = [c for condition in scan.filters for c in conjuncts(condition)]
                    yield Needed(None if unit.merged else scan.stream, tuple(triples), (*conditions, *filters))
        case TimedProgram():
            for query in unit.queries:
                yield needed(query.pattern)
        case ContinuousQuery() | PeriodicQuery():
            yield needed(unit.pattern)
        case WindowedQuery():
            yield needed(unit.pattern)
            windows = {window.name: window.stream for window in unit.windows}
            for event in unit.events:
                for item in scans(event):
                    triples, conditions, _ = _parts(item.pattern)
                    yield Needed(windows[item.window], tuple(triples), tuple(conditions))
        case _:  # a unit is anything that reads streams; what is unknown needs nothing
            return


def _needed_scans(atom: Atom) -> Iterator[Scan]:
    match atom:
        case Scan():
            yield atom
        case Conjunction(left, right):
            yield from _needed_scans(left)
            yield from _needed_scans(right)
        case Iteration(scan):
            yield scan
        case Disjunction():
            return
        case _:  # negated and optional atoms may find nothing
            return


def needed(pattern: Pattern) -> Needed:
    """What every solution of a pattern over any stream needs."""
    triples, conditions, graphs = _parts(pattern)
    return Needed(None, tuple(triples), tuple(conditions), tuple(graphs))


def _parts(pattern: Pattern) -> tuple[list[TriplePattern], list[Expression], list[Graph]]:
    """The triples, the conditions and the static graphs that every solution of a pattern needs."""
    triples: list[TriplePattern] = []
    conditions: list[Expression] = []
    graphs: list[Graph] = []
    pending = [pattern]
    while pending:
        match pending.pop():
            case BGP(more):
                triples += more
            case Filter(condition, inner):
                conditions += conjuncts(condition)
                pending.append(inner)
            case Join(left, right):
                pending += (left, right)
            case Related(left, right, optional=optional):
                pending += [side for side, which in ((left, Side.LEFT), (right, Side.RIGHT)) if optional is not which]
            case LeftJoin(left) | Minus(left):
                pending.append(left)
            case Graph(name, inner) if is_window_graph(getattr(name, "term", None)):  # type: ignore[arg-type]
                pending.append(inner)
            case Graph() as graph:
                graphs.append(graph)
            case Extend(inner) | Project(inner) | Distinct(inner) | OrderBy(inner) | Slice(inner):
                pending.append(inner)
            case Group(inner, keys) if keys:  # without keys a group of nothing is a solution
                pending.append(inner)
            case _:
                continue
    return triples, conditions, graphs
