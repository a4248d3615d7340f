"""OPTIONAL, MINUS and (NOT) EXISTS on validities: what partners leave of a row's validity, or take of it.

When a row comes, it is not known who will come while it is there. Nothing is retracted and nothing waits: with each step of the
watermark the row is given for the stretch that is certain then, cut into pieces where it had a partner and where it had none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scepter.kernel.column_table import ColumnTable
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Texted, Until
from scepter.kernel.rows import Int64, Mask, Rows, UInt64, concat, empty
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import Clock, InParts
from scepter.kernel.validity.inner_join import Condition, Matching, Side
from scepter.kernel.validity.intervals import gaps, overlap
from scepter.kernel.validity.key_index import KeyIndex
from scepter.kernel.window.extent import Grid
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.window_nodes import Partners


@dataclass(frozen=True, slots=True)
class _Numbers(ColumnTable):
    """Rows of the left side, by number."""

    number: Int64


@dataclass(frozen=True, slots=True)
class _Left:
    """The rows that are there or will be, in order of their numbers, and when they had partners: [pair, (number, since,
    until)]. Never changed in place."""

    rows: Rows
    number: Int64
    pairs: Int64
    next: int = 0

    def at(self, number: Int64) -> tuple[Int64, Mask]:
        """Where rows of some numbers stand, and whether they are still there."""
        place = np.minimum(np.searchsorted(self.number, number), max(len(self.number) - 1, 0))
        return place, self.number[place] == number if len(self.number) else np.zeros(len(number), np.bool_)


class OuterJoin(InParts):
    """Rows of the left side, with or without partners of the right."""

    _replaced = ("_left",)

    def __init__(
        self,
        matching: Matching,
        partners: Partners,
        grid: Grid | None = None,
        condition: Condition | None = None,
        lineage: Lineage | None = None,
    ) -> None:
        joined = matching.schema
        optional = partners is Partners.OPTIONAL
        self.schema = Schema(joined.variables, matching.left.certain) if optional else matching.left
        self._matching = matching
        self._partners = partners
        self._condition = condition
        self._lineage = lineage
        self._clock = Clock(grid)
        self._right = Side(matching.right, matching.keys)
        self._index: KeyIndex[_Numbers] = KeyIndex()
        self._columns = matching.left.columns(matching.keys)
        none = np.empty((0, 3), np.int64)
        self._left = _Left(empty(len(matching.left.variables)), np.empty(0, np.int64), none)
        self._parts = {"index": self._index, "right": self._right, "closed": self._clock}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Pairs of an OPTIONAL when they come, and the pieces that are certain now."""
        left, right = inputs
        found = [*self._meet_right(right)]
        self._right.put(right)
        found += self._meet_left(left)
        start = self._clock.closed + 1
        stop = self._clock.advance(until) + 1
        if stop > start:
            found.append(self._pieces(start, stop))
        return concat(found, len(self.schema.variables))

    # ---- partners

    def _meet_right(self, right: Rows) -> Iterator[Rows]:
        """New rows of the right with all of the left."""
        if not len(right) or not len(self._left.rows):
            return
        for place, table, row in self._index.probe(self._right.keys(right)):
            at, there = self._left.at(table.number[row])
            kept = np.flatnonzero(there)
            yield from self._paired(at[kept], right.take(place[kept]))

    def _meet_left(self, left: Rows) -> Iterator[Rows]:
        """New rows of the left with all of the right."""
        if not len(left):
            return
        known = self._left
        number = np.arange(known.next, known.next + len(left), dtype=np.int64)
        first = len(known.rows)
        rows = concat([known.rows, left], known.rows.width)
        self._left = _Left(rows, np.concatenate([known.number, number]), known.pairs, known.next + len(left))
        keys = key_of(left.ids, self._columns)
        self._index.add(_Numbers(number), keys)
        for place, table, row in self._right.probe(keys):
            yield from self._paired(place + first, table.take(row))

    def _paired(self, at: Int64, right: Rows) -> Iterator[Rows]:
        """Remember when rows of the left have partners; an OPTIONAL gives the pairs."""
        left = self._left.rows.take(at)
        low, high, there = overlap(left.since, left.until, right.since, right.until)
        kept = np.flatnonzero(there & self._fits(left.ids, right.ids))
        if not len(kept):
            return
        at, low, high = at[kept], low[kept], high[kept]
        joins = self._partners is Partners.OPTIONAL
        if joins or self._condition is not None:
            lineage = self._lineage if joins else None
            rows = self._matching.joined(left.take(kept), right.take(kept), low, high, lineage)
            if self._condition is not None:
                passing = np.flatnonzero(self._condition(rows))
                rows, at, low, high = rows.take(passing), at[passing], low[passing], high[passing]
            if joins:
                yield rows
        pairs = np.concatenate([self._left.pairs, np.stack([self._left.number[at], low, high], axis=1)])
        self._left = _Left(self._left.rows, self._left.number, pairs, self._left.next)

    def _fits(self, left: UInt64, right: UInt64) -> Mask:
        agree = self._matching.compatible(left, right)
        if self._partners is not Partners.MINUS:
            return agree
        shares = np.zeros(len(agree), np.bool_)
        for name in self._matching.shared:
            if name.startswith("_:"):  # no variable of the query
                continue
            shares |= (left[:, self._matching.left.column(name)] != 0) & (right[:, self._matching.right.column(name)] != 0)
        return agree & shares

    # ---- pieces

    def _pieces(self, start: int, stop: int) -> Rows:
        """The rows of the left that are there from `start` to before `stop`, where partners say so; forget what is over."""
        left = self._left
        now = np.flatnonzero((left.rows.since < stop) & (left.rows.until > start))
        rows, number = left.rows.take(now), left.number[now]
        low, high = np.maximum(rows.since, start), np.minimum(rows.until, stop)
        owner = np.searchsorted(number, left.pairs[:, 0])
        mine = np.flatnonzero(owner < len(number))
        mine = mine[number[owner[mine]] == left.pairs[mine, 0]]
        of, since, until = gaps(low, high, owner[mine], left.pairs[mine, 1], left.pairs[mine, 2])
        if self._partners is Partners.EXISTS:
            of, since, until = gaps(low, high, of, since, until)
        self._forget(stop)
        alone = rows.take(of).valid(since, until)
        if self._partners is Partners.OPTIONAL:
            return alone.columns(self._matching.left.columns(self.schema.variables))
        return alone

    def _forget(self, stop: int) -> None:
        left = self._left
        stays = left.rows.until > stop
        lasting = left.pairs[:, 2] > stop
        if bool(stays.all()) and bool(lasting.all()):
            return
        kept = np.flatnonzero(stays)
        self._left = _Left(left.rows.take(kept), left.number[kept], left.pairs[lasting], left.next)
        alive = self._left
        self._index.keep(lambda table: alive.at(table.number)[1])

    # ---- state

    def evict(self, time: int) -> None:
        """Let go of partners that have gone; rows of the left go when their last piece is given."""
        self._right.evict(min(time, self._clock.closed))

    def dump(self) -> Arrays:
        """Both sides, and when the left had partners."""
        own = {"number": self._left.number, "pairs": self._left.pairs}
        counts = {"clock": np.array([self._left.next, self._clock.closed], np.int64)}
        return own | counts | self._left.rows.dump("left") | self._right.dump("right")

    def load(self, arrays: Arrays) -> None:
        rows = Rows.load(arrays, "left")
        following, closed = arrays["clock"].tolist()
        self._clock.value = (closed,)
        self._left = _Left(rows, arrays["number"], arrays["pairs"], following)
        self._index.add(_Numbers(self._left.number), key_of(rows.ids, self._columns))
        self._right.load("right", arrays)

    def _kept_rows(self) -> Iterator[Texted]:
        yield self._left.rows
        yield from super()._kept_rows()

    def state_rows(self) -> Mapping[str, int]:
        return {"left": len(self._left.rows), "right": len(self._right), "pairs": len(self._left.pairs)}
