"""Static triples in columns, indexed for the joins of one query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from scepter.algebra.patterns import TriplePattern
from scepter.kernel.rows import Int64
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.star.deltas import bucket
from scepter.kernel.star.join_plan import JoinPlan
from scepter.kernel.static.graph_columns import NO_TRIPLES, GraphColumns, graph_columns
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey
from scepter.rdf.words import fresh, zeroed


@dataclass(frozen=True, slots=True)
class StaticTriples:
    """The triples of one or several graphs, and for each pattern those that match it."""

    columns: GraphColumns
    matching: tuple[Int64, ...]

    @classmethod
    def of(cls, parts: Sequence[tuple[TriplePattern, Graph]], key: TermKey, texts: Texts) -> StaticTriples:
        """For triple patterns, each with the graph that it is matched in."""
        graphs = list({id(graph): graph for _, graph in parts}.values())
        columns = [graph_columns(g, key, texts, [pattern for pattern, of in parts if of is g]) for g in graphs]
        firsts = np.cumsum([0, *map(len, columns)]).tolist()
        matching = []
        for pattern, graph in parts:
            place = next(i for i, each in enumerate(graphs) if each is graph)
            matching.append(firsts[place] + columns[place].matching(pattern, key))
        return cls(GraphColumns.joined([NO_TRIPLES, *columns]), tuple(matching))


@dataclass(frozen=True, slots=True)
class StaticIndexes:
    """For each index of a join plan: rows in buckets. The rows of bucket b of index k stand from `starts[first[k] + b]` to
    `starts[first[k] + b + 1]` in `rows`; `mask[k]` is the number of buckets less one, -1 where nothing matches."""

    mask: Int64
    first: Int64
    starts: Int64
    rows: Int64

    @classmethod
    def of(cls, static: StaticTriples, plan: JoinPlan) -> StaticIndexes:
        """The indexes that the plan asks."""
        mask, first = [], []
        starts, rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        buckets = placed = 0
        for pattern, bits in _asked(plan):
            matching = static.matching[pattern]
            size = 1 << max(0, len(matching) - 1).bit_length() if bits else 1
            first.append(buckets)
            mask.append(size - 1 if len(matching) else -1)
            if len(matching):
                begin, order = _buckets(static.columns.ids, matching, bits, size)
                starts.append(begin + placed)
                rows.append(order)
                buckets += size + 1
                placed += len(matching)
        return cls(np.array(mask, np.int64), np.array(first, np.int64), np.concatenate(starts), np.concatenate(rows))


def _asked(plan: JoinPlan) -> Iterator[tuple[int, int]]:
    for pattern, (low, high) in enumerate(zip(plan.index_first[:-1].tolist(), plan.index_first[1:].tolist(), strict=True)):
        for k in range(low, high):
            yield pattern, int(plan.index_bits[k])


@njit(cache=True)
def _buckets(ids: Any, rows: Any, bits: Any, size: Any) -> Any:
    """Rows by bucket: where each begins, and the rows in order."""
    starts = zeroed(size + 1, np.int64)
    mask = np.uint64(size - 1)
    for row in rows:
        starts[bucket(ids[row, 0], ids[row, 1], ids[row, 2], bits, mask) + 1] += 1
    for b in range(size):
        starts[b + 1] += starts[b]
    free = starts[:-1].copy()
    order = fresh(len(rows), np.int64)
    for row in rows:
        b = bucket(ids[row, 0], ids[row, 1], ids[row, 2], bits, mask)
        order[free[b]] = row
        free[b] += 1
    return starts, order
