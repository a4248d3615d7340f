"""What rows were made of: a graph of nodes, so that nothing is copied per row.

A leaf is one event (or triple occurrence) that a labelled part of the pattern selected. A join has two others as operands. A
step has one and an event of its own: a run that takes one event more, so that runs share their beginnings and an iteration of k
events costs k nodes. Nodes are in the order they were made: a node's operands stand before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numba import njit

from scepter.kernel.rows import NO_LINEAGE, Int64, Mask, UInt64
from scepter.rdf.arena import NO_REF
from scepter.rdf.distinct import distinct
from scepter.rdf.lengthening import lengthened
from scepter.rdf.words import fresh, zeroed

_COLUMNS = ("left", "right", "part", "event", "name")
_ROOMY = 16
"""Room for more than so many times what is kept is given back."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIXES = (_MIX, np.uint64(0xC2B2AE3D27D4EB4F))


class Lineage:
    """Columns of nodes: the operands `left` and `right`, or NO_LINEAGE; of a leaf and of a step `part`, `event` and `name` (a
    ref, -1 without one). Where iterations are aggregated, a step also has the refs of the values it brought; where policies
    consume triples, a leaf has those of its triple."""

    __slots__ = ("_columns", "_made", "_size", "_table", "_values")

    def __init__(self) -> None:
        self._columns: dict[str, Int64] = {name: np.empty(64, np.int64) for name in _COLUMNS}
        self._values: Int64 = np.empty((64, 0), np.int64)
        self._size = 0
        self._made: tuple[Int64, int, Int64, Int64] | None = None
        """The leaves made last, of one part, with their events and names: most are asked for at once."""
        self._table: object = None
        """What those were made of."""

    def __len__(self) -> int:
        return self._size

    def keep_values(self, count: int) -> None:
        """Make room for so many values a step; before there is any node."""
        self._values = np.empty((len(self._columns["left"]), count), np.int64)

    def leaves(
        self, part: int | Int64, event: Int64, name: Int64, values: Int64 | None = None, table: object = None
    ) -> Int64:  # fmt: skip
        """A leaf for each event, all of one part or each of its own; of the rows of a table, which `taken_from` tells."""
        if len(event) == 1 and values is None and isinstance(part, int):
            places = self._append_one(NO_LINEAGE, part, event[0], name[0])
        else:
            places = self._append(NO_LINEAGE, NO_LINEAGE, part, event, name, len(event))
        if values is not None:
            self._values[places] = values
        if isinstance(part, int):
            self._made, self._table = (places, part, event, name), table
        return places

    def leaves_of(self, part: Int64, event: Int64, name: Int64) -> Int64:
        """A leaf for each event that is one (not below zero), of the part that selected it."""
        found = np.full(len(event), NO_LINEAGE, np.int64)
        some = np.flatnonzero(event >= 0)
        found[some] = self._append(NO_LINEAGE, NO_LINEAGE, part[some], event[some], name[some], len(some))
        return found

    def told(self, leaves: Int64) -> tuple[Int64, Int64, Int64]:
        """The part, the event and the name's ref of each leaf; below zero where there is none."""
        columns = self._columns
        if (leaves[0] if len(leaves) == 1 else leaves.min(initial=0)) != NO_LINEAGE:
            return columns["part"].take(leaves), columns["event"].take(leaves), columns["name"].take(leaves)
        some = np.flatnonzero(leaves != NO_LINEAGE)
        found = tuple(np.full(len(leaves), -1, np.int64) for _ in range(3))
        for column, name in zip(found, ("part", "event", "name"), strict=True):
            column[some] = columns[name][leaves[some]]
        return found[0], found[1], found[2]

    def taken(self, leaves: Int64) -> tuple[int | None, Int64, Int64]:
        """The part of leaves, None where it may not be the same for all, the event and the name's ref of each."""
        if self._made is not None and leaves is self._made[0]:
            return self._made[1:]
        return None, *self.told(leaves)[1:]

    def taken_from(self, leaves: Int64) -> tuple[int | None, object]:
        """The part of leaves and the table they were made of, where they are the ones made last."""
        return (self._made[1], self._table) if self._made is not None and leaves is self._made[0] else (None, None)

    def joined(self, left: Int64, right: Int64) -> Int64:
        """A node for each pair; where one side has none it is the other side's."""
        found = np.where(left == NO_LINEAGE, right, left)
        both = np.flatnonzero((left != NO_LINEAGE) & (right != NO_LINEAGE))
        if len(both):
            found[both] = self._append(left[both], right[both], NO_LINEAGE, NO_LINEAGE, NO_LINEAGE, len(both))
        return found

    def stepped(self, before: Int64, part: int, event: Int64, name: Int64, values: Int64 | None = None) -> Int64:
        """A node for each event that a run takes after others. Equal steps of one run are one node, unless values are kept."""
        if len(before) == 1 and values is None:
            return self._append_one(before[0], part, event[0], name[0])
        if len(before) > 1 and values is None and not bool((before[1:] > before[:-1]).all()):
            first, where = distinct(np.stack([before, event], axis=1))
            if len(first) < len(before):
                return self._append(before[first], NO_LINEAGE, part, event[first], name[first], len(first))[where]
        places = self._append(before, NO_LINEAGE, part, event, name, len(before))
        if values is not None:
            self._values[places] = values
        return places

    def grafted(self, nodes: Mapping[str, Int64]) -> int:
        """Take over the columns of other nodes, without the values of steps; where the first of them stands."""
        base = self._size
        left, right = (np.where(nodes[side] < 0, NO_LINEAGE, nodes[side] + base) for side in ("left", "right"))
        self._append(left, right, nodes["part"], nodes["event"], nodes["name"], len(left))
        return base

    def _append(
        self, left: Int64 | int, right: Int64 | int, part: Int64 | int, event: Int64 | int, name: Int64 | int, count: int
    ) -> Int64:
        size = self._size + count
        if size > len(self._columns["left"]):
            self._grow(size)
        at = self._size
        for column, each in zip(self._columns.values(), (left, right, part, event, name), strict=True):
            column[at:size] = each
        if self._values.shape[1]:
            self._values[at:size] = NO_REF
        self._size = size
        return np.arange(at, size)

    def room_for(self, count: int) -> tuple[tuple[Int64, ...], int]:
        """The columns, in which so many nodes more can be written, and where; they are there when `added` says so."""
        if self._size + count > len(self._columns["left"]):
            self._grow(self._size + count)
        return tuple(self._columns.values()), self._size

    def added(self, size: int) -> None:
        """Steps have been written, without values; there are so many nodes now."""
        if self._values.shape[1]:
            self._values[self._size : size] = NO_REF
        self._size = size

    def _append_one(self, left: Any, part: int, event: Any, name: Any) -> Int64:
        """The same of a leaf, or of a step, alone: which costs a third of a stretch."""
        at, columns = self._size, self._columns
        if at == len(columns["left"]):
            self._grow(at + 1)
            columns = self._columns
        columns["left"][at], columns["right"][at] = left, NO_LINEAGE
        columns["part"][at], columns["event"][at], columns["name"][at] = part, event, name
        if self._values.shape[1]:
            self._values[at] = NO_REF
        self._size = at + 1
        return np.arange(at, at + 1)

    def _grow(self, size: int) -> None:
        capacity = max(size, 2 * len(self._columns["left"]))
        self._columns = {name: self._grown(old, capacity) for name, old in self._columns.items()}
        self._values = self._grown(self._values, capacity)

    def _grown(self, old: Int64, capacity: int) -> Int64:
        grown = np.empty((capacity, *old.shape[1:]), np.int64)
        grown[: self._size] = old[: self._size]
        return grown

    # ---------------------------------------------------------------- what a node stands for

    def selected(self, node: int) -> Iterator[tuple[int, int, int]]:
        """(part, event, name's ref) of the events of a node, from left to right."""
        for at in self.path(node):
            yield tuple(int(self._columns[name][at]) for name in ("part", "event", "name"))  # type: ignore[misc]

    def valued(self, node: int) -> Iterator[tuple[int, list[int]]]:
        """(event, values) of the events of a node, from left to right."""
        for at in self.path(node):
            yield int(self._columns["event"][at]), self._values[at].tolist()

    def path(self, node: int) -> list[int]:
        """The leaves and steps of a node, from left to right."""
        left, right, event = (self._columns[name] for name in ("left", "right", "event"))
        pending, found = [node], []
        while pending:  # from right to left
            at = pending.pop()
            if at == NO_LINEAGE:
                continue
            if event[at] >= 0:
                found.append(at)
            pending += [int(left[at]), int(right[at])]
        found.reverse()
        return found

    def selection(self, node: int) -> frozenset[int]:
        """The numbers of the events of a node."""
        return frozenset(self._columns["event"][self.path(node)].tolist())

    def selection_marks(self, steps: Int64) -> UInt64:
        """Per run's last step some numbers that are equal where the selections are; they may be equal where those are not."""
        marks: UInt64 = _selection_marks(self._columns["left"], self._columns["event"], steps)
        return marks

    def values(self, step: int, part: int, which: int) -> Int64:
        """The refs of an aggregated variable's values up to a step, in the iterations of a part that bind it."""
        refs: Int64 = _step_values(self._columns["left"], self._columns["part"], self._values[:, which], step, part)
        return refs

    def event(self, leaves: Int64) -> Int64:
        """The events of leaves."""
        return self._columns["event"][leaves]

    def sets(self, roots: Int64) -> UInt64:
        """[root, 2]: what tells the set of leaves that each reaches: sums of their numbers, mixed, each leaf once."""
        left, right = self._columns["left"], self._columns["right"]
        owner, node = np.arange(len(roots)), roots
        found: list[Int64] = []
        while len(node):
            some = node != NO_LINEAGE
            owner, node = owner[some], node[some]
            leaf = left[node] == NO_LINEAGE
            found.append(np.stack([owner[leaf], node[leaf]], axis=1))
            inner = node[~leaf]
            owner, node = np.tile(owner[~leaf], 2), np.concatenate([left[inner], right[inner]])
        pairs = np.unique(np.concatenate(found), axis=0)
        told = np.zeros((len(roots), 2), np.uint64)
        for column, mix in enumerate(_MIXES):
            mixed = (pairs[:, 1].astype(np.uint64) + np.uint64(1)) * mix
            mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIXES[0]
            np.add.at(told[:, column], pairs[:, 0], mixed ^ (mixed >> np.uint64(32)))
        return told

    def branch(self, roots: Int64) -> tuple[Lineage, Int64]:
        """The nodes that some reach, apart from the rest, and where each of the given ones stands among them."""
        kept, places = self._kept(self.live(roots))
        copy = Lineage()
        copy._columns = {name: column.take(kept) for name, column in self._columns.items()}
        copy._values = self._values.take(kept, axis=0)
        copy._size = len(kept)
        for side in ("left", "right"):
            copy._columns[side] = places.take(copy._columns[side])
        return copy, places.take(roots)

    # ---------------------------------------------------------------- what is kept

    def live(self, roots: Int64) -> Mask:
        """Which nodes the given ones reach."""
        mark: Mask = _marked(self._columns["left"], self._columns["right"], self._size, roots)
        return mark

    def keep(self, mark: Mask) -> Int64:
        """Drop the unmarked nodes; returns the new place of each old one. Its last entry is NO_LINEAGE, so that -1 stays -1."""
        self._made = None
        kept, places = self._kept(mark)
        columns = {name: column.take(kept) for name, column in self._columns.items()}
        columns["left"], columns["right"] = places.take(columns["left"]), places.take(columns["right"])
        values, self._size = self._values.take(kept, axis=0), len(kept)
        if _ROOMY * self._size < len(self._values):
            self._columns, self._values = columns, values
            return places
        # the room stays: what was needed once is needed again, and to grow into new memory costs more than to fill it
        for name, column in columns.items():
            self._columns[name][: self._size] = column
        self._values[: self._size] = values
        return places

    def _kept(self, mark: Mask) -> tuple[Int64, Int64]:
        """The marked nodes, and the new place of each old one; the last entry, which -1 takes, is NO_LINEAGE."""
        kept = np.flatnonzero(mark)
        places = np.full(self._size + 1, NO_LINEAGE, np.int64)
        places[kept] = np.arange(len(kept))
        return kept, places

    def truncate(self, size: int) -> None:
        """Forget the nodes added since there were `size`."""
        self._size, self._made = size, None

    def events(self) -> Int64:
        """The numbers of all events in it."""
        found = self._columns["event"][: self._size]
        return found[found >= 0]

    @property
    def names(self) -> Int64:
        """The refs of events' names, to be exchanged in place."""
        return self._columns["name"][: self._size]

    def refs(self) -> Iterator[Int64]:
        """Each array of text refs, to be exchanged in place."""
        self._made = None
        yield self.names
        yield self._values[: self._size]

    def columns(self) -> dict[str, Int64]:
        """The columns by name, as they are written down."""
        found = {f"lineage.{name}": self._columns[name][: self._size] for name in _COLUMNS}
        return {**found, "lineage.values": self._values[: self._size]} if self._values.shape[1] else found

    def load(self, columns: Mapping[str, Int64]) -> None:
        """Take over what `columns` gave."""
        self._columns = {name: columns[f"lineage.{name}"].copy() for name in _COLUMNS}
        self._size, self._made = len(self._columns["left"]), None
        none = np.full((self._size, self._values.shape[1]), NO_REF)  # of a state that was written without any
        self._values = columns.get("lineage.values", none).copy()


