"""The diagnosis of a sequence: its steps, condition by condition, and what stops its longest partial matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from scepter.algebra.expressions import Exists, Expression, Variable
from scepter.algebra.patterns import BGP, TriplePattern
from scepter.algebra.query import Atom, Iteration, Negation, Optional, Query, Scan, Selection
from scepter.algebra.query import Step as Link
from scepter.algebra.walk import find
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import holds
from scepter.kernel.windows import Bounds, resolve
from scepter.physical.sequence_plan import Branch, QueryPlan, StatefulFilter
from scepter.physical.sequence_planner import branches
from scepter.physical.unit_nodes import Sequence as Planned
from scepter.rdf.terms import IRI
from scepter.runtime.diagnosis.cuts import Cuts, with_columns
from scepter.runtime.diagnosis.model import Diagnosis, Stage, Step, Stopped
from scepter.runtime.diagnosis.pairs import (
    Attempt,
    Condition,
    Solution,
    Tried,
    compatible,
    filter_condition,
    later_than,
    order_condition,
    try_pairs,
    window_condition,
)
from scepter.runtime.diagnosis.sentences import Sentences
from scepter.runtime.diagnosis.trials import Trials
from scepter.runtime.matches import Match

_SHOWN = 3
_ANYTHING = BGP((TriplePattern(Variable("s"), Variable("p"), Variable("o")),))
_NO_FILTERS = Branch((), (), (), ())
_OPERATORS = {Selection.STRICT: ",", Selection.NEXT: ";", Selection.ANY: ":", Selection.BEFORE: "SEQ"}


def diagnose_sequence(node: Planned, trials: Trials, sentences: Sentences, title: str) -> Diagnosis:
    """The diagnosis of a unit that is planned as a sequence. Raises TooMany."""
    return _Sequence(node.query, node.plan, trials, sentences).diagnosis(title)


@dataclass(frozen=True, slots=True)
class _Before:
    """The partial matches that a step may go on with."""

    partial: tuple[Solution, ...]
    steps: tuple[int, ...]
    """Per partial match, the last step it has been through."""
    begins: bool
    """Whether the step may also begin a match."""
    names: str
    negated: tuple[Scan, ...]


@dataclass(frozen=True, slots=True)
class _Went:
    """How a branch of a step went."""

    scans: tuple[Scan, ...]
    own: tuple[Stage, ...]
    candidates: int
    conditions: tuple[Condition, ...] = ()
    tried: Tried | None = None


@dataclass(slots=True)
class _Sequence:
    query: Query
    plan: QueryPlan
    trials: Trials
    sentences: Sentences
    cuts: Cuts = field(init=False)
    bounds: Bounds = field(init=False)
    partial: dict[int, list[tuple[Solution, Match]]] = field(default_factory=dict)
    went: dict[int, list[_Went]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        options, kind = self.trials.options, self.sentences.kind
        origin = 0 if options.start is None else options.start.on(kind, "--start")
        # what is looked for is why the pattern is (not) matched, whatever is then made of its matches
        self.cuts = Cuts(replace(self.query, skip=None, timeouts=False), self.trials)
        self.bounds = resolve(self.query.window, kind, options.time_unit, origin)

    @property
    def links(self) -> tuple[Link, ...]:
        return self.query.pattern.steps

    def diagnosis(self, title: str) -> Diagnosis:
        steps: list[Step] = []
        for number, link in enumerate(self.links):
            if isinstance(link.atom, Negation):
                _, own, _ = self._branch([link.atom.scan], self.plan.atoms[number].branches[0])
                steps.append(Step(self._title(number), "events", tuple(own)))
            else:
                steps += self._step(number, self.plan.atoms[number].branches)
        matches = len(self.cuts.matches())
        trailing = self._trailing()
        if trailing:
            until = f"no {' or '.join(map(self._name, trailing))} until the window closes"
            steps.append(Step("end of the match", "partial matches", (Stage(until, matches),)))
        if matches or not any(self.partial.values()):
            return Diagnosis(title, matches, tuple(steps))
        last = max(number for number, found in self.partial.items() if found)
        reached = " ".join(self._atom(link.atom) for link in self.links[: last + 1])
        count = _distinct(self.partial[last])
        return Diagnosis(title, 0, tuple(steps), count, f"through {reached}", tuple(self._stopped(last)))

    # ---- steps

    def _step(self, number: int, planned: Sequence[Branch]) -> list[Step]:
        scans = branches(self.links[number].atom)
        before = self._before(number)
        entering = self.cuts.entering(number, scans)
        self.partial[number] = self.cuts.partial(number)
        steps: list[Step] = []
        for each, branch, entered in zip(scans, planned, entering, strict=True):
            inner, stages, candidates = self._branch(each, branch)
            steps += inner
            went = _Went(each, tuple(stages), len(candidates))
            if before.partial:
                went = self._tried(number, went, branch, before, candidates)
                assert went.tried is not None
                stages += self._pair_stages(went.conditions, went.tried)
            last = self._last_condition(number, before, branch, went.conditions)
            if last and (before.partial or before.begins):
                stages.append(Stage(last, len(entered)))
            self.went.setdefault(number, []).append(went)
            counted = "events" if len(each) == 1 else "groups of events"
            steps.append(Step(self._title(number, each), counted, tuple(stages)))
        waits = before.partial or before.begins
        text = "partial matches so far" if waits else f"partial matches so far (none through {before.names} to go on with)"
        total = Stage(text, _distinct(self.partial[number]))
        steps[-1] = replace(steps[-1], stages=(*steps[-1].stages, total))
        return steps

    def _branch(self, scans: Sequence[Scan], branch: Branch) -> tuple[list[Step], list[Stage], list[Solution]]:
        """What scans of one time find by themselves."""
        stateful = [[f.expression for f in branch.stateful if f.scan == at] for at in range(len(scans))]
        joint = [[e for e, p in zip(branch.joint, branch.joint_scans, strict=True) if p == at] for at in range(len(scans))]
        local = [[f for f in scan.filters if f not in stateful[at] + joint[at]] for at, scan in enumerate(scans)]
        if len(scans) == 1:
            return [], *self._own(scans[0], local[0])
        inner = []
        for scan, own in zip(scans, local, strict=True):
            inner.append(Step(f"{self._name(scan)} on {self._stream(scan)}", "events", tuple(self._own(scan, own)[0]), depth=1))
        together = [replace(scan, filters=tuple(own)) for scan, own in zip(scans, local, strict=True)]
        candidates = self.cuts.candidates(together)
        stages = [Stage("at the same time, joined", _events(candidates))]
        for condition, at in zip(branch.joint, branch.joint_scans, strict=True):
            together[at] = replace(together[at], filters=(*together[at].filters, condition))
            candidates = self.cuts.candidates(together)
            stages.append(Stage(self.sentences.filter(condition), _events(candidates)))
        return inner, stages, candidates

    def _own(self, scan: Scan, filters: Sequence[Expression]) -> tuple[list[Stage], list[Solution]]:
        """What a scan finds on the events of its stream, filter by filter."""
        there = self._on_stream(scan)
        bare = replace(scan, filters=())
        candidates = self.cuts.candidates([bare])
        example = self._triples(bare) if there and not candidates else None
        stages = [Stage(f"on {self._stream(scan)}", there), Stage("graph pattern", _events(candidates), example)]
        for condition in filters:
            bare = replace(bare, filters=(*bare.filters, condition))
            passing = self.cuts.candidates([bare])
            example = self._false(condition, candidates[0]) if candidates and not passing else None
            candidates = passing
            stages.append(Stage(self.sentences.filter(condition), _events(candidates), example))
        return stages, candidates

    def _false(self, condition: Expression, candidate: Solution) -> str | None:
        if next(find(condition, Exists), None) is not None:
            return None
        refused = self.sentences.refused(condition, candidate.mapping, Context(dataset=self.trials.background.dataset))
        return f"{self.sentences.event(candidate.events[0], candidate.end)}: {refused}"

    def _triples(self, scan: Scan) -> str | None:
        """How many events have each of a pattern's triples, where none has them all."""
        if not isinstance(scan.pattern, BGP) or len(scan.pattern.triples) < 2:
            return None
        told = []
        for triple in scan.pattern.triples:
            count = _events(self.cuts.candidates([replace(scan, pattern=BGP((triple,)))]))
            told.append(f"{self.sentences.notation.triple(triple)} in {count}")
        return "each triple alone: " + ", ".join(told)

    def _on_stream(self, scan: Scan) -> int:
        if self.trials.made(scan.stream):
            everything = replace(scan, pattern=_ANYTHING, filters=())
            return _events(self.cuts.candidates([everything]))
        return len(self.sentences.excerpt.ends(self._streamset() if self.query.merged else frozenset((scan.stream,))))

    # ---- steps that go on with partial matches

    def _before(self, number: int) -> _Before:
        found: list[Solution] = []
        steps: list[int] = []
        names: list[str] = []
        negated: list[Scan] = []
        for at in range(number - 1, -1, -1):
            atom = self.links[at].atom
            if isinstance(atom, (Negation, Optional)):
                negated.insert(0, atom.scan)
            if isinstance(atom, Negation):
                continue
            found += (solution for solution, _ in self.partial[at])
            steps += [at] * len(self.partial[at])
            names.insert(0, self._atom(atom))
            if not isinstance(atom, Optional):
                return _Before(tuple(found), tuple(steps), False, " or ".join(names), tuple(negated))
        return _Before((), (), True, "", tuple(negated))

    def _tried(self, number: int, went: _Went, branch: Branch, before: _Before, candidates: Sequence[Solution]) -> _Went:
        selection = self.links[number].selection
        conditions = [self._stateful(f) for f in branch.stateful if self._told_apart(f, went.scans)]
        conditions.append(order_condition(selection, before.names))
        window = window_condition(self.query, self.bounds, self.sentences)
        conditions += [] if window is None else [window]
        tried = try_pairs(before.partial, candidates, conditions, later_than(selection))
        return replace(went, conditions=tuple(conditions), tried=tried)

    def _stateful(self, stateful: StatefulFilter) -> Condition:
        expression, dataset = stateful.expression, self.trials.background.dataset
        return filter_condition(expression, with_columns(expression), stateful.scan, self.sentences, dataset)

    def _told_apart(self, stateful: StatefulFilter, scans: Sequence[Scan]) -> bool:
        """Whether the filter counts in a first iteration, and its event's graph is at hand where it looks at it."""
        looks = next(find(stateful.expression, Exists), None) is not None
        return not stateful.previous and not (looks and self.trials.made(scans[stateful.scan].stream))

    def _pair_stages(self, conditions: Sequence[Condition], tried: Tried) -> list[Stage]:
        on = ", ".join(f"?{name}" for name in tried.joined)
        stages = [Stage(f"joined on {on}", tried.count(0))] if on else []
        return stages + [Stage(c.text, tried.count(n)) for n, c in enumerate(conditions, 1)]

    def _last_condition(self, number: int, before: _Before, branch: Branch, conditions: Sequence[Condition]) -> str:
        """What the engine decides besides the conditions that are told apart."""
        without = f"without {' or '.join(map(self._name, before.negated))}" if before.negated else ""
        if before.begins:
            if any(isinstance(link.atom, Optional) for link in self.links[:number]):
                return "begins a match, or goes on with one"
            return f"begins a match, {without} before" if without else ""
        told = {c.text for c in conditions}
        texts = [self.sentences.filter(f.expression) for f in branch.stateful if not f.previous]
        parts = [text for text in texts if text not in told]
        if self.query.window is not None and window_condition(self.query, self.bounds, self.sentences) is None:
            parts.append("in the window")
        selection = self.links[number].selection
        parts += ["next of all events"] if selection is Selection.STRICT else []
        parts += ["the first that fits"] if selection is Selection.NEXT else []
        return ", ".join([*parts, f"{without} between"] if without else parts)

    # ---- what stops partial matches

    def _trailing(self) -> list[Scan]:
        found: list[Scan] = []
        for link in reversed(self.links):
            if not isinstance(link.atom, (Negation, Optional)):
                break
            found.insert(0, link.atom.scan)
            if isinstance(link.atom, Optional):
                break
        return found if isinstance(self.links[-1].atom, (Negation, Optional)) else []

    def _stopped(self, last: int) -> list[Stopped]:
        needed = [n for n in range(last + 1, len(self.links)) if not isinstance(self.links[n].atom, (Negation, Optional))]
        found = self.partial[last]
        if not needed:
            return [self._stopped_by_end(*each) for each in found[:_SHOWN]]
        number = needed[0]
        before = self._before(number)
        if before.begins:  # all before it is optional: its pairs with what was taken were not tried
            reason = f"nothing goes on with it by {self._atom(self.links[number].atom)}"
            return [Stopped(self._selected(m), self.sentences.bindings(s.mapping), reason) for s, m in found[:_SHOWN]]
        offset = before.steps.index(last)
        ranked: list[tuple[tuple[bool, int, int], int, _Went, Attempt]] = []
        for went in self.went[number]:
            assert went.tried is not None
            for at in range(len(found)):
                attempt = went.tried.attempts[offset + at]
                ranked.append((attempt.rank, -at, went, attempt))
        ranked.sort(key=lambda each: each[:2], reverse=True)
        told: dict[int, Stopped] = {}
        for _, at, went, attempt in ranked:
            if -at not in told and len(told) < _SHOWN:
                solution, match = found[-at]
                reason = self._reason(number, before, went, attempt, solution)
                told[-at] = Stopped(self._selected(match), self.sentences.bindings(solution.mapping), reason)
        return list(told.values())

    def _selected(self, match: Match) -> tuple[str, ...]:
        scans = {scan.label: scan for scan in find(self.query.pattern, Scan)}
        told = []
        for label, events in match.events.items():
            listed = ", ".join(self.sentences.event(e) for e in events if isinstance(e, int))
            told.append(f"{self._name(scans[label])} = {listed}")
        return tuple(told)

    def _reason(self, number: int, before: _Before, went: _Went, attempt: Attempt, run: Solution) -> str:
        name = " & ".join(map(self._name, went.scans))
        candidate = attempt.candidate
        if candidate is None:
            stopper = next((stage for stage in went.own if not stage.count), None)
            if stopper is not None:
                return f"no event passes {name}: {stopper.condition}"
            assert went.tried is not None
            shared = {v: run.mapping[v] for v in went.tried.joined if v in run.mapping}
            return f"none of the {went.candidates} found by {name} has {self.sentences.bindings(shared)}"
        event = ", ".join(self.sentences.event(e, candidate.end) for e in candidate.events)
        if attempt.passed < len(went.conditions):
            return f"{name} = {event}: {went.conditions[attempt.passed].refusal(run, candidate)}"
        return f"{name} = {event}: it fits, but {self._between(number, before, run, candidate)}"

    def _between(self, number: int, before: _Before, run: Solution, candidate: Solution) -> str:
        witness = self._refuser(before.negated, run, candidate.end)
        if witness is not None:
            return f"{witness} stands between"
        if self.links[number].selection is Selection.STRICT:
            between = self.sentences.excerpt.between(self._streamset(), run.end, candidate.end)
            if between:
                more = f" and {len(between) - 1} more" if len(between) > 1 else ""
                return f"{self.sentences.event(between[0])}{more} stands between, and ',' asks for the very next event"
        return f"not with the conditions left: {self._last_condition(number, before, _NO_FILTERS, ()) or 'of the query'}"

    def _stopped_by_end(self, solution: Solution, match: Match) -> Stopped:
        witness = self._refuser(tuple(self._trailing()), solution, None)
        reason = f"{witness} comes before the window closes" if witness else "the window closes with a negated event in it"
        return Stopped(self._selected(match), self.sentences.bindings(solution.mapping), reason)

    def _refuser(self, negated: Sequence[Scan], run: Solution, before: int | None) -> str | None:
        """The first event after a partial match that a negated scan accepts."""
        for scan in negated:
            for candidate in sorted(self.cuts.candidates([replace(scan, filters=())]), key=lambda c: c.end):
                joined = {**run.mapping, **candidate.mapping}
                context = Context(dataset=self.trials.background.dataset)
                inside = run.end < candidate.end and (before is None or candidate.end < before)
                accepted = inside and compatible(run.mapping, candidate.mapping)
                if accepted and all(holds(with_columns(f), joined, context) for f in scan.filters):
                    return f"{self._name(scan)} = {self.sentences.event(candidate.events[0], candidate.end)}"
        return None

    # ---- names

    def _streamset(self) -> frozenset[IRI] | None:
        return frozenset(s.iri for s in self.query.streams) or None

    def _title(self, number: int, scans: Sequence[Scan] | None = None) -> str:
        link = self.links[number]
        operator = f"{_OPERATORS[link.selection]} " if link.selection is not None else ""
        if scans is not None and len(branches(link.atom)) > 1:
            return f"{operator}{self._atom(link.atom)} by {' & '.join(map(self._name, scans))}"
        first = next(find(link.atom, Scan))
        single = isinstance(link.atom, (Scan, Iteration, Negation, Optional))
        return f"{operator}{self._atom(link.atom)}" + (f" on {self._stream(first)}" if single and not self.query.merged else "")

    def _atom(self, atom: Atom) -> str:
        match atom:
            case Scan():
                return self._name(atom)
            case Iteration(scan):
                return f"{self._name(scan)}+"
            case Negation(scan):
                return f"{self._name(scan)}!"
            case Optional(scan):
                return f"{self._name(scan)}?"
            case _:
                parts = [" & ".join(map(self._name, scans)) for scans in branches(atom)]
                return f"({' | '.join(parts)})"

    def _name(self, scan: Scan) -> str:
        return f"{{ {self.sentences.notation.pattern(scan.pattern)} }}" if self.query.merged else scan.label

    def _stream(self, scan: Scan) -> str:
        if self.query.merged:
            return "the streams"
        alias = next((s.alias for s in self.query.streams if s.iri == scan.stream), None)
        return alias or self.sentences.notation.term(scan.stream)


def _distinct(partial: Sequence[tuple[Solution, Match]]) -> int:
    """How many there are by events and mapping, whatever aggregates over their iterations are looked at (SPAseq rule 11)."""
    found: set[tuple[object, object]] = set()
    for solution, match in partial:
        mapping = frozenset((name, term) for name, term in solution.mapping.items() if " " not in name)
        found.add((mapping, frozenset(event for events in match.events.values() for event in events)))
    return len(found)


def _events(candidates: Sequence[Solution]) -> int:
    return len({candidate.events for candidate in candidates})
