"""The plans of units that are no sequences over graph events: for each a tree of operators and notes on how it is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import assert_never

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.events import EventQuery
from scepter.algebra.notation import Notation
from scepter.algebra.query import Counting, Sliding, Unit
from scepter.algebra.timed import Rule, Sources, TimedProgram, TimedQuery, TimedWindow
from scepter.algebra.windows import (
    Earliest,
    EventPattern,
    Followed,
    ItemScan,
    Landmark,
    Latest,
    Policy,
    RelationToStream,
    Report,
    StreamWindow,
    TimeWindow,
    WindowedQuery,
    window_graph,
)
from scepter.physical.event_outline import event_notes, event_tree
from scepter.physical.lift_groups import lift_groups
from scepter.physical.lift_sequences import lift_sequence
from scepter.physical.operators import Operators
from scepter.physical.pairs import plan_pairs
from scepter.physical.tree import Node, StreamFacts, UnitFacts
from scepter.physical.triple_outline import continuous_notes, continuous_tree, periodic_notes, periodic_tree
from scepter.rdf.terms import IRI, Term, Triple
from scepter.timeline import Duration, TimeKind, format_instant


def outline(
    number: int,
    unit: Unit,
    title: str,
    makers: Mapping[IRI, int],
    notation: Notation,
    ontology: Sequence[Triple] = (),
) -> UnitFacts:
    """The facts about the plan of a unit; `makers` tells which query constructs a stream."""
    kind, tree, notes = _outlined(unit, notation, ontology)
    streams = tuple(StreamFacts(s.iri.value, s.alias, makers.get(s.iri)) for s in unit.streams)
    return UnitFacts(number, kind, title, streams, tree, notes)


def _outlined(unit: Unit, notation: Notation, ontology: Sequence[Triple]) -> tuple[str, Node, tuple[str, ...]]:
    match unit:
        case TimedProgram():
            return "timed", timed_tree(unit, notation), timed_notes(unit)
        case EventQuery():
            notes = event_notes(unit, notation, ontology)
            return "events", event_tree(unit, notation, ontology), (*notes, _one_task(_EVENTS))
        case WindowedQuery():
            return "windowed", windowed_tree(unit, notation), windowed_notes(unit)
        case ContinuousQuery():
            notes = continuous_notes(unit, notation, ontology)
            return "continuous", continuous_tree(unit, notation, ontology), (*notes, _one_task(_TRIPLES))
        case PeriodicQuery():
            notes = periodic_notes(unit, notation, ontology)
            return "periodic", periodic_tree(unit, notation, ontology), (*notes, _one_task(_WINDOWS))
        case _:  # a unit is anything that reads streams: one without an outline is shown as it is
            return type(unit).__name__, generic_tree(unit), (_one_task("it is no sequence over graph events"),)


_EVENTS = "an occurrence may be made of items of all streams"
_TRIPLES = "a match may join any triples that count at the same time"
_WINDOWS = "an evaluation needs the whole content of its windows"


def _one_task(why: str) -> str:
    return f"partitioning: one task on Spark; {why}"


def generic_tree(value: object, name: str = "") -> Node:
    """Any dataclass as a tree of its fields."""
    lead = f"{name}: " if name else ""
    if isinstance(value, tuple):
        return Node(f"{name or 'list'} ({len(value)})", (), tuple(generic_tree(item) for item in value))
    if not is_dataclass(value) or isinstance(value, type) or not fields(value):
        return Node(f"{lead}{value}" or "empty")
    parts = [(f.name, getattr(value, f.name)) for f in fields(value) if f.name != "span"]
    nested = [part for part in parts if isinstance(part[1], tuple) or is_dataclass(part[1])]
    details = tuple(f"{key}: {plain}" for key, plain in parts if (key, plain) not in nested)
    return Node(f"{lead}{type(value).__name__}", details, tuple(generic_tree(item, key) for key, item in nested))


# ---- EP-SPARQL


def timed_tree(program: TimedProgram, notation: Notation) -> Node:
    """The queries of a program and the rules that feed them."""
    parts = tuple(_timed(part, notation) for part in program.parts)
    if len(parts) == 1 and not program.rules:
        return parts[0]
    details = ("rules and queries all see what rules derive, to the least fixpoint",) if program.rules else ()
    return Node("Program", details, parts)


def _timed(part: Rule | TimedQuery, notation: Notation) -> Node:
    operators = Operators(notation, timed=True, scan="Occurrences")
    details = [*_sources(part.sources, notation), *_aggregated(part.window)]
    if isinstance(part, TimedQuery):
        return operators.tree(part.result, part.pattern, details)
    template = " . ".join(notation.triple(t) for t in part.template)
    tree = (operators.knowing(part.pattern).pattern(part.pattern),)
    return Node(f"CONSTRUCT {{ {template} }}", (f"rule: {part.label}; its triples enter the stream", *details), tree)


def _sources(sources: Sources, notation: Notation) -> list[str]:
    told = []
    if sources.streams is not None:
        told.append(f"of the streams: {_named(sources.streams, notation)}")
    if sources.default is not None:
        told.append(f"static default graph: {_named(sources.default, notation)}")
    if sources.named is not None:
        told.append(f"GRAPH ranges over: {_named(sources.named, notation)}")
    return told


def _aggregated(window: TimedWindow | None) -> list[str]:
    match window:
        case Sliding(duration):
            return [f"aggregates run over the solutions of the last {duration}"]
        case Counting(events):
            return [f"aggregates run over the last {events} solutions of a group"]
        case None:
            return []
        case _:
            assert_never(window)


def timed_notes(program: TimedProgram) -> tuple[str, ...]:
    """Which kernel takes a program, its policy, when solutions are reported, and how it is divided."""
    return (
        f"kernel: {_timed_kernel(program)}",
        "policy: unrestricted, unless --policy asks for chronological or recent",
        "release: a solution is reported once time has passed its end, and never taken back",
        _one_task("a solution may join occurrences from anywhere in the streams"),
    )


def _timed_kernel(program: TimedProgram) -> str:
    grouped = [kind.value for kind in TimeKind if lift_groups(program, kind) is not None]
    kinds = grouped or [kind.value for kind in TimeKind if lift_sequence(program, kind) is not None]
    if not kinds:
        return "timed; this is no plain chain of SEQ over single triple patterns, which the columnar kernel would take"
    on = "" if len(kinds) == len(TimeKind) else f" and timestamps are of the kind {kinds[0]}"
    given = f"where no background, ontology or other policy is given{on}; else timed"
    what = (
        "groups of a single triple pattern or of a chain of SEQ over such"
        if grouped
        else "a chain of SEQ over single triple patterns"
    )
    return f"columnar, as {what}, {given}"


# ---- RSEP-QL


def windowed_tree(query: WindowedQuery, notation: Notation) -> Node:
    """The query over its windows, with the event patterns that MATCH stands for."""
    windows = {window.name: _extent(window, notation) for window in query.windows}
    graphs: dict[Term, Node] = {
        window_graph(name): Node(f"WINDOW {notation.term(name)}", (extent,)) for name, extent in windows.items()
    }
    matches = [Node("MATCH", (), (_event(event, notation),)) for event in query.events]
    operators = Operators(notation, graphs=graphs, matches=matches)
    details = [f"window {notation.term(name)}: {extent}" for name, extent in windows.items()]
    if query.default_graphs:
        details.append(f"static default graph: {_named(query.default_graphs, notation)}")
    if query.named_graphs:
        details.append(f"GRAPH ranges over: {_named(query.named_graphs, notation)}")
    return operators.tree(query.result, query.pattern, details)


def _extent(window: StreamWindow, notation: Notation) -> str:
    of = f"of {notation.term(window.stream)}"
    match window.extent:
        case Landmark(instant, kind):
            return f"the items {of} from {format_instant(instant, kind)} on"
        case TimeWindow(width, step):
            moved = "time unit" if step is None or step == Duration(1, bare=True) else str(step)
            return f"the items {of} of the last {width}, moved on every {moved}"
        case _:
            assert_never(window.extent)


def _event(event: EventPattern, notation: Notation) -> Node:
    match event:
        case ItemScan(label, window, pattern):
            return Node(f"EVENT {label} ON {notation.term(window)}", ("on each item alone", *notation.parts(pattern)))
        case Earliest(operand):
            return Node("FIRST", (), (_event(operand, notation),))
        case Latest(operand):
            return Node("LAST", (), (_event(operand, notation),))
        case Followed(left, right, policy):
            label = "SEQ" if policy is None else f"SEQ {policy.name}"
            sides = (_event(left, notation), _event(right, notation))
            return Node(label, (_selects(policy),), sides)
        case _:
            assert_never(event)


def _selects(policy: Policy | None) -> str:
    match policy:
        case None:
            return "selects as the policy of the run says"
        case Policy.UNRESTRICTED:
            return "selects every pair"
        case Policy.NAIVE:
            return "selects the last right side with the last left side compatible with it"
        case Policy.CHRONOLOGICAL:
            return "selects the earliest pair per shared binding; the items of a match are consumed"
        case Policy.RECENT:
            return "selects the latest pair per shared binding; the items of a match are consumed"
        case _:
            assert_never(policy)


_OUTPUT = {
    RelationToStream.ISTREAM: "ISTREAM, what is new since the previous evaluation",
    RelationToStream.RSTREAM: "RSTREAM, the whole answer of each evaluation",
    RelationToStream.DSTREAM: "DSTREAM, what has gone since the previous evaluation",
}


def windowed_notes(query: WindowedQuery) -> tuple[str, ...]:
    """When a query is evaluated, what goes to the output, its policy, and how it is divided."""
    if query.report is Report.CONTENT_CHANGE:
        instants = "at every instant at which a stream of the query has an item (content change)"
    else:
        instants = "at every multiple of the smallest step, from the first item on (window close)"
    sequences = any(_follows(event) for event in query.events)
    policy = ["policy: of a SEQ without its own: --policy, else unrestricted"] if sequences else []
    return (
        f"kernel: {_windowed_kernel(query)}",
        f"evaluated: {instants}; with --evaluate-at, at the instants given",
        f"output: {_OUTPUT[query.output]}",
        *policy,
        _one_task("an evaluation needs the whole content of its windows"),
    )


def _windowed_kernel(query: WindowedQuery) -> str:
    columnar = [policy.value for policy in Policy if plan_pairs(query, policy) is not None]
    if not columnar:
        return "operators; this is no plain MATCH of two events in sequence, which the columnar kernel would take"
    under = "" if len(columnar) == len(Policy) else f", under the policies {', '.join(columnar)}; else operators"
    return f"columnar, as two events in sequence{under}"


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


def _named(terms: Iterable[IRI], notation: Notation) -> str:
    return ", ".join(notation.term(term) for term in terms) or "none"
