"""`Static`: rows joined with triple patterns over a static graph, by look-up. Stateless; static triples have no time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import Mask, Rows, UInt64
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.static.background import Index
from scepter.kernel.static.graph_columns import graph_columns
from scepter.kernel.texts import Texts
from scepter.physical.nodes import nodes
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey, term_id


class Static(Stateless):
    """Probes an index with each row; the graph is the build side, indexed once by the positions that are bound."""

    def __init__(self, node: nodes.Static, graph: Graph, key: TermKey, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._triples = node.triples
        self._key = key
        # of a graph that is mapped from a file only what the patterns can use becomes columns
        wanted = node.triples if isinstance(graph, StoredGraph) else None
        self._index = Index(graph_columns(graph, key, texts, wanted))
        self._width = len(node.input.schema.variables)

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Each row as often as it finds triples."""
        (rows,) = inputs
        bound = set(self.schema.variables[: self._width])
        rows = rows.columns([i if i < self._width else -1 for i in range(len(self.schema.variables))])
        for triple in self._triples:
            rows = self._join(rows, triple, bound)
            bound |= _names(triple)
        return rows

    def _join(self, rows: Rows, triple: TriplePattern, bound: set[str]) -> Rows:
        if not len(rows):
            return rows
        wanted = [self._wanted(node, rows, bound) for node in triple.places]
        who, at = self._index.pairs(wanted, len(rows))
        columns = self._index.columns
        keep = np.ones(len(who), np.bool_)
        found = rows.take(who)
        for position, node in enumerate(triple.places):
            if isinstance(node, Variable) and wanted[position] is None:
                column = self.schema.column(node.name)
                keep &= self._bind(found, column, columns.ids[at, position])
                found.refs[:, column] = columns.refs[at, position]
                if position == 2:
                    found.number[:, column], found.scale[:, column] = columns.number[at], columns.scale[at]
                else:
                    found.number[:, column], found.scale[:, column] = np.nan, NOT_A_NUMBER
        return found if bool(keep.all()) else found.take(keep)

    @staticmethod
    def _bind(found: Rows, column: int, ids: UInt64) -> Mask:
        """Write ids into a column; where a variable that stands twice in the triple has another one already, no."""
        agree: Mask = (found.ids[:, column] == 0) | (found.ids[:, column] == ids)
        found.ids[:, column] = ids
        return agree

    def _wanted(self, node: Variable | Constant, rows: Rows, bound: set[str]) -> UInt64 | None:
        """The ids that a position must have; None for a variable that is free."""
        if isinstance(node, Constant):
            return np.full(len(rows), term_id(self._key, str(node.term)), np.uint64)
        return np.ascontiguousarray(rows.ids[:, self.schema.column(node.name)]) if node.name in bound else None


def _names(triple: TriplePattern) -> set[str]:
    return {node.name for node in triple.places if isinstance(node, Variable)}
