"""Events, runs and matches, as the naive evaluator sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from scepter.kernel.sparql.dataset import Graph
from scepter.rdf.terms import Term, Triple

Solution: TypeAlias = Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class Event:
    """An input event."""

    stream: str
    start: int
    end: int
    triples: frozenset[Triple]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A match: its interval, its row (SELECT), its graph (CONSTRUCT), and the events it selected."""

    start: int
    end: int
    row: frozenset[tuple[str, Term]] = frozenset()
    graph: frozenset[Triple] | None = None
    events: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Seen:
    """An event of the streamset, its blank nodes scoped to it."""

    number: int
    event: Event
    graph: Graph

    @property
    def time(self) -> int:
        """11: an interval event is seen at its end."""
        return self.event.end


@dataclass(frozen=True, slots=True)
class Run:
    """A partial match."""

    selected: tuple[Seen, ...] = ()
    mapping: Solution = field(default_factory=dict)
    iterations: Mapping[str, tuple[Solution, ...]] = field(default_factory=dict)
    opening: Solution = field(default_factory=dict)
    """The mapping after the first atom (of a Kleene atom: its first iteration)."""
    labels: tuple[str, ...] = ()
    """The GPM that selected each of the events."""

    def times(self, label: str) -> list[int]:
        """The times of the events that a GPM selected."""
        return [event.time for event, by in zip(self.selected, self.labels, strict=True) if by == label]

    @property
    def time(self) -> int:
        return self.selected[-1].time

    @property
    def start(self) -> int:
        return min(seen.event.start for seen in self.selected)


@dataclass(frozen=True, slots=True)
class Found:
    """A run that went through the whole sequence, and the end of the match."""

    run: Run
    end: int


def extends(mapping: Solution, part: Solution) -> bool:
    return all(mapping.get(name) == term for name, term in part.items())


def compatible(a: Solution, b: Solution) -> bool:
    return all(b[name] == term for name, term in a.items() if name in b)
