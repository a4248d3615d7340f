"""State in parts: how operators keep rows, go back to where an instant began, and write down what they hold.

A part is replaced, never changed in place: to remember what it was is to be able to go back to it. Only refs and lineage are
exchanged in place, when texts or nodes are compacted, and then no instant is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from scepter.kernel.operator import ByTime, Texted, Until
from scepter.kernel.rows import Rows, concat, empty
from scepter.kernel.state.container import Arrays
from scepter.kernel.window.extent import Grid
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

V = TypeVar("V")


class Part(Protocol):
    """One part of an operator's state."""

    def save(self) -> None:
        """Start an instant that may be undone."""
        ...

    def undo(self) -> None:
        """Back to `save`."""
        ...

    def dump(self, name: str) -> Arrays:
        """As arrays under a name."""
        ...

    def load(self, name: str, arrays: Arrays) -> None:
        """What `dump` wrote."""
        ...

    def tables(self) -> Sequence[Texted]:
        """The rows it holds, whose refs and lineage may be exchanged in place."""
        ...


class InParts(ByTime):
    """What an operator says of state that is in parts: `_parts` by the names under which they are written down, and the
    attributes called `_replaced`, which are replaced, never changed in place; who has those writes them down itself."""

    _parts: Mapping[str, Part]
    _replaced: ClassVar[tuple[str, ...]] = ()
    _saved: Sequence[Any] = ()

    def save(self) -> None:
        self._saved = [getattr(self, name) for name in self._replaced]
        for part in self._parts.values():
            part.save()

    def undo(self) -> None:
        for name, value in zip(self._replaced, self._saved, strict=True):
            setattr(self, name, value)
        for part in self._parts.values():
            part.undo()

    def dump(self) -> Arrays:
        return {key: array for name, part in self._parts.items() for key, array in part.dump(name).items()}

    def load(self, arrays: Arrays) -> None:
        for name, part in self._parts.items():
            part.load(name, arrays)

    def _kept_rows(self) -> Iterator[Texted]:
        return (table for part in self._parts.values() for table in part.tables() if len(table))


class Kept(Generic[V]):
    """A part that is a value. Unless it says so, it holds no texts, and is not written down: it follows from other parts."""

    def __init__(self, value: V) -> None:
        self.value = self._saved = value

    def save(self) -> None:
        self._saved = self.value

    def undo(self) -> None:
        self.value = self._saved

    def dump(self, name: str) -> Arrays:
        return {}

    def load(self, name: str, arrays: Arrays) -> None:
        """Nothing."""

    def tables(self) -> Sequence[Rows]:
        return ()


class KeptRows(Kept[Rows]):
    """Rows that their operator replaces."""

    def __init__(self, width: int) -> None:
        super().__init__(empty(width))

    def __len__(self) -> int:
        return len(self.value)

    def dump(self, name: str) -> Arrays:
        """A column each; under no name they are called by themselves."""
        return self.value.dump(name)

    def load(self, name: str, arrays: Arrays) -> None:
        self.value = Rows.load(arrays, name)

    def tables(self) -> Sequence[Rows]:
        """The rows, copied: what is exchanged in place has no other owner."""
        self.value = self.value.take(np.arange(len(self.value)))
        return (self.value,)


class KeptNumbers(Kept[tuple[int, ...]]):
    """Some integers, instants mostly."""

    def __init__(self, *values: int) -> None:
        super().__init__(values)

    def dump(self, name: str) -> Arrays:
        return {name: np.array(self.value, np.int64)}

    def load(self, name: str, arrays: Arrays) -> None:
        self.value = tuple(arrays[name].tolist())


class Held(Kept[tuple[Rows, ...]]):
    """Rows in any order, taken out in order of `since` (stable): they wait until the time has come at which they are there."""

    def __init__(self, width: int) -> None:
        super().__init__(())
        self._width = width

    def __len__(self) -> int:
        return sum(map(len, self.value))

    def due(self, rows: Rows, closed: int) -> Rows:
        """Take rows in; those that are there by `closed`."""
        every = concat([*self.value, rows], self._width)
        now = every.since <= closed
        if bool(now.all()):
            self.value, found = (), every
        else:
            later = every.take(~now)
            self.value, found = (later,), every.take(now)
        if len(found) > 1 and bool(np.any(found.since[1:] < found.since[:-1])):
            return found.take(np.argsort(found.since, kind="stable"))
        return found

    def dump(self, name: str) -> Arrays:
        return concat(self.value, self._width).dump(name)

    def load(self, name: str, arrays: Arrays) -> None:
        rows = Rows.load(arrays, name)
        self.value = (rows,) if len(rows) else ()

    def tables(self) -> Sequence[Rows]:
        return self.value


class Clock(KeptNumbers):
    """How far evaluations are certain: up to the last multiple of the grid that the watermark has passed.
    Nothing is evaluated between two multiples, so nothing is cut there."""

    def __init__(self, grid: Grid | None) -> None:
        super().__init__(MIN_INSTANT - 1)
        self._grid = grid

    @property
    def closed(self) -> int:
        """The instant up to which all is known."""
        return self.value[0]

    def advance(self, until: Until) -> int:
        """The instant up to which all is known now."""
        if until.last:
            self.value = (MAX_INSTANT - 1,)
        else:
            time = until.time if self._grid is None else self._grid.floor(until.time)
            self.value = (max(self.closed, min(time, MAX_INSTANT - 1)),)
        return self.closed
