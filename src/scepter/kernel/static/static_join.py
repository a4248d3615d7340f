"""`Static`: rows joined with triple patterns over a static graph, by look-up. Stateless; static triples have no time."""

from __future__ import annotations

from collections.abc import Sequence

from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import Rows
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.static.background import Index
from scepter.kernel.static.graph_columns import graph_columns
from scepter.kernel.texts import Texts
from scepter.physical.nodes import nodes
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.hashing import TermKey


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
        wide = rows.columns([i if i < self._width else -1 for i in range(len(self.schema.variables))])
        return self._index.join(wide, self._triples, self.schema.column, bound, self._key)
