"""From the nodes of events to what runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scepter.kernel.events import event_operators as operators
from scepter.kernel.events.asked import Asked
from scepter.kernel.events.assertion_sets import AssertionSets
from scepter.kernel.events.event_join import EventJoined
from scepter.kernel.events.parts import Parts
from scepter.kernel.events.recognise import Recognising
from scepter.kernel.operator import OfRows, Operator
from scepter.kernel.time_join.time_join import within
from scepter.ontology.recognition import Recogniser
from scepter.physical.nodes import event_nodes as nodes
from scepter.physical.nodes.nodes import ASSERTIONS, Node

if TYPE_CHECKING:
    from scepter.kernel.build import Surroundings


@dataclass(frozen=True, slots=True)
class Occurring:
    """What the operators of a unit's events share."""

    recogniser: Recogniser
    sets: AssertionSets
    parts: Parts | None = None
    """Of what occurrences were made; None where nobody asks."""

    def forget(self) -> None:
        """Let go of all that was made of items: no row is kept."""
        self.sets.keep(np.empty(0, np.int64))
        if self.parts is not None:
            self.parts.prune()


def recognising(leaves: Sequence[Node], around: Surroundings) -> Recognising:
    """The leaves that read items."""
    events = _shared(around)
    dataset = around.background.dataset
    static = [dataset.default, *dataset.named.values()]
    return Recognising(leaves, events.recogniser, static, events.sets, around.key, around.texts, around.lineage, events.parts)


def _shared(around: Surroundings) -> Occurring:
    assert around.events is not None  # a plan of events comes with it
    return around.events


def event_operator(node: Node, around: Surroundings) -> Operator | None:
    """The operator of a node on occurrences; None for any other node."""
    match node:
        case nodes.EventJoin():
            return EventJoined(node, _shared(around).sets, around.lineage)
        case nodes.Named():
            width, column = len(node.input.schema.variables), node.schema.column(ASSERTIONS)
            return OfRows(node.schema, lambda rows: rows.columns((*range(width), column)))
        case nodes.Asked():
            return Asked(node, _shared(around).sets, around.key)
        case nodes.Guard():
            return operators.Guard(node, _shared(around).sets)
        case nodes.OnceLate():
            return operators.OnceLate(node)
        case nodes.Within():
            return OfRows(node.schema, lambda rows: within(rows, node.longest))
        case nodes.Before():
            return OfRows(node.schema, lambda rows: rows.take(rows.end < node.instant))
        case nodes.FirstOnes():
            return operators.FirstOnes(node)
        case nodes.LastOnes():
            return operators.LastOnes(node)
        case nodes.Rest():
            return operators.Rest(node, _shared(around).sets)
        case nodes.Composite():
            return operators.Composite(node, _shared(around).sets, around.key, around.texts, _shared(around).parts)
        case nodes.Returned():
            return operators.Returned(node)
        case _:
            return None
