"""Where the plan of a unit is cut for many workers: what looks at one event at a time stays where events are read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scepter.physical.nodes import event_nodes as events
from scepter.physical.nodes import nodes
from scepter.physical.nodes.derive_nodes import Recalled
from scepter.physical.nodes.instant_nodes import EventScan
from scepter.physical.nodes.keys import KeyAnalysis, Keys
from scepter.physical.nodes.nodes import Node, Received, StaticLeaf, Unary
from scepter.physical.nodes.sequence_nodes import GraphScan
from scepter.physical.nodes.star_nodes import OccurrenceScan
from scepter.physical.nodes.time_nodes import Instants, Once, Rename, TimeFilter
from scepter.physical.nodes.window_nodes import ItemScan, NotStatic, Window

ONE_BY_ONE = (
    nodes.Filter, nodes.Static, nodes.Project, TimeFilter, Rename, NotStatic, Window, events.Named, events.Asked, events.Within,
    events.Before,
)  # fmt: skip
"""Operators that look at each row by itself."""
_EVENT_LEAVES = (
    nodes.TripleScan, ItemScan, GraphScan, OccurrenceScan, EventScan, Instants, events.Recognise, events.ItemGraphs,
)  # fmt: skip
"""Leaves whose rows can be sent: terms, sets of triples, times, and the one event that each was made of."""
STATIC = (StaticLeaf, Recalled)
"""Leaves that read no event."""


@dataclass(frozen=True)
class Owned(Unary):
    """Of rows that every bucket has, those of its own part of a grid: along each of some dimensions, by some variables."""

    says = "Owned, those of this bucket"

    by: tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Again(Once):
    """Rows that are there once in what a task has read, which several tasks may have: each once."""


@dataclass(frozen=True)
class FirstAnswer(nodes.Project):
    """Rows of several buckets, of which an ASK is answered by the first."""

    says = "FirstAnswer, of all buckets"

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        return found.none("ASK has one answer")


@dataclass(frozen=True, slots=True)
class Cut:
    """A plan in two: what runs where events are read, by exchange, and what takes its rows."""

    below: tuple[Node, ...]
    above: Node
    told: tuple[Node, ...] = ()
    """What also runs where events are read, and is told there: events that cannot be used."""


def cut(root: Node, *, apart: bool = False) -> Cut | str:
    """The greatest subtrees that look at one event at a time, and the plan with leaves in their place; or why what some leaf
    makes cannot be sent. `apart`: a leaf for each place that a subtree has in the plan, so that it may be divided there by
    itself."""
    below: list[Node] = []
    made: dict[int, Node] = {}
    told: tuple[Node, ...] = ()
    if isinstance(root, events.Returned):
        root, told = replace(root, contradictions=()), root.contradictions

    def exchanged(node: Node) -> Node:
        if apart or id(node) not in made:
            if _is_one_by_one(node):
                received = Received(node.schema, len(below), node)
                made[id(node)] = Again(received) if any(isinstance(each, Once) for each in nodes.nodes(node)) else received
                below.append(node)
            else:
                made[id(node)] = node.over(exchanged)
        return made[id(node)]

    above = exchanged(root)
    for node in nodes.nodes(above):
        if isinstance(node, EventScan) and node.tracked:
            return "a policy consumes the triples of a path, which is matched with whole events at hand"
        if not node.inputs and not isinstance(node, (Received, *STATIC)):
            return f"what {type(node).__name__} makes of an event is looked at with all events at hand"
    return Cut(tuple(below), above, told) if below else "it reads no event"


ADDED = (Owned, Again, FirstAnswer)
"""What no plan has before it is cut."""


def numbers_above(root: Node, above: Node) -> list[int]:
    """Of each node above a cut the number that `explain` gives it; what is received has that of what makes it, and what a cut
    adds to the plan that of its input."""
    numbers = {id(node): number for number, node in enumerate(nodes.nodes(root))}
    found: dict[int, int] = {}

    def numbered(mine: Node, planned: Node) -> None:
        if id(mine) not in found:
            found[id(mine)] = numbers[id(planned)]
            if isinstance(mine, ADDED):
                numbered(mine.input, planned)
                return
            for each, like in zip(mine.inputs, planned.inputs, strict=False):  # a leaf that receives has none
                numbered(each, like)

    numbered(above, root)
    return [found[id(node)] for node in nodes.nodes(above)]


def _is_one_by_one(node: Node) -> bool:
    once = False
    while isinstance(node, (*ONE_BY_ONE, Once)) and len(node.inputs) == 1:
        if isinstance(node, Window) and node.timeless:  # its rows could not wait for their time
            return False
        once = once or isinstance(node, Once)
        (node,) = node.inputs
    if once:  # of occurrences, which guards ask behind it
        return isinstance(node, events.Recognise)
    return isinstance(node, _EVENT_LEAVES) and not (isinstance(node, EventScan) and node.tracked)
