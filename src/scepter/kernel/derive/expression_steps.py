"""Expressions of a linear rule as steps of a stack, for the compiled loop that computes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from scepter.algebra.arithmetic import amount_of
from scepter.algebra.expressions import Arithmetic, Constant, Expression, Negate, Variable
from scepter.kernel.condition.calculation import OPEN
from scepter.kernel.derive.one_pass_search import NEGATED, NUMBER, OPERATOR, Figures, Program
from scepter.physical.planning.linear_rules import CONSTANT, LEFT, RIGHT, VALUE, Linear, Source
from scepter.rdf.terms import Literal, Term


@dataclass(frozen=True, slots=True)
class Steps:
    """A program over the figures of rows: a column for each value, then for each other number that is asked for or computed."""

    compiled: Program
    columns: tuple[int, ...]
    """Which column of the left side each column of figures is; -1 for a value that is not carried on."""
    rights: tuple[int, ...]
    numbers: Figures


def program_of(rule: Linear) -> Steps | None:
    """What computes a rule's values; None where it has none."""
    return _Writer(rule).written() if rule.values else None


@dataclass(slots=True)
class _Writer:
    rule: Linear
    columns: list[int] = field(default_factory=list)
    rights: list[int] = field(default_factory=list)
    numbers: list[tuple[int, int, int]] = field(default_factory=list)

    def written(self) -> Steps:
        carried, values = self.rule.carried, self.rule.values
        self.columns = [carried.index((VALUE, k)) if (VALUE, k) in carried else -1 for k in range(len(values))]
        expressions = [list(self._steps(value.expression, value.asked)) for value in values]
        self.columns += [column for column in sorted(self.rule.holding(VALUE)) if column not in self.columns]
        while len(expressions) < len(self.columns):  # a column may be carried on from another one
            expressions.append([self._place(carried[self.columns[len(expressions)]])])
        steps = np.array([step for each in expressions for step in each], np.int64).reshape(-1, 2)
        ends = np.cumsum([len(each) for each in expressions], dtype=np.int64)
        numbers = np.array(self.numbers, np.int64).reshape(-1, 3)
        figures = Figures(*(np.ascontiguousarray(numbers[None, :, i]) for i in range(3)))
        return Steps(Program(steps, ends, len(values)), tuple(self.columns), tuple(self.rights), figures)

    def _steps(self, expression: Expression, asked: Mapping[str, Source]) -> Iterator[tuple[int, int]]:
        match expression:
            case Variable(name):
                yield self._place(asked[name])
            case Constant(term):
                yield self._number(term)
            case Negate(operand):
                yield from self._steps(operand, asked)
                yield NEGATED, 0
            case Arithmetic(operator, left, right):
                yield from self._steps(left, asked)
                yield from self._steps(right, asked)
                yield OPERATOR, "+-*/".index(operator)
            case _:
                raise AssertionError("no arithmetic")

    def _place(self, source: Source) -> tuple[int, int]:
        kind, column = source
        if kind == VALUE:
            return source
        if kind in (LEFT, RIGHT):
            columns = self.columns if kind == LEFT else self.rights
            if column not in columns:
                columns.append(column)
            return kind, columns.index(column)
        return self._number(self.rule.constants[column] if kind == CONSTANT else None)

    def _number(self, term: Term | None) -> tuple[int, int]:
        amount = amount_of(term) if isinstance(term, Literal) else None
        self.numbers.append((0, 0, OPEN) if amount is None else (amount[0], amount[1], int(amount[2])))
        return NUMBER, len(self.numbers) - 1
