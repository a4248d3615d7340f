"""Nodes on validities: windows, joins of what is there at the same time, groups, and the report of answers.

Times are ticks. `grid` is the step of evaluations where there is one: nothing is cut between two of its multiples.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from scepter.algebra.expressions import Aggregate, Expression, Variable
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import Pattern, Project, TriplePattern
from scepter.algebra.scope import in_scope
from scepter.physical.nodes import Leaf, Node, Schema, Unary
from scepter.rdf.terms import IRI, Term


@dataclass(frozen=True, slots=True)
class Step:
    """Multiples of so many ticks, counted from an origin."""

    ticks: int
    origin: int = 0


class Counts(Enum):
    """What a window counts."""

    ITEMS = "item"
    TRIPLES = "triple"


@dataclass(frozen=True)
class ItemScan(Leaf):
    """Leaf: the instants at which streams have items, each once for a batch. Rows bind nothing."""

    streams: tuple[IRI, ...]
    counts: Counts | None = None
    """A row for each item, or for each triple, instead."""

    @property
    def schema(self) -> Schema:
        """No variables."""
        return Schema(())

    def line(self, notation: Notation) -> str:
        """The streams."""
        each = "" if self.counts is None else f" of every {self.counts.value}"
        return f"ItemScan{each} on " + ", ".join(notation.term(iri) for iri in self.streams)


@dataclass(frozen=True)
class Fixed(Leaf):
    """Leaf: rows that are there for ever: VALUES, or the static triples of a pattern."""

    variables: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...] = ()
    triple: TriplePattern | None = None
    graph: IRI | None = None
    """Where the triple is matched; None is the default graph."""

    @cached_property
    def schema(self) -> Schema:
        """Variables; of a triple pattern all are bound."""
        if self.triple is not None:
            return Schema(self.variables, frozenset(self.variables))
        bound = (name for i, name in enumerate(self.variables) if all(row[i] is not None for row in self.rows))
        return Schema(self.variables, frozenset(bound))

    def line(self, notation: Notation) -> str:
        """What is fixed."""
        if self.triple is None:
            return f"Values {' '.join('?' + name for name in self.variables)}, {len(self.rows)} rows".replace("  ", " ")
        where = "the default graph" if self.graph is None else notation.term(self.graph)
        return f"StaticScan {notation.triple(self.triple)} in {where}"


@dataclass(frozen=True)
class Window(Unary):
    """Gives rows the validity of their item in a window: of a width and step, or from a landmark on."""

    width: int | None
    step: Step
    landmark: int = 0
    """Without a width: the first instant."""
    timeless: bool = False
    """Whether its rows have no occurrence of their own: those of graphs, which are joined with events that have one."""

    def line(self, notation: Notation) -> str:
        """The window."""
        extent = f"from {self.landmark} on" if self.width is None else f"{self.width} ticks, step {self.step.ticks}"
        return f"Window {extent}"


@dataclass(frozen=True)
class CountedWindow:
    """Gives rows the validity of their item in a window of the last n items or triples."""

    input: Node
    items: Node
    """A row for each that is counted."""
    counts: Counts
    count: int
    step: int
    grid: Step | None
    timeless: bool = False

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The rows, and what is counted."""
        return (self.input, self.items)

    @property
    def schema(self) -> Schema:
        """Its input's."""
        return self.input.schema

    def line(self, notation: Notation) -> str:
        """The window."""
        return f"Window of the last {self.count} {self.counts.value}s, step {self.step}"


@dataclass(frozen=True)
class Coalesce(Unary):
    """Each mapping once at a time: the union of a window's graphs, and DISTINCT."""

    grid: Step | None

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "Coalesce: each mapping once while it is there"


@dataclass(frozen=True)
class LatestOccurrence(Unary):
    """Each mapping of one window once at a time, with the occurrence that ended last."""

    grid: Step | None

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "LatestOccurrence: each mapping with its last time while it is there"


@dataclass(frozen=True)
class NotStatic(Unary):
    """Without the rows of triples that are static too, and so are there already."""

    triple: TriplePattern
    graph: IRI | None

    def line(self, notation: Notation) -> str:
        """The pattern."""
        return f"NotStatic {notation.triple(self.triple)}"


def joined(left: Schema, right: Schema) -> Schema:
    """The variables of both, the left's first."""
    names = (*left.variables, *(name for name in right.variables if name not in left.variables))
    return Schema(names, left.certain | right.certain)


def _key(left: Schema, right: Schema) -> str:
    shared = [name for name in left.variables if name in right.certain and name in left.certain]
    return "by " + ", ".join(f"?{name}" for name in shared) if shared else "without a key"


