"""A batch of whole instants, as the steps of a chain look at it."""

from __future__ import annotations

from dataclasses import dataclass, field

from scepter.kernel.scan.solutions import Int64, Solutions, UInt64
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.sequence.run_windows import rank_of
from scepter.kernel.sequence.step_search import Keyed, Order, StepSearch


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
    _keyed: dict[int, Keyed] = field(default_factory=dict)
    _orders: dict[tuple[int, tuple[int, ...]], Order] = field(default_factory=dict)

    def keyed(self, search: StepSearch, partition: tuple[int, ...]) -> Keyed:
        """An atom's table, sorted for a search."""
        if id(search) not in self._keyed:
            table = self.tables[search.atom]
            ranks = None
            if self.seen is not None:
                ranks = rank_of(self.seen, key_of(table.ids, partition), table.time, "right")
            self._keyed[id(search)] = search.keyed(table, self._ordered(table, search.columns), ranks)
        return self._keyed[id(search)]

    def _ordered(self, table: Solutions, columns: tuple[int, ...]) -> Order:
        """Steps that ask for the same pattern look at one table, and mostly in one order."""
        if (id(table), columns) not in self._orders:
            self._orders[id(table), columns] = Order.of(table, columns)
        return self._orders[id(table), columns]
