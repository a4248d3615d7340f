"""Graph patterns: the SPARQL 1.1 algebra, names as in the W3C text.

A pattern is evaluated over one graph (an event's, a window's, a background graph's) and yields solution mappings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from scepter.algebra.expressions import Constant, Expression, Variable
from scepter.errors import Span
from scepter.rdf.terms import IRI, Term
from scepter.timeline import Allen

Node: TypeAlias = Variable | Constant
"""What may stand in a triple pattern."""


@dataclass(frozen=True, slots=True)
class Link:
    """A property path of one IRI."""

    iri: IRI


@dataclass(frozen=True, slots=True)
class Inverse:
    """`^path`."""

    path: Path


@dataclass(frozen=True, slots=True)
class PathSequence:
    """`path / path`."""

    left: Path
    right: Path


@dataclass(frozen=True, slots=True)
class Alternative:
    """`path | path`."""

    left: Path
    right: Path


@dataclass(frozen=True, slots=True)
class ZeroOrMore:
    """`path*`."""

    path: Path


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """`path+`."""

    path: Path


@dataclass(frozen=True, slots=True)
class ZeroOrOne:
    """`path?`."""

    path: Path


@dataclass(frozen=True, slots=True)
class NegatedPropertySet:
    """`!(a | ^b | …)`."""

    forward: tuple[IRI, ...]
    backward: tuple[IRI, ...]


Path: TypeAlias = Link | Inverse | PathSequence | Alternative | ZeroOrMore | OneOrMore | ZeroOrOne | NegatedPropertySet


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """Subject, predicate, object; each a variable or a constant."""

    subject: Node
    predicate: Node
    object: Node

    @property
    def places(self) -> tuple[Node, Node, Node]:
        """Subject, predicate and object."""
        return self.subject, self.predicate, self.object

    def overlaps(self, other: TriplePattern) -> bool:
        """Whether one triple may match both."""
        pairs = zip(self.places, other.places, strict=True)
        return not any(isinstance(a, Constant) and isinstance(b, Constant) and a.term != b.term for a, b in pairs)


@dataclass(frozen=True, slots=True)
class BGP:
    """A basic graph pattern."""

    triples: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class PathPattern:
    """`subject path object` for a path that is not one IRI or variable."""

    subject: Node
    path: Path
    object: Node


@dataclass(frozen=True, slots=True)
class Join:
    """Both sides, compatible."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL; `condition` is the FILTER of the optional group."""

    left: Pattern
    right: Pattern
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Union:
    """Either side."""

    left: Pattern
    right: Pattern


class Side(Enum):
    """One of an operator's two sides."""

    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Related:
    """Both sides, compatible, and their intervals in one of Allen's relations; the result's interval is the hull.

    SEQ is BEFORE. Where a side is optional (OPTIONALSEQ, EQUALSOPTIONAL), the other stays alone when it finds no partner for
    which `condition`, the FILTER of the optional side's group, holds.
    """

    left: Pattern
    right: Pattern
    relation: Allen = Allen.BEFORE
    optional: Side | None = None
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Minus:
    """The left side's solutions that share no variable with, or are incompatible with, every one of the right's."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Filter:
    """The solutions for which the condition's effective boolean value is true."""

    condition: Expression
    pattern: Pattern
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Extend:
    """BIND, and `(expression AS ?v)`: an error leaves the variable unbound."""

    pattern: Pattern
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Values:
    """Inline data; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """`GRAPH name { … }`: over the background's named graphs (SPAseq rule 13)."""

    name: Node
    pattern: Pattern
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Match:
    """The mappings of an event pattern of the query, by its number; `sometimes` are variables that not every mapping binds."""

    number: int
    always: tuple[Variable, ...]
    sometimes: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """GROUP BY with its aggregates: `keys` and `aggregates` are (variable, expression) pairs; HAVING is a Filter above.

    An aggregate's expression is an `Aggregate`; a key that is a bare variable is `(v, v)`.
    """

    pattern: Pattern
    keys: tuple[tuple[Variable, Expression], ...]
    aggregates: tuple[tuple[Variable, Expression], ...]


@dataclass(frozen=True, slots=True)
class OrderBy:
    """Sort conditions: (expression, descending)."""

    pattern: Pattern
    conditions: tuple[tuple[Expression, bool], ...]


@dataclass(frozen=True, slots=True)
class Project:
    """The variables that stay visible."""

    pattern: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each solution once (also REDUCED)."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Slice:
    """OFFSET and LIMIT."""

    pattern: Pattern
    offset: int = 0
    limit: int | None = None


Pattern: TypeAlias = (
    BGP
    | PathPattern
    | Join
    | LeftJoin
    | Related
    | Union
    | Minus
    | Filter
    | Extend
    | Values
    | Graph
    | Match
    | Group
    | OrderBy
    | Project
    | Distinct
    | Slice
)

EMPTY = BGP(())
"""The pattern of an empty group: one solution that binds nothing."""
