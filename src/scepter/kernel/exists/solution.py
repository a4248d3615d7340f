"""A solution as terms, with the interval that justifies it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scepter.kernel.row.instants import result_order
from scepter.kernel.sparql.context import Row
from scepter.rdf.terms import Term


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """A mapping and its interval, or no interval where static triples alone make it."""

    row: Row
    start: int | None = None
    end: int | None = None
    free: bool = False
    """Whether it needs no triple at all, and so holds at the instant of who asks (rule 13)."""

    @property
    def timeless(self) -> bool:
        """Whether it has no interval."""
        return self.start is None

    def asks(self, until: int | None) -> int | None:
        """By when what it looks at has ended, for one who asks about `until`."""
        return until if self.free else self.end

    def merged(self, other: Timed) -> Timed:
        """Both together, over the hull; the mappings must agree."""
        row = {**self.row, **other.row}
        if self.start is None or self.end is None:
            return Timed(row, other.start, other.end, self.free and other.free)
        if other.start is None or other.end is None:
            return Timed(row, self.start, self.end)
        return Timed(row, min(self.start, other.start), max(self.end, other.end))

    def with_row(self, row: Row) -> Timed:
        """The same interval with another mapping."""
        return Timed(row, self.start, self.end, self.free)


def distinct(solutions: Iterable[Timed]) -> list[Timed]:
    """Each mapping and interval once.

    >>> len(distinct([Timed({}, 1, 2), Timed({}, 1, 2), Timed({}, 1, 3)]))
    2
    """
    return list({(frozenset(s.row.items()), s.start, s.end): s for s in solutions}.values())


def in_order(solutions: Iterable[Timed]) -> list[Timed]:
    """In the order of results: the same whatever order they were found in."""
    return sorted(solutions, key=lambda solution: result_order(solution.start or 0, solution.row))


def in_sight(row: Mapping[str, Term]) -> Row:
    """What an EXISTS, or DISTINCT, sees of a mapping: nothing that is hidden."""
    return {name: term for name, term in row.items() if not name.startswith("_:")}
