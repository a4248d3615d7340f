"""Complete runs as the rows of an answer: what the query shows of them, each match once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scepter.algebra.query import Select
from scepter.algebra.scope import mentioned_variables
from scepter.kernel.encoding import encoded
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64, Rows, empty, lasting
from scepter.kernel.sequence.exact_filters import Exact
from scepter.kernel.sequence.match_identity import one_of_each
from scepter.kernel.sequence.runs import Runs
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import Compiled, compile_expression
from scepter.kernel.texts import Texts
from scepter.physical.sequence_plan import QueryPlan
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term
from scepter.rdf.values import ExpressionError


class ShownRuns:
    """Makes rows of runs: the columns of variables as they are, and the values of expressions."""

    def __init__(self, plan: QueryPlan, exact: Exact, lineage: Lineage, key: TermKey, texts: Texts) -> None:
        self._plan, self._exact, self._lineage = plan, exact, lineage
        self._key, self._texts = key, texts
        self._context = Context()
        columns = plan.result.columns if isinstance(plan.result, Select) else ()
        self._computed: list[tuple[str, Compiled]] = [(v.name, compile_expression(e)) for v, e in columns if e is not None]
        mentioned = frozenset[str]().union(*(mentioned_variables(e) for _, e in columns if e is not None))
        self._needed = [slot for slot, name in enumerate(plan.variables) if name in mentioned]
        made = {name for name, _ in self._computed}
        self._slots = [-1 if name in made else plan.variables.index(name) for name in plan.shown]
        self._none = empty(len(plan.shown))

    def __call__(self, runs: Runs) -> Rows:
        """The rows of complete runs."""
        if not len(runs):
            return self._none
        rows = Rows(
            runs.ids, runs.refs, runs.number, runs.scale, runs.start, runs.time, *lasting(len(runs)), runs.node
        ).columns(self._slots)  # fmt: skip
        if self._computed:
            self._compute(runs, rows)
        if self._plan.aggregated:
            rows = rows.take(self._told_apart(runs, rows))
        if isinstance(self._plan.result, Select) and self._plan.result.distinct:
            first, _ = distinct(np.column_stack([rows.end.view(np.uint64), rows.start.view(np.uint64), rows.ids]))
            rows = rows.take(np.sort(first))
        return rows

    def _told_apart(self, runs: Runs, rows: Rows) -> Int64:
        """Iterations that differ in a value bound anew since are told apart by the aggregates only (SPAseq rule 11)."""
        made = [column for column, slot in enumerate(self._slots) if slot < 0]
        return one_of_each(
            self._lineage, runs, lambda row: (int(runs.start[row]), int(runs.time[row]), rows.ids[row, made].tobytes())
        )

    def _compute(self, runs: Runs, rows: Rows) -> None:
        """Values are made now: they may look at iterations that are about to be let go."""
        values = list(self._values(runs))
        for name, _ in self._computed:
            column = self._plan.shown.index(name)
            terms = [row.get(name) for row in values]
            rows.ids[:, column], rows.refs[:, column], rows.number[:, column], rows.scale[:, column] = encoded(
                terms, self._key, self._texts
            )

    def _values(self, runs: Runs) -> Iterator[dict[str, Term]]:
        for r in range(len(runs)):
            bindings = self._exact.bindings(runs, r, self._needed)
            node = int(runs.node[r])
            context = Context(
                dataset=self._context.dataset,
                now=self._context.now,
                fresh=self._context.fresh,
                iterations=lambda aggregate, node=node: self._exact.aggregate(aggregate, node),  # type: ignore[misc]
            )
            row: dict[str, Term] = {}
            for name, expression in self._computed:
                try:
                    bindings[name] = row[name] = expression(bindings, context)
                except ExpressionError:
                    continue  # SPARQL: an error leaves the variable unbound
            yield row
