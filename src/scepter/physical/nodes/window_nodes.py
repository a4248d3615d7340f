"""Nodes on validities: windows, joins of what is there at the same time, groups, and the report of answers.

Times are ticks. `grid` is the step of evaluations where there is one: nothing is cut between two of its multiples.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from scepter.algebra.expressions import Aggregate, Expression
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import Pattern, Project, TriplePattern
from scepter.algebra.scope import certain, in_scope
from scepter.physical.nodes.keys import EQUAL, NO_GROUPS, NOT_GROUPED, KeyAnalysis, Keys, apart
from scepter.physical.nodes.nodes import Binary, Node, Received, Rowwise, Schema, StaticLeaf, Unary, nodes
from scepter.rdf.terms import IRI, Term
from scepter.timeline import Duration, TimeKind, format_instant


@dataclass(frozen=True, slots=True)
class Step:
    """Multiples of so many ticks, counted from an origin."""

    ticks: int
    origin: int = 0
    kind: TimeKind = TimeKind.INTEGER
    """What a tick is, for who reads the plan."""


class Counts(Enum):
    """What a window counts."""

    ITEMS = "item"
    TRIPLES = "triple"


@dataclass(frozen=True)
class ItemScan(Node):
    """Leaf: the instants at which streams have items, each once for a batch. Rows bind nothing."""

    says = "ItemScan{counts: of every ~} on {streams}"

    streams: tuple[IRI, ...]
    counts: Counts | None = None
    """A row for each item, or for each triple, instead."""


@dataclass(frozen=True)
class Fixed(StaticLeaf):
    """Leaf: rows that are there for ever: VALUES, or the static triples of a pattern."""

    variables: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...] = ()
    triple: TriplePattern | None = None
    graph: IRI | None = None
    """Where the triple is matched; None is the default graph."""

    def _schema(self) -> Schema:
        if self.triple is not None:
            return Schema.bound(self.variables)
        bound = (name for i, name in enumerate(self.variables) if all(row[i] is not None for row in self.rows))
        return Schema(self.variables, frozenset(bound))

    def line(self, notation: Notation) -> str:
        if self.triple is None:
            return f"Values {' '.join('?' + name for name in self.variables)}, {len(self.rows)} rows".replace("  ", " ")
        where = "the default graph" if self.graph is None else notation.term(self.graph)
        return f"StaticScan {notation.triple(self.triple)} in {where}"


@dataclass(frozen=True)
class Window(Rowwise):
    """Gives rows the validity of their item in a window: of a width and step, or from a landmark on."""

    says = "Window {extent}"

    width: int | None
    step: Step
    landmark: int = 0
    """Without a width: the first instant."""
    timeless: bool = False
    """Whether its rows have no occurrence of their own: those of graphs, which are joined with events that have one."""

    @property
    def extent(self) -> str:
        """The window in words."""
        step, kind = self.step.ticks, self.step.kind
        if self.width is None:
            return f"from {format_instant(self.landmark, kind)} on"
        if kind is TimeKind.INTEGER:
            return f"{self.width} time units, step {step}"
        return f"{Duration(self.width)}, step {Duration(step)}"


@dataclass(frozen=True)
class CountedWindow(Rowwise):
    """Gives rows the validity of their item in a window of the last n items or triples. What it counts is told to every
    bucket."""

    by_itself = False
    says = "Window of the last {count} {counts}s, step {step}"

    items: Node
    """A row for each that is counted."""
    counts: Counts
    count: int
    step: int
    grid: Step | None
    timeless: bool = False


@dataclass(frozen=True)
class Coalesce(Unary):
    """Each mapping once at a time: the union of a window's graphs, and DISTINCT."""

    says = "Coalesce: each mapping once while it is there"

    grid: Step | None

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        return found.shown(found.keys(self.input), "DISTINCT compares all rows")


@dataclass(frozen=True)
class LatestOccurrence(Unary):
    """Each mapping of one window once at a time, with the occurrence that ended last."""

    says = "LatestOccurrence: each mapping with its last time while it is there"

    grid: Step | None

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        return found.shown(found.keys(self.input), "timestamp() of one constant triple looks at the whole stream")


@dataclass(frozen=True)
class NotStatic(Rowwise):
    """Without the rows of triples that are static too, and so are there already."""

    says = "NotStatic {triple}"

    triple: TriplePattern
    graph: IRI | None


@dataclass(frozen=True)
class ValidityJoin(Binary):
    """Compatible rows that are there at the same time, while both are."""

    says = "ValidityJoin {by}"

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """What partners agree in, or what one side alone is divided by."""
        return found.joined(self.left, self.right, self.keys, outer=False)


