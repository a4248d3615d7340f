"""`Owned`: of rows that every bucket of a grid has, those of one. Stateless."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scepter.kernel.operator import Stateless, Until
from scepter.kernel.row.split_keys import SplitKey, begin_at
from scepter.kernel.rows import Int64, Mask, Rows, UInt64
from scepter.kernel.sequence.forward_search import key_of
from scepter.physical.distribution import cutting
from scepter.physical.nodes.nodes import Schema


@dataclass(slots=True)
class Cell:
    """A bucket: of a grid, how many there are along each dimension, and which it is."""

    sides: tuple[int, ...] = ()
    number: int = 0
    split: tuple[SplitKey, ...] = ()
    """Of buckets by key: the keys whose matches are divided over several of them, by their first event,"""
    slots: tuple[int, ...] = ()
    """the slots that make the key,"""
    buckets: int = 1
    """and how many buckets there are."""

    @property
    def alone(self) -> bool:
        """Whether all matches that begin with rows which it has are its own."""
        return not (self.sides or self.split)

    def begins(self, starts: Int64, ids: UInt64, slots: Sequence[int]) -> Mask:
        """Whether the matches that begin with rows of these times and values are the bucket's own; `slots` are the columns."""
        if not self.split:
            return self.owns(starts)
        keys = key_of(ids, tuple(slots.index(slot) for slot in self.slots))
        mine: Mask = begin_at(keys, starts, self.buckets, self.split) == np.uint64(self.number)
        return mine

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
        mine: Mask = begins_in(starts, self.sides[0]) == np.uint64(self.along(0))
        return mine


def begins_in(starts: Int64, side: int) -> UInt64:
    """The bucket, of so many, of what begins at each time."""
    return key_of(starts.view(np.uint64)[:, None], (0,)) % np.uint64(side)


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
