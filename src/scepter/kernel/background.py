"""Background knowledge: static graphs as sorted columns, joined with solutions by look-up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import Node, TriplePattern
from scepter.kernel.graph_columns import Constants, GraphColumns, constants, graph_columns
from scepter.kernel.solutions import Float64, Int8, Int64, Solutions, UInt64
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.texts import Texts
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, Triple

_Extent: TypeAlias = tuple[IRI, frozenset[Constants] | None]
"""A graph, and the constants of what is indexed of it; None for all."""


@dataclass(frozen=True, slots=True)
class Index:
    """A graph's triples as columns, sorted by predicate and subject, and by predicate and object."""

    terms: UInt64
    """[triple, position] in the order predicate, subject."""
    refs: Int64
    number: Float64
    scale: Int8
    by_object: Int64
    """The order predicate, object."""


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
                self._indexes[extent] = _indexed(graph_columns(graph, key, texts, None if extent[1] is None else triples))

    def _extent(self, name: IRI, triples: tuple[TriplePattern, ...]) -> _Extent:
        """A graph in memory is indexed as a whole, once for all patterns; of one in a file, only what they can use."""
        return name, frozenset(map(constants, triples)) if isinstance(self.dataset.named[name], StoredGraph) else None

    def join(self, name: IRI, triples: tuple[TriplePattern, ...], table: Solutions) -> Solutions:
        """Solutions joined with a basic graph pattern over a background graph; variables are named by their columns."""
        index = self._indexes[self._extent(name, triples)]
        for triple in triples:
            table = _join_triple(index, triple, table, self._key)
        return table


def _graph(triples: Iterable[Triple]) -> Graph:
    return triples if isinstance(triples, Graph) else Graph(triples)


def _indexed(found: GraphColumns) -> Index:
    found = found.take(np.lexsort((found.ids[:, 0], found.ids[:, 1])))
    return Index(found.ids, found.refs, found.number, found.scale, np.lexsort((found.ids[:, 2], found.ids[:, 1])))


@njit(cache=True)
def _range(first, second, order, a, b):  # type: ignore[no-untyped-def]
    """[lo, hi) of the rows whose first column is a and second is b, in a table sorted through `order`."""
    lo, hi = 0, len(order)
    while lo < hi:
        mid = (lo + hi) >> 1
        r = order[mid]
        if first[r] < a or (first[r] == a and second[r] < b):
            lo = mid + 1
        else:
            hi = mid
    start = lo
    hi = len(order)
    while lo < hi:
        mid = (lo + hi) >> 1
        r = order[mid]
        if first[r] < a or (first[r] == a and second[r] <= b):
            lo = mid + 1
        else:
            hi = mid
    return start, lo


@njit(cache=True)
def _pairs(first, second, order, wanted_first, wanted_second, least):  # type: ignore[no-untyped-def]
    """For each solution the rows of its range: `least` 2 looks up both columns, 1 the first only, 0 takes all."""
    counts = np.empty(len(wanted_first), np.int64)
    starts = np.empty(len(wanted_first), np.int64)
    greatest = np.uint64(0xFFFFFFFFFFFFFFFF)
    for i in range(len(wanted_first)):
        if least == 0:
            lo, hi = 0, len(order)
        elif least == 1:
            lo, _ = _range(first, second, order, wanted_first[i], np.uint64(0))
            _, hi = _range(first, second, order, wanted_first[i], greatest)
        else:
            lo, hi = _range(first, second, order, wanted_first[i], wanted_second[i])
        starts[i] = lo
        counts[i] = hi - lo
    total = counts.sum()
    who = np.empty(total, np.int64)
    row = np.empty(total, np.int64)
    at = 0
    for i in range(len(counts)):
        for k in range(counts[i]):
            who[at] = i
            row[at] = order[starts[i] + k]
            at += 1
    return who, row


def _join_triple(index: Index, triple: TriplePattern, table: Solutions, key: TermKey) -> Solutions:
    nodes = (triple.subject, triple.predicate, triple.object)
    wanted = [_wanted(node, table, key) for node in nodes]
    subject, predicate, object_ = wanted
    zeros = np.zeros(len(table), np.uint64)
    natural = np.arange(len(index.terms), dtype=np.int64)
    if predicate is None:
        order, second, level = natural, index.terms[:, 0], 0
    elif subject is not None or object_ is None:
        order, second, level = natural, index.terms[:, 0], 1 if subject is None else 2
    else:
        order, second, level = index.by_object, index.terms[:, 2], 2
    middle = subject if order is natural else object_
    who, row = _pairs(
        np.ascontiguousarray(index.terms[:, 1]), np.ascontiguousarray(second), order,
        zeros if predicate is None else predicate, zeros if middle is None else middle, level,
    )  # fmt: skip
    keep = np.ones(len(who), np.bool_)
    for position, want in enumerate(wanted):
        if want is not None:
            keep &= index.terms[row, position] == want[who]
    keep &= _repeated_agree(nodes, index, row, wanted)
    who, row = who[keep], row[keep]
    return _with_columns(table.take(who), nodes, wanted, index, row)


def _wanted(node: Node, table: Solutions, key: TermKey) -> UInt64 | None:
    """The ids a position must have, per solution; None for a variable that is still free."""
    if isinstance(node, Constant):
        return np.full(len(table), term_id(key, str(node.term)), np.uint64)
    column = int(node.name)
    return np.ascontiguousarray(table.ids[:, column]) if column < table.width else None


def _repeated_agree(nodes: tuple[Node, ...], index: Index, row: Int64, wanted: list[UInt64 | None]) -> NDArray[np.bool_]:
    """Where one free variable stands twice in a triple, both places must be equal."""
    keep = np.ones(len(row), np.bool_)
    for i in range(3):
        for j in range(i + 1, 3):
            if nodes[i] == nodes[j] and wanted[i] is None:
                keep &= index.terms[row, i] == index.terms[row, j]
    return keep


def _with_columns(
    table: Solutions, nodes: tuple[Node, ...], wanted: list[UInt64 | None], index: Index, row: Int64
) -> Solutions:
    free = {int(n.name): p for p, n in enumerate(nodes) if isinstance(n, Variable) and wanted[p] is None}
    for column in sorted(free):
        assert column == table.width, "background variables are numbered in the order they are joined"
        position = free[column]
        blank = np.full((len(table), 1), np.nan)
        number = index.number[row][:, None] if position == 2 else blank
        scale = index.scale[row][:, None] if position == 2 else np.full((len(table), 1), NOT_A_NUMBER, np.int8)
        table = Solutions(
            table.time, table.start, table.branch, table.events, table.names,
            np.concatenate([table.ids, index.terms[row, position][:, None]], axis=1),
            np.concatenate([table.refs, index.refs[row, position][:, None]], axis=1),
            np.concatenate([table.number, number], axis=1),
            np.concatenate([table.scale, scale], axis=1),
        )  # fmt: skip
    return table
