"""What continuous and periodic queries share: the bounds of their streams, and matches made of solutions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.continuous import ContinuousQuery, Extent, LastTriples, Range
from scepter.algebra.patterns import Pattern
from scepter.algebra.query import Ask, Construct
from scepter.errors import Diagnostic, QueryError, Span
from scepter.kernel.continuous.build import is_ordered
from scepter.kernel.continuous.matching import Bounds
from scepter.kernel.continuous.occurrences import Solution
from scepter.kernel.intake import Intake
from scepter.kernel.sparql.context import Row
from scepter.kernel.sparql.patterns import template
from scepter.rdf.terms import IRI, XSD, Literal, Term, Triple
from scepter.runtime.matches import Match, RankedMatch
from scepter.runtime.tasks import TermMatches
from scepter.timeline import Duration, TimeKind, format_instant

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


def counted_events(intake: Intake, wanted: NDArray[np.bool_], streams: frozenset[IRI], setup: TaskSetup) -> NDArray[np.bool_]:
    """The wanted events of a batch that are of some streams; without any named, of all."""
    if not streams:
        return wanted
    known = np.array([iri in streams for iri in setup.streams()], np.bool_)
    return wanted & known[intake.batch.stream]


def stream_bounds(query: ContinuousQuery, setup: TaskSetup) -> Callable[[int], Bounds]:
    """How long the triples of a stream count, by its number."""

    def bounds(extent: Extent) -> Bounds:
        match extent:
            case None:
                return Bounds()
            case LastTriples(count):
                return Bounds(triples=count)
            case Range(duration, span):
                return Bounds(ticks=ticks_of(duration, setup, span))

    extents = {source.stream.iri: bounds(source.extent) for source in query.sources}
    otherwise = bounds(query.otherwise)
    return lambda stream: extents.get(setup.streams()[stream], otherwise)


class SolutionMatches:
    """Matches of one continuous query, made of solutions."""

    def __init__(self, query: ContinuousQuery, number: int, setup: TaskSetup) -> None:
        self._query = query
        self._number = number
        self._setup = setup
        self._answered = False

    def __call__(self, solutions: list[Solution]) -> list[Match]:
        """The matches of some solutions; of an ASK one, once."""
        if isinstance(self._query.result, Ask):
            if self._answered or not solutions:
                return []
            self._answered = True
            solutions = [min(solutions, key=lambda s: (s.end, s.start))]
        result = self._query.result
        graphs: list[tuple[Triple, ...]] | None = None
        if isinstance(result, Construct):  # a solution that makes no triple makes no graph
            made = [(s, self._graph(s, result)) for s in solutions]
            solutions, graphs = [s for s, graph in made if graph], [graph for _, graph in made if graph]
        batch = TermMatches(
            self._number,
            self._setup.kind,
            [s.start for s in solutions],
            [s.end for s in solutions],
            [s.row for s in solutions],
            graphs,
            isinstance(result, Ask),
            [self._shown(s) for s in solutions],
        )
        return in_order(batch, self._query.pattern)

    def _graph(self, solution: Solution, result: Construct) -> tuple[Triple, ...]:
        times = sorted({(str(o.triple), o.start, o.end) for o in solution.occurrences})
        return constructed(result, solution.row, (self._number, times))

    def _shown(self, solution: Solution) -> dict[str, list[object]]:
        streams = self._setup.streams()
        found: dict[str, dict[int, object]] = {}
        for occurrence in sorted(solution.occurrences, key=lambda o: (o.end, o.start)):
            for number, name, stream in occurrence.sightings:
                found.setdefault(streams[stream].value, {})[number] = self._setup.shown(number, name)
        return {stream: list(events.values()) for stream, events in found.items()}


def in_order(batch: TermMatches, pattern: Pattern) -> list[Match]:
    """The matches of a batch; those of a query that orders them keep their places."""
    if not is_ordered(pattern):
        return batch.matches()
    return [RankedMatch(batch, row, row) for row in range(len(batch.start))]


def plain(name: Term) -> str:
    """An event's name as matches show it."""
    return name.value if isinstance(name, IRI) else str(name)


def constructed(result: Construct, row: Row, identity: object) -> tuple[Triple, ...]:
    """The graph that a match makes, sorted."""
    # Fresh blank nodes per match, the same on every engine: from what the match is, not from where it was computed.
    text = repr((identity, sorted((name, str(term)) for name, term in row.items())))
    seed = "m" + hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return tuple(sorted(template(result.template, row, seed), key=lambda t: tuple(map(str, t))))


def ticks_of(duration: Duration, setup: TaskSetup, span: Span | None) -> int:
    """A duration on the run's time line; an error of the query if it has none there."""
    try:
        return duration.ticks(setup.kind, setup.options.time_unit)
    except ValueError as error:
        raise QueryError(Diagnostic("duration", str(error), span, "choose another window or a finer --time-unit")) from None


def literal_of(kind: TimeKind) -> Callable[[int], Term]:
    """Instants as terms."""
    datatype = XSD + ("integer" if kind is TimeKind.INTEGER else "dateTime")
    return lambda instant: Literal(str(format_instant(instant, kind)), datatype)
