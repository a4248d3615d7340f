"""What there is to say of each node of a plan, and what an exact evaluator does inside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scepter.algebra.continuous import ContinuousQuery
from scepter.algebra.notation import Notation
from scepter.algebra.query import Sliding
from scepter.physical import nodes as plan_nodes
from scepter.physical.event_nodes import Contradictions, Recognise, Returned
from scepter.physical.event_outline import EventOutline
from scepter.physical.facts import Facts
from scepter.physical.plan import UnitPlan
from scepter.physical.star_nodes import OccurrenceScan
from scepter.physical.tree import Node
from scepter.physical.triple_outline import extents, networks
from scepter.physical.unit_nodes import GraphScan, Sequence
from scepter.physical.wording import listed


@dataclass(frozen=True, slots=True)
class Outlined:
    """The nodes of one unit in words."""

    unit: UnitPlan
    facts: Facts
    notation: Notation
    events: EventOutline | None = None

    def details(self, node: plan_nodes.Node) -> tuple[str, ...]:
        """What there is to say of a node."""
        return tuple(self._details(node))

    def inside(self, node: plan_nodes.Node) -> tuple[Node, ...]:
        """What a node does that is no operator of the plan."""
        match node:
            case OccurrenceScan() if isinstance(self.unit.unit, ContinuousQuery):
                return tuple(networks(self.unit.unit.pattern, self.notation, self.facts.ontology))
            case _:
                return ()

    def _details(self, node: plan_nodes.Node) -> Iterator[str]:
        match node:
            case GraphScan():
                yield from self._scan(node)
            case Sequence(why=why) if why:
                yield f"planned as a sequence: {why}"
                if isinstance(node.plan.window, Sliding):
                    word = "shorter than" if node.plan.window.exclusive else "no longer than"
                    yield f"solutions {word} {node.plan.window.duration}"
            case OccurrenceScan() if isinstance(self.unit.unit, ContinuousQuery):
                yield from extents(self.unit.unit, self.notation)
            case Recognise(event) if self.events is not None:
                yield from self.events.recognised(event)
            case Contradictions() if self.events is not None:
                yield from self.events.contradicting()
            case _:
                return

    def _scan(self, node: GraphScan) -> Iterator[str]:
        scan, notation = node.scan, self.notation
        if node.entailed:
            yield "with what its triples entail"
        together = [s.label for s in node.plan.scans if s is not scan and s.shape is not None and s.shape == scan.shape]
        if labels := list(dict.fromkeys(label for label in together if label != scan.label)):
            yield f"matched once for {listed(labels, '')} too"
        yield from notation.parts(scan.pattern)
        yield from (f"FILTER ({notation.expression(condition)})" for condition in scan.local)


def outlined(unit: UnitPlan, facts: Facts, notation: Notation) -> Outlined:
    """The words for a unit's nodes."""
    events = EventOutline.of(unit.root.query, notation, facts.ontology) if isinstance(unit.root, Returned) else None
    return Outlined(unit, facts, notation, events)
