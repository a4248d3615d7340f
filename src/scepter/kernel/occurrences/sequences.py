"""`E1 SEQ E2` of two logical events in columns, whatever the guard: the exact twin is `joins.Join` under `network.Composite`.

Logical occurrences are known when their time has come, so that all that can precede an occurrence is there when it comes:
only left ones are kept. Both sides are matched by the values that a guard makes them share, then by time, in sorted columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.events import CompositeEvent, Related
from scepter.kernel.occurrences.columns import NO_OCCURRENCES, Int64, OccurrenceColumns, joined, spread
from scepter.kernel.occurrences.guard_keys import SharedValues, shared_values
from scepter.kernel.occurrences.model import Assertions, Occurrence
from scepter.kernel.occurrences.network import Ticks, ask
from scepter.physical.event_roads import Operand, operand_of
from scepter.rdf.terms import IRI, Term

_VERDICTS = 100_000
"""Pairs of assertions of which it is remembered whether they satisfy the guard."""

AssertionsOf = Callable[[int], Assertions]
"""The assertions of a number."""


class ColumnarSequence:
    """One event that the plan joins in columns, at work. What `step` does is for the time being, until `merge` or `forget`."""

    def __init__(self, event: CompositeEvent, ticks: Ticks, assertions: AssertionsOf) -> None:
        assert isinstance(event.pattern, Related)
        left, right = operand_of(event.pattern.left), operand_of(event.pattern.right)
        assert left is not None and right is not None
        self.event = event.event
        self.left, self.right = left.event, right.event
        self._within = None if event.within is None else ticks(event.within)
        self._keys = _Keys(None if event.guard is None else shared_values(
            event.guard, frozenset(left.labels), frozenset(right.labels)), assertions)  # fmt: skip
        decided = self._keys.shared is not None and self._keys.shared.decides
        self._verdicts = None if event.guard is None or decided else _Verdicts(event, left, right, assertions)
        self._kept = _Keyed(NO_OCCURRENCES, NO_OCCURRENCES.assertions)
        self._fresh: list[_Keyed] = []

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """Its occurrences' lag and greatest duration."""
        return 0, self._within

    def step(self, left: OccurrenceColumns, right: OccurrenceColumns) -> OccurrenceColumns:
        """The occurrences that new right ones complete."""
        self._fresh.append(self._keys.keyed(True, left))
        if not len(right):
            return NO_OCCURRENCES
        before, after = _Keyed.joined([self._kept, *self._fresh]), self._keys.keyed(False, right)
        lefts, rights = self._pairs(before, after)
        first, second = before.occurrences.take(lefts), after.occurrences.take(rights)
        if self._verdicts is not None:
            satisfied = self._verdicts(first.assertions, second.assertions)
            first, second = first.take(satisfied), second.take(satisfied)
        return OccurrenceColumns(second.assertions, first.start, second.end).distinct()

    def _pairs(self, before: _Keyed, after: _Keyed) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows of both sides that share a value and are in order of time, within the window."""
        left, right = before.occurrences, after.occurrences
        ends, places = np.unique(left.end, return_inverse=True)
        width = len(ends) + 1
        coded = before.keys * width + places
        order = np.argsort(coded, kind="stable")
        coded = coded[order]
        until = after.keys * width + np.searchsorted(ends, right.start, "left")
        # what ended before the window starts has started before it, too
        since = after.keys * width + (0 if self._within is None else np.searchsorted(ends, right.end - self._within, "left"))
        low = np.searchsorted(coded, since, "left")
        rights, numbers = spread(np.maximum(np.searchsorted(coded, until, "left") - low, 0))
        lefts = order[low[rights] + numbers]
        if self._within is None:
            return lefts, rights
        inside = right.end[rights] - left.start[lefts] <= self._within
        return lefts[inside], rights[inside]

    def merge(self, certain: int) -> None:
        """Keep the new left ones; release those whose window is over."""
        kept = _Keyed.joined([self._kept, *self._fresh])
        self._fresh.clear()
        self._kept = kept if self._within is None else kept.take(kept.occurrences.start > certain - self._within)

    def forget(self) -> None:
        """Back to the last `merge`."""
        self._fresh.clear()

    def live(self) -> Int64:
        """The numbers of the assertions that are kept."""
        return _Keyed.joined([self._kept, *self._fresh]).occurrences.assertions

    def renumber(self, new: Int64) -> None:
        """Assertions have new numbers."""
        self._keys.clear()
        if self._verdicts is not None:
            self._verdicts.clear()
        self._kept, *self._fresh = (self._renumbered(each.occurrences, new) for each in (self._kept, *self._fresh))

    def _renumbered(self, old: OccurrenceColumns, new: Int64) -> _Keyed:
        return self._keys.keyed(True, OccurrenceColumns(new[old.assertions], old.start, old.end).distinct())

    def rows(self) -> int:
        """How many occurrences are kept."""
        return len(self._kept.keys)


@dataclass(frozen=True, slots=True)
class _Keyed:
    """Occurrences with the numbers of values that they share; one with several stands several times."""

    occurrences: OccurrenceColumns
    keys: Int64

    def take(self, rows: NDArray[np.bool_]) -> _Keyed:
        return _Keyed(self.occurrences.take(rows), self.keys[rows])

    @staticmethod
    def joined(parts: Sequence[_Keyed]) -> _Keyed:
        if len(parts) == 1:
            return parts[0]
        return _Keyed(joined([part.occurrences for part in parts]), np.concatenate([part.keys for part in parts]))


class _Keys:
    """The values that assertions share with the other side, numbered; without a guard that asks for some, all share one."""

    def __init__(self, shared: SharedValues | None, assertions: AssertionsOf) -> None:
        self.shared = shared
        self._assertions = assertions
        self._numbers: dict[tuple[Term, ...], int] = {}
        self._known: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})

    def keyed(self, left: bool, occurrences: OccurrenceColumns) -> _Keyed:
        """Occurrences of one side with their keys; those without any are left out."""
        if self.shared is None or not len(occurrences):
            return _Keyed(occurrences, np.zeros(len(occurrences), np.int64))
        each, places = np.unique(occurrences.assertions, return_inverse=True)
        keys = [self._keys(left, number) for number in each.tolist()]
        counts = np.fromiter(map(len, keys), np.int64, len(keys))
        flat = np.fromiter((key for some in keys for key in some), np.int64, int(counts.sum()))
        rows, numbers = spread(counts[places])
        return _Keyed(occurrences.take(rows), flat[(np.cumsum(counts) - counts)[places[rows]] + numbers])

    def _keys(self, left: bool, number: int) -> list[int]:
        known = self._known[left]
        found = known.get(number)
        if found is None:
            assert self.shared is not None
            values = (self.shared.left if left else self.shared.right).values(self._assertions(number))
            found = known[number] = [self._numbers.setdefault(value, len(self._numbers)) for value in values]
        return found

    def clear(self) -> None:
        """Forget all of them."""
        self._numbers.clear()
        for known in self._known:
            known.clear()


class _Verdicts:
    """Whether pairs of assertions satisfy the guard, asked once for each."""

    def __init__(self, event: CompositeEvent, left: Operand, right: Operand, assertions: AssertionsOf) -> None:
        assert event.guard is not None
        self._holds = ask(event.guard)
        self._labels: Sequence[tuple[IRI, ...]] = (left.labels, right.labels)
        self._assertions = assertions
        self._known: dict[tuple[int, int], bool] = {}

    def __call__(self, left: Int64, right: Int64) -> NDArray[np.bool_]:
        """One verdict per pair."""
        if len(self._known) > _VERDICTS:
            self._known.clear()
        pairs = list(zip(left.tolist(), right.tolist(), strict=True))
        for pair in set(pairs) - self._known.keys():
            self._known[pair] = self._holds(self._occurrence(pair))
        return np.fromiter(map(self._known.__getitem__, pairs), np.bool_, len(pairs))

    def _occurrence(self, pair: tuple[int, int]) -> Occurrence:
        sides = [
            (label, self._assertions(number)) for labels, number in zip(self._labels, pair, strict=True) for label in labels
        ]
        return Occurrence(sides[-1][1] if sides else frozenset(), 0, 0, tuple(sides))

    def clear(self) -> None:
        """Forget all of them."""
        self._known.clear()
