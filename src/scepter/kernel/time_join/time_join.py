"""`TimeJoin`: two inputs joined by their mappings and by when they happened (spec/20-ep-sparql rules 1 to 6, 11 and 13).

State: the rows of a side that a later row of the other side can still find. BEFORE needs the left side alone, OPTIONAL the
optional one, equal ends nothing beyond the instant. With a longest duration, what has started too long ago goes; of an optional
side that still keeps its partner from standing alone, one row of each look stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from scepter.algebra.scope import mentioned_variables
from scepter.kernel.condition.time_conditions import TimeConditions
from scepter.kernel.exists.exists_answers import AskedConditions
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import ByRows, Until
from scepter.kernel.row.told import ToldBefore
from scepter.kernel.rows import Int64, Mask, Rows, concat, empty, merged
from scepter.kernel.star.expiry import Held
from scepter.kernel.state.heavy_keys import Shed, heavy, told
from scepter.kernel.state.state_parts import InParts
from scepter.kernel.time_join import sweep as kernel
from scepter.kernel.time_join.join_table import Table
from scepter.kernel.time_join.sweep import EXISTS, INNER, LATE, NO_BOUND, OUTER, Rules, sweep
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.star_nodes import NUMBER
from scepter.physical.nodes.time_nodes import Kind, TimeJoin
from scepter.physical.planning.pattern_properties import asks_exists, asks_time
from scepter.rdf.distinct import distinct
from scepter.timeline import MIN_INSTANT, Allen

_LEFT_FIRST = frozenset((Allen.BEFORE, Allen.MEETS, Allen.OVERLAPS, Allen.STARTS, Allen.DURING))
_RIGHT_FIRST = frozenset((Allen.AFTER, Allen.METBY, Allen.OVERLAPPEDBY, Allen.STARTEDBY, Allen.CONTAINS))
_EQUAL_ENDS = frozenset((Allen.FINISHES, Allen.FINISHEDBY, Allen.EQUALS))


class DisorderedError(Exception):
    """A row came that earlier answers of the same stretch of time should have seen."""


class TimeJoined(ByRows, InParts):
    """A time join at work.

    With `rounds` it stands among rules that feed each other: the rows of a stretch of time come in several calls, between
    `open_rounds` and `close_rounds`, and not in order of end. Then both sides are kept for the stretch, and a partner that an
    answer has missed is told: over several instants by an error, so that whoever asked tries shorter stretches, at one instant
    by the pair, since within a stratum each derivation stays.
    """

    def __init__(
        self,
        node: TimeJoin,
        conditions: TimeConditions | AskedConditions | None,
        lineage: Lineage,
        *,
        rounds: bool = False,
        held: Held | None = None,
        once: Callable[[Rows], Rows] | None = None,
    ) -> None:
        """`held` tells when occurrences go, where that is not known on arrival; `once` which rows are one."""
        self.schema: Schema = node.schema
        self._node = node
        self._conditions = conditions
        self._lineage = lineage
        left, right = node.left.schema, node.right.schema
        self._places = [node.schema.column(name) for name in right.variables]
        self._shared = tuple((left.column(name), right.column(name)) for name in (*node.keys, *node.loose))
        self._rules = self._ordered = _rules(node)
        self._opened: tuple[int, int] | None = None
        self._single = True
        if rounds:
            probes = (True, node.kind is Kind.INNER)
            self._rules = self._rules._replace(probes=probes, keeps=(True, True), once=(False, False), ordered=False)
        self._tables = (
            Table(len(left.variables), left.columns(node.keys), left.columns(node.loose)),
            Table(len(right.variables), right.columns(node.keys), right.columns(node.loose)),
        )
        self._parts = dict(zip(("left", "right"), self._tables, strict=True))
        self._told = ToldBefore()
        self._trace = _trace(node)
        self._held = held
        self._each_once = once or each_once
        self._numbers = [[i for i, name in enumerate(side.variables) if name.startswith(NUMBER)] for side in (left, right)]

    @property
    def is_inner(self) -> bool:
        """Whether an answer is a pair, so that it is the same whatever comes later."""
        return self._node.kind is Kind.INNER

    # ---- rows

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The pairs that new rows of either side complete, or the new rows of the left side that have partners or none."""
        left, right = inputs[0], inputs[1]
        if not len(left) and not len(right):
            return concat([], len(self.schema.variables))
        if self._opened is not None:
            return self._round(left, right)
        first = self._tables[0].size, self._tables[1].size
        sides = self._tables[0].add(left), self._tables[1].add(right)
        pairs = sweep(_order(left.end, right.end, first, left_first=not self._rules.keeps[1]), *sides, self._rules)
        found = self._found(left, first[0], self._meeting(pairs))
        if self._node.in_parts:
            found = self._told.solutions(found, until)
        for side, (table, rows) in enumerate(zip(self._tables, (left, right), strict=True)):
            if len(rows) and not self._rules.keeps[side] and not _timeless(rows).any():
                table.truncate(first[side])
        return found

    # ---- rounds

    def open_rounds(self, *, single: bool) -> None:
        """A stretch of time begins, of one instant or of several."""
        self._opened = self._tables[0].size, self._tables[1].size
        self._single = single

    def reopen(self) -> None:
        """Back to the beginning of the stretch."""
        assert self._opened is not None
        for table, size in zip(self._tables, self._opened, strict=True):
            table.truncate(size)

    def close_rounds(self) -> None:
        """The stretch is over: what no later row looks for goes."""
        self._opened = None
        for table, kept in zip(self._tables, self._ordered.keeps, strict=True):
            if not kept:
                table.keep(table.start > table.end)

    def _round(self, left: Rows, right: Rows) -> Rows:
        first = self._tables[0].size, self._tables[1].size
        kind = self._node.kind
        sides = self._tables[0].add(left), self._tables[1].add(right)
        of_right, of_left = first[1] + np.arange(len(right)), -1 - first[0] - np.arange(len(left))
        late = np.empty((0, 2), np.int64)
        if kind is not Kind.INNER and len(right):
            late = self._kept(sweep(of_right, *sides, self._rules._replace(mode=LATE, probes=(False, True), bound=NO_BOUND)))
            if len(late) and not self._single:
                raise DisorderedError
            of_right = of_right[:0]  # they are linked now
        pairs = sweep(np.concatenate([of_right, of_left]), *sides, self._rules)
        found = [self._found(left, first[0], pairs)]
        if len(late) and kind is Kind.OUTER:
            found.append(within(self._merged(late), self._node.longest))
        elif len(late) and kind is Kind.SEMI:
            found.append(self._tables[0].take(np.unique(late[:, 0])))
        return self._each_once(concat(found, len(self.schema.variables)).by_end())

    def _meeting(self, pairs: Int64) -> Int64:
        """The pairs that are there together: what is fleeting meets only what ends with it, and what has no time. But it looks
        for optional partners among all that has ended. Where rows go, both are there when the later one ends."""
        if self._node.expiring:
            return self._while_there(pairs)
        if not self._node.fleeting:
            return pairs
        left, right = self._tables[0].take(pairs[:, 0]), self._tables[1].take(pairs[:, 1])
        fleeting = is_fleeting(right) | (is_fleeting(left) & (self._node.kind is Kind.INNER))
        kept: Int64 = pairs[~fleeting | _timeless(left) | _timeless(right) | (left.end == right.end)]
        return kept

    def _while_there(self, pairs: Int64) -> Int64:
        left, right = self._tables[0].take(pairs[:, 0]), self._tables[1].take(pairs[:, 1])
        end = np.maximum(left.end, right.end)
        kept: Int64 = pairs[(self._until(left, 0) > end) & (self._until(right, 1) > end)]
        return kept

    def _until(self, rows: Rows, side: int) -> Int64:
        """When rows go, as far as that is known by now."""
        until = rows.until
        if self._held is not None:
            for column in self._numbers[side]:
                numbers = np.nan_to_num(rows.number[:, column]).astype(np.int64)
                until = np.minimum(until, self._held.until(numbers))
        return until

    def _found(self, left: Rows, first: int, pairs: Int64) -> Rows:
        kind = self._node.kind
        if kind is Kind.INNER:
            return self._once(self._merged(pairs)) if len(pairs) else empty(len(self.schema.variables))
        if kind is Kind.OUTER:
            return self._outer(left, first, pairs)
        partnered = np.zeros(len(left), np.bool_)
        partnered[self._kept(pairs)[:, 0] - first] = True
        return left.take(partnered if kind is Kind.SEMI else ~partnered)

    def _outer(self, left: Rows, first: int, pairs: Int64) -> Rows:
        """With each partner, or alone. A partner may be too long ago for the result: then there is no result."""
        pairs = self._kept(pairs)
        alone = np.ones(len(left), np.bool_)
        alone[pairs[:, 0] - first] = False
        width = len(self.schema.variables)
        wide = left.take(alone).columns([i if i < left.width else -1 for i in range(width)])
        rows = concat([wide, self._merged(pairs)], width).by_end()
        return self._once(within(rows, self._node.longest))

    def _once(self, rows: Rows) -> Rows:
        """Each row once, where solutions are a set."""
        return rows.by_end() if self._node.expiring else self._each_once(rows)

    def _kept(self, pairs: Int64) -> Int64:
        """The pairs that meet the conditions."""
        if self._node.kind is Kind.MINUS:
            return pairs if self._node.keys else pairs[self._overlap(pairs)]
        if self._conditions is None or not len(pairs):
            return pairs
        right = self._tables[1].take(pairs[:, 1])
        names = tuple(dict.fromkeys((*self._node.left.schema.variables, *self._node.right.schema.variables)))
        places = [names.index(name) for name in self._node.right.schema.variables]
        left = self._tables[0].take(pairs[:, 0])
        both = Rows(
            *merged(left.mappings, right.mappings, places, len(names)),
            right.start,
            right.end,
            left.since,
            left.until,
            left.lineage,
        )
        if isinstance(self._conditions, AskedConditions):
            return pairs[self._conditions.holds(both, left.end)]
        return pairs[self._conditions.holds(both)]

    def _overlap(self, pairs: Int64) -> Mask:
        """Pairs with a variable that both bind (SPARQL's MINUS)."""
        left, right = self._tables[0].take(pairs[:, 0]), self._tables[1].take(pairs[:, 1])
        found: Mask = np.zeros(len(pairs), np.bool_)
        for of_left, of_right in self._shared:
            found |= (left.ids[:, of_left] != 0) & (right.ids[:, of_right] != 0)
        return found

    def _merged(self, pairs: Int64) -> Rows:
        left, right = self._tables[0].take(pairs[:, 0]), self._tables[1].take(pairs[:, 1])
        return Rows(
            *merged(left.mappings, right.mappings, self._places, len(self.schema.variables)),
            np.minimum(left.start, right.start),
            np.maximum(left.end, right.end),
            self._since(left, right),
            self._both_until(left, right),
            self._lineage.joined(left.lineage, right.lineage),
        )

    def _both_until(self, left: Rows, right: Rows) -> Int64:
        """Until the first of both goes; else, of rows without a time: whether they are static, or need nothing."""
        return np.minimum(left.until, right.until) if self._node.expiring else np.maximum(left.until, right.until)

    def _since(self, left: Rows, right: Rows) -> Int64:
        """What is fleeting stays so with what is, and with what has no time."""
        if not self._node.fleeting or self._node.kind is Kind.OUTER:
            return left.since
        both = np.minimum(left.since, right.since)
        return np.where(_timeless(left), right.since, np.where(_timeless(right), left.since, both))

    # ---- instants that may be undone, and what is let go

    def undo(self) -> None:
        """Back to `save`."""
        super().undo()
        self._told.forget()

    def evict(self, time: int) -> None:
        """Let go of what no row that ends after `time` can find."""
        for side, table in enumerate(self._tables):
            if table.is_due:
                useful = self._useful(table, side, time)
                table.keep(useful & ((table.since == MIN_INSTANT) | (table.end > time)))  # what is fleeting meets nothing later

    def _useful(self, table: Table, side: int, time: int) -> Mask:
        timeless = table.start > table.end
        if self._node.expiring:
            there: Mask = timeless | (self._until(table.take(np.arange(table.size)), side) > time + 1)
            return there
        if self._node.relation in _EQUAL_ENDS:
            return timeless | (table.end > time)
        longest = self._node.longest
        if longest is None or time + 1 < np.iinfo(np.int64).min + longest:
            return np.ones(table.size, np.bool_)
        near: Mask = timeless | (table.start >= time + 1 - longest)
        if self._node.kind is Kind.INNER or side == 0:
            return near
        return near | self._first_of_each(table, near) if self._trace is not None else np.ones(table.size, np.bool_)

    def _first_of_each(self, table: Table, near: Mask) -> Mask:
        """Of the rows that are too long ago, the first of each look: it was there the longest."""
        assert self._trace is not None
        far = np.flatnonzero(~near)
        first = np.arange(min(1, len(far)))
        if self._trace:
            first, _ = distinct(np.ascontiguousarray(table.ids(self._trace)[far]))
        found: Mask = np.zeros(table.size, np.bool_)
        found[far[first]] = True
        return found

    def shed(self, most: int) -> list[Shed]:
        """Forget every key that has more rows on both sides together. What has no time comes only once, and stays."""
        timed = [np.flatnonzero(table.linked & (table.start <= table.end)) for table in self._tables]
        ids = np.concatenate([table.key_ids[at] for table, at in zip(self._tables, timed, strict=True)])
        refs = np.concatenate([table.key_refs[at] for table, at in zip(self._tables, timed, strict=True)])
        mask, first, counts = heavy(ids, most)
        if len(first):
            for table, at, gone in zip(self._tables, timed, np.split(mask, [len(timed[0])]), strict=True):
                wanted = np.ones(table.size, np.bool_)
                wanted[at[gone]] = False
                table.keep(wanted)
        return told(self._node.keys, refs, first, counts)

    # ---- state

    def state_rows(self) -> Mapping[str, int]:
        return {"solutions": sum(len(table) for table in self._tables)}


