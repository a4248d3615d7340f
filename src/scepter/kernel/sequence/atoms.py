"""Atoms: scans united and conjoined into one table per step (SPAseq rule 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from scepter.kernel.condition.row_conditions import Conditions, Surroundings
from scepter.kernel.rows import Int64, UInt64, merged
from scepter.kernel.rows import spread as stretches
from scepter.kernel.scan.solutions import Solutions, empty, spread
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.sequence.key_order import sort_by_key
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import EMPTY_GRAPH, Dataset, Graph
from scepter.kernel.texts import Texts
from scepter.physical.sequence_plan import AtomPlan, Branch, QueryPlan
from scepter.rdf.hashing import TermKey


class Atoms:
    """The atoms of one query, their filters compiled."""

    def __init__(self, plan: QueryPlan, key: TermKey, texts: Texts, dataset: Dataset, graphs: Mapping[int, Graph]) -> None:
        """`graphs` are the events' own by their number, where a filter with EXISTS looks at them."""
        self._plan = plan
        self._texts = texts
        self._dataset = dataset
        self._graphs = graphs
        self._joint = [[_joint(branch, plan, key) for branch in atom.branches] for atom in plan.atoms]
        self._plain = [_plain(atom, plan) for atom in plan.atoms]
        self._scans = [scan for scan in self._plain if scan is not None]

    def __call__(self, scans: Sequence[Solutions]) -> list[Solutions]:
        """Per atom: all solutions in order of time, with the branch each comes from."""
        if len(self._scans) == len(self._plain):  # which is so of most queries
            return [scans[plain] for plain in self._scans]
        return [
            scans[plain] if plain is not None else self._table(atom, joint, scans)
            for atom, joint, plain in zip(self._plan.atoms, self._joint, self._plain, strict=True)
        ]

    def _table(self, atom: AtomPlan, joint: Sequence[Conditions], scans: Sequence[Solutions]) -> Solutions:
        room = max(len(branch.scans) for branch in atom.branches)
        parts = []
        for number, (branch, conditions) in enumerate(zip(atom.branches, joint, strict=True)):
            table, slots = _conjoin(branch, self._plan, scans)
            table = conditions.keep(table, self._texts, self._surroundings(branch, table))
            places = [atom.slots.index(s) for s in slots]
            parts.append(spread(table, places, len(atom.slots), room, number))
        return Solutions.joined(parts).by_time() if parts else empty(len(atom.slots), room)

    def _surroundings(self, branch: Branch, table: Solutions) -> Surroundings:
        """A filter sees the graph of the event whose scan wrote it."""

        def of(row: int) -> Iterator[Context]:
            for scan in branch.joint_scans:
                yield Context(graph=self._graphs.get(int(table.events[row, scan]), EMPTY_GRAPH), dataset=self._dataset)

        return of


def _plain(atom: AtomPlan, plan: QueryPlan) -> int | None:
    """The one scan whose rows are the atom's as they are."""
    scans = [scan for branch in atom.branches for scan in branch.scans]
    if len(scans) != 1 or atom.branches[0].joint or plan.scans[scans[0]].slots != atom.slots:
        return None
    return scans[0]


def _joint(branch: Branch, plan: QueryPlan, key: TermKey) -> Conditions:
    """Filters of one side that look at the other."""
    return Conditions(branch.joint, [plan.variables[slot] for slot in _slots(branch, plan)], key)


def _slots(branch: Branch, plan: QueryPlan) -> tuple[int, ...]:
    """What a conjunction binds, in the order of its table's columns."""
    return tuple(dict.fromkeys(slot for scan in branch.scans for slot in plan.scans[scan].slots))


def _conjoin(branch: Branch, plan: QueryPlan, scans: Sequence[Solutions]) -> tuple[Solutions, tuple[int, ...]]:
    table, slots = scans[branch.scans[0]], plan.scans[branch.scans[0]].slots
    for scan in branch.scans[1:]:
        table, slots = _join(table, slots, scans[scan], plan.scans[scan].slots)
    return table, slots


def _join(a: Solutions, a_slots: tuple[int, ...], b: Solutions, b_slots: tuple[int, ...]) -> tuple[Solutions, tuple[int, ...]]:
    """Compatible rows at the same time; the events may be one and the same."""
    slots = (*a_slots, *(s for s in b_slots if s not in a_slots))
    shared = [(a_slots.index(s), b_slots.index(s)) for s in a_slots if s in b_slots]
    sure = [(i, j) for i, j in shared if a.ids[:, i].all() and b.ids[:, j].all()]
    left, right = _pairs(_key(a, [i for i, _ in sure]), _key(b, [j for _, j in sure]))
    same = a.time[left] == b.time[right]
    left, right = left[same], right[same]
    for i, j in shared:
        x, y = a.ids[left, i], b.ids[right, j]
        keep = (x == y) | (x == 0) | (y == 0)
        left, right = left[keep], right[keep]
    a, b = a.take(left), b.take(right)
    return Solutions(
        a.time,
        np.minimum(a.start, b.start),
        a.branch,
        np.concatenate([a.events, b.events], axis=1),
        np.concatenate([a.names, b.names], axis=1),
        *merged(a.mappings, b.mappings, [slots.index(s) for s in b_slots], len(slots)),
    ), slots


def _key(table: Solutions, columns: list[int]) -> UInt64:
    """Per row: its time and the terms of some columns, hashed."""
    return key_of(np.column_stack([table.time.view(np.uint64), table.ids[:, columns]]), tuple(range(1 + len(columns))))


def _pairs(a: UInt64, b: UInt64) -> tuple[Int64, Int64]:
    """All pairs of places with equal keys, in order of the places in `a`, then in `b`."""
    order = sort_by_key(b)
    ordered = b[order]
    lo = np.searchsorted(ordered, a, side="left")
    count = np.searchsorted(ordered, a, side="right") - lo
    left, place = stretches(count, lo)
    return left, order[place]
