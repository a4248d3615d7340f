"""The nodes of events: what items are recognised as, and operators on occurrences (spec/40-obep).

An occurrence is a row with an interval whose column ASSERTIONS stands for a set of triples (`kernel.events`). A name
that a guard asks is one more such column. What a guard's blocks bind are ordinary variables, so that the sides of a relation
are joined on them.

A row may be given after its end: an inner interval is known when the outer one is. `lag` says by how much at most (None: any
time); an operator that takes late rows keeps both its sides in any order.

Occurrences with the same assertions and the same interval are one, however they were found. So that they are found in one
bucket, only what an occurrence itself shows is a key of it: its start and its end are those of one side of a relation, or of
both. The occurrences of that side go to one bucket each, those of the other to every one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from scepter.algebra.events import EventQuery, Keep, LogicalEvent
from scepter.algebra.patterns import BGP, Pattern
from scepter.algebra.scope import in_scope
from scepter.physical.nodes.keys import KeyAnalysis, Keys, Ways
from scepter.physical.nodes.nodes import ASSERTIONS, END, START, Node, Project, Rowwise, Schema, Unary
from scepter.physical.nodes.time_nodes import TimeJoin
from scepter.rdf.terms import IRI
from scepter.timeline import Allen

INDIVIDUAL, EVENT = "_:individual", "_:event"
"""The columns of an occurrence besides what it asserts: with whom, and as what it is returned."""
_LEFT: Final = {
    START: {
        Allen.BEFORE, Allen.MEETS, Allen.OVERLAPS, Allen.CONTAINS, Allen.FINISHEDBY, Allen.STARTS, Allen.STARTEDBY,
        Allen.EQUALS,
    },
    END: {
        Allen.AFTER, Allen.METBY, Allen.OVERLAPPEDBY, Allen.CONTAINS, Allen.STARTEDBY, Allen.FINISHES, Allen.FINISHEDBY,
        Allen.EQUALS,
    },
}  # fmt: skip
"""Relations whose hull has the start, or the end, of the left side."""
_SAME: Final = {
    START: {Allen.STARTS, Allen.STARTEDBY, Allen.EQUALS},
    END: {Allen.FINISHES, Allen.FINISHEDBY, Allen.EQUALS},
}
"""Relations whose sides agree in it."""


def named(label: IRI) -> str:
    """The column of what a name stands for."""
    return f"_:{label.value}"


@dataclass(frozen=True)
class Recognise(Node):
    """Leaf: the occurrences of a logical event in items, by rules or by the complete reasoner, with what they rest on."""

    by_itself = True
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

    by_itself = True
    says = "Contradictions, for the dead letters"

    streams: tuple[IRI, ...] | None = None

    def _schema(self) -> Schema:
        return Schema.bound((ASSERTIONS,))


@dataclass(frozen=True)
class Named(Rowwise):
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
class Asked(Rowwise):
    """Occurrences with each solution of a guard's block over what a name stands for (rule 5)."""

    says = "Asked EVENT {label} {{ {block} }}"

    label: IRI
    block: BGP

    def _schema(self) -> Schema:
        bound = sorted(in_scope(self.block))
        return self.input.schema.more(bound, bound)


