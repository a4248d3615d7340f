"""What an operator remembers of one side: solutions, found by the variables both sides bind, released by their start."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scepter.kernel.sparql.context import Row
from scepter.kernel.timed.solutions import Timed
from scepter.rdf.terms import Term

_Key: TypeAlias = tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """How rows of two sides find each other: by the variables both always bind, then by those that may be unbound."""

    keys: tuple[str, ...]
    loose: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, left: frozenset[str], left_certain: frozenset[str], right: frozenset[str], right_certain: frozenset[str]
    ) -> Meeting:
        """From what each side may bind and what it always binds."""
        shared = left & right
        sure = left_certain & right_certain & shared
        return cls(tuple(sorted(sure)), tuple(sorted(shared - sure)))

    def key(self, row: Row) -> _Key:
        """Where a row is found."""
        return tuple([row[name] for name in self.keys])

    def agree(self, row: Row, other: Row) -> bool:
        """Whether two rows with equal keys are compatible."""
        return not any(name in row and name in other and row[name] != other[name] for name in self.loose)


class Memory:
    """Solutions of earlier instants, and the timeless ones.

    With a bound, `release` lets go what has started too long ago to take part in a future result. Where it still says that an
    optional part is there, `shrink` gives what must stay of it: results with it are out of bounds, but it keeps its partner
    from standing alone.
    """

    __slots__ = ("_bound", "_buckets", "_heap", "_meeting", "_number", "_shrink", "_stays")

    def __init__(self, meeting: Meeting, bound: int | None = None, shrink: Callable[[Row], Row] | None = None) -> None:
        self._meeting = meeting
        self._bound = bound
        self._shrink = shrink
        self._buckets: dict[_Key, dict[int, Timed]] = {}
        self._heap: list[tuple[int, int, _Key]] = []
        self._stays: dict[frozenset[tuple[str, Term]], int] = {}
        self._number = 0

    def __len__(self) -> int:
        return sum(map(len, self._buckets.values()))

    def add(self, solutions: Iterable[Timed]) -> None:
        """Remember solutions."""
        for solution in solutions:
            self._put(solution)
            if self._bound is not None and solution.start is not None:
                heapq.heappush(self._heap, (solution.start, self._number, self._meeting.key(solution.row)))

    def _put(self, solution: Timed) -> None:
        self._number += 1
        self._buckets.setdefault(self._meeting.key(solution.row), {})[self._number] = solution

    def partners(self, row: Row) -> Iterator[Timed]:
        """The solutions compatible with a row, oldest first."""
        bucket = self._buckets.get(self._meeting.key(row))
        if bucket is None:
            return iter(())
        if not self._meeting.loose:
            return iter(bucket.values())
        return (s for s in bucket.values() if self._meeting.agree(row, s.row))

    def forget(self, row: Row, unwanted: Callable[[Timed], bool]) -> None:
        """Forget some of the solutions found by a row."""
        key = self._meeting.key(row)
        for number in [n for n, s in self._buckets.get(key, {}).items() if unwanted(s)]:
            self._remove(key, number)

    def _remove(self, key: _Key, number: int) -> Timed | None:
        bucket = self._buckets.get(key)
        solution = None if bucket is None else bucket.pop(number, None)
        if bucket is not None and not bucket:
            del self._buckets[key]
        return solution

    def release(self, now: int) -> None:
        """Let go what no result that ends after `now` can have within the bound."""
        if self._bound is None:
            return
        while self._heap and now + 1 - self._heap[0][0] > self._bound:
            _, number, key = heapq.heappop(self._heap)
            solution = self._remove(key, number)
            if solution is not None and self._shrink is not None:
                self._keep_trace(key, solution, self._shrink(solution.row))

    def _keep_trace(self, key: _Key, solution: Timed, row: Row) -> None:
        """Of all that look the same now, the one that ended first: what follows it follows it the longest."""
        trace = frozenset(row.items())
        number = self._stays.get(trace)
        if number is not None:
            known = self._buckets[key][number]
            if known.end is None or solution.end is None or known.end <= solution.end:
                return
            self._buckets[key][number] = solution.with_row(row)
            return
        self._put(solution.with_row(row))
        self._stays[trace] = self._number


class Batch:
    """The new solutions of one side, looked up as a Memory is."""

    __slots__ = ("_buckets", "_meeting")

    def __init__(self, meeting: Meeting, solutions: Sequence[Timed]) -> None:
        self._meeting = meeting
        self._buckets: dict[_Key, list[Timed]] = {}
        self.add(solutions)

    def add(self, solutions: Iterable[Timed]) -> None:
        """More of the same instant."""
        for solution in solutions:
            self._buckets.setdefault(self._meeting.key(solution.row), []).append(solution)

    def partners(self, row: Row) -> Iterator[Timed]:
        """The solutions compatible with a row."""
        return (s for s in self._buckets.get(self._meeting.key(row), ()) if self._meeting.agree(row, s.row))
