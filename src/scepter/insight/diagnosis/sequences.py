"""The diagnosis of a sequence: its steps, condition by condition, and what stops its longest partial matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from scepter.algebra.expressions import Exists, Expression, Variable
from scepter.algebra.patterns import BGP, TriplePattern
from scepter.algebra.query import Negation, Optional, Query, Scan, Selection
from scepter.algebra.query import Step as Link
from scepter.algebra.walk import find
from scepter.insight.diagnosis.cuts import Cuts, with_columns
from scepter.insight.diagnosis.focus import Focus
from scepter.insight.diagnosis.model import Diagnosis, Stage, Step
from scepter.insight.diagnosis.naming import Naming
from scepter.insight.diagnosis.pairs import (
    Condition,
    Solution,
    Tried,
    filter_condition,
    later_than,
    order_condition,
    try_pairs,
    window_condition,
)
from scepter.insight.diagnosis.sentences import Sentences
from scepter.insight.diagnosis.stops import Before, Stops, Went
from scepter.insight.diagnosis.trials import Trials
from scepter.kernel.sequence.run_windows import Bounds, resolve
from scepter.kernel.sparql.context import Context
from scepter.physical.nodes.sequence_nodes import Sequence as Planned
from scepter.physical.planning.sequence_planner import branches
from scepter.physical.sequence_plan import Branch, QueryPlan, StatefulFilter
from scepter.runtime.matches import Match

_ANYTHING = BGP((TriplePattern(Variable("s"), Variable("p"), Variable("o")),))


def diagnose_sequence(node: Planned, trials: Trials, sentences: Sentences, title: str, focus: Focus) -> Diagnosis:
    """The diagnosis of a unit that is planned as a sequence. Raises TooMany."""
    found = Walk(node.query, node.plan, trials, sentences, focus).diagnosis(title)
    return replace(found, timeouts=len(trials.matches(node.query))) if node.query.timeouts else found


@dataclass(slots=True)
class Walk:
    """A way through the steps of a sequence. Where there is something asked about, it alone is counted."""

    query: Query
    plan: QueryPlan
    trials: Trials
    sentences: Sentences
    focus: Focus
    naming: Naming = field(init=False)
    cuts: Cuts = field(init=False)
    bounds: Bounds = field(init=False)
    partial: dict[int, list[tuple[Solution, Match]]] = field(default_factory=dict)
    went: dict[int, list[Went]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        options, kind = self.trials.options, self.sentences.kind
        origin = 0 if options.start is None else options.start.on(kind, "--start")
        self.naming = Naming(self.query, self.sentences)
        # what is looked for is why the pattern is (not) matched, whatever is then made of its matches
        self.cuts = Cuts(replace(self.query, skip=None, timeouts=False), self.trials, self.focus)
        self.bounds = resolve(self.query.window, kind, options.time_unit, origin)

    @property
    def links(self) -> tuple[Link, ...]:
        """The steps of the query."""
        return self.query.pattern.steps

    def diagnosis(self, title: str) -> Diagnosis:
        """All that is told of the query."""
        steps: list[Step] = []
        for number, link in enumerate(self.links):
            if isinstance(link.atom, Negation):
                _, own, _ = self._branch([link.atom.scan], self.plan.atoms[number].branches[0])
                steps.append(Step(self.naming.title(number), "events", tuple(own)))
            else:
                steps += self._step(number, self.plan.atoms[number].branches)
        found = self.cuts.matches()
        matches = [match for match in found if self.focus.keeps(match.bindings) and self._holds(match)]
        stops = Stops(self)
        trailing = stops.trailing()
        if trailing:
            until = f"no {' or '.join(map(self.naming.name, trailing))} until the window closes"
            steps.append(Step("end of the match", "partial matches", (Stage(until, len(matches)),)))
        if self.focus:
            missed = tuple(stops.misses(matches))
            return Diagnosis(title, len(found), tuple(steps), stopped=missed, focused=len(matches))
        if matches or not any(self.partial.values()):
            return Diagnosis(title, len(matches), tuple(steps))
        last = max(number for number, found in self.partial.items() if found)
        reached = " ".join(self.naming.atom(link.atom) for link in self.links[: last + 1])
        count = _distinct(self.partial[last])
        return Diagnosis(title, 0, tuple(steps), count, f"through {reached}", tuple(stops.farthest(last)))

    # ---- what is counted

    def _holds(self, match: Match) -> bool:
        return self.focus.event is None or any(self.focus.holds(events) for events in match.events.values())

    def _asked(self, candidates: Sequence[Solution]) -> list[Solution]:
        return [candidate for candidate in candidates if self.focus.holds(candidate.events)]

    def _count(self, candidates: Sequence[Solution]) -> int:
        return len({candidate.events for candidate in self._asked(candidates)})

    # ---- steps

    def _step(self, number: int, planned: Sequence[Branch]) -> list[Step]:
        scans = branches(self.links[number].atom)
        before = self.before(number)
        entering = self.cuts.entering(number, scans)
        self.partial[number] = self.cuts.partial(number)
        steps: list[Step] = []
        for each, branch, entered in zip(scans, planned, entering, strict=True):
            inner, stages, candidates = self._branch(each, branch)
            steps += inner
            went = Went(each, tuple(stages), len(candidates))
            if before.partial:
                went = self._tried(number, went, branch, before, candidates)
                assert went.tried is not None
                stages += self._pair_stages(went.conditions, went.tried)
            last = self.last_condition(number, before, branch, went.conditions)
            if last and (before.partial or before.begins):
                stages.append(Stage(last, sum(self.focus.holds(events) for events in entered)))
            self.went.setdefault(number, []).append(went)
            counted = "events" if len(each) == 1 else "groups of events"
            steps.append(Step(self.naming.title(number, each), counted, tuple(stages)))
        waits = before.partial or before.begins
        text = "partial matches so far" if waits else f"partial matches so far (none through {before.names} to go on with)"
        total = Stage(text, _distinct([each for each in self.partial[number] if self._holds(each[1])]))
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
            inner.append(
                Step(
                    f"{self.naming.name(scan)} on {self.naming.stream(scan)}", "events", tuple(self._own(scan, own)[0]), depth=1
                )
            )
        together = [replace(scan, filters=tuple(own)) for scan, own in zip(scans, local, strict=True)]
        candidates = self.cuts.candidates(together)
        stages = [Stage("at the same time, joined", self._count(candidates))]
        for condition, at in zip(branch.joint, branch.joint_scans, strict=True):
            together[at] = replace(together[at], filters=(*together[at].filters, condition))
            candidates = self.cuts.candidates(together)
            stages.append(Stage(self.sentences.filter(condition), self._count(candidates)))
        return inner, stages, candidates

    def _own(self, scan: Scan, filters: Sequence[Expression]) -> tuple[list[Stage], list[Solution]]:
        """What a scan finds on the events of its stream, filter by filter."""
        there = self._on_stream(scan)
        bare = replace(scan, filters=())
        candidates = self.cuts.candidates([bare])
        example = self._triples(bare) if there and not self._count(candidates) else None
        stages = [Stage(f"on {self.naming.stream(scan)}", there), Stage("graph pattern", self._count(candidates), example)]
        for condition in filters:
            bare = replace(bare, filters=(*bare.filters, condition))
            passing = self.cuts.candidates([bare])
            before = self._asked(candidates)
            example = self._false(condition, before[0]) if before and not self._count(passing) else None
            candidates = passing
            stages.append(Stage(self.sentences.filter(condition), self._count(candidates), example))
        return stages, candidates

    def _false(self, condition: Expression, candidate: Solution) -> str | None:
        if next(find(condition, Exists), None) is not None:
            return None
        refused = self.sentences.refused(condition, candidate.mapping, Context(dataset=self.trials.background.dataset))
        return f"{self.sentences.event(candidate.events[0], candidate.end)}: {refused}"

    def _triples(self, scan: Scan) -> str | None:
        """In how many events each of a pattern's triples is, where none has them all."""
        if not isinstance(scan.pattern, BGP) or len(scan.pattern.triples) < 2:
            return None
        told = []
        for triple in scan.pattern.triples:
            count = self._count(self.cuts.candidates([replace(scan, pattern=BGP((triple,)))]))
            told.append(f"{self.sentences.notation.triple(triple)} in {count}")
        return "each triple alone: " + ", ".join(told)

    def _on_stream(self, scan: Scan) -> int:
        if self.trials.made(scan.stream):
            everything = replace(scan, pattern=_ANYTHING, filters=())
            return self._count(self.cuts.candidates([everything]))
        streams = self.naming.streams() if self.query.merged else frozenset((scan.stream,))
        if self.focus.event is not None:
            event = self.sentences.excerpt.event(self.focus.event)
            return int(event is not None and (streams is None or event.stream in streams))
        return len(self.sentences.excerpt.ends(streams))

    # ---- steps that go on with partial matches

    def before(self, number: int) -> Before:
        """What a step may go on with."""
        found: list[tuple[Solution, Match]] = []
        steps: list[int] = []
        names: list[str] = []
        negated: list[Scan] = []
        for at in range(number - 1, -1, -1):
            atom = self.links[at].atom
            if isinstance(atom, (Negation, Optional)):
                negated.insert(0, atom.scan)
            if isinstance(atom, Negation):
                continue
            found += self.partial[at]
            steps += [at] * len(self.partial[at])
            names.insert(0, self.naming.atom(atom))
            if not isinstance(atom, Optional):
                solutions, matches = (tuple(each) for each in zip(*found, strict=True)) if found else ((), ())
                return Before(solutions, matches, tuple(steps), False, " or ".join(names), tuple(negated))
        return Before((), (), (), True, "", tuple(negated))

    def _tried(self, number: int, went: Went, branch: Branch, before: Before, candidates: Sequence[Solution]) -> Went:
        selection = self.links[number].selection
        conditions = [self._stateful(f) for f in branch.stateful if self._told_apart(f, went.scans)]
        conditions.append(order_condition(selection, before.names))
        window = window_condition(self.query, self.bounds, self.sentences)
        conditions += [] if window is None else [window]
        later = later_than(selection)
        went = replace(went, conditions=tuple(conditions))
        went = replace(went, tried=try_pairs(before.partial, self._asked(candidates), conditions, later))
        if self.focus.event is None:
            return went
        holding = tuple(at for at, match in enumerate(before.matches) if self._holds(match))
        runs = [before.partial[at] for at in holding]
        return replace(went, holding=holding, onward=try_pairs(runs, candidates, conditions, later))

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

    def last_condition(self, number: int, before: Before, branch: Branch, conditions: Sequence[Condition]) -> str:
        """What the engine decides besides the conditions that are told apart."""
        without = f"without {' or '.join(map(self.naming.name, before.negated))}" if before.negated else ""
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


def _distinct(partial: Sequence[tuple[Solution, Match]]) -> int:
    """How many there are by events and mapping, whatever aggregates over their iterations are looked at (SPAseq rule 11)."""
    found: set[tuple[object, object]] = set()
    for solution, match in partial:
        mapping = frozenset((name, term) for name, term in solution.mapping.items() if " " not in name)
        found.add((mapping, frozenset(event for events in match.events.values() for event in events)))
    return len(found)
