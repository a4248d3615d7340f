"""The counts of a diagnosis against the naive evaluator: random queries and streams, each step counted by the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

from naive import spaseq as naive
from naive.runs import Run, Seen, Solution, compatible
from naive.spaseq import _Evaluation, _Place, _scoped, _variants
from naive.windows import Window
from property.spaseq_strategies import BACKGROUND, DB, EXAMPLES, QueryText, background, events, queries
from scepter.algebra.query import Conjunction, Disjunction, Negation, Optional, Query, Scan, Sliding, Tumbling
from scepter.algebra.walk import find
from scepter.cases.source import TimelineSource
from scepter.insight.diagnosis.diagnose import diagnose
from scepter.insight.diagnosis.focus import Asked, Focus
from scepter.insight.diagnosis.model import Findings, Step
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.rdf.terms import IRI, BlankNode, Term
from scepter.rdf.timeline_notation import TimelineEvent
from scepter.runtime.queries import Query as ParsedQuery
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind

Identity: TypeAlias = tuple[frozenset[int], frozenset[tuple[str, Term]]]
"""Of a partial match: its events and its mapping."""

MANY = settings(
    deadline=None, max_examples=max(10, EXAMPLES // 3), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def runs(draw: st.DrawFn) -> tuple[QueryText, list[naive.Event]]:
    query = draw(queries(common_words=False))
    return query, draw(events(query.streams))


class _Counted:
    """A query's partial matches, straight from the rules of spec/10."""

    def __init__(self, query: Query, stream: Sequence[naive.Event]) -> None:
        self.query = query
        self.dataset = Dataset(Graph(), {IRI(DB): Graph(background())})
        names = {s.iri.value for s in query.streams}
        self.seen = [Seen(n, e, _scoped(e, n)) for n, e in enumerate(stream) if e.stream in names]
        self.whole = self.over(self.seen, {})

    def over(self, members: Sequence[Seen], partition: Solution) -> _Evaluation:
        window = self.query.window
        length = window.duration.ticks(TimeKind.INTEGER, "ms") if isinstance(window, Tumbling | Sliding) else 0
        return _Evaluation(self.query, members, self.dataset, Window(window, members, 0, length), partition)

    def evaluations(self) -> list[_Evaluation]:
        if not self.query.partition:
            return [self.whole]
        found = self.whole.partitions([variable.name for variable in self.query.partition])
        return [self.over([e for e in self.seen if self.whole.belongs(e, value)], value) for value in found]

    def through(self, step: int) -> set[Identity]:
        """The partial matches through a step that selects events: by events and mapping (rule 11)."""
        found: set[Identity] = set()
        steps = self.query.pattern.steps[: step + 1]
        last = steps[-1]
        if isinstance(last.atom, Optional):
            steps = (*steps[:-1], type(last)(last.atom.scan, last.selection))
        for evaluation in self.evaluations():
            for places, _ in _variants(steps):
                found |= {_identity(run) for run in _inside(evaluation, places)}
        return found

    def passing(self, scan: Scan, *, filters: bool) -> int:
        """The events that pass a graph pattern, and the filters that need nothing but it."""
        bare = scan if filters else type(scan)(scan.label, scan.stream, scan.pattern)
        return sum(bool(self.whole.accepted(bare, Run(), event)) for event in self.seen)


def _inside(evaluation: _Evaluation, places: Sequence[_Place]) -> list[Run]:
    return [run for run in evaluation._runs(places) if evaluation._end(run, places[0].negated, ()) is not None]


def _identity(run: Run) -> Identity:
    return frozenset(seen.number for seen in run.selected), frozenset(run.mapping.items())


def _diagnosed(query: QueryText, stream: Sequence[naive.Event]) -> tuple[Query, Sequence[Step], int]:
    parsed = parse(query.text, "spaseq")
    findings = _findings(parsed, query, stream)
    if not findings.diagnoses:
        assert not any(e.stream in query.streams for e in stream)
        return next(find(parsed.lowered.program, Query)), (), 0
    assert findings.until is None
    (diagnosis,) = findings.diagnoses
    return next(find(parsed.lowered.program, Query)), diagnosis.steps, diagnosis.matches


