"""`Paired`: the chronological and the recent policy at SEQ and EQUALS (spec/20-ep-sparql rule 10).

Right sides are taken in order of time, each with the earliest or latest left side that is compatible and not consumed; both are
then consumed at this operator. What has no time is no occurrence: it is joined freely and never consumed.

State: the left sides that wait, by key, what has no time, and the occurrences consumed. With a longest duration all but what
has no time go when it is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import ByRows, Until
from scepter.kernel.policy.consumption import Consumed, How, Lefts, Rights, find_all, follow_all, lasting, pair
from scepter.kernel.policy.tracking import Occurrences
from scepter.kernel.rows import Int64, Rows, concat, empty, merged
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import InParts
from scepter.kernel.time_join.join_table import Table
from scepter.kernel.time_join.sweep import ANY, INNER, NO_BOUND, Chains, Rules, sweep
from scepter.kernel.time_join.time_join import within
from scepter.physical.nodes import instant_nodes
from scepter.physical.nodes.nodes import Schema
from scepter.timeline import MIN_INSTANT, Allen

_FREELY = Rules(ANY, INNER, (True, True), (False, False), NO_BOUND, (False, False), False)
"""What has no time meets everything; what has is not kept for it."""
_LEAST = 64


class Pairing(ByRows, InParts):
    """Pairs at work."""

    def __init__(self, node: instant_nodes.Paired, occurrences: Occurrences, lineage: Lineage) -> None:
        self.schema: Schema = node.schema
        self._longest = node.longest
        self._how = How(node.relation is Allen.EQUALS, node.recent, NO_BOUND if node.longest is None else node.longest)
        self._occurrences, self._lineage = occurrences, lineage
        left, right = node.left.schema, node.right.schema
        both = left.certain & right.certain
        keys = [name for name in left.variables if name in both]
        loose = [name for name in left.variables if name in right.variables and name not in both]
        self._keys, self._loose = tuple(right.columns(keys)), tuple(right.columns(loose))
        self._names = left.variables, right.variables
        self._places = [node.schema.column(name) for name in right.variables]
        of_left = len(left.variables), tuple(left.columns(keys)), tuple(left.columns(loose))
        self._waiting = Table(*of_left)
        self._free = Table(*of_left), Table(len(right.variables), self._keys, self._loose)
        """What has no time, of both sides."""
        self._parts = {"waiting": self._waiting, "left": self._free[0], "right": self._free[1]}
        self._followed: Chains | None = None
        """The chains that can be followed both ways; others once the table has made new ones."""
        self._newer = self._oldest = np.empty(0, np.int64)
        self._consumed = _room(_LEAST)
        self._mark = self._kept = 0

    # ---- rows

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        timed = [self._in_order(rows.between(_timeless(rows), len(rows)), side) for side, rows in enumerate(inputs)]
        found = concat([self._freely(inputs[0], inputs[1]), self._pairs(timed[0], timed[1])], len(self.schema.variables))
        return self._occurrences.each_once(within(found, self._longest)).by_end()

    def _freely(self, left: Rows, right: Rows) -> Rows:
        """What has no time is joined with everything."""
        free = _timeless(left), _timeless(right)
        if not any(free) and not any(table.size for table in self._free):
            return empty(len(self.schema.variables))
        first = [table.size for table in self._free]
        sides = self._free[0].add(left), self._free[1].add(right)
        a, b = (np.arange(first[side], self._free[side].size) for side in (0, 1))
        order = np.concatenate([-1 - a[: free[0]], b[: free[1]], -1 - a[free[0] :], b[free[1] :]])
        pairs = sweep(order, *sides, _FREELY)
        found = self._merged(self._free[0].take(pairs[:, 0]), self._free[1].take(pairs[:, 1]))
        for table, size, new in zip(self._free, first, free, strict=True):
            table.truncate(size + new)
        return found

    def _in_order(self, rows: Rows, side: int) -> Rows:
        return self._occurrences.in_order(rows, self._names[side])

    def _pairs(self, left: Rows, right: Rows) -> Rows:
        """Right sides in order, each with its partner."""
        at = np.array([self._waiting.size, self._waiting.size + len(left), 0, 0], np.int64)
        if len(left):
            self._waiting.add(left)
        lefts, nodes, out = self._lefts(int(at[0])), self._occurrences.nodes, np.empty((len(right), 2), np.int64)
        rights = Rights(
            np.ascontiguousarray(right.ids[:, self._keys]), np.ascontiguousarray(right.ids[:, self._loose]),
            right.start, right.end, right.lineage,
        )  # fmt: skip
        while not pair(lefts, rights, nodes, self._consumed, self._how, at, out):
            self._consumed = _room(4 * len(self._consumed.numbers), self._consumed)
        pairs = out[: at[3]]
        return self._merged(self._waiting.take(pairs[:, 0]), right.take(pairs[:, 1]))

    def _lefts(self, known: int) -> Lefts:
        """The left sides that wait; those before `known` are linked, if they are looked for at all."""
        side = self._waiting.side
        renewed = side.chains is not self._followed
        if renewed:
            self._followed = side.chains
            self._newer, self._oldest = np.empty(len(side.end), np.int64), np.empty(len(side.end), np.int64)
        lefts = Lefts(side, self._waiting.lineage(), self._newer, self._oldest)
        if renewed:
            follow_all(lefts, known)
        return lefts

    def _merged(self, left: Rows, right: Rows) -> Rows:
        if not len(left):
            return empty(len(self.schema.variables))
        return Rows(
            *merged(left.mappings, right.mappings, self._places, len(self.schema.variables)),
            np.minimum(left.start, right.start), np.maximum(left.end, right.end), left.since,
            np.maximum(left.until, right.until), self._lineage.joined(left.lineage, right.lineage),
        )  # fmt: skip

    # ---- instants that may be undone, and what is let go

    def save(self) -> None:
        super().save()
        self._mark = int(self._consumed.size[0])

    def undo(self) -> None:
        """Back to `save`. Of what left its chain since then, what is still consumed or over leaves it again."""
        super().undo()
        self._waiting.relink()
        self._consumed = _only(self._consumed, slice(self._mark))

    def evict(self, time: int) -> None:
        """Let go of left sides that no row after `time` can be paired with, and by the bound of what was consumed. None of that
        starts after the end of what used it: a longest duration later no pair can use it again."""
        if self._waiting.is_due:
            lefts = self._lefts(self._waiting.size)
            nodes = self._occurrences.nodes
            self._waiting.keep(lasting(lefts, self._waiting.size, nodes, self._consumed, self._how, time + 1))
            self._followed = None  # rows have moved and are linked anew, perhaps in the memory of the chains before
        size = int(self._consumed.size[0])
        if self._longest is not None and size > 2 * self._kept + _LEAST:
            least = max(MIN_INSTANT, time + 1 - self._longest)
            self._consumed = _only(self._consumed, np.flatnonzero(self._consumed.latest[:size] >= least))
            self._kept = self._mark = int(self._consumed.size[0])

    # ---- state

    def dump(self) -> Arrays:
        """What waits with what has no time, and what was consumed."""
        size = int(self._consumed.size[0])
        left = concat([_all(self._free[0]), _all(self._waiting)], self._waiting.width)
        consumed = np.stack([self._consumed.latest[:size], self._consumed.numbers[:size]], axis=1)
        return {**left.dump("left"), **self._free[1].dump("right"), "starts": consumed}

    def load(self, arrays: Arrays) -> None:
        left = Rows.load(arrays, "left")
        free = left.start > left.end
        for table, rows in ((self._free[0], left.take(free)), (self._waiting, self._in_order(left.take(~free), 0))):
            table.truncate(0)
            table.add(rows)
            table.relink()
        self._free[1].load("right", arrays)
        latest, numbers = arrays["starts"].T
        self._consumed = _only(Consumed(numbers, numbers, latest, np.array([len(numbers)])), slice(None))
        self._kept = len(numbers)
        self.save()

    def state_rows(self) -> Mapping[str, int]:
        return {"solutions": self._waiting.size + sum(table.size for table in self._free) + int(self._consumed.size[0])}


def _timeless(rows: Rows) -> int:
    """How many rows have no time; they come first."""
    return int(np.searchsorted(rows.end, MIN_INSTANT, "right"))


def _all(table: Table) -> Rows:
    return table.take(np.flatnonzero(table.linked))


def _room(capacity: int, known: Consumed | None = None) -> Consumed:
    """Room for so many consumed occurrences, with those that are known."""
    slots = 1 << (2 * capacity - 1).bit_length()
    made = Consumed(np.full(slots, -1), np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.zeros(1, np.int64))
    if known is not None:
        size = int(known.size[0])
        made.numbers[:size], made.latest[:size], made.size[0] = known.numbers[:size], known.latest[:size], size
        find_all(made)
    return made


def _only(known: Consumed, wanted: Int64 | slice) -> Consumed:
    """Some of what was consumed."""
    size = int(known.size[0])
    numbers, latest = known.numbers[:size][wanted], known.latest[:size][wanted]
    return _room(max(_LEAST, 2 * len(numbers)), Consumed(known.slots, numbers, latest, np.array([len(numbers)])))
