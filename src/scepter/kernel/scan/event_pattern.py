"""Graph patterns within one event that are more than triples, a batch of events at a time.

Invariants: a row binds the event it comes from, from 1, and all joins are by it; operators are empty before and after a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from scepter.kernel.operator import Operator, Until
from scepter.kernel.rows import NO_LINEAGE, Rows, lasting
from scepter.kernel.scan.intake import Intake
from scepter.kernel.scan.solutions import Solutions
from scepter.physical.nodes.event_core import EVENT, Core
from scepter.physical.nodes.nodes import Node, nodes
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER

_AT_ONCE: Final = Until(0)
"""Events are there for ever in their batch: any instant tells all of them."""


class EventPattern:
    """The operators of a pattern at work. `fixed` gives the rows of its other leaves."""

    def __init__(
        self, root: Node, names: Sequence[str], build: Callable[[Node], Operator], fixed: Callable[[Node], Rows]
    ) -> None:
        self._nodes = list(nodes(root))
        places = {id(node): place for place, node in enumerate(self._nodes)}
        self._inputs = [[places[id(each)] for each in node.inputs] for node in self._nodes]
        self._operators = [build(node) if node.inputs else None for node in self._nodes]
        for operator in filter(None, self._operators):
            operator.save()
        self._fixed = fixed
        self._columns = (root.schema.column(EVENT), *root.schema.columns(names))

    def solve(self, intake: Intake, matched: Callable[[Core], Solutions]) -> Solutions:
        """The pattern's solutions on the events of a batch, whose cores are given; they may come twice."""
        rows: list[Rows] = []
        for node, inputs, operator in zip(self._nodes, self._inputs, self._operators, strict=True):
            if operator is not None:
                rows.append(operator.process([rows[each] for each in inputs], _AT_ONCE))
            elif isinstance(node, Core):
                rows.append(_with_event(matched(node), intake))
            else:
                rows.append(self._fixed(node))
        for operator in filter(None, self._operators):
            operator.undo()
        return self._of_events(rows[-1].columns(self._columns), intake)

    def _of_events(self, found: Rows, intake: Intake) -> Solutions:
        event = found.ids[:, 0].astype(np.int64) - 1
        batch = intake.batch
        return Solutions(
            batch.end[event], batch.start[event], np.zeros(len(event), np.int8), (event + intake.number)[:, None],
            intake.names()[event][:, None], found.ids[:, 1:], found.refs[:, 1:], found.number[:, 1:], found.scale[:, 1:],
        )  # fmt: skip


def _with_event(table: Solutions, intake: Intake) -> Rows:
    """Solutions as rows whose first column is the event."""
    count = len(table)
    event = (table.events[:, :1] - intake.number + 1).astype(np.uint64)
    return Rows(
        np.concatenate([event, table.ids], axis=1),
        np.concatenate([np.full((count, 1), NO_REF, np.int64), table.refs], axis=1),
        np.concatenate([np.full((count, 1), np.nan), table.number], axis=1),
        np.concatenate([np.full((count, 1), NOT_A_NUMBER, np.int8), table.scale], axis=1),
        table.start,
        table.time,
        *lasting(count),
        np.full(count, NO_LINEAGE),
    )
