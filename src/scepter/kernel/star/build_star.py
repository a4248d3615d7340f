"""From the nodes of triples that count for a while to the operators that run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scepter.kernel.exists.exists_answers import Asked
from scepter.kernel.exists.live_graph import LiveGraph
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Operator, Stateless, Until
from scepter.kernel.rows import Rows
from scepter.kernel.scan.occurrence_scan import ExactOccurrenceScans, OccurrenceScans
from scepter.kernel.star.expiry import Held
from scepter.kernel.star.occurrences import CountedOccurrences, Occurrences
from scepter.kernel.star.triple_star import Star
from scepter.physical.nodes import star_nodes
from scepter.physical.nodes.nodes import Node, Schema
from scepter.physical.nodes.star_nodes import MatchedOnce
from scepter.rdf.distinct import distinct
from scepter.rdf.terms import IRI

if TYPE_CHECKING:
    from scepter.kernel.build import Surroundings


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


def occurrence_scans(scans: Sequence[Node], around: Surroundings) -> OccurrenceScans | ExactOccurrenceScans:
    """The scan of a unit's occurrences at work."""
    (scan,) = scans
    assert isinstance(scan, star_nodes.OccurrenceScan)
    if scan.exact:
        assert around.consequences is not None
        return ExactOccurrenceScans(
            scan, around.consequences, around.key, around.texts, around.lineage, around.part, around.streams
        )
    assert around.flattened is not None
    return OccurrenceScans(scan, around.flattened, around.key, around.texts, around.lineage, around.part, around.streams)


def star_operator(node: Node, around: Surroundings) -> Operator | None:
    """The operator of such a node; None for any other."""
    match node:
        case star_nodes.Occurrences(last=last, otherwise=otherwise):
            if not node.counted:
                return Occurrences(node, around.lineage)
            limits = dict(last)
            around.held.append(Held())
            return CountedOccurrences(
                node, around.lineage, around.held[-1], lambda part: limits.get(IRI(around.parts[part]), otherwise), around.texts
            )
        case star_nodes.TripleStar():
            dataset = around.background.dataset
            return Star(node, dataset, around.context, around.lineage, held_of(around), around.kind, around.key, around.texts)
        case star_nodes.MatchedOnce():
            return Once(node, around.lineage)
        case star_nodes.LiveGraph():
            made = around.live[id(node)] = LiveGraph(node, around.context.graph, held_of(around), around.texts)
            return made
        case star_nodes.AskedNow():
            return Asked(node, node.asked, around.live[id(node.live)].asking(around.context), around.key, around.texts)
        case _:
            return None


def held_of(around: Surroundings) -> Held | None:
    """What tells when occurrences go, where windows count triples."""
    return around.held[-1] if around.held else None
