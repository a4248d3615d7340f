"""Whether the rows of one key may be divided further: a key that has more than a worker's share of all rows."""

from __future__ import annotations

from scepter.physical.distribution.partitioning import PartitionKind, is_one_answer, looks_back, partitioning
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


def live_hot_keys(unit: UnitPlan) -> str | None:
    """Why the matches of one key are not divided live by the event that they begin with; "" where they are; None of units
    without a key.

    A match has to be told by its first event, and to look at nothing before it: what the key had before it was found hot is in
    the key's bucket, and stays there."""
    root = unit.root
    if not isinstance(root, Sequence):
        found = unit_stages(unit)
        return "only the matches of a sequence have a first event" if isinstance(found, Stages) and not found.why else None
    plan = root.plan
    if root.flattened is not None or partitioning(plan).kind is not PartitionKind.KEY:
        return None
    if plan.skip is not None:
        return "AFTER MATCH SKIP looks at all matches in their order"
    if plan.ticked:
        return "the query looks at every event of a partition in its order"
    if is_one_answer(plan):
        return "matches that begin with different events may be one answer"
    if any(chain.leading for chain in plan.chains):
        return "a negation looks at events before the first one"
    first = [branch for chain in plan.chains for branch in plan.atoms[chain.steps[0].atom].branches]
    return "matches begin with several events" if any(len(branch.scans) > 1 for branch in first) else ""
