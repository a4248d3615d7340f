"""The operators behind EXISTS that no join answers: `Remembered` keeps what may be looked at, `Asked` and `AskedConditions`
look."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from scepter.algebra.expressions import Constant, Expression
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.encoding import decoded, encoded
from scepter.kernel.exists.exists_search import Search
from scepter.kernel.exists.history import History
from scepter.kernel.exists.solution import Timed
from scepter.kernel.exists.timed_expressions import Expressions
from scepter.kernel.operator import ByRows, Stateless, Until
from scepter.kernel.rows import TIMELESS, Int64, Mask, Rows, concat
from scepter.kernel.sparql.context import Context
from scepter.kernel.state.container import Arrays
from scepter.kernel.texts import Texts
from scepter.physical.nodes import instant_nodes
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term, Triple
from scepter.rdf.values import boolean
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

    # ---- state

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = [len(parts) for parts in self._rows]
        self.history.save()

    def undo(self) -> None:
        """Back to `save`."""
        for parts, count in zip(self._rows, self._saved, strict=True):
            del parts[count:]
        self.history.undo()

    def dump(self) -> Arrays:
        """Per scan the rows that were new."""
        tables = [concat(parts, width) for parts, width in zip(self._rows, self._widths, strict=True)]
        return {name: column for i, table in enumerate(tables) for name, column in table.dump(str(i)).items()}

    def load(self, arrays: Arrays) -> None:
        """Take over what `dump` gave."""
        self.history.clear()
        self._rows = [[Rows.load(arrays, str(i))] for i in range(len(self._widths))]
        for place, (rows,) in enumerate(self._rows):
            self._remember(place, rows)
        self.save()

    def _kept_rows(self) -> Iterator[Rows]:
        return (rows for parts in self._rows for rows in parts)

    def state_rows(self) -> Mapping[str, int]:
        """What can be looked at."""
        return {"solutions": len(self.history)}


class Asked(Stateless):
    """Answers each EXISTS for each row."""

    def __init__(
        self, node: instant_nodes.Asked, remembered: Remembered, context: Context, kind: TimeKind, key: TermKey, texts: Texts
    ) -> None:
        self.schema: Schema = node.schema
        self._names = node.input.schema.variables
        self._tests = [Search(exists, remembered.history, context, kind, plain=node.plain) for _, exists in node.asked]
        self._key, self._texts = key, texts

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows with their answers."""
        rows = inputs[0]
        wide = rows.columns((*range(rows.width), *(-1 for _ in self._tests)))
        for column, test in enumerate(self._tests, rows.width):
            found = [boolean(test(_seen(rows, self._names, row, self._texts), _end(rows, row))) for row in range(len(rows))]
            made = encoded(found, self._key, self._texts)
            wide.ids[:, column], wide.refs[:, column], wide.number[:, column], wide.scale[:, column] = made
        return wide


class AskedConditions:
    """Conditions of partners, with EXISTS in them, over rows that have the mappings of both sides."""

    def __init__(
        self,
        conditions: Sequence[Expression],
        names: Sequence[str],
        remembered: Remembered,
        context: Context,
        kind: TimeKind,
        texts: Texts,
        *,
        plain: bool,
    ) -> None:
        def within(exists: object) -> Search:
            return Search(exists, remembered.history, context, kind, plain=plain)  # type: ignore[arg-type]

        expressions = Expressions(kind, context, within)
        self._tests = [expressions.condition(condition) for condition in conditions]
        self._names, self._texts = tuple(names), texts

    def holds(self, rows: Rows, until: Int64) -> Mask:
        """Which rows meet all conditions; they speak of the rows' own interval and ask what has ended by `until`."""
        found: Mask = np.ones(len(rows), np.bool_)
        for row in range(len(rows)):
            bindings = _seen(rows, self._names, row, self._texts)
            timed = rows.start[row] <= rows.end[row]
            solution = Timed(bindings, int(rows.start[row]), int(rows.end[row])) if timed else Timed(bindings)
            known = None if until[row] == TIMELESS[1] else int(until[row])
            found[row] = all(test(bindings, solution, known) for test in self._tests)
        return found


def _seen(rows: Rows, names: Sequence[str], row: int, texts: Texts) -> dict[str, Term]:
    """What an EXISTS sees of a row: nothing that is hidden."""
    return {name: term for name, term in decoded(rows, names, row, texts).items() if not name.startswith("_:")}


def _end(rows: Rows, row: int) -> int | None:
    return int(rows.end[row]) if rows.start[row] <= rows.end[row] else None
