"""Where the plan of a unit is cut for many workers: what looks at one event at a time stays where events are read."""

from __future__ import annotations

from dataclasses import dataclass, field

from scepter.algebra.notation import Notation
from scepter.physical import nodes
from scepter.physical.derive_nodes import Recalled
from scepter.physical.instant_nodes import EventScan, Tracked
from scepter.physical.nodes import Node, Schema, Unary
from scepter.physical.star_nodes import OccurrenceScan
from scepter.physical.time_nodes import Inline, Instants, Rename, StaticScan, TimeFilter
from scepter.physical.unit_nodes import GraphScan
from scepter.physical.window_nodes import Fixed, ItemScan, NotStatic, Window

_ONE_BY_ONE = (nodes.Filter, nodes.Static, nodes.Project, TimeFilter, Rename, NotStatic, Window)
"""Operators that look at each row by itself."""
_EVENT_LEAVES = (nodes.TripleScan, ItemScan, GraphScan, OccurrenceScan, EventScan, Instants)
"""Leaves whose rows can be sent: terms, times, and the one event that each was made of."""
_STATIC = (Inline, StaticScan, Fixed, Recalled)


@dataclass(frozen=True)
class Received(Node):
    """Leaf: rows that other workers have made of events, in buckets of a key."""

    schema: Schema = field()
    place: int
    below: Node
    """What makes them."""
    inputs = ()

    def line(self, notation: Notation) -> str:
        """Where its rows come from."""
        return f"Received from {self.below.line(notation)}"


@dataclass(frozen=True)
class Owned(Unary):
    """Of rows that every bucket has, those of its own part of a grid: along each of some dimensions, by some variables."""

    says = "Owned, those of this bucket"

    by: tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """A plan in two: what runs where events are read, by exchange, and what takes its rows."""

    below: tuple[Node, ...]
    above: Node


def cut(root: Node) -> Cut | str:
    """The greatest subtrees that look at one event at a time, and the plan with leaves in their place; or why what some leaf
    makes cannot be sent."""
    below: list[Node] = []
    made: dict[int, Node] = {}

    def exchanged(node: Node) -> Node:
        if id(node) not in made:
            if _is_one_by_one(node):
                made[id(node)] = Received(node.schema, len(below), node)
                below.append(node)
            else:
                made[id(node)] = node.over(exchanged)
        return made[id(node)]

    above = exchanged(root)
    for node in nodes.nodes(above):
        if isinstance(node, Tracked) or (isinstance(node, EventScan) and node.tracked):
            return "which of two occurrences of one instant a policy takes depends on their order of arrival"
        if not node.inputs and not isinstance(node, (Received, *_STATIC)):
            return f"what {type(node).__name__} makes of an event is looked at with all events at hand"
    return Cut(tuple(below), above) if below else "it reads no event"


def numbers_above(root: Node, above: Node) -> list[int]:
    """Of each node above a cut the number that `explain` gives it; what is received has that of what makes it."""
    numbers = {id(node): number for number, node in enumerate(nodes.nodes(root))}
    found: dict[int, int] = {}

    def numbered(mine: Node, planned: Node) -> None:
        if id(mine) not in found:
            found[id(mine)] = numbers[id(planned)]
            for each, like in zip(mine.inputs, planned.inputs, strict=False):  # a leaf that receives has none
                numbered(each, like)

    numbered(above, root)
    return [found[id(node)] for node in nodes.nodes(above)]


def _is_one_by_one(node: Node) -> bool:
    while isinstance(node, _ONE_BY_ONE) and len(node.inputs) == 1:
        if isinstance(node, Window) and node.timeless:  # its rows could not wait for their time
            return False
        (node,) = node.inputs
    return isinstance(node, _EVENT_LEAVES) and not (isinstance(node, EventScan) and node.tracked)
