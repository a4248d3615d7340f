"""From a program and what is known before the run to its physical plan: the one place where a road is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scepter.algebra.continuous import ContinuousQuery, Extent, LastTriples, PeriodicQuery, Range
from scepter.algebra.events import EventQuery
from scepter.algebra.expressions import Aggregate, Compare
from scepter.algebra.patterns import PathPattern, Slice, TriplePattern
from scepter.algebra.query import Ask, Program, Query, Unit
from scepter.algebra.timed import TimedProgram
from scepter.algebra.timed_bounds import counts_units
from scepter.algebra.walk import Algebra, find, walk
from scepter.algebra.windows import (
    CountWindow,
    Landmark,
    Policy,
    RelationToStream,
    Report,
    StreamWindow,
    Version,
    WindowedQuery,
)
from scepter.errors import Diagnostic, QueryError, Span, option_error
from scepter.ontology.schema import compiled
from scepter.physical.facts import Facts, Seen
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.sequence_nodes import Refused, sequence
from scepter.physical.nodes.star_nodes import Counts
from scepter.physical.nodes.window_nodes import Output, Step, When
from scepter.physical.plan import PhysicalPlan, UnitPlan
from scepter.physical.planning.chain_as_sequence import chain_as_sequence
from scepter.physical.planning.chains_together import chains_together
from scepter.physical.planning.depth import refuse_deep, too_deep
from scepter.physical.planning.entailment import entailment_of
from scepter.physical.planning.estimates import estimates
from scepter.physical.planning.event_plan import event_plan
from scepter.physical.planning.interval_leaves import IntervalFacts
from scepter.physical.planning.interval_plan import plan_program
from scepter.physical.planning.pattern_properties import decides_late, is_monotone, is_ordered
from scepter.physical.planning.predicates import predicates_of
from scepter.physical.planning.sequence_planner import plan_query
from scepter.physical.planning.sharing import shared
from scepter.physical.planning.star_plan import StarFacts, plan_continuous
from scepter.physical.planning.window_contents import Content, VersionsOf, WindowOn
from scepter.physical.planning.window_plan import Reporting, WindowFacts, plan_periodic, plan_windowed
from scepter.rdf.terms import IRI
from scepter.timeline import MICROSECONDS, Duration, TimeKind

_ASKED = "the exact evaluator is asked for"


def plan(program: Program, facts: Facts) -> PhysicalPlan:
    """The plan of a program, its units planned alike; raises QueryError for what only planning can see.

    >>> from scepter.lower import lower
    >>> query = "SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }"
    >>> made = plan(lower(query).program, Facts())
    >>> [type(unit.root).__name__ for unit in made.units], made.facts.kind.value, made.assumed
    (['Sequence'], 'integer', True)
    """
    known = facts if facts.kind is not None else replace(facts, kind=assumed_kind(program))
    given = list(_split(program))
    try:
        joined = chains_together(_chains(given, known), known)
        units = tuple(_planned(number, unit, known, joined.get(number)) for number, unit in enumerate(given))
        refuse_deep(unit.root for unit in units if isinstance(unit.unit, TimedProgram))
        alike, groups = shared(units)
    except RecursionError:
        raise too_deep() from None
    return PhysicalPlan(alike, replace(known, statics=None, seen=None), assumed=facts.kind is None, shared=groups)


def _split(program: Program) -> Iterator[Unit]:
    """The units of a program, one per query: those over one stream have only rules in common. So a unit's number is the
    number of the query that its matches answer."""
    for unit in program.units:
        if isinstance(unit, TimedProgram):
            yield from (replace(unit, queries=(query,)) for query in unit.queries)
        else:
            yield unit


def assumed_kind(program: Program) -> TimeKind:
    """The kind of time that a query's own durations suggest: integers where one is a bare number, else dateTimes."""
    for node in walk(program):
        if isinstance(node, Compare) and counts_units(node.left, node.right):
            return TimeKind.INTEGER
        for name in getattr(node, "__dataclass_fields__", ()):
            value = getattr(node, name)
            if isinstance(value, Duration) and value.bare:
                return TimeKind.INTEGER
    return TimeKind.DATETIME


def _planned(number: int, unit: Unit, facts: Facts, joined: Node | None) -> UnitPlan:
    made = PLANNERS[type(unit)](unit, facts) if joined is None else _Made(joined, at_once=True)
    unknown = facts.statics is None or (bool(facts.ontology) and isinstance(unit, TimedProgram))  # what static data entails
    expected = estimates(made.root, None if unknown else facts.counts(unit))
    entailed = _entailed(unit, facts)
    return UnitPlan(number, unit, made.root, predicates_of(unit, facts), made.at_once, made.ranked, entailed, expected)


def _entailed(unit: Unit, facts: Facts) -> bool:
    """Whether events come with what they entail: to units that see a graph as one; the others match what triples entail."""
    if not facts.ontology or not isinstance(unit, Query | WindowedQuery):
        return False
    if compiled(facts.ontology).flattened() is None:
        raise option_error(
            "ontology",
            "the ontology has rules for rdf:type itself, and queries over graphs cannot be answered under them",
            help="leave out the statements about rdf:type",
        )
    return True


