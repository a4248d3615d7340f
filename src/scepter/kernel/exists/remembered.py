"""`Remembered`: what an EXISTS that no join answers may look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from scepter.algebra.expressions import Constant, Exists
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.encoding import decoded
from scepter.kernel.exists.exists_answers import Asking
from scepter.kernel.exists.exists_search import Search
from scepter.kernel.exists.history import History
from scepter.kernel.exists.interval_expressions import Expressions
from scepter.kernel.operator import ByRows, Until
from scepter.kernel.rows import Int64, Rows, concat
from scepter.kernel.sparql.context import Context
from scepter.kernel.state.container import Arrays
from scepter.kernel.texts import Texts
from scepter.physical.nodes import instant_nodes
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.terms import Triple
from scepter.timeline import TimeKind


class Remembered(ByRows):
    """Occurrences of some triple patterns, and graphs of events, kept for good: an EXISTS may ask for anything so far.

    State: the rows that were new, per scan; the history is made of them.
    """

    def __init__(self, node: instant_nodes.Remembered, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._texts = texts
        self._triples: list[Callable[[Rows, int], Triple]] = [self._filled(pattern) for pattern, _ in node.scans]
        self._graphs = len(node.graphs)
        self._widths = [len(each.schema.variables) for each in node.inputs]
        self.history = History(once=node.once)
        self._rows: list[list[Rows]] = [[] for _ in node.inputs]
        self._saved = [0 for _ in node.inputs]

    def _filled(self, pattern: TriplePattern) -> Callable[[Rows, int], Triple]:
        nodes = pattern.places
        names = tuple(dict.fromkeys(node.name for node in nodes if not isinstance(node, Constant)))

        def triple(rows: Rows, row: int) -> Triple:
            terms = decoded(rows, names, row, self._texts)
            return Triple(*(node.term if isinstance(node, Constant) else terms[node.name] for node in nodes))

        return triple

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """When something was remembered; nothing of what."""
        for place, rows in enumerate(inputs):
            new = self._remember(place, rows)
            if len(new):
                self._rows[place].append(rows.take(new))
        return concat([rows.columns(()) for rows in inputs], 0).by_end()

    def _remember(self, place: int, rows: Rows) -> Int64:
        scans = len(self._triples)
        new = []
        for row in range(len(rows)):
            interval = (int(rows.start[row]), int(rows.end[row])) if rows.start[row] <= rows.end[row] else None
            if place >= scans:
                s, p, o = (self._texts.known(int(rows.refs[row, i]), int(rows.ids[row, i])) for i in range(3))
                self.history.add_graph(int(rows.ids[row, 3]), Triple(s, p, o), interval)
                new.append(row)
            elif self.history.add(self._triples[place](rows, row), interval):
                new.append(row)
        return np.array(new, np.int64)

    def asking(self, context: Context, kind: TimeKind, *, plain: bool) -> Asking:
        """Conditions that ask for what has ended by then; `plain`: solutions keep SPARQL's multiplicities inside."""

        def within(exists: Exists) -> Search:
            return Search(exists, self.history, context, kind, plain=plain)

        return Expressions(kind, context, within).condition

    # ---- state

    def save(self) -> None:
        self._saved = [len(parts) for parts in self._rows]
        self.history.save()

    def undo(self) -> None:
        for parts, count in zip(self._rows, self._saved, strict=True):
            del parts[count:]
        self.history.undo()

    def dump(self) -> Arrays:
        tables = [concat(parts, width) for parts, width in zip(self._rows, self._widths, strict=True)]
        return {name: column for i, table in enumerate(tables) for name, column in table.dump(str(i)).items()}

    def load(self, arrays: Arrays) -> None:
        self.history.clear()
        self._rows = [[Rows.load(arrays, str(i))] for i in range(len(self._widths))]
        for place, (rows,) in enumerate(self._rows):
            self._remember(place, rows)
        self.save()

    def _kept_rows(self) -> Iterator[Rows]:
        return (rows for parts in self._rows for rows in parts)

    def state_rows(self) -> Mapping[str, int]:
        return {"solutions": len(self.history)}