@dataclass(frozen=True)
class Guard(Rowwise):
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
    def in_parts(self) -> bool:
        """Where none comes after its end."""
        return super().in_parts and not self.late

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

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        """By name what one side, or both, have of the result."""
        keys = found.combined(self._ways(found))
        if not any(found.is_whole(at, self.left, self.right) for at in keys.values()):
            assert self.relation is not None
            found.none(f"the sides of {self.relation.value} need not agree in anything")
        return keys

    def _ways(self, found: KeyAnalysis) -> Iterator[tuple[str, Ways]]:
        assert self.relation is not None
        left, right = self.left, self.right
        of_left, of_right = found.keys(left) or {}, found.keys(right) or {}
        kept = {ASSERTIONS: self.assertions, START: self.interval, END: self.interval}
        for name in dict.fromkeys((*of_right, *of_left)):
            whose = kept.get(name)
            if whose is Keep.BOTH:  # a variable is whose side binds it, and both sides' where they are joined on it
                if name == ASSERTIONS:
                    continue
                whose = Keep.LEFT if self.relation in _LEFT[name] else Keep.RIGHT
            if whose is not Keep.LEFT and name in of_right:
                yield name, [(left, ()), (right, of_right[name])]
            if whose is not Keep.RIGHT and name in of_left:
                yield name, [(left, of_left[name]), (right, ())]
            agree = self.relation in _SAME[name] if name in _SAME else name in self.keys
            if agree and name in of_left and name in of_right:
                yield name, [(left, of_left[name]), (right, of_right[name])]


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

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        return found.visible(found.keys(self.input) or {}, "equal occurrences of different buckets are one")


@dataclass(frozen=True)
class Within(Rowwise):
    """Occurrences that last no longer than a duration."""

    says = "Within {longest}"

    longest: int


@dataclass(frozen=True)
class Before(Rowwise):
    """What is before an evaluation instant (Definition 11)."""

    says = "Before {instant}"

    instant: int


@dataclass(frozen=True)
class FirstOnes(Unary):
    """FIRST: the occurrences with no other one wholly before. `at` is the instant of evaluation, if there is one."""

    says = "First, with no other one wholly before"

    lag: int | None
    at: int | None = None

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        return found.none("FIRST looks at all occurrences")


@dataclass(frozen=True)
class LastOnes(Unary):
    """LAST: the occurrences with no other one wholly after, certain at the instant of evaluation or the end of the input."""

    says = "Last, with no other one wholly after{at: and before ~}"

    at: int | None = None

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        return found.none("LAST looks at all occurrences")


@dataclass(frozen=True)
class Rest(Node):
    """NOT: what is left of each item without the triples of occurrences that end with it."""

    says = "Rest of each item without the triples that occurrences ending then have used"

    items: Node
    used: Node
    lag: int | None
    at: int | None = None

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        """The start or the end of items: what is left of one depends on the occurrences that end with it."""
        items, used = found.keys(self.items) or {}, found.keys(self.used) or {}
        ways: list[tuple[str, Ways]] = [(name, [(self.items, items[name]), (self.used, ())]) for name in (START, END)]
        if END in used:
            ways.append((END, [(self.items, items[END]), (self.used, used[END])]))
        keys = found.combined(ways)
        if not any(found.is_whole(at, self.items, self.used) for at in keys.values()):
            found.none("NOT looks at every item, and at occurrences that are not divided by their end")
        return keys


@dataclass(frozen=True)
class Composite(Unary):
    """Occurrences of a composite event, each with an individual of its own among its assertions (rule 2)."""

    says = "Composite {event}"

    event: IRI

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        """Those of its input but for the assertions, which are others."""
        return {name: at for name, at in (found.keys(self.input) or {}).items() if name != ASSERTIONS}


@dataclass(frozen=True)
class Returned(Node):
    """The occurrences of the events that a query returns (rule 6)."""

    by_itself = True
    says = "Returned {query.returned} AS {query.form}"

    query: EventQuery
    sources: tuple[Node, ...]
    """One for each event that is returned."""
    contradictions: tuple[Contradictions, ...] = ()

    def _schema(self) -> Schema:
        return Schema((ASSERTIONS, INDIVIDUAL, EVENT), frozenset((ASSERTIONS, EVENT)))

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        """What all events that are returned have."""
        every = [found.keys(source) or {} for source in self.sources]
        names = [name for name in every[0] if all(name in keys for keys in every)]
        keys = found.combined((n, [(s, of[n]) for s, of in zip(self.sources, every, strict=True)]) for n in names)
        return keys or found.none("the events that are returned are divided by nothing that all of them have")
