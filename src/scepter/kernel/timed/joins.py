"""Operators of two sides: Join, Allen's relations, OPTIONAL and its temporal kin, UNION, MINUS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from scepter.kernel.sparql.context import Row
from scepter.kernel.timed.memory import Batch, Meeting, Memory
from scepter.kernel.timed.operators import Operator
from scepter.kernel.timed.solutions import Instant, Key, Timed, distinct, keyed, within
from scepter.rdf.values import to_literal
from scepter.timeline import Allen, OnEnds

Condition: TypeAlias = Callable[[Timed, Timed], bool]
"""(the mandatory solution, the optional one) -> whether the two may join."""

# Which side may have ended before the other: only that one has to be remembered.
_LEFT_FIRST = frozenset((Allen.BEFORE, Allen.MEETS, Allen.OVERLAPS, Allen.STARTS, Allen.DURING))
_RIGHT_FIRST = frozenset((Allen.AFTER, Allen.METBY, Allen.OVERLAPPEDBY, Allen.STARTEDBY, Allen.CONTAINS))


def remembered(relation: Allen | None) -> tuple[bool, bool]:
    """Whether the left and the right side of an operator have to be remembered."""
    return (True, True) if relation is None else (relation in _LEFT_FIRST, relation in _RIGHT_FIRST)


def related(relation: OnEnds | None, left: Timed, right: Timed) -> bool:
    """Whether two solutions stand in a relation; without an interval they stand in any (rule 1)."""
    if relation is None or left.start is None or left.end is None or right.start is None or right.end is None:
        return True
    return relation(left.start, left.end, right.start, right.end)


class Joined(Operator):
    """Both sides, compatible, in a relation (None: in any)."""

    def __init__(self, left: Operator, right: Operator, meeting: Meeting, relation: Allen | None, bound: int | None) -> None:
        super().__init__(left, right)
        self.timed = left.timed or right.timed
        self.fleeting = (left.fleeting or not left.timed) and (right.fleeting or not right.timed) and self.timed
        self.growable = left.growable and right.growable
        self._meeting = meeting
        self._relation = None if relation is None else relation.on_ends
        self._bound = bound
        self._new: tuple[Sequence[Timed], Sequence[Timed]] = ((), ())
        self._batches: tuple[Batch, Batch] | None = None
        self._found: dict[Key, Timed] = {}
        keep_left, keep_right = remembered(relation)
        lasting = not left.fleeting and not right.fleeting
        self._keep = keep_left and right.timed and lasting, keep_right and left.timed and lasting
        self._memories = Memory(meeting, bound), Memory(meeting, bound)
        self._memories[0].add(left.fixed)
        self._memories[1].add(right.fixed)
        self.fixed = distinct(a.merged(b) for a in left.fixed for b in self._memories[1].partners(a.row))

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """dL with R, L with dR, dL with dR."""
        left, right = self.inputs[0].delta(instant), self.inputs[1].delta(instant)
        self._new, self._batches = (left, right), None
        if not left and not right:
            self._found = {}
            return ()
        found = self._with_memories(left, right)
        if left and right:
            batch = Batch(self._meeting, right)
            found += (a.merged(b) for a in left for b in batch.partners(a.row) if related(self._relation, a, b))
        self._found = keyed(within(found, self._bound)) if found else {}
        return list(self._found.values())

    def _with_memories(self, left: Sequence[Timed], right: Sequence[Timed]) -> list[Timed]:
        memory_left, memory_right = self._memories
        found = [
            a.merged(b) for a in left for b in memory_right.partners(a.row) if a.meets(b) and related(self._relation, a, b)
        ]
        found += (
            a.merged(b) for b in right for a in memory_left.partners(b.row) if a.meets(b) and related(self._relation, a, b)
        )
        return found

    def grow(self, more: Instant) -> Sequence[Timed]:
        """What is more on either side, with all there is on the other."""
        left, right = self.inputs[0].grow(more), self.inputs[1].grow(more)
        if not left and not right:
            return ()
        if self._batches is None:
            self._batches = Batch(self._meeting, self._new[0]), Batch(self._meeting, self._new[1])
        batch_left, batch_right = self._batches
        found = self._with_memories(left, right)
        found += (a.merged(b) for b in right for a in batch_left.partners(b.row) if related(self._relation, a, b))
        batch_right.add(right)
        found += (a.merged(b) for a in left for b in batch_right.partners(a.row) if related(self._relation, a, b))
        batch_left.add(left)
        self._new = [*self._new[0], *left], [*self._new[1], *right]
        fresh = keyed(within(found, self._bound))
        added = {key: s for key, s in fresh.items() if key not in self._found}
        self._found.update(added)
        return list(added.values())

    def commit(self) -> None:
        """Remember the sides that later instants may need."""
        super().commit()
        left, right = self._new
        if left and self._keep[0]:
            self._memories[0].add(s for s in left if not s.fleeting)
        if right and self._keep[1]:
            self._memories[1].add(s for s in right if not s.fleeting)
        self._new, self._batches, self._found = ((), ()), None, {}

    def release(self, now: int) -> None:
        """By the bound."""
        super().release(now)
        for memory in self._memories:
            memory.release(now)

    def size(self) -> int:
        """Both memories."""
        return super().size() + sum(map(len, self._memories))


class Optional(Operator):
    """A mandatory side with its partners of the optional one, or alone (rules 4 to 6).

    Only new mandatory solutions ask: what they find has ended by then, so that no answer is ever taken back. `flipped` says
    that the optional side is the left one of the relation.
    """

    def __init__(
        self,
        mandatory: Operator,
        optional: Operator,
        meeting: Meeting,
        relation: Allen | None,
        *,
        flipped: bool,
        condition: Condition | None,
        bound: int | None,
        shrink: Callable[[Row], Row] | None,
    ) -> None:
        super().__init__(mandatory, optional)
        self.timed = mandatory.timed
        self.fleeting = mandatory.fleeting
        self._meeting = meeting
        self._relation = None if relation is None else relation.on_ends
        self._flipped = flipped
        self._condition = condition
        self._bound = bound
        self._keep = optional.timed and mandatory.timed and relation is not Allen.EQUALS
        self._memory = Memory(meeting, None if shrink is None else bound, shrink)
        self._memory.add(optional.fixed)
        self._new: Sequence[Timed] = ()
        self.fixed = distinct(r for m in mandatory.fixed for r in self._joined(m, self._memory.partners(m.row)))

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """The new mandatory solutions with their partners, or alone."""
        self._new = self.inputs[1].delta(instant)
        mandatory = self.inputs[0].delta(instant)
        if not mandatory:
            return ()
        batch = Batch(self._meeting, self._new)
        found: list[Timed] = []
        for solution in mandatory:
            found += self._joined(solution, [*self._memory.partners(solution.row), *batch.partners(solution.row)])
        return distinct(within(found, self._bound))

    def _joined(self, solution: Timed, partners: Iterable[Timed]) -> list[Timed]:
        found = [solution.merged(p) for p in partners if self._fits(solution, p)]
        if solution.fleeting:  # with a partner or alone, it asks again at the next instant
            found = [replace(s, fleeting=True) for s in found]
        return found or [solution]

    def _fits(self, solution: Timed, partner: Timed) -> bool:
        left, right = (partner, solution) if self._flipped else (solution, partner)
        return related(self._relation, left, right) and (self._condition is None or self._condition(solution, partner))

    def commit(self) -> None:
        """Remember the optional side."""
        super().commit()
        if self._keep:
            self._memory.add(s for s in self._new if not s.fleeting)

    def release(self, now: int) -> None:
        """What is out of bounds shrinks to the fact that it was there."""
        super().release(now)
        self._memory.release(now)

    def size(self) -> int:
        """The optional side's memory."""
        return super().size() + len(self._memory)


