"""A graph is a set of triples: what a scan found twice in one event is kept once (called by `rdf.grouping`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from scepter.inner import inner
from scepter.rdf.scanner import CAPACITY, ROWS
from scepter.rdf.words import zeroed


@inner
def _equal(ids: Any, capacity: Any, row: Any, other: Any) -> Any:
    return (
        ids[2 * capacity + other] == ids[2 * capacity + row]
        and ids[capacity + other] == ids[capacity + row]
        and ids[other] == ids[row]
    )


@inner
def _move(row: Any, out: Any, capacity: Any, ids: Any, places: Any, number: Any, scale: Any) -> Any:
    if out == row:
        return
    for column in range(0, 3 * capacity, capacity):
        ids[column + out] = ids[column + row]
        places[column + out] = places[column + row]
    number[out] = number[row]
    scale[out] = scale[row]


@inner
def drop_repeated(first: Any, state: Any, ids: Any, places: Any, number: Any, scale: Any) -> Any:
    """A graph is a set: keeps the first of equal triples among the rows from `first` on."""
    capacity = state[CAPACITY]
    out = first
    seen = np.uint64(0)  # a bit for each triple that is kept: most are found new without a comparison
    for row in range(first, state[ROWS]):
        bit = np.uint64(1) << ((ids[row] ^ ids[capacity + row] ^ ids[2 * capacity + row]) & np.uint64(63))
        repeated = False
        if seen & bit:
            for other in range(first, out):
                if _equal(ids, capacity, row, other):
                    repeated = True
                    break
        seen |= bit
        if not repeated:
            _move(row, out, capacity, ids, places, number, scale)
            out += 1
    state[ROWS] = out


@inner
def drop_repeated_of_many(first: Any, state: Any, ids: Any, places: Any, number: Any, scale: Any) -> Any:
    """As `drop_repeated`, with a hash table of kept rows (row + 1; 0 is free)."""
    capacity = state[CAPACITY]
    size = 1
    while size < 2 * (state[ROWS] - first):
        size *= 2
    table = zeroed(size, np.int64)
    out = first
    for row in range(first, state[ROWS]):
        mixed = (ids[row] * np.uint64(3) + ids[capacity + row]) * np.uint64(5) + ids[2 * capacity + row]
        i = np.int64(mixed & np.uint64(size - 1))
        while table[i] and not _equal(ids, capacity, row, table[i] - 1):
            i = (i + 1) & (size - 1)
        if not table[i]:
            table[i] = out + 1
            _move(row, out, capacity, ids, places, number, scale)
            out += 1
    state[ROWS] = out
