"""From the nodes of a plan to the operators that run: one place that knows both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np

from scepter.algebra.expressions import Expression
from scepter.algebra.timed import Sources
from scepter.errors import Diagnostic, QueryError
from scepter.kernel.condition.time_conditions import TimeConditions
from scepter.kernel.derive.deriving import Deriving
from scepter.kernel.derive.one_pass import OnePass
from scepter.kernel.derive.rounds import Anew, PathsWithin
from scepter.kernel.derive.template import Pick
from scepter.kernel.entailment.closure import union
from scepter.kernel.entailment.entailed_scan import EntailedScans
from scepter.kernel.events.build_events import Occurring, event_operator, recognising
from scepter.kernel.exists import exists_answers as exists
from scepter.kernel.exists.live_graph import LiveGraph
from scepter.kernel.exists.remembered import Remembered
from scepter.kernel.gap_join.gap_join import GapJoined
from scepter.kernel.group.time_grouping import Grouping
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import OfRows, Operator
from scepter.kernel.policy.pairing import Pairing
from scepter.kernel.policy.tracking import Occurrences
from scepter.kernel.policy.tracking import Tracked as Tracking
from scepter.kernel.row import instants, mapping, time_rows
from scepter.kernel.row.forked import Forked
from scepter.kernel.row.instants import InstantLeaves
from scepter.kernel.row.owned import Cell, Owned
from scepter.kernel.rows import Mask, Rows, empty
from scepter.kernel.scan.event_pattern import EventPattern
from scepter.kernel.scan.event_scan import EventScans, ExactTriples
from scepter.kernel.scan.graph_scan import GraphScans
from scepter.kernel.scan.intake import Intake
from scepter.kernel.scan.pattern_scan import Scans
from scepter.kernel.scan.triple_scan import MOST_SCANS, EntailedTriples, PlainTriples
from scepter.kernel.sequence.matched_sequence import MatchedSequence
from scepter.kernel.sequence.run_windows import resolve
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.star.build_star import held_of, occurrence_scans, star_operator
from scepter.kernel.star.expiry import Held
from scepter.kernel.static.background import Background
from scepter.kernel.static.static_join import Static
from scepter.kernel.static.static_rows import Timeless, fixed_rows, inline_rows, static_rows
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.time_join import TimeJoined
from scepter.kernel.window.build_windows import Items, static_graph, window_operator
from scepter.ontology.entailment import Flattened
from scepter.ontology.schema import Schema
from scepter.physical.distribution import cutting
from scepter.physical.nodes import nodes, star_nodes
from scepter.physical.nodes.derive_nodes import Derive, DerivedPath, Picked, Recalled
from scepter.physical.nodes.event_nodes import Contradictions, ItemGraphs, Recognise
from scepter.physical.nodes.instant_nodes import Asked, EventScan, Ordered, Paired, RowExtend, Sliced, TimeGroup, Tracked
from scepter.physical.nodes.instant_nodes import Remembered as Remembered_
from scepter.physical.nodes.nodes import Node, Received, TripleScan
from scepter.physical.nodes.sequence_nodes import EventTicks, GraphScan
from scepter.physical.nodes.sequence_nodes import Sequence as SequenceNode
from scepter.physical.nodes.star_nodes import OccurrenceScan
from scepter.physical.nodes.time_nodes import (
    AnsweredOnce,
    Answers,
    EveryInstant,
    GapJoin,
    Inline,
    Instants,
    Once,
    Rename,
    StaticScan,
    TimeFilter,
    TimeJoin,
    TimeValues,
)
from scepter.physical.nodes.window_nodes import Fixed, ItemScan
from scepter.physical.planning.linear_rules import linear
from scepter.physical.planning.sharing import Together
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI, Triple
from scepter.timeline import TimeKind


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the operators of one unit share."""

    key: TermKey
    texts: Texts
    background: Background
    kind: TimeKind
    time_unit: str = "ms"
    flattened: Flattened | None = None
    """What the schema entails; None without a schema."""
    schema: Schema = field(default_factory=lambda: Schema.from_triples(()))
    """The schema by whose rules single events, and what rules derive, are closed."""
    static: Graph | None = None
    """The triples without a time that patterns over the stream match too: the background, the ontology, what they entail."""
    most: int = 10_000
    """So many triples may rules derive at one instant."""
    lineage: Lineage = field(default_factory=Lineage)
    context: Context = field(default_factory=Context)
    events: Occurring | None = None
    """What operators on occurrences share; None where there are none."""
    consequences: Callable[[Triple], Iterable[Triple]] | None = None
    """What a streamed triple stands for in snapshots; None for itself alone."""
    parts: list[str] = field(default_factory=list)
    """The labels of the parts of the pattern that select events, by their number in the lineage."""
    remembered: dict[int, Remembered] = field(default_factory=dict)
    """What EXISTS looks at, by its node."""
    streams: Callable[[], Sequence[IRI]] = lambda: ()
    """The run's streams by their number in batches; more may come while it goes on."""
    origin: int = 0
    """Where tumbling windows begin."""
    graphs: dict[int, Graph] = field(default_factory=dict)
    """The graphs of events, by their numbers, where conditions on several events ask for what is in one."""
    tracking: list[Occurrences] = field(default_factory=list)
    """The occurrences that policies consume, where there are any."""
    held: list[Held] = field(default_factory=list)
    """When occurrences go, where windows count triples."""
    live: dict[int, LiveGraph] = field(default_factory=dict)
    """What EXISTS over windows looks at, by its node."""
    cell: Cell = field(default_factory=Cell)
    """Which bucket of a grid it is in."""

    def occurrences(self) -> Occurrences:
        """The unit's one table of occurrences."""
        if not self.tracking:
            self.tracking.append(Occurrences(self.lineage, self.key, self.texts))
        return self.tracking[0]

    def dataset(self, sources: Sources) -> Dataset:
        """The dataset of FROM and FROM NAMED, or the one given; its default graph is what is static."""
        given = self.background.dataset
        if sources.default is None or sources.named is None:
            return Dataset(given.default if self.static is None else self.static, given.named)
        default = union(given.named[iri] for iri in sources.default)
        return Dataset(default, {iri: given.named[iri] for iri in sources.named})

    def within(self, sources: Sources) -> Context:
        """What expressions see besides a row."""
        dataset = self.dataset(sources)
        return replace(self.context, graph=dataset.default, dataset=dataset)

    def part(self, label: str) -> int:
        """The number of a part."""
        if label not in self.parts:
            self.parts.append(label)
        return self.parts.index(label)


