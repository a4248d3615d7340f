"""The nodes of what looks at the windows as they are when a row ends, and of rows that are told once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scepter.algebra.expressions import Exists
from scepter.algebra.notation import Notation
from scepter.physical.nodes import Node, Schema, Unary


@dataclass(frozen=True)
class LiveGraph(Unary):
    """The triples in the windows as a graph, over static data, for EXISTS that no join answers."""

    @property
    def schema(self) -> Schema:
        """It gives no rows."""
        return Schema(())

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "LiveGraph, for EXISTS"


@dataclass(frozen=True)
class AskedNow:
    """Rows with a variable more for each EXISTS, true or false: asked of what is in the windows when the row ends."""

    input: Node
    live: LiveGraph
    asked: tuple[tuple[str, Exists], ...]

    @property
    def exact(self) -> str:
        """Why it works on terms."""
        return "EXISTS asks for more than a join of triple patterns"

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The rows that ask, and where is looked."""
        return (self.input, self.live)

    @cached_property
    def schema(self) -> Schema:
        """Its input's, and the answers."""
        names = tuple(name for name, _ in self.asked)
        return Schema((*self.input.schema.variables, *names), self.input.schema.certain | frozenset(names))

    def line(self, notation: Notation) -> str:
        """What is asked."""
        return "AskedNow " + ", ".join(notation.expression(exists) for _, exists in self.asked)


@dataclass(frozen=True)
class MatchedOnce(Unary):
    """Each match once: by what can be seen of it, and its set of occurrences or (DISTINCT) its interval."""

    occurrences: bool

    def line(self, notation: Notation) -> str:
        """By what."""
        return f"MatchedOnce, by mapping and {'occurrences' if self.occurrences else 'interval'}"
