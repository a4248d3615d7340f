"""Leaves that are known before any event: inline data, static triples, solutions of a pattern over them. None has a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import BGP, PathPattern, TriplePattern
from scepter.kernel.encoding import encoded_rows
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import (
    ALWAYS,
    Mappings,
    Mask,
    Rows,
    empty,
    lasting_rows,
    mappings,
    timeless,
)
from scepter.kernel.scan.intake import Intake
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import EMPTY_GRAPH, Graph
from scepter.kernel.sparql.patterns import compile_pattern, solutions
from scepter.kernel.static.background import Index
from scepter.kernel.static.graph_columns import graph_columns
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.time_join import each_once
from scepter.physical.nodes import time_nodes
from scepter.physical.nodes import window_nodes as nodes
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.window_nodes import Fixed
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.values import to_literal


class Timeless:
    """Leaves without a time. Their rows come before everything: the engine has them from the start."""

    def __init__(self, widths: Sequence[int]) -> None:
        self._widths = widths

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        return [empty(width) for width in self._widths]


def inline_rows(node: time_nodes.Inline, key: TermKey, texts: Texts) -> Rows:
    """Inline data: it needs no triple."""
    rows = _timeless(encoded_rows(node.rows, len(node.names), key, texts))
    return rows.valid(rows.since, np.full(len(rows), ALWAYS))


def fixed_rows(node: Fixed, graph: Graph, key: TermKey, texts: Texts) -> Rows:
    """Rows that are there for ever, as bags: VALUES, or the triples of a pattern."""
    if node.triple is not None:
        return _triple_rows(node.triple, node.variables, graph, key, texts)
    return _timeless(encoded_rows(node.rows, len(node.variables), key, texts))


def static_rows(node: time_nodes.StaticScan, graph: Graph, context: Context, key: TermKey, texts: Texts) -> Rows:
    """The solutions of a pattern over static triples; a single triple pattern is matched in columns."""
    pattern = node.pattern
    if isinstance(pattern, BGP) and len(pattern.triples) == 1 and node.numbered is None:
        return each_once(_triple_rows(pattern.triples[0], node.schema.variables, graph, key, texts))
    names = node.schema.variables if node.numbered is None else node.schema.variables[:-1]
    found = [tuple(row.get(name) for name in names) for row in compile_pattern(pattern)(context)]
    if node.numbered is not None:
        found = [(*row, to_literal(number)) for number, row in enumerate(found)]
    rows = _timeless(encoded_rows(found, len(node.schema.variables), key, texts))
    if isinstance(pattern, PathPattern):  # what is reached in no step, from a term of the query, needs no triple
        always = {tuple(row.get(name) for name in names) for row in solutions(pattern, EMPTY_GRAPH)}
        needs_none = np.array([row[: len(names)] in always for row in found], np.bool_)
        rows = rows.valid(rows.since, np.where(needs_none, ALWAYS, rows.until))
    return each_once(rows)


def _triple_rows(triple: TriplePattern, names: Sequence[str], graph: Graph, key: TermKey, texts: Texts) -> Rows:
    columns = graph_columns(graph, key, texts, (triple,))
    at = columns.matching(triple, key)
    places = {node.name: position for position, node in enumerate(triple.places) if isinstance(node, Variable)}
    found = ids, refs, number, scale = mappings(len(at), len(names))
    for column, name in enumerate(names):
        ids[:, column], refs[:, column] = columns.ids[at, places[name]], columns.refs[at, places[name]]
        if places[name] == 2:
            number[:, column], scale[:, column] = columns.number[at], columns.scale[at]
    return _timeless(found)


def _timeless(columns: Mappings) -> Rows:
    return lasting_rows(columns, *timeless(len(columns.ids)))


class NotStatic(Stateless):
    """Rows of one triple pattern, without those whose triple stands in a static graph."""

    def __init__(self, node: nodes.NotStatic, graph: Graph, key: TermKey, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._index = Index(graph_columns(graph, key, texts, [node.triple]))
        self._positions = node.triple.places
        self._key = key

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        (rows,) = inputs
        if not len(rows) or not len(self._index.columns):
            return rows
        wanted = []
        for each in self._positions:
            if isinstance(each, Constant):
                wanted.append(np.full(len(rows), term_id(self._key, str(each.term)), np.uint64))
            else:
                wanted.append(np.ascontiguousarray(rows.ids[:, self.schema.column(each.name)]))
        known, _ = self._index.pairs(wanted, len(rows))
        new = np.ones(len(rows), np.bool_)
        new[known] = False
        return rows.take(new)
