"""The aggregates of groups in columns as terms, made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from scepter.algebra.expressions import Aggregate, Variable
from scepter.kernel.runs import Runs
from scepter.kernel.solutions import Int64
from scepter.kernel.sparql.aggregates import compile_aggregate
from scepter.kernel.sparql.context import Context
from scepter.kernel.texts import Texts
from scepter.kernel.timed.members import Entered
from scepter.kernel.timed.set_functions import WHOLE, extremes, sums
from scepter.rdf.terms import Literal, Term
from scepter.rdf.values import DECIMAL, ExpressionError, to_literal
from scepter.rdf.values.arithmetic import calculate

Made: TypeAlias = Callable[[int], Term | None]
"""The value for a result, by its number; None is an error."""
Decode: TypeAlias = Callable[[int, str], Term]
"""What a member binds a variable to."""


class Aggregation:
    """One set function of a variable."""

    def __init__(self, aggregate: Aggregate, context: Context) -> None:
        self._function = aggregate.function
        self.operand = aggregate.operand.name if isinstance(aggregate.operand, Variable) else ""
        self._exact = compile_aggregate(aggregate)
        self._context = context

    @property
    def adds(self) -> bool:
        """Whether it matters that a whole number is a decimal."""
        return self._function == "SUM"

    def __call__(self, entered: Entered, texts: Texts) -> tuple[Int64, Callable[[Decode], Made]]:
        """The members that a value is one of (none for computed ones), and the values, given how to decode members later."""
        low, high = entered.low, entered.high
        count = (high - low).tolist()
        if self._function == "COUNT":
            return _NONE, lambda decode: lambda i: to_literal(count[i])
        if self._function == "SAMPLE":
            return low, lambda decode: lambda i: decode(int(low[i]), self.operand)
        number, scale = entered.members.numbers(self.operand)
        if self._function in ("MIN", "MAX"):
            chosen = extremes(low, high, number, scale, self._function == "MAX")
            open_ = self._decided(entered, np.flatnonzero(chosen < 0), texts)
            return chosen[
                chosen >= 0
            ], lambda decode: lambda i: open_[i] if i in open_ else decode(int(chosen[i]), self.operand)
        total = sums(low, high, number, scale)
        open_ = self._decided(entered, np.flatnonzero(total.is_open), texts)
        mean = self._function == "AVG"

        def value(i: int) -> Term | None:
            if i in open_:
                return open_[i]
            return to_literal(calculate("/", total.value(i), count[i]) if mean else total.value(i))

        return _NONE, lambda decode: value

    def _decided(self, entered: Entered, results: Int64, texts: Texts) -> dict[int, Term | None]:
        """What columns leave open, by the exact twin, now: texts may be gone later."""
        return {i: self._decide(entered, i, texts) for i in results.tolist()}

    def _decide(self, entered: Entered, result: int, texts: Texts) -> Term | None:
        members = range(int(entered.low[result]), int(entered.high[result]))
        rows = [{self.operand: entered.members.term(row, self.operand, texts)} for row in members]
        try:
            return self._exact(rows, self._context)
        except ExpressionError:
            return None


_NONE = np.empty(0, np.int64)


def with_whole_decimals(runs: Runs, slots: Sequence[int], texts: Texts) -> Runs:
    """Runs in which some slots' decimals without digits after the point are told from integers."""
    scale = runs.scale.copy()
    for slot in slots:
        rows = np.flatnonzero(scale[:, slot] == 0)
        different, first, place = np.unique(runs.ids[rows, slot], return_index=True, return_inverse=True)
        refs = runs.refs[rows[first], slot]
        terms = [texts.known(ref, id_) for ref, id_ in zip(refs.tolist(), different.tolist(), strict=True)]
        whole = np.array([isinstance(term, Literal) and term.datatype == DECIMAL for term in terms], np.bool_)
        scale[rows[whole[place]], slot] = WHOLE
    return replace(runs, scale=scale)
