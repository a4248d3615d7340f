"""A table that is probed by key, grows by batches and forgets: sorted into buckets, in runs of growing size.

A batch becomes a run; runs of similar size are merged, so that there are few of them and a row is moved a logarithmic number
of times. Runs are never changed in place: to keep the list of runs is to keep the state, and so an open instant is undone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from scepter.kernel.column_table import ColumnTable
from scepter.kernel.rows import Int64, UInt64, spread
from scepter.kernel.state.state_parts import Kept

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_FEW = 16
"""Buckets are 16 bits wide up to here, for which numpy sorts by counting."""


T = TypeVar("T", bound=ColumnTable)


@dataclass(frozen=True, slots=True)
class _Run(Generic[T]):
    """Rows in order of bucket: those of bucket b are `rows[starts[b]:starts[b + 1]]`."""

    table: T
    keys: UInt64
    starts: Int64

    @classmethod
    def of(cls, table: T, keys: UInt64) -> _Run[T]:
        bits = max(2, (len(keys) - 1).bit_length())
        bucket = _bucket(keys, bits)
        order = np.argsort(bucket.astype(np.uint16) if bits <= _FEW else bucket, kind="stable")
        starts = np.zeros((1 << bits) + 1, np.int64)
        np.cumsum(np.bincount(bucket, minlength=1 << bits), out=starts[1:])
        return cls(table.take(order), keys[order], starts)

    def probe(self, keys: UInt64) -> tuple[Int64, Int64]:
        """(place in `keys`, row) of every row with an equal key."""
        bucket = _bucket(keys, (len(self.starts) - 2).bit_length())
        first = self.starts[bucket]
        count = self.starts[bucket + 1] - first
        asking = np.flatnonzero(count)
        count, first = count[asking], first[asking]
        place, row = spread(count, first)
        place = asking[place]
        same = np.flatnonzero(self.keys[row] == keys[place])
        return place[same], row[same]


def _bucket(keys: UInt64, bits: int) -> Int64:
    # ids are hashes, but other keys (0 for a join without one) are not: the upper bits of a product are well mixed
    return ((keys * _MIX) >> np.uint64(64 - bits)).astype(np.int64)


class KeyIndex(Kept[tuple[_Run[T], ...]], Generic[T]):
    """Runs of rows by key. When runs are merged, `thin` may leave rows out that it sees are of no use."""

    def __init__(self, thin: Callable[[T, UInt64], tuple[T, UInt64]] | None = None) -> None:
        super().__init__(())
        self._thin = thin

    def __len__(self) -> int:
        return sum(len(run.keys) for run in self.value)

    def add(self, table: T, keys: UInt64) -> None:
        """Take in rows."""
        if not len(keys):
            return
        runs = list(self.value)
        while runs and len(runs[-1].keys) < 2 * len(keys):
            last = runs.pop()
            table, keys = table.joined([last.table, table]), np.concatenate([last.keys, keys])
            if self._thin is not None:
                table, keys = self._thin(table, keys)
        self.value = (*runs, _Run.of(table, keys))

    def probe(self, keys: UInt64) -> list[tuple[Int64, T, Int64]]:
        """(places in `keys`, a run's table, rows of it) for each run that has equal keys."""
        found = [(*run.probe(keys), run.table) for run in self.value] if len(keys) else []
        return [(place, table, row) for place, row, table in found if len(place)]

    def keep(self, live: Callable[[T], Int64 | np.ndarray[tuple[int], np.dtype[np.bool_]]]) -> None:
        """Forget rows, where they are half of a run or more: `live` tells which are still of use."""
        runs = []
        for run in self.value:
            rows = np.flatnonzero(live(run.table))
            if 2 * len(rows) > len(run.keys):
                runs.append(run)
            elif len(rows):
                runs.append(_Run.of(run.table.take(rows), run.keys[rows]))
        self.value = tuple(runs)

    def runs(self) -> list[T]:
        """All rows, run by run."""
        return [run.table for run in self.value]
