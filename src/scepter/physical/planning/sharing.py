"""Units that share operators: an operator is what it computes, so that equal ones of several units are one.

Nodes are frozen values. Those of units that may run together are made one object where they are equal, from the leaves up; an
engine that runs such units side by side has each operator once. Units that run apart (in buckets of their own on Spark) have
each its whole plan all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scepter.algebra.timed import TimedProgram
from scepter.physical.nodes import nodes
from scepter.physical.nodes.derive_nodes import Derive, Picked
from scepter.physical.nodes.instant_nodes import TimeGroup
from scepter.physical.nodes.nodes import Node, Schema
from scepter.physical.nodes.time_nodes import (
    Answers,
    GapJoin,
    Inline,
    Once,
    Rename,
    StaticScan,
    TimeFilter,
    TimeJoin,
    TimeValues,
)
from scepter.physical.plan import UnitPlan

_ALIKE = (
    nodes.TripleScan,
    nodes.Project,
    nodes.Extend,
    nodes.Union,
    Inline,
    StaticScan,
    Once,
    TimeJoin,
    TimeFilter,
    TimeValues,
    TimeGroup,
    GapJoin,
    Derive,
    Picked,
    Rename,
    Answers,
)
"""Operators that are told by their inputs and their fields: they look at nothing else that a unit has of its own."""


@dataclass(frozen=True)
class Together(Node):
    """The roots of units that run as one; the rows of each go to its own answers."""

    says = "Together"

    roots: tuple[Node, ...]

    def _schema(self) -> Schema:
        return Schema()  # it gives no rows itself


def shared(units: Sequence[UnitPlan]) -> tuple[tuple[UnitPlan, ...], tuple[tuple[int, ...], ...]]:
    """The units with equal operators made one, and the numbers of those that share some."""
    alike: dict[object, list[UnitPlan]] = {}
    for unit in units:
        if isinstance(unit.unit, TimedProgram) and all(map(_is_alike, nodes.nodes(unit.root))):
            alike.setdefault((unit.unit.streams, unit.at_once), []).append(unit)
    found = {unit.number: unit for unit in units}
    groups = []
    for several in alike.values():
        known: dict[Node, Node] = {}
        roots = {unit.number: _one(unit.root, known, {}) for unit in several}
        for group in _groups(roots):
            if len(group) > 1:
                groups.append(group)
                found |= {number: replace(found[number], root=roots[number]) for number in group}
    return tuple(found[unit.number] for unit in units), tuple(groups)


def _is_alike(node: Node) -> bool:
    return isinstance(node, _ALIKE) and not (isinstance(node, TimeJoin) and node.remembered is not None)


def _one(node: Node, known: dict[Node, Node], done: dict[int, Node]) -> Node:
    """The one node that stands for all that are equal to this one."""
    if id(node) not in done:
        if isinstance(node, Derive):  # what its rules do inside is its own
            for each in node.inputs:
                _one(each, known, done)
            made: Node = node
        else:
            made = node.over(lambda each: _one(each, known, done))
        done[id(node)] = known.setdefault(made, made)
    return done[id(node)]


def _groups(roots: dict[int, Node]) -> list[tuple[int, ...]]:
    """The numbers of roots that reach a common node, directly or by way of others."""
    found: list[tuple[list[int], set[int]]] = []
    for number, root in roots.items():
        numbers, reached = [number], {id(node) for node in nodes.nodes(root)}
        apart = []
        for group in found:
            if group[1].isdisjoint(reached):
                apart.append(group)
            else:
                numbers, reached = [*group[0], *numbers], reached | group[1]
        found = [*apart, (numbers, reached)]
    return [tuple(sorted(numbers)) for numbers, _ in found]