@dataclass(frozen=True)
class ValidityJoin:
    """Compatible rows that are there at the same time, while both are."""

    left: Node
    right: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both sides; each is built and probed."""
        return (self.left, self.right)

    @cached_property
    def schema(self) -> Schema:
        """The variables of both."""
        return joined(self.left.schema, self.right.schema)

    def line(self, notation: Notation) -> str:
        """The key."""
        return f"ValidityJoin {_key(self.left.schema, self.right.schema)}"


class Partners(Enum):
    """What becomes of a row while it has partners, and while it has none."""

    OPTIONAL = "OPTIONAL"
    MINUS = "MINUS"
    NOT_EXISTS = "NOT EXISTS"
    EXISTS = "EXISTS"


@dataclass(frozen=True)
class ValidityOuterJoin:
    """OPTIONAL, MINUS, EXISTS and NOT EXISTS: rows of the left with or without partners of the right."""

    left: Node
    right: Node
    partners: Partners
    grid: Step | None
    conditions: tuple[Expression, ...] = ()
    """What makes a compatible row a partner; sees both."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both sides."""
        return (self.left, self.right)

    @cached_property
    def schema(self) -> Schema:
        """The left's; of an OPTIONAL both."""
        if self.partners is not Partners.OPTIONAL:
            return self.left.schema
        return Schema(joined(self.left.schema, self.right.schema).variables, self.left.schema.certain)

    def line(self, notation: Notation) -> str:
        """What partners do, the key, the conditions."""
        test = " where " + " && ".join(map(notation.expression, self.conditions)) if self.conditions else ""
        return f"ValidityOuterJoin {self.partners.value} {_key(self.left.schema, self.right.schema)}{test}"


@dataclass(frozen=True)
class Group(Unary):
    """One row per group while it has members; without keys always one. Operands of aggregates are variables or None (`*`)."""

    keys: tuple[str, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]
    grid: Step | None
    hull: bool = False
    """Whether a group's occurrence is the hull of its members'."""
    apart: bool = False
    """Whether members of different occurrences are in different groups."""

    @cached_property
    def schema(self) -> Schema:
        """Keys, then aggregates."""
        counts = frozenset(name for name, each in self.aggregates if each.function == "COUNT")
        names = (*self.keys, *(name for name, _ in self.aggregates))
        return Schema(names, (self.input.schema.certain & frozenset(self.keys)) | counts)

    def line(self, notation: Notation) -> str:
        """Keys and aggregates."""
        by = " by " + ", ".join(f"?{name}" for name in self.keys) if self.keys else ""
        return f"Group{by}: " + ", ".join(notation.expression(aggregate) for _, aggregate in self.aggregates)


@dataclass(frozen=True)
class WindowSnapshot:
    """A pattern over what windows hold, by the exact evaluator, whenever that changes."""

    pattern: Pattern
    graphs: tuple[IRI | None, ...]
    """Of each input of triples, the graph that it is part of; None is the default graph."""
    triples: tuple[Node, ...]
    events: tuple[Node, ...]
    """What the pattern's MATCH stand for."""
    grid: Step | None
    exact: str

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Triples, then event patterns."""
        return (*self.triples, *self.events)

    @cached_property
    def schema(self) -> Schema:
        """What the pattern binds."""
        if isinstance(self.pattern, Project):
            names = [variable.name for variable in self.pattern.variables]
        else:
            names = sorted(in_scope(self.pattern))
        return Schema(tuple(name for name in names if not name.startswith("_:")))

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "Snapshot, by terms"


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
class Report:
    """The answers of evaluations: rows that are there then, with the evaluation's instant; ordered and cut per evaluation."""

    input: Node
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
    def inputs(self) -> tuple[Node, ...]:
        """The pattern's rows, and the items that evaluations depend on."""
        return (self.input, self.items)

    @property
    def schema(self) -> Schema:
        """Its input's."""
        return self.input.schema

    def line(self, notation: Notation) -> str:
        """What and when."""
        order = "".join(f" {'DESC' if down else 'ASC'}(?{name})" for name, down in self.order)
        cut = "" if self.limit is None and not self.offset else f", rows {self.offset} to {self.limit or 'the last'}"
        return f"Report {self.output.value} {self.when.value}{', ordered by' + order if order else ''}{cut}"


def variables_of(pattern: TriplePattern) -> tuple[str, ...]:
    """The variables of a triple pattern, in the order they stand."""
    nodes = (pattern.subject, pattern.predicate, pattern.object)
    return tuple(dict.fromkeys(node.name for node in nodes if isinstance(node, Variable)))