def _rules(node: TimeJoin) -> Rules:
    relation = kernel.ANY if node.relation is None else getattr(kernel, node.relation.value)
    longest = NO_BOUND if node.longest is None else node.longest
    if node.kind is Kind.INNER:
        keeps = node.relation not in _RIGHT_FIRST, node.relation not in _LEFT_FIRST
        return Rules(relation, INNER, (True, True), keeps, longest, (False, False), True)
    if node.fleeting or node.expiring:  # which partner a row meets is told after the search: all have to be tried
        mode = OUTER if node.kind is Kind.OUTER else INNER
        return Rules(relation, mode, (True, False), (False, True), NO_BOUND, (False, False), True)
    if node.kind is Kind.OUTER:
        # A condition may let an older partner pass and none of the newer ones: then all have to be tried.
        bound = NO_BOUND if node.conditions else longest
        return Rules(relation, OUTER, (True, False), (False, True), bound, (False, False), True)
    compared = bool(node.conditions) or (node.kind is Kind.MINUS and not node.keys)
    once = not node.conditions and node.relation is None
    return Rules(relation, INNER if compared else EXISTS, (True, False), (False, True), NO_BOUND, (False, once), True)


def _trace(node: TimeJoin) -> tuple[int, ...] | None:
    """The columns of the optional side by which rows that are too long ago are told apart; None where all have to stay."""
    if any(asks_time(each) or asks_exists(each) for each in node.conditions):
        return None
    names = {*node.keys, *node.loose}.union(*map(mentioned_variables, node.conditions))
    return tuple(i for i, name in enumerate(node.right.schema.variables) if name in names)


