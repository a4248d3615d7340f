"""The nodes of rules: what they derive enters the stream, with their solutions' intervals (spec/20-ep-sparql rule 9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from scepter.algebra.expressions import Variable
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import PathPattern, TriplePattern
from scepter.algebra.scope import certain, in_scope
from scepter.algebra.timed import Sources
from scepter.errors import Span
from scepter.physical.nodes import Leaf, Node, Schema, Unary, nodes

TRIPLE = Schema(("s", "p", "o"), frozenset(("s", "p", "o")))
"""The variables of derived triples."""
GRAPHS = Schema((*TRIPLE.variables, "_:graph"), TRIPLE.certain | {"_:graph"})
"""With the solution that each was derived from. A triple that had been derived before stands with its graph again: its graph
has the number 1, that of a new one 0."""


@dataclass(frozen=True)
class Recalled(Leaf):
    """Leaf inside a `Derive`: those of its own triples that match a pattern; without one, all of them, with their graphs."""

    pattern: TriplePattern | None

    @cached_property
    def schema(self) -> Schema:
        """The pattern's variables."""
        return GRAPHS if self.pattern is None else _schema(self.pattern)

    def line(self, notation: Notation) -> str:
        """The pattern."""
        return "Recalled" if self.pattern is None else f"Recalled {notation.triple(self.pattern)}"


@dataclass(frozen=True)
class Picked(Unary):
    """The derived triples that match a pattern."""

    pattern: TriplePattern

    @cached_property
    def schema(self) -> Schema:
        """The pattern's variables."""
        return _schema(self.pattern)

    def line(self, notation: Notation) -> str:
        """The pattern."""
        return f"Picked {notation.triple(self.pattern)}"


@dataclass(frozen=True)
class DerivedPath(Unary):
    """The solutions of a path within what one solution of a rule derives, or with what is static where that has no time."""

    pattern: PathPattern
    sources: Sources
    needy: bool = False
    """Whether what needs no triple is left out: it holds without anything derived."""

    @property
    def exact(self) -> str:
        """Why it works on terms."""
        return "a path of any length is matched within one event"

    @cached_property
    def schema(self) -> Schema:
        """The path's variables."""
        return Schema(tuple(sorted(in_scope(self.pattern))), certain(self.pattern))

    def line(self, notation: Notation) -> str:
        """The path."""
        return f"DerivedPath {notation.pattern(self.pattern)}"


@dataclass(frozen=True)
class DerivedRule:
    """A rule of a stratum: its solutions' operators and its template."""

    number: int
    label: str
    template: tuple[TriplePattern, ...]
    root: Node
    span: Span | None = None


@dataclass(frozen=True)
class Derive:
    """Rules that feed each other, to a fixpoint: the triples they derive. Its inputs are what does not rest on them."""

    rules: tuple[DerivedRule, ...]
    graphs: bool = False
    """Whether somebody looks at all that one solution derives together."""

    @cached_property
    def inner(self) -> tuple[Node, ...]:
        """The operators that rest on what the rules derive, inputs first."""
        found: dict[int, Node] = {}
        for node in self._every():
            if isinstance(node, Recalled) or any(id(each) in found for each in node.inputs):
                found[id(node)] = node
        return tuple(found.values())

    @cached_property
    def inputs(self) -> tuple[Node, ...]:
        """What the inner operators take from outside, and rules that rest on no other."""
        inner = {id(node) for node in self.inner}
        given = [each for node in self.inner for each in node.inputs] + [rule.root for rule in self.rules]
        return tuple({id(node): node for node in given if id(node) not in inner}.values())

    def _every(self) -> Iterator[Node]:
        seen: set[int] = set()
        for rule in self.rules:
            for node in nodes(rule.root):
                if id(node) not in seen:
                    seen.add(id(node))
                    yield node

    @property
    def schema(self) -> Schema:
        """Of triples."""
        return GRAPHS if self.graphs else TRIPLE

    def line(self, notation: Notation) -> str:
        """The rules."""
        until = "to a fixpoint" if self.inner else "once"
        return f"Derive {until}: " + ", ".join(rule.label for rule in self.rules)


def _schema(pattern: TriplePattern) -> Schema:
    places = (pattern.subject, pattern.predicate, pattern.object)
    names = tuple(dict.fromkeys(node.name for node in places if isinstance(node, Variable)))
    return Schema(names, frozenset(names))
