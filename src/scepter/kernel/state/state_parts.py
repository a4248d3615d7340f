"""State in parts: how operators keep rows, go back to where an instant began, and write down what they hold.

A part is replaced, never changed in place: to remember what it was is to be able to go back to it. Only refs and lineage are
exchanged in place, when texts or nodes are compacted, and then no instant is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from scepter.kernel.operator import ByTime, Until
from scepter.kernel.rows import Rows, concat, empty
from scepter.kernel.state.container import Arrays
from scepter.kernel.window.extent import Grid
from scepter.timeline import MAX_INSTANT, MIN_INSTANT


class Part(Protocol):
    """One part of an operator's state."""

    @property
    def state(self) -> Any:
        """What it is now, to be put back."""
        ...

    def restore(self, state: Any) -> None:
        """Back to what `state` was."""
        ...

    def dump(self, name: str) -> Arrays:
        """As arrays under a name."""
        ...

    def load(self, name: str, arrays: Arrays) -> None:
        """What `dump` wrote."""
        ...

    def tables(self) -> Sequence[Rows]:
        """The rows it holds, whose refs and lineage may be exchanged in place."""
        ...


class InParts(ByTime):
    """What an operator says of state that is in parts; `_parts` names them as they are written down."""

    _parts: Mapping[str, Part]
    _saved: Sequence[Any] = ()

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = [part.state for part in self._parts.values()]

    def undo(self) -> None:
        """Back to `save`."""
        for part, state in zip(self._parts.values(), self._saved, strict=True):
            part.restore(state)

    def dump(self) -> Arrays:
        """All parts."""
        return {key: array for name, part in self._parts.items() for key, array in part.dump(name).items()}

    def load(self, arrays: Arrays) -> None:
        """Take over what `dump` gave."""
        for name, part in self._parts.items():
            part.load(name, arrays)

    def _kept_rows(self) -> Iterator[Rows]:
        return (table for part in self._parts.values() for table in part.tables() if len(table))


class KeptRows:
    """Rows that their operator replaces."""

    def __init__(self, width: int) -> None:
        self.rows = empty(width)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def state(self) -> Rows:
        """The rows."""
        return self.rows

    def restore(self, state: Rows) -> None:
        """Back to what `state` was."""
        self.rows = state

    def dump(self, name: str) -> Arrays:
        """A column each; under no name they are called by themselves."""
        return self.rows.dump(name)

    def load(self, name: str, arrays: Arrays) -> None:
        """What `dump` wrote."""
        self.rows = Rows.load(arrays, name)

    def tables(self) -> Sequence[Rows]:
        """The rows, copied: what is exchanged in place has no other owner."""
        self.rows = self.rows.take(np.arange(len(self.rows)))
        return (self.rows,)


class KeptNumbers:
    """Some integers, instants mostly."""

    def __init__(self, *values: int) -> None:
        self.values: tuple[int, ...] = values

    @property
    def state(self) -> tuple[int, ...]:
        """The numbers."""
        return self.values

    def restore(self, state: tuple[int, ...]) -> None:
        """Back to what `state` was."""
        self.values = state

    def dump(self, name: str) -> Arrays:
        """One array."""
        return {name: np.array(self.values, np.int64)}

    def load(self, name: str, arrays: Arrays) -> None:
        """What `dump` wrote."""
        self.values = tuple(arrays[name].tolist())

    def tables(self) -> Sequence[Rows]:
        """None."""
        return ()


class Held:
    """Rows in any order, taken out in order of `since` (stable): they wait until the time has come at which they are there."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._rows: tuple[Rows, ...] = ()

    def __len__(self) -> int:
        return sum(map(len, self._rows))

    def due(self, rows: Rows, closed: int) -> Rows:
        """Take rows in; those that are there by `closed`."""
        every = concat([*self._rows, rows], self._width)
        now = every.since <= closed
        if bool(now.all()):
            self._rows, found = (), every
        else:
            later = every.take(~now)
            self._rows, found = (later,), every.take(now)
        if len(found) > 1 and bool(np.any(found.since[1:] < found.since[:-1])):
            return found.take(np.argsort(found.since, kind="stable"))
        return found

    @property
    def state(self) -> tuple[Rows, ...]:
        """What is held."""
        return self._rows

    def restore(self, state: tuple[Rows, ...]) -> None:
        """Back to what `state` was."""
        self._rows = state

    def dump(self, name: str) -> Arrays:
        """All that waits."""
        return concat(self._rows, self._width).dump(name)

    def load(self, name: str, arrays: Arrays) -> None:
        """What `dump` wrote."""
        rows = Rows.load(arrays, name)
        self._rows = (rows,) if len(rows) else ()

    def tables(self) -> Sequence[Rows]:
        """What is held."""
        return self._rows


class Clock(KeptNumbers):
    """How far evaluations are certain: up to the last multiple of the grid that the watermark has passed.
    Nothing is evaluated between two multiples, so nothing is cut there."""

    def __init__(self, grid: Grid | None) -> None:
        super().__init__(MIN_INSTANT - 1)
        self._grid = grid

    @property
    def closed(self) -> int:
        """The instant up to which all is known."""
        return self.values[0]

    def advance(self, until: Until) -> int:
        """The instant up to which all is known now."""
        if until.last:
            self.values = (MAX_INSTANT - 1,)
        else:
            time = until.time if self._grid is None else self._grid.floor(until.time)
            self.values = (max(self.closed, min(time, MAX_INSTANT - 1)),)
        return self.closed
