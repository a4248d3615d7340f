"""What `explain` says of a unit besides its operators: when it answers, what it keeps, how it is divided, what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from scepter.algebra.continuous import ContinuousQuery, Extent, LastTriples, PeriodicQuery, Range
from scepter.algebra.events import EventQuery, Occurs, needs_end, patterns
from scepter.algebra.expressions import Constant
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import PathPattern, Pattern, TriplePattern
from scepter.algebra.query import Ask, Construct, Counting, Program, Query, Result, Resume, Select, Selection, Sliding, Tumbling
from scepter.algebra.timed import TimedProgram
from scepter.algebra.walk import find
from scepter.algebra.windows import (
    Earliest,
    EventPattern,
    Followed,
    ItemScan,
    Latest,
    RelationToStream,
    Report,
    WindowedQuery,
)
from scepter.ontology.axioms import read_ontology
from scepter.ontology.recognition import route
from scepter.physical.distribution.cutting import Owned
from scepter.physical.distribution.exchanges import unit_exchanges
from scepter.physical.distribution.horizon import horizon
from scepter.physical.distribution.hot_keys import live_hot_keys, within_key
from scepter.physical.distribution.partitioning import FEEDING, begins_only, feeding, kept_together, plan_partitioning
from scepter.physical.distribution.stages import Stages, Undivided, unit_stages
from scepter.physical.explain.event_text import shortened
from scepter.physical.explain.wording import division, readable
from scepter.physical.facts import Facts
from scepter.physical.nodes.nodes import listed, nodes
from scepter.physical.nodes.sequence_nodes import Refused
from scepter.physical.nodes.sequence_nodes import Sequence as SequenceNode
from scepter.physical.nodes.time_nodes import TimeJoin
from scepter.physical.nodes.window_nodes import ValidityJoin
from scepter.physical.plan import PhysicalPlan, UnitPlan
from scepter.physical.sequence_plan import QueryPlan
from scepter.rdf.terms import IRI, TYPE, Triple
from scepter.timeline import Duration, TimeKind


def notes_of(unit: UnitPlan, plan: PhysicalPlan, notation: Notation) -> Iterator[str]:
    """`subject: sentence`, in the order they are shown."""
    result = unit.root.query.result if isinstance(unit.root, SequenceNode) else getattr(unit.unit, "result", None)
    if result is not None:
        yield f"result: {_result(result, notation)}"
    yield from _of_unit(unit, plan, notation)
    yield f"columns: {'; '.join(f'not all of it: {reason}' for reason in unit.exact) or 'all of it'}"
    yield from _shared(unit, plan)
    if plan.facts.sampled and sum(isinstance(node, TimeJoin | ValidityJoin) for node in nodes(unit.root)) > 1:
        yield f"joins: ordered by what the first {plan.facts.sampled} triples of the streams hold"
    yield f"time: {_time(plan)}"
    yield f"looks back: {_looks_back(unit, plan.facts)}"
    yield f"partitioning: {division(plan_partitioning(unit, plan))}"
    yield from (f"hot keys: {sentence}" for sentence in _hot_keys(unit, plan.facts))
    yield from (f"stages: {sentence}" for sentence in _stages(unit, notation))
    if unit in [plan.units[number] for number in feeding(plan)]:
        round = 1 + plan.rounds[plan.units.index(unit)]
        yield f"stages: over history in round {round} of {1 + max(plan.rounds)}: {_ROUNDS}"
        if kept_together(plan):
            yield f"stages: live one for all of these queries, whose state is a log of events: {FEEDING}"
        elif round > 1:
            yield "stages: live behind those of the queries that construct what it reads"
    if unit.at_once:
        yield f"open instant: {_IN_PARTS if unit.in_parts else _ANEW}"
    yield f"predicates: {_predicates(unit, notation)}"
    if isinstance(unit.unit, Query) and isinstance(unit.root, SequenceNode):
        yield from (f"release: {sentence}" for sentence in _release(unit.root.plan))


_IN_PARTS = "an event that is pushed at the time of the last one is processed alone"
_ANEW = "an event that is pushed at the time of the last one is processed with all others of that time"
_ROUNDS = "what one query constructs crosses to those that read it, as events that any task may read"
_RESUMES = {
    Resume.NEXT: "later matches begin behind its first event",
    Resume.PAST_LAST: "later matches begin behind its end",
    Resume.FIRST: "later matches begin no earlier than its first {}",
    Resume.LAST: "later matches begin no earlier than its last {}",
}


def warnings_of(unit: UnitPlan) -> tuple[str, ...]:
    """State that nothing bounds."""
    if isinstance(unit.unit, Query) and isinstance(unit.root, SequenceNode):
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
            yield from _events(query, notation, ontology)
        case WindowedQuery() as query:
            yield from _windowed(query)
        case ContinuousQuery() as query:
            yield from _continuous(query, notation)
        case PeriodicQuery() as query:
            yield from _periodic(query, notation)


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
    bare = facts.kind is TimeKind.INTEGER
    span = Duration(back - 1 if bare else -(-(back - 1) // 1_000) * 1_000, bare=bare)  # in whole milliseconds
    return f"{span} at most: a new live run with --warm-up auto begins with so much history"


def _hot_keys(unit: UnitPlan, facts: Facts) -> Iterator[str]:
    """What becomes of a key with more than a worker's share of the rows."""
    match within_key(unit, facts):
        case int():
            yield "over history cut into slices of time as well"
        case str(why):
            yield f"over history all of a key is in one bucket: {why}"
    match live_hot_keys(unit):
        case "":
            assert isinstance(unit.root, SequenceNode)
            others = "what begins matches to one of them, all else" if begins_only(unit.root.plan) else "every row"
            who = "scepter run --follow, scepter.each_batch"
            yield f"live over several buckets, by the first event of matches ({who}): {others} to each"
        case str(why):
            yield f"live all of a key is in one bucket: {why}"


