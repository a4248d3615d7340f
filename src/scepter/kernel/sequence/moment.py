"""A batch of whole instants, as the steps of a chain look at it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.sequence.run_windows import rank_of
from scepter.kernel.sequence.runs import Runs
from scepter.kernel.sequence.step_search import Keyed, Order, StepSearch
from scepter.timeline import MAX_INSTANT

MANY = 1 << 10
"""More rows than so many are gone through in the order of a key."""


@dataclass(slots=True)
class Moment:
    """A batch of whole instants for one query: a table per atom, the instants there were, and how far time is known."""

    tables: list[Solutions]
    groups: UInt64
    instants: Int64
    """(group, instant) pairs, sorted."""
    until: int
    """All events up to here are in this batch or were in one before."""
    closed: int
    """No event up to here can come any more. (Below `until` while more events of its last instant may come.)"""
    seen: dict[int, tuple[int, Int64]] | None = None
    """For windows that count events: per group the events before, and the times of the last ones."""
    leaves: dict[int, tuple[int | None, Int64]] = field(default_factory=dict)
    """Of a scan's table, by its identity: the part that its leaves of lineage are of, if it is one, and the leaves."""
    links: dict[Hashable, Any] = field(default_factory=dict)
    """What rows have found, by table and condition (`in_flight.Links`); what the steps made of tables."""

    def keyed(self, search: StepSearch, partition: tuple[int, ...]) -> Keyed:
        """An atom's table, sorted for a search: once for all that look at the same of it."""
        table = self.tables[search.atom]
        alike = id(table), search.columns, search.bounded, partition
        found: Keyed | None = self.links.get(alike)
        if found is None:
            ranks = None
            if self.seen is not None:
                ranks = rank_of(self.seen, key_of(table.ids, partition), table.time, "right")
            found = self.links[alike] = search.keyed(table, self._ordered(table, search.columns), ranks)
        return found

    def by_key(self, table: Solutions, columns: tuple[int, ...]) -> Int64:
        """All rows of a table; many in the order of a join key: what the runs of one key look at is then near."""
        many = columns and len(table) > MANY
        return self._ordered(table, columns).rows if many else np.arange(len(table), dtype=np.int64)

    def holds(self, runs: Runs, places: Int64, at: Int64) -> NDArray[np.bool_]:
        """Whether instants are in the windows of runs; one behind it is no next event: the time of the run is over."""
        inside = at <= runs.limit[places]
        if self.seen is not None:
            inside &= rank_of(self.seen, runs.group[places], at, "right") <= runs.rank_limit[places]
        return inside

    def concerns_later(self, runs: Runs) -> NDArray[np.bool_]:
        """Which runs a later event can still concern."""
        open_ = runs.limit > self.until
        if self.seen is not None:
            ahead = np.full(len(runs), MAX_INSTANT, np.int64)
            open_ &= rank_of(self.seen, runs.group, ahead, "left") < runs.rank_limit
        return open_

    def _ordered(self, table: Solutions, columns: tuple[int, ...]) -> Order:
        """Steps that ask for the same pattern look at one table, and mostly in one order."""
        found: Order | None = self.links.get((id(table), columns))
        if found is None:
            found = self.links[id(table), columns] = Order.of(table, columns)
        return found