def _findings(
    parsed: ParsedQuery,
    query: QueryText,
    stream: Sequence[naive.Event],
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Findings:
    sources = {}
    for iri in query.streams:
        given = [
            TimelineEvent(e.name, e.start, e.end, TimeKind.INTEGER, tuple(e.triples), 1) for e in stream if e.stream == iri
        ]
        sources[iri] = TimelineSource(iri, given)
    return diagnose(parsed, sources, background={DB: BACKGROUND}, asked=asked)


@MANY
@given(runs())
def test_partial_matches_are_those_of_the_definitions(run: tuple[QueryText, list[naive.Event]]) -> None:
    query, stream = run
    note(query.text)
    algebra, steps, _ = _diagnosed(query, stream)
    if not steps:
        return
    totals = [stage.count for step in steps for stage in step.stages if stage.condition.startswith("partial matches so far")]
    counted = _Counted(algebra, stream)
    positive = [n for n, step in enumerate(algebra.pattern.steps) if not isinstance(step.atom, Negation)]
    wanted = [len(counted.through(number)) for number in positive]
    event(f"longest: {sum(map(bool, wanted))}")
    assert totals == wanted


@MANY
@given(runs())
def test_events_pass_patterns_and_conditions_as_defined(run: tuple[QueryText, list[naive.Event]]) -> None:
    query, stream = run
    note(query.text)
    algebra, steps, _ = _diagnosed(query, stream)
    counted = _Counted(algebra, stream)
    plain = [n for n, step in enumerate(algebra.pattern.steps) if not isinstance(step.atom, Conjunction | Disjunction)]
    titled = {step.title.split()[-3].rstrip("+?!"): step for step in steps if " on " in step.title and not step.depth}
    for number in plain:
        atom = algebra.pattern.steps[number].atom
        scan = atom if isinstance(atom, Scan) else atom.scan  # type: ignore[union-attr]
        if scan.label not in titled:
            continue
        stages = {stage.condition: stage.count for stage in titled[scan.label].stages}
        assert stages["graph pattern"] == counted.passing(scan, filters=False)
        counts = [stage.count for stage in titled[scan.label].stages if "partial" not in stage.condition]
        assert counts == sorted(counts, reverse=True)
        if number and isinstance(algebra.pattern.steps[number - 1].atom, Scan) and not isinstance(atom, Negation):
            _check_pairs(counted, number, scan, stages)


def _check_pairs(counted: _Counted, number: int, scan: Scan, stages: dict[str, int]) -> None:
    """Events that join some partial match through the step before, and those that then come after it."""
    if scan.filters or not counted.through(number - 1):
        return
    joined, later = set(), set()
    for evaluation in counted.evaluations():
        for places, _ in _variants(counted.query.pattern.steps[:number]):
            for run in _inside(evaluation, places):
                for seen in counted.seen:
                    if any(compatible(run.mapping, mapping) for mapping in counted.whole.bare(scan, seen)):
                        joined.add(seen.number)
                        later |= {seen.number} if seen.time > run.time else set()
    told = [count for condition, count in stages.items() if condition.startswith("joined on")]
    assert told in ([], [len(joined)])
    assert [count for condition, count in stages.items() if condition.startswith("later than")] == [len(later)]


@MANY
@given(runs(), st.data())
def test_partial_matches_with_an_event_are_those_of_the_definitions(
    run: tuple[QueryText, list[naive.Event]], data: st.DataObject
) -> None:
    query, stream = run
    note(query.text)
    read = [number for iri in query.streams for number, e in enumerate(stream) if e.stream == iri]  # as the sources are read
    if not read:
        return
    chosen = data.draw(st.integers(1, len(read)))
    parsed = parse(query.text, "spaseq")
    (diagnosis,) = _findings(parsed, query, stream, Asked(chosen)).diagnoses
    totals = [s.count for step in diagnosis.steps for s in step.stages if s.condition.startswith("partial matches so far")]
    algebra = next(find(parsed.lowered.program, Query))
    counted = _Counted(algebra, stream)
    positive = [n for n, step in enumerate(algebra.pattern.steps) if not isinstance(step.atom, Negation)]
    held = [[r for r in counted.through(number) if read[chosen - 1] in r[0]] for number in positive]
    event(f"held: {sum(map(bool, held))}")
    assert totals == [len(found) for found in held]
    for stopped in diagnosis.stopped:
        note(f"{stopped.selected} {stopped.reason}")


@MANY
@given(runs(), st.data())
def test_partial_matches_of_a_key_are_those_of_the_definitions(
    run: tuple[QueryText, list[naive.Event]], data: st.DataObject
) -> None:
    query, stream = run
    note(query.text)
    parsed = parse(query.text, "spaseq")
    algebra = next(find(parsed.lowered.program, Query))
    counted = _Counted(algebra, stream)
    positive = [n for n, step in enumerate(algebra.pattern.steps) if not isinstance(step.atom, Negation)]
    found = [[dict(mapping) for _, mapping in counted.through(number)] for number in positive]
    bound = {(n, t) for maps in found for mapping in maps for n, t in mapping.items() if n.isidentifier()}
    known = sorted((pair for pair in bound if not isinstance(pair[1], BlankNode)), key=str)
    if not known:
        return
    name, term = data.draw(st.sampled_from(known))
    (diagnosis,) = _findings(parsed, query, stream, Asked(None, {name: term})).diagnoses
    totals = [s.count for step in diagnosis.steps for s in step.stages if s.condition.startswith("partial matches so far")]
    focus = Focus(None, {name: term})
    assert totals == [sum(focus.keeps(mapping) for mapping in maps) for maps in found]
