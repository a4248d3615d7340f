"""Units that are no sequences: which patterns they have, and how the engine is asked for the solutions of a part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import assert_never

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.events import CompositeEvent, EventQuery, Form
from scepter.algebra.expressions import Compare, Constant, Variable
from scepter.algebra.patterns import Filter, Pattern, Project
from scepter.algebra.patterns import Match as MatchPattern
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
from scepter.insight.diagnosis.excerpt import Excerpt
from scepter.insight.diagnosis.focus import Focus
from scepter.insight.diagnosis.guards import Guarded, stripped
from scepter.insight.diagnosis.model import Diagnosis, Stage, Step, Stopped
from scepter.insight.diagnosis.pairs import Solution
from scepter.insight.diagnosis.sentences import Sentences
from scepter.insight.diagnosis.trees import Answers, Tree, all_columns, found_by
from scepter.insight.diagnosis.trials import Trials
from scepter.runtime.matches import Match


def diagnose_unit(unit: Unit, trials: Trials, sentences: Sentences, title: str, focus: Focus) -> Diagnosis:
    """The diagnosis of a unit that is a tree of operators. Raises TooMany."""
    match unit:
        case TimedProgram():
            return _timed(unit, trials, sentences, title, focus)
        case ContinuousQuery() | PeriodicQuery():
            return _continuous(unit, trials, sentences, title, focus)
        case WindowedQuery():
            return _windowed(unit, trials, sentences, title, focus)
        case EventQuery():
            return _events(unit, trials, sentences, title, focus)
        case _:  # a unit is anything that reads streams
            return Diagnosis(title, len(trials.matches(unit)), ())


def _narrowed(trials: Trials, focus: Focus, solved: Callable[[Trials, Pattern], list[Solution]]) -> tuple[Answers, Answers]:
    """The solutions of a pattern that what is asked about takes part in; and all those it may be joined with."""
    known: dict[tuple[Pattern, int | None], list[Solution]] = {}

    def over(pattern: Pattern, excerpt: Excerpt) -> list[Solution]:
        if (pattern, excerpt.without) not in known:
            found = solved(replace(trials, excerpt=excerpt), pattern)
            known[pattern, excerpt.without] = [each for each in found if focus.keeps(each.mapping)]
        return known[pattern, excerpt.without]

    def asked(pattern: Pattern) -> list[Solution]:
        return focus.made_with(lambda excerpt: over(pattern, excerpt), trials.excerpt, _identity)

    return asked, lambda pattern: over(pattern, trials.excerpt)


def _identity(solution: Solution) -> object:
    return frozenset(solution.mapping.items()), solution.start, solution.end


def _matches(trials: Trials, focus: Focus, unit: Unit) -> tuple[int, int]:
    """How many matches a unit has, and how many what is asked about takes part in."""

    def found(excerpt: Excerpt) -> list[Match]:
        return replace(trials, excerpt=excerpt).matches(unit)

    asked = [match for match in focus.made_with(found, trials.excerpt, _answer) if focus.keeps(match.bindings)]
    return len(found(trials.excerpt)) if focus else len(asked), len(asked)


def _answer(match: Match) -> object:
    return frozenset(match.bindings.items()), match.start, match.end, match.graph, match.boolean


def _selected(pattern: Pattern) -> Pattern:
    """As lowering gives a query's pattern: with its projection."""
    return Project(pattern, tuple(variable for variable, _ in all_columns(pattern).columns))


def _solutions(matches: list[Match]) -> list[Solution]:
    return [Solution(match.bindings, match.start, match.end, ()) for match in matches]


# ---- EP-SPARQL


def _timed(program: TimedProgram, trials: Trials, sentences: Sentences, title: str, focus: Focus) -> Diagnosis:
    steps: list[Step] = []
    last: Tree | None = None
    for part in program.parts:

        def solved(trials: Trials, pattern: Pattern, part: object = part) -> list[Solution]:
            sources = part.sources  # type: ignore[attr-defined]  # a rule's or a query's
            asked = TimedQuery(all_columns(pattern), pattern, sources)
            return _solutions(trials.matches(replace(program, queries=(asked,))))

        last = Tree(*_narrowed(trials, focus, solved), trials, sentences, focus)
        several = len(program.parts) > 1
        if several:
            name = f"rule {part.label}" if not isinstance(part, TimedQuery) else "query"
            steps.append(Step(name, "solutions", ()))
        last.visit(part.pattern)
        steps += last.steps
        last.steps = steps
    assert last is not None  # a program has a query
    return found_by(last, title, *_matches(trials, focus, program))


# ---- Sparkwave


