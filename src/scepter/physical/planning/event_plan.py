"""Events as operators on occurrences: recognised in items, related by their intervals, asked by guards.

The blocks of a guard become joins: what a block binds over a name's assertions is added to the occurrence as soon as it has the
name, so that the sides of a relation are joined on the variables they share. Only below FIRST, LAST and NOT it has to wait:
which one is first does not depend on the guard.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import assert_never

from scepter.algebra.events import (
    CompositeEvent,
    Either,
    EventPattern,
    EventQuery,
    First,
    Keep,
    Labelled,
    Last,
    Occurs,
    Related,
    Rest,
)
from scepter.physical.facts import Facts
from scepter.physical.nodes import event_nodes as nodes
from scepter.physical.nodes.event_nodes import named
from scepter.physical.nodes.nodes import ASSERTIONS, Node, Union
from scepter.physical.nodes.nodes import Filter as FilterNode
from scepter.physical.nodes.time_nodes import Once
from scepter.physical.planning.event_guards import Asking, is_lasting
from scepter.rdf.terms import IRI
from scepter.timeline import Duration


@dataclass(frozen=True, slots=True)
class EventPlan:
    """The operators of an event query."""

    root: Node
    at_once: bool
    """Whether an answer is certain before its instant is over: NOT has to see all of it."""


def event_plan(query: EventQuery, facts: Facts) -> EventPlan:
    """The operators of an event query."""
    leaves = _Leaves(query)
    instants = sorted(set(facts.evaluate_at)) if facts.evaluate_at else [None]
    planners = [_Planner(query, facts, leaves, instant) for instant in instants]
    sources = tuple(_evaluated(event, planners) for event in query.returned)
    root = nodes.Returned(query, sources, (nodes.Contradictions(leaves.streams),))
    return EventPlan(root, not any(planner.waits for planner in planners))


def _evaluated(event: IRI, planners: list[_Planner]) -> Node:
    """The occurrences of an event at all instants, each once. Where no instant revises what an earlier one found, the last one
    finds them all."""
    *sooner, latest = planners
    found = latest.returned(event)
    if not found.revised or not sooner:
        return found.node
    every = found.node
    for planner in sooner:
        every = Union(planner.returned(event).node, every)
    return nodes.OnceLate(every, None)


@dataclass(frozen=True, slots=True)
class _Occurrences:
    """A node, how late its rows may come, and how long they last at most; None is no bound."""

    node: Node
    lag: int | None = 0
    longest: int | None = None
    revised: bool = False
    """Whether what comes later can make an occurrence none: of LAST; of FIRST and NOT over what comes late."""

    def by(self, node: Node) -> _Occurrences:
        return _Occurrences(node, self.lag, self.longest, self.revised)

    def once(self) -> _Occurrences:
        return self.by(Once(self.node) if self.lag == 0 else nodes.OnceLate(self.node, self.lag))


@dataclass(slots=True)
class _Leaves:
    """What reads items, each once for the plans of all instants."""

    query: EventQuery
    streams: tuple[IRI, ...] | None = None
    _recognised: dict[tuple[int, bool], Node] = field(default_factory=dict)
    _items: nodes.ItemGraphs | None = None

    def __post_init__(self) -> None:
        self.streams = tuple(stream.iri for stream in self.query.streams) or None

    def recognised(self, number: int, *, individuals: bool) -> Node:
        """The occurrences of a logical event."""
        made = Once(nodes.Recognise(self.query.logical[number], number, self.streams, individuals))
        return self._recognised.setdefault((number, individuals), made)

    def items(self) -> Node:
        """The items themselves."""
        if self._items is None:
            self._items = nodes.ItemGraphs(self.streams)
        return self._items


@dataclass(slots=True)
class _Planner:
    query: EventQuery
    facts: Facts
    leaves: _Leaves
    instant: int | None = None
    """The instant of evaluation; None: items count as they come."""
    waits: bool = False
    _found: dict[IRI, _Occurrences] = field(default_factory=dict)
    """What the pattern of each composite event finds."""
    _parts: dict[IRI, _Occurrences] = field(default_factory=dict)
    """The occurrences of events as patterns use them."""
    _before: dict[int, Node] = field(default_factory=dict)
    """Of leaves by their id, what is before the instant."""

    def _counted(self, leaf: Node) -> Node:
        """What of a leaf counts at the instant."""
        if self.instant is None:
            return leaf
        return self._before.setdefault(id(leaf), nodes.Before(leaf, self.instant))

    def returned(self, event: IRI) -> _Occurrences:
        """The occurrences of an event, as they are answered."""
        if (number := self._logical(event)) is not None:
            return _Occurrences(self._recognised(number, individuals=True))
        return self._composite(event)

    def _logical(self, event: IRI) -> int | None:
        return next((number for number, each in enumerate(self.query.logical) if each.event == event), None)

    def _recognised(self, number: int, *, individuals: bool = False) -> Node:
        return self._counted(self.leaves.recognised(number, individuals=individuals))

    def _part(self, event: IRI) -> _Occurrences:
        """The occurrences of an event, as other patterns see them."""
        if event not in self._parts:
            if (number := self._logical(event)) is not None:
                found = _Occurrences(self._recognised(number))
            else:
                inner = self._composite(event)
                found = inner.by(nodes.Composite(inner.node, event))
            self._parts[event] = found
        return self._parts[event]

    def _composite(self, event: IRI) -> _Occurrences:
        if event not in self._found:
            (definition,) = (each for each in self.query.composite if each.event == event)
            self._found[event] = self._matched(definition)
        return self._found[event]

    def _ticks(self, duration: Duration | None) -> int | None:
        if duration is None:
            return None
        assert self.facts.kind is not None
        try:
            return duration.ticks(self.facts.kind, self.facts.time_unit)
        except ValueError:
            return None  # told with its place when the run is set up

    def _matched(self, event: CompositeEvent) -> _Occurrences:
        within = self._ticks(event.within)
        guard = Asking.of(event)
        found = self._pattern(event.pattern, within, guard)
        if within is not None and not isinstance(found.node, nodes.EventJoin):
            found = replace(found, node=nodes.Within(found.node, within), longest=_least(within, found.longest))
        found = self._asked(found, guard)
        if guard.conditions:
            found = found.by(FilterNode(found.node, guard.conditions))
        if guard.residual is not None:
            known = found.node.schema.variables
            labels = tuple(sorted((label for label in guard.labels if named(label) in known), key=lambda label: label.value))
            plain = nodes.Bare(found.node, (ASSERTIONS, *map(named, labels)))
            found = found.by(plain).once()
            found = found.by(nodes.Guard(found.node, labels, guard.residual, is_lasting(guard.residual)))
        if found.node.schema.variables != (ASSERTIONS,):
            found = found.by(nodes.Bare(found.node, (ASSERTIONS,))).once()
        return found

    def _asked(self, found: _Occurrences, guard: Asking) -> _Occurrences:
        """With what the guard's blocks bind, as far as their names are there and have not been asked."""
        node = found.node
        for block in guard.take(node.schema.variables):
            node = nodes.Asked(node, block.label, block.triples)
            if block.conditions:
                node = FilterNode(node, block.conditions)
        return found if node is found.node else found.by(node)

    def _pattern(self, pattern: EventPattern, bound: int | None, guard: Asking) -> _Occurrences:
        """The operators of a pattern. `bound` is how long its occurrences may last to be of use."""
        match pattern:
            case Occurs(event):
                return self._part(event)
            case Labelled(label, operand):
                inner = self._pattern(operand, bound, guard)
                if label not in guard.labels:
                    return inner
                return self._asked(inner.by(nodes.Named(inner.node, label)), guard)
            case Either(left, right):
                return self._either(self._pattern(left, bound, guard.waiting()), self._pattern(right, bound, guard.waiting()))
            case First(operand):  # which one is first, a bound on what is of use does not change
                inner = self._pattern(operand, None, guard.waiting())
                self.waits |= inner.lag != 0
                first = nodes.FirstOnes(inner.node, inner.lag, self.instant)
                return replace(inner, node=first, revised=inner.revised or inner.lag != 0)
            case Last(operand):
                inner = self._pattern(operand, None, guard.waiting())
                self.waits |= self.instant is not None
                return _Occurrences(nodes.LastOnes(inner.node, self.instant), None, inner.longest, revised=True)
            case Rest(operand):
                self.waits = True
                inner = self._pattern(operand, None, Asking())
                rest = nodes.Rest(self._counted(self.leaves.items()), inner.node, inner.lag, self.instant)
                return _Occurrences(Once(rest), inner.lag, revised=inner.revised or inner.lag != 0)
            case Related():
                return self._related(pattern, bound, guard)
            case _:
                assert_never(pattern)

    def _either(self, left: _Occurrences, right: _Occurrences) -> _Occurrences:
        lag, longest = _greatest(left.lag, right.lag), _greatest(left.longest, right.longest)
        return _Occurrences(Union(left.node, right.node), lag, longest, left.revised or right.revised).once()

    def _related(self, pattern: Related, bound: int | None, guard: Asking) -> _Occurrences:
        interval = pattern.interval
        inner = {Keep.BOTH: (bound, bound), Keep.LEFT: (bound, None), Keep.RIGHT: (None, bound)}[interval]
        left, right = self._pattern(pattern.left, inner[0], guard), self._pattern(pattern.right, inner[1], guard)
        lag = _greatest(left.lag, right.lag)
        if interval is Keep.LEFT:  # known when the right side is, which ends later by less than it lasts
            lag = _greatest(left.lag, _total(right.lag, right.longest))
        elif interval is Keep.RIGHT:
            lag = _greatest(right.lag, _total(left.lag, left.longest))
        length = {Keep.BOTH: None, Keep.LEFT: left.longest, Keep.RIGHT: right.longest}[interval]
        node = nodes.EventJoin(
            left.node, right.node, pattern.relation, longest=bound if interval is Keep.BOTH else None,
            assertions=pattern.assertions, interval=interval, within=bound, lags=(left.lag, right.lag),
            lengths=(left.longest, right.longest),
        )  # fmt: skip
        found = _Occurrences(node, lag, _least(bound, length), left.revised or right.revised)
        return found if lag == 0 else found.once()


def _greatest(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else max(first, second)


def _total(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def _least(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)
