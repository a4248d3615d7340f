"""Leaves that match a graph pattern on each event alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scepter.kernel.background import Background
from scepter.kernel.intake import Intake
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Mask, Rows, lasting
from scepter.kernel.scans import Scans
from scepter.kernel.texts import Texts
from scepter.physical.unit_nodes import GraphScan
from scepter.rdf.hashing import TermKey


class GraphScans:
    """Leaves `GraphScan` over the same stream: a row for each mapping of an event, which is its lineage."""

    def __init__(
        self,
        leaves: Sequence[GraphScan],
        key: TermKey,
        texts: Texts,
        background: Background,
        lineage: Lineage,
        part: Callable[[str], int],
    ) -> None:
        background.attach(key, texts, (each for leaf in leaves for each in leaf.scan.graphs))
        self._leaves = [(leaf.scan.stream, Scans(leaf.plan, key, background), leaf.place) for leaf in leaves]
        self._parts = [part(leaf.scan.label) for leaf in leaves]
        self._texts = texts
        self._lineage = lineage

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Per leaf its rows in order of end."""
        found = []
        for part, (stream, scans, place) in zip(self._parts, self._leaves, strict=True):
            kept, _ = scans(intake, self._texts, {stream: wanted}, None)[place]
            nodes = self._lineage.leaves(part, kept.events[:, 0], kept.names[:, 0])
            terms = (kept.ids, kept.refs, kept.number, kept.scale)
            found.append(Rows(*terms, kept.start, kept.time, *lasting(len(kept)), nodes.astype(np.int64, copy=False)))
        return found
