"""SPARQL 1.1 expressions, plus what the event languages add to them.

Names are the W3C's where it has one. Every node is frozen; `span` says where the user wrote it and takes no part in equality.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from scepter.errors import Span
from scepter.rdf.terms import Term

if TYPE_CHECKING:
    from scepter.algebra.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Variable:
    """`?name`. Blank nodes of a pattern are variables whose name starts with `_:`."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """A term written in the query."""

    term: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or:
    """`a || b`, three-valued."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class And:
    """`a && b`, three-valued."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Not:
    """`! a`."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Compare:
    """`a op b` with op one of `= != < > <= >=`: SPARQL value comparison."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`a op b` with op one of `+ - * /`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negate:
    """`- a`. (Unary plus is lowered to `Call("+", …)`, which only checks its operand.)"""

    operand: Expression


@dataclass(frozen=True, slots=True)
class In:
    """`a IN (b, …)` or `a NOT IN (b, …)`."""

    operand: Expression
    choices: tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS { … }` or `NOT EXISTS { … }`."""

    pattern: Pattern
    negated: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function: a SPARQL built-in by its upper-case name (`STR`, `IF`, `COALESCE`, `BOUND`, …) or an IRI (a cast)."""

    function: str
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A SPARQL set function: COUNT (operand None for `*`), SUM, MIN, MAX, AVG, SAMPLE, GROUP_CONCAT."""

    function: str
    operand: Expression | None
    distinct: bool = False
    separator: str = " "
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Previous:
    """`PREV(?v)`: the previous iteration's value (SPAseq rule 7)."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class IterationAggregate:
    """`COUNT|SUM|AVG|MIN|MAX|FIRST|LAST(B.?v)`: over the iterations of a Kleene atom (SPAseq rule 7)."""

    function: str
    part: str
    variable: Variable
    span: Span | None = field(default=None, compare=False, repr=False)


Expression: TypeAlias = (
    Variable
    | Constant
    | Or
    | And
    | Not
    | Compare
    | Arithmetic
    | Negate
    | In
    | Exists
    | Call
    | Aggregate
    | Previous
    | IterationAggregate
)