@dataclass(frozen=True, slots=True)
class _Made:
    root: Node
    at_once: bool = False
    ranked: bool = False


# ---- sequences over graph events


def _sequence(query: Query, facts: Facts) -> _Made:
    made = plan_query(query, indexed=facts.indexed)
    return _Made(sequence(query, made), made.at_once)


# ---- triples with intervals


def _timed(program: TimedProgram, facts: Facts) -> _Made:
    assert facts.kind is not None
    if not facts.exact and (sequential := _as_chain(program, facts)) is not None:
        return _Made(sequential, at_once=True)
    static = bool(facts.default_graph or facts.ontology)
    policy = None if facts.unrestricted else facts.policy
    count = None if facts.statics is None else facts.counts(program)
    seen = _seen(program, facts)
    known = IntervalFacts(facts.kind, static, policy, facts.ontology, facts.time_unit, count, seen)
    (root,) = plan_program(program, known)
    (query,) = program.queries
    late = policy is not None or any(map(decides_late, program.parts))
    return _Made(root, not late, is_ordered(query.pattern))


def _as_chain(program: TimedProgram, facts: Facts) -> Node | None:
    """The program as a sequence, where it is that and nothing but schema is static."""
    query = _sequence_of(program, facts)
    if query is None:
        return None
    made = plan_query(query, indexed=facts.indexed)
    flattened = entailment_of(made, facts.ontology) if facts.ontology else None
    if facts.ontology and flattened is None:
        return None
    why = "a chain of SEQ over single triple patterns" if len(made.scans) > 1 else "a single triple pattern"
    return sequence(query, made, flattened, why)


def _sequence_of(program: TimedProgram, facts: Facts) -> Query | None:
    assert facts.kind is not None
    if facts.background or not facts.unrestricted:
        return None
    return chain_as_sequence(program, facts.kind, shortest=1 if facts.ontology else 2)


def _chains(units: Sequence[Unit], facts: Facts) -> dict[int, Query]:
    """The units that are sequences of triples, where no schema is at work."""
    if facts.ontology or facts.exact:
        return {}
    timed = ((number, unit) for number, unit in enumerate(units) if isinstance(unit, TimedProgram))
    return {number: query for number, unit in timed if (query := _sequence_of(unit, facts)) is not None}


# ---- windows


def _windowed(query: WindowedQuery, facts: Facts) -> _Made:
    policy = Policy(facts.policy or Policy.UNRESTRICTED.value)
    try:
        windows = {window.name: _window(window, facts) for window in query.windows}
    except QueryError as error:
        return _Made(Refused(query, error))
    exact = _ASKED if facts.exact else ""
    known = WindowFacts(_reporting(query, windows, facts), policy, facts.counts(query), exact, _seen(query.pattern, facts))
    root, ranked = plan_windowed(query, windows, known)
    return _Made(root, ranked=ranked)


def _window(window: StreamWindow, facts: Facts) -> Content:
    assert facts.kind is not None
    extent = window.extent
    if isinstance(extent, Version):
        return VersionsOf((window.stream,), extent.default)
    if isinstance(extent, Landmark):
        if extent.kind is TimeKind.DATETIME and facts.kind is TimeKind.INTEGER:
            message = "the landmark is a dateTime, but the streams' timestamps are integers"
            raise QueryError(Diagnostic("time-kind", message, extent.span, notes=(_WINDOWS,)))
        units = 1 if extent.kind is facts.kind else MICROSECONDS[facts.time_unit]
        return WindowOn((window.stream,), None, Step(1, kind=facts.kind), extent.instant * units)
    if isinstance(extent, CountWindow):
        if extent.triples and facts.ontology:
            message = "a window of the last n triples counts what is said, and with --ontology triples stand for more than that"
            raise QueryError(
                Diagnostic("counted-window", message, extent.span, "write [RANGE d], or [ELEMENTS n]", (_WINDOWS,))
            )
        return WindowOn((window.stream,), None, Step(1), counted=extent)
    step = _ticks(extent.step or Duration(1, bare=True), facts, extent.span, _WINDOWS, "a longer")
    width = _ticks(extent.width, facts, extent.span, _WINDOWS, "a longer")
    return WindowOn((window.stream,), width, Step(step, kind=facts.kind))


def _ticks(duration: Duration, facts: Facts, span: Span | None, rule: str, which: str = "another") -> int:
    """A duration on the run's time line; an error of the query if it has none there."""
    assert facts.kind is not None
    try:
        return duration.ticks(facts.kind, facts.time_unit)
    except ValueError as error:
        advice = f"choose {which} window or a finer --time-unit"
        raise QueryError(Diagnostic("duration", str(error), span, advice, (rule,))) from None