def _stages(unit: UnitPlan, notation: Notation) -> Iterator[str]:
    """What runs where events are read, and what crosses to the buckets of the key; or why events cross as they are."""
    if isinstance(unit.root, Refused):
        return
    if not isinstance(unit.root, SequenceNode):
        match unit_stages(unit):
            case Stages(below=below, above=above) as found:
                read = "; ".join(readable(node.line(notation)) for node in below)
                yield f"where events are read: {read}"
                yield f"{_buckets(found)}: all above"
                if cut_down := [readable(node.input.line(notation)) for node in nodes(above) if isinstance(node, Owned)]:
                    yield f"{Owned.says}, where every bucket has the same rows: behind {'; '.join(cut_down)}"
            case Undivided(why):
                yield f"one, whose live state is a log of events: {why}"
    several = unit_exchanges(unit)
    if len(several) == 1:
        yield f"live {_buckets(several[0].stages)}: rows of other buckets might be one answer"
    elif several:
        told = [f"{_buckets(stage.stages)}: {readable(stage.stages.above.line(notation))}" for stage in several]
        yield f"live {len(several)}, one behind another: {'; then '.join(told)}"


def _buckets(found: Stages) -> str:
    if isinstance(found.above, SequenceNode):
        return "in buckets as above"
    if not found.why:
        return f"in buckets of {listed(found.variables)}"
    if not found.dimensions:
        return f"in one bucket, since {found.why}"
    along = " and ".join(f"by {listed(each.variables)}" for each in found.dimensions)
    return f"in a grid of buckets {along}, since {found.why} (rows that one does not divide go to every bucket along it)"


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


# ---- windows

_OUTPUT = {
    RelationToStream.ISTREAM: "ISTREAM, what is new since the previous evaluation",
    RelationToStream.RSTREAM: "RSTREAM, the whole answer of each evaluation",
    RelationToStream.DSTREAM: "DSTREAM, what has gone since the previous evaluation",
}


def _windowed(query: WindowedQuery) -> Iterator[str]:
    """When a query is evaluated, what goes to the output, and its policy."""
    if query.report is Report.CONTENT_CHANGE:
        instants = "at every instant at which a stream of the query has an item (content change)"
    else:
        instants = "at every multiple of the smallest step, from the first item on (window close)"
    yield f"evaluated: {instants}; with --evaluate-at, at the instants given"
    yield f"output: {_OUTPUT[query.output]}"
    if any(_follows(event) for event in query.events):
        yield "policy: of a SEQ without its own: --policy, else unrestricted"


