"""Filters that a row of solutions decides by itself: in columns, and by the exact evaluator where columns cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Call, Exists, Expression
from scepter.algebra.scope import mentioned_variables
from scepter.algebra.walk import find
from scepter.kernel.condition.interpreter import ROW
from scepter.kernel.condition.programs import Place, compile_conjuncts
from scepter.kernel.condition.row_programs import decide_rows
from scepter.kernel.rows import Float64, Int8, Int64, UInt64
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import compile_condition
from scepter.kernel.texts import Texts
from scepter.physical.planning.pattern_properties import is_unsteady
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey

Surroundings = Callable[[int], Iterable[Context]]
"""What the conditions see besides a row: one context for each of them."""


class Mappings(Protocol):
    """What conditions ask of a table: its mappings in columns."""

    @property
    def ids(self) -> UInt64: ...
    @property
    def refs(self) -> Int64: ...
    @property
    def number(self) -> Float64: ...
    @property
    def scale(self) -> Int8: ...
    def __len__(self) -> int: ...
    def take(self, rows: Int64 | NDArray[np.bool_]) -> Self: ...


_Table = TypeVar("_Table", bound=Mappings)


class Conditions:
    """Conditions on the columns of a table that are named, in their order, by variables."""

    def __init__(self, conditions: tuple[Expression, ...], names: Sequence[str], key: TermKey) -> None:
        places: dict[str, Place] = {name: (ROW, 0, column) for column, name in enumerate(names)}
        self._conditions = conditions
        used = frozenset[str]().union(*map(mentioned_variables, conditions)) if conditions else frozenset()
        self._used = np.array([column for column, name in enumerate(names) if name in used], np.int64)
        self._names = tuple(name for name in names if name in used)
        asking = any(next(find(condition, Exists), None) is not None for condition in conditions)
        self._steady = not asking and not any(is_unsteady(call) for each in conditions for call in find(each, Call))
        self._exact = [compile_condition(condition) for condition in conditions]
        self._programs = compile_conjuncts(conditions, lambda name, previous: None if previous else places.get(name), key)

    def keep(self, table: _Table, texts: Texts, surroundings: Surroundings) -> _Table:
        """The rows for which all conditions hold; an error counts as false."""
        if not self._conditions or not len(table):
            return table
        kept = self.passing(table, texts, surroundings)
        return table if bool(kept.all()) else table.take(kept)

    def passing(self, table: Mappings, texts: Texts, surroundings: Surroundings) -> NDArray[np.bool_]:
        """For which rows all conditions hold."""
        kept: NDArray[np.bool_]
        kept, open_ = decide_rows(self._programs, table.ids, table.number, table.scale)
        rows = np.flatnonzero(open_)
        kept[rows] = self.decide(table, rows, texts, surroundings)
        return kept

    def decide(self, table: Mappings, rows: Int64, texts: Texts, surroundings: Surroundings) -> NDArray[np.bool_]:
        """The exact evaluator's verdict on some rows, once for each different combination of terms where those alone decide."""
        if not self._steady:
            return self._verdicts(table, rows, texts, surroundings)
        first, where = distinct(np.ascontiguousarray(table.ids[np.ix_(rows, self._used)]))
        return self._verdicts(table, rows[first], texts, surroundings)[where]

    def _verdicts(self, table: Mappings, rows: Int64, texts: Texts, surroundings: Surroundings) -> NDArray[np.bool_]:
        verdicts = np.empty(len(rows), np.bool_)
        ids, refs = table.ids[np.ix_(rows, self._used)].tolist(), table.refs[np.ix_(rows, self._used)].tolist()
        for i, row in enumerate(rows.tolist()):
            bound = zip(self._names, ids[i], refs[i], strict=True)
            bindings = {name: texts.known(ref, id_) for name, id_, ref in bound if id_}
            judged = zip(self._exact, surroundings(row), strict=False)
            verdicts[i] = all(test(bindings, context) for test, context in judged)
        return verdicts
