"""When a pair is evaluated, many instants at a time (spec/30-rsep-ql rule 2).

The instants of `schedule.py`, less those at which nothing can be new.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from scepter.kernel.windowed.pairs.rows import Int64
from scepter.timeline import MAX_INSTANT


def rounded_up(times: Int64, step: int) -> Int64:
    """The multiples of a step at or after some times; those after the end of all time never come."""
    times = times[times <= MAX_INSTANT - step]
    return -(-times // step) * step


class Ahead(Protocol):
    """What may be asked of a kernel."""

    def changes_ahead(self, closed: int) -> Int64:
        """The instants at which a window's content changes by what has its time up to `closed`."""
        ...


class Instants(Protocol):
    """A sequence of evaluation instants."""

    follow: int
    """After an evaluation that consumed, there is one so much later; 0 if that depends on the items."""

    def add(self, ends: Int64, numbers: Int64) -> None:
        """Items have arrived."""
        ...

    def forget(self, number: int) -> None:
        """Items from a number on have not arrived."""
        ...

    def due(self, closed: int, ahead: Ahead) -> Int64:
        """Take out the instants up to a time."""
        ...

    @property
    def end(self) -> int | None:
        """The last instant to come if no item does; None if there is none."""
        ...


class Changes:
    """Every instant at which there is an item."""

    follow = 0

    def __init__(self) -> None:
        self._items = np.empty((2, 0), np.int64)
        self._added: list[Int64] = []

    def add(self, ends: Int64, numbers: Int64) -> None:
        """Their times are instants."""
        self._added.append(np.stack([ends, numbers]))

    def _every(self) -> Int64:
        if self._added:
            self._items = np.concatenate([self._items, *self._added], axis=1)
            self._added = []
        return self._items

    def forget(self, number: int) -> None:
        """Neither are those later ones'."""
        items = self._every()
        self._items = items[:, items[1] < number]

    def due(self, closed: int, ahead: Ahead) -> Int64:
        """The times up to `closed`."""
        items = self._every()
        due = items[0] <= closed
        self._items = items[:, ~due]
        return np.unique(items[0, due])

    @property
    def end(self) -> int | None:
        """The time of the last item."""
        items = self._every()
        return int(items[0].max()) if items.size else None


class Given:
    """The instants given."""

    follow = 0

    def __init__(self, instants: Int64) -> None:
        self._left = instants

    def add(self, ends: Int64, numbers: Int64) -> None:
        """Items change nothing."""

    def forget(self, number: int) -> None:
        """Items change nothing."""

    def due(self, closed: int, ahead: Ahead) -> Int64:
        """Those up to `closed`."""
        until = int(np.searchsorted(self._left, closed, side="right"))
        due, self._left = self._left[:until], self._left[until:]
        return due

    @property
    def end(self) -> int | None:
        """The last of them."""
        return int(self._left[-1]) if len(self._left) else None


class Multiples:
    """Every multiple of a step at which a window's content may have changed, up to the first one after the last item."""

    def __init__(self, step: int) -> None:
        self.follow = step
        self._changes = Changes()
        self._ahead = np.empty(0, np.int64)
        self._last: int | None = None

    def add(self, ends: Int64, numbers: Int64) -> None:
        """The last one's time is remembered."""
        self._changes.add(ends, numbers)

    def forget(self, number: int) -> None:
        """Not those."""
        self._changes.forget(number)

    def due(self, closed: int, ahead: Ahead) -> Int64:
        """The multiples up to `closed`."""
        end = self._changes.end
        if end is not None:
            taken = self._changes.due(closed, ahead)
            self._last = int(taken[-1]) if len(taken) else self._last
        self._ahead = np.union1d(self._ahead, rounded_up(ahead.changes_ahead(closed), self.follow))
        until = int(np.searchsorted(self._ahead, closed, side="right"))
        due, self._ahead = self._ahead[:until], self._ahead[until:]
        return due

    @property
    def end(self) -> int | None:
        """The first multiple at or after the last item."""
        last = self._changes.end if self._changes.end is not None else self._last
        return None if last is None else min(-(-last // self.follow) * self.follow, MAX_INSTANT)
