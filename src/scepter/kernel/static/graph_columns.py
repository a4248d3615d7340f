"""Static triples in columns under a run's key: ids to join by, refs to show, the numbers of objects to compare.

Of a graph that is mapped from a file nothing is decoded: ids come from the bytes of the texts, refs point at them where they
are. The terms of a graph in memory are written first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Constant
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.column_table import ColumnTable
from scepter.kernel.rows import Float64, Int8, Int64, UInt64
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.texts import FIXED, Texts
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.rekeying import TermColumns
from scepter.rdf.terms import Term, Triple

Constants: TypeAlias = tuple[Term | None, Term | None, Term | None]


@dataclass(frozen=True, slots=True)
class GraphColumns(ColumnTable):
    """One row per triple."""

    ids: UInt64
    """[triple, position]."""
    refs: Int64
    number: Float64
    """Of the object."""
    scale: Int8
    literal: NDArray[np.bool_]
    """Whether the object is one."""

    def matching(self, pattern: TriplePattern, key: TermKey) -> Int64:
        """The triples that have a pattern's constants, and equal terms where it has one variable twice."""
        nodes = pattern.places
        fits = np.ones(len(self.ids), np.bool_)
        for position, node in enumerate(nodes):
            if isinstance(node, Constant):
                fits &= self.ids[:, position] == np.uint64(term_id(key, str(node.term)))
            elif node in nodes[:position]:
                fits &= self.ids[:, position] == self.ids[:, nodes.index(node)]
        return np.flatnonzero(fits)


NO_TRIPLES: Final = GraphColumns(
    np.empty((0, 3), np.uint64), np.empty((0, 3), np.int64), np.empty(0), np.empty(0, np.int8), np.empty(0, np.bool_)
)


def graph_columns(graph: Graph, key: TermKey, texts: Texts, patterns: Iterable[TriplePattern] | None = None) -> GraphColumns:
    """The triples of a graph; with `patterns`, those alone that have the constants of one of them."""
    if isinstance(graph, StoredGraph):
        rows = np.arange(len(graph)) if patterns is None else graph.rows_of(map(constants, patterns))
        return stored_columns(graph, rows, key, texts)
    triples = graph if patterns is None else {t: None for pattern in patterns for t in graph.match(*constants(pattern))}
    return term_columns(triples, key, texts)


def constants(pattern: TriplePattern) -> Constants:
    """The terms that a triple must have to match; None stands for any."""
    nodes = pattern.places
    subject, predicate, object = (node.term if isinstance(node, Constant) else None for node in nodes)
    return subject, predicate, object


def stored_columns(graph: StoredGraph, rows: Int64, key: TermKey, texts: Texts) -> GraphColumns:
    """Some triples of a graph that is in columns already."""
    places = graph.places(rows)
    used = np.zeros(len(graph.store.ids), np.bool_)
    used[places] = True
    where = (np.cumsum(used) - 1)[places]
    terms, refs = _terms(graph, graph.store.refs[used], key, texts)
    object = terms.take(where[:, 2])
    return GraphColumns(terms.ids[where], refs[where], object.number, object.scale, object.literal)


def _terms(graph: StoredGraph, refs: Int64, key: TermKey, texts: Texts) -> tuple[TermColumns, Int64]:
    """Some terms of a store, and where their texts stand in the run's."""
    found = graph.store.texts.read(refs, key)
    moved = refs + texts.add_fixed(graph.store.texts)
    blank = np.flatnonzero(found.blank) if graph.scope != graph.salt else np.empty(0, np.int64)
    if len(blank):  # a label that is unique in its file is not so in the run
        labels = [str(graph.term_at(ref)) for ref in refs[blank].tolist()]
        moved[blank] = texts.append_fixed(labels)
        found.ids[blank] = [term_id(key, label) for label in labels]
    return found, moved


def term_columns(triples: Iterable[Triple], key: TermKey, texts: Texts) -> GraphColumns:
    """Triples that are terms."""
    distinct: dict[Term, int] = {}
    rows = [[distinct.setdefault(t, len(distinct)) for t in triple] for triple in triples]
    table = np.array(rows, np.int64).reshape(len(rows), 3)
    refs = texts.append_fixed([str(t) for t in distinct])
    terms = texts.fixed.read(refs - FIXED, key)
    object = terms.take(table[:, 2])
    return GraphColumns(terms.ids[table], refs[table], object.number, object.scale, object.literal)
