"""The SPARQL operators over solutions that carry occurrences: in each step, from what is new below to what is new above.

Every solution that a step adds ends at the step's instant; the timeless ones are there from the start. OPTIONAL and MINUS judge
their left side by what is known when it completes, and keep nothing of it (spec/50-sparkwave rule 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from scepter.algebra.expressions import Expression, Variable
from scepter.algebra.patterns import Pattern
from scepter.algebra.scope import certain, in_scope
from scepter.kernel.continuous.leaf import Clock, Leaf, Reach
from scepter.kernel.continuous.occurrences import Row, Solution, Stored
from scepter.kernel.sparql.aggregates import value_or_error
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import Test, compile_condition, compile_expression
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.rdf.terms import Term, Triple
from scepter.rdf.values import ExpressionError, order_key


class Operator(Protocol):
    """A node of the query at work."""

    def delta(self) -> list[Solution]:
        """The solutions that the step adds; to be asked once per step."""
        ...

    def timeless(self) -> list[Solution]:
        """The solutions of static data alone."""
        ...


class Surroundings(Protocol):
    """What expressions see besides their solution."""

    def context(self, solution: Solution) -> Context:
        """For a solution: its graph is what is known when it completes."""
        ...


@dataclass(slots=True, eq=False)
class _Entry:
    key: tuple[Term, ...]
    solution: Solution
    round: int


class SolutionMemory(Stored):
    """An operator's solutions, kept and hashed by the variables that both sides of a join always bind."""

    def __init__(self, operator: Operator, own: Pattern, other: Pattern, clock: Clock) -> None:
        shared = in_scope(own) & in_scope(other)
        sure = certain(own) & certain(other) & shared
        self._operator = operator
        self._clock = clock
        self._keys = tuple(sorted(sure))
        self._loose = tuple(sorted(shared - sure))
        self._buckets: dict[tuple[Term, ...], dict[_Entry, None]] = {}
        for solution in operator.timeless():
            self._keep(solution)

    def __len__(self) -> int:
        return sum(map(len, self._buckets.values()))

    def _keep(self, solution: Solution) -> None:
        entry = _Entry(tuple([solution.row[name] for name in self._keys]), solution, self._clock.round)
        self._buckets.setdefault(entry.key, {})[entry] = None
        for occurrence in solution.occurrences:
            occurrence.dependents[entry] = self

    def discard(self, entry: object) -> None:
        """Let go of a solution, and be forgotten by its other occurrences."""
        assert isinstance(entry, _Entry)
        bucket = self._buckets[entry.key]
        del bucket[entry]
        if not bucket:
            del self._buckets[entry.key]
        for occurrence in entry.solution.occurrences:
            occurrence.dependents.pop(entry, None)

    def refresh(self) -> None:
        """Take in what the step adds."""
        self.delta()

    def delta(self) -> list[Solution]:
        """Take in what the step adds, and give it."""
        fresh = self._operator.delta()
        for solution in fresh:
            self._keep(solution)
        return fresh

    def timeless(self) -> list[Solution]:
        """The timeless solutions."""
        return [e.solution for bucket in self._buckets.values() for e in bucket if not e.solution.occurrences]

    def partners(self, row: Row, reach: Reach) -> Iterator[Solution]:
        """The solutions compatible with a row, as they are."""
        key = tuple([row[name] for name in self._keys])
        now = self._clock.round
        for entry in self._buckets.get(key, ()):
            if reach is Reach.STATIC and entry.solution.occurrences:
                continue
            if reach is Reach.OLD and entry.round >= now and entry.solution.occurrences:
                continue
            own = entry.solution.row
            if not any(name in row and name in own and row[name] != own[name] for name in self._loose):
                yield entry.solution

    def extend(self, row: Row, reach: Reach) -> Iterator[Solution]:
        """The solutions compatible with a row, merged with it."""
        return (Solution({**row, **own}, occurrences) for own, occurrences in self.partners(row, reach))


Side: TypeAlias = Leaf | SolutionMemory
"""What one side of a join looks up in the other."""


@dataclass(frozen=True, slots=True)
class JoinOperator:
    """Both sides, compatible."""

    left: Side
    right: Side

    def delta(self) -> list[Solution]:
        """New left with any right, old left with new right."""
        left, right = self.left.delta(), self.right.delta()
        found = [_joined(one, other) for one in left for other in self.right.extend(one.row, Reach.ALL)]
        found += [_joined(one, other) for one in right for other in self.left.extend(one.row, Reach.OLD)]
        return found

    def timeless(self) -> list[Solution]:
        """Timeless on both sides."""
        return [_joined(one, other) for one in self.left.timeless() for other in self.right.extend(one.row, Reach.STATIC)]


def _joined(one: Solution, merged: Solution) -> Solution:
    return Solution(merged.row, one.occurrences + merged.occurrences)


@dataclass(frozen=True, slots=True)
class LeftJoinOperator:
    """OPTIONAL: with what is there when the left side completes, else alone. A timeless left side takes timeless partners
    only (spec/20-ep-sparql rule 1)."""

    left: Operator
    right: Side
    condition: Test | None
    surroundings: Surroundings

    def delta(self) -> list[Solution]:
        """Each new left solution with its partners, or alone."""
        left = self.left.delta()
        self.right.refresh()
        return [found for one in left for found in self._options(one, Reach.ALL)]

    def timeless(self) -> list[Solution]:
        """The timeless left solutions."""
        return [found for one in self.left.timeless() for found in self._options(one, Reach.STATIC)]

    def _options(self, one: Solution, reach: Reach) -> list[Solution]:
        found = [_joined(one, other) for other in self.right.extend(one.row, reach)]
        if self.condition is not None:
            found = [each for each in found if self.condition(each.row, self.surroundings.context(each))]
        return found or [one]