def _continuous(
    query: ContinuousQuery | PeriodicQuery, trials: Trials, sentences: Sentences, title: str, focus: Focus
) -> Diagnosis:
    def solved(trials: Trials, pattern: Pattern) -> list[Solution]:
        return _solutions(trials.matches(replace(query, result=all_columns(pattern), pattern=_selected(pattern))))

    def at_any_time(trials: Trials, pattern: Pattern) -> list[Solution]:
        assert isinstance(query, ContinuousQuery)
        sources = tuple(replace(source, extent=None) for source in query.sources)
        forever = replace(query, sources=sources, otherwise=None, result=all_columns(pattern), pattern=_selected(pattern))
        return _solutions(trials.matches(forever))

    bounded = isinstance(query, ContinuousQuery) and any(
        extent is not None for extent in (*(source.extent for source in query.sources), query.otherwise)
    )
    without_windows = _narrowed(trials, focus, at_any_time)[0] if bounded else None
    tree = Tree(*_narrowed(trials, focus, solved), trials, sentences, focus, without_windows)
    tree.visit(query.pattern)
    return found_by(tree, title, *_matches(trials, focus, replace(query, result=all_columns(query.pattern))))


# ---- RSEP-QL


def _windowed(query: WindowedQuery, trials: Trials, sentences: Sentences, title: str, focus: Focus) -> Diagnosis:
    def solved(trials: Trials, pattern: Pattern) -> list[Solution]:
        return _solutions(trials.matches(replace(query, result=all_columns(pattern), pattern=pattern)))

    def matched(tree: Tree, number: int) -> int:
        count = 0
        for event, text in _event_parts(query.events[number], sentences):
            count = _matches(trials, focus, _of_event(query, event))[1]
            tree.steps.append(Step(text, "mappings", (Stage("", count),)))
        return count

    names = {sentences.notation.term(window_graph(w.name)): f"WINDOW {sentences.notation.term(w.name)}" for w in query.windows}
    tree = Tree(*_narrowed(trials, focus, solved), trials, sentences, focus, named=names, matched=matched, static=False)
    tree.visit(query.pattern)
    return found_by(tree, title, *_matches(trials, focus, replace(query, result=all_columns(query.pattern))))


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


def _of_event(query: WindowedQuery, event: EventPattern) -> WindowedQuery:
    """The query of an event pattern's mappings."""
    names = sorted({n for scan in scans(event) for n in in_scope(scan.pattern) if not n.startswith("_:")})
    seen = tuple(Variable(name) for name in names)
    pattern = MatchPattern(0, tuple(Variable(name) for name in hidden_names(0)), seen)
    return replace(query, result=all_columns(pattern), pattern=pattern, events=(event,))


# ---- OBEP


def _events(query: EventQuery, trials: Trials, sentences: Sentences, title: str, focus: Focus) -> Diagnosis:
    def count(event: CompositeEvent | None, asked: EventQuery) -> int:
        if event is not None:
            others = tuple(event if each.event == event.event else each for each in asked.composite)
            asked = replace(asked, composite=others, returned=(event.event,))
        return _matches(trials, focus, replace(asked, form=Form.RDF_STREAM))[1]

    name = sentences.notation.term
    steps: list[Step] = []
    for logical in query.logical:
        found = count(None, replace(query, returned=(logical.event,)))
        steps.append(Step(f"event {name(logical.event)}", "occurrences", (Stage("recognised", found),)))
    for composite in query.composite:
        key = _key_guard(composite.guard, focus)
        bare = replace(composite, within=None, guard=key)
        stages = [Stage("pattern", count(bare, query))]
        if composite.within is not None:
            bare = replace(bare, within=composite.within)
            stages.append(Stage(f"WITHIN ({composite.within})", count(bare, query)))
        if composite.guard is not None:
            guarded = replace(composite, guard=composite.guard if key is None else _of_key(composite.guard, focus))
            stages.append(Stage("IF { … }", count(guarded, query)))
        steps.append(Step(f"event {name(composite.event)}", "occurrences", tuple(stages)))
    asked = replace(query, composite=tuple(_of_key_alone(each, focus) for each in query.composite), form=Form.RDF_STREAM)
    found = _matches(trials, focus, asked)[1]
    stopped: list[Stopped] = []
    if focus or not found:
        for composite in query.composite:
            stopped += Guarded(query, composite, trials, sentences, focus).stopped()
    if not focus:
        return Diagnosis(title, found, tuple(steps), len(stopped), "", tuple(stopped))
    total = len(trials.matches(replace(query, form=Form.RDF_STREAM)))
    return Diagnosis(title, total, tuple(steps), stopped=tuple(stopped), focused=found)


def _key_guard(guard: Pattern | None, focus: Focus) -> Pattern | None:
    """What a guard says of the events themselves, for the key asked about; None where it does not speak of it."""
    if guard is None or not in_scope(guard) & focus.key.keys():
        return None
    bare, _ = stripped(guard)
    return None if bare is None else _of_key(bare, focus)


def _of_key(guard: Pattern, focus: Focus) -> Pattern:
    for name, term in focus.key.items():
        if name in in_scope(guard):
            guard = Filter(Compare("=", Variable(name), Constant(term)), guard)
    return guard


def _of_key_alone(event: CompositeEvent, focus: Focus) -> CompositeEvent:
    return event if event.guard is None else replace(event, guard=_of_key(event.guard, focus))
