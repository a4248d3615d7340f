"""A query over windows at work: evaluated at an instant, it says what of its answer goes to the output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from scepter.algebra.expressions import Constant
from scepter.algebra.patterns import Graph, Pattern
from scepter.algebra.walk import find
from scepter.algebra.windows import ItemScan, Policy, RelationToStream, WindowedQuery, scans, window_graph
from scepter.kernel.closure import union
from scepter.kernel.sparql.context import Context, system_clock
from scepter.kernel.sparql.dataset import Dataset
from scepter.kernel.sparql.dataset import Graph as RDFGraph
from scepter.kernel.windowed.answers import AnswerRow, difference
from scepter.kernel.windowed.build import build_operator
from scepter.kernel.windowed.content import LandmarkBounds, TimeBounds, WindowContent
from scepter.kernel.windowed.evaluation import Linear, Whole, is_linear
from scepter.kernel.windowed.items import Item
from scepter.kernel.windowed.scan import Scan
from scepter.kernel.windowed.union import UnionGraph
from scepter.rdf.terms import IRI

Bounds: TypeAlias = LandmarkBounds | TimeBounds


class WindowedKernel:
    """The windows, event patterns and answer of one query. Items arrive in order of time, evaluations too."""

    def __init__(self, query: WindowedQuery, bounds: Mapping[IRI, Bounds], policy: Policy, background: Dataset) -> None:
        self._query = query
        self._contents = {window.name: WindowContent(bounds[window.name]) for window in query.windows}
        self._by_stream: dict[IRI, list[WindowContent]] = {}
        for window in query.windows:
            self._by_stream.setdefault(window.stream, []).append(self._contents[window.name])
        static = query_dataset(query, background)
        dataset = Dataset(static.default, _NamedGraphs(static.named, self._graphs()))
        self._context = Context(graph=dataset.default, dataset=dataset)
        self._operators = [build_operator(events, policy, self._scan) for events in query.events]
        self._consuming = any(scan.consuming for content in self._contents.values() for scan in content.scans)
        self._consumed = False
        variables = [operator.variables for operator in self._operators]
        keep = query.output is RelationToStream.DSTREAM
        self._answer: Linear | Whole = (
            Linear(query.pattern, variables[0], keep) if is_linear(query.pattern) else Whole(query.pattern, variables, keep)
        )
        self._first = True

    def _graphs(self) -> dict[IRI, UnionGraph]:
        """The union graphs of the windows that patterns ask for."""
        graphs: dict[IRI, UnionGraph] = {}
        for node in find(self._query.pattern, Graph):
            for name, content in self._contents.items():
                if isinstance(node.name, Constant) and node.name.term == window_graph(name):
                    content.graph = content.graph or UnionGraph()
                    graphs[window_graph(name)] = content.graph
        return graphs

    def _scan(self, scan: ItemScan, consuming: bool) -> Scan:
        at_work = Scan(scan.label, scan.window, scan.pattern, self._context, consuming)
        self._contents[scan.window].scans.append(at_work)
        return at_work

    def arrive(self, stream: IRI, item: Item) -> None:
        """An item of a stream."""
        for content in self._by_stream[stream]:
            content.arrive(item)

    def evaluate(self, t: int) -> list[AnswerRow]:
        """The rows that an evaluation at t gives to the output."""
        changed = [content.advance(t) for content in self._contents.values()]
        if not any(changed) and not self._consumed and not self._first:
            return [row.with_sources() for row in self._answer.rows()] if self._query.output is RelationToStream.RSTREAM else []
        self._first = False
        deltas = [operator.update() for operator in self._operators]
        if isinstance(self._answer, Linear):
            added, removed = self._answer.change(deltas[0].added, deltas[0].removed, self._surroundings)
        else:
            added, removed = self._answer.change(
                [list(operator.mappings()) for operator in self._operators], self._surroundings
            )
        output = [row.with_sources() for row in self._output(added, removed)]
        self._consume()
        return output

    def _surroundings(self) -> Context:
        return replace(self._context, now=system_clock())  # each evaluation has its own NOW()

    def _output(self, added: list[AnswerRow], removed: list[AnswerRow]) -> list[AnswerRow]:
        match self._query.output:
            case RelationToStream.ISTREAM:
                return difference(added, removed)
            case RelationToStream.RSTREAM:
                return self._answer.rows()
            case RelationToStream.DSTREAM:
                return difference(removed, added)

    def _consume(self) -> None:
        """Hide from later evaluations the items that a chronological or recent SEQ selected (rule 9)."""
        self._consumed = False
        if not self._consuming:
            return
        selected = [s for operator in self._operators for mapping in operator.mappings() for s in mapping.sources()]
        for scan, item in selected:
            if scan.consuming:
                self._contents[scan.window].consume(item)
                self._consumed = True

    def next_change(self, after: int) -> int | None:
        """The next instant after a time at which the answer may be another, by what has arrived; None if it stays."""
        if self._first or self._consumed:
            return after + 1
        changes = [c for content in self._contents.values() if (c := content.next_change()) is not None]
        return max(min(changes), after + 1) if changes else None

    @property
    def idle(self) -> bool:
        """Whether the current answer has no rows."""
        return not len(self._answer)

    def items(self) -> Iterator[Item]:
        """The items that later rows may show."""
        for content in self._contents.values():
            yield from content.items()
            for scan in content.scans:
                yield from scan.items()

    def state_rows(self) -> Mapping[str, int]:
        """Items in windows, event mappings, triples of union graphs, rows of the answer."""
        contents = self._contents.values()
        return {
            "items": sum(len(content) for content in contents),
            "mappings": sum(operator.state() for operator in self._operators),
            "triples": sum(len(content.graph) for content in contents if content.graph is not None),
            "rows": len(self._answer),
        }


class _NamedGraphs(Mapping[IRI, RDFGraph]):
    """The named graphs of the background and, for who asks by name, the windows: GRAPH ?g does not range over windows."""

    def __init__(self, named: Mapping[IRI, RDFGraph], windows: Mapping[IRI, RDFGraph]) -> None:
        self._named = named
        self._windows = windows

    def __getitem__(self, name: IRI) -> RDFGraph:
        window = self._windows.get(name)
        return self._named[name] if window is None else window

    def __iter__(self) -> Iterator[IRI]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def __contains__(self, name: object) -> bool:
        return name in self._named or name in self._windows


def query_dataset(query: WindowedQuery, background: Dataset) -> Dataset:
    """The background as the query's FROM and FROM NAMED clauses see it."""
    default = background.default
    if query.default_graphs:
        default = union(
            [background.default, *(background.named[name] for name in query.default_graphs if name in background.named)]
        )
    named = background.named
    if query.named_graphs:
        wanted = {*query.named_graphs, *_constant_graphs(query)}
        named = {name: graph for name, graph in named.items() if name in wanted}
    return Dataset(default, named)


def _constant_graphs(query: WindowedQuery) -> Iterator[IRI]:
    """The graphs that the query names where it reads them."""
    patterns: list[Pattern] = [query.pattern, *(scan.pattern for events in query.events for scan in scans(events))]
    for node in (node for pattern in patterns for node in find(pattern, Graph)):
        if isinstance(node.name, Constant) and isinstance(node.name.term, IRI):
            yield node.name.term
