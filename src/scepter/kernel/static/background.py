"""Background knowledge: static graphs as sorted columns, joined with solutions by look-up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias, TypeVar

import numpy as np
from numba import njit

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.rows import Int64, Rows, UInt64
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.static.graph_columns import Constants, GraphColumns, constants, graph_columns
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, Triple
from scepter.rdf.words import fresh

T = TypeVar("T", Rows, Solutions)
_Extent: TypeAlias = tuple[IRI, frozenset[Constants] | None]
"""A graph, and the constants of what is indexed of it; None for all."""


class Lookup:
    """The rows of a graph by the ids at some positions, hashed to one key.

    Keys are spread evenly, so that the first bits of one tell where in their order to look, however many there are.
    """

    def __init__(self, ids: UInt64, positions: tuple[int, ...]) -> None:
        keys = key_of(ids, positions)
        self._rows = np.argsort(keys, kind="stable")
        self._keys = keys[self._rows]
        self._shift = np.uint64(64 - min(max(1, len(keys).bit_length()), 32))
        buckets = np.arange((1 << (64 - int(self._shift))), dtype=np.uint64) << self._shift
        self._starts = np.append(np.searchsorted(self._keys, buckets), len(keys))

    def pairs(self, wanted: UInt64) -> tuple[Int64, Int64]:
        """For each row of wanted ids, all rows of the graph that have its key: (place in `wanted`, row)."""
        keys = key_of(wanted, tuple(range(wanted.shape[1])))
        who, row = _pairs(self._keys, self._rows, self._starts, self._shift, keys)
        return who, row


class Index:
    """A graph's triples as columns; a look-up by some positions is made when a pattern first needs it."""

    def __init__(self, columns: GraphColumns) -> None:
        self.columns = columns
        self._lookups: dict[tuple[int, ...], Lookup] = {}

    def pairs(self, wanted: Sequence[UInt64 | None], solutions: int) -> tuple[Int64, Int64]:
        """Solutions and rows that agree in the positions whose ids are given, by solution."""
        bound = tuple(position for position, ids in enumerate(wanted) if ids is not None)
        if not bound:
            return np.repeat(np.arange(solutions), len(self.columns)), np.tile(np.arange(len(self.columns)), solutions)
        if bound not in self._lookups:
            self._lookups[bound] = Lookup(self.columns.ids, bound)
        who, row = self._lookups[bound].pairs(np.column_stack([ids for ids in wanted if ids is not None]))
        agree = np.ones(len(who), np.bool_)
        for position, ids in enumerate(wanted):
            if ids is not None:
                agree &= self.columns.ids[row, position] == ids[who]
        return (who, row) if bool(agree.all()) else (who[agree], row[agree])

    def join(
        self, table: T, triples: Iterable[TriplePattern], column: Callable[[str], int], bound: set[str], key: TermKey
    ) -> T:
        """Each row as often as triples match its values. Every variable has its column; those that are not `bound` bind
        nothing yet."""
        for triple in triples:
            table = self._join_triple(table, triple, column, bound, key) if len(table) else table
            bound = bound | {node.name for node in triple.places if isinstance(node, Variable)}
        return table

    def _join_triple(self, table: T, triple: TriplePattern, column: Callable[[str], int], bound: set[str], key: TermKey) -> T:
        wanted: list[UInt64 | None] = []
        for node in triple.places:
            if isinstance(node, Constant):
                wanted.append(np.full(len(table), term_id(key, str(node.term)), np.uint64))
            else:
                wanted.append(np.ascontiguousarray(table.ids[:, column(node.name)]) if node.name in bound else None)
        who, row = self.pairs(wanted, len(table))
        found, columns = table.take(who), self.columns
        keep = np.ones(len(who), np.bool_)
        for position, node in enumerate(triple.places):
            if isinstance(node, Variable) and wanted[position] is None:
                at, ids = column(node.name), columns.ids[row, position]
                # a variable that stands twice in the triple has the first one's value already
                keep &= (found.ids[:, at] == 0) | (found.ids[:, at] == ids)
                found.ids[:, at], found.refs[:, at] = ids, columns.refs[row, position]
                if position == 2:
                    found.number[:, at], found.scale[:, at] = columns.number[row], columns.scale[row]
        return found if bool(keep.all()) else found.take(keep)


class Background:
    """The static graphs of a run: as terms for the exact evaluator, as columns for the columnar road."""

    def __init__(self, default: Iterable[Triple] = (), named: Mapping[str, Iterable[Triple]] = MappingProxyType({})) -> None:
        graphs = {IRI(name): _graph(triples) for name, triples in named.items()}
        self.dataset = Dataset(_graph(default), graphs)
        self._indexes: dict[_Extent, Index] = {}
        self._key = TermKey.fixed()

    def attach(self, key: TermKey, texts: Texts, patterns: Iterable[tuple[IRI, tuple[TriplePattern, ...]]]) -> None:
        """Build the columns of what patterns ask of named graphs under the run's key."""
        self._key = key
        for name, triples in patterns:
            extent = self._extent(name, triples)
            if extent not in self._indexes:
                graph = self.dataset.named[name]
                self._indexes[extent] = Index(graph_columns(graph, key, texts, None if extent[1] is None else triples))

    def _extent(self, name: IRI, triples: tuple[TriplePattern, ...]) -> _Extent:
        """A graph in memory is indexed as a whole, once for all patterns; of one in a file, only what they can use."""
        return name, frozenset(map(constants, triples)) if isinstance(self.dataset.named[name], StoredGraph) else None

    def join(self, name: IRI, triples: tuple[TriplePattern, ...], table: Solutions) -> Solutions:
        """Solutions joined with a basic graph pattern over a background graph; variables are named by their columns."""
        index, width = self._indexes[self._extent(name, triples)], table.width
        named = [int(node.name) for triple in triples for node in triple.places if isinstance(node, Variable)]
        wide = table.columns([*range(width), *(-1 for _ in range(width, 1 + max(named, default=0)))])
        return index.join(wide, triples, int, set(map(str, range(width))), self._key)


def _graph(triples: Iterable[Triple]) -> Graph:
    return triples if isinstance(triples, Graph) else Graph(triples)


@njit(cache=True)
def _pairs(keys, rows, starts, shift, wanted):  # type: ignore[no-untyped-def]
    """For each wanted key the rows that have it, in order; `starts` tells where the keys of each bucket begin."""
    counts = fresh(len(wanted), np.int64)
    firsts = fresh(len(wanted), np.int64)
    for i in range(len(wanted)):
        key = wanted[i]
        bucket = np.int64(key >> shift)
        lo, hi, end = starts[bucket], starts[bucket + 1], starts[bucket + 1]
        while lo < hi:  # a bucket has few keys, but one of them may stand there a million times
            mid = (lo + hi) >> 1
            if keys[mid] < key:
                lo = mid + 1
            else:
                hi = mid
        firsts[i] = lo
        while lo < end and keys[lo] == key:
            lo += 1
        counts[i] = lo - firsts[i]
    total = counts.sum()
    who = fresh(total, np.int64)
    row = fresh(total, np.int64)
    at = 0
    for i in range(len(counts)):
        for k in range(counts[i]):
            who[at] = i
            row[at] = rows[firsts[i] + k]
            at += 1
    return who, row
