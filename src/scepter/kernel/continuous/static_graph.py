"""Static data with what it entails, as far as patterns can match it: term by term for graphs in memory, in columns where one
is mapped from a file, so that nothing of it is decoded before somebody looks at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from scepter.kernel.continuous.relevance import Relevance
from scepter.kernel.graph_columns import Constants, GraphColumns, stored_columns, term_columns
from scepter.kernel.solutions import Int64, UInt64
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.texts import FIXED, Texts
from scepter.ontology.entailment import Filler, Flattened, Slot, Template
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import TYPE, speaks_of_schema
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.store import TripleStore
from scepter.rdf.terms import Triple


def schema_statements(source: Graph) -> Iterable[Triple]:
    """The statements of a graph that act as schema."""
    if not isinstance(source, StoredGraph):
        return (t for t in source if Schema.is_schema(t))
    return chain.from_iterable(source.match(*wanted) for wanted in _schema_constants(source))


def _schema_constants(source: StoredGraph) -> Iterator[Constants]:
    """What all schema statements of a graph have one of."""
    yield from ((None, word, None) for word in source.predicates() if word != TYPE and speaks_of_schema(word, None))
    yield from ((None, TYPE, kind) for kind in source.objects_of(TYPE) if speaks_of_schema(TYPE, kind))


def static_graph(sources: Sequence[Graph], relevant: Relevance, schema: Schema) -> Graph:
    """What graphs say and entail."""
    stored = [source for source in sources if isinstance(source, StoredGraph)]
    flattened = schema.flattened() if stored else None
    if flattened is None:
        data = (t for source in sources for t in _useful(source, relevant, schema) if not Schema.is_schema(t))
        return Graph(t for triple in data for t in schema.consequences(triple) if relevant(t))
    terms = [t for source in sources if not isinstance(source, StoredGraph) for t in source if not Schema.is_schema(t)]
    if len(stored) == 1 and not terms and not schema and next(_schema_constants(stored[0]), None) is None:
        return stored[0]
    key, texts = stored[0].store.key, Texts()
    parts = [stored_columns(source, _useful_rows(source, relevant, schema), key, texts) for source in stored]
    return _closure(GraphColumns.joined([*parts, term_columns(terms, key, texts)]), flattened, key, texts)


def _useful(source: Graph, relevant: Relevance, schema: Schema) -> Iterable[Triple]:
    """The triples that may match or entail what matches, and perhaps others; of a graph in columns, only these become terms."""
    if not isinstance(source, StoredGraph):
        return source
    return chain.from_iterable(source.match(*wanted) for wanted in _useful_constants(relevant, schema))


def _useful_rows(source: StoredGraph, relevant: Relevance, schema: Schema) -> Int64:
    """Of these triples, those that are no schema."""
    useful = np.zeros(len(source), np.bool_)
    for wanted in _useful_constants(relevant, schema):
        useful[source.rows(*wanted)] = True
    for statement in _schema_constants(source):
        useful[source.rows(*statement)] = False
    return np.flatnonzero(useful)


def _useful_constants(relevant: Relevance, schema: Schema) -> Iterator[Constants]:
    interest = relevant.interest(schema)
    if interest is None:
        yield None, None, None
        return
    entailing, _ = schema.triggers()
    for predicate in interest.predicates:
        if predicate == TYPE and interest.classes is not None:
            yield from ((None, TYPE, kind) for kind in interest.classes)
        elif predicate in entailing:
            yield None, predicate, None
        else:
            yield from ((subject, predicate, object) for subject, object in relevant.constants(predicate))


def _closure(given: GraphColumns, flattened: Flattened, key: TermKey, texts: Texts) -> StoredGraph:
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
