"""The nodes of events: what items are recognised as, and operators on occurrences (spec/40-obep).

An occurrence is a row with an interval whose column ASSERTIONS stands for a set of triples (`kernel.events`). A name
that a guard asks is one more such column. What a guard's blocks bind are ordinary variables, so that the sides of a relation
are joined on them.

A row may be given after its end: an inner interval is known when the outer one is. `lag` says by how much at most (None: any
time); an operator that takes late rows keeps both its sides in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scepter.algebra.events import EventQuery, Keep, LogicalEvent
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import BGP, Pattern
from scepter.algebra.scope import in_scope
from scepter.physical.nodes import Leaf, Node, Project, Schema, Unary
from scepter.physical.time_nodes import TimeJoin
from scepter.rdf.terms import IRI

ASSERTIONS, INDIVIDUAL, EVENT = "_:assertions", "_:individual", "_:event"
"""The columns of an occurrence: what it asserts, with whom, and as what it is returned."""


def named(label: IRI) -> str:
    """The column of what a name stands for."""
    return f"_:{label.value}"


@dataclass(frozen=True)
class Recognise(Leaf):
    """Leaf: the occurrences of a logical event in items, by rules or by the complete reasoner, with what they rest on."""

    event: LogicalEvent
    number: int
    streams: tuple[IRI, ...] | None = None
    individuals: bool = False
    """Whether it tells of whom: several individuals may share an occurrence."""

    @property
    def schema(self) -> Schema:
        """What is asserted, and of whom."""
        names = (ASSERTIONS, INDIVIDUAL) if self.individuals else (ASSERTIONS,)
        return Schema(names, frozenset(names))

    def line(self, notation: Notation) -> str:
        """The event."""
        return f"Recognise {notation.term(self.event.event)}{' with individuals' if self.individuals else ''}"


@dataclass(frozen=True)
class ItemGraphs(Leaf):
    """Leaf: items, each with all that it says; those that contradict the ontology are none."""

    streams: tuple[IRI, ...] | None = None

    @property
    def schema(self) -> Schema:
        """What is said."""
        return Schema((ASSERTIONS,), frozenset((ASSERTIONS,)))

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "ItemGraphs"


@dataclass(frozen=True)
class Contradictions(Leaf):
    """Leaf: items that contradict the ontology, with the triples that do."""

    streams: tuple[IRI, ...] | None = None

    @property
    def schema(self) -> Schema:
        """The contradiction."""
        return Schema((ASSERTIONS,), frozenset((ASSERTIONS,)))

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "Contradictions, for the dead letters"


@dataclass(frozen=True)
class Named(Unary):
    """Occurrences under a name that a guard asks: one more column, for what they assert here."""

    label: IRI

    @cached_property
    def schema(self) -> Schema:
        """Its input's variables, and the name."""
        own = self.input.schema
        return Schema((*own.variables, named(self.label)), own.certain | {named(self.label)})

    def line(self, notation: Notation) -> str:
        """The name."""
        return f"Named {notation.term(self.label)}"


@dataclass(frozen=True)
class Bare(Project):
    """Occurrences without what only their guard asked."""

    def line(self, notation: Notation) -> str:
        """What is left."""
        return "Bare, what is asserted and when"


@dataclass(frozen=True)
class Asked(Unary):
    """Occurrences with each solution of a guard's block over what a name stands for (rule 5)."""

    label: IRI
    block: BGP

    @cached_property
    def schema(self) -> Schema:
        """Its input's variables, and those of the block."""
        own = self.input.schema
        bound = in_scope(self.block)
        names = (*own.variables, *sorted(bound - set(own.variables)))
        return Schema(names, own.certain | bound)

    def line(self, notation: Notation) -> str:
        """The block."""
        return f"Asked EVENT {notation.term(self.label)} {{ {' . '.join(map(notation.triple, self.block.triples))} }}"


@dataclass(frozen=True)
class Guard(Unary):
    """Occurrences for which a guard holds that is more than its blocks and conditions on what they bind: asked once for each
    combination of what names stand for."""

    labels: tuple[IRI, ...]
    pattern: Pattern
    lasting: bool
    """Whether it says the same of the same assertions whenever it is asked."""

    def line(self, notation: Notation) -> str:
        """The names that it asks."""
        return f"Guard over {', '.join(map(notation.term, self.labels)) or 'nothing'}"


