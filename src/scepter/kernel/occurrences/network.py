"""Composite events at work: their operators, guards and individuals, each event after those it is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, assert_never

from scepter.algebra.events import (
    CompositeEvent,
    Either,
    EventPattern,
    First,
    Keep,
    Labelled,
    Last,
    Occurs,
    Related,
    Rest,
)
from scepter.algebra.patterns import Pattern
from scepter.kernel.occurrences.joins import Join
from scepter.kernel.occurrences.model import Arrivals, Assertions, Item, Occurrence, Once, Operator, Part, least
from scepter.kernel.occurrences.operators import Event, FirstOnes, LastOnes, Name, Remainder, Union
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.rdf.terms import IRI, TYPE, Triple
from scepter.timeline import Duration

_TYPE = IRI(TYPE)
Ticks = Callable[[Duration], int]


class Occurred(NamedTuple):
    """An occurrence of a composite event with its individual; the occurrence's assertions include what that is."""

    event: IRI
    individual: IRI
    pattern: Occurrence
    """What the pattern found: without the individual."""
    occurrence: Occurrence
    parts: tuple[Part, ...] = ()
    """Of what the pattern was made, if somebody asks why."""


def individual_of(event: IRI, occurrence: Occurrence) -> IRI:
    """The individual of a composite event's occurrence: determined by the event, the interval and the assertions (rule 2)."""
    text = "\n".join((event.value, str(occurrence.start), str(occurrence.end), *_spelled(occurrence.assertions)))
    return IRI(f"urn:scepter:occurrence:{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}")


@lru_cache(maxsize=65_536)
def _spelled(assertions: Assertions) -> list[str]:
    """The triples' text, sorted; the same justifications come again and again."""
    return sorted(" ".join(map(str, triple)) for triple in assertions)


def occurred_in(event: IRI, each: Occurrence, parts: tuple[Part, ...] = (), traced: bool = False) -> Occurred:
    """A composite event's occurrence, from what its pattern found (rule 2)."""
    individual = individual_of(event, each)
    assertions = each.assertions | {Triple(individual, _TYPE, event)}
    as_part = (Part(event, individual, each.assertions, each.start, each.end, parts),) if traced else ()
    return Occurred(event, individual, each, Occurrence(assertions, each.start, each.end, (), as_part), parts)


def ask(guard: Pattern) -> Callable[[Occurrence], bool]:
    """Whether a guard holds: an ASK over one named graph per name (rule 5)."""
    plan = compile_pattern(guard)

    def holds(occurrence: Occurrence) -> bool:
        graphs = {name: Graph(sorted(assertions, key=str)) for name, assertions in occurrence.names}
        return next(plan(Context(dataset=Dataset(named=graphs))), None) is not None

    return holds


class Composite:
    """One composite event at work."""

    def __init__(self, event: CompositeEvent, root: Operator, within: int | None, traced: bool = False) -> None:
        self.event = event.event
        self._traced = traced
        self._root = root
        self._within = within
        self._guard = None if event.guard is None else ask(event.guard)
        self._once = Once(root.lag)
        self._result = Event(event.event, root.lag, least(within, root.longest))

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """Its occurrences' lag and greatest duration."""
        return self._result.lag, self._result.longest

    def step(self, arrivals: Arrivals) -> list[Occurred]:
        """New occurrences that satisfy the guards."""
        found: dict[Occurrence, tuple[Part, ...]] = {}
        for each in self._root.step(arrivals):
            bare = Occurrence(each.assertions, each.start, each.end) if each.names or each.parts else each
            if bare in found or (self._within is not None and each.end - each.start > self._within):
                continue
            if self._guard is None or self._guard(each):
                found[bare] = each.parts
        return [occurred_in(self.event, each, found[each], self._traced) for each in self._once(list(found))]

    def merge(self, certain: int) -> None:
        """Keep what was done."""
        self._root.merge(certain)
        self._once.merge(certain)

    def forget(self) -> None:
        """Drop what was done."""
        self._root.forget()
        self._once.forget()

    def rows(self) -> int:
        """What is kept."""
        return self._root.rows() + len(self._once)


class Network:
    """Composite events of a query. `bounds` are the lag and the greatest duration of those that come from elsewhere."""

    def __init__(
        self,
        events: Sequence[CompositeEvent],
        ticks: Ticks,
        *,
        traced: bool = False,
        bounds: Mapping[IRI, tuple[int | None, int | None]] | None = None,
    ) -> None:
        self._composites: list[Composite] = []
        self._bounds = dict(bounds or {})
        for event in events:
            within = None if event.within is None else ticks(event.within)
            composite = Composite(event, self._operator(event.pattern, within), within, traced)
            self._composites.append(composite)
            self._bounds[event.event] = composite.bounds

    def _operator(self, pattern: EventPattern, bound: int | None) -> Operator:
        """The operator of a pattern. `bound` is how long its occurrences may last to be of use."""
        match pattern:
            case Occurs(event):
                lag, longest = self._bounds.get(event, (0, None))
                return Event(event, lag, longest)
            case Labelled(label, operand):
                return Name(label, self._operator(operand, bound))
            case Either(left, right):
                return Union(self._operator(left, bound), self._operator(right, bound))
            case First(operand):  # which one is first, a bound on what is of use does not change
                return FirstOnes(self._operator(operand, None))
            case Last(operand):
                return LastOnes(self._operator(operand, None))
            case Rest(operand):
                return Remainder(self._operator(operand, None))
            case Related(relation, left, right, assertions, interval):
                inner = {
                    Keep.BOTH: (bound, bound), Keep.LEFT: (bound, None), Keep.RIGHT: (None, bound),
                }[interval]  # fmt: skip
                operands = self._operator(left, inner[0]), self._operator(right, inner[1])
                return Join(relation, *operands, assertions, interval, bound)
            case _:
                assert_never(pattern)

    def step(self, items: Sequence[Item], occurrences: Mapping[IRI, list[Occurrence]], certain: int) -> list[Occurred]:
        """The composite occurrences that items and logical occurrences complete, for the time being until `merge`."""
        arrivals = Arrivals(items, dict(occurrences), certain)
        found: list[Occurred] = []
        for composite in self._composites:
            new = composite.step(arrivals)
            arrivals.occurrences[composite.event] = [each.occurrence for each in new]
            found += new
        return found

    def merge(self, certain: int) -> None:
        """Keep what was done, and release what nothing to come can use."""
        for composite in self._composites:
            composite.merge(certain)

    def forget(self) -> None:
        """Drop what was done since the last `merge`."""
        for composite in self._composites:
            composite.forget()

    def rows(self) -> int:
        """How many occurrences and items are kept."""
        return sum(composite.rows() for composite in self._composites)
