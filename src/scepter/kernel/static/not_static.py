"""Streamed triples that are static too are there already: a graph is a set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.algebra.expressions import Constant
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import Rows
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.static.background import Index
from scepter.kernel.static.graph_columns import graph_columns
from scepter.kernel.texts import Texts
from scepter.physical.nodes import window_nodes as nodes
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.hashing import TermKey, term_id


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
