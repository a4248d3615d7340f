"""The contract of every operator, and the leaves: triple patterns, paths, and what has no time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import PathPattern, TriplePattern
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.dataset import EMPTY_GRAPH, Graph
from scepter.kernel.sparql.patterns import solutions as graph_solutions
from scepter.kernel.timed.solutions import Instant, Occurrence, Timed, distinct, within
from scepter.rdf.terms import Term, Triple


class Operator(ABC):
    """A node of a plan. `delta` says what ends at an instant, from what earlier instants left behind and that one alone; it
    may be asked again, with more occurrences of the same instant. `commit` makes the last answer part of the past.
    """

    timed: bool = True
    """Whether a solution can have an interval."""
    fleeting: bool = False
    """Whether all solutions with an interval are fleeting, so that what they meet need not be remembered."""
    growable: bool = False
    """Whether more occurrences of an instant only add solutions, which `grow` then gives."""

    def __init__(self, *inputs: Operator) -> None:
        self.inputs = inputs
        self.fixed: Sequence[Timed] = ()
        """The timeless solutions, the same at all times."""

    @abstractmethod
    def delta(self, instant: Instant) -> Sequence[Timed]:
        """The solutions that end at the instant, each once."""

    def grow(self, more: Instant) -> Sequence[Timed]:
        """What more occurrences of the instant last asked for add to the answer, and nothing that was in it before."""
        raise NotImplementedError(f"{type(self).__name__} is asked anew")

    def commit(self) -> None:
        """Keep what the last `delta` brought for later instants."""
        for each in self.inputs:
            each.commit()

    def release(self, now: int) -> None:
        """Let go what no solution that ends after `now` can need."""
        for each in self.inputs:
            each.release(now)

    def size(self) -> int:
        """How many solutions it and the operators below remember."""
        return sum(each.size() for each in self.inputs)


class Fixed(Operator):
    """Solutions without time: inline data, background graphs, the empty group."""

    timed = False
    growable = True

    def __init__(self, rows: Sequence[Row], *, static: bool = False) -> None:
        super().__init__()
        self.fixed = distinct(Timed(row, static=static) for row in rows)

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """Nothing ever."""
        return ()

    def grow(self, more: Instant) -> Sequence[Timed]:
        """Nothing ever."""
        return ()


class Scan(Operator):
    """A triple pattern, matched by occurrences of any event and by static triples."""

    growable = True

    def __init__(self, pattern: TriplePattern, static: Graph, bound: int | None, tracked: bool) -> None:
        super().__init__()
        nodes = (pattern.subject, pattern.predicate, pattern.object)
        self._constants = [(i, node.term) for i, node in enumerate(nodes) if isinstance(node, Constant)]
        self._places = [(i, node.name) for i, node in enumerate(nodes) if isinstance(node, Variable)]
        names = [name for _, name in self._places]
        self._repeats = len(set(names)) < len(names)
        self._predicate = pattern.predicate.term if isinstance(pattern.predicate, Constant) else None
        self._bound = bound
        self._tracked = tracked
        wanted: list[Term | None] = [node.term if isinstance(node, Constant) else None for node in nodes]
        rows = (self.row(triple) for triple in static.match(*wanted))
        self.fixed = distinct(Timed(row, static=True) for row in rows if row is not None)

    def row(self, triple: Triple) -> Row | None:
        """The mapping under which the pattern is the triple."""
        for i, term in self._constants:
            if triple[i] != term:
                return None
        row = {name: triple[i] for i, name in self._places}
        if self._repeats and any(row[name] != triple[i] for i, name in self._places):
            return None
        return row

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """The occurrences that match."""
        occurrences = instant.of_predicate(self._predicate)
        if not occurrences:
            return ()
        found = list(within(self._matches(occurrences), self._bound))
        return found if self._tracked else distinct(found)

    def grow(self, more: Instant) -> Sequence[Timed]:
        """Different occurrences match as different solutions."""
        return self.delta(more)

    def _matches(self, occurrences: Sequence[Occurrence]) -> Iterator[Timed]:
        for occurrence in occurrences:
            row = self.row(occurrence.triple)
            if row is not None:
                used = frozenset((occurrence,)) if self._tracked else frozenset[Occurrence]()
                yield Timed(row, occurrence.start, occurrence.end, used)


class PathScan(Operator):
    """A path, matched within one event's graph or within the static triples (rule 13).

    What is reached in no step from a term of the query needs no triple; `once` leaves it out of what the events give.
    """

    def __init__(self, pattern: PathPattern, static: Graph, bound: int | None, tracked: bool, once: bool = False) -> None:
        super().__init__()
        self._pattern = pattern
        self._bound = bound
        self._tracked = tracked
        always = _rows(graph_solutions(pattern, EMPTY_GRAPH))
        self._left_out = always if once else frozenset()
        found = graph_solutions(pattern, static)
        self.fixed = distinct(Timed(row, static=frozenset(row.items()) not in always) for row in found)

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """The pairs of each event's graph."""
        found: list[Timed] = []
        for graph in instant.graphs:
            rows = graph_solutions(self._pattern, Graph(graph.triples), context=_NO_CONTEXT)
            if self._left_out:
                rows = [row for row in rows if frozenset(row.items()) not in self._left_out]
            used = frozenset(Occurrence(t, graph.start, instant.time) for t in graph.triples) if self._tracked else frozenset()
            found += (Timed(row, graph.start, instant.time, used) for row in rows)
        return distinct(within(found, self._bound))


_NO_CONTEXT = Context()


def _rows(rows: Iterable[Row]) -> frozenset[frozenset[tuple[str, Term]]]:
    return frozenset(frozenset(row.items()) for row in rows)
