"""Nodes that stand for kernels of more than one step: sequences, and units that are refused.

Their inputs are the scans that feed them. What works on terms says why (`exact`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from scepter.algebra.notation import Notation
from scepter.algebra.query import Query, Sliding, Unit
from scepter.errors import QueryError
from scepter.ontology.entailment import Flattened
from scepter.physical.nodes.event_core import Shape
from scepter.physical.nodes.nodes import Node, Schema, listed
from scepter.physical.sequence_plan import QueryPlan, ScanPlan
from scepter.rdf.terms import IRI
from scepter.remembered import remembered

_SHOWN = 20
"""So many scans that are matched together are named."""


@remembered(most=2)
def _labels_by_shape(plan: QueryPlan) -> dict[Shape, dict[str, int]]:
    """The scans with each shape of core, with the first place of each: asked by each of maybe 10,000 of them."""
    found: dict[Shape, dict[str, int]] = {}
    for place, scan in enumerate(plan.scans):
        for core in scan.cores:
            found.setdefault(core.shape, {}).setdefault(scan.label, place)
    return found


@dataclass(frozen=True)
class GraphScan(Node):
    """Leaf: the solutions of a graph pattern on each event alone."""

    by_itself = True
    says = "GraphScan {scan.label} on {on}"

    plan: QueryPlan
    place: int
    flattened: Flattened | None = None
    """What triples entail, where an event stands for that too."""

    @property
    def entailed(self) -> bool:
        """Whether an event stands for what its triples entail."""
        return self.flattened is not None

    @property
    def scan(self) -> ScanPlan:
        """The scan of the sequence it is."""
        return self.plan.scans[self.place]

    @property
    def stream(self) -> IRI:
        """The stream it reads."""
        return self.plan.streams[self.scan.stream].iri

    def _schema(self) -> Schema:
        names = self.plan.variables
        return Schema(tuple(names[s] for s in self.scan.slots), frozenset(names[s] for s in self.scan.certain))

    @cached_property
    def exact(self) -> str:
        """Why the exact evaluator matches it."""
        return self.scan.why

    @property
    def on(self) -> str | IRI:
        """The stream as the query calls it."""
        return (self.plan.streams[self.scan.stream].alias or self.stream) if self.plan.streams else "every stream"

    def _together(self) -> Iterable[str]:
        """Which scans are matched together with it, itself too, in their order."""
        by_shape = _labels_by_shape(self.plan)
        shapes = list(dict.fromkeys(core.shape for core in self.scan.cores))
        if len(shapes) == 1:
            return by_shape[shapes[0]]
        places = {label: place for shape in shapes for label, place in by_shape[shape].items()}
        return sorted(places, key=places.__getitem__)

    def details(self, notation: Notation) -> Iterator[str]:
        """What it matches, and for whom."""
        if self.entailed:
            yield "with what its triples entail"
        if labels := [label for label in self._together() if label != self.scan.label]:
            shown = labels if len(labels) <= _SHOWN else [*labels[:_SHOWN], f"{len(labels) - _SHOWN} more"]
            yield f"matched once for {listed(shown, '')} too"
        yield from notation.parts(self.scan.pattern)
        yield from (f"FILTER ({notation.expression(condition)})" for condition in self.scan.local)


@dataclass(frozen=True)
class EventTicks(Node):
    """Leaf: every event, with the partition that it is in, matched or not."""

    says = "EventTicks, every event counts{apart:, by ~}"

    plan: QueryPlan

    @property
    def apart(self) -> tuple[str, ...]:
        """By what events are counted apart."""
        return tuple(self.plan.variables[slot] for slot in self.plan.partition)

    def _schema(self) -> Schema:
        return Schema(("_:partition",))


@dataclass(frozen=True)
class Sequence(Node):
    """Partial matches that look for their next step: every chain of a sequence in one automaton."""

    says = "Sequence of {steps}{ways: in ~ alternatives}"

    query: Query
    plan: QueryPlan
    inputs: tuple[Node, ...] = field()
    """Its scans, then its ticks if it looks at every event."""
    flattened: Flattened | None = None
    """What triples entail, where the run has a schema."""
    why: str = ""
    """How a unit of another kind came to be a sequence."""

    @property
    def in_parts(self) -> bool:
        """Where steps are strict in time: what one takes is later than what was taken before."""
        return self.plan.in_parts

    def _schema(self) -> Schema:
        return Schema(self.plan.shown)

    @property
    def steps(self) -> str:
        """How many there are, in words."""
        count = max(len(chain.steps) for chain in self.plan.chains)
        return f"{count} {'step' if count == 1 else 'steps'}"

    @property
    def ways(self) -> int | None:
        """How many alternatives there are, if there are several."""
        return len(self.plan.chains) if len(self.plan.chains) > 1 else None

    def details(self, notation: Notation) -> Iterator[str]:
        """How a unit of another kind came to be a sequence."""
        if self.why:
            yield f"planned as a sequence: {self.why}"
            if isinstance(self.plan.window, Sliding):
                yield f"solutions {'shorter' if self.plan.window.exclusive else 'no longer'} than {self.plan.window.duration}"


def sequence(query: Query, plan: QueryPlan, flattened: Flattened | None = None, why: str = "") -> Sequence:
    """A sequence over its scans."""
    scans = [GraphScan(plan, place, flattened) for place in range(len(plan.scans))]
    return Sequence(query, plan, (*scans, *([EventTicks(plan)] if plan.ticked else [])), flattened, why)


@dataclass(frozen=True)
class Refused(Node):
    """Leaf: a unit that does not fit the streams' timestamps; the run is refused when it is set up."""

    says = "Refused: {exact}"

    unit: Unit
    error: QueryError

    @cached_property
    def exact(self) -> str:
        """What is wrong."""
        return str(self.error.diagnostic.message)

    def details(self, notation: Notation) -> Iterator[str]:
        """Which rule it breaks, and what would be right."""
        told = self.error.diagnostic
        yield from told.notes
        if told.help is not None:
            yield f"help: {told.help}"
