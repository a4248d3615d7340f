"""A partial match and an event that might go on with it: the conditions between the two, one after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from scepter.algebra.expressions import Exists, Expression
from scepter.algebra.query import Counting, Query, Selection
from scepter.algebra.walk import find
from scepter.insight.diagnosis.sentences import Sentences
from scepter.insight.diagnosis.trials import TooMany
from scepter.kernel.sequence.run_windows import Bounds
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.expressions import holds
from scepter.rdf.terms import Term

MOST_PAIRS = 300_000


@dataclass(frozen=True, slots=True)
class Solution:
    """Of a trial: a partial match, or events that pass a step's pattern and own filters."""

    mapping: Mapping[str, Term]
    start: int
    end: int
    events: tuple[int, ...]


Test = Callable[[Solution, Solution], bool]
Words = Callable[[Solution, Solution], str]


@dataclass(frozen=True, slots=True)
class Condition:
    """What a pair must pass: how it is called, the test, and what to say of a pair that fails it."""

    text: str
    test: Test
    refusal: Words
    ordering: bool = False
    """Whether it asks for the order of the two."""


@dataclass(slots=True)
class Attempt:
    """The most promising event for a partial match: how many conditions the pair passes."""

    passed: int
    candidate: Solution | None
    rank: tuple[bool, int, int] = (False, -1, 0)

    def missed(self, conditions: int) -> bool:
        """Whether not even this event passes so many."""
        return self.candidate is None or self.passed < conditions


@dataclass(slots=True)
class Tried:
    """What came of trying all pairs."""

    joined: tuple[str, ...]
    """The variables that partial matches and events share."""
    passed: dict[tuple[int, ...], int] = field(default_factory=dict)
    """Events -> how many conditions they pass with the partial match that takes them farthest; absent if none joins."""
    attempts: list[Attempt] = field(default_factory=list)
    """Per partial match."""

    def count(self, conditions: int) -> int:
        """How many events pass so many conditions with some partial match that they join."""
        return sum(passed >= conditions for passed in self.passed.values())


def try_pairs(
    partial: Sequence[Solution], candidates: Sequence[Solution], conditions: Sequence[Condition], later: Test
) -> Tried:
    """Try each event with each partial match it is compatible with. Raises TooMany."""
    tried = Tried(tuple(sorted(_names(partial) & _names(candidates))))
    key = _certain(partial) & _certain(candidates)
    buckets: dict[tuple[Term, ...], list[Solution]] = defaultdict(list)
    for candidate in candidates:
        buckets[_values(candidate, key)].append(candidate)
    if sum(len(buckets.get(_values(run, key), ())) for run in partial) > MOST_PAIRS:
        raise TooMany(f"more than {MOST_PAIRS:,} pairs of a partial match and an event")
    for run in partial:
        best = Attempt(0, None)
        for candidate in buckets.get(_values(run, key), ()):
            if not compatible(run.mapping, candidate.mapping):
                continue
            passed = next((n for n, c in enumerate(conditions) if not c.test(run, candidate)), len(conditions))
            tried.passed[candidate.events] = max(passed, tried.passed.get(candidate.events, 0))
            # what comes later says more than what fits but came before; then what fits best; then what is nearest
            rank = (later(run, candidate), passed, -abs(candidate.end - run.end))
            if rank > best.rank:
                best = Attempt(passed, candidate, rank)
        tried.attempts.append(best)
    return tried


def compatible(a: Mapping[str, Term], b: Mapping[str, Term]) -> bool:
    """Whether two mappings agree where both bind."""
    return all(b[name] == term for name, term in a.items() if name in b)


def _names(solutions: Sequence[Solution]) -> set[str]:
    return {name for each in solutions for name in each.mapping}


def _certain(solutions: Sequence[Solution]) -> set[str]:
    """The variables that all of them bind."""
    found = set(solutions[0].mapping) if solutions else set()
    for each in solutions:
        found &= set(each.mapping)
    return found


def _values(solution: Solution, names: set[str]) -> tuple[Term, ...]:
    return tuple(solution.mapping[name] for name in sorted(names))


# ---- the conditions


def filter_condition(written: Expression, asked: Expression, scan: int, sentences: Sentences, dataset: Dataset) -> Condition:
    """A filter with the match so far. `asked` is what is evaluated, `scan` which of a candidate's events it belongs to."""
    looks = next(find(asked, Exists), None) is not None
    plain = Context(dataset=dataset)
    contexts: dict[int, Context] = {}

    def context(candidate: Solution) -> Context:
        if not looks:
            return plain
        number = candidate.events[scan]
        if number not in contexts:
            event = sentences.excerpt.event(number)
            contexts[number] = replace(plain, graph=Graph(event.triples if event else ()))
        return contexts[number]

    def test(run: Solution, candidate: Solution) -> bool:
        return holds(asked, {**run.mapping, **candidate.mapping}, context(candidate))

    def refusal(run: Solution, candidate: Solution) -> str:
        return f"{text} {sentences.refused(asked, {**run.mapping, **candidate.mapping}, context(candidate))}"

    text = sentences.filter(written)
    return Condition(text, test, refusal)


def later_than(selection: Selection | None) -> Test:
    """Whether a candidate comes after a partial match."""
    if selection is Selection.BEFORE:
        return lambda run, candidate: candidate.start > run.end
    return lambda run, candidate: candidate.end > run.end


def order_condition(selection: Selection | None, after: str) -> Condition:
    """A candidate comes after the partial match."""
    return Condition(
        f"later than {after}", later_than(selection), lambda run, candidate: f"it fits, but does not come after {after}", True
    )


def window_condition(query: Query, bounds: Bounds, sentences: Sentences) -> Condition | None:
    """Match and candidate lie in the window; None without one, or where only the engine can tell."""
    if bounds.length is not None:
        length = bounds.length

        def inside(run: Solution, candidate: Solution) -> bool:
            if bounds.tumbling:
                return (run.end - bounds.origin) // length == (candidate.end - bounds.origin) // length
            return candidate.end - min(run.start, candidate.start) <= length

        return Condition(_within(query), inside, lambda run, candidate: _outside(bounds, query, run, candidate, sentences))
    if not isinstance(query.window, Counting) or query.partition:
        return None
    times, most = sentences.excerpt.ends(frozenset(s.iri for s in query.streams)), query.window.events

    def count(run: Solution, candidate: Solution) -> int:
        first = min(run.start, candidate.start)
        return int(np.searchsorted(times, candidate.end, side="right") - np.searchsorted(times, first, side="left"))

    return Condition(
        f"WITHIN {most} EVENTS",
        lambda run, candidate: count(run, candidate) <= most,
        lambda run, candidate: f"it fits, but makes {count(run, candidate)} events from first to last: WITHIN {most} EVENTS",
    )


def _within(query: Query) -> str:
    assert query.window is not None and not isinstance(query.window, Counting)
    return f"WITHIN {query.window.duration}"


def _outside(bounds: Bounds, query: Query, run: Solution, candidate: Solution, sentences: Sentences) -> str:
    if bounds.tumbling:
        assert bounds.length is not None
        window = (run.end - bounds.origin) // bounds.length * bounds.length + bounds.origin
        ends = sentences.time(window + bounds.length)
        return f"it fits, but comes after the window of the match closes at {ends}: {_within(query)}"
    first = min(run.start, candidate.start)
    assert bounds.length is not None
    missing = sentences.duration(candidate.end - first - bounds.length)
    return f"it fits, but the match would last too long, from {sentences.time(first)}: {_within(query)}, by {missing}"
