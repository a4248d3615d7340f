"""Whether the rows of one key may be divided further over history: a key that has more than a worker's share of all rows."""

from __future__ import annotations

from scepter.physical.distribution.partitioning import PartitionKind, looks_back, partitioning
from scepter.physical.distribution.stages import Stages, unit_stages
from scepter.physical.facts import Facts
from scepter.physical.nodes.nodes import nodes
from scepter.physical.nodes.sequence_nodes import Sequence
from scepter.physical.nodes.window_nodes import Report
from scepter.physical.plan import UnitPlan


def within_key(unit: UnitPlan, facts: Facts) -> int | str | None:
    """How far answers look back, in ticks, where the history of a key may be cut into slices that overlap by so much; or why
    it may not; None of units without a key."""
    if isinstance(unit.root, Sequence):
        if unit.root.flattened is not None or partitioning(unit.root.plan).kind is not PartitionKind.KEY:
            return None
        if unit.root.plan.ticked:
            return "the query looks at every event of a partition in its order"
    else:
        found = unit_stages(unit)
        if not isinstance(found, Stages) or found.why:
            return None
        if not found.plain:
            return "static rows, or triples that match several patterns, are divided by it too"
        if found.everywhere or any(isinstance(node, Report) for node in nodes(found.above)):
            return "the query is evaluated at instants that all of a key's rows share"
    back = looks_back([unit], facts)
    return "its answers may look back for ever" if back is None else back
