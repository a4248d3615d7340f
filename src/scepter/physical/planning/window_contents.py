"""What windows hold of streams, and the dataset that patterns over them are evaluated over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from scepter.algebra.expressions import Compare, Constant, Expression, Or, Variable
from scepter.algebra.patterns import (
    Graph,
    Link,
    NegatedPropertySet,
    Path,
    PathPattern,
    Pattern,
    TriplePattern,
    ZeroOrMore,
    ZeroOrOne,
)
from scepter.algebra.walk import find, walk
from scepter.algebra.windows import CountWindow
from scepter.physical.facts import Count, Seen
from scepter.physical.nodes import nodes, window_nodes
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.window_nodes import Coalesce, CountedWindow, Counts, ItemScan, LatestOccurrence, Step, Window
from scepter.rdf.terms import IRI


class NotPlanned(Exception):
    """A pattern that is no tree of nodes on validities; says why."""


@dataclass(frozen=True, slots=True)
class WindowOn:
    """Streams and the window over them: of a width, or (None) from a landmark on, or of a count."""

    streams: tuple[IRI, ...]
    width: int | None
    step: Step
    landmark: int = 0
    counted: CountWindow | None = None

    def over(self, scan: Node, grid: Step | None = None, *, timeless: bool = False) -> Node:
        """A scan's rows in the window."""
        if self.counted is None:
            return Window(scan, self.width, self.step, self.landmark, timeless)
        counts = Counts.TRIPLES if self.counted.triples else Counts.ITEMS
        return CountedWindow(
            scan, ItemScan(self.streams, counts), counts, self.counted.count, self.counted.step, grid, timeless
        )


@dataclass(frozen=True, slots=True)
class VersionsOf:
    """A graph that varies, as the stream of its versions."""

    streams: tuple[IRI, ...]
    default: bool = False
    """Whether it is part of the default graph too."""

    def over(self, scan: Node, grid: Step | None = None, *, timeless: bool = False) -> Node:
        """A scan's rows while their version is the last: what comes at one instant comes and goes together."""
        return CountedWindow(scan, ItemScan(self.streams, Counts.ITEMS), Counts.ITEMS, 1, 1, grid, timeless)


Content: TypeAlias = WindowOn | VersionsOf
"""What a graph of the dataset holds of streams."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """What patterns are evaluated over: the windows whose union is the default graph, together with the static default graph;
    windows that are graphs of their own; static named graphs."""

    default: tuple[Content, ...]
    named: dict[IRI, tuple[Content, ...]]
    count: Count
    grid: Step | None
    events: tuple[Node, ...] = ()
    """The event patterns, by number."""
    exact: str = ""
    """Why the exact evaluator is asked for whatever the pattern is."""
    seen: Seen | None = None
    """What a sample of the streams holds, where joins may be ordered by it."""
    entailed: bool = False
    """Whether streamed triples stand for others, by a schema."""

    def snapshot(self, pattern: Pattern, why: str) -> Node:
        """The pattern by the exact evaluator, over the windows that it looks at."""
        read = {graph.name.term for graph in find(pattern, Graph) if isinstance(graph.name, Constant)}
        windows: list[tuple[IRI | None, Content]] = [(None, window) for window in self.default]
        windows += [(name, window) for name, some in self.named.items() if name in read for window in some]
        every = TriplePattern(Variable("s"), Variable("p"), Variable("o"))
        triples = tuple(window.over(nodes.TripleScan(every, window.streams), self.grid) for _, window in windows)
        names = tuple(name for name, _ in windows)
        return window_nodes.WindowSnapshot(pattern, names, triples, self.events, self.grid, why)

    def path(self, pattern: PathPattern, graph: IRI | None) -> Node:
        """The pairs of a path, by the exact evaluator over the triples whose predicates it names: it is followed anew when one
        of these comes or goes, not with every change of a window. Raises NotPlanned."""
        if self.entailed:
            raise NotPlanned("a property path under a schema looks at the window as a whole")
        links = _links(pattern.path)
        if links is None:
            raise NotPlanned("a property path that may have no step, or names no predicates, looks at the window as a whole")
        every = TriplePattern(Variable("s"), Variable("p"), Variable("o"))
        if not any(isinstance(end, Constant) for end in (pattern.subject, pattern.object)):
            raise NotPlanned("a property path between two variables is followed from the terms that are bound")
        windows = self.default if graph is None else self.named.get(graph, ())
        if not windows:
            raise NotPlanned("a property path over static triples alone is followed from the terms that are bound")
        equal: list[Expression] = [Compare("=", Variable("p"), Constant(iri)) for iri in links]
        named = reduce(Or, equal)
        triples = []
        for window in windows:
            scan = nodes.Filter(nodes.TripleScan(every, window.streams), (named,))
            triples.append(window.over(scan, self.grid))
        asked: Pattern = pattern if graph is None else Graph(Constant(graph), pattern)
        why = "a property path is followed term by term"
        return window_nodes.WindowSnapshot(asked, (graph,) * len(triples), tuple(triples), (), self.grid, why, part=True)

    def whole(self, pattern: Pattern, graph: IRI | None) -> Node | None:
        """A leaf for a whole pattern; None: it is taken apart."""
        return None

    def scan(self, triple: TriplePattern, graph: IRI | None) -> Node | None:
        """The streamed triples that match, each once while it is there; None in a graph that no window is part of."""
        windows = self.default if graph is None else self.named.get(graph, ())
        if not windows:
            return None
        rows: Node | None = None
        for window in windows:
            one = window.over(nodes.TripleScan(triple, window.streams), self.grid, timeless=bool(self.events))
            rows = one if rows is None else nodes.Union(rows, one)
        assert rows is not None
        return Coalesce(rows, self.grid)

    def latest(self, triple: TriplePattern) -> tuple[Node, ...]:
        """Per window of the default graph the streamed triples that match, each with its latest occurrence."""
        scans = (window.over(nodes.TripleScan(triple, window.streams), self.grid) for window in self.default)
        return tuple(LatestOccurrence(scan, self.grid) for scan in scans)

    def static(self, triple: TriplePattern, graph: IRI | None) -> int:
        """How many static triples may match."""
        return 0 if graph in self.named else self.count(triple, graph)

    def streamed(self, triple: TriplePattern) -> int:
        """How many streamed triples are expected to match, beside those of other patterns; 0 where nobody knows."""
        return 0 if self.seen is None else self.seen(triple)


def _links(path: Path) -> list[IRI] | None:
    """The predicates of a path; None where it may have no step, which relates every node to itself, or names what it avoids."""
    parts = list(walk(path))
    if any(isinstance(part, ZeroOrMore | ZeroOrOne | NegatedPropertySet) for part in parts):
        return None
    return list(dict.fromkeys(part.iri for part in parts if isinstance(part, Link)))
