"""The content of a window as time goes on (spec/30-rsep-ql rule 1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scepter.kernel.windowed.items import Item
from scepter.kernel.windowed.union import UnionGraph

if TYPE_CHECKING:
    from scepter.kernel.windowed.scan import Scan


@dataclass(frozen=True, slots=True)
class LandmarkBounds:
    """`start <= time <= t`."""

    start: int

    def last(self, t: int) -> int:
        """The last time that is inside at t."""
        return t

    def first(self, t: int) -> int:
        """The first time that is inside at t."""
        return self.start

    def entry(self, time: int) -> int:
        """The first instant at which an item is inside."""
        return time

    def exit(self, time: int) -> int | None:
        """The first instant at which an item has gone; None if it never goes."""
        return None


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """`t' - width < time <= t'` with `t' = floor(t / step) * step`.

    >>> TimeBounds(5, 1).first(8), TimeBounds(5, 1).last(8), TimeBounds(3, 4).last(7), TimeBounds(3, 4).exit(2)
    (4, 8, 4, 8)
    """

    width: int
    step: int

    def last(self, t: int) -> int:
        """The last time that is inside at t."""
        return t // self.step * self.step

    def first(self, t: int) -> int:
        """The first time that is inside at t."""
        return self.last(t) - self.width + 1

    def entry(self, time: int) -> int:
        """The first instant at which an item could be inside."""
        return -(-time // self.step) * self.step

    def exit(self, time: int) -> int | None:
        """The first instant at which an item has gone."""
        return -(-(time + self.width) // self.step) * self.step


class WindowContent:
    """The items inside a window, told to the scans that read it and to the union graph, if a pattern asks for one."""

    __slots__ = ("_ahead", "_inside", "bounds", "graph", "scans")

    def __init__(self, bounds: LandmarkBounds | TimeBounds) -> None:
        self.bounds = bounds
        self.graph: UnionGraph | None = None
        self.scans: list[Scan] = []
        self._ahead: deque[Item] = deque()
        self._inside: deque[Item] = deque()

    def arrive(self, item: Item) -> None:
        """An item of the window's stream; items come in order of time."""
        self._ahead.append(item)

    def advance(self, t: int) -> bool:
        """Move on to t; whether the content that anybody looks at has changed."""
        changed = False
        first, last = self.bounds.first(t), self.bounds.last(t)
        while self._inside and self._inside[0].end < first:
            self._leave(self._inside.popleft())
            changed = True
        while self._ahead and self._ahead[0].end <= last:
            item = self._ahead.popleft()
            if item.end >= first:
                changed |= self._enter(item)
        return changed

    def _enter(self, item: Item) -> bool:
        seen = False
        for scan in self.scans:
            seen |= scan.enter(item)
        if self.graph is not None:
            self.graph.add(item.triples)
            seen = True
        # What nobody looks at needs no place; what never leaves is kept by those who look at it.
        if seen and isinstance(self.bounds, TimeBounds):
            self._inside.append(item)
        return seen

    def _leave(self, item: Item) -> None:
        for scan in self.scans:
            scan.leave(item)
        if self.graph is not None:
            self.graph.remove(item.triples)

    def consume(self, item: Item) -> None:
        """Hide an item from the scans; the union graph still has it (rule 9)."""
        for scan in self.scans:
            scan.leave(item)

    def next_change(self) -> int | None:
        """The next instant at which the content may change by what has arrived; None if it cannot."""
        changes = []
        if self._ahead:
            changes.append(self.bounds.entry(self._ahead[0].end))
        if self._inside and (gone := self.bounds.exit(self._inside[0].end)) is not None:
            changes.append(gone)
        return min(changes, default=None)

    def items(self) -> Iterator[Item]:
        """The items it holds."""
        yield from self._ahead
        yield from self._inside

    def __len__(self) -> int:
        return len(self._ahead) + len(self._inside)
