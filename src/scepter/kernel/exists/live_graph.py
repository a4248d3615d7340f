"""`LiveGraph`: what is in the windows, for EXISTS over them that no join answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from scepter.algebra.expressions import Expression
from scepter.kernel.exists.exists_answers import Asking, Test
from scepter.kernel.operator import ByRows, Until
from scepter.kernel.rows import Int64, Rows, concat, empty
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.expressions import compile_condition
from scepter.kernel.star.expiry import Held
from scepter.kernel.state.state_parts import InParts, KeptRows
from scepter.kernel.texts import Texts
from scepter.kernel.window.graph import WindowGraph
from scepter.physical.nodes import star_nodes
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.star_nodes import NUMBER
from scepter.rdf.terms import Term, Triple


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
            then = WindowGraph(self._static)
            for triple in triples:
                then.enter(triple, instant)
            self._then = instant, then
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

    def asking(self, context: Context) -> Asking:
        """Conditions that ask for what was there then."""

        def condition(expression: Expression) -> Test:
            test = compile_condition(expression)
            return lambda row, _, until: test(row, replace(context, graph=self.at(until)))

        return condition

    # ---- state

    def undo(self) -> None:
        super().undo()
        self._then = None

    def evict(self, time: int) -> None:
        """Let go of what is no longer there after `time`."""
        there = self._until() > time + 1
        if not there.all():
            self._kept.value = self._kept.value.take(there)

    def state_rows(self) -> Mapping[str, int]:
        return {"live triples": len(self._kept.value)}