class Partners(Enum):
    """What becomes of a row while it has partners, and while it has none."""

    OPTIONAL = "OPTIONAL"
    MINUS = "MINUS"
    NOT_EXISTS = "NOT EXISTS"
    EXISTS = "EXISTS"


@dataclass(frozen=True)
class ValidityOuterJoin(Binary):
    """OPTIONAL, MINUS, EXISTS and NOT EXISTS: rows of the left with or without partners of the right."""

    says = "ValidityOuterJoin {partners} {by}{conditions: where ~}"

    partners: Partners
    grid: Step | None
    conditions: tuple[Expression, ...] = ()
    """What makes a compatible row a partner; sees both."""

    def _schema(self) -> Schema:
        if self.partners is not Partners.OPTIONAL:
            return self.left.schema
        return self.left.schema.more(self.right.schema.variables)

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """As those of a join, with the right side in every bucket where the left alone is divided."""
        if self.partners is not Partners.EXISTS or found.keys(self.left) is not None:
            return found.joined(self.left, self.right, self.keys, outer=True)
        # a static row has partners of several values of what only the right binds
        return found.shown(found.keys(self.right), apart(frozenset(self.keys)), self.keys)


@dataclass(frozen=True)
class Group(Unary):
    """One row per group while it has members; without keys always one. Operands of aggregates are variables or None (`*`)."""

    says = "Group{keys: by ~}: {aggregates}"

    keys: tuple[str, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]
    grid: Step | None
    hull: bool = False
    """Whether a group's occurrence is the hull of its members'."""
    apart: bool = False
    """Whether members of different occurrences are in different groups."""

    def _schema(self) -> Schema:
        counts = frozenset(name for name, each in self.aggregates if each.function == "COUNT")
        names = (*self.keys, *(name for name, _ in self.aggregates))
        return Schema(names, (self.input.schema.certain & frozenset(self.keys)) | counts)

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        return found.shown(found.keys(self.input), NOT_GROUPED if self.keys else NO_GROUPS, self.keys)


@dataclass(frozen=True)
class WindowSnapshot(Node):
    """A pattern over what windows hold, by the exact evaluator, whenever that changes."""

    says = "Snapshot, by terms"

    pattern: Pattern
    graphs: tuple[IRI | None, ...]
    """Of each input of triples, the graph that it is part of; None is the default graph."""
    triples: tuple[Node, ...]
    events: tuple[Node, ...]
    """What the pattern's MATCH stand for."""
    grid: Step | None
    exact: str = field()
    part: bool = False
    """Whether it is part of a pattern, and may be joined by blank nodes too."""

    def _schema(self) -> Schema:
        if isinstance(self.pattern, Project):
            names = [variable.name for variable in self.pattern.variables]
        else:
            names = sorted(in_scope(self.pattern))
        if self.part:
            return Schema(tuple(names), certain(self.pattern))
        return Schema(tuple(name for name in names if not name.startswith("_:")))


class When(Enum):
    """When answers are reported."""

    HELD = "at every multiple of the step at which a window holds an item"
    MULTIPLES = "at every multiple of the step from the first item on"
    ITEMS = "at every instant that has an item"
    INSTANTS = "at the instants given"


class Output(Enum):
    """What of an answer is reported."""

    ALL = "all rows"
    NEW = "rows that are new"
    GONE = "rows that have gone"


@dataclass(frozen=True)
class Report(Unary):
    """The answers of evaluations: rows that are there then, with the evaluation's instant; ordered and cut per evaluation."""

    says = "Report {output} {when}{order:, ordered by ~}{cut:, ~}"

    items: Node
    when: When
    output: Output
    step: Step
    instants: tuple[int, ...] = ()
    order: tuple[tuple[str, bool], ...] = ()
    """Variables to sort by, and whether descending."""
    offset: int = 0
    limit: int | None = None
    timed: bool = False
    """Whether rows show their own occurrence."""

    @property
    def cut(self) -> str:
        """OFFSET and LIMIT in words."""
        first = f"after the first {self.offset}" if self.offset else ""
        return " ".join(filter(None, ("" if self.limit is None else f"at most {self.limit}", first)))

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """Those of its rows, if no evaluation looks at all of them."""
        if self.order or self.offset or self.limit is not None:
            return found.none("ORDER BY and LIMIT look at all rows of an evaluation")
        if any(isinstance(node, Received) and node.schema.variables for node in nodes(self.items)):
            return found.none("its evaluations depend on what the events say")
        keys = found.keys(self.input)
        return keys if self.output is Output.ALL else found.shown(keys, EQUAL)
