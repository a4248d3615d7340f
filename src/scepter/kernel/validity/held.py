"""Rows that wait until the time has come at which they are there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scepter.kernel.operator import Until
from scepter.kernel.rows import COLUMNS, Int64, Rows, concat
from scepter.kernel.state.container import Arrays
from scepter.kernel.window.extent import Grid
from scepter.timeline import MAX_INSTANT, MIN_INSTANT


class Held:
    """Rows in any order, taken out in order of `since` (stable). Batches are never changed in place."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._parts: tuple[Rows, ...] = ()

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def due(self, rows: Rows, closed: int) -> Rows:
        """Take rows in; those that are there by `closed`."""
        every = concat([*self._parts, rows], self._width)
        now = every.since <= closed
        if bool(now.all()):
            self._parts, found = (), every
        else:
            later = every.take(~now)
            self._parts, found = (later,), every.take(now)
        if len(found) > 1 and bool(np.any(found.since[1:] < found.since[:-1])):
            return found.take(np.argsort(found.since, kind="stable"))
        return found

    def rows(self) -> Rows:
        """All that waits."""
        return concat(self._parts, self._width)

    def replace(self, rows: Rows) -> None:
        """Hold these and no others."""
        self._parts = (rows,) if len(rows) else ()

    @property
    def state(self) -> tuple[Rows, ...]:
        """What is held, to be put back."""
        return self._parts

    def restore(self, state: tuple[Rows, ...]) -> None:
        """Back to what `state` was."""
        self._parts = state


class Clock:
    """How far evaluations are certain: up to the last multiple of the grid that the watermark has passed.

    Nothing is evaluated between two multiples, so nothing is cut there."""

    def __init__(self, grid: Grid | None) -> None:
        self._grid = grid
        self.closed = MIN_INSTANT - 1

    def advance(self, until: Until) -> int:
        """The instant up to which all is known now."""
        if until.last:
            self.closed = MAX_INSTANT - 1
        else:
            time = until.time if self._grid is None else self._grid.floor(until.time)
            self.closed = max(self.closed, min(time, MAX_INSTANT - 1))
        return self.closed


def dump_rows(prefix: str, rows: Rows) -> Arrays:
    """Rows as named arrays, as state is written."""
    return {f"{prefix}.{name}": getattr(rows, name) for name in COLUMNS}


def load_rows(prefix: str, arrays: Arrays) -> Rows:
    """What `dump_rows` wrote."""
    return Rows(*(arrays[f"{prefix}.{name}"] for name in COLUMNS))


def refs_of(parts: tuple[Rows, ...] | list[Rows]) -> Iterator[Int64]:
    """The refs of batches, to be exchanged in place."""
    return (part.refs for part in parts if len(part))
