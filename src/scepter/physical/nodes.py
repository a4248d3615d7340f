"""The nodes of a physical plan: operators that will run, with what was chosen for each, as frozen values.

`kernel.build` makes an operator of each. A node names its inputs, the variables of its rows, and says of itself one line for
`explain`. Leaves read events; all others read rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from scepter.algebra.expressions import Expression, Variable
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import TriplePattern
from scepter.rdf.terms import IRI

_DEEPEST_UNION = 16


@dataclass(frozen=True, slots=True)
class Schema:
    """The variables of a node's rows, by column, and those that every row binds."""

    variables: tuple[str, ...]
    certain: frozenset[str] = frozenset()

    def column(self, name: str) -> int:
        """The column of a variable; -1 for one that it does not have.

        >>> Schema(("x", "y")).column("y"), Schema(("x",)).column("z")
        (1, -1)
        """
        return self.variables.index(name) if name in self.variables else -1

    def columns(self, names: Sequence[str]) -> tuple[int, ...]:
        """The columns of variables."""
        return tuple(map(self.column, names))


class Node(Protocol):
    """What every node of a plan tells."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes whose rows it takes."""
        ...

    @property
    def schema(self) -> Schema:
        """Its rows' variables."""
        ...

    def line(self, notation: Notation) -> str:
        """What it does, in one line, for `explain`."""
        ...


class Leaf:
    """A node that reads no rows."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """None."""
        return ()


@dataclass(frozen=True)
class Unary:
    """A node that reads the rows of one other, and whose own have the same variables unless it says otherwise."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Where its rows come from."""
        return (self.input,)

    @property
    def schema(self) -> Schema:
        """Its input's."""
        return self.input.schema


def nodes(root: Node) -> Iterator[Node]:
    """A node and all below it; inputs come before what takes them, each node once.

    >>> from scepter.algebra.expressions import Variable as V
    >>> scan = TripleScan(TriplePattern(V("s"), V("p"), V("o")))
    >>> [type(node).__name__ for node in nodes(Union(scan, Project(scan, ("s",))))]
    ['TripleScan', 'Project', 'Union']
    """
    seen: set[int] = set()
    pending: list[tuple[Node, bool]] = [(root, False)]
    while pending:
        node, ready = pending.pop()
        if id(node) in seen:
            continue
        if ready:
            seen.add(id(node))
            yield node
        else:
            pending.append((node, True))
            pending += [(each, False) for each in reversed(node.inputs)]


@dataclass(frozen=True)
class TripleScan(Leaf):
    """Leaf: the triples of events that match one triple pattern, each with its event's interval, and with what they entail
    where the run has an ontology. A triple stands there once for each event."""

    pattern: TriplePattern
    streams: tuple[IRI, ...] | None = None
    """The streams it reads; None for every one given."""
    label: str = ""
    """What matches call the events it selects; without one they do not show them."""
    exact: str = ""
    """Why what triples entail is found term by term; empty where tables tell it, or where nothing is entailed."""

    @cached_property
    def schema(self) -> Schema:
        """The pattern's variables, in the order they stand."""
        nodes = (self.pattern.subject, self.pattern.predicate, self.pattern.object)
        names = tuple(dict.fromkeys(node.name for node in nodes if isinstance(node, Variable)))
        return Schema(names, frozenset(names))

    def line(self, notation: Notation) -> str:
        """The pattern."""
        where = "" if self.streams is None else " on " + ", ".join(notation.term(iri) for iri in self.streams)
        return f"TripleScan {notation.triple(self.pattern)}{where}"


@dataclass(frozen=True)
class Filter(Unary):
    """The rows for which all conditions hold; an error counts as false."""

    conditions: tuple[Expression, ...]

    def line(self, notation: Notation) -> str:
        """The conditions."""
        return "Filter " + " && ".join(notation.expression(condition) for condition in self.conditions)


@dataclass(frozen=True)
class Extend(Unary):
    """BIND, and `(expression AS ?v)`: an error leaves the variable unbound."""

    variable: str
    expression: Expression

    @cached_property
    def schema(self) -> Schema:
        """Its input's, and one variable more."""
        return Schema((*self.input.schema.variables, self.variable), self.input.schema.certain)

    def line(self, notation: Notation) -> str:
        """The expression."""
        made = notation.expression(self.expression)
        return "Extend, by which side it came from" if self.variable.startswith("_:") else f"Extend {made} AS ?{self.variable}"


@dataclass(frozen=True)
class Project(Unary):
    """The variables that stay visible, in an order; one that the input does not have is unbound."""

    variables: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        """The variables chosen."""
        return Schema(self.variables, self.input.schema.certain & frozenset(self.variables))

    def line(self, notation: Notation) -> str:
        """The variables."""
        return "Project " + " ".join(f"?{name}" for name in self.variables)


@dataclass(frozen=True)
class Union:
    """All rows of both sides."""

    left: Node
    right: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both sides."""
        return (self.left, self.right)

    @cached_property
    def schema(self) -> Schema:
        """The variables of both sides."""
        left, right = self.left.schema, self.right.schema
        return Schema(tuple(dict.fromkeys((*left.variables, *right.variables))), left.certain & right.certain)

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "Union"


def union_of(sides: Sequence[Node]) -> Node:
    """All sides as one tree: leaning left, as one reads it, unless that would be deep."""
    if len(sides) > _DEEPEST_UNION:
        middle = len(sides) // 2
        return Union(union_of(sides[:middle]), union_of(sides[middle:]))
    found = sides[0]
    for side in sides[1:]:
        found = Union(found, side)
    return found


@dataclass(frozen=True)
class Static(Unary):
    """Rows joined with triple patterns over one static graph, by index look-up, pattern after pattern in the order given."""

    graph: IRI | None
    """None is the default graph."""
    triples: tuple[TriplePattern, ...]

    @cached_property
    def schema(self) -> Schema:
        """Its input's variables, then those of the patterns as they are bound."""
        names = dict.fromkeys(self.input.schema.variables)
        bound = set(self.input.schema.certain)
        for triple in self.triples:
            for node in (triple.subject, triple.predicate, triple.object):
                if isinstance(node, Variable):
                    names.setdefault(node.name)
                    bound.add(node.name)
        return Schema(tuple(names), frozenset(bound))

    def line(self, notation: Notation) -> str:
        """The look-ups, in their order."""
        where = "the default graph" if self.graph is None else notation.term(self.graph)
        return f"Static look-up in {where}: " + " . ".join(notation.triple(triple) for triple in self.triples)