@dataclass(frozen=True, slots=True)
class MinusOperator:
    """MINUS: by what is there when the left side completes."""

    left: Operator
    right: SolutionMemory

    def delta(self) -> list[Solution]:
        """The new left solutions that nothing takes away."""
        left = self.left.delta()
        self.right.refresh()
        return [one for one in left if self._stays(one, Reach.ALL)]

    def timeless(self) -> list[Solution]:
        """The timeless left solutions that nothing timeless takes away."""
        return [one for one in self.left.timeless() if self._stays(one, Reach.STATIC)]

    def _stays(self, one: Solution, reach: Reach) -> bool:
        return all(one.row.keys().isdisjoint(other.row) for other in self.right.partners(one.row, reach))


@dataclass(frozen=True, slots=True)
class UnionOperator:
    """Either side."""

    sides: tuple[Operator, ...]

    def delta(self) -> list[Solution]:
        """What is new on any side."""
        return [solution for side in self.sides for solution in side.delta()]

    def timeless(self) -> list[Solution]:
        """What is timeless on any side."""
        return [solution for side in self.sides for solution in side.timeless()]


@dataclass(frozen=True, slots=True)
class TimelessOperator:
    """Inline data and named graphs: what never changes."""

    rows: tuple[Row, ...]

    @classmethod
    def of(cls, pattern: Pattern, context: Context) -> TimelessOperator:
        """The solutions of a pattern that reads no stream."""
        return cls(tuple(compile_pattern(pattern)(context)))

    def delta(self) -> list[Solution]:
        """Nothing, ever."""
        return []

    def timeless(self) -> list[Solution]:
        """All of it."""
        return [Solution(row) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Stage:
    """An operator that makes solutions of one side's, those of a step together."""

    operator: Operator
    change: Callable[[Iterable[Solution]], list[Solution]]

    def delta(self) -> list[Solution]:
        """Of what is new."""
        return self.change(self.operator.delta())

    def timeless(self) -> list[Solution]:
        """Of what is timeless."""
        return self.change(self.operator.timeless())


def filtered(condition: Expression, surroundings: Surroundings) -> Callable[[Iterable[Solution]], list[Solution]]:
    """FILTER."""
    test = compile_condition(condition)
    return lambda solutions: [each for each in solutions if test(each.row, surroundings.context(each))]


def extended(
    chain: Sequence[tuple[Variable, Expression]], surroundings: Surroundings
) -> Callable[[Iterable[Solution]], list[Solution]]:
    """BINDs, one after the other: an error leaves the variable unbound."""
    compiled = [(variable.name, compile_expression(expression)) for variable, expression in chain]

    def extend(solutions: Iterable[Solution]) -> list[Solution]:
        found: list[Solution] = []
        for solution in solutions:
            context, row = surroundings.context(solution), dict(solution.row)
            for name, value in compiled:
                if (term := value_or_error(value, row, context)) is not None:
                    row[name] = term
            found.append(Solution(row, solution.occurrences))
        return found

    return extend


def projected(variables: tuple[Variable, ...]) -> Callable[[Iterable[Solution]], list[Solution]]:
    """Keep some variables."""
    names = [variable.name for variable in variables]
    return lambda solutions: [Solution({n: row[n] for n in names if n in row}, found) for row, found in solutions]


def once(solutions: Iterable[Solution]) -> list[Solution]:
    """Each match once: its mapping and its set of occurrences."""
    found = {(frozenset(s.row.items()), frozenset(s.occurrences)): s for s in solutions}
    return list(found.values())


def distinct(solutions: Iterable[Solution]) -> list[Solution]:
    """Each row once per interval."""
    found = {(frozenset(s.row.items()), _interval(s)): s for s in solutions}
    return list(found.values())


def _interval(solution: Solution) -> tuple[int, int] | None:
    return (solution.start, solution.end) if solution.occurrences else None


def sliced(offset: int, limit: int | None) -> Callable[[Iterable[Solution]], list[Solution]]:
    """OFFSET and LIMIT, among the solutions of one instant, in a fixed order."""
    stop = None if limit is None else offset + limit
    return lambda solutions: list(solutions)[offset:stop]


def ordered(
    conditions: tuple[tuple[Expression, bool], ...], surroundings: Surroundings
) -> Callable[[Iterable[Solution]], list[Solution]]:
    """ORDER BY, among the solutions of one instant; ties by interval and row, so that LIMIT does not depend on arrival."""
    compiled = [(compile_expression(expression), descending) for expression, descending in conditions]

    def order(solutions: Iterable[Solution]) -> list[Solution]:
        found = sorted(solutions, key=tie)
        for expression, descending in reversed(compiled):
            values = [value_or_error(expression, s.row, surroundings.context(s)) for s in found]
            keys = {id(s): order_key(v) for s, v in zip(found, values, strict=True)}
            found = sorted(found, key=lambda s: keys[id(s)], reverse=descending)
        return found

    return order


def tie(solution: Solution) -> tuple[int, list[tuple[str, str]], list[tuple[int, int, str]]]:
    """A fixed order of the solutions of one instant: by what a match is, its mapping and its set of occurrences."""
    row = sorted((name, str(term)) for name, term in solution.row.items())
    occurrences = sorted({(o.start, o.end, " ".join(map(str, o.triple))) for o in solution.occurrences})
    return (occurrences[0][0] if occurrences else 0), row, occurrences


def latest_time(solution: Solution, triple: Triple) -> int:
    """The time of a match's latest occurrence of a triple; ExpressionError where it has none."""
    times = [o.end for o in solution.occurrences if o.triple == triple]
    if not times:
        raise ExpressionError(f"{' '.join(map(str, triple))} has no time in this match")
    return max(times)
