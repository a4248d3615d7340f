"""Graphs made of graphs: their union, and what they entail.

Where one of them is mapped from a file, that is done in columns, and nothing is decoded before somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.static.background import Background
from scepter.kernel.static.graph_columns import GraphColumns, stored_columns, term_columns
from scepter.kernel.texts import FIXED, Texts
from scepter.ontology.entailment import Filler, Flattened, Slot, Template
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import TYPE
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.store import TripleStore
from scepter.rdf.terms import Triple

_NOTHING = Flattened({}, {})


def union(graphs: Iterable[Graph]) -> Graph:
    """One graph with the triples of several."""
    given = [graph for graph in graphs if len(graph)]
    if len(given) == 1:
        return given[0]
    found = _closure(given, _NOTHING)
    return Graph(chain.from_iterable(given)) if found is None else found


def entailed(graphs: Sequence[Graph], schema: Schema) -> Graph:
    """What graphs say, and all that it entails."""
    if not schema:
        return union(graphs)
    flattened = schema.flattened()
    found = None if flattened is None else _closure(graphs, flattened)
    if found is not None:
        return found
    return Graph(t for triple in chain.from_iterable(graphs) for t in schema.consequences(triple))


def entailed_background(given: Background, schema: Schema) -> Background:
    """Static graphs, each with what it entails."""
    made = Background()
    named = {name: entailed([graph], schema) for name, graph in given.dataset.named.items()}
    made.dataset = Dataset(entailed([given.dataset.default], schema), named)
    return made


def _closure(graphs: Sequence[Graph], flattened: Flattened) -> StoredGraph | None:
    stored = [(graph, np.arange(len(graph))) for graph in graphs if isinstance(graph, StoredGraph)]
    if not stored:
        return None
    terms = chain.from_iterable(graph for graph in graphs if not isinstance(graph, StoredGraph))
    return mapped_closure(stored, terms, flattened)


def mapped_closure(stored: Sequence[tuple[StoredGraph, Int64]], terms: Iterable[Triple], flattened: Flattened) -> StoredGraph:
    """Some triples of graphs in columns (at least one graph), others that are terms, and what they entail."""
    key, texts = stored[0][0].store.key, Texts()
    parts = [stored_columns(graph, rows, key, texts) for graph, rows in stored]
    return _closed(GraphColumns.joined([*parts, term_columns(terms, key, texts)]), flattened, key, texts)


def _closed(given: GraphColumns, flattened: Flattened, key: TermKey, texts: Texts) -> StoredGraph:
    """Triples and what they entail: a template is filled for all triples of its predicate, or class, at once."""
    given = given.take(np.lexsort((given.ids[:, 2], given.ids[:, 1])))
    predicates = given.ids[:, 1]
    found = [(given.ids, given.refs)]
    for (predicate, literal), templates in flattened.by_predicate.items():
        low, high = _stretch(predicates, term_id(key, str(predicate)))
        rows = low + np.flatnonzero(given.literal[low:high] == literal)
        found += (_filled(given.take(rows), template, key, texts) for template in templates if len(rows))
    first, last = _stretch(predicates, term_id(key, str(TYPE)))
    for kind, templates in flattened.by_class.items():
        low, high = _stretch(given.ids[first:last, 2], term_id(key, str(kind)))
        rows = np.arange(first + low, first + high)
        found += (_filled(given.take(rows), template, key, texts) for template in templates if len(rows))
    ids, refs = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return StoredGraph(TripleStore.of(key, ids, refs - FIXED, texts.fixed), salt="")


def _stretch(ids: UInt64, id: int) -> tuple[int, int]:
    """Where an id stands among ids in order."""
    return int(np.searchsorted(ids, np.uint64(id), "left")), int(np.searchsorted(ids, np.uint64(id), "right"))


def _filled(given: GraphColumns, template: Template, key: TermKey, texts: Texts) -> tuple[UInt64, Int64]:
    columns = [_column(filler, given, key, texts) for filler in template]
    return np.stack([ids for ids, _ in columns], axis=1), np.stack([refs for _, refs in columns], axis=1)


def _column(filler: Filler, given: GraphColumns, key: TermKey, texts: Texts) -> tuple[UInt64, Int64]:
    if isinstance(filler, Slot):
        position = 0 if filler is Slot.SUBJECT else 2
        return given.ids[:, position], given.refs[:, position]
    (ref,) = texts.append_fixed([str(filler)]).tolist()
    return np.full(len(given), term_id(key, str(filler)), np.uint64), np.full(len(given), ref, np.int64)
