"""EXISTS over time: a pattern asked for one solution, over everything that has ended by then (spec/20-ep-sparql rule 13).

The outer solution's bindings are substituted into the pattern, so that it cannot be kept up to date ahead of time: it is
searched when asked, over an index of the occurrences its triple patterns can use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from scepter.algebra.expressions import Call, Constant, Exists
from scepter.algebra.patterns import (
    Graph as GraphPattern,
)
from scepter.algebra.patterns import (
    Group,
    LeftJoin,
    Minus,
    PathPattern,
    Related,
    Slice,
    TriplePattern,
)
from scepter.algebra.timed import TIME_FUNCTIONS
from scepter.algebra.walk import find, walk
from scepter.kernel.sparql.context import Row
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.timed.solutions import EventGraph, Instant, Occurrence, Timed
from scepter.rdf.terms import Term, Triple
from scepter.rdf.values import boolean

_Interval = tuple[int, int]


class Occurred:
    """Triples with the intervals at which they occurred, found by any of their terms."""

    __slots__ = ("_indexes", "_intervals")

    def __init__(self) -> None:
        self._intervals: dict[Triple, dict[_Interval, None]] = {}
        self._indexes: dict[tuple[int, ...], dict[tuple[Term, ...], list[Triple]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._intervals.values()))

    def add(self, occurrence: Occurrence, *, once: bool) -> None:
        """Remember an occurrence; `once` keeps only the first of each triple, where only that there was one counts."""
        known = self._intervals.get(occurrence.triple)
        if known is None:
            self._intervals[occurrence.triple] = {(occurrence.start, occurrence.end): None}
            for positions, index in self._indexes.items():
                index.setdefault(tuple(occurrence.triple[i] for i in positions), []).append(occurrence.triple)
        elif not once:
            known[occurrence.start, occurrence.end] = None

    def match(self, wanted: Sequence[Term | None]) -> Iterator[tuple[Triple, Iterable[_Interval]]]:
        """The triples with these terms (None for any), each with its intervals."""
        positions = tuple(i for i, term in enumerate(wanted) if term is not None)
        if positions not in self._indexes:
            index = self._indexes[positions] = {}
            for triple in self._intervals:
                index.setdefault(tuple(triple[i] for i in positions), []).append(triple)
        for triple in self._indexes[positions].get(tuple(t for t in wanted if t is not None), ()):
            yield triple, self._intervals[triple]


Search = Callable[[Exists, "History", Row, int | None], bool]
"""Whether a pattern has a solution under an outer one's bindings, of what has ended by then; None: of what has no time."""


class History:
    """What the EXISTS of one query may look at."""

    def __init__(self, existences: Sequence[Exists], static: Graph, search: Search) -> None:
        self._search = search
        self.static = static
        patterns = [e.pattern for e in existences]
        # GRAPH looks at background graphs, which have no occurrences.
        inside = [{id(n) for g in find(p, GraphPattern) for n in walk(g)} for p in patterns]
        triples = [
            t
            for p, static_part in zip(patterns, inside, strict=True)
            for t in find(p, TriplePattern)
            if id(t) not in static_part
        ]
        self._wanted: list[tuple[Term | None, ...]] = [_constants(t) for t in triples]
        self._keeps_graphs = any(next(find(p, PathPattern), None) is not None for p in patterns)
        self._once = not any(_looks_at_times(p) for p in patterns)
        self.past = Occurred()
        self.present = Occurred()
        self.past_graphs: list[EventGraph] = []
        self.past_times: list[int] = []
        self.present_graphs: Sequence[EventGraph] = ()
        self.now = 0
        self._pending: list[Occurrence] = []

    def ask(self, exists: Exists) -> Callable[[Row, Timed, int | None], Term]:
        """An EXISTS as something to ask a solution."""
        return lambda row, _, until: boolean(self._search(exists, self, row, until) is not exists.negated)

    def see(self, instant: Instant) -> None:
        """The instant that is being evaluated: it has ended by then, too."""
        self.now = instant.time
        self.present = Occurred()
        self._pending = [o for o in instant.occurrences if self._is_wanted(o.triple)]
        for occurrence in self._pending:
            self.present.add(occurrence, once=self._once)
        self.present_graphs = instant.graphs if self._keeps_graphs else ()

    def _is_wanted(self, triple: Triple) -> bool:
        return any(all(w is None or w == t for w, t in zip(wanted, triple, strict=True)) for wanted in self._wanted)

    def commit(self) -> None:
        """The instant is past."""
        for occurrence in self._pending:
            self.past.add(occurrence, once=self._once)
        self.past_graphs += self.present_graphs
        self.past_times += [self.now] * len(self.present_graphs)
        self._pending, self.present, self.present_graphs = [], Occurred(), ()

    def match(self, wanted: Sequence[Term | None], until: int | None) -> Iterator[tuple[Triple, _Interval | None]]:
        """Static triples, and occurrences that have ended by then; None, from a timeless solution, sees no occurrences."""
        for triple in self.static.match(*wanted):
            yield triple, None
        if until is None:
            return
        for occurred in (self.past, self.present):
            for triple, intervals in occurred.match(wanted):
                for interval in intervals:
                    if interval[1] <= until:
                        yield triple, interval

    def graphs(self, until: int | None) -> Iterator[tuple[EventGraph, int]]:
        """The graphs of events that have ended by then, each with its end."""
        if until is None:
            return
        past = zip(self.past_graphs, self.past_times, strict=True)
        yield from ((graph, end) for graph, end in past if end <= until)
        if self.now <= until:
            yield from ((graph, self.now) for graph in self.present_graphs)

    def size(self) -> int:
        """Occurrences and graphs remembered."""
        return len(self.past) + len(self.past_graphs)


def _constants(pattern: TriplePattern) -> tuple[Term | None, ...]:
    nodes = (pattern.subject, pattern.predicate, pattern.object)
    return tuple(node.term if isinstance(node, Constant) else None for node in nodes)


def _looks_at_times(pattern: object) -> bool:
    """Whether it can matter when, and how often, a triple occurred."""
    kinds = (Related, LeftJoin, Minus, Group, Slice, Exists)
    return any(
        isinstance(node, kinds) or (isinstance(node, Call) and node.function in TIME_FUNCTIONS)
        for node in walk(pattern)  # type: ignore[arg-type]
    )
