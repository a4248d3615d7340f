"""GROUP BY over time: one row per group each time a solution enters it (spec/20-ep-sparql rules 12 and 13)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from scepter.algebra.patterns import Group
from scepter.kernel.sparql.aggregates import compile_group
from scepter.kernel.sparql.context import Row
from scepter.kernel.timed.expressions import Expressions
from scepter.kernel.timed.operators import Operator
from scepter.kernel.timed.shaping import in_order
from scepter.kernel.timed.solutions import Instant, Timed
from scepter.rdf.terms import Term

_GroupKey: TypeAlias = tuple[Term | None, ...]


class Grouped(Operator):
    """Groups with their aggregates, over all solutions so far, those of the last `duration`, or the last `rows`.

    Timeless solutions belong to their group at all times (not to a window, which goes by time), and make timeless rows where
    they are alone.
    """

    def __init__(
        self, source: Operator, group: Group, expressions: Expressions, duration: int | None = None, rows: int | None = None
    ) -> None:
        super().__init__(source)
        self.timed = source.timed
        self.fleeting = source.fleeting
        self._keys = [expressions.value(expression) for _, expression in group.keys]
        asked = [(variable, *expressions.asking(expression)) for variable, expression in group.aggregates]
        self._rows: list[Callable[[Timed], Row]] = [row for _, _, row in asked]
        self._aggregate = compile_group(Group(group.pattern, (), tuple((v, e) for v, e, _ in asked)))
        self._names = [variable.name for variable, _ in group.keys]
        self._context = expressions.context
        self._duration = duration
        self._limit = rows
        self._members: dict[_GroupKey, list[Timed]] = {}
        self._ends: deque[tuple[int, _GroupKey]] = deque()
        self._new: dict[_GroupKey, list[Timed]] = {}
        self._static = self._by_key(source.fixed) if duration is None and rows is None else {}
        self.fixed = [
            Timed(self._row(key, members), static=any(m.static for m in members)) for key, members in self._static.items()
        ]

    def _by_key(self, solutions: Iterable[Timed]) -> dict[_GroupKey, list[Timed]]:
        found: dict[_GroupKey, dict[object, Timed]] = {}
        for solution in solutions:
            key = tuple([value(solution.row, solution) for value in self._keys])
            # A solution counts once, however many derivations it has.
            found.setdefault(key, {}).setdefault((frozenset(solution.row.items()), solution.start), solution)
        return {key: in_order(list(members.values())) for key, members in found.items()}

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """One row per group that a solution enters."""
        solutions = self.inputs[0].delta(instant)
        self._new = self._by_key(solutions) if solutions else {}
        return [self._result(key, entering, instant.time) for key, entering in self._new.items()]

    def _result(self, key: _GroupKey, entering: list[Timed], now: int) -> Timed:
        members = self._window([*self._members.get(key, ()), *entering], now)
        start = min(m.start for m in members if m.start is not None)
        used = frozenset(o for m in members for o in m.used)
        fleeting = all(m.fleeting for m in members)
        return Timed(self._row(key, [*self._static.get(key, ()), *members]), start, now, used, fleeting=fleeting)

    def _window(self, members: list[Timed], now: int) -> list[Timed]:
        if self._duration is not None:
            return [m for m in members if m.end is not None and m.end > now - self._duration]
        if self._limit is not None:
            return _last(members, self._limit)
        return members

    def _row(self, key: _GroupKey, members: Sequence[Timed]) -> Row:
        rows: list[Row] = []
        for member in members:
            row = member.row
            for made in self._rows:
                row = {**row, **made(member)}
            rows.append(row)
        (result,) = self._aggregate(rows, self._context)
        return {**{name: term for name, term in zip(self._names, key, strict=True) if term is not None}, **result}

    def commit(self) -> None:
        """The new solutions are members now."""
        super().commit()
        for key, every in self._new.items():
            entering = [s for s in every if not s.fleeting]  # what needs no triple enters again at the next instant
            if not entering:
                continue
            members = [*self._members.get(key, ()), *entering]
            self._members[key] = members if self._limit is None else _last(members, self._limit)
            if self._duration is not None:
                self._ends.append((entering[0].end or 0, key))  # instants come in order, and so do ends
        self._new = {}

    def release(self, now: int) -> None:
        """Let go what has left the window."""
        super().release(now)
        if self._duration is None:
            return
        left: set[_GroupKey] = set()
        while self._ends and self._ends[0][0] <= now + 1 - self._duration:
            left.add(self._ends.popleft()[1])
        for key in left:
            kept = [m for m in self._members.get(key, ()) if m.end is not None and m.end > now + 1 - self._duration]
            if kept:
                self._members[key] = kept
            else:
                self._members.pop(key, None)

    def size(self) -> int:
        """The members of all groups."""
        return super().size() + sum(map(len, self._members.values()))


def _last(members: list[Timed], count: int) -> list[Timed]:
    """The last by end, start, mapping (rule 12)."""
    if len(members) <= count:
        return members
    by_end: dict[int, list[Timed]] = {}
    for member in members:
        by_end.setdefault(member.end or 0, []).append(member)
    ordered = [m for end in sorted(by_end) for m in in_order(by_end[end])]
    return ordered[-count:]
