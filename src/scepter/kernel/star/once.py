"""`MatchedOnce`: each match once. Equal ones end together, so that they come in one call. Stateless."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import Rows
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.star_nodes import MatchedOnce
from scepter.rdf.distinct import distinct


class Once(Stateless):
    """The first of matches that agree in what can be seen and in their occurrences, or in their interval."""

    def __init__(self, node: MatchedOnce, lineage: Lineage) -> None:
        self.schema: Schema = node.schema
        self._seen = [i for i, name in enumerate(node.schema.variables) if not name.startswith("_:")]
        self._by_occurrences = node.occurrences
        self._lineage = lineage

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Without those that are there already."""
        (rows,) = inputs
        if len(rows) < 2:
            return rows
        if self._by_occurrences:
            told = self._lineage.sets(rows.lineage)
        else:
            told = np.stack([rows.start, rows.end], axis=1).view(np.uint64)
        first, _ = distinct(np.concatenate([rows.ids[:, self._seen], told], axis=1))
        return rows if len(first) == len(rows) else rows.take(first)