class Leaves(Protocol):
    """Leaves of a plan that read a batch in one pass."""

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Per leaf its rows in order of end."""
        ...


@dataclass(frozen=True, slots=True)
class LeafGroup:
    """Leaves over the same streams, at work."""

    places: tuple[int, ...]
    """Of each leaf, its place among the plan's leaves."""
    streams: frozenset[IRI] | None
    leaves: Leaves
    initial: tuple[Rows, ...] = ()
    """Per leaf the rows that are there before any event."""

    def scan(self, intake: Intake, wanted: Mask, streams: Sequence[IRI]) -> tuple[list[Rows], int]:
        """Per leaf its rows of the wanted events of its streams, and how many events those are."""
        mine, stream = wanted, intake.batch.stream
        if self.streams is not None and not (len(stream) == 1 and streams[stream[0]] in self.streams):
            mine = wanted & np.array([iri in self.streams for iri in streams], np.bool_)[stream]
        return self.leaves.scan(intake, mine), int(mine[0] if len(mine) == 1 else np.count_nonzero(mine))


def leaf_groups(leaves: Sequence[Node], around: Surroundings) -> list[LeafGroup]:
    """The leaves of a plan, those of the same kind and streams together."""
    together: dict[tuple[type, frozenset[IRI] | None], list[int]] = {}
    sequences: dict[int, list[int]] = {}
    timeless: list[int] = []
    for place, leaf in enumerate(leaves):
        match leaf:
            case TripleScan(streams=named):
                read = ExactTriples if leaf.exact else TripleScan
                together.setdefault((read, None if named is None else frozenset(named)), []).append(place)
            case EventScan(streams=named):
                together.setdefault((EventScan, None if named is None else frozenset(named)), []).append(place)
            case Instants():
                together.setdefault((Instants, None), []).append(place)
            case GraphScan(plan=plan) | EventTicks(plan=plan):
                sequences.setdefault(id(plan), []).append(place)
            case OccurrenceScan():
                named_streams = None if leaf.streams is None else frozenset(leaf.streams)
                together.setdefault((OccurrenceScan, named_streams), []).append(place)
            case ItemScan(streams=named):
                together.setdefault((ItemScan, frozenset(named)), []).append(place)
            case Recognise(streams=named) | ItemGraphs(streams=named) | Contradictions(streams=named):
                together.setdefault((Recognise, None if named is None else frozenset(named)), []).append(place)
            case Inline() | StaticScan() | Fixed() | Received():
                timeless.append(place)
            case _:
                raise AssertionError(f"{type(leaf).__name__} is no leaf")
    found = [LeafGroup(tuple(places), None, _graph_scans([leaves[i] for i in places], around)) for places in sequences.values()]
    for (kind, streams), places in together.items():
        most = MOST_SCANS if kind is TripleScan else len(places)
        for at in range(0, len(places), most):
            some = places[at : at + most]
            found.append(LeafGroup(tuple(some), streams, _LEAVES[kind]([leaves[i] for i in some], around)))
    if timeless:
        widths = [len(leaves[place].schema.variables) for place in timeless]
        initial = tuple(_initial(leaves[place], around) for place in timeless)
        found.append(LeafGroup(tuple(timeless), None, Timeless(widths), initial))
    return found


