"""Joins on validities: compatible mappings that are there at the same time, while both are.

Each side is built and probed: a batch of one side is probed against all of the other that may still meet it. A pair is given
when its later row comes, with the intersection of the validities, which may lie in the future.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import ByRows, Until
from scepter.kernel.rows import NO_LINEAGE, Int64, Mask, Rows, UInt64, concat, empty, merged
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import InParts
from scepter.kernel.validity.intervals import overlap
from scepter.kernel.validity.key_index import KeyIndex
from scepter.physical.nodes.nodes import Schema

Condition: TypeAlias = Callable[[Rows], Mask]
"""Which merged rows pass."""


@dataclass(frozen=True, slots=True)
class Matching:
    """How two sides are matched: by the variables that both always bind, checked against the others that both may bind."""

    left: Schema
    right: Schema

    @property
    def shared(self) -> tuple[str, ...]:
        """The variables of both."""
        return tuple(name for name in self.left.variables if name in self.right.variables)

    @property
    def keys(self) -> tuple[str, ...]:
        """Those that both always bind: rows that match have the same key."""
        return tuple(name for name in self.shared if name in self.left.certain and name in self.right.certain)

    @property
    def schema(self) -> Schema:
        """Of the joined rows: the left's variables, then those that the right adds."""
        names = (*self.left.variables, *(name for name in self.right.variables if name not in self.left.variables))
        return Schema(names, self.left.certain | self.right.certain)

    def compatible(self, left: UInt64, right: UInt64) -> Mask:
        """Which pairs of rows agree in every variable that both bind."""
        agree = np.ones(len(left), np.bool_)
        for name in self.shared:
            a, b = left[:, self.left.column(name)], right[:, self.right.column(name)]
            same = a == b
            agree &= same if name in self.keys else same | (a == 0) | (b == 0)
        return agree

    def joined(self, left: Rows, right: Rows, since: Int64, until: Int64, lineage: Lineage | None) -> Rows:
        """The rows of pairs, with the intersections of their validities."""
        schema = self.schema
        places = schema.columns(self.right.variables)
        mapping = merged(left.mappings, right.mappings, places, len(schema.variables))
        start, end = np.minimum(left.start, right.start), np.maximum(left.end, right.end)
        if lineage is None:
            nodes = np.where(left.lineage == NO_LINEAGE, right.lineage, left.lineage)
        else:
            nodes = lineage.joined(left.lineage, right.lineage)
        return Rows(*mapping, start, end, since, until, nodes)


class Side(KeyIndex[Rows]):
    """The rows of one side that may still meet others."""

    def __init__(self, schema: Schema, keys: Sequence[str]) -> None:
        super().__init__()
        self._width = len(schema.variables)
        self._columns = schema.columns(keys)

    def keys(self, rows: Rows) -> UInt64:
        """The rows' keys."""
        return key_of(rows.ids, self._columns)

    def put(self, rows: Rows) -> None:
        """Take in rows."""
        self.add(rows, self.keys(rows))

    def evict(self, time: int) -> None:
        """Nothing that comes later is there at `time` or before."""
        self.keep(lambda table: table.until > time + 1)

    def dump(self, name: str) -> Arrays:
        return concat(self.runs(), self._width).dump(name)

    def load(self, name: str, arrays: Arrays) -> None:
        self.put(Rows.load(arrays, name))

    def tables(self) -> list[Rows]:
        return self.runs()


class InnerJoin(ByRows, InParts):
    """Pairs of compatible rows that are there together. Rows of a side whose validity has ended are evicted by the watermark:
    what comes later is there later."""

    def __init__(self, matching: Matching, lineage: Lineage | None = None) -> None:
        self.schema = matching.schema
        self._matching = matching
        self._lineage = lineage
        self._left = Side(matching.left, matching.keys)
        self._right = Side(matching.right, matching.keys)
        self._parts = {"left": self._left, "right": self._right}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The pairs that the new rows of either side complete."""
        left, right = inputs
        width = len(self.schema.variables)
        found = [self._pairs(right, self._left, of_left=False)]
        self._right.put(right)
        found.append(self._pairs(left, self._right, of_left=True))
        self._left.put(left)
        return concat(found, width)

    def _pairs(self, new: Rows, side: Side, *, of_left: bool) -> Rows:
        """New rows of one side against those of the other."""
        width = len(self.schema.variables)
        if not len(new) or not len(side):
            return empty(width)
        keys = (self._left if of_left else self._right).keys(new)
        parts = []
        for place, table, row in side.probe(keys):
            low, high, there = overlap(new.since[place], new.until[place], table.since[row], table.until[row])
            ours, theirs = new.ids[place], table.ids[row]
            agree = self._matching.compatible(*((ours, theirs) if of_left else (theirs, ours)))
            kept = np.flatnonzero(there & agree)
            pair = new.take(place[kept]), table.take(row[kept])
            left, right = pair if of_left else pair[::-1]
            parts.append(self._matching.joined(left, right, low[kept], high[kept], self._lineage))
        return concat(parts, width)

    def evict(self, time: int) -> None:
        self._left.evict(time)
        self._right.evict(time)

    def state_rows(self) -> Mapping[str, int]:
        return {"left": len(self._left), "right": len(self._right)}
