"""A query of two event labels at work: batches of events in, new rows out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.background import Background
from scepter.kernel.intake import Intake
from scepter.kernel.scans import Scans
from scepter.kernel.texts import Texts
from scepter.kernel.windowed.content import LandmarkBounds, TimeBounds
from scepter.kernel.windowed.pairs.instants import rounded_up
from scepter.kernel.windowed.pairs.log import Identities, fresh
from scepter.kernel.windowed.pairs.rows import (
    COPIES,
    COUNT,
    END,
    ITEM,
    PLACE,
    STANDS_FOR_OTHERS,
    START,
    TWIN,
    Int64,
    PairRows,
    Side,
    UInt64,
    mixed,
    needed,
)
from scepter.kernel.windowed.pairs.steps import run
from scepter.kernel.windowed.pairs.waiting import WaitingRows, arrivals
from scepter.physical.pairs import ALL, EACH, PairPlan
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

Bounds = LandmarkBounds | TimeBounds


@dataclass(frozen=True, slots=True)
class Sources:
    """The events behind rows: those of row i stand from `first[i]` to `first[i + 1]`."""

    first: Int64
    side: Int64
    number: Int64
    name: Int64


@dataclass(frozen=True, slots=True)
class NewRows:
    """Rows for the output, in columns as projected."""

    start: Int64
    end: Int64
    ids: UInt64
    refs: Int64
    sources: Sources


class PairKernel:
    """The windows and the sequence of one `PairPlan`. Mappings wait until their time has come."""

    def __init__(self, plan: PairPlan, bounds: Mapping[IRI, Bounds], key: TermKey, background: Background) -> None:
        self.plan = plan
        self._sides = (plan.left, plan.right)
        self._scans = [Scans(side.scan, key, background) for side in self._sides]
        self._shared = [[side.variables.index(name) for name in plan.shared] for side in self._sides]
        self._rows = PairRows(
            (bounds[plan.left.window], bounds[plan.right.window]), (len(plan.left.variables), len(plan.right.variables))
        )
        self._waiting = [WaitingRows(len(side.variables)) for side in self._sides]
        self._last_instant = MIN_INSTANT
        # a policy leaves one pair per mapping; else one mapping may come about in several ways
        self._identities = Identities() if plan.rule.mode in (ALL, EACH) else None
        self._projected = [
            (0, plan.left.variables.index(name)) if name in plan.left.variables else (1, plan.right.variables.index(name))
            for name in plan.projected
        ]

    def take(self, intake: Intake, texts: Texts, wanted: Mapping[IRI, NDArray[np.bool_]]) -> None:
        """Match the wanted events of each stream."""
        for side, scans, shared, waiting in zip(self._sides, self._scans, self._shared, self._waiting, strict=True):
            ((kept, _),) = scans(intake, texts, {0: wanted[side.stream]}, None)
            waiting.add(arrivals(kept, shared))

    def forget(self, number: int) -> None:
        """Let go of what waits from an event's number on."""
        for waiting in self._waiting:
            waiting.forget(number)

    def changes_ahead(self, closed: int) -> Int64:
        """The instants at which a window's content changes by what has its time up to `closed`."""
        found = []
        for which, side in enumerate(self._rows.sides):
            ends = self._waiting[which].rows.end
            ends = ends[ends <= closed]
            landmark, width, step = side.bounds.tolist()
            found.append(ends if landmark else rounded_up(ends, step))
            if not landmark:
                found.append(rounded_up(ends[ends <= MAX_INSTANT - width] + width, step))
        return np.unique(np.concatenate(found))

    def evaluate(self, instants: Int64, closed: int, follow: int = 0) -> NewRows | None:
        """Take in what is due up to `closed` and evaluate at the instants, which are up to it, and `follow` after each one
        that consumed. The rows that are new at each."""
        rows = self._rows
        rows.append((self._waiting[0].due(closed), self._waiting[1].due(closed)))
        log, rows.selected, rows.doomed, self._last_instant = run(
            instants,
            closed,
            follow,
            self._last_instant,
            rows.sides[0],
            rows.sides[1],
            self.plan.rule,
            rows.selected,
            rows.doomed,
        )
        return self._new(*log.T) if len(log) else None

    def _new(self, instant: Int64, sign: Int64, left: Int64, right: Int64) -> NewRows | None:
        start, end = self._rows.sides[0].rows[left, START], self._rows.sides[1].rows[right, END]
        identity, changing = self._identified(start, end, left, right, sign)
        if not (sign[changing] > 0).any():
            return None
        at = (left, right)
        columns = [self._rows.ids[side][at[side], column] for side, column in self._projected]
        row = mixed([instant, start, end, *columns], len(sign))
        entries = np.flatnonzero(changing)
        entries = entries[fresh(row[entries], sign[entries])]
        if not len(entries):
            return None
        refs = [self._rows.refs[side][at[side][entries], column] for side, column in self._projected]
        owners, ways = np.arange(len(entries)), entries
        if not changing.all():
            owners, ways = _every_way(entries, identity, instant, np.flatnonzero(~changing & (sign > 0)))
        return NewRows(
            start[entries], end[entries], _table([c[entries] for c in columns], len(entries), np.uint64),
            _table(refs, len(entries), np.int64), self._sources(owners, left[ways], right[ways], len(entries)),
        )  # fmt: skip

    def _identified(self, start: Int64, end: Int64, left: Int64, right: Int64, sign: Int64) -> tuple[UInt64, NDArray[np.bool_]]:
        """The event mapping of each entry of the log, and whether it comes or goes by it."""
        if self._identities is None:
            return np.zeros(len(sign), np.uint64), np.ones(len(sign), np.bool_)
        identity = mixed([start, end, *self._rows.ids[0][left].T, *self._rows.ids[1][right].T], len(sign))
        return identity, self._identities.changes(identity, sign)

    def _sources(self, owners: Int64, left: Int64, right: Int64, rows: int) -> Sources:
        found = []
        for which, holders in enumerate((left, right)):
            side = self._rows.sides[which]
            owner, row = _copies(side, owners, holders)
            found.append(np.stack([owner, np.full(len(row), which), side.rows[row, ITEM], self._rows.names[which][row]]))
        owner, which, number, name = np.concatenate(found, axis=1)
        order = np.argsort(owner, kind="stable")
        first = np.searchsorted(owner[order], np.arange(rows + 1))
        return Sources(first, which[order], number[order], name[order])

    # ---------------------------------------------------------------- state

    def state_rows(self) -> Mapping[str, int]:
        """Rows inside and ahead of the windows, mappings inside, and those of the answer that are remembered."""
        sides = self._rows.sides
        return {
            "items": sum(len(self._rows.inside(which)) for which in (0, 1)),
            "mappings": sum(int((side.rows[: side.at[COUNT], COPIES] > 0).sum()) for side in sides),
            "rows": len(self._rows.selected) if self._identities is None else len(self._identities),
            "buffered": sum(len(waiting.rows) for waiting in self._waiting),
        }

    def live_events(self) -> Int64:
        """The numbers of the events inside, ahead and waiting."""
        inside = [side.rows[self._rows.inside(which), ITEM] for which, side in enumerate(self._rows.sides)]
        return np.concatenate([*inside, *(waiting.rows.item for waiting in self._waiting)])

    def swap_refs(self) -> Iterator[Int64]:
        """Each array of text refs, for the caller to exchange in place; what nothing needs is let go first."""
        keep = [needed(side) for side in self._rows.sides]
        kept = [int(each.sum()) for each in keep]
        self._rows.compact(keep, 2 * max(kept), 2 * sum(kept))
        for which, count in enumerate(kept):
            yield self._rows.refs[which][:count]
            yield self._rows.names[which][:count]
        for waiting in self._waiting:
            yield from waiting.refs()


