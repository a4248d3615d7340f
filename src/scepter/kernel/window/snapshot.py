"""The exact evaluator over what windows hold: for patterns that look at a window as a whole (property paths, ORDER BY and LIMIT
inside, EXISTS inside other expressions, GRAPH ?g, `timestamp()` of what may be unbound).

Between two changes of what is there the answer is constant. Triples and event mappings come as rows with validities; the
graphs follow them triple by triple, and the pattern is evaluated once for each change, term by term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scepter.algebra.patterns import BGP, Pattern, TriplePattern
from scepter.algebra.walk import Algebra, rewrite
from scepter.algebra.windows import hidden_names
from scepter.kernel.encoding import decoded, encoded_rows
from scepter.kernel.operator import Texted, Until
from scepter.kernel.rows import NO_LINEAGE, Mask, Rows, concat, empty, lasting_rows, timeless
from scepter.kernel.sparql.context import Context, Row, system_clock
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import Clock, InParts, KeptRows, Part
from scepter.kernel.window.extent import Grid
from scepter.kernel.window.graph import WindowGraph
from scepter.physical.nodes.window_nodes import WindowSnapshot
from scepter.rdf.terms import IRI, XSD, Literal, Term, Triple
from scepter.rdf.values import ExpressionError
from scepter.timeline import TimeKind, format_instant

if TYPE_CHECKING:
    from scepter.kernel.build import Surroundings

_INTEGER = XSD + "integer"


@dataclass(slots=True)
class _Content:
    """The graphs as they are at an instant, and which rows of each input are in them."""

    default: Graph
    windows: dict[IRI, WindowGraph]
    graphs: list[WindowGraph]
    """Per input of triples."""
    inside: list[Mask] = field(default_factory=list)


class Snapshot(InParts):
    """Inputs are the triples of windows, then the rows of event patterns. Rows that rest on an event have its occurrence."""

    def __init__(self, node: WindowSnapshot, grid: Grid | None, around: Surroundings) -> None:
        self.schema = node.schema
        self._node, self._around = node, around
        self._names = [each.schema.variables for each in node.inputs]
        self._hidden = [hidden_names(number) for number in range(len(node.events))]
        self._plan = compile_pattern(_rarest_first(node.pattern, around.context.graph))
        self._clock = Clock(grid)
        self._inputs = [KeptRows(len(names)) for names in self._names]
        self._last: Rows | None = None
        """The answer, as long as nothing changes."""
        self._content: _Content | None = None
        self._parts: dict[str, Part] = {"closed": self._clock, **{f"input{i}": kept for i, kept in enumerate(self._inputs)}}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The answers for the stretch that is certain now."""
        start, stop = self._clock.closed + 1, self._clock.advance(until) + 1
        for place, rows in enumerate(inputs):
            self._inputs[place].value = concat([self._inputs[place].value, rows], rows.width)
        if stop <= start:
            return empty(len(self.schema.variables))
        edges = [edge[(edge > start) & (edge < stop)] for rows in self._rows for edge in (rows.since, rows.until)]
        parts = []
        for low, high in pairwise(np.unique(np.concatenate([np.array([start, stop]), *edges])).tolist()):
            answer = self._answer(low)
            answer = answer.take(np.arange(len(answer)))
            parts.append(answer.valid(np.full(len(answer), low), np.full(len(answer), high)))
        self._forget(stop)
        return concat(parts, len(self.schema.variables))

    def _answer(self, time: int) -> Rows:
        there = [(rows.since <= time) & (rows.until > time) for rows in self._rows]
        content = self._moved(there)
        if self._last is None:
            count = len(self._node.graphs)
            events = [rows.take(mask) for rows, mask in zip(self._rows[count:], there[count:], strict=True)]
            self._last = self._evaluated(content, events)
        return self._last

    def _moved(self, there: list[Mask]) -> _Content:
        """The graphs with what is there; a change lets go of the last answer."""
        content = self._content or self._fresh()
        for place, now in enumerate(there):
            before = np.zeros(len(now), np.bool_)
            before[: len(content.inside[place])] = content.inside[place]
            changed = np.flatnonzero(before != now)
            content.inside[place] = now
            if len(changed):
                self._last = None
            if place < len(content.graphs):
                graph, rows = content.graphs[place], self._rows[place]
                for row in changed.tolist():
                    for triple in self._stands_for(rows, row):
                        (graph.enter if now[row] else graph.leave)(triple, int(rows.end[row]))
        self._content = content
        return content

    def _fresh(self) -> _Content:
        static = self._around.context.graph
        default = WindowGraph(static) if None in self._node.graphs else None
        windows = {name: WindowGraph(Graph()) for name in self._node.graphs if name is not None}
        graphs = [windows[name] if name is not None else default for name in self._node.graphs]
        inside = [np.zeros(0, np.bool_) for _ in self._rows]
        self._last = None
        return _Content(static if default is None else default, windows, [g for g in graphs if g is not None], inside)

    def _stands_for(self, rows: Rows, row: int) -> Iterable[Triple]:
        known = self._around.texts.known
        terms = [known(ref, id) for ref, id in zip(rows.refs[row].tolist(), rows.ids[row].tolist(), strict=True)]
        triple, entails = Triple(*terms), self._around.consequences
        return (triple,) if entails is None else entails(triple)

    # ---- evaluation

    def _evaluated(self, content: _Content, events: Sequence[Rows]) -> Rows:
        dataset = Dataset(self._around.context.dataset.default, _Named(self._around.context.dataset.named, content.windows))
        context = Context(
            graph=content.default, dataset=dataset, timestamp=self._timestamp(content), now=system_clock(),
            mappings=[list(self._given(number, rows)) for number, rows in enumerate(events)],
        )  # fmt: skip
        return self._encoded(list(self._plan(context)), events)

    def _given(self, number: int, rows: Rows) -> Iterator[Row]:
        """The rows of an event pattern, each with the hidden variables that say which it is and when it happened."""
        which, start, end = self._hidden[number]
        names = self._names[len(self._node.graphs) + number]
        for place in range(len(rows)):
            told = {which: place, start: int(rows.start[place]), end: int(rows.end[place])}
            hidden = {name: Literal(str(value), _INTEGER) for name, value in told.items()}
            yield {**decoded(rows, names, place, self._around.texts), **hidden}

    def _encoded(self, found: Sequence[Row], events: Sequence[Rows]) -> Rows:
        names = self.schema.variables
        cells = [[row.get(name) for name in names] for row in found]
        columns = encoded_rows(cells, len(names), self._around.key, self._around.texts)
        start, end = timeless(len(found))
        lineage = np.full(len(found), NO_LINEAGE, np.int64)
        for place, row in enumerate(found):
            for (which, first, last), rows in zip(self._hidden, events, strict=True):
                if first in row and last in row:
                    start[place] = min(start[place], int(_lexical(row[first])))
                    end[place] = max(end[place], int(_lexical(row[last])))
                for one in _lexical(row[which]).split() if which in row else ():
                    node = rows.lineage[int(one), None]
                    lineage[place] = self._around.lineage.joined(lineage[place, None], node)[0]
        return lasting_rows(columns, start, end, lineage)

    def _timestamp(self, content: _Content) -> Callable[[Term, Term, Term], Term]:
        kind = self._around.kind
        datatype = XSD + ("integer" if kind is TimeKind.INTEGER else "dateTime")

        def timestamp(subject: Term, predicate: Term, object: Term) -> Term:
            triple = Triple(subject, predicate, object)
            times = [time for graph in content.graphs if (time := graph.latest(triple)) is not None]
            if not times:
                raise ExpressionError(f"{subject} {predicate} {object} is in no window")
            return Literal(str(format_instant(max(times), kind)), datatype)

        return timestamp

    # ---- state

    @property
    def _rows(self) -> list[Rows]:
        return [kept.value for kept in self._inputs]

    def _forget(self, stop: int) -> None:
        """Let go of rows that have gone, and out of the graphs already."""
        assert self._content is not None
        for place, rows in enumerate(self._rows):
            kept = np.flatnonzero((rows.until >= stop) | self._content.inside[place])
            if len(kept) < len(rows):
                self._inputs[place].value = rows.take(kept)
                self._content.inside[place] = self._content.inside[place][kept]

    def undo(self) -> None:
        """Back to `save`; the graphs are made anew."""
        super().undo()
        self._last = self._content = None

    def load(self, arrays: Arrays) -> None:
        super().load(arrays)
        self._last = self._content = None

    def _kept_rows(self) -> Iterator[Texted]:
        yield from super()._kept_rows()
        if self._last is not None:
            yield self._last

    def state_rows(self) -> Mapping[str, int]:
        return {"content": sum(map(len, self._rows)), "answer": 0 if self._last is None else len(self._last)}


