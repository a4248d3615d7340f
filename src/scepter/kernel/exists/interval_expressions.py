"""Expressions over solutions as terms: SPARQL's, with the time functions, and EXISTS over what has ended by then.

Time functions and EXISTS become variables that a solution's bindings answer when they are asked: SPARQL's evaluator needs to
know nothing of time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from scepter.algebra.expressions import Call, Exists, Expression, Variable
from scepter.algebra.timed import DURATION, START, TIME_FUNCTIONS
from scepter.algebra.walk import find, rewrite
from scepter.kernel.condition.time_terms import time_term
from scepter.kernel.exists.solution import Timed
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.expressions import compile_condition, compile_expression
from scepter.physical.planning.pattern_properties import outermost, without_exists
from scepter.rdf.terms import Term
from scepter.rdf.values import ExpressionError, boolean
from scepter.timeline import TimeKind

Ask: TypeAlias = Callable[[Row, Timed, int | None], Term]
"""The answer of a time function or an EXISTS, for a mapping, the solution whose interval counts, and the end of the one that
asks (None where it is timeless); KeyError where there is none."""


Value: TypeAlias = Callable[[Row, Timed, int | None], Term | None]
"""The value of an expression, None for an error."""


class _Asked(dict[str, Term]):
    """A solution's bindings, and what is asked of it only when it is."""

    __slots__ = ("answers", "solution", "until")

    def __init__(self, row: Mapping[str, Term], solution: Timed, until: int | None, answers: Mapping[str, Ask]) -> None:
        super().__init__(row)
        self.solution = solution
        self.until = until
        self.answers = answers

    def __missing__(self, name: str) -> Term:
        return self.answers[name](self, self.solution, self.until)


class Expressions:
    """Compiles the expressions of one pattern; `within` answers the EXISTS in them."""

    def __init__(self, kind: TimeKind, context: Context, within: Callable[[Exists], Callable[[Row, int | None], bool]]) -> None:
        self.context = context
        self._kind = kind
        self._within = within

    def condition(self, expression: Expression) -> Callable[[Row, Timed, int | None], bool]:
        """A FILTER, for the mapping it sees, the solution whose interval it speaks of, and by when what it asks for has ended.
        In an optional group it speaks of that group's interval, and asks for a mandatory solution."""
        asked, answers = self._rewritten(expression)
        test, each = compile_condition(asked), self._contexts(expression)
        return lambda row, solution, until: test(_Asked(row, solution, until, answers), each())

    def value(self, expression: Expression) -> Value:
        """An expression's value, None for an error."""
        asked, answers = self._rewritten(expression)
        compiled, each = compile_expression(asked), self._contexts(expression)

        def value(row: Row, solution: Timed, until: int | None) -> Term | None:
            try:
                return compiled(_Asked(row, solution, until, answers), each())
            except ExpressionError:
                return None

        return value

    def asking(self, expression: Expression) -> tuple[Expression, Callable[[Timed], Row]]:
        """For aggregates, which look at rows alone: the expression over plain variables, and rows that bind them."""
        asked, answers = self._rewritten(expression)

        def row(solution: Timed) -> Row:
            found = dict(solution.row)
            for name, answer in answers.items():
                try:
                    found[name] = answer(solution.row, solution, solution.end)
                except KeyError:
                    continue
            return found

        return asked, row

    def _rewritten(self, expression: Expression) -> tuple[Expression, dict[str, Ask]]:
        answers: dict[str, Ask] = {}
        outer = outermost(expression)
        for exists in outer:
            answers[_mark(exists)] = self._existing(exists)
        for call in find(expression, Call):
            if call.function in TIME_FUNCTIONS:
                answers[f"_:{call.function}()"] = _time(call.function, self._kind)
        marked = without_exists(expression, {id(exists): _mark(exists) for exists in outer})

        def timed(node: Expression) -> Expression:
            return Variable(f"_:{node.function}()") if isinstance(node, Call) and node.function in TIME_FUNCTIONS else node

        return rewrite(marked, timed), answers  # type: ignore[arg-type]

    def _existing(self, exists: Exists) -> Ask:
        test = self._within(exists)
        return lambda row, _, until: boolean(test(row, until))

    def _contexts(self, expression: Expression) -> Callable[[], Context]:
        """BNODE("label") makes one node per solution, so its labels start anew."""
        if any(call.function == "BNODE" and call.arguments for call in find(expression, Call)):
            return lambda: replace(self.context, labels={})
        return lambda: self.context


def _mark(exists: Exists) -> str:
    return f"_:exists{id(exists)}"


def _time(function: str, kind: TimeKind) -> Ask:
    def value(_: Row, solution: Timed, __: int | None) -> Term:
        if solution.start is None or solution.end is None:
            raise KeyError(function)  # timeless: the function has no value, which is an error in SPARQL's sense
        ticks = solution.end - solution.start if function == DURATION else solution.end
        return time_term(function, solution.start if function == START else ticks, kind)

    return value