def _copies(side: Side, owners: Int64, holders: Int64) -> tuple[Int64, Int64]:
    """The rows of mappings, one per item that gives them, with their owners."""
    found_owners, found = [], []
    while len(holders):
        own = side.rows[holders, PLACE] != STANDS_FOR_OTHERS
        found_owners.append(owners[own])
        found.append(holders[own])
        after = side.rows[holders, TWIN]
        more = after >= 0
        owners, holders = owners[more], after[more]
    return np.concatenate(found_owners), np.concatenate(found)


def _every_way(entries: Int64, identity: UInt64, instant: Int64, others: Int64) -> tuple[Int64, Int64]:
    """The entries with the further ways to their mappings at the same instant, each with the place it belongs to."""
    place = {key: i for i, key in enumerate(zip(identity[entries].tolist(), instant[entries].tolist(), strict=True))}
    keys = zip(identity[others].tolist(), instant[others].tolist(), strict=True)
    further = [(place[key], other) for key, other in zip(keys, others.tolist(), strict=True) if key in place]
    more = np.array(further, np.int64).reshape(-1, 2)
    return np.concatenate([np.arange(len(entries)), more[:, 0]]), np.concatenate([entries, more[:, 1]])


def _table(columns: list[NDArray[np.generic]], rows: int, kind: type) -> NDArray:  # type: ignore[type-arg]
    return np.stack(columns, axis=1) if columns else np.empty((rows, 0), kind)
