"""Units that are no sequences: which patterns they have, and how the engine is asked for the solutions of a part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.events import CompositeEvent, EventQuery, Form
from scepter.algebra.expressions import Variable
from scepter.algebra.patterns import Match as MatchPattern
from scepter.algebra.patterns import Pattern, Project
from scepter.algebra.query import Unit
from scepter.algebra.scope import in_scope
from scepter.algebra.timed import TimedProgram, TimedQuery
from scepter.algebra.windows import (
    Earliest,
    EventPattern,
    Followed,
    ItemScan,
    Latest,
    WindowedQuery,
    hidden_names,
    scans,
    window_graph,
)
from scepter.runtime.diagnosis.model import Diagnosis, Stage, Step
from scepter.runtime.diagnosis.pairs import Solution
from scepter.runtime.diagnosis.sentences import Sentences
from scepter.runtime.diagnosis.trees import Tree, all_columns, found_by
from scepter.runtime.diagnosis.trials import Trials
from scepter.runtime.matches import Match


def diagnose_unit(unit: Unit, trials: Trials, sentences: Sentences, title: str) -> Diagnosis:
    """The diagnosis of a unit that is a tree of operators. Raises TooMany."""
    match unit:
        case TimedProgram():
            return _timed(unit, trials, sentences, title)
        case ContinuousQuery() | PeriodicQuery():
            return _continuous(unit, trials, sentences, title)
        case WindowedQuery():
            return _windowed(unit, trials, sentences, title)
        case EventQuery():
            return _events(unit, trials, sentences, title)
        case _:  # a unit is anything that reads streams
            return Diagnosis(title, len(trials.matches(unit)), ())


def _selected(pattern: Pattern) -> Pattern:
    """As lowering gives a query's pattern: with its projection."""
    return Project(pattern, tuple(variable for variable, _ in all_columns(pattern).columns))


def _solutions(matches: list[Match]) -> list[Solution]:
    return [Solution(match.bindings, match.start, match.end, ()) for match in matches]


# ---- EP-SPARQL


def _timed(program: TimedProgram, trials: Trials, sentences: Sentences, title: str) -> Diagnosis:
    steps: list[Step] = []
    last: Tree | None = None
    for part in program.parts:

        def answers(pattern: Pattern, part: object = part) -> list[Solution]:
            sources = part.sources  # type: ignore[attr-defined]  # a rule's or a query's
            asked = TimedQuery(all_columns(pattern), pattern, sources)
            return _solutions(trials.matches(replace(program, queries=(asked,))))

        last = Tree(answers, trials, sentences)
        several = len(program.parts) > 1
        if several:
            name = f"rule {part.label}" if not isinstance(part, TimedQuery) else "query"
            steps.append(Step(name, "solutions", ()))
        last.visit(part.pattern)
        steps += last.steps
        last.steps = steps
    assert last is not None  # a program has a query
    return found_by(last, title, len(trials.matches(program)))


# ---- Sparkwave


def _continuous(query: ContinuousQuery | PeriodicQuery, trials: Trials, sentences: Sentences, title: str) -> Diagnosis:
    def answers(pattern: Pattern) -> list[Solution]:
        return _solutions(trials.matches(replace(query, result=all_columns(pattern), pattern=_selected(pattern))))

    def without_windows(pattern: Pattern) -> list[Solution]:
        assert isinstance(query, ContinuousQuery)
        sources = tuple(replace(source, extent=None) for source in query.sources)
        forever = replace(query, sources=sources, otherwise=None, result=all_columns(pattern), pattern=_selected(pattern))
        return _solutions(trials.matches(forever))

    bounded = isinstance(query, ContinuousQuery) and any(
        extent is not None for extent in (*(source.extent for source in query.sources), query.otherwise)
    )
    tree = Tree(answers, trials, sentences, without_windows if bounded else None)
    tree.visit(query.pattern)
    return found_by(tree, title, len(trials.matches(replace(query, result=all_columns(query.pattern)))))


# ---- RSEP-QL


def _windowed(query: WindowedQuery, trials: Trials, sentences: Sentences, title: str) -> Diagnosis:
    def answers(pattern: Pattern) -> list[Solution]:
        return _solutions(trials.matches(replace(query, result=all_columns(pattern), pattern=pattern)))

    def matched(tree: Tree, number: int) -> int:
        count = 0
        for event, text in _event_parts(query.events[number], sentences):
            count = len(_of_event(query, event, trials))
            tree.steps.append(Step(text, "mappings", (Stage("", count),)))
        return count

    names = {sentences.notation.term(window_graph(w.name)): f"WINDOW {sentences.notation.term(w.name)}" for w in query.windows}
    tree = Tree(answers, trials, sentences, named=names, matched=matched, static=False)
    tree.visit(query.pattern)
    return found_by(tree, title, len(trials.matches(replace(query, result=all_columns(query.pattern)))))


def _event_parts(event: EventPattern, sentences: Sentences) -> Iterator[tuple[EventPattern, str]]:
    """An event pattern and what it is made of, leaves first, each with a title."""
    match event:
        case ItemScan(label, window, pattern):
            yield event, f"{label} ON {sentences.notation.term(window)} {{ {sentences.notation.pattern(pattern)} }}"
        case Earliest(operand) | Latest(operand):
            yield from _event_parts(operand, sentences)
            yield event, _event_text(event)
        case Followed(left, right):
            yield from _event_parts(left, sentences)
            yield from _event_parts(right, sentences)
            yield event, _event_text(event)
        case _:
            assert_never(event)


def _event_text(event: EventPattern) -> str:
    match event:
        case ItemScan(label):
            return label
        case Earliest(operand):
            return f"FIRST {_event_text(operand)}"
        case Latest(operand):
            return f"LAST {_event_text(operand)}"
        case Followed(left, right):
            return f"{_event_text(left)} SEQ {_event_text(right)}"
        case _:
            assert_never(event)


def _of_event(query: WindowedQuery, event: EventPattern, trials: Trials) -> list[Match]:
    names = sorted({n for scan in scans(event) for n in in_scope(scan.pattern) if not n.startswith("_:")})
    seen = tuple(Variable(name) for name in names)
    pattern = MatchPattern(0, tuple(Variable(name) for name in hidden_names(0)), seen)
    return trials.matches(replace(query, result=all_columns(pattern), pattern=pattern, events=(event,)))


# ---- OBEP


def _events(query: EventQuery, trials: Trials, sentences: Sentences, title: str) -> Diagnosis:
    def count(event: CompositeEvent | None, asked: EventQuery) -> int:
        if event is not None:
            others = tuple(event if each.event == event.event else each for each in asked.composite)
            asked = replace(asked, composite=others, returned=(event.event,))
        return len(trials.matches(replace(asked, form=Form.RDF_STREAM)))

    name = sentences.notation.term
    steps: list[Step] = []
    for logical in query.logical:
        found = count(None, replace(query, returned=(logical.event,)))
        steps.append(Step(f"event {name(logical.event)}", "occurrences", (Stage("recognised", found),)))
    for composite in query.composite:
        bare = replace(composite, within=None, guard=None)
        stages = [Stage("pattern", count(bare, query))]
        if composite.within is not None:
            bare = replace(bare, within=composite.within)
            stages.append(Stage(f"WITHIN ({composite.within})", count(bare, query)))
        if composite.guard is not None:
            stages.append(Stage("IF { … }", count(composite, query)))
        steps.append(Step(f"event {name(composite.event)}", "occurrences", tuple(stages)))
    return Diagnosis(title, count(None, query), tuple(steps))
