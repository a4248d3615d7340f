"""The nodes of patterns in time: rows that relate when they happened, and what is made of the rows of one end.

A row without an interval (static triples, inline data) is timeless: its start lies behind its end (`kernel.rows.TIMELESS`).
It joins with anything, came before everything, and is no answer by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from scepter.algebra.expressions import Expression
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import Pattern
from scepter.algebra.scope import certain, in_scope
from scepter.algebra.timed import SPELLING, Sources
from scepter.physical.nodes import Leaf, Node, Schema, Unary, nodes
from scepter.rdf.terms import Term
from scepter.timeline import Allen

_GIVEN = Sources()


class Kind(Enum):
    """What becomes of a row of the left side and its partners."""

    INNER = "join"
    OUTER = "left outer join"
    """With each partner, or alone where there is none (OPTIONAL and its temporal kin; the optional side is on the right)."""
    SEMI = "semi-join"
    """As it is, where there is a partner (EXISTS)."""
    ANTI = "anti-join"
    """As it is, where there is none (NOT EXISTS)."""
    MINUS = "minus"
    """As it is, where there is no partner with which it shares a bound variable (MINUS)."""


@dataclass(frozen=True)
class TimeJoin:
    """Rows of two inputs with compatible mappings, whose intervals stand in a relation; the result's interval is the hull.

    All but INNER look at what has ended by the end of the left row, so that no answer is ever taken back.
    """

    left: Node
    right: Node
    relation: Allen | None = None
    """Of the left's interval to the right's; None for any."""
    kind: Kind = Kind.INNER
    longest: int | None = None
    """The longest duration of a row that is of use: FILTER (getDURATION() < …) pushed down."""
    conditions: tuple[Expression, ...] = ()
    """Of partners, over both mappings; time functions speak of the right side's interval."""
    remembered: Node | None = None
    """What the EXISTS among the conditions may look at."""
    plain: bool = False
    """Whether solutions keep SPARQL's multiplicities inside those (rule 8)."""
    expiring: bool = False
    """Whether rows are partners only while both are there (`until`), and each choice of them counts."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both sides."""
        return (self.left, self.right) if self.remembered is None else (self.left, self.right, self.remembered)

    @cached_property
    def fleeting(self) -> bool:
        """Whether rows may be there at their own instant alone: they meet only what ends with them."""
        return any(isinstance(node, EveryInstant) for side in (self.left, self.right) for node in nodes(side))

    @cached_property
    def schema(self) -> Schema:
        """The left's variables, and where partners are shown the right's."""
        left, right = self.left.schema, self.right.schema
        if self.kind not in (Kind.INNER, Kind.OUTER):
            return left
        names = tuple(dict.fromkeys((*left.variables, *right.variables)))
        return Schema(names, left.certain | right.certain if self.kind is Kind.INNER else left.certain)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The variables that every row of both sides binds: partners are found by them."""
        both = self.left.schema.certain & self.right.schema.certain
        return tuple(name for name in self.left.schema.variables if name in both)

    @cached_property
    def loose(self) -> tuple[str, ...]:
        """The shared variables that some row does not bind: partners are compared in them."""
        shared = set(self.right.schema.variables) - set(self.keys)
        return tuple(name for name in self.left.schema.variables if name in shared)

    def line(self, notation: Notation) -> str:
        """How partners are found."""
        parts = ["TimeJoin", self.kind.value]
        parts.append("by " + " ".join(f"?{name}" for name in self.keys) if self.keys else "of any mapping")
        if self.loose:
            parts.append("where bound in both " + " ".join(f"?{name}" for name in self.loose))
        if self.relation is not None:
            parts.append(f"left {self.relation.value} right")
        if self.longest is not None:
            parts.append(f"within {self.longest}")
        if self.expiring:
            parts.append("while both are there")
        if self.conditions:
            parts.append("if " + " && ".join(notation.expression(condition) for condition in self.conditions))
        return ", ".join(parts)


@dataclass(frozen=True)
class GapJoin:
    """Rows of two inputs with compatible mappings, the left one before the right one, and no row of a third input between them.

    Between them is what starts after the left row and ends before the right one. Of left rows with one mapping and one start
    the first to end tells for all of them where the gap begins, of right rows with one mapping and one end the last to start
    where it ends: as an absence of `{ A } SEQ { B } SEQ { C }` with an equal interval does, which tells no two such apart.
    """

    left: Node
    right: Node
    between: Node
    longest: int | None = None
    """The longest duration of a row that is of use."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both sides, and what is between."""
        return (self.left, self.right, self.between)

    @cached_property
    def schema(self) -> Schema:
        """The variables of both sides."""
        left, right = self.left.schema, self.right.schema
        return Schema(tuple(dict.fromkeys((*left.variables, *right.variables))), left.certain | right.certain)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """What both sides share."""
        return tuple(name for name in self.left.schema.variables if name in self.right.schema.variables)

    @cached_property
    def gap_keys(self) -> tuple[str, ...]:
        """What a row between shares with them."""
        return tuple(name for name in self.keys if name in self.between.schema.variables)

    def line(self, notation: Notation) -> str:
        """How partners are found, and by what a row between them is."""
        parts = ["GapJoin", "by " + " ".join(f"?{name}" for name in self.keys) if self.keys else "of any mapping"]
        parts.append("left BEFORE right")
        by = " by " + " ".join(f"?{name}" for name in self.gap_keys) if self.gap_keys else ""
        parts.append(f"nothing of the third input between{by}")
        if self.longest is not None:
            parts.append(f"within {self.longest}")
        return ", ".join(parts)


