"""Filters that a row of solutions decides by itself: in columns, and by the exact evaluator where columns cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Expression
from scepter.kernel.condition.interpreter import ROW
from scepter.kernel.condition.programs import Place, compile_conjuncts
from scepter.kernel.condition.row_programs import decide_rows
from scepter.kernel.scan.solutions import Float64, Int8, Int64, UInt64
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import holds
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey

Surroundings = Callable[[int], Iterable[Context]]
"""What the conditions see besides a row: one context for each of them."""


class Mappings(Protocol):
    """What conditions ask of a table: its mappings in columns."""

    @property
    def ids(self) -> UInt64: ...  # noqa: D102
    @property
    def refs(self) -> Int64: ...  # noqa: D102
    @property
    def number(self) -> Float64: ...  # noqa: D102
    @property
    def scale(self) -> Int8: ...  # noqa: D102
    def __len__(self) -> int: ...
    def take(self, rows: Int64 | NDArray[np.bool_]) -> Self: ...  # noqa: D102


_Table = TypeVar("_Table", bound=Mappings)


class Conditions:
    """Conditions on the columns of a table that are named, in their order, by variables."""

    def __init__(self, conditions: tuple[Expression, ...], names: Sequence[str], key: TermKey) -> None:
        places: dict[str, Place] = {name: (ROW, 0, column) for column, name in enumerate(names)}
        self._conditions = conditions
        self._names = tuple(names)
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
        """The exact evaluator's verdict on some rows, term by term."""
        verdicts = np.empty(len(rows), np.bool_)
        for i, row in enumerate(rows.tolist()):
            bound = zip(self._names, table.ids[row].tolist(), table.refs[row].tolist(), strict=True)
            bindings = {name: texts.known(ref, id_) for name, id_, ref in bound if id_}
            judged = zip(self._conditions, surroundings(row), strict=False)
            verdicts[i] = all(holds(condition, bindings, context) for condition, context in judged)
        return verdicts
