"""Nodes that stand for kernels of more than one step: sequences, and units that are refused.

Their inputs are the scans that feed them. What works on terms says why (`exact`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scepter.algebra.notation import Notation
from scepter.algebra.query import Query, Unit
from scepter.errors import QueryError
from scepter.ontology.entailment import Flattened
from scepter.physical.nodes import Leaf, Node, Schema
from scepter.physical.sequence_plan import QueryPlan, Road, ScanPlan
from scepter.rdf.terms import IRI


@dataclass(frozen=True)
class GraphScan(Leaf):
    """Leaf: the solutions of a graph pattern on each event alone."""

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

    @cached_property
    def schema(self) -> Schema:
        """The pattern's variables."""
        names = self.plan.variables
        return Schema(tuple(names[s] for s in self.scan.slots), frozenset(names[s] for s in self.scan.certain))

    @property
    def exact(self) -> str:
        """Why the exact evaluator matches it."""
        return "" if self.scan.road is Road.COLUMNAR else self.scan.why

    def line(self, notation: Notation) -> str:
        """Which events it looks at."""
        streams = self.plan.streams
        stream = (
            "every stream" if not streams else streams[self.scan.stream].alias or notation.term(streams[self.scan.stream].iri)
        )
        return f"GraphScan {self.scan.label} on {stream}"


@dataclass(frozen=True)
class EventTicks(Leaf):
    """Leaf: every event, with the partition that it is in, matched or not."""

    plan: QueryPlan

    @property
    def schema(self) -> Schema:
        """The partition, hashed."""
        return Schema(("_:partition",))

    def line(self, notation: Notation) -> str:
        """What counts."""
        names = [self.plan.variables[slot] for slot in self.plan.partition]
        apart = f", by {', '.join(f'?{name}' for name in names)}" if names else ""
        return f"EventTicks, every event counts{apart}"


@dataclass(frozen=True)
class Sequence:
    """Partial matches that look for their next step: every chain of a sequence in one automaton."""

    query: Query
    plan: QueryPlan
    inputs: tuple[Node, ...]
    """Its scans, then its ticks if it looks at every event."""
    flattened: Flattened | None = None
    """What triples entail, where the run has a schema."""
    why: str = ""
    """How a unit of another kind came to be a sequence."""

    @cached_property
    def schema(self) -> Schema:
        """What the query shows of its matches."""
        return Schema(self.plan.shown)

    def line(self, notation: Notation) -> str:
        """How many steps."""
        steps = max(len(chain.steps) for chain in self.plan.chains)
        ways = f" in {len(self.plan.chains)} alternatives" if len(self.plan.chains) > 1 else ""
        return f"Sequence of {steps} {'step' if steps == 1 else 'steps'}{ways}"


def sequence(query: Query, plan: QueryPlan, flattened: Flattened | None = None, why: str = "") -> Sequence:
    """A sequence over its scans."""
    scans = [GraphScan(plan, place, flattened) for place in range(len(plan.scans))]
    return Sequence(query, plan, (*scans, *([EventTicks(plan)] if plan.ticked else [])), flattened, why)


@dataclass(frozen=True)
class Refused(Leaf):
    """Leaf: a unit that does not fit the streams' timestamps; the run is refused when it is set up."""

    unit: Unit
    error: QueryError

    @property
    def exact(self) -> str:
        """What is wrong."""
        return str(self.error.diagnostic.message)

    @property
    def schema(self) -> Schema:
        """None: it gives no rows."""
        return Schema(())

    def line(self, notation: Notation) -> str:
        """What is wrong."""
        return f"Refused: {self.exact}"
