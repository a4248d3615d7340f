"""A hash table from term ids to small numbers, for Python to fill and for kernels to read."""

from __future__ import annotations

from typing import Any

import numpy as np

from scepter.inner import shared
from scepter.kernel.rows import UInt64

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


class IdTable:
    """Ids and a number for each: open addressing, at most half full.

    >>> table = IdTable()
    >>> table.put(7, 1)
    >>> look_up(table.keys, table.values, np.uint64(7), -1), look_up(table.keys, table.values, np.uint64(9), -1)
    (1, -1)
    """

    __slots__ = ("_count", "keys", "values")

    def __init__(self) -> None:
        self.keys = np.zeros(16, np.uint64)
        self.values = np.zeros(16, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, id: int, value: int) -> None:
        """Add an id, or give it another number."""
        if 2 * (self._count + 1) > len(self.keys):
            old = [(k, v) for k, v in zip(self.keys.tolist(), self.values.tolist(), strict=True) if k]
            self.keys = np.zeros(4 * len(self.keys), np.uint64)
            self.values = np.zeros(len(self.keys), np.int64)
            for key, number in old:
                self._set(key, number)
        self._count += self._set(id, value)

    def _set(self, id: int, value: int) -> bool:
        at = id % len(self.keys)
        while self.keys[at] not in (0, id):
            at = (at + 1) % len(self.keys)
        new = self.keys[at] == 0
        self.keys[at], self.values[at] = id, value
        return bool(new)

    def missing(self, ids: UInt64) -> UInt64:
        """The different ids that are not in it."""
        found = np.unique(ids)
        return found[~np.isin(found, self.keys)]


@shared
def look_up(keys: Any, values: Any, id: Any, otherwise: Any) -> Any:
    """The number of an id, or another."""
    mask = np.uint64(len(keys) - 1)
    at = id & mask
    while keys[at] != _ZERO:
        if keys[at] == id:
            return values[at]
        at = (at + _ONE) & mask
    return otherwise