def _follows(event: EventPattern) -> bool:
    match event:
        case ItemScan():
            return False
        case Earliest(operand) | Latest(operand):
            return _follows(operand)
        case Followed(left, right, policy):
            return policy is None or _follows(left) or _follows(right)
        case _:
            assert_never(event)


# ---- triples


def _continuous(query: ContinuousQuery, notation: Notation) -> Iterator[str]:
    """When matches are reported, and what of the schema is used."""
    lasting = [source.extent for source in query.sources] or [query.otherwise]
    for source in query.sources:
        yield f"window: on {source.stream.alias or notation.term(source.stream.iri)} {_counts(source.extent)}"
    if not query.sources:
        yield f"window: {_counts(query.otherwise)}"
    unbounded = "; a stream without a window is never forgotten" if None in lasting else ""
    yield "evaluated: continuously; a match is reported once, when its last triple is known"
    if query.graphs:
        yield f"static: data and schema in {', '.join(notation.term(name) for name in query.graphs)}"
    yield f"release: triples are dropped when they count no more{unbounded}"
    yield _schema(query.pattern, notation)


def _periodic(query: PeriodicQuery, notation: Notation) -> Iterator[str]:
    """When it is evaluated, and what of the schema is used."""
    steps = " and ".join(dict.fromkeys(str(source.step) for source in query.sources))
    when = "whose window holds an event" if query.report is Report.CONTENT_CHANGE else "from the first event on"
    yield f"evaluated: at every multiple of {steps} {when}, over all windows and static data at once"
    yield _schema(query.pattern, notation)


def _schema(pattern: Pattern, notation: Notation) -> str:
    """Which words of the patterns keep a part of the schema; a path or a variable as predicate can use all of it."""
    triples = list(find(pattern, TriplePattern))
    if next(find(pattern, PathPattern), None) is not None or not all(isinstance(t.predicate, Constant) for t in triples):
        return "schema: all of it is used, as a pattern can match any predicate"
    words: dict[str, None] = {}
    for triple in triples:
        assert isinstance(triple.predicate, Constant)
        if triple.predicate.term != IRI(TYPE):
            words[notation.term(triple.predicate.term)] = None
        elif not isinstance(triple.object, Constant):
            words["every class"] = None
        else:
            words[notation.term(triple.object.term)] = None
    return f"schema: reduced before the run to what the patterns use: {', '.join(words) or 'nothing'}"


def _counts(extent: Extent) -> str:
    match extent:
        case Range(duration):
            return f"a triple counts for {duration}"
        case LastTriples(count):
            return f"a triple counts while it is among the last {count}"
        case None:
            return "a triple counts for ever"
        case _:
            assert_never(extent)


# ---- events


def _events(query: EventQuery, notation: Notation, ontology: Sequence[Triple]) -> Iterator[str]:
    """The reasoners, the policy, when occurrences are certain, and what is of no use."""
    defined = [*(event.event for event in query.logical), *(event.event for event in query.composite)]
    made_of = {part.event for event in query.composite for part in patterns(event.pattern) if isinstance(part, Occurs)}
    idle = [notation.term(iri) for iri in defined if iri not in made_of and iri not in query.returned]
    certain = (
        "LAST is certain only at the end of bounded input, or at the instants of --evaluate-at"
        if needs_end(query) is not None
        else "an occurrence is reported once no item can still come at or before its end"
    )
    yield f"reasoners: {_reasoners(query, notation, ontology)}"
    yield "policy: unrestricted"
    yield f"release: {certain}"
    if idle:
        yield f"not used: {', '.join(idle)}"


def _reasoners(query: EventQuery, notation: Notation, ontology: Sequence[Triple]) -> str:
    if not ontology:
        return "those that the definitions alone need; axioms of an ontology beyond rules take HermiT where they matter"
    hard = sorted({reason for _, reason in route(read_ontology(ontology), query.logical).hard})
    if not hard:
        return "those that the definitions and the ontology need"
    beyond = shortened(", ".join(hard), notation.prefixes)
    return f"by event below; HermiT serves all events of items on which these can bear: {beyond}"
