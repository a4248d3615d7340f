"""Values and conditions as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scepter.algebra.expressions import Call, Compare, Constant, Exists, Expression, Variable
from scepter.algebra.notation import Notation
from scepter.algebra.timed import SPELLING
from scepter.algebra.walk import Algebra, find, rewrite
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import compile_test, evaluate
from scepter.rdf.terms import IRI, Literal, Term
from scepter.rdf.values import DECIMAL, ExpressionError
from scepter.runtime.diagnosis.excerpt import Excerpt
from scepter.timeline import TimeKind, format_instant

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
            return f"was false: {self.value(left)} {condition.operator} {self.value(right)}"
        if next(find(condition, Exists), None) is not None:
            return "was false"
        return f"was false: {self._with_values(condition, bindings)}"

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

    def event(self, number: int, end: int | None = None) -> str:
        """An event by name, or number, and its time."""
        event = self.excerpt.event(number)
        if event is None:
            return "a constructed event" if end is None else f"a constructed event at {self.time(end)}"
        name = f"event {number + 1}" if event.name is None else self._name(event.name)
        when = self.time(event.end) if event.start == event.end else f"{self.time(event.start)}..{self.time(event.end)}"
        return f"{name} at {when}"

    def _name(self, name: str) -> str:
        return name.removeprefix("_:") if name.startswith("_:") else self.notation.term(IRI(name))