class _Named(Mapping[IRI, Graph]):
    """The named graphs of the background and, for who asks by name, the windows: GRAPH ?g does not range over windows."""

    def __init__(self, named: Mapping[IRI, Graph], windows: Mapping[IRI, Graph]) -> None:
        self._named = named
        self._windows = windows

    def __getitem__(self, name: IRI) -> Graph:
        window = self._windows.get(name)
        return self._named[name] if window is None else window

    def __iter__(self) -> Iterator[IRI]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def __contains__(self, name: object) -> bool:
        return name in self._named or name in self._windows


def _lexical(term: Term) -> str:
    assert isinstance(term, Literal)  # by `_given`, and by the aggregates over it
    return term.lexical


def _rarest_first(pattern: Pattern, static: Graph) -> Pattern:
    """The triple patterns of each BGP, those with fewest static triples first: a join then starts from the stream, which is
    small, and looks the repository up."""

    def count(triple: TriplePattern) -> int:
        nodes = triple.places
        return static.count(*(getattr(node, "term", None) for node in nodes))

    def sort(node: Algebra) -> Algebra:
        if not isinstance(node, BGP) or len(node.triples) < 2:
            return node
        ordered = tuple(sorted(node.triples, key=count))
        return node if ordered == node.triples else BGP(ordered)

    return rewrite(pattern, sort)
