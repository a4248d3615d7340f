"""Set functions over stretches of a table of rows: in columns, and over terms where columns cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from scepter.algebra.expressions import Aggregate, Variable
from scepter.kernel.encoding import decoded, encoded, encoded_numbers
from scepter.kernel.group.totals import FRACTIONS, MEMBERS, UNITS, Scale, exact_texts
from scepter.kernel.rows import Float64, Int8, Int64, Rows, UInt64, mappings
from scepter.kernel.sparql.aggregates import compile_aggregate
from scepter.kernel.sparql.context import Context
from scepter.kernel.texts import Texts
from scepter.kernel.time_group.sums import WHOLE, Sums, extremes, sums
from scepter.physical.nodes import Schema
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Literal, Term
from scepter.rdf.values import DECIMAL, ExpressionError, to_literal
from scepter.rdf.values.arithmetic import calculate

Column: TypeAlias = tuple[UInt64, Int64, Float64, Int8]
"""A column of terms: ids, refs, numbers, scales."""


@dataclass(frozen=True, slots=True)
class Stretches:
    """Members of groups, and for each result from where to where they are its own."""

    rows: Rows
    low: Int64
    high: Int64


class SetFunction:
    """One set function of a variable, or COUNT(*)."""

    def __init__(self, aggregate: Aggregate, schema: Schema, context: Context, key: TermKey, texts: Texts) -> None:
        self._name = aggregate.function
        self._names = schema.variables
        self._column = schema.column(aggregate.operand.name) if isinstance(aggregate.operand, Variable) else -1
        self._starred = aggregate.operand is None
        self._distinct = aggregate.distinct
        self._exact = compile_aggregate(aggregate)
        self._context, self._key, self._texts = context, key, texts

    def __call__(self, given: Stretches) -> Column:
        """A term for each result; none where it is an error."""
        if self._distinct or self._name == "GROUP_CONCAT" or (self._column < 0 and not self._starred):
            return self._encoded([self._decided(given, i) for i in range(len(given.low))])
        if self._name == "COUNT":
            return self._counted(given)
        if self._name in ("MIN", "MAX", "SAMPLE"):
            return self._chosen(given)
        return self._summed(given)

    def _counted(self, given: Stretches) -> Column:
        low, high = given.low, given.high
        if not self._starred:
            bound = np.concatenate([[0], np.cumsum(given.rows.ids[:, self._column] != 0)])
            low, high = bound[low], bound[high]
        different, where = np.unique(high - low, return_inverse=True)
        made = self._encoded([to_literal(count) for count in different.tolist()])
        return made[0][where], made[1][where], made[2][where], made[3][where]

    def _chosen(self, given: Stretches) -> Column:
        rows, column = given.rows, self._column
        chosen = given.low.copy()
        if self._name != "SAMPLE":
            number, scale = _numbers(rows, column)
            chosen = extremes(given.low, given.high, number, scale, self._name == "MAX")
        unbound = np.concatenate([[0], np.cumsum(rows.ids[:, column] == 0)])
        chosen[unbound[given.high] > unbound[given.low]] = -1
        ids, refs, numbers, scales = mappings(len(chosen), 1)
        there = np.flatnonzero(chosen >= 0)
        at = chosen[there]
        ids[there, 0], refs[there, 0] = rows.ids[at, column], rows.refs[at, column]
        numbers[there, 0], scales[there, 0] = rows.number[at, column], rows.scale[at, column]
        open_ = np.flatnonzero(chosen < 0)
        made = self._encoded([self._decided(given, i) for i in open_.tolist()])
        ids[open_, 0], refs[open_, 0], numbers[open_, 0], scales[open_, 0] = made
        return ids[:, 0], refs[:, 0], numbers[:, 0], scales[:, 0]

    def _summed(self, given: Stretches) -> Column:
        number, scale = _numbers(given.rows, self._column)
        self._mark_decimals(given.rows, scale)
        total = sums(given.low, given.high, number, scale)
        if bool(total.is_exact.all()):
            return self._written(total, given.high - given.low)
        open_, counts = total.is_open.tolist(), (given.high - given.low).tolist()
        found: list[Term | None] = []
        for i, count in enumerate(counts):
            if open_[i]:
                found.append(self._decided(given, i))
            else:
                found.append(to_literal(calculate("/", total.value(i), count) if self._name == "AVG" else total.value(i)))
        return self._encoded(found)

    def _written(self, total: Sums, counts: Int64) -> Column:
        """Sums or averages of integers and decimals, written once for each different one."""
        told = np.column_stack([total.units, total.digits, total.kind.astype(np.int64), counts])
        first, where = distinct(told)
        amounts = np.zeros((len(first), UNITS + 1), np.int64)
        amounts[:, MEMBERS], amounts[:, UNITS] = counts[first], total.units[first]
        amounts[:, FRACTIONS] = total.is_decimal[first]
        digits = total.digits[first]
        texts: list[str | None] = [None] * len(first)
        for each in np.unique(digits).tolist():
            at = np.flatnonzero(digits == each)
            made = exact_texts(amounts[at], Scale(each), mean=self._name == "AVG")
            for place, text in zip(at.tolist(), made, strict=True):
                texts[place] = text
        ids, refs, number, scale = encoded_numbers(texts, self._key, self._texts)
        return ids[where], refs[where], number[where], scale[where]

    def _mark_decimals(self, rows: Rows, scale: Int64) -> None:
        """Decimals without digits after the point are told from integers: their sums are decimals."""
        at = np.flatnonzero(scale == 0)
        different, first, place = np.unique(rows.ids[at, self._column], return_index=True, return_inverse=True)
        refs = rows.refs[at[first], self._column]
        terms = [self._texts.known(ref, id) for ref, id in zip(refs.tolist(), different.tolist(), strict=True)]
        whole = np.array([isinstance(term, Literal) and term.datatype == DECIMAL for term in terms], np.bool_)
        if whole.any():
            scale[at[whole[place]]] = WHOLE

    def _decided(self, given: Stretches, result: int) -> Term | None:
        """By SPARQL's definition, over terms."""
        members = range(int(given.low[result]), int(given.high[result]))
        try:
            return self._exact([decoded(given.rows, self._names, row, self._texts) for row in members], self._context)
        except ExpressionError:
            return None

    def _encoded(self, terms: list[Term | None] | list[Literal]) -> Column:
        return encoded(terms, self._key, self._texts)


def _numbers(rows: Rows, column: int) -> tuple[Float64, Int64]:
    return np.ascontiguousarray(rows.number[:, column]), rows.scale[:, column].astype(np.int64)
