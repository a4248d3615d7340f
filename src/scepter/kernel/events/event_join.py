"""`EventJoin`: pairs of occurrences whose intervals stand in one of Allen's relations (spec/40-obep rule 3).

It is the time join with two differences. What is kept of a pair is a matter of `assertions` and `interval`. And rows may come
after their end: then both sides are kept, whatever the relation, and each new row looks for all of the other side.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scepter.algebra.events import Keep
from scepter.kernel.events.assertion_sets import AssertionSets
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64, Mask, Rows
from scepter.kernel.time_join.join_table import Table
from scepter.kernel.time_join.time_join import TimeJoined, within
from scepter.physical.nodes.event_nodes import EventJoin
from scepter.timeline import MAX_INSTANT, MIN_INSTANT, Allen

_COLUMN = 0
"""Where occurrences have their assertions."""


class EventJoined(TimeJoined):
    """An event join at work."""

    def __init__(self, node: EventJoin, sets: AssertionSets, lineage: Lineage) -> None:
        super().__init__(node, None, lineage)
        self._sets = sets
        self._join = node
        assert node.relation is not None
        self._relations = node.relation, node.relation.inverse
        if node.late:
            self._rules = self._rules._replace(keeps=(True, True), ordered=False)

    def _merged(self, pairs: Int64) -> Rows:
        left, right = self._tables[0].take(pairs[:, 0]), self._tables[1].take(pairs[:, 1])
        rows = super()._merged(pairs)
        sides = (left.ids[:, _COLUMN], left.refs[:, _COLUMN]), (right.ids[:, _COLUMN], right.refs[:, _COLUMN])
        match self._join.assertions:
            case Keep.LEFT:
                cells = sides[0]
            case Keep.RIGHT:
                cells = sides[1]
            case Keep.BOTH:
                cells = self._sets.union(*sides)
        rows.ids[:, _COLUMN], rows.refs[:, _COLUMN] = cells
        if self._join.interval is not Keep.BOTH:
            of = left if self._join.interval is Keep.LEFT else right
            rows = rows.during(of.start, of.end)
        return within(rows, self._join.within).by_end()

    def _useful(self, table: Table, side: int, time: int) -> Mask:
        """The rows to which one may still come that ends, and starts, late enough."""
        lag, longest = self._join.lags[1 - side], self._join.lengths[1 - side]
        if lag is None:
            return np.ones(table.size, np.bool_)
        end, start = _partners_until(self._relations[side], table.start, table.end)
        bound = self._join.longest
        if bound is not None:
            end = np.minimum(end, table.start + np.minimum(bound, MAX_INSTANT - np.maximum(table.start, 0)))
        ends_from = max(time - lag + 1, MIN_INSTANT)
        starts_from = MIN_INSTANT if longest is None else max(ends_from - longest, MIN_INSTANT)
        found: Mask = (end >= ends_from) & (start >= starts_from)
        return found

    def state_rows(self) -> Mapping[str, int]:
        return {"occurrences": sum(len(table) for table in self._tables)}


def _partners_until(relation: Allen, start: Int64, end: Int64) -> tuple[Int64, Int64]:
    """The greatest end and the greatest start that an `other` can have for `(start, end) relation other` to hold."""
    ever = np.full(len(end), MAX_INSTANT)
    match relation:
        case Allen.BEFORE:
            return ever, ever
        case Allen.AFTER:
            return start - 1, start - 1
        case Allen.MEETS:
            return ever, end
        case Allen.METBY:
            return start, start
        case Allen.OVERLAPS:
            return ever, end - 1
        case Allen.OVERLAPPEDBY:
            return end - 1, start - 1
        case Allen.STARTS:
            return ever, start
        case Allen.STARTEDBY:
            return end - 1, start
        case Allen.DURING:
            return ever, start - 1
        case Allen.CONTAINS:
            return end - 1, end - 1
        case Allen.FINISHES:
            return end, start - 1
        case Allen.FINISHEDBY:
            return end, end
        case Allen.EQUALS:
            return end, start