def _reporting(query: WindowedQuery, windows: dict[IRI, Content], facts: Facts) -> Reporting:
    output = _OUTPUTS[query.output]
    if facts.evaluate_at is not None:
        return Reporting(When.INSTANTS, output, Step(1), facts.evaluate_at)
    if query.report is Report.CONTENT_CHANGE:
        return Reporting(When.ITEMS, output, Step(1))
    closing = [w.step.ticks for w in windows.values() if isinstance(w, WindowOn) and w.width is not None]
    return Reporting(When.MULTIPLES, output, Step(min(closing)))


_OUTPUTS = {
    RelationToStream.RSTREAM: Output.ALL,
    RelationToStream.ISTREAM: Output.NEW,
    RelationToStream.DSTREAM: Output.GONE,
}


# ---- triples that count for a time


def _continuous(query: ContinuousQuery, facts: Facts) -> _Made:
    try:
        sources = tuple((source.stream.iri, _counts(source.extent, facts)) for source in query.sources)
        otherwise = _counts(query.otherwise, facts)
    except QueryError as error:
        return _Made(Refused(query, error))
    known = StarFacts(sources, otherwise, facts.counts(query), _unflattened(query, facts), facts.exact)
    counted = any(counts.last is not None for counts in (otherwise, *(counts for _, counts in sources)))
    at_once = is_monotone(query.pattern) and not counted and not isinstance(query.result, Ask)
    return _Made(plan_continuous(query, known), at_once, is_ordered(query.pattern))


def _counts(extent: Extent, facts: Facts) -> Counts:
    """How long a triple counts, in ticks."""
    match extent:
        case None:
            return Counts()
        case LastTriples(count):
            return Counts(last=count)
        case Range(duration, span):
            return Counts(_ticks(duration, facts, span, _CONTINUOUSLY))


def _unflattened(query: ContinuousQuery | PeriodicQuery, facts: Facts) -> str:
    """Why what the schema entails is not looked up in tables; empty where it is."""
    schema = compiled(facts.schema, facts.ontology)
    uses: list[TriplePattern | PathPattern] = [*find(query.pattern, TriplePattern), *find(query.pattern, PathPattern)]
    if schema.extends_itself() or schema.reduced(uses).flattened() is None:
        return "the schema has rules for rdf:type itself"
    return ""


def _periodic(query: PeriodicQuery, facts: Facts) -> _Made:
    assert facts.kind is not None
    try:
        grid = Step(_step(query, facts), facts.start, facts.kind)
        streams: dict[int, list[IRI]] = {}
        for source in query.sources:
            streams.setdefault(_ticks(source.range, facts, source.span, _PERIODICALLY), []).append(source.stream.iri)
    except QueryError as error:
        return _Made(Refused(query, error))
    windows = [WindowOn(tuple(dict.fromkeys(iris)), width, grid) for width, iris in streams.items()]
    exact = _ASKED if facts.exact else _unflattened(query, facts)
    every = query.report is Report.WINDOW_CLOSE
    seen, entailed = _seen(query.pattern, facts), bool(facts.ontology or facts.schema)
    root, ranked = plan_periodic(
        query.pattern, windows, grid, facts.counts(query), every=every, exact=exact, seen=seen, entailed=entailed
    )
    return _Made(root, ranked=ranked)


def _seen(pattern: Algebra, facts: Facts) -> Seen | None:
    """What may order the joins of a pattern: nothing where answers show in which order solutions were found, or where a schema
    entails what no sample holds."""
    cut = next(find(pattern, Slice), None) is not None
    shown = cut or any(each.function in _AS_THEY_COME for each in find(pattern, Aggregate))
    return None if shown or facts.ontology or facts.schema else facts.seen


def _step(query: PeriodicQuery, facts: Facts) -> int:
    """The one step of a query's windows, in ticks."""
    first = query.sources[0]
    step = _ticks(first.step, facts, first.span, _PERIODICALLY)
    for source in query.sources[1:]:
        if _ticks(source.step, facts, source.span, _PERIODICALLY) != step:
            message = f"all periodic windows of a query have one step, and here are two: {first.step} and {source.step}"
            raise QueryError(Diagnostic("mixed-steps", message, source.span, notes=(_PERIODICALLY,)))
    return step


def _events(query: EventQuery, facts: Facts) -> _Made:
    made = event_plan(query, facts)
    return _Made(made.root, made.at_once)


_AS_THEY_COME = ("SAMPLE", "GROUP_CONCAT")
_WINDOWS = "rule 1 of RSEP-QL (Windows) says what a window holds"
_CONTINUOUSLY = "rule 1 of Sparkwave (Continuous matching) says how long a triple counts"
_PERIODICALLY = "rule 2 of Sparkwave (Periodic windows) says when a query is evaluated, and over what"
"""What a query that cannot be planned would have to fit: the rule of its language."""

Planner = Callable[[Any, Facts], _Made]
PLANNERS: dict[type, Planner] = {
    Query: _sequence,
    TimedProgram: _timed,
    WindowedQuery: _windowed,
    ContinuousQuery: _continuous,
    PeriodicQuery: _periodic,
    EventQuery: _events,
}
"""Kind of unit -> (unit, facts) -> its plan."""
