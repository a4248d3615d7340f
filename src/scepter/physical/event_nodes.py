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
from scepter.algebra.patterns import BGP, Pattern
from scepter.algebra.scope import in_scope
from scepter.physical.nodes import Node, Project, Schema, Unary
from scepter.physical.time_nodes import TimeJoin
from scepter.rdf.terms import IRI

ASSERTIONS, INDIVIDUAL, EVENT = "_:assertions", "_:individual", "_:event"
"""The columns of an occurrence: what it asserts, with whom, and as what it is returned."""
START, END = "_:start", "_:end"
"""What else occurrences are divided by: when they start and end."""


def named(label: IRI) -> str:
    """The column of what a name stands for."""
    return f"_:{label.value}"


@dataclass(frozen=True)
class Recognise(Node):
    """Leaf: the occurrences of a logical event in items, by rules or by the complete reasoner, with what they rest on."""

    says = "Recognise {event.event}{individuals: with individuals}"

    event: LogicalEvent
    number: int
    streams: tuple[IRI, ...] | None = None
    individuals: bool = False
    """Whether it tells of whom: several individuals may share an occurrence."""

    def _schema(self) -> Schema:
        return Schema.bound((ASSERTIONS, INDIVIDUAL) if self.individuals else (ASSERTIONS,))


@dataclass(frozen=True)
class ItemGraphs(Node):
    """Leaf: items, each with all that it says; those that contradict the ontology are none."""

    says = "ItemGraphs"

    streams: tuple[IRI, ...] | None = None

    def _schema(self) -> Schema:
        return Schema.bound((ASSERTIONS,))


@dataclass(frozen=True)
class Contradictions(Node):
    """Leaf: items that contradict the ontology, with the triples that do."""

    says = "Contradictions, for the dead letters"

    streams: tuple[IRI, ...] | None = None

    def _schema(self) -> Schema:
        return Schema.bound((ASSERTIONS,))


@dataclass(frozen=True)
class Named(Unary):
    """Occurrences under a name that a guard asks: one more column, for what they assert here."""

    says = "Named {label}"

    label: IRI

    def _schema(self) -> Schema:
        return self.input.schema.more((named(self.label),), (named(self.label),))


@dataclass(frozen=True)
class Bare(Project):
    """Occurrences without what only their guard asked."""

    says = "Bare, what is asserted and when"


@dataclass(frozen=True)
class Asked(Unary):
    """Occurrences with each solution of a guard's block over what a name stands for (rule 5)."""

    says = "Asked EVENT {label} {{ {block} }}"

    label: IRI
    block: BGP

    def _schema(self) -> Schema:
        bound = sorted(in_scope(self.block))
        return self.input.schema.more(bound, bound)


@dataclass(frozen=True)
class Guard(Unary):
    """Occurrences for which a guard holds that is more than its blocks and conditions on what they bind: asked once for each
    combination of what names stand for."""

    says = "Guard{labels: over ~}"
    exact = "a guard asks for more than triples of its events and conditions on them"

    labels: tuple[IRI, ...]
    pattern: Pattern
    lasting: bool
    """Whether it says the same of the same assertions whenever it is asked."""


@dataclass(frozen=True)
class EventJoin(TimeJoin):
    """Pairs of occurrences whose intervals stand in a relation (rule 3), joined on what a guard makes both bind."""

    says = "EventJoin left {relation} right{keys:, by ~}{within:, within ~}, assertions {kept}, interval {hull}"

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

    @property
    def kept(self) -> str:
        """Whose assertions it has, in words."""
        return _SIDES.get(self.assertions, "of both sides")

    @property
    def hull(self) -> str:
        """Whose interval it has, in words."""
        return _SIDES.get(self.interval, "around both sides")


_SIDES = {Keep.LEFT: "of the left side", Keep.RIGHT: "of the right side"}


@dataclass(frozen=True)
class OnceLate(Unary):
    """Each mapping and interval once, also where equal rows come at different times."""

    says = "Once, remembered for {remembered}"

    lag: int | None

    @property
    def remembered(self) -> int | str:
        """How long, in words."""
        return "ever" if self.lag is None else self.lag


@dataclass(frozen=True)
class Within(Unary):
    """Occurrences that last no longer than a duration."""

    says = "Within {longest}"

    longest: int


@dataclass(frozen=True)
class Before(Unary):
    """What is before an evaluation instant (Definition 11)."""

    says = "Before {instant}"

    instant: int


@dataclass(frozen=True)
class FirstOnes(Unary):
    """FIRST: the occurrences with no other one wholly before. `at` is the instant of evaluation, if there is one."""

    says = "First, with no other one wholly before"

    lag: int | None
    at: int | None = None


@dataclass(frozen=True)
class LastOnes(Unary):
    """LAST: the occurrences with no other one wholly after, certain at the instant of evaluation or the end of the input."""

    says = "Last, with no other one wholly after{at: and before ~}"

    at: int | None = None


@dataclass(frozen=True)
class Rest(Node):
    """NOT: what is left of each item without the triples of occurrences that end with it."""

    says = "Rest of each item without the triples that occurrences ending then have used"

    items: Node
    used: Node
    lag: int | None
    at: int | None = None


@dataclass(frozen=True)
class Composite(Unary):
    """Occurrences of a composite event, each with an individual of its own among its assertions (rule 2)."""

    says = "Composite {event}"

    event: IRI


@dataclass(frozen=True)
class Returned(Node):
    """The occurrences of the events that a query returns (rule 6)."""

    says = "Returned {query.returned} AS {query.form}"

    query: EventQuery
    sources: tuple[Node, ...]
    """One for each event that is returned."""
    contradictions: tuple[Contradictions, ...] = ()

    def _schema(self) -> Schema:
        return Schema((ASSERTIONS, INDIVIDUAL, EVENT), frozenset((ASSERTIONS, EVENT)))


EVENT_NODES = (Named, Asked, Guard, EventJoin, OnceLate, Within, Before, FirstOnes, LastOnes, Rest, Composite, Returned)
"""What works on occurrences alone."""
