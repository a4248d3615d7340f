"""`Paired`: the chronological and the recent policy at SEQ and EQUALS (spec/20-ep-sparql rule 10).

Right sides are taken in order of time, each with the earliest or latest left side that is compatible and not consumed; both are
then consumed at this operator. What has no time is no occurrence: it is joined freely and never consumed.

State: the left sides that wait, by key, and the occurrences consumed. With a longest duration both go when it is over.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import ByRows, Until
from scepter.kernel.policy.tracking import Occurrences
from scepter.kernel.rows import TIMELESS, Int64, Rows, concat, empty, merged
from scepter.kernel.state.container import Arrays
from scepter.kernel.time_join.join_table import Table
from scepter.kernel.time_join.time_join import each_once, within
from scepter.physical import instant_nodes
from scepter.physical.nodes import Schema
from scepter.timeline import Allen


@dataclass(frozen=True, slots=True)
class _Side:
    """A row of one side: its place in the table of its side, when it was, and the occurrences it rests on."""

    place: int
    start: int
    end: int
    loose: tuple[int, ...]
    used: frozenset[int]
    order: tuple[int, int, list[tuple[int, str]]]
    """Ties: by end, start, arrival, then N-Triples order of the triple (spec/00 §1)."""


class Pairing(ByRows):
    """Pairs at work."""

    def __init__(self, node: instant_nodes.Paired, occurrences: Occurrences, lineage: Lineage) -> None:
        self.schema: Schema = node.schema
        self._node = node
        self._occurrences, self._lineage = occurrences, lineage
        left, right = node.left.schema, node.right.schema
        both = left.certain & right.certain
        keys = [name for name in left.variables if name in both]
        loose = [name for name in left.variables if name in right.variables and name not in both]
        self._keys = list(left.columns(keys)), list(right.columns(keys))
        self._loose = list(left.columns(loose)), list(right.columns(loose))
        self._places = [node.schema.column(name) for name in right.variables]
        self._tables = Table(len(left.variables), (), ()), Table(len(right.variables), (), ())
        """The left sides that wait, with those of the instant; of the right, those of the instant and what has no time."""
        self._waiting: dict[bytes, list[_Side]] = {}
        self._free: tuple[list[tuple[bytes, _Side]], list[tuple[bytes, _Side]]] = [], []
        self._consumed: set[int] = set()
        self._starts: list[tuple[int, int]] = []
        self._mark = (0, 0)
        self._taken: list[int] = []

    # ---- rows

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The pairs, instant by instant."""
        found = [empty(len(self.schema.variables))]
        for time in np.unique(np.concatenate([rows.end for rows in inputs])).tolist():
            left, right = (self._at(side, rows, time) for side, rows in enumerate(inputs))
            found += self._freely(left, right)
            if time != TIMELESS[1]:
                found += self._pairs(left, right)
                self._tables[1].truncate(len(self._free[1]))
        return each_once(within(concat(found, len(self.schema.variables)), self._node.longest)).by_end()

    def _at(self, side: int, rows: Rows, time: int) -> list[tuple[bytes, _Side]]:
        """The rows of a side that end at a time, by key."""
        low, high = (int(np.searchsorted(rows.end, time, each)) for each in ("left", "right"))
        some, table = rows.between(low, high), self._tables[side]
        first = table.size
        table.add(some)
        table.link(first)
        keys = np.ascontiguousarray(some.ids[:, self._keys[side]])
        found = []
        for row in range(len(some)):
            used, arrivals = self._occurrences.used(int(some.lineage[row]))
            start, loose = int(some.start[row]), tuple(some.ids[row, self._loose[side]].tolist())
            found.append((keys[row].tobytes(), _Side(first + row, start, time, loose, used, (time, start, arrivals))))
        return found

    def _freely(self, left: list[tuple[bytes, _Side]], right: list[tuple[bytes, _Side]]) -> list[Rows]:
        """What has no time is joined with everything."""
        pairs = []
        for key, a in left:
            pairs += [(a, b) for other, b in self._free[1] if other == key and _agree(a, b)]
        for key, b in right:
            pairs += [(a, b) for other, a in self._free[0] if other == key and _agree(a, b)]
        for side, rows in ((0, left), (1, right)):
            self._free[side].extend((key, each) for key, each in rows if each.end == TIMELESS[1])
        if left and right and left[0][1].end == TIMELESS[1]:
            pairs += [(a, b) for key, a in left for other, b in right if other == key and _agree(a, b)]
        return [self._merged(pairs)]

    def _pairs(self, left: list[tuple[bytes, _Side]], right: list[tuple[bytes, _Side]]) -> list[Rows]:
        """Right sides in order, each with its partner."""
        if self._node.relation is Allen.EQUALS:
            self._waiting.clear()  # equal intervals end together
        for key, a in left:
            self._waiting.setdefault(key, []).append(a)
        pairs = []
        for key, completed in sorted(right, key=lambda each: each[1].order):
            partner = self._partner(key, completed)
            if partner is not None:
                pairs.append((partner, completed))
                for side in (partner, completed):
                    self._consume(side.used, side.end)
        return [self._merged(pairs)]

    def _partner(self, key: bytes, completed: _Side) -> _Side | None:
        if not self._consumed.isdisjoint(completed.used) or key not in self._waiting:
            return None
        waiting = self._waiting[key] = [a for a in self._waiting[key] if self._consumed.isdisjoint(a.used)]
        candidates = [a for a in waiting if _agree(a, completed) and self._related(a, completed)]
        if not candidates:
            return None
        return (max if self._node.recent else min)(candidates, key=lambda a: a.order)

    def _related(self, a: _Side, b: _Side) -> bool:
        fits = a.end < b.start if self._node.relation is Allen.BEFORE else (a.start, a.end) == (b.start, b.end)
        longest = self._node.longest
        return fits and (longest is None or max(a.end, b.end) - min(a.start, b.start) <= longest)

    def _consume(self, used: frozenset[int], latest: int) -> None:
        """What a side used; none of it starts after `latest`, so that a longest duration after it no pair can use it again."""
        fresh = used - self._consumed
        self._consumed |= fresh
        self._taken += fresh
        for each in fresh:
            heapq.heappush(self._starts, (latest, each))

    def _merged(self, pairs: list[tuple[_Side, _Side]]) -> Rows:
        if not pairs:
            return empty(len(self.schema.variables))
        left = self._tables[0].take(np.array([a.place for a, _ in pairs], np.int64))
        right = self._tables[1].take(np.array([b.place for _, b in pairs], np.int64))
        return Rows(
            *merged(left, right, self._places, len(self.schema.variables)),
            np.minimum(left.start, right.start), np.maximum(left.end, right.end), left.since,
            np.maximum(left.until, right.until), self._lineage.joined(left.lineage, right.lineage),
        )  # fmt: skip

    # ---- instants that may be undone, and what is let go

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._mark = self._tables[0].size, self._tables[1].size
        self._taken = []

    def undo(self) -> None:
        """Back to `save`."""
        for side, (table, size) in enumerate(zip(self._tables, self._mark, strict=True)):
            table.truncate(size)
            self._free[side][:] = [each for each in self._free[side] if each[1].place < size]
        self._consumed.difference_update(self._taken)
        self._taken = []
        self._relist()

    def evict(self, time: int) -> None:
        """Let go of left sides that no row after `time` can be paired with, and by the bound of what was consumed."""
        longest, table = self._node.longest, self._tables[0]
        while longest is not None and self._starts and time + 1 - self._starts[0][0] > longest:
            self._consumed.discard(heapq.heappop(self._starts)[1])
        if table.is_due:
            waiting = {a.place for each in self._waiting.values() for a in each if self._lasts(a, time)}
            waiting |= {a.place for _, a in self._free[0]}
            kept = np.zeros(table.size, np.bool_)
            kept[[*waiting]] = True
            table.keep(kept)
            self._mark = table.size, self._tables[1].size
            self._relist()

    def _lasts(self, a: _Side, time: int) -> bool:
        if not self._consumed.isdisjoint(a.used) or (self._node.relation is Allen.EQUALS and a.end <= time):
            return False
        return self._node.longest is None or time + 1 - a.start <= self._node.longest

    def _relist(self) -> None:
        """Places have changed: what waits is read again."""
        table = self._tables[0]
        rows = table.take(np.arange(table.size))
        self._waiting, free = {}, []
        for place in range(table.size):
            used, arrivals = self._occurrences.used(int(rows.lineage[place]))
            start, end = int(rows.start[place]), int(rows.end[place])
            loose, key = tuple(rows.ids[place, self._loose[0]].tolist()), rows.ids[place, self._keys[0]].tobytes()
            side = _Side(place, start, end, loose, used, (end, start, arrivals))
            if start > end:
                free.append((key, side))
            else:
                self._waiting.setdefault(key, []).append(side)
        self._free[0][:] = free

    # ---- state

    def dump(self) -> Arrays:
        """Both tables, and what was consumed."""
        starts = np.array(self._starts, np.int64).reshape(-1, 2)
        tables = self._tables[0].dump("left") | self._tables[1].dump("right")
        return {**tables, "consumed": np.array(sorted(self._consumed), np.int64), "starts": starts}

    def load(self, arrays: Arrays) -> None:
        """Take over what `dump` gave."""
        self._tables[0].load("left", arrays)
        self._tables[1].load("right", arrays)
        self._consumed = set(arrays["consumed"].tolist())
        self._starts = [(start, each) for start, each in arrays["starts"].tolist()]
        right = self._tables[1].take(np.arange(self._tables[1].size))
        self._free[1][:] = [
            (right.ids[i, self._keys[1]].tobytes(), _Side(i, *TIMELESS, tuple(right.ids[i, self._loose[1]].tolist()),
             frozenset(), (TIMELESS[1], TIMELESS[0], [])))
            for i in range(len(right))
        ]  # fmt: skip
        self._relist()
        self.save()

    def refs(self) -> Iterator[Int64]:
        """Of both tables."""
        return (table.refs() for table in self._tables)

    def lineages(self) -> Iterator[Int64]:
        """Of both tables."""
        return (table.lineage() for table in self._tables)

    def state_rows(self) -> Mapping[str, int]:
        """Left sides that wait, and consumed occurrences."""
        return {"solutions": self._tables[0].size + len(self._consumed)}


def _agree(a: _Side, b: _Side) -> bool:
    return all(x == y or not x or not y for x, y in zip(a.loose, b.loose, strict=True))
