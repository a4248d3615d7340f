"""Expressions over timed solutions: SPARQL's, with the time functions, and EXISTS over what has ended by then.

Time functions and EXISTS become variables that a solution's bindings answer when they are asked: SPARQL's evaluator needs to
know nothing of time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from scepter.algebra.expressions import Call, Exists, Expression, Variable
from scepter.algebra.timed import DURATION, END, START, TIME_FUNCTIONS
from scepter.algebra.walk import find, rewrite
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.expressions import compile_condition, compile_expression
from scepter.kernel.timed.solutions import Timed
from scepter.rdf.terms import XSD, Literal, Term
from scepter.rdf.values import DATETIME, ExpressionError, to_literal
from scepter.timeline import TimeKind, format_instant

if TYPE_CHECKING:
    from scepter.kernel.timed.history import History

Ask: TypeAlias = Callable[[Row, Timed, int | None], Term]
"""The answer of a time function or an EXISTS, for a mapping, the solution whose interval counts, and the end of the one that
asks (None where it is timeless); KeyError where there is none."""

VOLATILE = frozenset({"RAND", "UUID", "STRUUID", "BNODE"})
"""Functions with another value each time."""


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
    """Compiles the expressions of one query."""

    def __init__(self, kind: TimeKind, context: Context, history: History | None) -> None:
        self._context = context
        self._history = history
        self._times: dict[str, Ask] = {f"_:{name}()": _time(name, kind) for name in TIME_FUNCTIONS}

    def condition(self, expression: Expression) -> Callable[[Row, Timed], bool]:
        """A FILTER: for the mapping it sees and the solution whose interval it speaks of."""
        test = self.optional_condition(expression)
        return lambda row, solution: test(row, solution, solution.end)

    def optional_condition(self, expression: Expression) -> Callable[[Row, Timed, int | None], bool]:
        """The FILTER of an optional group: it speaks of that group's interval, and asks for a mandatory solution."""
        asked, answers = self._rewritten(expression)
        test = compile_condition(asked)
        each = self._contexts(expression)
        if not answers:
            return lambda row, _, __: test(row, each())
        return lambda row, solution, until: test(_Asked(row, solution, until, answers), each())

    def value(self, expression: Expression) -> Callable[[Row, Timed], Term | None]:
        """An expression's value, None for an error."""
        asked, answers = self._rewritten(expression)
        compiled = compile_expression(asked)
        each = self._contexts(expression)

        def value(row: Row, solution: Timed) -> Term | None:
            try:
                return compiled(_Asked(row, solution, solution.end, answers) if answers else row, each())
            except ExpressionError:
                return None

        return value

    def values(self, steps: Sequence[tuple[str, Expression]]) -> Callable[[Timed], Row]:
        """A chain of BINDs: the solution's row with each value that is no error, one after the other.

        They share one set of blank nodes: BNODE("label") twice for one solution is one node.
        """
        compiled = []
        for name, expression in steps:
            asked, answers = self._rewritten(expression)
            compiled.append((name, compile_expression(asked), answers))
        labelled = any(call.function == "BNODE" for _, expression in steps for call in find(expression, Call))

        def values(solution: Timed) -> Row:
            context = replace(self._context, labels={}) if labelled else self._context
            row = dict(solution.row)
            for name, value, answers in compiled:
                try:
                    row[name] = value(_Asked(row, solution, solution.end, answers) if answers else row, context)
                except ExpressionError:
                    continue
            return row

        return values

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

    @property
    def context(self) -> Context:
        """What the expressions see besides their solution."""
        return self._context

    def _rewritten(self, expression: Expression) -> tuple[Expression, dict[str, Ask]]:
        answers: dict[str, Ask] = {}
        for exists in _outermost(expression):
            assert self._history is not None, "an EXISTS was not announced"
            answers[f"_:exists{id(exists)}"] = self._history.ask(exists)
        known = {id(e): f"_:exists{id(e)}" for e in _outermost(expression)}

        def replaced(node: Expression) -> Expression:
            if isinstance(node, Call) and node.function in TIME_FUNCTIONS:
                name = f"_:{node.function}()"
                answers[name] = self._times[name]
                return Variable(name)
            return node

        return _replace(expression, known, replaced), answers

    def _contexts(self, expression: Expression) -> Callable[[], Context]:
        """BNODE("label") makes one node per solution, so its labels start anew."""
        if any(call.function == "BNODE" and call.arguments for call in find(expression, Call)):
            return lambda: replace(self._context, labels={})
        return lambda: self._context


def _outermost(expression: Expression) -> list[Exists]:
    """The EXISTS of an expression that stand in no other EXISTS."""
    found: list[Exists] = []
    inside: set[int] = set()
    for exists in find(expression, Exists):
        if id(exists) not in inside:
            found.append(exists)
            inside.update(id(inner) for inner in find(exists.pattern, Exists))
    return found


def _replace(expression: Expression, known: Mapping[int, str], function: Callable[[Expression], Expression]) -> Expression:
    """EXISTS first: what stands inside them is theirs."""
    if known:
        marks = {id(e): Variable(known[id(e)]) for e in _outermost(expression)}
        originals = {id(e): e for e in _outermost(expression)}

        def without(node: Expression) -> Expression:
            # `rewrite` gives an EXISTS whose inside is untouched as the same object.
            return marks[id(node)] if id(node) in originals else node

        expression = rewrite(expression, without)  # type: ignore[arg-type]
    return rewrite(expression, function)  # type: ignore[arg-type]


def _time(name: str, kind: TimeKind) -> Ask:
    def start(_: Row, solution: Timed, __: int | None) -> Term:
        return instant_literal(_known(solution.start, name), kind)

    def end(_: Row, solution: Timed, __: int | None) -> Term:
        return instant_literal(_known(solution.end, name), kind)

    def duration(_: Row, solution: Timed, __: int | None) -> Term:
        return duration_literal(_known(solution.end, name) - _known(solution.start, name), kind)

    return {START: start, END: end, DURATION: duration}[name]


def _known(time: int | None, name: str) -> int:
    if time is None:
        raise KeyError(name)  # timeless: the function has no value, which is an error in SPARQL's sense
    return time


def instant_literal(time: int, kind: TimeKind) -> Literal:
    """A time as a literal.

    >>> instant_literal(7, TimeKind.INTEGER).lexical
    '7'
    """
    return to_literal(time) if kind is TimeKind.INTEGER else Literal(str(format_instant(time, kind)), DATETIME)


def duration_literal(ticks: int, kind: TimeKind) -> Literal:
    """A duration as a literal: an integer, or an xsd:duration.

    >>> duration_literal(86_400_000_000 + 1_500_000, TimeKind.DATETIME).lexical
    'P1DT1.5S'
    """
    if kind is TimeKind.INTEGER:
        return to_literal(ticks)
    seconds, fraction = divmod(ticks, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    day, hour = divmod(hours, 24)
    decimals = f".{fraction:06d}".rstrip("0") if fraction else ""
    clock = "".join(f"{amount}{unit}" for amount, unit in ((hour, "H"), (minute, "M")) if amount)
    clock += f"{second}{decimals}S" if second or fraction else ""
    text = (f"{day}D" if day else "") + (f"T{clock}" if clock else "")
    return Literal(f"P{text}" if text else "PT0S", XSD + "duration")
