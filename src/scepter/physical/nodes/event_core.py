"""The leaf of a graph pattern within one event: triples that are matched at once, and look-ups that are joined with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scepter.algebra.patterns import TriplePattern
from scepter.physical.nodes.nodes import Node, Schema
from scepter.rdf.terms import IRI

EVENT: Final = "_:event"
"""The variable of the event's place in its batch, from 1."""
Graphs = tuple[tuple[IRI, tuple[TriplePattern, ...]], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A basic graph pattern with its variables numbered in order of appearance: equal shapes are matched once per batch."""

    stream: int
    triples: tuple[TriplePattern, ...]
    width: int


@dataclass(frozen=True)
class Core(Node):
    """Leaf: triples of the event, and `GRAPH iri { … }` parts joined with them by index look-up."""

    says = "Core"

    names: tuple[str, ...]
    shape: Shape
    graphs: Graphs
    columns: tuple[int, ...]
    """Of each name, its column in the shape's solutions with what the graphs add."""

    def _schema(self) -> Schema:
        return Schema.bound((EVENT, *self.names))