def _order(left: Int64, right: Int64, first: tuple[int, int], *, left_first: bool) -> Int64:
    """All new rows by end; of one end, those of the side that is looked for come first: they have ended by then."""
    sides = [(-1 - first[0] - np.arange(len(left)), left), (first[1] + np.arange(len(right)), right)]
    steps, ends = (np.concatenate(columns) for columns in zip(*(sides if left_first else sides[::-1]), strict=True))
    return steps[np.argsort(ends, kind="stable")]  # both are in order: a merge


def is_fleeting(rows: Rows) -> Mask:
    """Which rows are there at their own instant alone."""
    found: Mask = rows.since != MIN_INSTANT
    return found


def _timeless(rows: Rows) -> Mask:
    found: Mask = rows.start > rows.end
    return found


def within(rows: Rows, longest: int | None) -> Rows:
    """The rows that last no longer than that; those without a time last no time at all."""
    if longest is None or not len(rows):
        return rows
    far = (rows.end >= np.iinfo(np.int64).min + longest) & (rows.start < rows.end - longest)
    return rows if not far.any() else rows.take(~far)


def each_once(rows: Rows, grounds: Int64 | None = None) -> Rows:
    """Each mapping and interval once: solutions are a set. Duplicates have equal ends, so that they come together. Of one that
    is fleeting and one that lasts, the latter stays. Where `grounds` are given, rows of different ones stay apart."""
    if len(rows) < 2:
        return rows
    shown = [rows.ids.view(np.int64), rows.start[:, None], rows.end[:, None]]
    columns = np.concatenate(shown if grounds is None else [*shown, grounds[:, None]], axis=1)
    fleeting = is_fleeting(rows)
    if fleeting.any():
        lasting_first = np.argsort(fleeting, kind="stable")
        first, _ = distinct(columns.take(lasting_first, axis=0))
        return rows.take(lasting_first[first]).by_end()
    first, _ = distinct(columns)
    return rows if len(first) == len(rows) else rows.take(first)
