"""Values and conditions as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from scepter.algebra.expressions import Arithmetic, Call, Compare, Constant, Exists, Expression, Variable
from scepter.algebra.notation import Notation
from scepter.algebra.timed import SPELLING
from scepter.algebra.walk import Algebra, find, rewrite
from scepter.insight.diagnosis.excerpt import Excerpt
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import compile_test, evaluate
from scepter.rdf.terms import Literal, Term
from scepter.rdf.values import DECIMAL, ExpressionError, arithmetic
from scepter.timeline import Duration, TimeKind, format_instant

_LONGEST_VALUE = 60


def _as_written(node: Algebra) -> Algebra:
    """Functions of time as the user writes them."""
    return Call(SPELLING[node.function], ()) if isinstance(node, Call) and node.function in SPELLING else node


@dataclass(frozen=True, slots=True)
class Sentences:
    """Writes about the events of an excerpt, with a query's prefixes."""

    notation: Notation
    excerpt: Excerpt

    @property
    def kind(self) -> TimeKind:
        """Of what kind its times are."""
        return self.excerpt.kind

    def filter(self, condition: Expression) -> str:
        """A condition as the query writes it."""
        return f"FILTER ({self.notation.expression(rewrite(condition, _as_written))})"

    def refused(self, condition: Expression, bindings: Mapping[str, Term], context: Context) -> str:
        """Why a condition does not hold for some values: `was false: 103 > 105`."""
        try:
            compile_test(condition)(bindings, context)
        except ExpressionError as error:
            return f"has no value: {error}" if str(error) else f"has no value: {self._with_values(condition, bindings)}"
        if isinstance(condition, Compare):
            left, right = (evaluate(side, bindings, context) for side in (condition.left, condition.right))
            told = [self._worked_out(*side, bindings) for side in ((condition.left, left), (condition.right, right))]
            return f"was false: {told[0]} {condition.operator} {told[1]}{self._missed_by(condition, left, right)}"
        if next(find(condition, Exists), None) is not None:
            return "was false"
        return f"was false: {self._with_values(condition, bindings)}"

    def _worked_out(self, side: Expression, value: Term, bindings: Mapping[str, Term]) -> str:
        """One side of a comparison: `65`, and where it was calculated how: `0.7 * 90 = 63`."""
        if not isinstance(side, Arithmetic):
            return self.value(value)
        return f"{self._with_values(side, bindings)} = {self.value(value)}"

    def _missed_by(self, condition: Compare, left: Term, right: Term) -> str:
        """How much is missing, where one side can be subtracted from the other."""
        if condition.operator == "!=":
            return ""
        try:
            missing = arithmetic("-", left, right)
        except ExpressionError:
            return ""
        text = missing.lexical.removeprefix("-")
        return "" if condition.operator in "<>" and text in {"0", "0.0", "0.0E0", "PT0S", "NaN"} else f", by {text}"

    def distance(self, condition: Expression, bindings: Mapping[str, Term], context: Context) -> float:
        """By how much a comparison of numbers fails; infinite for all else."""
        if not isinstance(condition, Compare):
            return inf
        try:
            missing = arithmetic("-", *(evaluate(side, bindings, context) for side in (condition.left, condition.right)))
            return abs(float(missing.lexical))
        except (ExpressionError, ValueError):
            return inf

    def _with_values(self, condition: Expression, bindings: Mapping[str, Term]) -> str:
        def value(node: Algebra) -> Algebra:
            return Constant(bindings[node.name]) if isinstance(node, Variable) and node.name in bindings else node

        return self.notation.expression(rewrite(condition, value))

    def value(self, term: Term) -> str:
        """A term, cut where it is long; a decimal is a number, also without a point."""
        text = term.lexical if isinstance(term, Literal) and term.datatype == DECIMAL else self.notation.term(term)
        return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"

    def bindings(self, mapping: Mapping[str, Term]) -> str:
        """A mapping on one line."""
        return ", ".join(f"?{name} = {self.value(term)}" for name, term in mapping.items() if " " not in name)

    def time(self, instant: int) -> str:
        """An instant."""
        return str(format_instant(instant, self.kind))

    def duration(self, ticks: int) -> str:
        """A length of time."""
        return str(ticks) if self.kind is TimeKind.INTEGER else str(Duration(ticks))

    def event(self, number: int, end: int | None = None) -> str:
        """An event by name, or number, and its time."""
        if self.excerpt.event(number) is None:
            return "a constructed event" if end is None else f"a constructed event at {self.time(end)}"
        return self.excerpt.title(number, self.notation)
