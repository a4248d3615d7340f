"""Windows of the last n: rows are there until so many more have come.

What a stream has is numbered in order of time. What comes at one instant has its last number together: it comes and goes as a
whole, so that the answer hangs on no order among equal times. A window of n with step m holds at an instant with N numbers
given out those from `k - n + 1` to `k`, where k is the last multiple of m up to N.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scepter.kernel.operator import Until
from scepter.kernel.rows import Int64, Rows, concat, empty, timeless
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import Clock, InParts
from scepter.kernel.window.extent import Grid
from scepter.physical.nodes.nodes import Schema
from scepter.timeline import MAX_INSTANT


@dataclass(frozen=True, slots=True)
class _Pending:
    """Rows whose end in the window is not known. `since` is from when on they are to be told; MAX_INSTANT: not known."""

    rows: Rows
    number: Int64

    def take(self, kept: Int64) -> _Pending:
        return _Pending(self.rows.take(kept), self.number.take(kept))


class CountedWindow(InParts):
    """Inputs: the rows of a scan, and a row for each thing that is counted.

    A row's `until` is known only when enough has come after it. Nothing is taken back: up to where time is known a row is given
    in pieces, each of which begins where the last one ended.
    """

    _replaced = ("_pending", "_total")

    def __init__(self, schema: Schema, count: int, step: int, grid: Grid | None, *, timeless: bool = False) -> None:
        self.schema = schema
        self._count, self._step = count, step
        self._timeless = timeless
        self._clock = Clock(grid)
        self._total = 0
        self._pending = _Pending(empty(len(schema.variables)), np.empty(0, np.int64))
        self._parts = {"closed": self._clock}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        rows, counted = inputs
        times, numbers = self._numbered(counted.end)
        rows = rows.take(np.arange(len(rows)))  # a copy: refs are exchanged in place, by each who keeps them
        unknown = np.full(len(rows), MAX_INSTANT, np.int64)
        fresh = _Pending(self._in_time(rows).valid(unknown, unknown), numbers[np.searchsorted(times, rows.end)])
        held = self._with(fresh)
        moved = numbers // self._step * self._step
        since = np.minimum(held.rows.since, _first(times, moved, held.number))
        gone = _first(times, moved - self._count, held.number)
        stop = self._clock.advance(until) + 1
        return self._told(held, since, gone, MAX_INSTANT if until.last else stop)

    def _numbered(self, ends: Int64) -> tuple[Int64, Int64]:
        """The instants at which something is counted, and the last number of each."""
        times, counts = np.unique(ends, return_counts=True)
        numbers = self._total + np.cumsum(counts)
        self._total += int(counts.sum())
        return times, numbers

    def _in_time(self, rows: Rows) -> Rows:
        return rows.during(*timeless(len(rows))) if self._timeless else rows

    def _with(self, fresh: _Pending) -> _Pending:
        rows = concat([self._pending.rows, fresh.rows], len(self.schema.variables))
        return _Pending(rows, np.concatenate([self._pending.number, fresh.number]))

    def _told(self, held: _Pending, since: Int64, gone: Int64, stop: int) -> Rows:
        """Rows whose end is known, and of the others the piece up to `stop`; the rest waits."""
        over = gone < MAX_INSTANT
        until = np.where(over, gone, stop)
        given = np.flatnonzero(since < until)
        answer = held.rows.take(given).valid(since[given], until[given])
        told = since < until
        since = np.where(told, until, since)
        kept = np.flatnonzero(~over)
        self._pending = _Pending(held.rows.valid(since, held.rows.until), held.number).take(kept)
        return answer

    def dump(self) -> Arrays:
        """What waits, and how much was counted."""
        told = np.array([self._total, self._clock.closed], np.int64)
        return {"counted": told, "number": self._pending.number} | self._pending.rows.dump("held")

    def load(self, arrays: Arrays) -> None:
        self._total, closed = arrays["counted"].tolist()
        self._clock.value = (closed,)
        self._pending = _Pending(Rows.load(arrays, "held"), arrays["number"])

    def _kept_rows(self) -> Iterator[Rows]:
        yield self._pending.rows

    def state_rows(self) -> Mapping[str, int]:
        return {"content": len(self._pending.rows)}


def _first(times: Int64, numbers: Int64, wanted: Int64) -> Int64:
    """The first of some instants, with numbers that grow, that has reached each wanted number; MAX_INSTANT where none has.

    >>> _first(np.array([4, 9]), np.array([2, 3]), np.array([1, 3, 5])).tolist() == [4, 9, MAX_INSTANT]
    True
    """
    return np.append(times, MAX_INSTANT)[np.searchsorted(numbers, wanted, side="left")]
