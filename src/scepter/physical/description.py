"""What there is to say about a query's plan: the facts that every format of `explain` shows.

The fields of these classes are the schema of `explain --format json` (version `SCHEMA`), names and all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from scepter.algebra.notation import Notation
from scepter.algebra.query import Ask, Construct, Counting, Program, Query, Result, Select, Selection, Sliding, Tumbling
from scepter.algebra.text import format_node
from scepter.optimizer.pipeline import optimize
from scepter.physical.automaton import Automaton, automaton_of
from scepter.physical.outline import outline
from scepter.physical.partitioning import Partitioning, partitioning
from scepter.physical.sequence_plan import QueryPlan, Road, ScanPlan
from scepter.physical.sequence_planner import plan_query
from scepter.physical.tree import StreamFacts, UnitFacts
from scepter.physical.wording import title
from scepter.rdf.terms import IRI, Triple

SCHEMA = "scepter-explain/1"
"""The version of the JSON: a field may be added within it; to change or drop one is a new version."""


@dataclass(frozen=True, slots=True)
class ScanFacts:
    """A graph pattern, the road it takes and why."""

    label: str
    stream: str
    pattern: tuple[str, ...]
    """The elements of its group, outermost FILTERs apart."""
    filters: tuple[str, ...]
    """The filters that the event alone decides."""
    road: Road
    why: str
    binds: tuple[str, ...]
    matched_with: tuple[str, ...]
    """GPMs that have the same pattern and are matched in one go with this one."""


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """One query of a file."""

    number: int
    result: str
    streams: tuple[StreamFacts, ...]
    window: str
    partitioning: Partitioning
    predicates: tuple[str, ...] | None
    """The predicates the patterns can use, None if that is all of them."""
    scans: tuple[ScanFacts, ...]
    automaton: Automaton
    release: tuple[str, ...]
    """When matches are reported and when state is dropped."""
    warnings: tuple[str, ...]
    algebra: str


@dataclass(frozen=True, slots=True)
class Description:
    """A file of queries."""

    schema: str
    language: str
    queries: tuple[QueryFacts, ...]
    units: tuple[UnitFacts, ...]
    """What of the file is no sequence over graph events."""


def describe(program: Program, language: str, prefixes: Mapping[str, str], ontology: Sequence[Triple] = ()) -> Description:
    """The facts about the plans of a program, as it is run: optimised, with the ontology that it will be given."""
    optimized = optimize(program)
    makers: dict[IRI, int] = {}
    for number, unit in enumerate(optimized.units, 1):
        if unit.into is not None:
            makers.setdefault(unit.into, number)
    numbered = list(enumerate(optimized.units, 1))
    queries = tuple(_query(number, unit, makers, prefixes) for number, unit in numbered if isinstance(unit, Query))
    count, notation = len(optimized.units), Notation(prefixes)
    units = tuple(
        outline(number, unit, title(language, number, count), makers, notation, ontology)
        for number, unit in numbered
        if not isinstance(unit, Query)
    )
    return Description(SCHEMA, language, queries, units)


def _query(number: int, query: Query, makers: Mapping[IRI, int], prefixes: Mapping[str, str]) -> QueryFacts:
    plan, notation = plan_query(query), Notation(prefixes)
    return QueryFacts(
        number=number,
        result=_result(plan.result, notation),
        streams=tuple(StreamFacts(s.iri.value, s.alias, makers.get(s.iri)) for s in plan.streams),
        window=_window(plan),
        partitioning=partitioning(plan),
        predicates=None if plan.predicates is None else tuple(sorted(notation.term(p) for p in plan.predicates)),
        scans=tuple(_scan(scan, plan, notation) for scan in plan.scans),
        automaton=automaton_of(plan, notation),
        release=tuple(_release(plan)),
        warnings=tuple(_warnings(plan)),
        algebra=format_node(query, prefixes),
    )


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


def _window(plan: QueryPlan) -> str:
    match plan.window:
        case Tumbling(duration):
            return f"tumbling, {duration}: all events of a match lie in one window"
        case Sliding(duration):
            return f"sliding, {duration}: a match ends at most that long after it starts"
        case Counting(events):
            return f"{events} events: at most so many events of the streamset lie between a match's start and end"
        case None:
            return "none"
        case _:
            assert_never(plan.window)


def _scan(scan: ScanPlan, plan: QueryPlan, notation: Notation) -> ScanFacts:
    stream = plan.streams[scan.stream]
    together = [s.label for s in plan.scans if s is not scan and s.shape is not None and s.shape == scan.shape]
    return ScanFacts(
        label=scan.label,
        stream=stream.alias or notation.term(stream.iri),
        pattern=tuple(notation.parts(scan.pattern)),
        filters=tuple(notation.expression(e) for e in scan.local),
        road=scan.road,
        why=scan.why,
        binds=tuple(plan.variables[s] for s in scan.slots),
        matched_with=tuple(dict.fromkeys(label for label in together if label != scan.label)),
    )


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


def _warnings(plan: QueryPlan) -> list[str]:
    if plan.window is None and _waits(plan):
        return ["the state is unbounded: add a WITHIN clause, for example WITHIN 30 MINUTES"]
    return []
