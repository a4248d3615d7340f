"""`Owned`: of rows that every bucket of a grid has, those of one. Stateless."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import Int64, Mask, Rows
from scepter.kernel.sequence.forward_search import key_of
from scepter.physical.distribution import cutting
from scepter.physical.nodes.nodes import Schema


@dataclass(slots=True)
class Cell:
    """A bucket of a grid: how many there are along each dimension, and which it is."""

    sides: tuple[int, ...] = ()
    number: int = 0

    def along(self, dimension: int) -> int:
        """Its place along a dimension, the first of which varies fastest.

        >>> Cell((3, 4), 7).along(0), Cell((3, 4), 7).along(1)
        (1, 2)
        """
        number = self.number
        for side in self.sides[:dimension]:
            number //= side
        return number % self.sides[dimension]

    def owns(self, starts: Int64) -> Mask:
        """Whether what begins at these times is the bucket's own, where time is the only dimension; of no grid, all.

        >>> both = [Cell((2,), number).owns(np.arange(4)) for number in range(2)]
        >>> (both[0] != both[1]).tolist(), Cell().owns(np.arange(2)).tolist()
        ([True, True, True, True], [True, True])
        """
        if not self.sides:
            return np.ones(len(starts), np.bool_)
        mine: Mask = key_of(starts.view(np.uint64)[:, None], (0,)) % np.uint64(self.sides[0]) == np.uint64(self.along(0))
        return mine


class Owned(Stateless):
    """Lets through the rows whose values are those of the bucket."""

    def __init__(self, node: cutting.Owned, cell: Cell) -> None:
        self.schema: Schema = node.schema
        self._by = [(dimension, node.schema.columns(names)) for dimension, names in node.by]
        self._cell = cell

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        (rows,) = inputs
        if not self._cell.sides:  # one bucket has them all
            return rows
        mine = np.ones(len(rows), np.bool_)
        for dimension, columns in self._by:
            side = np.uint64(self._cell.sides[dimension])
            mine &= key_of(rows.ids, columns) % side == np.uint64(self._cell.along(dimension))
        return rows if mine.all() else rows.take(mine)
