"""The operators behind EXISTS over windows that no join answers: `LiveGraph` keeps what is in the windows, `AskedNow` and
`LiveConditions` look at it as it was when a row ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from scepter.algebra.expressions import Expression
from scepter.kernel.encoding import decoded, encoded
from scepter.kernel.operator import ByRows, Stateless, Until
from scepter.kernel.rows import TIMELESS, Int64, Mask, Rows, concat, empty
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.expressions import Test, compile_condition
from scepter.kernel.star.expiry import Held
from scepter.kernel.state.state_parts import InParts, KeptRows
from scepter.kernel.texts import Texts
from scepter.physical.nodes import star_nodes
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.star_nodes import NUMBER
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term, Triple
from scepter.rdf.values import boolean


class _Then(Graph):
    """Static triples, and those that were in the windows at an instant."""

    def __init__(self, static: Graph, streamed: Graph) -> None:
        super().__init__()
        self._static, self._streamed = static, streamed

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Triple]:
        yield from self._static
        yield from (triple for triple in self._streamed if triple not in self._static)

    def __contains__(self, triple: object) -> bool:
        return triple in self._streamed or triple in self._static

    def nodes(self) -> Mapping[Term, None]:
        """The subjects and objects."""
        return {**self._static.nodes(), **self._streamed.nodes()}

    def has_node(self, term: Term) -> bool:
        """Whether a term is a subject or an object."""
        return self._streamed.has_node(term) or self._static.has_node(term)

    def match(self, subject: Term | None, predicate: Term | None, object: Term | None) -> Sequence[Triple]:
        """The triples with these terms; None stands for any."""
        known = self._static.match(subject, predicate, object)
        more = [t for t in self._streamed.match(subject, predicate, object) if t not in self._static]
        return [*known, *more] if more else known


class LiveGraph(ByRows, InParts):
    """The occurrences in the windows, to be asked for any instant that is not closed for good."""

    def __init__(self, node: star_nodes.LiveGraph, static: Graph, held: Held | None, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._static, self._held, self._texts = static, held, texts
        self._number = node.input.schema.column(NUMBER)
        self._kept = KeptRows(len(node.input.schema.variables))
        self._parts = {"": self._kept}
        self._then: tuple[int, Graph] | None = None

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Nothing: it is looked at."""
        (rows,) = inputs
        self._kept.value, self._then = concat([self._kept.value, rows], rows.width), None
        return empty(0)

    def at(self, instant: int | None) -> Graph:
        """What was there at an instant; None: what is static."""
        if instant is None:
            return self._static
        if self._then is None or self._then[0] != instant:
            there = np.flatnonzero((self._kept.value.end <= instant) & (self._until() > instant))
            triples = map(Triple, *(self._terms(there, position) for position in range(3)))
            self._then = instant, _Then(self._static, Graph(triples))
        return self._then[1]

    def _terms(self, rows: Int64, position: int) -> Iterator[Term]:
        return map(
            self._texts.known, self._kept.value.refs[rows, position].tolist(), self._kept.value.ids[rows, position].tolist()
        )

    def _until(self) -> Int64:
        if self._held is None:
            return self._kept.value.until
        numbers = self._kept.value.number[:, self._number].astype(np.int64)
        return np.where(numbers > 0, self._held.until(numbers), self._kept.value.until)

    # ---- state

    def undo(self) -> None:
        """Back to `save`."""
        super().undo()
        self._then = None

    def evict(self, time: int) -> None:
        """Let go of what is no longer there after `time`."""
        there = self._until() > time + 1
        if not there.all():
            self._kept.value = self._kept.value.take(there)

    def state_rows(self) -> Mapping[str, int]:
        """What can be looked at."""
        return {"live triples": len(self._kept.value)}


class AskedNow(Stateless):
    """Answers each EXISTS for each row."""

    def __init__(self, node: star_nodes.AskedNow, live: LiveGraph, context: Context, key: TermKey, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._names = node.input.schema.variables
        self._tests = [compile_condition(exists) for _, exists in node.asked]
        self._live, self._context, self._key, self._texts = live, context, key, texts

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows with their answers."""
        rows = inputs[0]
        wide = rows.columns((*range(rows.width), *(-1 for _ in self._tests)))
        found: list[list[Term | None]] = [[] for _ in self._tests]
        for row in range(len(rows)):
            timed = bool(rows.start[row] <= rows.end[row])
            context = replace(self._context, graph=self._live.at(int(rows.end[row]) if timed else None))
            seen = _seen(rows, self._names, row, self._texts)
            for test, answers in zip(self._tests, found, strict=True):
                answers.append(boolean(test(seen, context)))
        for column, answers in enumerate(found, rows.width):
            made = encoded(answers, self._key, self._texts)
            wide.ids[:, column], wide.refs[:, column], wide.number[:, column], wide.scale[:, column] = made
        return wide


class LiveConditions:
    """Conditions of partners, with EXISTS in them, over rows that have the mappings of both sides."""

    def __init__(
        self, conditions: Sequence[Expression], names: Sequence[str], live: LiveGraph, context: Context, texts: Texts
    ) -> None:
        self._tests: list[Test] = [compile_condition(condition) for condition in conditions]
        self._names, self._live, self._context, self._texts = tuple(names), live, context, texts

    def holds(self, rows: Rows, until: Int64) -> Mask:
        """Which rows meet all conditions; they ask what was there at `until`."""
        found: Mask = np.ones(len(rows), np.bool_)
        for row in range(len(rows)):
            known = None if until[row] == TIMELESS[1] else int(until[row])
            context = replace(self._context, graph=self._live.at(known))
            seen = decoded(rows, self._names, row, self._texts)
            found[row] = all(test(seen, context) for test in self._tests)
        return found


def _seen(rows: Rows, names: Sequence[str], row: int, texts: Texts) -> dict[str, Term]:
    """What an EXISTS sees of a row: nothing that is hidden."""
    return {name: term for name, term in decoded(rows, names, row, texts).items() if not name.startswith("_:")}
