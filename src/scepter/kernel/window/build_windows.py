"""From the nodes on validities to their operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scepter.kernel.condition.time_conditions import TimeConditions
from scepter.kernel.event_match import matched_events as match
from scepter.kernel.event_match.match_tree import shape_of
from scepter.kernel.group.incremental import Group
from scepter.kernel.operator import Operator
from scepter.kernel.report.evaluations import AtInstants, AtItems, AtMultiples, Schedule, WhileThere
from scepter.kernel.report.instant_answers import Difference, EveryAnswer, Ordering
from scepter.kernel.rows import Int64, Mask, Rows, each_once, lasting_rows, mappings
from scepter.kernel.scan.intake import Intake
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.static.static_rows import NotStatic
from scepter.kernel.validity.coalesce import Coalesce, Latest
from scepter.kernel.validity.inner_join import Condition, InnerJoin, Matching
from scepter.kernel.validity.outer_join import OuterJoin
from scepter.kernel.window.counted import CountedWindow
from scepter.kernel.window.extent import Extent, Grid, LandmarkExtent, TimeExtent, Window
from scepter.kernel.window.snapshot import Snapshot
from scepter.physical.nodes import window_nodes as nodes
from scepter.physical.nodes.match_nodes import EventMatch
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.window_nodes import Step, When
from scepter.rdf.terms import IRI

if TYPE_CHECKING:
    from scepter.kernel.build import Surroundings


class Items:
    """Leaf `ItemScan`: a row for each instant at which wanted events end, or for each event, or for each of their triples."""

    def __init__(self, leaves: Sequence[nodes.ItemScan]) -> None:
        self._counts = [leaf.counts for leaf in leaves]

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        batch = intake.batch
        made: dict[nodes.Counts | None, Rows] = {}
        for counts in self._counts:
            match counts:
                case None:
                    made[counts] = _instants(each_once(batch.end[wanted]))
                case nodes.Counts.ITEMS:
                    made[counts] = _instants(np.sort(batch.end[wanted]))
                case nodes.Counts.TRIPLES:
                    made[counts] = _instants(np.sort(np.repeat(batch.end[wanted], np.diff(batch.first)[wanted])))
        return [made[counts] for counts in self._counts]


def _instants(times: Int64) -> Rows:
    return lasting_rows(mappings(len(times), 0), times, times)


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
        case nodes.LatestOccurrence(grid=grid):
            return Latest(node.schema, _grid(grid))
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
    return TimeConditions(node.conditions, names, around.kind, around.key, around.texts, around.context).holds


def _report(node: nodes.Report, around: Surroundings) -> Operator:
    schedule = schedule_of(node.when, node.step, node.instants)
    if node.output is not nodes.Output.ALL:
        return Difference(node.schema, schedule, timed=node.timed, gone=node.output is nodes.Output.GONE)
    arrange = None
    if node.order or node.offset or node.limit is not None:
        columns = [(node.schema.column(name), descending) for name, descending in node.order]
        arrange = Ordering(columns, node.offset, node.limit, node.schema.variables, around.texts)
    return EveryAnswer(node.schema, schedule, timed=node.timed, arrange=arrange)


def _event_match(node: EventMatch, around: Surroundings) -> Operator:
    schemas, windows = [scan.schema for scan in node.scans], list(dict.fromkeys(node.windows))
    return match.EventMatch(
        shape_of((node.pattern, *node.beside), node.policy, schemas),
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
