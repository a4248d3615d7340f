"""The answers of EXISTS that no join gives, row by row: as a column more (`Asked`), or within the conditions of partners.

What is looked at says how: `Remembered` everything that has ended by then, `LiveGraph` what is in the windows then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from scepter.algebra.expressions import Exists, Expression
from scepter.kernel.encoding import decoded, encoded
from scepter.kernel.exists.solution import Timed, in_sight
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import TIMELESS, Int64, Mask, Rows
from scepter.kernel.sparql.context import Row
from scepter.kernel.texts import Texts
from scepter.physical.nodes.nodes import Node, Schema
from scepter.rdf.hashing import TermKey
from scepter.rdf.values import boolean

Test: TypeAlias = Callable[[Row, Timed, int | None], bool]
"""Whether a condition holds for a mapping, the solution whose interval it speaks of, and the end of the one that asks."""
Asking: TypeAlias = Callable[[Expression], Test]
"""Compiles a condition over what is looked at."""


class Asked(Stateless):
    """Rows with a column more for each EXISTS, true or false."""

    def __init__(self, node: Node, asked: Iterable[tuple[str, Exists]], asking: Asking, key: TermKey, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._names = node.inputs[0].schema.variables
        self._tests = [asking(exists) for _, exists in asked]
        self._key, self._texts = key, texts

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows with their answers; an EXISTS sees nothing of a row that is hidden."""
        rows = inputs[0]
        wide = rows.columns((*range(rows.width), *(-1 for _ in self._tests)))
        solutions = [_solution(rows, row, in_sight(decoded(rows, self._names, row, self._texts))) for row in range(len(rows))]
        for column, test in enumerate(self._tests, rows.width):
            found = [boolean(test(solution.row, solution, solution.end)) for solution in solutions]
            wide.mappings.put(column, encoded(found, self._key, self._texts))
        return wide


class AskedConditions:
    """Conditions of partners, with EXISTS in them, over rows that have the mappings of both sides."""

    def __init__(self, conditions: Sequence[Expression], names: Sequence[str], asking: Asking, texts: Texts) -> None:
        self._tests = [asking(condition) for condition in conditions]
        self._names, self._texts = tuple(names), texts

    def holds(self, rows: Rows, until: Int64) -> Mask:
        """Which rows meet all conditions; they speak of the rows' own interval and ask what there is at `until`."""
        found: Mask = np.ones(len(rows), np.bool_)
        for row in range(len(rows)):
            solution = _solution(rows, row, decoded(rows, self._names, row, self._texts))
            known = None if until[row] == TIMELESS[1] else int(until[row])
            found[row] = all(test(solution.row, solution, known) for test in self._tests)
        return found


def _solution(rows: Rows, row: int, mapping: Row) -> Timed:
    timed = rows.start[row] <= rows.end[row]
    return Timed(mapping, int(rows.start[row]), int(rows.end[row])) if timed else Timed(mapping)
