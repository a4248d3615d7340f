"""Where graph patterns stand in the units of a program, and what each is matched against.

A rule is sound for some readings of a pattern and not for others: over one graph two equal triple patterns say the same, over
occurrences of triples they may match two. Below LIMIT, SAMPLE and sums of floating point numbers even the order of solutions
matters, so that nothing is rewritten there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import Any, TypeVar

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.events import CompositeEvent
from scepter.algebra.patterns import Group, Pattern, Slice
from scepter.algebra.query import Scan, Unit
from scepter.algebra.timed import Rule, TimedQuery
from scepter.algebra.walk import Algebra, is_node, rewrite, walk
from scepter.algebra.windows import ItemScan, WindowedQuery

U = TypeVar("U", bound=Unit)
Rewriting = Callable[[Algebra], Algebra]


class Reading(Enum):
    """What a pattern's triple patterns are matched against."""

    GRAPH = "graph"
    """One graph: an event's, an item's, the content of windows, a guard's assertions. SPARQL's own algebra."""
    TRIPLES = "triples"
    """The occurrences of triples in streams: one triple pattern, one occurrence."""
    TIMED = "timed"
    """Occurrences too, and every solution has an interval, of which conditions may speak."""


READINGS = frozenset(Reading)
_OF: dict[type, Reading] = {
    Scan: Reading.GRAPH,
    ItemScan: Reading.GRAPH,
    WindowedQuery: Reading.GRAPH,
    PeriodicQuery: Reading.GRAPH,
    CompositeEvent: Reading.GRAPH,
    ContinuousQuery: Reading.TRIPLES,
    TimedQuery: Reading.TIMED,
    Rule: Reading.TIMED,
}
"""The nodes that hold a graph pattern."""


def rewrite_everywhere(unit: U, function: Rewriting) -> U:
    """As `algebra.walk.rewrite`, over all of a unit."""
    return rewrite(unit, function) if is_node(unit) else unit  # type: ignore[return-value]  # a unit stays one of its kind


def rewrite_unordered(unit: U, function: Rewriting, readings: frozenset[Reading] = READINGS) -> U:
    """As `algebra.walk.rewrite`, but only inside graph patterns of some readings, and not below a Slice or a Group."""
    done: dict[int, tuple[Algebra, Algebra]] = {}

    def inside(node: Pattern) -> Pattern:
        # a pattern that two parts of a unit share stays shared
        if id(node) not in done:
            done[id(node)] = node, _where_free(node, function)
        return done[id(node)][1]  # type: ignore[return-value]

    def at_places(node: Algebra) -> Algebra:
        reading = _OF.get(type(node))
        if reading not in readings:
            return node
        match node:
            case CompositeEvent(guard=guard):
                return node if guard is None or (new := inside(guard)) is guard else replace(node, guard=new)
            case Scan(filters=filters):
                conditions: tuple[Any, ...] = tuple(_where_free(condition, function) for condition in filters)
                pattern = inside(node.pattern)
                same = pattern is node.pattern and all(a is b for a, b in zip(conditions, filters, strict=True))
                return node if same else replace(node, pattern=pattern, filters=conditions)
            case ItemScan() | WindowedQuery() | PeriodicQuery() | ContinuousQuery() | TimedQuery() | Rule():
                return node if (new := inside(node.pattern)) is node.pattern else replace(node, pattern=new)
            case _:
                return node

    return rewrite_everywhere(unit, at_places)


def _where_free(top: Algebra, function: Rewriting) -> Algebra:
    kept = {id(below) for node in walk(top) if isinstance(node, Slice | Group) for below in walk(node)}
    return rewrite(top, lambda node: node if id(node) in kept else function(node))