class Removed(Operator):
    """MINUS: the left solutions without those that a compatible right one, ended by then, shares a variable with."""

    def __init__(self, left: Operator, right: Operator, meeting: Meeting, shared: frozenset[str]) -> None:
        super().__init__(left, right)
        self.timed = left.timed
        self.fleeting = left.fleeting
        self._meeting = meeting
        self._shared = shared
        self._seen: set[frozenset[tuple[str, object]]] = set()
        self._memory = Memory(meeting)
        self._new: Sequence[Timed] = ()
        self._remember(right.fixed)
        self.fixed = [a for a in left.fixed if not self._removes(a, self._memory.partners(a.row))]

    def _remember(self, solutions: Iterable[Timed]) -> None:
        """Only that it was there counts, and only for the variables that the left side can have."""
        for solution in solutions:
            row = {name: term for name, term in solution.row.items() if name in self._shared}
            trace = frozenset(row.items())
            if row and trace not in self._seen:
                self._seen.add(trace)
                self._memory.add((Timed(row),))

    def _removes(self, solution: Timed, partners: Iterable[Timed]) -> bool:
        return any(name in solution.row for partner in partners for name in partner.row if name in self._shared)

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """The new left solutions that nothing removes."""
        self._new = self.inputs[1].delta(instant)
        left = self.inputs[0].delta(instant)
        batch = Batch(self._meeting, self._new)
        return [
            a for a in left if not self._removes(a, [*self._memory.partners(a.row), *batch.partners(a.row)])
        ]  # fmt: skip

    def commit(self) -> None:
        """Remember that the right side was there."""
        super().commit()
        self._remember(s for s in self._new if not s.fleeting)

    def size(self) -> int:
        """The distinct mappings of the right side."""
        return super().size() + len(self._memory)


class United(Operator):
    """UNION. Where `mark` is the name of a variable, it says of each solution which side it comes from."""

    def __init__(self, *sides: Operator, mark: str | None = None) -> None:
        super().__init__(*sides)
        self.timed = any(side.timed for side in sides)
        self.fleeting = self.timed and all(side.fleeting or not side.timed for side in sides)
        self._marks: list[Row] = [{} if mark is None else {mark: to_literal(number)} for number in range(len(sides))]
        self.growable = all(side.growable for side in sides)
        self._found: dict[Key, Timed] = {}
        self.fixed = distinct(self._marked([side.fixed for side in sides]))

    def _marked(self, sides: Sequence[Sequence[Timed]]) -> Iterator[Timed]:
        for mark, solutions in zip(self._marks, sides, strict=True):
            yield from (s.with_row({**s.row, **mark}) for s in solutions) if mark else solutions

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """What ends on any side."""
        self._found = keyed(self._marked([side.delta(instant) for side in self.inputs]))
        return list(self._found.values())

    def grow(self, more: Instant) -> Sequence[Timed]:
        """What is more on any side."""
        fresh = keyed(self._marked([side.grow(more) for side in self.inputs]))
        added = {key: s for key, s in fresh.items() if key not in self._found}
        self._found.update(added)
        return list(added.values())
