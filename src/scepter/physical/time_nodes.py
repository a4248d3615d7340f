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
from scepter.physical.nodes import Node, Schema
from scepter.timeline import Allen


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

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both sides."""
        return (self.left, self.right)

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
        if self.conditions:
            parts.append("if " + " && ".join(notation.expression(condition) for condition in self.conditions))
        return ", ".join(parts)


@dataclass(frozen=True)
class TimeFilter:
    """The rows for which all conditions hold, some of which ask when a row happened; an error counts as false."""

    input: Node
    conditions: tuple[Expression, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        """What it filters."""
        return (self.input,)

    @property
    def schema(self) -> Schema:
        """Its input's."""
        return self.input.schema

    def line(self, notation: Notation) -> str:
        """The conditions."""
        return "TimeFilter " + " && ".join(notation.expression(condition) for condition in self.conditions)
