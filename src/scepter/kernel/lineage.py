"""What rows were made of: a graph of nodes, so that nothing is copied per row.

A leaf is one event (or triple occurrence) that a labelled part of the pattern selected. An inner node joins two others. Rows
share nodes, joins add one node a row. Nodes are in the order they were made: a node's operands stand before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numba import njit

from scepter.kernel.rows import NO_LINEAGE, Int64, Mask, UInt64

_MIXES = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
_COLUMNS = ("left", "right", "part", "event", "name")


class Lineage:
    """Columns of nodes. Of a leaf `part`, `event` and `name` (a ref, -1 without one) are told and `left`, `right` are
    NO_LINEAGE; of a join, the other way round."""

    __slots__ = ("_columns", "_size")

    def __init__(self) -> None:
        self._columns: dict[str, Int64] = {name: np.empty(64, np.int64) for name in _COLUMNS}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def leaves(self, part: int | Int64, event: Int64, name: Int64) -> Int64:
        """A leaf for each event, all of one part or each of its own."""
        none = np.broadcast_to(np.int64(NO_LINEAGE), event.shape)
        return self._append(left=none, right=none, part=np.broadcast_to(part, event.shape), event=event, name=name)

    def leaves_of(self, part: Int64, event: Int64, name: Int64) -> Int64:
        """A leaf for each event that is one (not below zero), of the part that selected it."""
        found = np.full(len(event), NO_LINEAGE, np.int64)
        some = np.flatnonzero(event >= 0)
        none = np.full(len(some), NO_LINEAGE, np.int64)
        found[some] = self._append(left=none, right=none, part=part[some], event=event[some], name=name[some])
        return found

    def told(self, leaves: Int64) -> tuple[Int64, Int64, Int64]:
        """The part, the event and the name's ref of each leaf; below zero where there is none."""
        some = np.flatnonzero(leaves != NO_LINEAGE)
        found = tuple(np.full(len(leaves), -1, np.int64) for _ in range(3))
        for column, name in zip(found, ("part", "event", "name"), strict=True):
            column[some] = self._columns[name][leaves[some]]
        return found[0], found[1], found[2]

    def part(self, nodes: Int64, parts: Int64) -> None:
        """Say which part each of some leaves is of."""
        self._columns["part"][nodes] = parts

    def joined(self, left: Int64, right: Int64) -> Int64:
        """A node for each pair; where one side has none it is the other side's."""
        found = np.where(left == NO_LINEAGE, right, left)
        both = np.flatnonzero((left != NO_LINEAGE) & (right != NO_LINEAGE))
        if len(both):
            none = np.full(len(both), NO_LINEAGE, np.int64)
            found[both] = self._append(left=left[both], right=right[both], part=none, event=none, name=none)
        return found

    def _append(self, **columns: Int64) -> Int64:
        count = len(columns["left"])
        size = self._size + count
        if size > len(self._columns["left"]):
            for name, old in self._columns.items():
                grown = np.empty(max(size, 2 * len(old)), np.int64)
                grown[: self._size] = old[: self._size]
                self._columns[name] = grown
        for name, column in columns.items():
            self._columns[name][self._size : size] = column
        places = np.arange(self._size, size, dtype=np.int64)
        self._size = size
        return places

    def selected(self, node: int) -> Iterator[tuple[int, int, int]]:
        """(part, event, name's ref) of the leaves of a node, from left to right."""
        pending = [node]
        columns = self._columns
        while pending:
            at = pending.pop()
            if at == NO_LINEAGE:
                continue
            if columns["event"][at] >= 0:
                yield int(columns["part"][at]), int(columns["event"][at]), int(columns["name"][at])
            else:
                pending += [int(columns["right"][at]), int(columns["left"][at])]

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
        """The nodes that some reach, apart from the rest, and where each of the given ones stands among them. Costs what they
        reach, not what there is."""
        kept: Int64 = np.sort(_reached(self._columns["left"], self._columns["right"], np.zeros(self._size, np.bool_), roots))
        copy = Lineage()
        copy._columns = {name: self._columns[name][kept] for name in _COLUMNS}
        copy._size = len(kept)
        for side in ("left", "right"):
            column = copy._columns[side]
            inner = column != NO_LINEAGE
            column[inner] = np.searchsorted(kept, column[inner])
        return copy, np.where(roots == NO_LINEAGE, NO_LINEAGE, np.searchsorted(kept, roots))

    def nameless(self, names: Int64) -> Int64:
        """The events of the leaves that have no name, by the refs of names."""
        events = self._columns["event"][: self._size]
        return events[(events >= 0) & (names < 0)]

    def live(self, roots: Int64) -> Mask:
        """Which nodes the given ones reach."""
        mark: Mask = _marked(self._columns["left"], self._columns["right"], self._size, roots)
        return mark

    def keep(self, mark: Mask) -> Int64:
        """Drop the unmarked nodes; returns the new place of each old one. Its last entry is NO_LINEAGE, so that -1 stays -1."""
        kept = np.flatnonzero(mark)
        places = np.full(self._size + 1, NO_LINEAGE, np.int64)
        places[kept] = np.arange(len(kept))
        columns = {name: self._columns[name][kept] for name in _COLUMNS}
        columns["left"], columns["right"] = places[columns["left"]], places[columns["right"]]
        self._columns, self._size = columns, len(kept)
        return places

    def truncate(self, size: int) -> None:
        """Forget the nodes added since there were `size`."""
        self._size = size

    def events(self) -> Int64:
        """The numbers of all events in it."""
        found = self._columns["event"][: self._size]
        return found[found >= 0]

    @property
    def names(self) -> Int64:
        """The refs of events' names, to be exchanged in place."""
        return self._columns["name"][: self._size]

    def columns(self) -> dict[str, Int64]:
        """The columns by name, as they are written down."""
        return {f"lineage.{name}": self._columns[name][: self._size] for name in _COLUMNS}

    def load(self, columns: Mapping[str, Int64]) -> None:
        """Take over what `columns` gave."""
        self._columns = {name: columns[f"lineage.{name}"].copy() for name in _COLUMNS}
        self._size = len(self._columns["left"])


@njit(cache=True)
def _marked(left, right, size, roots):  # type: ignore[no-untyped-def]
    mark = np.zeros(size, np.bool_)
    for root in roots:
        if root != NO_LINEAGE:
            mark[root] = True
    for node in range(size - 1, -1, -1):  # operands stand before their join
        if mark[node] and left[node] != NO_LINEAGE:
            mark[left[node]] = True
            mark[right[node]] = True
    return mark


@njit(cache=True)
def _reached(left, right, mark, roots):  # type: ignore[no-untyped-def]
    """The nodes that some reach. The marks are fresh zeros, of which only the pages that are touched become memory."""
    found = np.empty(max(16, 2 * len(roots)), np.int64)
    count = 0
    for root in roots:
        if root != NO_LINEAGE and not mark[root]:
            mark[root] = True
            if count == len(found):
                found = np.concatenate((found, np.empty_like(found)))
            found[count] = root
            count += 1
    at = 0
    while at < count:
        node = found[at]
        at += 1
        for below in (left[node], right[node]):
            if below != NO_LINEAGE and not mark[below]:
                mark[below] = True
                if count == len(found):
                    found = np.concatenate((found, np.empty_like(found)))
                found[count] = below
                count += 1
    return found[:count]
