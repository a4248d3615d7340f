"""What `explain` says of a unit besides its operators: when it answers, what it keeps, how it is divided, what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.events import EventQuery
from scepter.algebra.notation import Notation
from scepter.algebra.query import Ask, Construct, Counting, Program, Query, Result, Resume, Select, Selection, Sliding, Tumbling
from scepter.algebra.timed import TimedProgram
from scepter.algebra.windows import WindowedQuery
from scepter.physical.event_outline import event_notes
from scepter.physical.facts import Facts
from scepter.physical.horizon import horizon
from scepter.physical.partitioning import unit_partitioning
from scepter.physical.plan import PhysicalPlan, UnitPlan
from scepter.physical.sequence_plan import QueryPlan
from scepter.physical.stages import Stages, Undivided, unit_stages
from scepter.physical.triple_outline import continuous_notes, periodic_notes
from scepter.physical.unit_nodes import Sequence
from scepter.physical.window_outline import windowed_notes
from scepter.physical.wording import division, listed, readable
from scepter.timeline import Duration, TimeKind


def notes_of(unit: UnitPlan, plan: PhysicalPlan, notation: Notation) -> Iterator[str]:
    """`subject: sentence`, in the order they are shown."""
    result = unit.root.query.result if isinstance(unit.root, Sequence) else getattr(unit.unit, "result", None)
    if result is not None:
        yield f"result: {_result(result, notation)}"
    yield from _of_unit(unit, plan, notation)
    yield f"columns: {'; '.join(f'not all of it: {reason}' for reason in unit.exact) or 'all of it'}"
    yield from _shared(unit, plan)
    yield f"time: {_time(plan)}"
    yield f"looks back: {_looks_back(unit, plan.facts)}"
    yield f"partitioning: {_partitioning(unit, plan.facts)}"
    yield from (f"stages: {sentence}" for sentence in _stages(unit, notation))
    yield f"predicates: {_predicates(unit, notation)}"
    if isinstance(unit.unit, Query) and isinstance(unit.root, Sequence):
        yield from (f"release: {sentence}" for sentence in _release(unit.root.plan))


_RESUMES = {
    Resume.NEXT: "later matches begin behind its first event",
    Resume.PAST_LAST: "later matches begin behind its end",
    Resume.FIRST: "later matches begin no earlier than its first {}",
    Resume.LAST: "later matches begin no earlier than its last {}",
}


def warnings_of(unit: UnitPlan) -> tuple[str, ...]:
    """State that nothing bounds."""
    if isinstance(unit.unit, Query) and isinstance(unit.root, Sequence):
        plan = unit.root.plan
        if plan.window is None and _waits(plan):
            return ("the state is unbounded: add a WITHIN clause, for example WITHIN 30 MINUTES",)
    return ()


def _of_unit(unit: UnitPlan, plan: PhysicalPlan, notation: Notation) -> Iterator[str]:
    ontology = plan.facts.ontology
    match unit.unit:
        case Query() as query:
            yield f"window: {_window(query)}"
            if query.skip is not None:
                yield f"after a match: {_RESUMES[query.skip.resume].format(query.skip.label)}"
            if query.timeouts:
                yield "result: partial matches that ran out of time, instead of matches"
        case TimedProgram():
            yield "policy: unrestricted, unless --policy asks for chronological or recent"
            yield "release: a solution is reported once time has passed its end, and never taken back"
        case EventQuery() as query:
            yield from event_notes(query, notation, ontology)
        case WindowedQuery() as query:
            yield from windowed_notes(query)
        case ContinuousQuery() as query:
            yield from continuous_notes(query, notation)
        case PeriodicQuery() as query:
            yield from periodic_notes(query, notation)


def _shared(unit: UnitPlan, plan: PhysicalPlan) -> Iterator[str]:
    """The other queries that run with this one."""
    for numbers in plan.shared:
        if unit.number in numbers:
            others = [str(number + 1) for number in numbers if number != unit.number]
            which = f"{'query' if len(others) == 1 else 'queries'} {', '.join(others)}"
            yield f"shared: equal operators run once for this query and {which}"


def _time(plan: PhysicalPlan) -> str:
    assert plan.facts.kind is not None
    kind = f"{plan.facts.kind.value} timestamps"
    return f"{kind}, assumed from the query: no stream has been looked at" if plan.assumed else kind


def _looks_back(unit: UnitPlan, facts: Facts) -> str:
    assert facts.kind is not None
    back = horizon(Program((unit.unit,)), facts.kind, facts.time_unit, facts.policy)
    if back is None:
        return "for ever, as far as can be told: a new live run needs a duration with --warm-up"
    span = Duration(back - 1, bare=facts.kind is TimeKind.INTEGER)
    return f"{span} at most: a new live run with --warm-up auto begins with so much history"


def _partitioning(unit: UnitPlan, facts: Facts) -> str:
    return division(unit_partitioning(unit, facts))


def _stages(unit: UnitPlan, notation: Notation) -> Iterator[str]:
    """What runs where events are read, and what crosses to the buckets of the key; or why events cross as they are."""
    if isinstance(unit.root, Sequence):
        return
    match unit_stages(unit):
        case Stages(below=below, why=why, variables=variables):
            read = "; ".join(readable(node.line(notation)) for node in below)
            yield f"where events are read: {read}"
            buckets = f"in one bucket, since {why}" if why else f"in buckets of {listed(variables)}"
            yield f"{buckets}: all above"
        case Undivided(why):
            yield f"one, whose live state is a log of events: {why}"


def _predicates(unit: UnitPlan, notation: Notation) -> str:
    if unit.predicates is None:
        return "all: any can matter"
    shown = ", ".join(sorted(notation.term(predicate) for predicate in unit.predicates))
    return f"{shown or 'none'}; triples with any other are skipped while reading"


def _result(result: Result, notation: Notation) -> str:
    match result:
        case Select(columns, distinct):
            written = [f"?{v.name}" if e is None else f"({notation.expression(e)} AS ?{v.name})" for v, e in columns]
            return f"SELECT {'DISTINCT ' if distinct else ''}{' '.join(written)}"
        case Construct(template, into):
            target = "" if into is None else f" INTO STREAM {notation.term(into)}"
            return f"CONSTRUCT {{ {' . '.join(notation.triple(t) for t in template)} }}{target}"
        case Ask():
            return "ASK"
        case _:
            assert_never(result)


def _window(query: Query) -> str:
    match query.window:
        case Tumbling(duration):
            return f"tumbling, {duration}: all events of a match lie in one window"
        case Sliding(duration):
            return f"sliding, {duration}: a match ends at most that long after it starts"
        case Counting(events):
            return f"{events} events: at most so many events of the streamset lie between a match's start and end"
        case None:
            return "none"
        case _:
            assert_never(query.window)


def _release(plan: QueryPlan) -> list[str]:
    fires_late = [bool(chain.trailing) for chain in plan.chains]
    sentences = []
    if not all(fires_late):
        sentences.append("a match is reported as soon as no event can still come at or before its end")
    if any(fires_late):
        which = "a match" if all(fires_late) else "a match without its last, optional part"
        sentences.append(f"{which} is reported when its window closes without the negated event")
    if not _keeps(plan):
        return [*sentences, "nothing is kept: each event decides alone"]
    match plan.window:
        case Tumbling():
            sentences.append("unfinished matches are dropped when their window closes")
        case Sliding(duration):
            sentences.append(f"an unfinished match is dropped {duration} after its start")
        case Counting(events):
            sentences.append(f"an unfinished match is dropped once {events} events have come since its start")
        case None if _waits(plan):
            sentences.append("unfinished matches are never dropped")
        case None:
            sentences.append("an unfinished match is dropped when the next event does not continue it")
        case _:
            assert_never(plan.window)
    return sentences


def _keeps(plan: QueryPlan) -> bool:
    """Whether anything outlives an instant."""
    return any(
        len(chain.steps) > 1 or chain.steps[0].iteration is not None or chain.leading or chain.trailing for chain in plan.chains
    )


def _waits(plan: QueryPlan) -> bool:
    """Whether something may be kept for longer than until the next event, if no window ends it."""
    for chain in plan.chains:
        followers = [step.selection for step in chain.steps[1:]]
        followers += [step.iteration.selection for step in chain.steps if step.iteration is not None]
        negations = any(step.negations for step in chain.steps)
        if chain.leading or negations or any(s is not Selection.STRICT for s in followers):
            return True
    return False
