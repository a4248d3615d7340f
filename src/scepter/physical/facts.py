"""What is known of a run before it starts: with the program, all that a plan is made from."""

from __future__ import annotations

from dataclasses import dataclass

from scepter.rdf.terms import IRI, Triple
from scepter.timeline import TimeKind


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
    exact: bool = False
    """Whether every unit takes the exact evaluator where it has one: the slow twin that columns are compared with."""

    @property
    def background(self) -> bool:
        """Whether there is static data."""
        return bool(self.default_graph or self.graphs)

    @property
    def unrestricted(self) -> bool:
        """Whether no policy restricts what is paired."""
        return self.policy in (None, "unrestricted")
