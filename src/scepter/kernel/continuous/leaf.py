"""A basic graph pattern over occurrences and static triples, joined by the delta rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import BGP, Node
from scepter.kernel.continuous.occurrences import Occurrence, PatternMemory, Positions, Row, Solution
from scepter.kernel.sparql.dataset import Graph
from scepter.rdf.terms import Term, Triple


class Reach(Enum):
    """Which solutions a look-up may give."""

    ALL = "all"
    OLD = "old"
    """Those known before the step."""
    STATIC = "static"
    """The timeless ones."""


@dataclass(slots=True)
class Clock:
    """The number of the step at work, shared by all nodes of a query."""

    round: int = 0


@dataclass(frozen=True, slots=True)
class _Step:
    """One triple pattern in a join order: what is bound when its turn comes, and what it binds."""

    memory: PatternMemory
    positions: Positions
    names: tuple[str, ...]
    """The variables at those positions."""
    free: tuple[tuple[str, int], ...]
    before: bool
    """Whether it stands before the pivot, so that it may be matched by what is new."""
    static: bool
    """Whether any static triple matches it."""


class Leaf:
    """The memories of one basic graph pattern and the joins between them."""

    def __init__(self, pattern: BGP, static: Graph, clock: Clock) -> None:
        self.memories = [PatternMemory(triple) for triple in pattern.triples]
        self.names = frozenset(name for memory in self.memories for name in memory.variables)
        self._static = static
        self._clock = clock
        self._fresh: list[list[Occurrence]] = [[] for _ in self.memories]
        predicates = [m.pattern.predicate for m in self.memories]
        self._others = [i for i, p in enumerate(predicates) if isinstance(p, Variable)]
        """The patterns that match any predicate."""
        self._by_predicate = {
            p.term: [i for i, q in enumerate(predicates) if isinstance(q, Variable) or q.term == p.term]
            for p in predicates
            if isinstance(p, Constant)
        }
        self._plans: dict[tuple[frozenset[str], int | None], tuple[_Step, ...]] = {}

    def add(self, occurrence: Occurrence) -> None:
        """Take a new occurrence into the memories of the patterns that it matches."""
        triple = occurrence.triple
        for number in self._by_predicate.get(triple.predicate, self._others):
            memory = self.memories[number]
            if memory.matches(triple):
                memory.add(occurrence)
                occurrence.homes.append(memory)
                self._fresh[number].append(occurrence)

    def refresh(self) -> None:
        """What is new counts in look-ups from now on; nobody asks which solutions are new."""
        for fresh in self._fresh:
            fresh.clear()

    def delta(self) -> list[Solution]:
        """The solutions that what is new completes, each choice of occurrences once."""
        found: list[Solution] = []
        for number, fresh in enumerate(self._fresh):
            variables = self.memories[number].variables
            for occurrence in fresh:
                row = {name: occurrence.triple[i] for name, i in variables.items()}
                found += self._join(self._plan(frozenset(row), number), [Solution(row, (occurrence,))], None)
            fresh.clear()
        return found

    def timeless(self) -> list[Solution]:
        """The solutions of static triples alone."""
        return list(self.extend({}, Reach.STATIC))

    def extend(self, row: Row, reach: Reach) -> Iterator[Solution]:
        """The solutions compatible with a row, merged with it; their occurrences are the pattern's own."""
        bound = frozenset(name for name in self.names if name in row)
        return iter(self._join(self._plan(bound, None), [Solution(row)], reach))

    def _join(self, steps: Sequence[_Step], solutions: list[Solution], reach: Reach | None) -> list[Solution]:
        """Without a reach: steps before the pivot see everything, those after it what is old."""
        now = self._clock.round
        for step in steps:
            if not solutions:
                return solutions
            limit = now if reach is Reach.OLD or (reach is None and not step.before) else now + 1
            joined: list[Solution] = []
            for row, occurrences in solutions:
                if reach is not Reach.STATIC:
                    key = tuple([row[name] for name in step.names])
                    for occurrence in step.memory.find(step.positions, key):
                        if occurrence.round < limit:
                            extended = _bound(row, step.free, occurrence.triple)
                            joined.append(Solution(extended, (*occurrences, occurrence)))
                if step.static:
                    found = self._matched(step, row)
                    joined += [Solution(_bound(row, step.free, triple), occurrences) for triple in found]
            solutions = joined
        return solutions

    def _matched(self, step: _Step, row: Row) -> Iterator[Triple]:
        pattern = step.memory.pattern
        found = self._static.match(_term(pattern.subject, row), _term(pattern.predicate, row), _term(pattern.object, row))
        return (triple for triple in found if step.memory.repeats(triple))

    def _plan(self, bound: frozenset[str], pivot: int | None) -> tuple[_Step, ...]:
        key = bound, pivot
        if key not in self._plans:
            self._plans[key] = self._ordered(set(bound), pivot)
        return self._plans[key]

    def _ordered(self, known: set[str], pivot: int | None) -> tuple[_Step, ...]:
        left = [number for number in range(len(self.memories)) if number != pivot]
        steps: list[_Step] = []
        while left:
            best = max(left, key=lambda number: (*self._weight(number, known), -number))
            left.remove(best)
            memory = self.memories[best]
            bound = [(name, i) for name, i in memory.variables.items() if name in known]
            free = tuple((name, i) for name, i in memory.variables.items() if name not in known)
            positions, names = tuple(i for _, i in bound), tuple(name for name, _ in bound)
            before = pivot is not None and best < pivot
            steps.append(_Step(memory, positions, names, free, before, self._static_count(best) > 0))
            known |= memory.variables.keys()
        return tuple(steps)

    def _weight(self, number: int, known: set[str]) -> tuple[bool, int, int]:
        """What shares a variable first, then what leaves least to chance, then what has fewer static triples."""
        memory = self.memories[number]
        pattern = memory.pattern
        connected = not memory.variables or any(name in known for name in memory.variables)
        weights = ((pattern.subject, 4), (pattern.object, 3), (pattern.predicate, 1))
        certain = sum(w for node, w in weights if not isinstance(node, Variable) or node.name in known)
        return connected, certain, -self._static_count(number)

    def _static_count(self, number: int) -> int:
        pattern = self.memories[number].pattern
        return self._static.count(_term(pattern.subject, {}), _term(pattern.predicate, {}), _term(pattern.object, {}))

    def sizes(self) -> int:
        """How many entries the memories hold."""
        return sum(map(len, self.memories))


def _term(node: Node, row: Row) -> Term | None:
    return node.term if isinstance(node, Constant) else row.get(node.name)


def _bound(row: Row, free: tuple[tuple[str, int], ...], triple: Triple) -> Row:
    if not free:
        return row
    extended = dict(row)
    for name, i in free:
        extended[name] = triple[i]
    return extended