def _initial(leaf: Node, around: Surroundings) -> Rows:
    if isinstance(leaf, Inline):
        return inline_rows(leaf, around.key, around.texts)
    if isinstance(leaf, Fixed):
        return fixed_rows(leaf, static_graph(leaf.graph, around), around.key, around.texts)
    if isinstance(leaf, Received):
        return empty(len(leaf.schema.variables))
    assert isinstance(leaf, StaticScan)
    context = around.within(leaf.sources)
    return static_rows(leaf, context.graph, context, around.key, around.texts)


def _triple_scans(scans: Sequence[Node], around: Surroundings) -> Leaves:
    some = [scan for scan in scans if isinstance(scan, TripleScan)]
    if around.flattened is None:
        return PlainTriples(some, around.key, around.lineage, around.part)
    return EntailedTriples(some, around.flattened, around.key, around.texts, around.lineage, around.part)


def _exact_triples(scans: Sequence[Node], around: Surroundings) -> Leaves:
    some = [scan for scan in scans if isinstance(scan, TripleScan)]
    return ExactTriples(some, around.schema, around.key, around.texts, around.lineage, around.part)


def _event_scans(scans: Sequence[Node], around: Surroundings) -> Leaves:
    some = [scan for scan in scans if isinstance(scan, EventScan)]
    return EventScans(some, around.schema, around.key, around.texts, around.lineage, around.occurrences())


def _graph_scans(leaves: Sequence[Node], around: Surroundings) -> GraphScans:
    """The scans of one plan, and its ticks if they are among them."""
    some = [leaf for leaf in leaves if isinstance(leaf, GraphScan)]
    plan, flattened = some[0].plan, some[0].flattened
    around.background.attach(around.key, around.texts, [graph for leaf in some for graph in leaf.scan.graphs])
    build, fixed = partial(operator_of, around=around), partial(_initial, around=around)
    shared = (plan, around.key, around.background, partial(EventPattern, build=build, fixed=fixed))
    scans = Scans(*shared) if flattened is None else EntailedScans(*shared, around.texts, flattened)
    return GraphScans(
        plan, [leaf.place for leaf in some], scans, around.texts, around.lineage, around.part, around.streams, around.graphs,
        ticked=len(some) < len(leaves),
    )  # fmt: skip


def _sequence(node: SequenceNode, around: Surroundings) -> Operator:
    window, gaps = node.query.window, node.plan.gaps
    try:
        bounds = resolve(window, around.kind, around.time_unit, around.origin, gaps)
    except ValueError as error:
        span = None if window is None else window.span
        raise QueryError(Diagnostic("duration", str(error), span, "choose a longer window or a finer --time-unit")) from None
    shared = (around.key, around.background, around.texts, around.lineage, around.part, around.graphs, around.cell)
    return MatchedSequence(node, bounds, *shared)


_LEAVES: dict[type, Callable[[Sequence[Node], Surroundings], Leaves]] = {
    TripleScan: _triple_scans,
    OccurrenceScan: occurrence_scans,
    ItemScan: lambda scans, around: Items([scan for scan in scans if isinstance(scan, ItemScan)]),
    ExactTriples: _exact_triples,
    EventScan: _event_scans,
    Instants: lambda scans, around: InstantLeaves(len(scans)),
    Recognise: recognising,
}


