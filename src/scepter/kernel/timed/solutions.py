"""Occurrences, instants, and solutions with the interval that justifies them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from scepter.kernel.sparql.context import Row
from scepter.rdf.terms import IRI, Term, Triple

Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A triple at a time. The same triple twice over one interval is one occurrence."""

    triple: Triple
    start: int
    end: int
    arrival: int = field(default=0, compare=False)
    """Its place in the order of arrival, for ties."""
    stream: IRI | None = field(default=None, compare=False)
    """None for what a rule derived: every query sees it."""


@dataclass(frozen=True, slots=True)
class EventGraph:
    """An event's triples with all they entail: what a path is matched within."""

    triples: tuple[Triple, ...]
    start: int
    stream: IRI | None = None


Used: TypeAlias = frozenset[Occurrence]
_NOTHING: Used = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """A solution: its mapping and its interval, or no interval where static triples alone make it.

    `used` are the occurrences it stands on; they are followed only where a policy consumes them. `static` says that a triple
    of the background made it. `fleeting` is what needs no triple at all: it is there at each instant anew, so that it meets
    what ends there and is not remembered (rule 13).
    """

    row: Row
    start: int | None = None
    end: int | None = None
    used: Used = _NOTHING
    static: bool = False
    fleeting: bool = False

    @property
    def key(self) -> Key:
        """What makes two solutions of one instant the same one."""
        if self.used:
            return frozenset(self.row.items()), self.start, self.used
        return frozenset(self.row.items()), self.start

    @property
    def timeless(self) -> bool:
        """Whether it has no interval."""
        return self.start is None

    def merged(self, other: Timed) -> Timed:
        """Both together, over the hull; the mappings must agree."""
        row = {**self.row, **other.row}
        used = self.used | other.used if self.used or other.used else _NOTHING
        static = self.static or other.static
        if self.start is None or self.end is None:
            return Timed(row, other.start, other.end, used, static, other.fleeting)
        if other.start is None or other.end is None:
            return Timed(row, self.start, self.end, used, static, self.fleeting)
        fleeting = self.fleeting and other.fleeting
        return Timed(row, min(self.start, other.start), max(self.end, other.end), used, static, fleeting)

    def meets(self, other: Timed) -> bool:
        """Whether the two are there together: what is fleeting meets only what ends at its instant."""
        return not (self.fleeting or other.fleeting) or self.end is None or other.end is None or self.end == other.end

    def at(self, time: int) -> Timed:
        """A solution that needs no triple, as it is there at an instant."""
        return Timed(self.row, time, time, self.used, self.static, fleeting=True)

    def with_row(self, row: Row) -> Timed:
        """The same interval with another mapping."""
        return Timed(row, self.start, self.end, self.used, self.static, self.fleeting)


def distinct(solutions: Iterable[Timed]) -> list[Timed]:
    """Each solution once."""
    given = solutions if isinstance(solutions, list) else list(solutions)
    if len(given) < 2:
        return given
    return list(keyed(given).values())


def keyed(solutions: Iterable[Timed]) -> dict[Key, Timed]:
    """Each solution once, by its key; of two equal ones that which lasts."""
    found: dict[Key, Timed] = {}
    for solution in solutions:
        key = solution.key
        if not solution.fleeting or key not in found:
            found[key] = solution
    return found


def within(solutions: Iterable[Timed], bound: int | None) -> Iterator[Timed]:
    """The solutions that last no longer than the bound; timeless ones last no time at all."""
    if bound is None:
        return iter(solutions)
    return (s for s in solutions if s.start is None or s.end is None or s.end - s.start <= bound)


class Instant:
    """All occurrences that end at one time, and the graphs of the events among them."""

    __slots__ = ("_by_predicate", "graphs", "occurrences", "time")

    def __init__(self, time: int, occurrences: Sequence[Occurrence], graphs: Sequence[EventGraph] = ()) -> None:
        self.time = time
        self.occurrences = occurrences
        self.graphs = graphs
        self._by_predicate: dict[Term, list[Occurrence]] | None = None

    def of_predicate(self, predicate: Term | None) -> Sequence[Occurrence]:
        """The occurrences of a predicate; None is any."""
        if predicate is None:
            return self.occurrences
        if self._by_predicate is None:
            self._by_predicate = {}
            for occurrence in self.occurrences:
                self._by_predicate.setdefault(occurrence.triple.predicate, []).append(occurrence)
        return self._by_predicate.get(predicate, ())

    def seen_by(self, streams: Iterable[IRI] | None) -> Instant:
        """The part that a query over some streams sees: their occurrences, and what rules derived."""
        if streams is None:
            return self if len(self.occurrences) < 2 else Instant(self.time, _once(self.occurrences), self.graphs)
        wanted = {*streams, None}
        occurrences = _once([o for o in self.occurrences if o.stream in wanted])
        return Instant(self.time, occurrences, [g for g in self.graphs if g.stream in wanted])


def _once(occurrences: Sequence[Occurrence]) -> Sequence[Occurrence]:
    return occurrences if len(occurrences) < 2 else list(dict.fromkeys(occurrences))
