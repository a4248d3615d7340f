"""Rows on their way to the buckets of a grid (`physical.stages`).

Each goes to one along the dimensions whose variables it binds, and to every one along the others. The first dimension varies
fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scepter.kernel.rows import Int64, Rows, UInt64
from scepter.kernel.sequence.forward_search import key_of
from scepter.physical.nodes.nodes import END, START, Node
from scepter.physical.nodes.star_nodes import WORD, OccurrenceScan

Columns = tuple[tuple[str, ...], ...]
"""What decides along a dimension (`Dimension.keys`): of all rows, or of those that match each pattern."""


def in_grid(rows: Rows, node: Node, keys: Sequence[Columns], sides: Sequence[int]) -> tuple[Rows, UInt64 | None]:
    """The rows that a node gives and the bucket of each, as often as they are sent; None: all go to every bucket. `keys` and
    `sides` are told by dimension."""
    if all(len(columns) == 1 for columns in keys):
        if not any(columns[0] for columns in keys):
            return rows, None
        buckets = _buckets(rows, node, [columns[0] for columns in keys], sides)
        return rows.take(np.repeat(np.arange(len(rows)), buckets.shape[1])), buckets.ravel()
    assert isinstance(node, OccurrenceScan)
    return _by_pattern(rows, node, keys, sides)


def _by_pattern(rows: Rows, scan: OccurrenceScan, keys: Sequence[Columns], sides: Sequence[int]) -> tuple[Rows, UInt64]:
    """An occurrence goes wherever a pattern that it matches sends it, and counts there for the patterns that do: so the
    occurrences of a match meet once."""
    words = scan.schema.columns(scan.words)
    row, bucket = [np.empty(0, np.int64)], [np.empty(0, np.uint64)]
    bits: list[UInt64] = [np.empty((0, len(words)), np.uint64)]
    for pattern in range(len(scan.patterns)):
        word, bit = words[pattern // WORD], np.uint64(1) << np.uint64(pattern % WORD)
        mine: Int64 = np.flatnonzero(rows.ids[:, word] & bit)
        own = [columns[pattern if len(columns) > 1 else 0] for columns in keys]
        to = _buckets(rows.take(mine), scan, own, sides)
        row.append(np.repeat(mine, to.shape[1]))
        bucket.append(to.ravel())
        bits.append(np.zeros((to.size, len(words)), np.uint64))
        bits[-1][:, pattern // WORD] = bit
    rows_, buckets, counts = np.concatenate(row), np.concatenate(bucket), np.concatenate(bits)
    order = np.lexsort((buckets, rows_))
    rows_, buckets, counts = rows_[order], buckets[order], counts[order]
    first = np.flatnonzero(np.r_[True, (rows_[1:] != rows_[:-1]) | (buckets[1:] != buckets[:-1])][: len(rows_)])
    sent = rows.take(rows_[first])
    if len(first):
        ids = sent.ids.copy()
        ids[:, list(words)] = np.bitwise_or.reduceat(counts, first, axis=0)
        sent = replace(sent, ids=ids)
    return sent, buckets[first]


def keys_of(rows: Rows, node: Node, names: tuple[str, ...]) -> UInt64:
    """What decides where the rows of a node go: the values of some variables, or when they start or end."""
    times = {START: rows.start, END: rows.end}
    if times.keys().isdisjoint(names):
        return key_of(rows.ids, node.schema.columns(names))
    ids = [times[name].view(np.uint64) if name in times else rows.ids[:, node.schema.column(name)] for name in names]
    return key_of(np.column_stack(ids), range(len(names)))


def _buckets(rows: Rows, node: Node, columns: Sequence[tuple[str, ...]], sides: Sequence[int]) -> UInt64:
    """[row, copy]: the buckets of each row."""
    base = np.zeros(len(rows), np.uint64)
    everywhere = np.zeros(1, np.uint64)
    stride = 1
    for names, side in zip(columns, sides, strict=True):
        if names:
            base += keys_of(rows, node, names) % np.uint64(side) * np.uint64(stride)
        else:
            along = np.arange(side, dtype=np.uint64) * np.uint64(stride)
            everywhere = (everywhere[:, None] + along[None, :]).ravel()
        stride *= side
    found: UInt64 = base[:, None] + everywhere[None, :]
    return found
