"""What is known of a run before it starts: with the program, all that a plan is made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from scepter.algebra.patterns import TriplePattern
from scepter.algebra.query import Unit
from scepter.rdf.terms import IRI, Triple
from scepter.timeline import TimeKind

Count = Callable[[TriplePattern, IRI | None], int]
"""How many triples of a static graph (None: the default graph) have a pattern's constants."""
Statics = Callable[[Unit], Count]
Seen = Callable[[TriplePattern], int]
"""How many triples of a sample of the streams have a pattern's constants."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The kind of time, the options that matter to a plan, and what is static."""

    kind: TimeKind | None = None
    """None: no stream has been looked at. The plan is then made for the kind that the query's durations suggest."""
    time_unit: str = "ms"
    policy: str | None = None
    """The policy that the run asks for; None: the language's own."""
    why: bool = False
    """Whether each answer tells what it rests on."""
    default_graph: int = 0
    """How many triples the static default graph has."""
    graphs: tuple[tuple[IRI, int], ...] = ()
    """The static named graphs, with how many triples each has."""
    ontology: tuple[Triple, ...] = ()
    schema: tuple[Triple, ...] = ()
    """The statements of the static graphs that act as schema."""
    start: int = 0
    """The instant from which steps and windows are counted."""
    evaluate_at: tuple[int, ...] | None = None
    """The instants at which queries over windows are evaluated, where the run gives them."""
    statics: Statics | None = field(default=None, compare=False, repr=False)
    """How many static triples a unit's patterns find; None: there are none. A plan that has been made does not keep it."""
    seen: Seen | None = field(default=None, compare=False, repr=False)
    """What a sample of the streams holds; None: there is none, as of a live stream. It orders joins, and changes no answer."""
    sampled: int = 0
    """How many triples the sample has."""
    indexed: bool = True
    """Whether the runs of sequences find their next step by key: switched off to measure what that is worth, and in tests."""
    exact: bool = False
    """Whether every unit takes the exact evaluator where it has one: the slow twin that columns are compared with."""

    @property
    def background(self) -> bool:
        """Whether there is static data."""
        return bool(self.default_graph or self.graphs)

    def counts(self, unit: Unit) -> Count:
        """How many static triples each pattern of a unit finds."""
        return (lambda triple, graph: 0) if self.statics is None else self.statics(unit)

    @property
    def unrestricted(self) -> bool:
        """Whether no policy restricts what is paired."""
        return self.policy in (None, "unrestricted")
