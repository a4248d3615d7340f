"""The tree of selected events: each run points at its last event, each event at the one before.

Runs share their beginnings, so that a Kleene iteration of k events costs k nodes, not k squared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.kernel.solutions import Int64, UInt64
from scepter.rdf.distinct import distinct

ROOT = -1
_MIX = np.uint64(0x9E3779B97F4A7C15)
_COLUMNS = ("_parent", "_part", "_event", "_name", "_values")


@dataclass(frozen=True, slots=True)
class NodeBranch:
    """A part of the tree that stays as it is: columns per node, and the last node of each of some runs."""

    parents: Int64
    parts: Int64
    events: Int64
    names: Int64
    ends: Int64

    def path(self, row: int) -> list[int]:
        """The nodes of a run, from the first event to the last."""
        places, node = [], int(self.ends[row])
        while node != ROOT:
            places.append(node)
            node = int(self.parents[node])
        places.reverse()
        return places


class Nodes:
    """Columns: parent, part (which label), event number, event name's ref, and refs of aggregated values."""

    def __init__(self, values: int) -> None:
        self._parent: Int64 = np.empty(64, np.int64)
        self._part: Int64 = np.empty(64, np.int64)
        self._event: Int64 = np.empty(64, np.int64)
        self._name: Int64 = np.empty(64, np.int64)
        self._values: Int64 = np.empty((64, values), np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, parent: Int64, part: int, event: Int64, name: Int64, values: Int64) -> Int64:
        """Add nodes; returns their places. Equal children of one node are one node, unless values are kept with them."""
        if len(parent) > 1 and not values.shape[1]:
            first, where = distinct(np.stack([parent, event], axis=1))
            if len(first) < len(parent):
                return self._append(parent[first], part, event[first], name[first], values[first])[where]
        return self._append(parent, part, event, name, values)

    def _append(self, parent: Int64, part: int, event: Int64, name: Int64, values: Int64) -> Int64:
        size = self._size + len(parent)
        if size > len(self._parent):
            self._grow(max(size, 2 * len(self._parent)))
        at = slice(self._size, size)
        self._parent[at], self._part[at], self._event[at], self._name[at] = parent, part, event, name
        self._values[at] = values
        places = np.arange(self._size, size, dtype=np.int64)
        self._size = size
        return places

    def _grow(self, capacity: int) -> None:
        for name in _COLUMNS:
            old = getattr(self, name)
            new = np.empty((capacity, *old.shape[1:]), np.int64)
            new[: self._size] = old[: self._size]
            setattr(self, name, new)

    def path(self, node: int) -> list[int]:
        """The nodes from the first event to the given one."""
        places = []
        while node != ROOT:
            places.append(node)
            node = int(self._parent[node])
        places.reverse()
        return places

    def branch(self, ends: Int64) -> NodeBranch:
        """The nodes that some runs' last nodes reach, apart from the rest: a node that many share stands there once."""
        parent, kept, leaves = _reached(self._parent, self._size, ends)
        return NodeBranch(parent, self._part[kept], self._event[kept], self._name[kept], leaves)

    def selection(self, node: int) -> frozenset[int]:
        """The numbers of the events from the first to the given one."""
        return frozenset(self._event[self.path(node)].tolist())

    def selection_marks(self, ends: Int64) -> UInt64:
        """Per run's last node some numbers that are equal where the selections are; they may be equal where those are not."""
        marks: UInt64 = _selection_marks(self._parent, self._event, ends)
        return marks

    def values(self, node: int, part: int, which: int) -> Int64:
        """The refs of an aggregated variable's values up to a node, in the iterations of a part that bind it."""
        refs: Int64 = _values(self._parent, self._part, self._values, node, part, which)
        return refs

    def truncate(self, size: int) -> None:
        """Forget the nodes added since there were `size`."""
        self._size = size

    def live(self, roots: Int64) -> NDArray[np.bool_]:
        """Which nodes the given ones can reach."""
        mark: NDArray[np.bool_] = _marked(self._parent, self._size, roots)
        return mark

    def keep(self, mark: NDArray[np.bool_]) -> Int64:
        """Drop the unmarked nodes; returns the new place of each old one (ROOT for dropped)."""
        places = np.full(self._size + 1, ROOT, np.int64)
        places[:-1][mark] = np.arange(int(mark.sum()))
        kept = np.flatnonzero(mark)
        parents = self._parent[kept]
        self._parent = places[parents]  # ROOT is -1: the last place, which is ROOT
        self._part, self._event = self._part[kept], self._event[kept]
        self._name, self._values = self._name[kept], self._values[kept]
        self._size = len(kept)
        return places

    def columns(self) -> dict[str, Int64]:
        """The columns by name: views, so that refs can be exchanged in place."""
        return {f"nodes{name.replace('_', '.')}": getattr(self, name)[: self._size] for name in _COLUMNS}

    def load(self, columns: Mapping[str, Int64]) -> None:
        """Take over columns that `columns` gave."""
        for name in _COLUMNS:
            setattr(self, name, columns[f"nodes{name.replace('_', '.')}"].copy())
        self._size = len(self._parent)

    def events(self) -> Int64:
        """The event numbers of all nodes."""
        return self._event[: self._size]


@njit(cache=True)
def _marked(parent, size, ends):  # type: ignore[no-untyped-def]
    mark = np.zeros(size, np.bool_)
    for end in ends:
        node = end
        while node != ROOT and not mark[node]:
            mark[node] = True
            node = parent[node]
    return mark


@njit(cache=True)
def _reached(parent, size, ends):  # type: ignore[no-untyped-def]
    """(parents among the kept, the kept nodes, each end's place among them); parents stand before their children."""
    place = np.full(size, -1, np.int64)
    kept = np.empty(size, np.int64)
    count = 0
    stack = np.empty(size, np.int64)
    for end in ends:
        depth = 0
        node = end
        while node != ROOT and place[node] < 0:
            stack[depth] = node
            depth += 1
            node = parent[node]
        while depth > 0:
            depth -= 1
            place[stack[depth]] = count
            kept[count] = stack[depth]
            count += 1
    new_parent = np.empty(count, np.int64)
    for i in range(count):
        above = parent[kept[i]]
        new_parent[i] = ROOT if above == ROOT else place[above]
    leaves = np.full(len(ends), ROOT, np.int64)
    for i in range(len(ends)):
        if ends[i] != ROOT:
            leaves[i] = place[ends[i]]
    return new_parent, kept[:count].copy(), leaves


@njit(cache=True)
def _selection_marks(parent, event, ends):  # type: ignore[no-untyped-def]
    """The greatest event, the greatest of the events mixed, a bit for each: an event that stands twice changes none of them."""
    marks = np.zeros((len(ends), 3), np.uint64)
    for i in range(len(ends)):
        node = ends[i]
        while node != ROOT:
            plain = np.uint64(event[node])
            mixed = (plain ^ _MIX) * _MIX
            mixed ^= mixed >> np.uint64(31)
            marks[i, 0] = max(marks[i, 0], plain)
            marks[i, 1] = max(marks[i, 1], mixed)
            marks[i, 2] |= np.uint64(1) << (mixed & np.uint64(63))
            node = parent[node]
    return marks


@njit(cache=True)
def _values(parent, part, values, node, wanted, which):  # type: ignore[no-untyped-def]
    count, at = 0, node
    while at != ROOT:
        count += part[at] == wanted and values[at, which] >= 0
        at = parent[at]
    found = np.empty(count, np.int64)
    while node != ROOT:
        if part[node] == wanted and values[node, which] >= 0:
            count -= 1
            found[count] = values[node, which]
        node = parent[node]
    return found
