"""Operators of one side: FILTER, BIND, projection, order, DISTINCT, LIMIT."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence

from scepter.kernel.sparql.context import Row
from scepter.kernel.timed.operators import Operator
from scepter.kernel.timed.solutions import Instant, Key, Timed, distinct, within
from scepter.rdf.terms import Term
from scepter.rdf.values import OrderKey, order_key


class Shaped(Operator):
    """Solutions made from the solutions of one input at one instant, alone or together."""

    def __init__(self, source: Operator) -> None:
        super().__init__(source)
        self.timed = source.timed
        self.fleeting = source.fleeting

    @abstractmethod
    def shape(self, solutions: Sequence[Timed]) -> Sequence[Timed]:
        """What becomes of the solutions that end together (or have no time)."""

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """The new solutions, shaped."""
        solutions = self.inputs[0].delta(instant)
        return self.shape(solutions) if solutions else ()


class OneByOne(Shaped):
    """Shapes each solution for itself, different ones differently: what is more on its input is more of it."""

    def __init__(self, source: Operator) -> None:
        super().__init__(source)
        self.growable = source.growable

    def grow(self, more: Instant) -> Sequence[Timed]:
        """What is more, shaped."""
        solutions = self.inputs[0].grow(more)
        return self.shape(solutions) if solutions else ()


class Filtered(OneByOne):
    """FILTER; `bound` is what its conjuncts say of the duration."""

    def __init__(self, source: Operator, condition: Callable[[Row, Timed], bool], bound: int | None) -> None:
        super().__init__(source)
        self._condition = condition
        self._bound = bound
        self.fixed = self.shape(source.fixed)

    def shape(self, solutions: Sequence[Timed]) -> Sequence[Timed]:
        """Those for which the condition holds."""
        return [s for s in within(solutions, self._bound) if self._condition(s.row, s)]


class Extended(OneByOne):
    """A chain of BINDs; an error leaves its variable unbound.

    A value that is another each time (UUID, say) is computed once per solution of an instant, however often it is asked for.
    """

    def __init__(self, source: Operator, row: Callable[[Timed], Row], *, volatile: bool) -> None:
        super().__init__(source)
        self._row = row
        self._known: dict[Key, Row] | None = {} if volatile else None
        self.fixed = self.shape(source.fixed)

    def shape(self, solutions: Sequence[Timed]) -> Sequence[Timed]:
        """Each with the values."""
        return [solution.with_row(self._computed(solution)) for solution in solutions]

    def _computed(self, solution: Timed) -> Row:
        if self._known is None:
            return self._row(solution)
        key = solution.key
        if key not in self._known:
            self._known[key] = self._row(solution)
        return self._known[key]

    def commit(self) -> None:
        """Values are kept for the instant."""
        super().commit()
        if self._known:
            self._known.clear()


class Projected(OneByOne):
    """Some variables stay visible. The others get names of their own, since solutions that differ in them are not one."""

    def __init__(self, source: Operator, names: Iterable[str], mark: str) -> None:
        super().__init__(source)
        self._names = frozenset(names)
        self._mark = mark
        self.fixed = self.shape(source.fixed)

    def shape(self, solutions: Sequence[Timed]) -> Sequence[Timed]:
        """Each with its hidden part renamed."""
        return [
            s.with_row({name if name in self._names else self._mark + name: term for name, term in s.row.items()})
            for s in solutions
        ]


class Unique(Shaped):
    """DISTINCT: what can be seen, once per interval."""

    def __init__(self, source: Operator) -> None:
        super().__init__(source)
        self.fixed = self.shape(source.fixed)

    def shape(self, solutions: Sequence[Timed]) -> Sequence[Timed]:
        """Each once, without what is hidden."""
        return distinct(s.with_row({name: t for name, t in s.row.items() if not name.startswith("_:")}) for s in solutions)


class Ordered(Shaped):
    """ORDER BY, among the solutions of one end (rule 13)."""

    def __init__(self, source: Operator, conditions: Sequence[tuple[Callable[[Row, Timed], Term | None], bool]]) -> None:
        super().__init__(source)
        self._conditions = conditions
        self.fixed = self.shape(source.fixed)

    def shape(self, solutions: Sequence[Timed]) -> Sequence[Timed]:
        """In order; ties in the order of results."""
        keyed = [(s, [order_key(value(s.row, s)) for value, _ in self._conditions]) for s in in_order(solutions)]
        for i, (_, descending) in reversed(list(enumerate(self._conditions))):
            keyed.sort(key=_ith(i), reverse=descending)  # stable, so the first condition is sorted by last
        return [s for s, _ in keyed]


def _ith(i: int) -> Callable[[tuple[Timed, list[OrderKey]]], OrderKey]:
    return lambda entry: entry[1][i]


class Sliced(Shaped):
    """OFFSET and LIMIT, among the solutions of one end; without ORDER BY, in the order of results."""

    def __init__(self, source: Operator, offset: int, limit: int | None, *, ordered: bool) -> None:
        super().__init__(source)
        self._slice = slice(offset, None if limit is None else offset + limit)
        self._ordered = ordered
        self.fixed = self.shape(source.fixed)

    def shape(self, solutions: Sequence[Timed]) -> Sequence[Timed]:
        """The slice."""
        return (solutions if self._ordered else in_order(solutions))[self._slice]


def in_order(solutions: Sequence[Timed]) -> list[Timed]:
    """By start, then by what can be seen, then by what cannot: the same whatever order they were found in."""
    if len(solutions) < 2:
        return list(solutions)
    return sorted(solutions, key=result_order)


def result_order(solution: Timed) -> tuple[int, list[tuple[str, str]], list[tuple[str, str]]]:
    """What solutions of one end are ordered by."""
    shown = sorted((name, str(term)) for name, term in solution.row.items() if not name.startswith("_:"))
    hidden = sorted((name, str(term)) for name, term in solution.row.items() if name.startswith("_:"))
    return solution.start or 0, shown, hidden