@njit(cache=True)
def _marked(left, right, size, roots):  # type: ignore[no-untyped-def]
    """Costs what is reached: each marked node is looked at once. Steps go down one side; the other waits on the stack."""
    mark = zeroed(size, np.bool_)
    stack = fresh(64, np.int64)
    for root in roots:
        stack[0] = root
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            while node != NO_LINEAGE and not mark[node]:
                mark[node] = True
                if right[node] != NO_LINEAGE:
                    if depth == len(stack):
                        stack = lengthened(stack, depth)
                    stack[depth] = right[node]
                    depth += 1
                node = left[node]
    return mark


@njit(cache=True)
def _selection_marks(left, event, ends):  # type: ignore[no-untyped-def]
    """The greatest event, the greatest of the events mixed, a bit for each: an event that stands twice changes none of them."""
    marks = zeroed((len(ends), 3), np.uint64)
    for i in range(len(ends)):
        node = ends[i]
        while node != NO_LINEAGE:
            plain = np.uint64(event[node])
            mixed = (plain ^ _MIX) * _MIX
            mixed ^= mixed >> np.uint64(31)
            marks[i, 0] = max(marks[i, 0], plain)
            marks[i, 1] = max(marks[i, 1], mixed)
            marks[i, 2] |= np.uint64(1) << (mixed & np.uint64(63))
            node = left[node]
    return marks


@njit(cache=True)
def _step_values(left, part, values, step, wanted):  # type: ignore[no-untyped-def]
    count, at = 0, step
    while at != NO_LINEAGE:
        count += part[at] == wanted and values[at] >= 0
        at = left[at]
    found = fresh(count, np.int64)
    while step != NO_LINEAGE:
        if part[step] == wanted and values[step] >= 0:
            count -= 1
            found[count] = values[step]
        step = left[step]
    return found
