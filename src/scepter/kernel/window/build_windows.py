"""From the nodes on validities to their operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scepter.algebra.expressions import Constant
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.condition.row_conditions import Conditions
from scepter.kernel.encoding import encoded
from scepter.kernel.event_match import matched_events as match
from scepter.kernel.event_match.match_tree import shape_of
from scepter.kernel.group.incremental import Group
from scepter.kernel.operator import Operator
from scepter.kernel.report.evaluations import AtInstants, AtItems, AtMultiples, Schedule, WhileThere
from scepter.kernel.report.instant_answers import Difference, EveryAnswer
from scepter.kernel.report.ordering import Ordering
from scepter.kernel.rows import NO_LINEAGE, TIMELESS, Float64, Int8, Int64, Mask, Rows, UInt64, lasting, mappings
from scepter.kernel.scan.intake import Intake
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.static.graph_columns import graph_columns
from scepter.kernel.static.not_static import NotStatic
from scepter.kernel.validity.coalesce import Coalesce
from scepter.kernel.validity.inner_join import Condition, InnerJoin, Matching
from scepter.kernel.validity.outer_join import OuterJoin
from scepter.kernel.window.assign import Window
from scepter.kernel.window.counted import CountedWindow
from scepter.kernel.window.extent import Extent, Grid, LandmarkExtent, TimeExtent
from scepter.kernel.window.snapshot import Snapshot
from scepter.physical import window_nodes as nodes
from scepter.physical.event_match import EventMatch
from scepter.physical.nodes import Node
from scepter.physical.window_nodes import Step, When
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.terms import IRI

if TYPE_CHECKING:
    from scepter.kernel.build import Surroundings


class Items:
    """Leaf `ItemScan`: a row for each instant at which wanted events end, or for each event, or for each of their triples."""

    def __init__(self, leaves: Sequence[nodes.ItemScan]) -> None:
        self._counts = [leaf.counts for leaf in leaves]

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """The rows of each leaf."""
        batch = intake.batch
        made: dict[nodes.Counts | None, Rows] = {}
        for counts in self._counts:
            match counts:
                case None:
                    made[counts] = _instants(np.unique(batch.end[wanted]))
                case nodes.Counts.ITEMS:
                    made[counts] = _instants(np.sort(batch.end[wanted]))
                case nodes.Counts.TRIPLES:
                    made[counts] = _instants(np.sort(np.repeat(batch.end[wanted], np.diff(batch.first)[wanted])))
        return [made[counts] for counts in self._counts]


def _instants(times: Int64) -> Rows:
    nothing = np.full(len(times), NO_LINEAGE, np.int64)
    return Rows(*mappings(len(times), 0), times, times, *lasting(len(times)), nothing)


def fixed_rows(node: nodes.Fixed, around: Surroundings) -> Rows:
    """The rows of a leaf that is known before any event."""
    if node.triple is not None:
        return _static_rows(node, node.triple, around)
    ids, refs, number, scale = mappings(len(node.rows), len(node.variables))
    for column in range(len(node.variables)):
        made = encoded([row[column] for row in node.rows], around.key, around.texts)
        ids[:, column], refs[:, column], number[:, column], scale[:, column] = made
    return _for_ever(ids, refs, number, scale)


def _static_rows(node: nodes.Fixed, triple: TriplePattern, around: Surroundings) -> Rows:
    columns = graph_columns(static_graph(node.graph, around), around.key, around.texts, [triple])
    kept = columns.take(matching_rows(columns.ids, triple))
    ids, refs, number, scale = mappings(len(kept), len(node.variables))
    for position, each in enumerate((triple.subject, triple.predicate, triple.object)):
        if not isinstance(each, Constant):
            column = node.variables.index(each.name)
            ids[:, column], refs[:, column] = kept.ids[:, position], kept.refs[:, position]
            number[:, column], scale[:, column] = np.nan, NOT_A_NUMBER
            if position == 2:
                number[:, column], scale[:, column] = kept.number, kept.scale
    return _for_ever(ids, refs, number, scale)


def matching_rows(ids: UInt64, triple: TriplePattern) -> Int64:
    """Of triples with a pattern's constants, those that have equal terms where it has one variable twice."""
    positions = (triple.subject, triple.predicate, triple.object)
    fits = np.ones(len(ids), np.bool_)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if positions[i] == positions[j] and not isinstance(positions[i], Constant):
            fits &= ids[:, i] == ids[:, j]
    return np.flatnonzero(fits)