def operator_of(node: Node, around: Surroundings) -> Operator:
    """The operator of a node that reads rows."""
    for build in (event_operator, star_operator, window_operator, _row_operator):
        if (found := build(node, around)) is not None:
            return found
    key, texts, lineage = around.key, around.texts, around.lineage
    match node:
        case SequenceNode():
            return _sequence(node, around)
        case nodes.Static(graph=name):
            return Static(node, static_graph(name, around), key, texts)
        case GapJoin():
            return GapJoined(node, lineage)
        case TimeJoin():
            return _time_join(node, around)
        case TimeGroup():
            return Grouping(node, lineage, key, texts)
        case EveryInstant():
            return instants.EveryInstant(node)
        case AnsweredOnce():
            return instants.AnsweredOnce(node)
        case Tracked():
            return Tracking(node, around.occurrences(), lineage)
        case Paired():
            return Pairing(node, around.occurrences(), lineage)
        case Remembered_():
            made = around.remembered[id(node)] = Remembered(node, texts)
            return made
        case Asked():
            asking = around.remembered[id(node.remembered)].asking(around.within(node.sources), around.kind, plain=node.plain)
            return exists.Asked(node, node.asked, asking, key, texts)
        case Derive():
            if node.one_pass and (rule := linear(node)) is not None:
                return OnePass(node, rule, partial(operator_of, around=around), key, texts, around.most, lineage)
            return Deriving(node, partial(_in_rounds, around=around), key, texts, around.most, around.schema)
        case Picked():
            return Pick(node, key)
        case DerivedPath():
            return PathsWithin(node, around.dataset(node.sources).default, key, texts)
        case _:
            raise AssertionError(f"no operator for {type(node).__name__}")


def _row_operator(node: Node, around: Surroundings) -> Operator | None:
    """The operator of a node that looks at a row, or at the rows of one end; None for any other."""
    key, texts = around.key, around.texts
    match node:
        case nodes.Filter(conditions=conditions) | TimeFilter(conditions=conditions):
            return time_rows.Filter(node, _conditions(conditions, node.schema.variables, around))
        case nodes.Extend():
            return mapping.Extend(node, key, texts, around.context)
        case RowExtend():
            return mapping.RowExtend(node, key, texts, around.context)
        case nodes.Project():
            columns = node.input.schema.columns(node.variables)
            return OfRows(node.schema, lambda rows: rows.columns(columns))
        case nodes.Union():
            return mapping.Union(node)
        case Once():
            return time_rows.Once(node)
        case TimeValues():
            return time_rows.TimeValues(node, around.kind, key, texts)
        case Rename():
            return OfRows(node.schema, lambda rows: rows)
        case Answers():
            return time_rows.Answers(node)
        case Ordered():
            return instants.Ordered(node, texts)
        case Sliced():
            return instants.Sliced(node, texts)
        case Together():
            return Forked(node)
        case cutting.Owned():
            return Owned(node, around.cell)
        case _:
            return None


_ANEW = (TimeGroup, Ordered, Sliced, EveryInstant, Paired, Remembered_, Asked)
"""Whose answer at an instant may change with more rows of that instant."""


def _in_rounds(node: Node, around: Surroundings) -> Operator:
    """An operator among rules that feed each other."""
    if isinstance(node, Recalled):
        return Pick(node, around.key) if node.patterns else OfRows(node.schema, lambda rows: rows)
    if isinstance(node, TimeJoin) and node.remembered is None and not node.fleeting:
        return _time_join(node, around, rounds=True)
    if isinstance(node, (TimeJoin, *_ANEW)):
        return Anew(lambda: operator_of(node, around), len(node.inputs))
    return operator_of(node, around)


def _time_join(node: TimeJoin, around: Surroundings, *, rounds: bool = False) -> Operator:
    names = tuple(dict.fromkeys((*node.left.schema.variables, *node.right.schema.variables)))
    conditions: TimeConditions | exists.AskedConditions | None = None
    if isinstance(node.remembered, star_nodes.LiveGraph):
        asking = around.live[id(node.remembered)].asking(around.context)
        conditions = exists.AskedConditions(node.conditions, names, asking, around.texts)
    elif node.remembered is not None:
        asking = around.remembered[id(node.remembered)].asking(around.within(Sources()), around.kind, plain=node.plain)
        conditions = exists.AskedConditions(node.conditions, names, asking, around.texts)
    elif node.conditions:
        conditions = _conditions(node.conditions, names, around)
    once = around.occurrences().each_once if node.tracked else None
    return TimeJoined(node, conditions, around.lineage, rounds=rounds, held=held_of(around), once=once)


def _conditions(conditions: tuple[Expression, ...], names: tuple[str, ...], around: Surroundings) -> TimeConditions:
    return TimeConditions(conditions, names, around.kind, around.key, around.texts, around.context)
