"""Pairing with consumption: the chronological and the recent policy at SEQ and EQUALS (spec/20-ep-sparql rule 10)."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from enum import Enum
from itertools import count

from scepter.kernel.timed.joins import related, remembered
from scepter.kernel.timed.memory import Batch, Meeting, Memory
from scepter.kernel.timed.operators import Operator
from scepter.kernel.timed.solutions import Instant, Occurrence, Timed, distinct, within
from scepter.timeline import Allen


class Policy(Enum):
    """Which left side a completed right one is paired with."""

    CHRONOLOGICAL = "chronological"
    """The earliest."""
    RECENT = "recent"
    """The latest."""


class Paired(Operator):
    """SEQ or EQUALS under a policy: each detection consumes the occurrences of both its sides, at this operator.

    What has no time is no occurrence: it is joined freely and never consumed.
    """

    def __init__(
        self, left: Operator, right: Operator, meeting: Meeting, relation: Allen, bound: int | None, policy: Policy
    ) -> None:
        super().__init__(left, right)
        self.timed = left.timed or right.timed
        self._meeting = meeting
        self._relation = relation.on_ends
        self._keeps_left = remembered(relation)[0]
        self._bound = bound
        self._policy = policy
        self._memory = Memory(meeting, bound)
        self._left_fixed, self._right_fixed = Batch(meeting, left.fixed), Batch(meeting, right.fixed)
        self._consumed: set[Occurrence] = set()
        self._starts: list[tuple[int, int, Occurrence]] = []
        self._numbers = count()
        self._taken: set[Occurrence] = set()
        self._pairs: list[Timed] = []
        self._new: Sequence[Timed] = ()
        self.fixed = distinct(a.merged(b) for a in left.fixed for b in self._right_fixed.partners(a.row))

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """Right sides in order of time, each with its partner."""
        left, right = self.inputs[0].delta(instant), self.inputs[1].delta(instant)
        self._new, self._taken, self._pairs = left, set(), []
        found = [a.merged(b) for a in left for b in self._right_fixed.partners(a.row)]
        found += (a.merged(b) for b in right for a in self._left_fixed.partners(b.row))
        batch = Batch(self._meeting, left)
        for completed in sorted(right, key=order):
            partner = self._partner(completed, batch)
            if partner is not None:
                self._taken |= partner.used | completed.used
                self._pairs.append(partner)
                found.append(partner.merged(completed))
        return distinct(within(found, self._bound))

    def _partner(self, completed: Timed, batch: Batch) -> Timed | None:
        if self._is_consumed(completed):
            return None
        candidates = [
            a
            for a in (*self._memory.partners(completed.row), *batch.partners(completed.row))
            if related(self._relation, a, completed) and not self._is_consumed(a) and self._in_bounds(a.merged(completed))
        ]
        if not candidates:
            return None
        return min(candidates, key=order) if self._policy is Policy.CHRONOLOGICAL else max(candidates, key=order)

    def _in_bounds(self, solution: Timed) -> bool:
        return next(within((solution,), self._bound), None) is not None

    def _is_consumed(self, solution: Timed) -> bool:
        return not self._consumed.isdisjoint(solution.used) or not self._taken.isdisjoint(solution.used)

    def commit(self) -> None:
        """What was taken is gone."""
        super().commit()
        self._consumed |= self._taken
        if self._bound is not None:
            for occurrence in self._taken:
                heapq.heappush(self._starts, (occurrence.start, next(self._numbers), occurrence))
        for partner in self._pairs:
            self._memory.forget(partner.row, self._is_consumed)
        if self._keeps_left:
            self._memory.add(s for s in self._new if not self._is_consumed(s))
        self._new, self._taken, self._pairs = (), set(), []

    def release(self, now: int) -> None:
        """By the bound, also what has been consumed: it can complete nothing any more."""
        super().release(now)
        self._memory.release(now)
        while self._bound is not None and self._starts and now + 1 - self._starts[0][0] > self._bound:
            self._consumed.discard(heapq.heappop(self._starts)[2])

    def size(self) -> int:
        """Left sides that wait, and consumed occurrences."""
        return super().size() + len(self._memory) + len(self._consumed)


def order(solution: Timed) -> tuple[int, int, list[tuple[int, str]]]:
    """Ties: by end, start, arrival, then N-Triples order of the triple (spec/00 §1)."""
    arrivals = sorted((o.arrival, " ".join(map(str, o.triple))) for o in solution.used)
    return solution.end or 0, solution.start or 0, arrivals
