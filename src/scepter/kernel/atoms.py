"""Atoms: scans united and conjoined into one table per step (SPAseq rule 6)."""

from __future__ import annotations

import numpy as np

from scepter.kernel.exact import holds_all
from scepter.kernel.solutions import Int64, Solutions, concat, empty, spread
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.texts import Texts
from scepter.physical.plan import AtomPlan, Branch, QueryPlan


def atom_table(
    atom: AtomPlan, plan: QueryPlan, scans: list[Solutions], texts: Texts, dataset: Dataset, graphs: dict[int, Graph]
) -> Solutions:
    """All solutions of an atom in order of time, with the branch each comes from."""
    room = max(len(branch.scans) for branch in atom.branches)
    parts = []
    for number, branch in enumerate(atom.branches):
        table, slots = _conjoin(branch, plan, scans)
        table = _joint_filter(branch, table, slots, plan, texts, dataset, graphs)
        places = [atom.slots.index(s) for s in slots]
        parts.append(spread(table, places, len(atom.slots), room, number))
    return concat(parts).by_time() if parts else empty(len(atom.slots), room)


def _conjoin(branch: Branch, plan: QueryPlan, scans: list[Solutions]) -> tuple[Solutions, tuple[int, ...]]:
    table, slots = scans[branch.scans[0]], plan.scans[branch.scans[0]].slots
    for scan in branch.scans[1:]:
        table, slots = _join(table, slots, scans[scan], plan.scans[scan].slots)
    return table, slots


def _join(a: Solutions, a_slots: tuple[int, ...], b: Solutions, b_slots: tuple[int, ...]) -> tuple[Solutions, tuple[int, ...]]:
    """Compatible rows at the same time; the events may be one and the same."""
    slots = (*a_slots, *(s for s in b_slots if s not in a_slots))
    left, right = _same_time(a, b)
    shared = [(a_slots.index(s), b_slots.index(s)) for s in a_slots if s in b_slots]
    for i, j in shared:
        x, y = a.ids[left, i], b.ids[right, j]
        keep = (x == y) | (x == 0) | (y == 0)
        left, right = left[keep], right[keep]
    wide_a = spread(a.take(left), range(len(a_slots)), len(slots), a.events.shape[1], 0)
    wide_b = spread(b.take(right), [slots.index(s) for s in b_slots], len(slots), b.events.shape[1], 0)
    from_b = wide_a.ids == 0
    return Solutions(
        wide_a.time,
        np.minimum(wide_a.start, wide_b.start),
        wide_a.branch,
        np.concatenate([wide_a.events, wide_b.events], axis=1),
        np.concatenate([wide_a.names, wide_b.names], axis=1),
        np.where(from_b, wide_b.ids, wide_a.ids),
        np.where(from_b, wide_b.refs, wide_a.refs),
        np.where(from_b, wide_b.number, wide_a.number),
        np.where(from_b, wide_b.scale, wide_a.scale),
    ), slots


def _same_time(a: Solutions, b: Solutions) -> tuple[Int64, Int64]:
    """All pairs of rows with equal times, of two tables in order of time."""
    lo = np.searchsorted(b.time, a.time, side="left")
    hi = np.searchsorted(b.time, a.time, side="right")
    count = hi - lo
    left = np.repeat(np.arange(len(a)), count)
    offset = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    return left, np.repeat(lo, count) + offset


def _joint_filter(
    branch: Branch, table: Solutions, slots: tuple[int, ...], plan: QueryPlan, texts: Texts, dataset: Dataset,
    graphs: dict[int, Graph],
) -> Solutions:  # fmt: skip
    """Filters of one side that look at the other."""
    if not branch.joint or not len(table):
        return table
    keep = np.ones(len(table), np.bool_)
    for row in range(len(table)):
        bindings = {plan.variables[s]: texts.term(int(table.refs[row, i])) for i, s in enumerate(slots) if table.ids[row, i]}
        for condition, scan in zip(branch.joint, branch.joint_scans, strict=True):
            graph = graphs.get(int(table.events[row, scan]))
            context = Context(dataset=dataset) if graph is None else Context(graph=graph, dataset=dataset)
            if not holds_all((condition,), bindings, context):
                keep[row] = False
                break
    return table.take(keep)
