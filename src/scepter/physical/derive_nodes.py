"""The nodes of rules: what they derive enters the stream, with their solutions' intervals (spec/20-ep-sparql rule 9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from scepter.algebra.expressions import Variable
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import TriplePattern
from scepter.errors import Span
from scepter.physical.nodes import Node, Schema, nodes

TRIPLE = Schema(("s", "p", "o"), frozenset(("s", "p", "o")))
"""The variables of derived triples."""


@dataclass(frozen=True)
class Recalled:
    """Leaf inside a `Derive`: those of its own triples that match a pattern."""

    pattern: TriplePattern

    @property
    def inputs(self) -> tuple[Node, ...]:
        """None: the operator around it gives it what was derived last."""
        return ()

    @cached_property
    def schema(self) -> Schema:
        """The pattern's variables."""
        return _schema(self.pattern)

    def line(self, notation: Notation) -> str:
        """The pattern."""
        return f"Recalled {notation.triple(self.pattern)}"


@dataclass(frozen=True)
class Picked:
    """The derived triples that match a pattern."""

    input: Node
    pattern: TriplePattern

    @property
    def inputs(self) -> tuple[Node, ...]:
        """What derives."""
        return (self.input,)

    @cached_property
    def schema(self) -> Schema:
        """The pattern's variables."""
        return _schema(self.pattern)

    def line(self, notation: Notation) -> str:
        """The pattern."""
        return f"Picked {notation.triple(self.pattern)}"


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
        return TRIPLE

    def line(self, notation: Notation) -> str:
        """The rules."""
        until = "to a fixpoint" if self.inner else "once"
        return f"Derive {until}: " + ", ".join(rule.label for rule in self.rules)


def _schema(pattern: TriplePattern) -> Schema:
    places = (pattern.subject, pattern.predicate, pattern.object)
    names = tuple(dict.fromkeys(node.name for node in places if isinstance(node, Variable)))
    return Schema(names, frozenset(names))
