"""The node of MATCH: an event pattern over the items of windows, and how it is planned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from scepter.algebra.expressions import Expression
from scepter.algebra.patterns import Filter, Pattern
from scepter.algebra.query import Ask, Query, Scan, Sequence, Step, Stream
from scepter.algebra.windows import Earliest, EventPattern, Followed, ItemScan, Latest, Policy
from scepter.physical import window_nodes
from scepter.physical.nodes import Node, Schema
from scepter.physical.sequence_planner import plan_query
from scepter.physical.unit_nodes import GraphScan
from scepter.physical.window_nodes import When
from scepter.rdf.terms import IRI


@dataclass(frozen=True)
class EventMatch(Node):
    """The mappings of an event pattern, and when they are there (spec/30-rsep-ql rules 4 to 9). A policy that consumes looks at
    each evaluation; the others need not know when somebody looks."""

    says = "EventMatch {written}"

    pattern: EventPattern
    policy: Policy
    """Of each SEQ without its own."""
    scans: tuple[Node, ...]
    """Its labels in their windows, from left to right."""
    windows: tuple[IRI, ...]
    """Which window each scan reads: an item is consumed for all that read the same."""
    items: Node
    when: When
    step: window_nodes.Step
    instants: tuple[int, ...]
    grid: window_nodes.Step | None
    together: bool
    """Whether the windows move at the same instants: then what is before an item has entered when the item enters."""

    def _schema(self) -> Schema:
        return reduce(Schema.joined, (scan.schema for scan in self.scans))

    @property
    def written(self) -> str:
        """The pattern, with its policies."""
        return _text(self.pattern, self.policy)


def _text(pattern: EventPattern, policy: Policy, *, inside: bool = False) -> str:
    match pattern:
        case ItemScan(label):
            return label
        case Earliest(operand) | Latest(operand):
            word = "LAST" if isinstance(pattern, Latest) else "FIRST"
            return f"{word} {_text(operand, policy, inside=True)}"
        case Followed(left, right, stated):
            own = stated or policy
            word = "SEQ" if own is Policy.UNRESTRICTED else f"SEQ {own.value.upper()}"
            text = f"{_text(left, policy)} {word} {_text(right, policy, inside=True)}"
            return f"({text})" if inside else text


def move_together(scans: Iterable[Node]) -> bool:
    """Whether the windows of some scans move at the same instants."""
    moves = set()
    for scan in scans:
        assert isinstance(scan, window_nodes.Window)
        ticks = 1 if scan.width is None else scan.step.ticks
        moves.add((ticks, scan.step.origin % ticks))
    return len(moves) == 1


def graph_scan(scan: ItemScan, stream: IRI) -> GraphScan:
    """One label: its pattern on each item alone."""
    pattern, filters = _unfiltered(scan.pattern)
    alone = Sequence((Step(Scan(scan.label, stream, pattern, filters)),))
    return GraphScan(plan_query(Query(Ask(), (Stream(stream),), alone)), 0)


def _unfiltered(pattern: Pattern) -> tuple[Pattern, tuple[Expression, ...]]:
    filters: list[Expression] = []
    while isinstance(pattern, Filter):
        filters.append(pattern.condition)
        pattern = pattern.pattern
    return pattern, tuple(filters)
