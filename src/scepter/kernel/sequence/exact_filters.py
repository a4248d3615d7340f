"""The exact verdict on a pair of run and row: by the SPARQL evaluator, remembered by the ids it depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Call, Exists, Expression, IterationAggregate
from scepter.algebra.scope import mentioned_variables
from scepter.algebra.walk import find
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.runs import Runs
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.expressions import holds
from scepter.kernel.texts import Texts
from scepter.physical.sequence_plan import QueryPlan, StatefulFilter
from scepter.rdf.terms import Term
from scepter.rdf.values import ExpressionError, arithmetic, order_key, to_literal

_REMEMBER = 200_000
_UNSTEADY = frozenset(("RAND", "UUID", "STRUUID", "BNODE", "NOW"))


def holds_all(conditions: tuple[Expression, ...], bindings: Mapping[str, Term], context: Context) -> bool:
    """Whether every condition is true; an error counts as false."""
    return all(holds(condition, bindings, context) for condition in conditions)


class Exact:
    """Decides stateful filters exactly; also computes aggregates over iterations."""

    def __init__(
        self,
        plan: QueryPlan,
        lineage: Lineage,
        parts: Mapping[str, int],
        dataset: Dataset,
        texts: Texts,
        graphs: dict[int, Graph],
    ) -> None:
        """`graphs` are those of the events, by their numbers, where a filter with EXISTS looks at them."""
        self._plan = plan
        self._lineage = lineage
        self._dataset = dataset
        self._parts = parts
        self._memory: dict[tuple[object, ...], bool] = {}
        self._uses = [[_Uses(b.stateful, plan) for b in atom.branches] for atom in plan.atoms]
        self._texts = texts
        self._graphs = graphs

    def decide(self, runs: Runs, places: Int64, rows: Solutions, at: Int64, atom: int, continuing: bool) -> NDArray[np.bool_]:
        """The verdict on each pair (runs[places[i]], rows[at[i]])."""
        verdicts = np.empty(len(places), np.bool_)
        for i, (place, row) in enumerate(zip(places.tolist(), at.tolist(), strict=True)):
            branch = int(rows.branch[row])
            uses = self._uses[atom][branch]
            key = uses.key(runs, place, rows, row, self._plan.atoms[atom].slots, (atom, branch, continuing))
            verdict = None if key is None else self._memory.get(key)
            if verdict is None:
                verdict = self._judge(runs, place, rows, row, atom, branch, continuing)
                if key is not None:
                    if len(self._memory) > _REMEMBER:
                        self._memory.clear()
                    self._memory[key] = verdict
            verdicts[i] = verdict
        return verdicts

    def _judge(self, runs: Runs, place: int, rows: Solutions, row: int, atom: int, branch: int, continuing: bool) -> bool:
        plan = self._plan.atoms[atom]
        before = self.bindings(runs, place)
        bindings = dict(before)
        if continuing:
            for slot in self._local(atom):
                bindings.pop(self._plan.variables[slot], None)
        for column, slot in enumerate(plan.slots):
            if id_ := int(rows.ids[row, column]):
                bindings[self._plan.variables[slot]] = self._texts.known(int(rows.refs[row, column]), id_)
        node = int(runs.node[place])
        for condition in plan.branches[branch].stateful:
            if condition.previous and not continuing:
                continue
            context = Context(
                graph=self._graphs.get(int(rows.events[row, condition.scan]), _EMPTY),
                dataset=self._dataset,
                previous=before if continuing else None,
                iterations=lambda aggregate: self.aggregate(aggregate, node),
            )
            if not holds(condition.expression, bindings, context):
                return False
        return True

    def _local(self, atom: int) -> frozenset[int]:
        for chain in self._plan.chains:
            for step in chain.steps:
                if step.atom == atom and step.iteration is not None:
                    return step.iteration.local
        return frozenset()

    def bindings(self, runs: Runs, place: int, slots: Sequence[int] | None = None) -> dict[str, Term]:
        """A run's mapping as terms, or what it binds of some slots."""
        names, ids, refs = self._plan.variables, runs.ids[place].tolist(), runs.refs[place].tolist()
        return {names[s]: self._texts.known(refs[s], ids[s]) for s in (range(len(ids)) if slots is None else slots) if ids[s]}

    def aggregate(self, aggregate: IterationAggregate, node: int) -> Term:
        """COUNT, SUM, … over the iterations of a part up to a node (SPAseq rule 7)."""
        which = self._plan.aggregated.index((aggregate.part, self._plan.variables.index(aggregate.variable.name)))
        refs = self._lineage.values(node, self._parts[aggregate.part], which)
        if aggregate.function == "COUNT":
            return to_literal(len(refs))
        return fold(aggregate.function, [self._texts.term(ref) for ref in refs.tolist()])


_EMPTY = Graph()


class _Uses:
    """What the verdict of a branch's filters depends on."""

    def __init__(self, filters: tuple[StatefulFilter, ...], plan: QueryPlan) -> None:
        expressions = [f.expression for f in filters]
        names = frozenset().union(*(mentioned_variables(e) for e in expressions))
        self._slots = tuple(plan.variables.index(n) for n in sorted(names) if n in plan.variables)
        self._node = any(True for e in expressions for _ in find(e, IterationAggregate))
        self._event = any(True for e in expressions for _ in find(e, Exists))
        self._steady = not any(call.function in _UNSTEADY for e in expressions for call in find(e, Call))

    def key(
        self, runs: Runs, place: int, rows: Solutions, row: int, columns: tuple[int, ...], what: tuple[object, ...]
    ) -> tuple[object, ...] | None:
        if not self._steady or self._node or self._event:
            return None
        of_run = tuple(runs.ids[place, s] for s in self._slots)
        of_row = tuple(rows.ids[row, columns.index(s)] for s in self._slots if s in columns)
        return (*what, of_run, of_row)


def fold(function: str, values: list[Term]) -> Term:
    """An aggregate over the iterations' values, in order; raises ExpressionError where there is none."""
    if function in ("SUM", "AVG"):
        total: Term = to_literal(0)
        for value in values:
            total = arithmetic("+", total, value)
        return total if function == "SUM" or not values else arithmetic("/", total, to_literal(len(values)))
    if not values:
        raise ExpressionError(f"{function} of no value")
    return _CHOICES[function](values)


_CHOICES: dict[str, Callable[[list[Term]], Term]] = {
    "MIN": lambda values: min(values, key=order_key),  # in SPARQL's order of any terms (SPARQL 1.1 §18.5.1.5)
    "MAX": lambda values: max(values, key=order_key),
    "FIRST": lambda values: values[0],
    "LAST": lambda values: values[-1],
}
