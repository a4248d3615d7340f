"""A sequence cut down: to its first steps, or to the pattern of one (docs/decisions/0015)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from scepter.algebra import query as algebra
from scepter.algebra.expressions import Constant, Expression, IterationAggregate, Variable
from scepter.algebra.query import Atom, Conjunction, Iteration, Negation, Optional, Query, Scan, Select, Selection, Step
from scepter.algebra.scope import in_scope
from scepter.algebra.walk import Algebra, find, rewrite
from scepter.insight.diagnosis.focus import Focus
from scepter.insight.diagnosis.pairs import Solution
from scepter.insight.diagnosis.trials import Trials
from scepter.rdf.terms import XSD, Literal
from scepter.runtime.matches import Match

_NEVER = Constant(Literal("false", XSD + "boolean"))
_MOST_CANDIDATES = 100_000


@dataclass(frozen=True, slots=True)
class Cuts:
    """The cuts of one query, answered by the engine."""

    query: Query
    trials: Trials
    focus: Focus = Focus()  # noqa: RUF009 - frozen
    """Only what does not contradict its key is found."""

    def candidates(self, scans: Sequence[Scan]) -> list[Solution]:
        """What scans of one time find, whatever came before. (As long as a match: the events of each scan, in order.)"""
        named = [replace(scan, label=str(position)) for position, scan in enumerate(scans)]
        atom = _together(named)
        alone = replace(self.query, result=_columns([atom]), window=None, partition=(), solutions=False)
        matches = self.trials.matches(replace(alone, pattern=algebra.Sequence((Step(atom),))), _MOST_CANDIDATES)
        labels = [scan.label for scan in named]
        return [_solution(match, labels) for match in matches if self.focus.keeps(match.bindings)]

    def entering(self, step: int, branches: Sequence[Sequence[Scan]]) -> list[set[tuple[int, ...]]]:
        """Per branch of a step's atom, the events (of an iteration: the first) with which partial matches go through it."""
        named = [
            [replace(scan, label=f"{number}.{position}") for position, scan in enumerate(scans)]
            for number, scans in enumerate(branches)
        ]
        conjunctions = [_together(scans) for scans in named]
        matches = self.trials.matches(self._cut(step, reduce(algebra.Disjunction, conjunctions)))
        found: list[set[tuple[int, ...]]] = [set() for _ in branches]
        for match in filter(self._kept, matches):
            events = match.events
            for number, scans in enumerate(named):
                if all(scan.label in events for scan in scans):
                    found[number].add(tuple(_number(events[scan.label][0]) for scan in scans))
        return found

    def partial(self, step: int) -> list[tuple[Solution, Match]]:
        """The partial matches that have been through a step that selects events."""
        atom = self.query.pattern.steps[step].atom
        cut = self._cut(step, atom.scan if isinstance(atom, Optional) else atom)
        return [(_solution(match, ()), match) for match in filter(self._kept, self.trials.matches(cut))]

    def _kept(self, match: Match) -> bool:
        return self.focus.keeps(match.bindings)

    def matches(self) -> list[Match]:
        """The matches of the whole query."""
        steps = self.query.pattern.steps
        return self.trials.matches(replace(self.query, result=self._result([step.atom for step in steps])))

    def _cut(self, step: int, last: Atom) -> Query:
        steps = [*self.query.pattern.steps[:step], replace(self.query.pattern.steps[step], atom=last)]
        atoms = [each.atom for each in steps]
        # SPAseq rule 14: a GPM that is cut away still says which events belong to a partition
        kept = [Step(Negation(replace(scan, filters=(_NEVER,)))) for scan in self._after(step)] if self.query.partition else []
        if kept:
            steps = [*kept, replace(steps[0], selection=Selection.NEXT), *steps[1:]]
            steps[1:] = [replace(each, selection=each.selection or Selection.NEXT) for each in steps[1:]]
        return replace(self.query, result=self._result(atoms), pattern=algebra.Sequence(tuple(steps)))

    def _after(self, step: int) -> Iterator[Scan]:
        for later in self.query.pattern.steps[step + 1 :]:
            yield from find(later.atom, Scan)

    def _result(self, atoms: Sequence[Atom]) -> Select:
        """All variables, and the aggregates over iterations that filters ask for, under names of their own."""
        parts = {atom.scan.label for atom in atoms if isinstance(atom, Iteration)}
        asked = [(Variable(hidden(node)), node) for node in self._aggregates() if node.part in parts]
        return Select((*_columns(atoms).columns, *asked))

    def _aggregates(self) -> list[IterationAggregate]:
        conditions = [condition for scan in find(self.query.pattern, Scan) for condition in scan.filters]
        return list(dict.fromkeys(node for condition in conditions for node in find(condition, IterationAggregate)))


def hidden(aggregate: IterationAggregate) -> str:
    """The name of an aggregate's column; no user can write it."""
    return f"{aggregate.function} {aggregate.part} {aggregate.variable.name}"


def with_columns(condition: Expression) -> Expression:
    """A condition that reads aggregates from their columns."""

    def column(node: Algebra) -> Algebra:
        return Variable(hidden(node)) if isinstance(node, IterationAggregate) else node

    return rewrite(condition, column)


def _together(scans: Sequence[Scan]) -> Atom:
    atom: Atom = scans[0]
    for scan in scans[1:]:
        atom = Conjunction(atom, scan)
    return atom


def _columns(atoms: Sequence[Atom]) -> Select:
    names: dict[str, None] = {}
    for atom in atoms:
        if not isinstance(atom, Negation):
            for scan in find(atom, Scan):
                names |= dict.fromkeys(sorted(n for n in in_scope(scan.pattern) if not n.startswith("_:")))
    return Select(tuple((Variable(name), None) for name in names))


def _solution(match: Match, labels: Sequence[str]) -> Solution:
    events = match.events if labels else {}
    return Solution(match.bindings, match.start, match.end, tuple(_number(events[label][0]) for label in labels))


def _number(shown: object) -> int:
    assert isinstance(shown, int)  # as Trials shows events
    return shown