@dataclass(frozen=True)
class TimeFilter(Unary):
    """The rows for which all conditions hold, some of which ask when a row happened; an error counts as false."""

    conditions: tuple[Expression, ...]

    def line(self, notation: Notation) -> str:
        """The conditions."""
        return "TimeFilter " + " && ".join(notation.expression(condition) for condition in self.conditions)


@dataclass(frozen=True)
class Once(Unary):
    """Each mapping and interval once: solutions are a set."""

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "Once, by mapping and interval"


@dataclass(frozen=True)
class TimeValues(Unary):
    """Time functions as variables: when a row happened, as terms. Rows without a time leave them unbound."""

    functions: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        """Its input's, and one variable for each function."""
        return Schema((*self.input.schema.variables, *map(hidden, self.functions)), self.input.schema.certain)

    def line(self, notation: Notation) -> str:
        """The functions."""
        return "TimeValues " + " ".join(f"{SPELLING[function]}()" for function in self.functions)


def hidden(function: str) -> str:
    """The variable that stands for a time function."""
    return f"_:{function}()"


@dataclass(frozen=True)
class Rename(Unary):
    """The same rows under other names: what a projection hides is still told apart."""

    names: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        """The new names."""
        certain = (
            n for n, old in zip(self.names, self.input.schema.variables, strict=True) if old in self.input.schema.certain
        )
        return Schema(self.names, frozenset(certain))

    def line(self, notation: Notation) -> str:
        """What stays visible."""
        return "Rename, visible: " + " ".join(f"?{name}" for name in self.names if not name.startswith("_:"))


@dataclass(frozen=True)
class Inline(Leaf):
    """Leaf: inline data, without a time; None is unbound."""

    names: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]

    @cached_property
    def schema(self) -> Schema:
        """Certain is what no row leaves unbound."""
        sure = (n for i, n in enumerate(self.names) if all(row[i] is not None for row in self.rows))
        return Schema(self.names, frozenset(sure))

    def line(self, notation: Notation) -> str:
        """How many rows."""
        shown = " ".join(f"?{name}" for name in self.names if not name.startswith("_:"))
        return f"Inline {len(self.rows)} rows of {shown or 'nothing'}"


@dataclass(frozen=True)
class StaticScan(Leaf):
    """Leaf: the solutions of a pattern over what is static (background, ontology, what they entail), without a time."""

    pattern: Pattern
    numbered: str | None = None
    """A variable that tells equal solutions apart."""
    sources: Sources = _GIVEN
    """Which graphs are the default one and the named ones."""

    @cached_property
    def schema(self) -> Schema:
        """The pattern's variables."""
        names = sorted(in_scope(self.pattern)) + ([self.numbered] if self.numbered else [])
        return Schema(tuple(names), certain(self.pattern) | ({self.numbered} if self.numbered else frozenset()))

    def line(self, notation: Notation) -> str:
        """The pattern."""
        return f"StaticScan {notation.pattern(self.pattern)}"


@dataclass(frozen=True)
class Answers(Unary):
    """The rows that have a time, with the variables that are shown; static triples alone are no answer."""

    variables: tuple[str, ...]
    once: tuple[str, ...] | None = None
    """The variables of which each mapping and interval is one answer, however many derivations a policy tells apart."""

    @cached_property
    def schema(self) -> Schema:
        """The variables shown."""
        return Schema(self.variables, self.input.schema.certain & frozenset(self.variables))

    def line(self, notation: Notation) -> str:
        """The variables."""
        return "Answers " + " ".join(f"?{name}" for name in self.variables)


@dataclass(frozen=True)
class Instants(Leaf):
    """Leaf: an empty row at the end of each event, whatever it says."""

    @property
    def schema(self) -> Schema:
        """No variables."""
        return Schema(())

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "Instants"


@dataclass(frozen=True)
class EveryInstant:
    """Rows, and those of them that need no triple at each instant anew: they are fleeting (spec/20-ep-sparql rule 13)."""

    input: Node
    instants: Instants

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The rows, and when there is an instant."""
        return (self.input, self.instants)

    @property
    def schema(self) -> Schema:
        """Its input's."""
        return self.input.schema

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "EveryInstant, what needs no triple"


@dataclass(frozen=True)
class AnsweredOnce:
    """Rows that have no time, at the first instant there is (rule 1)."""

    input: Node
    instants: Instants

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The rows, and when there is an instant."""
        return (self.input, self.instants)

    @property
    def schema(self) -> Schema:
        """Its input's."""
        return self.input.schema

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "AnsweredOnce, at the first instant"
