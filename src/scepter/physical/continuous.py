"""Which continuous queries can be matched in columns: joins of triple patterns, their filters, and what stands above them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from scepter.algebra.continuous import ContinuousQuery, LastTriples
from scepter.algebra.expressions import And, Call, Constant, Exists, Expression
from scepter.algebra.patterns import (
    BGP,
    EMPTY,
    Distinct,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    OrderBy,
    Pattern,
    Project,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.scope import in_scope, mentioned_variables
from scepter.algebra.walk import find
from scepter.rdf.terms import IRI

_MOST_PATTERNS = 64
"""A triple's patterns are the bits of a word."""


@dataclass(frozen=True, slots=True)
class Core:
    """The part of a pattern that is joined in columns."""

    node: Pattern
    """Where it stands: what is above works on its solutions."""
    triples: tuple[TriplePattern, ...]
    """Matched by streamed triples and by static ones of the default graph."""
    graphs: tuple[tuple[IRI, TriplePattern], ...]
    """Matched by the static triples of named graphs."""
    filters: tuple[Expression, ...]
    """The conjuncts of its filters."""


def asks_time(pattern: Pattern) -> bool:
    """Whether an expression asks for the time of a triple."""
    return any(call.function == "TIMESTAMP" for call in find(pattern, Call))


def can_repeat(pattern: Pattern) -> bool:
    """Whether two choices of occurrences can make the same match: two triple patterns that one triple matches, or a UNION."""
    if next(find(pattern, Union), None) is not None or next(find(pattern, Values), None) is not None:
        return True
    return any(overlap(a, b) for a, b in combinations(find(pattern, TriplePattern), 2))


def is_monotone(pattern: Pattern) -> bool:
    """Whether a later triple of the same time can only add matches."""
    kinds = (LeftJoin, Minus, Exists, Slice)
    return pattern == EMPTY or not any(next(find(pattern, kind), None) is not None for kind in kinds)


def overlap(one: TriplePattern, other: TriplePattern) -> bool:
    """Whether one triple may match both."""
    pairs = zip(_places(one), _places(other), strict=True)
    return not any(isinstance(a, Constant) and isinstance(b, Constant) and a.term != b.term for a, b in pairs)


def _places(triple: TriplePattern) -> tuple[Node, Node, Node]:
    return triple.subject, triple.predicate, triple.object


def columnar_core(query: ContinuousQuery) -> Core | str:
    """What of a query's pattern is joined in columns, or why nothing is."""
    pattern = query.pattern
    extents = [query.otherwise, *(source.extent for source in query.sources)]
    if any(isinstance(extent, LastTriples) for extent in extents):
        return "which triples are the last n is decided one by one"
    if next(find(pattern, Exists), None) is not None:
        return "EXISTS looks at the window itself"
    if asks_time(pattern):
        return "timestamp() asks for the times of a match"
    node = pattern
    while isinstance(node, (Project, Distinct, OrderBy, Slice, Extend)) or (
        isinstance(node, Filter) and not _joins(node.pattern)
    ):
        node = node.pattern
    parts = _Parts()
    if (why := parts.add(node)) is not None:
        return why
    if not parts.triples:
        return "no triple pattern looks at a stream"
    if len(parts.triples) + len(parts.graphs) > _MOST_PATTERNS:
        return f"there are more than {_MOST_PATTERNS} triple patterns"
    return Core(node, tuple(parts.triples), tuple(parts.graphs), tuple(parts.filters))


def _joins(pattern: Pattern) -> bool:
    while isinstance(pattern, Filter):
        pattern = pattern.pattern
    return isinstance(pattern, (BGP, Join, Graph))


class _Parts:
    """The triple patterns and filters of joined groups."""

    def __init__(self) -> None:
        self.triples: list[TriplePattern] = []
        self.graphs: list[tuple[IRI, TriplePattern]] = []
        self.filters: list[Expression] = []

    def add(self, pattern: Pattern) -> str | None:
        """Take a group; why it cannot be joined in columns."""
        match pattern:
            case BGP(triples):
                self.triples += triples
            case Graph(Constant(IRI() as name), BGP(triples)):
                self.graphs += [(name, triple) for triple in triples]
            case Join(left, right):
                return self.add(left) or self.add(right)
            case Filter(condition, inner):
                if not mentioned_variables(condition) <= in_scope(inner):
                    return "a FILTER names a variable that its group does not bind"
                self.filters += _conjuncts(condition)
                return self.add(inner)
            case _:
                return f"{_SPOKEN.get(type(pattern).__name__, 'this pattern')} is joined solution by solution"
        return None


_SPOKEN = {"LeftJoin": "OPTIONAL", "Union": "UNION", "Minus": "MINUS", "Values": "VALUES", "Extend": "BIND", "Graph": "GRAPH"}
_SPOKEN |= dict.fromkeys(("Project", "Distinct", "Slice", "OrderBy", "Group"), "a sub-SELECT")


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, And):
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition
