"""Static data with what it entails, as far as patterns can match it: term by term for graphs in memory, in columns where one
is mapped from a file, so that nothing of it is decoded before somebody looks at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from scepter.kernel.entailment.closure import mapped_closure
from scepter.kernel.entailment.relevance import Relevance
from scepter.kernel.rows import Int64
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.static.graph_columns import Constants
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import TYPE, speaks_of_schema
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
    return mapped_closure([(source, _useful_rows(source, relevant, schema)) for source in stored], terms, flattened)


def _useful(source: Graph, relevant: Relevance, schema: Schema) -> Iterable[Triple]:
    """The triples that may match or entail what matches, and perhaps others; of a graph in columns, only these become terms."""
    if not isinstance(source, StoredGraph):
        return source
    return chain.from_iterable(source.match(*wanted) for wanted in _useful_constants(relevant, schema))


def _useful_rows(source: StoredGraph, relevant: Relevance, schema: Schema) -> Int64:
    """Of these triples, those that are no schema."""
    useful = source.rows_of(_useful_constants(relevant, schema))
    return np.setdiff1d(useful, source.rows_of(_schema_constants(source)), assume_unique=True)


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
