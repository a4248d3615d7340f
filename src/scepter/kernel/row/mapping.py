"""Operators on one row at a time: `Extend`, `Project`, `Union`. Stateless; intervals and lineage pass through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scepter.algebra.arithmetic import can_calculate
from scepter.algebra.expressions import Variable
from scepter.algebra.scope import mentioned_variables
from scepter.kernel.condition.calculation import calculated
from scepter.kernel.condition.numerals import Numerals
from scepter.kernel.encoding import decoded, encoded
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import Int64, Mappings, Rows, interleaved
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import compile_expression
from scepter.kernel.texts import Texts
from scepter.physical.nodes import instant_nodes, nodes
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term
from scepter.rdf.values import ExpressionError


class Extend(Stateless):
    """Adds a column. An expression is evaluated once for each different combination of the terms it mentions; one that can
    give two answers for one row (RAND, BNODE, …) is not planned as this operator."""

    def __init__(self, node: nodes.Extend, key: TermKey, texts: Texts, context: Context) -> None:
        self.schema: Schema = node.schema
        self._names = node.input.schema.variables
        self._copied = -1
        if isinstance(node.expression, Variable):
            self._copied = node.input.schema.column(node.expression.name)
        used = mentioned_variables(node.expression)
        self._used = tuple(i for i, name in enumerate(self._names) if name in used)
        self._asked = tuple(name for name in self._names if name in used)
        self._expression = compile_expression(node.expression)
        self._numbers = node.expression if can_calculate(node.expression) else None
        self._key, self._texts, self._context = key, texts, context
        self._numerals = Numerals(key, texts)

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        (rows,) = inputs
        width = rows.width
        if self._copied >= 0:
            return rows.columns((*range(width), self._copied))
        wide = rows.columns((*range(width), -1))
        rest = np.arange(len(rows))
        if self._numbers is not None and len(rows):
            amounts = calculated(self._numbers, rows, self._names, self._texts)
            told = np.flatnonzero(~amounts.is_open)
            wide.mappings.put(-1, self._numerals.terms(amounts.take(told)), told)
            rest = np.flatnonzero(amounts.is_open)
        if len(rest):
            wide.mappings.put(-1, self._by_terms(rows if len(rest) == len(rows) else rows.take(rest)), rest)
        return wide

    def _by_terms(self, rows: Rows) -> Mappings:
        rows = rows.columns(self._used)  # others may hold what is no term
        first, where = distinct(np.ascontiguousarray(rows.ids)) if self._used else _alike(len(rows))
        return encoded([self._value(rows, row) for row in first.tolist()], self._key, self._texts).take(where)

    def _value(self, rows: Rows, row: int) -> Term | None:
        try:
            return self._expression(decoded(rows, self._asked, row, self._texts), self._context)
        except ExpressionError:
            return None  # SPARQL: an error leaves the variable unbound


class RowExtend(Stateless):
    """A chain of BINDs computed for each row anew; within one row BNODE("label") is one node."""

    def __init__(self, node: instant_nodes.RowExtend, key: TermKey, texts: Texts, context: Context) -> None:
        self.schema: Schema = node.schema
        self._names = node.input.schema.variables
        self._steps = [(name, compile_expression(expression)) for name, expression in node.steps]
        self._key, self._texts, self._context = key, texts, context

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows with a column for each value."""
        (rows,) = inputs
        wide = rows.columns((*range(rows.width), *(-1 for _ in self._steps)))
        if not len(rows):
            return wide
        computed = [self._computed(rows, row) for row in range(len(rows))]
        for column, (name, _) in enumerate(self._steps, rows.width):
            wide.mappings.put(column, encoded([row.get(name) for row in computed], self._key, self._texts))
        return wide

    def _computed(self, rows: Rows, row: int) -> dict[str, Term]:
        context = replace(self._context, labels={})
        found = decoded(rows, self._names, row, self._texts)
        for name, value in self._steps:
            try:
                found[name] = value(found, context)
            except ExpressionError:
                continue  # SPARQL: an error leaves the variable unbound
        return found


def _alike(rows: int) -> tuple[Int64, Int64]:
    """Rows that an expression without variables does not tell apart."""
    return np.arange(min(rows, 1), dtype=np.int64), np.zeros(rows, np.int64)


class Union(Stateless):
    """Puts both sides one after the other, in order of end."""

    def __init__(self, node: nodes.Union) -> None:
        self.schema: Schema = node.schema
        self._columns = [side.schema.columns(node.schema.variables) for side in node.inputs]

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        left, right = (rows.columns(columns).by_end() for rows, columns in zip(inputs, self._columns, strict=True))
        return interleaved(left, right)