@dataclass(frozen=True)
class EventJoin(TimeJoin):
    """Pairs of occurrences whose intervals stand in a relation (rule 3), joined on what a guard makes both bind."""

    assertions: Keep = Keep.BOTH
    interval: Keep = Keep.BOTH
    within: int | None = None
    """The longest duration of a result (rule 4)."""
    lags: tuple[int | None, int | None] = (0, 0)
    lengths: tuple[int | None, int | None] = (None, None)
    """How long the occurrences of each side last at most."""

    @property
    def late(self) -> bool:
        """Whether rows of a side may come after their end."""
        return self.lags != (0, 0)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The guard's variables that both sides bind."""
        both = self.left.schema.certain & self.right.schema.certain - {ASSERTIONS}
        return tuple(name for name in self.left.schema.variables if name in both)

    @cached_property
    def loose(self) -> tuple[str, ...]:
        """None: a guard's variables are bound or not there."""
        return ()

    def line(self, notation: Notation) -> str:
        """How partners are found, and what is kept of them."""
        parts = [f"EventJoin left {'' if self.relation is None else self.relation.value} right"]
        parts += ["by " + " ".join(f"?{name}" for name in self.keys)] if self.keys else []
        parts += [f"within {self.within}"] if self.within is not None else []
        parts.append(f"assertions {_SIDES[self.assertions]}, interval {_HULLS[self.interval]}")
        return ", ".join(parts)


_SIDES = {Keep.LEFT: "of the left side", Keep.RIGHT: "of the right side", Keep.BOTH: "of both sides"}
_HULLS = {Keep.LEFT: "of the left side", Keep.RIGHT: "of the right side", Keep.BOTH: "around both sides"}


@dataclass(frozen=True)
class OnceLate(Unary):
    """Each mapping and interval once, also where equal rows come at different times."""

    lag: int | None

    def line(self, notation: Notation) -> str:
        """How long rows are remembered."""
        return f"Once, remembered {'for ever' if self.lag is None else f'for {self.lag}'}"


@dataclass(frozen=True)
class Within(Unary):
    """Occurrences that last no longer than a duration."""

    longest: int

    def line(self, notation: Notation) -> str:
        """The duration."""
        return f"Within {self.longest}"


@dataclass(frozen=True)
class Before(Unary):
    """What is before an evaluation instant (Definition 11)."""

    instant: int

    def line(self, notation: Notation) -> str:
        """The instant."""
        return f"Before {self.instant}"


@dataclass(frozen=True)
class FirstOnes(Unary):
    """FIRST: the occurrences with no other one wholly before. `at` is the instant of evaluation, if there is one."""

    lag: int | None
    at: int | None = None

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "First, with no other one wholly before"


@dataclass(frozen=True)
class LastOnes(Unary):
    """LAST: the occurrences with no other one wholly after, certain at the instant of evaluation or the end of the input."""

    at: int | None = None

    def line(self, notation: Notation) -> str:
        """Its name."""
        return f"Last, with no other one wholly after{'' if self.at is None else f' and before {self.at}'}"


@dataclass(frozen=True)
class Rest:
    """NOT: what is left of each item without the triples of occurrences that end with it."""

    items: Node
    used: Node
    lag: int | None
    at: int | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The items, and what takes away from them."""
        return self.items, self.used

    @property
    def schema(self) -> Schema:
        """What is left."""
        return self.items.schema

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "Rest of each item without the triples that occurrences ending then have used"


@dataclass(frozen=True)
class Composite(Unary):
    """Occurrences of a composite event, each with an individual of its own among its assertions (rule 2)."""

    event: IRI

    def line(self, notation: Notation) -> str:
        """The event."""
        return f"Composite {notation.term(self.event)}"


@dataclass(frozen=True)
class Returned:
    """The occurrences of the events that a query returns (rule 6)."""

    query: EventQuery
    sources: tuple[Node, ...]
    """One for each event that is returned."""
    contradictions: tuple[Contradictions, ...] = ()

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The occurrences, and what becomes a dead letter."""
        return (*self.sources, *self.contradictions)

    @property
    def schema(self) -> Schema:
        """What is asserted, of whom, and as which event."""
        return Schema((ASSERTIONS, INDIVIDUAL, EVENT), frozenset((ASSERTIONS, EVENT)))

    def line(self, notation: Notation) -> str:
        """The events."""
        return f"Returned {', '.join(notation.term(event) for event in self.query.returned)} AS {self.query.form.value}"