def _for_ever(ids: UInt64, refs: Int64, number: Float64, scale: Int8) -> Rows:
    count = len(ids)
    start, end = (np.full(count, time, np.int64) for time in TIMELESS)
    return Rows(ids, refs, number, scale, start, end, *lasting(count), np.full(count, NO_LINEAGE, np.int64))


def static_graph(name: IRI | None, around: Surroundings) -> Graph:
    """The default graph, or a named one; one that is not given is empty."""
    dataset = around.background.dataset
    return dataset.default if name is None else dataset.named.get(name, Graph())


def window_operator(node: Node, around: Surroundings) -> Operator | None:
    """The operator of a node on validities; None for any other node."""
    match node:
        case nodes.Window():
            return Window(node.schema, _extent(node), timeless=node.timeless)
        case nodes.CountedWindow():
            return CountedWindow(node.schema, node.count, node.step, _grid(node.grid), timeless=node.timeless)
        case nodes.Coalesce(grid=grid):
            return Coalesce(node.schema, _grid(grid))
        case nodes.NotStatic():
            return NotStatic(node, static_graph(node.graph, around), around.key, around.texts)
        case nodes.ValidityJoin(left, right):
            return InnerJoin(Matching(left.schema, right.schema), lineage=around.lineage)
        case nodes.ValidityOuterJoin(left, right, partners, grid):
            matching = Matching(left.schema, right.schema)
            condition = _condition(node, matching.schema.variables, around)
            return OuterJoin(matching, partners, _grid(grid), condition, around.lineage)
        case nodes.Group():
            lineage = around.lineage if node.hull else None
            step = _grid(node.grid)
            return Group(
                node.input.schema, node.keys, node.aggregates, around.key, around.texts, step, lineage=lineage, apart=node.apart
            )  # fmt: skip
        case EventMatch():
            return _event_match(node, around)
        case nodes.WindowSnapshot():
            return Snapshot(node, _grid(node.grid), around)
        case nodes.Report():
            return _report(node, around)
        case _:
            return None


def _grid(step: Step | None) -> Grid | None:
    return None if step is None else Grid(step.ticks, step.origin)


def _extent(node: nodes.Window) -> Extent:
    if node.width is None:
        return LandmarkExtent(node.landmark)
    return TimeExtent(node.width, Grid(node.step.ticks, node.step.origin))


def _condition(node: nodes.ValidityOuterJoin, names: tuple[str, ...], around: Surroundings) -> Condition | None:
    if not node.conditions:
        return None
    conditions, contexts = Conditions(node.conditions, names, around.key), [around.context] * len(node.conditions)
    return lambda rows: conditions.passing(rows, around.texts, lambda row: contexts)


def _report(node: nodes.Report, around: Surroundings) -> Operator:
    schedule = schedule_of(node.when, node.step, node.instants)
    if node.output is not nodes.Output.ALL:
        return Difference(node.schema, schedule, timed=node.timed, gone=node.output is nodes.Output.GONE)
    arrange = None
    if node.order or node.offset or node.limit is not None:
        columns = [(node.schema.column(name), descending) for name, descending in node.order]
        arrange = Ordering(columns, node.offset, node.limit, around.texts)
    return EveryAnswer(node.schema, schedule, timed=node.timed, arrange=arrange)


def _event_match(node: EventMatch, around: Surroundings) -> Operator:
    schemas, windows = [scan.schema for scan in node.scans], list(dict.fromkeys(node.windows))
    return match.EventMatch(
        shape_of(node.pattern, node.policy, schemas),
        schemas,
        [windows.index(window) for window in node.windows],
        together=node.together,
        schedule=schedule_of(node.when, node.step, node.instants),
        grid=_grid(node.grid),
        lineage=around.lineage,
    )


def schedule_of(when: When, step: Step, instants: tuple[int, ...]) -> Schedule:
    """The evaluations of a query."""
    grid = Grid(step.ticks, step.origin)
    match when:
        case When.HELD:
            return WhileThere(grid)
        case When.MULTIPLES:
            return AtMultiples(grid)
        case When.ITEMS:
            return AtItems()
        case When.INSTANTS:
            return AtInstants(instants)
