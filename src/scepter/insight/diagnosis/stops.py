"""What stops the partial matches of a sequence: those that came farthest, or the nearest misses of what was asked about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scepter.algebra.query import Negation, Optional, Scan, Selection
from scepter.insight.diagnosis.cuts import with_columns
from scepter.insight.diagnosis.model import Stage, Stopped
from scepter.insight.diagnosis.pairs import Attempt, Condition, Solution, Tried, compatible
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import holds
from scepter.physical.sequence_plan import Branch
from scepter.rdf.terms import Term
from scepter.runtime.matches import Match

if TYPE_CHECKING:
    from scepter.insight.diagnosis.sequences import Walk

_SHOWN = 3
_NO_FILTERS = Branch((), (), (), ())
_Rank = tuple[int, tuple[bool, int, int]]


@dataclass(frozen=True, slots=True)
class Before:
    """The partial matches that a step may go on with."""

    partial: tuple[Solution, ...]
    matches: tuple[Match, ...]
    """Their events."""
    steps: tuple[int, ...]
    """Per partial match, the last step it has been through."""
    begins: bool
    """Whether the step may also begin a match."""
    names: str
    negated: tuple[Scan, ...]


@dataclass(frozen=True, slots=True)
class Went:
    """How a branch of a step went."""

    scans: tuple[Scan, ...]
    own: tuple[Stage, ...]
    candidates: int
    conditions: tuple[Condition, ...] = ()
    tried: Tried | None = None
    """All partial matches, with what is counted of the candidates."""
    onward: Tried | None = None
    """Those that hold the event asked about, with all candidates."""
    holding: tuple[int, ...] = ()
    """Which these are."""


@dataclass(frozen=True, slots=True)
class Stops:
    """Speaks about a walk through a sequence that is over."""

    walk: Walk

    # ---- nothing matched

    def farthest(self, last: int) -> list[Stopped]:
        """Some of the partial matches that came through the last step that any came through."""
        walk = self.walk
        needed = [n for n in range(last + 1, len(walk.links)) if not isinstance(walk.links[n].atom, (Negation, Optional))]
        found = walk.partial[last]
        if not needed:
            return [self._by_end(*each) for each in found[:_SHOWN]]
        number = needed[0]
        before = walk.before(number)
        if before.begins:  # all before it is optional: its pairs with what was taken were not tried
            reason = f"nothing goes on with it by {walk.naming.atom(walk.links[number].atom)}"
            return [self._told(*each, reason) for each in found[:_SHOWN]]
        offset = before.steps.index(last)
        ranked: list[tuple[tuple[bool, int, int], int, Went, Attempt]] = []
        for went in walk.went[number]:
            assert went.tried is not None
            for at in range(len(found)):
                attempt = went.tried.attempts[offset + at]
                ranked.append((attempt.rank, -at, went, attempt))
        ranked.sort(key=lambda each: each[:2], reverse=True)
        told: dict[int, Stopped] = {}
        for _, at, went, attempt in ranked:
            if -at not in told and len(told) < _SHOWN:
                solution, match = found[-at]
                told[-at] = self._told(solution, match, self._reason(number, before, went, attempt, solution, match))
        return list(told.values())

    def trailing(self) -> list[Scan]:
        """The negated and optional scans that a match ends with."""
        links, found = self.walk.links, list[Scan]()
        for link in reversed(links):
            if not isinstance(link.atom, (Negation, Optional)):
                break
            found.insert(0, link.atom.scan)
            if isinstance(link.atom, Optional):
                break
        return found if isinstance(links[-1].atom, (Negation, Optional)) else []

    # ---- what was asked about

    def misses(self, matches: Sequence[Match]) -> list[Stopped]:
        """The nearest misses, whatever else matched: partial matches with the event or the key that do not go on, and those
        that the event does not go on with."""
        walk = self.walk
        found: list[tuple[_Rank, Stopped]] = []
        for number, branches in walk.went.items():
            before, on = walk.before(number), _Continued(walk.partial[number])
            for went in branches:
                found += self._of_branch(number, before, went, on)
        positive = [number for number in walk.partial if not isinstance(walk.links[number].atom, Optional)]
        if self.trailing() and positive:
            complete = _Continued([(Solution(m.bindings, m.start, m.end, ()), m) for m in matches])
            for solution, match in walk.partial[positive[-1]]:
                if walk.focus.holds(_numbers(match)) and not complete.has(solution, match, ()):
                    found.append(((len(walk.links), (True, 0, solution.end)), self._by_end(solution, match)))
        found.sort(key=lambda each: each[0], reverse=True)
        return [stopped for _, stopped in found[: 2 * _SHOWN]]

    def _of_branch(self, number: int, before: Before, went: Went, on: _Continued) -> Iterator[tuple[_Rank, Stopped]]:
        labels = [scan.label for scan in went.scans]
        focus = self.walk.focus
        if went.tried is not None and focus.event is not None:
            for run, match, attempt in zip(before.partial, before.matches, went.tried.attempts, strict=True):
                if attempt.candidate is None or focus.event in _numbers(match) or _too_early(went, attempt):
                    continue
                if not on.has(run, match, labels, attempt.candidate.events):
                    reason = self._reason(number, before, went, attempt, run, match)
                    yield (number, attempt.rank), self._told(run, match, reason)
        onward = went.onward if focus.event is not None else went.tried
        if onward is None:
            return
        holding = went.holding if focus.event is not None else range(len(before.partial))
        for at, attempt in zip(holding, onward.attempts, strict=True):
            run, match = before.partial[at], before.matches[at]
            if not on.has(run, match, labels):
                yield (number, attempt.rank), self._told(run, match, self._reason(number, before, went, attempt, run, match))

    # ---- reasons

    def _told(self, solution: Solution, match: Match, reason: str) -> Stopped:
        return Stopped(self.walk.naming.selected(match), self.walk.sentences.bindings(solution.mapping), reason)

    def _reason(self, number: int, before: Before, went: Went, attempt: Attempt, run: Solution, match: Match) -> str:
        name = " & ".join(map(self.walk.naming.name, went.scans))
        sentences, candidate = self.walk.sentences, attempt.candidate
        if candidate is None:
            stopper = next((stage for stage in went.own if not stage.count), None)
            if stopper is not None and self.walk.focus.event is None:
                return f"no event passes {name}: {stopper.condition}"
            assert went.tried is not None
            shared = {v: run.mapping[v] for v in went.tried.joined if v in run.mapping}
            return f"none of the {went.candidates} found by {name} has {sentences.bindings(shared)}"
        if _numbers(match).issuperset(candidate.events):  # with nothing but itself
            joined = ", ".join(f"?{name}" for name in went.tried.joined) if went.tried is not None else ""
            return f"no later event joins it by {name}{f' on {joined}' if joined else ''}"
        event = ", ".join(sentences.event(e, candidate.end) for e in candidate.events)
        if attempt.passed < len(went.conditions):
            return f"{name} = {event}: {went.conditions[attempt.passed].refusal(run, candidate)}"
        return f"{name} = {event}: it fits, but {self._between(number, before, run, candidate)}"

    def _between(self, number: int, before: Before, run: Solution, candidate: Solution) -> str:
        walk = self.walk
        witness = self._refuser(before.negated, run, candidate.end)
        if witness is not None:
            return f"{witness} stands between"
        if walk.links[number].selection is Selection.STRICT:
            between = walk.sentences.excerpt.between(walk.naming.streams(), run.end, candidate.end)
            if between:
                more = f" and {len(between) - 1} more" if len(between) > 1 else ""
                return f"{walk.sentences.event(between[0])}{more} stands between, and ',' asks for the very next event"
        return f"not with the conditions left: {walk.last_condition(number, before, _NO_FILTERS, ()) or 'of the query'}"

    def _by_end(self, solution: Solution, match: Match) -> Stopped:
        witness = self._refuser(tuple(self.trailing()), solution, None)
        reason = f"{witness} comes before the window closes" if witness else "the window closes with a negated event in it"
        return self._told(solution, match, reason)

    def _refuser(self, negated: Sequence[Scan], run: Solution, before: int | None) -> str | None:
        """The first event after a partial match that a negated scan accepts."""
        walk = self.walk
        for scan in negated:
            for candidate in sorted(walk.cuts.candidates([replace(scan, filters=())]), key=lambda c: c.end):
                joined = {**run.mapping, **candidate.mapping}
                context = Context(dataset=walk.trials.background.dataset)
                inside = run.end < candidate.end and (before is None or candidate.end < before)
                accepted = inside and compatible(run.mapping, candidate.mapping)
                if accepted and all(holds(with_columns(f), joined, context) for f in scan.filters):
                    return f"{walk.naming.name(scan)} = {walk.sentences.event(candidate.events[0], candidate.end)}"
        return None


@dataclass(slots=True)
class _Continued:
    """Partial matches by the events they hold: whether a shorter one went on, and with which event."""

    found: Sequence[tuple[Solution, Match]]
    _by_events: dict[frozenset[tuple[str, int]], list[tuple[Mapping[str, Term], frozenset[int]]]] = field(default_factory=dict)
    _labels: tuple[str, ...] | None = None

    def has(self, run: Solution, match: Match, labels: Sequence[str], events: Sequence[int] | None = None) -> bool:
        """Whether one of them is the partial match with events of these labels besides."""
        if self._labels != tuple(labels):
            self._labels = tuple(labels)
            self._index()
        for mapping, added in self._by_events.get(_pairs(match, ()), ()):
            agrees = all(mapping.get(name) == term for name, term in run.mapping.items() if " " not in name)
            if agrees and (events is None or added.issuperset(events)):
                return True
        return False

    def _index(self) -> None:
        assert self._labels is not None
        index: dict[frozenset[tuple[str, int]], list[tuple[Mapping[str, Term], frozenset[int]]]] = defaultdict(list)
        for solution, match in self.found:
            added = frozenset(number for label in self._labels for number in _events(match, label))
            index[_pairs(match, self._labels)].append((solution.mapping, added))
        self._by_events = index


def _too_early(went: Went, attempt: Attempt) -> bool:
    """Whether an event is not later than the partial match, and would not have fitted either."""
    later, passed, _ = attempt.rank
    return not later and passed < len(went.conditions) and not went.conditions[passed].ordering


def _pairs(match: Match, without: Sequence[str]) -> frozenset[tuple[str, int]]:
    return frozenset((label, n) for label in match.events if label not in without for n in _events(match, label))


def _events(match: Match, label: str) -> list[int]:
    return [event for event in match.events.get(label, ()) if isinstance(event, int)]


def _numbers(match: Match) -> set[int]:
    return {number for label in match.events for number in _events(match, label)}
