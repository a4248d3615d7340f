"""`GapJoin`: what comes before something else with nothing between (spec/20-ep-sparql rules 3 and 5).

State: the left rows that a later right row can still follow, and the rows between that can still stand between. With a longest
duration both go when they have started too long ago. Invariants: both tables are in order of end, and so are their chains.

Among rules that feed each other the right side and what is between are there in the first round of a stretch (the planner sees
to it); left rows come in all rounds. Those of later rounds look ahead, into what the first round brought, and take their places
in the chains when the stretch is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scepter.kernel.gap_join.gap_search import (
    Ahead,
    Betweens,
    Lefts,
    Rights,
    entries_of,
    forget_firsts,
    in_order,
    link_lefts,
    look_ahead,
    look_back,
    soonest_of,
    tell_alike,
    top_all,
)
from scepter.kernel.interrupts import interruptible
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import ByRows, Until
from scepter.kernel.rows import Int64, Mask, Rows, UInt64, empty, merged
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.heavy_keys import Shed, heavy, told
from scepter.kernel.state.state_parts import InParts
from scepter.kernel.time_join.join_table import Table, chains_of, grown, moved
from scepter.kernel.time_join.sweep import NO_BOUND, Chains
from scepter.kernel.time_join.time_join import DisorderedError, each_once
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.time_nodes import GapJoin
from scepter.rdf.distinct import distinct

_MIX = np.uint64(0x9E3779B97F4A7C15)


class GapJoined(ByRows, InParts):
    """A gap join at work."""

    def __init__(self, node: GapJoin, lineage: Lineage) -> None:
        self.schema: Schema = node.schema
        self._lineage = lineage
        self._longest = node.longest
        self._bound = NO_BOUND if node.longest is None else node.longest
        self._least = node.shortest or 0
        left, right, between = (each.schema for each in node.inputs)
        self._places = [node.schema.column(name) for name in right.variables]
        self._of_right = list(right.columns(node.keys))
        self._gaps = [list(schema.columns(node.gap_keys)) for schema in (left, right)]
        self._of_between = list(between.columns(node.gap_keys))
        self._names, self._gap_names = node.keys, node.gap_keys
        self._lefts = Table(len(left.variables), left.columns(node.keys), ())
        self._betweens = Table(len(between.variables), between.columns(node.gap_keys), ())
        self._parts = {"left": self._lefts, "between": self._betweens}
        self._marks: UInt64 = np.empty((0, 1), np.uint64)
        self._firsts = chains_of(0, 1)
        self._first_end: Int64 = np.empty(0, np.int64)
        self._tops: Int64 = np.empty(0, np.int64)
        self._opened: tuple[int, int] | None = None
        self._single = True
        self._rights: tuple[Rows, Rights] | None = None
        self._ahead: Ahead | None = None
        self._later = False

    # ---- rows

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        left, right, between = inputs
        if self._opened is not None and self._rights is not None:
            assert not len(right) and not len(between), "they come with the first round"
            return self._round(left)
        known = self._lefts.size, self._betweens.size
        lefts, betweens = self._add_left(left), self._add_between(between)
        rights = self._looking(right)
        if self._opened is not None:
            self._rights = right, rights
        kinds, rows = visits(left, between, right, known)
        pairs = interruptible(look_back, lambda: (right.end,), kinds, rows, lefts, betweens, rights, self._bound, self._least)
        return self._merged(pairs, right)

    def _looking(self, rows: Rows) -> Rights:
        whole = np.ascontiguousarray
        ids, start, end = whole(rows.ids), whole(rows.start), whole(rows.end)
        last, group = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        repeated = tell_alike(ids, start, end, last, group)
        keys, gap_keys = ids.take(self._of_right, axis=1), ids.take(self._gaps[1], axis=1)
        return Rights(keys, gap_keys, start, end, last, group, repeated)

    def _merged(self, pairs: Int64, rights: Rows) -> Rows:
        left, right = self._lefts.take(pairs[:, 0]), rights.take(pairs[:, 1])
        rows = Rows(
            *merged(left.mappings, right.mappings, self._places, len(self.schema.variables)),
            left.start, right.end, left.since, np.maximum(left.until, right.until),
            self._lineage.joined(left.lineage, right.lineage),
        )  # fmt: skip
        return each_once(rows.by_end())

    def _add_left(self, rows: Rows) -> Lefts:
        first = self._lefts.size
        side = self._lefts.add(rows)
        self._make_room(first)
        self._marks[first : self._lefts.size, 0] = _marks(rows)
        return Lefts(side, self._marks, self._firsts, self._first_end)

    def _make_room(self, known: int) -> None:
        """What is told of left rows beside their table has the room that they have."""
        room = len(self._lefts.side.start)
        if room > len(self._first_end):
            self._marks = grown(self._marks, known, room)
            self._renewed_lefts(known)

    def _renewed_lefts(self, known: int) -> None:
        """The first end of each mapping and start anew, for so many rows."""
        side = self._lefts.side
        room = len(side.start)
        self._first_end = np.empty(room, np.int64) if len(self._first_end) != room else self._first_end
        self._firsts = chains_of(room, 1, self._firsts)
        link_lefts(Lefts(side, self._marks, self._firsts, self._first_end), 0, known, False)

    def _add_between(self, rows: Rows) -> Betweens:
        known = self._betweens.size
        side = self._betweens.add(rows)
        return self._renewed_betweens(known) if len(side.start) > len(self._tops) else Betweens(side, self._tops)

    def _renewed_betweens(self, known: int) -> Betweens:
        side = self._betweens.side
        self._tops = np.empty(len(side.start), np.int64)
        found = Betweens(side, self._tops)
        top_all(found, known)
        return found

    # ---- rounds

    def open_rounds(self, *, single: bool) -> None:
        """A stretch of time begins, of one instant or of several."""
        self._opened, self._single = (self._lefts.size, self._betweens.size), single
        self._later = False

    def reopen(self) -> None:
        """Back to the beginning of the stretch."""
        assert self._opened is not None
        self._truncate(*self._opened)
        self._rights = self._ahead = None

    def close_rounds(self) -> None:
        """The stretch is over: left rows of later rounds take their places."""
        assert self._opened is not None
        first = self._opened[0]
        if self._later:
            rows = self._lefts.take(np.arange(first, self._lefts.size)).by_end()
            self._truncate(first, self._betweens.size)
            lefts = self._add_left(rows)
            link_lefts(lefts, first, self._lefts.size, True)
        self._opened = self._rights = self._ahead = None

    def _round(self, left: Rows) -> Rows:
        if not len(left):
            return empty(len(self.schema.variables))
        assert self._rights is not None
        first = self._lefts.size
        self._later = True
        lefts = self._add_left(left)
        lefts.side.chains.entry[first : self._lefts.size] = -1  # not in the chains, where the order is that of ends
        in_order = link_lefts(lefts, first, self._lefts.size, False)
        if not in_order and not self._single:
            raise DisorderedError
        rows, rights = self._rights
        if self._ahead is None:
            self._ahead = self._sorted(rights)
        gap_keys = np.ascontiguousarray(left.ids[:, self._gaps[0]])
        given = first, self._lefts.size, lefts, gap_keys, self._ahead, rights, self._bound, self._least
        pairs = interruptible(look_ahead, lambda: (rows.end,), *given)
        return self._merged(pairs, rows)

    def _sorted(self, rights: Rights) -> Ahead:
        # A gap begins where the first row of a mapping and start ended, which may lie before the stretch.
        between = self._betweens.take(np.arange(self._betweens.size))
        keys, entries = _numbered(rights.keys)
        order = np.lexsort((rights.start, entries))
        gap_keys, gap_entries = _numbered(np.ascontiguousarray(between.ids[:, self._of_between]))
        gap_order = np.lexsort((between.start, gap_entries))
        bounds, gap_bounds = _bounds(entries), _bounds(gap_entries)
        soonest = np.empty(len(between), np.int64)
        soonest_of(between.end[gap_order], gap_bounds, soonest)
        return Ahead(
            keys, bounds, order, rights.start[order],
            gap_keys, gap_bounds, between.start[gap_order], soonest,
        )  # fmt: skip

    # ---- instants that may be undone, and what is let go

    def undo(self) -> None:
        super().undo()
        forget_firsts(self._firsts, self._lefts.size)

    def _truncate(self, left: int, between: int) -> None:
        self._lefts.truncate(left)
        self._betweens.truncate(between)
        forget_firsts(self._firsts, left)

    def evict(self, time: int) -> None:
        """Let go of what has started too long ago to be of use after `time`."""
        if self._longest is None or time + 1 < np.iinfo(np.int64).min + self._longest:
            return
        for table in (self._lefts, self._betweens):
            if table.is_due:
                self._keep(table, table.start >= time + 1 - self._longest)

    def shed(self, most: int) -> list[Shed]:
        """Forget every key that has more rows. What is between goes with all left rows that it may stand behind: else there
        would be nothing between where something was."""
        lefts, betweens, found = self._lefts, self._betweens, []
        together = self._names == self._gap_names
        if not together:
            at = np.flatnonzero(lefts.linked)
            mask, first, counts = heavy(lefts.key_ids[at], most)
            found += told(self._names, lefts.key_refs[at], first, counts)
            self._forget(lefts, at[mask])
        at, there = np.flatnonzero(lefts.linked), np.flatnonzero(betweens.linked)
        gaps = lefts.ids(tuple(self._gaps[0]))[at]
        ids, refs = betweens.key_ids[there], betweens.key_refs[there]
        if together:
            ids, refs = np.concatenate([ids, gaps]), np.concatenate([refs, lefts.key_refs[at]])
        mask, first, counts = heavy(ids, most)
        found += told(self._gap_names, refs, first, counts)
        self._forget(betweens, there[mask[: len(there)]])
        self._forget(lefts, at[_among(gaps, ids[first])])
        return found

    def _forget(self, table: Table, rows: Int64) -> None:
        if len(rows):
            wanted = np.ones(table.size, np.bool_)
            wanted[rows] = False
            self._keep(table, wanted)

    def _keep(self, table: Table, wanted: Mask) -> Int64:
        places = table.keep(wanted)
        if table is self._lefts:
            self._marks = moved(self._marks, places, len(table.side.start))
            self._renewed_lefts(table.size)
        else:
            self._renewed_betweens(table.size)
        return places

    # ---- state

    def load(self, arrays: Arrays) -> None:
        super().load(arrays)
        size = self._lefts.size
        self._marks = np.empty((len(self._lefts.side.start), 1), np.uint64)
        self._marks[:size, 0] = _marks(self._lefts.take(np.arange(size)))
        self._renewed_lefts(size)
        self._renewed_betweens(self._betweens.size)

    def state_rows(self) -> Mapping[str, int]:
        return {"solutions": len(self._lefts) + len(self._betweens)}


def _among(ids: UInt64, some: UInt64) -> Mask:
    """Which rows are among some others."""
    _, where = distinct(np.ascontiguousarray(np.concatenate([some, ids])))
    found: Mask = np.isin(where[len(some) :], where[: len(some)])
    return found


def _marks(rows: Rows) -> UInt64:
    """What mappings with a start are told apart by: a hash of ids, which are hashes under a key themselves."""
    marks = np.zeros(len(rows), np.uint64)
    for column in (rows.start.view(np.uint64), *rows.ids.T):
        marks = (marks ^ (marks >> np.uint64(29)) ^ column) * _MIX
    return marks ^ (marks >> np.uint64(32))


def visits(left: Rows, between: Rows, right: Rows, known: tuple[int, int]) -> tuple[Int64, Int64]:
    """New rows by end, those of the right side first among equals: they look for what has ended before."""
    kinds, rows = np.empty((2, len(left) + len(between) + len(right)), np.int64)
    whole = np.ascontiguousarray
    in_order(whole(left.end), whole(between.end), whole(right.end), np.array([*known, 0], np.int64), kinds, rows)
    return kinds, rows


def _numbered(keys: UInt64) -> tuple[Chains, Int64]:
    """The different keys, and which one each row has."""
    chains, entries = chains_of(len(keys), keys.shape[1]), np.empty(len(keys), np.int64)
    entries_of(chains, keys, entries)
    return chains, entries


def _bounds(entries: Int64) -> Int64:
    return np.concatenate([[0], np.cumsum(np.bincount(entries))]).astype(np.int64)
