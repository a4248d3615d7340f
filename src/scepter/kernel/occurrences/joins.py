"""Pairs of occurrences whose intervals stand in one of Allen's relations."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from operator import attrgetter

from scepter.algebra.events import Keep
from scepter.kernel.occurrences.model import Arrivals, Occurrence, Once, Operator, greatest, least, total
from scepter.timeline import MAX_INSTANT, MIN_INSTANT, Allen


def partners_until(relation: Allen, start: int, end: int) -> tuple[int, int]:
    """The greatest end and the greatest start that an `other` can have for `(start, end) relation other` to hold."""
    match relation:
        case Allen.BEFORE:
            return MAX_INSTANT, MAX_INSTANT
        case Allen.AFTER:
            return start - 1, start - 1
        case Allen.MEETS:
            return MAX_INSTANT, end
        case Allen.METBY:
            return start, start
        case Allen.OVERLAPS:
            return MAX_INSTANT, end - 1
        case Allen.OVERLAPPEDBY:
            return end - 1, start - 1
        case Allen.STARTS:
            return MAX_INSTANT, start
        case Allen.STARTEDBY:
            return end - 1, start
        case Allen.DURING:
            return MAX_INSTANT, start - 1
        case Allen.CONTAINS:
            return end - 1, end - 1
        case Allen.FINISHES:
            return end, start - 1
        case Allen.FINISHEDBY:
            return end, end
        case Allen.EQUALS:
            return end, start


class _Side:
    """The occurrences of one operand that may still find partners on the other."""

    def __init__(self, relation: Allen, other: Operator, bound: int | None) -> None:
        self._relation = relation
        self._other = other
        self._bound = bound
        # Partners of BEFORE all end before a time, those of AFTER all start after one: the rest is looked through.
        self._key = attrgetter("start") if relation is Allen.AFTER else attrgetter("end")
        self._kept: list[Occurrence] = []
        self._fresh: list[Occurrence] = []
        self._swept = 0

    def take(self, occurrences: Iterable[Occurrence]) -> None:
        """Take new ones, for the time being."""
        self._fresh.extend(occurrences)

    def partners(self, other: Occurrence) -> Iterator[Occurrence]:
        """Those that stand in the relation to another side's occurrence."""
        kept = self._kept
        if self._relation is Allen.BEFORE:
            # What ended before the window starts has started before it, too.
            since = 0 if self._bound is None else bisect_left(kept, other.end - self._bound, key=self._key)
            yield from kept[since : bisect_left(kept, other.start, key=self._key)]
        elif self._relation is Allen.AFTER:
            yield from kept[bisect_right(kept, other.end, key=self._key) :]
        else:
            yield from (each for each in kept if self._relation.holds(each, other))
        yield from (each for each in self._fresh if self._relation.holds(each, other))

    def merge(self, certain: int) -> None:
        """Keep the new ones that may find partners still to come, and now and then look through all."""
        for each in self._fresh:
            if self._waits(each, certain):
                insort(self._kept, each, key=self._key)
        self._fresh.clear()
        if len(self._kept) > 2 * self._swept + 32:
            self._kept = [each for each in self._kept if self._waits(each, certain)]
            self._swept = len(self._kept)

    def _waits(self, each: Occurrence, certain: int) -> bool:
        end, start = partners_until(self._relation, each.start, each.end)
        if self._bound is not None:
            end = min(end, each.start + self._bound)
        lag, longest = self._other.lag, self._other.longest
        if lag is None:
            return True
        ends_from = certain - lag + 1
        starts_from = MIN_INSTANT if longest is None else ends_from - longest
        return end >= ends_from and start >= starts_from

    def forget(self) -> None:
        """Drop the new ones."""
        self._fresh.clear()

    def __len__(self) -> int:
        return len(self._kept)


class Join:
    """Pairs in a relation; what is kept of them is a matter of `assertions` and `interval`."""

    def __init__(
        self, relation: Allen, left: Operator, right: Operator, assertions: Keep, interval: Keep, bound: int | None
    ) -> None:
        self._left, self._right = left, right
        self._assertions, self._interval = assertions, interval
        self._bound = bound
        hull = bound if interval is Keep.BOTH else None
        self._lefts = _Side(relation, right, hull)
        self._rights = _Side(relation.inverse, left, hull)
        self._lag = greatest(left.lag, right.lag)
        if interval is Keep.LEFT:  # known when the right side is, which ends later by less than it lasts
            self._lag = greatest(left.lag, total(right.lag, right.longest))
        elif interval is Keep.RIGHT:
            self._lag = greatest(right.lag, total(left.lag, left.longest))
        longest = {Keep.BOTH: None, Keep.LEFT: left.longest, Keep.RIGHT: right.longest}[interval]
        self._longest = least(bound, longest)
        self._once = Once(self._lag)

    @property
    def lag(self) -> int | None:
        """Of the later side, or of what an inner interval has to wait for."""
        return self._lag

    @property
    def longest(self) -> int | None:
        """As long as WITHIN allows."""
        return self._longest

    def step(self, arrivals: Arrivals) -> list[Occurrence]:
        """New left ones with all right ones before, new right ones with all left ones."""
        lefts, rights = self._left.step(arrivals), self._right.step(arrivals)
        pairs = [self._pair(each, other) for each in lefts for other in self._rights.partners(each)]
        self._lefts.take(lefts)
        pairs += [self._pair(other, each) for each in rights for other in self._lefts.partners(each)]
        self._rights.take(rights)
        bound = self._bound
        return self._once([p for p in pairs if bound is None or p.end - p.start <= bound])

    def _pair(self, left: Occurrence, right: Occurrence) -> Occurrence:
        if self._assertions is Keep.LEFT:
            assertions = left.assertions
        else:
            assertions = right.assertions if self._assertions is Keep.RIGHT else left.assertions | right.assertions
        names = left.names + right.names if left.names and right.names else left.names or right.names
        parts = left.parts + right.parts
        if self._interval is Keep.LEFT:
            return Occurrence(assertions, left.start, left.end, names, parts)
        if self._interval is Keep.RIGHT:
            return Occurrence(assertions, right.start, right.end, names, parts)
        return Occurrence(assertions, min(left.start, right.start), max(left.end, right.end), names, parts)

    def merge(self, certain: int) -> None:
        """Keep both sides."""
        for part in (self._left, self._right, self._lefts, self._rights, self._once):
            part.merge(certain)

    def forget(self) -> None:
        """Drop what is new on both sides."""
        for part in (self._left, self._right, self._lefts, self._rights, self._once):
            part.forget()

    def rows(self) -> int:
        """Of both sides and below."""
        return self._left.rows() + self._right.rows() + len(self._lefts) + len(self._rights) + len(self._once)
