"""Triple occurrences, and for each triple pattern the memory of those that match it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple, Protocol, TypeAlias

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.rdf.terms import Term, Triple

Row: TypeAlias = dict[str, Term]
Positions: TypeAlias = tuple[int, ...]


class Sighting(NamedTuple):
    """Where an occurrence comes from: an event's number and name, and its stream's number."""

    number: int
    name: str | None
    stream: int


class Occurrence:
    """A triple at a time, whatever brought it there. Equal only to itself."""

    __slots__ = ("dependents", "end", "expires", "homes", "places", "round", "sightings", "start", "triple")

    def __init__(self, triple: Triple, start: int, end: int, round: int) -> None:
        self.triple = triple
        self.start = start
        self.end = end
        self.round = round
        """The step in which it came: what came in earlier steps is old."""
        self.expires: int | None = None
        """The last instant at which a range holds it; None if no range does."""
        self.places: dict[int, int] = {}
        """Its place in streams whose last n triples count."""
        self.homes: list[PatternMemory] = []
        """The memories it is in."""
        self.sightings: list[Sighting] = []
        self.dependents: dict[object, Stored] = {}
        """The stored solutions it is part of, each with who stores it."""


class Stored(Protocol):
    """Who keeps solutions: asked to let go of those that lost an occurrence."""

    def discard(self, entry: object) -> None:
        """Let go of a solution."""
        ...


class Solution(NamedTuple):
    """A mapping and the occurrences that justify it; without any it is timeless."""

    row: Row
    occurrences: tuple[Occurrence, ...] = ()

    @property
    def start(self) -> int:
        """The least start."""
        return min(o.start for o in self.occurrences)

    @property
    def end(self) -> int:
        """The greatest end."""
        return max(o.end for o in self.occurrences)


class PatternMemory:
    """The occurrences that match one triple pattern, indexed by the positions that joins look up."""

    __slots__ = ("_constants", "_equal", "_indexes", "_occurrences", "pattern", "variables")

    def __init__(self, pattern: TriplePattern) -> None:
        nodes = (pattern.subject, pattern.predicate, pattern.object)
        self.pattern = pattern
        self._constants = [(i, n.term) for i, n in enumerate(nodes) if isinstance(n, Constant)]
        named = [(i, n.name) for i, n in enumerate(nodes) if isinstance(n, Variable)]
        self._equal = [(i, j) for (i, a), (j, b) in combinations(named, 2) if a == b]
        self.variables: dict[str, int] = {}
        """Each variable's first position."""
        for i, name in named:
            self.variables.setdefault(name, i)
        self._occurrences: dict[Occurrence, None] = {}
        self._indexes: dict[Positions, dict[tuple[Term, ...], dict[Occurrence, None]]] = {}

    def __len__(self) -> int:
        return len(self._occurrences)

    def matches(self, triple: Triple) -> bool:
        """Whether a triple matches the pattern."""
        return all(triple[i] == term for i, term in self._constants) and self.repeats(triple)

    def repeats(self, triple: Triple) -> bool:
        """Whether a triple has equal terms where the pattern repeats a variable."""
        return all(triple[i] == triple[j] for i, j in self._equal)

    def add(self, occurrence: Occurrence) -> None:
        """Remember a matching occurrence."""
        self._occurrences[occurrence] = None
        for positions, index in self._indexes.items():
            index.setdefault(_key(occurrence, positions), {})[occurrence] = None

    def remove(self, occurrence: Occurrence) -> None:
        """Forget an occurrence."""
        del self._occurrences[occurrence]
        for positions, index in self._indexes.items():
            key = _key(occurrence, positions)
            bucket = index[key]
            del bucket[occurrence]
            if not bucket:
                del index[key]

    def find(self, positions: Positions, key: tuple[Term, ...]) -> Iterable[Occurrence]:
        """The occurrences with these terms at these positions."""
        if not positions:
            return self._occurrences
        index = self._indexes.get(positions)
        if index is None:
            index = self._indexes[positions] = {}
            for occurrence in self._occurrences:
                index.setdefault(_key(occurrence, positions), {})[occurrence] = None
        return index.get(key, ())


def _key(occurrence: Occurrence, positions: Positions) -> tuple[Term, ...]:
    triple = occurrence.triple
    return tuple([triple[i] for i in positions])
