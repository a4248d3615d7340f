"""Queries over windows as nodes on validities: their patterns (`pattern_plan`), when they are evaluated, what is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from scepter.algebra.expressions import Expression, Variable
from scepter.algebra.patterns import Distinct, OrderBy, Pattern, Project, Slice
from scepter.algebra.query import Ask, Query, Scan, Stream
from scepter.algebra.query import Sequence as Steps
from scepter.algebra.query import Step as SequenceStep
from scepter.algebra.scope import mentioned_variables
from scepter.algebra.windows import EventPattern, ItemScan, Policy, WindowedQuery, consumers, scans, window_graph
from scepter.optimizer.conditions import filters_above
from scepter.physical.facts import Count, Seen
from scepter.physical.nodes import nodes, window_nodes
from scepter.physical.nodes.match_nodes import EventMatch
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.sequence_nodes import GraphScan
from scepter.physical.nodes.window_nodes import Step
from scepter.physical.planning.pattern_plan import PatternPlanner, is_hidden
from scepter.physical.planning.pattern_properties import is_ordered
from scepter.physical.planning.sequence_planner import plan_query
from scepter.physical.planning.window_contents import Content, Dataset, NotPlanned, VersionsOf, WindowOn
from scepter.rdf.terms import IRI


@dataclass(frozen=True, slots=True)
class Arranged:
    """A pattern, and the order and cut of its answers."""

    pattern: Pattern
    order: tuple[tuple[Expression, bool], ...] = ()
    offset: int = 0
    limit: int | None = None
    shown: tuple[str, ...] | None = None


def arranged(pattern: Pattern) -> Arranged:
    """ORDER BY, OFFSET and LIMIT of a SELECT apart from the rest. Raises NotPlanned where one looks through another."""
    offset, limit, shown, distinct = 0, None, None, False
    if isinstance(pattern, Slice):
        offset, limit, pattern = pattern.offset, pattern.limit, pattern.pattern
    inner: Pattern = pattern
    if isinstance(inner, Distinct):
        distinct, inner = True, inner.pattern
    if isinstance(inner, Project):
        shown, inner = tuple(v.name for v in inner.variables if not is_hidden(v)), inner.pattern
    if isinstance(inner, OrderBy):
        if distinct and shown is not None:
            names = frozenset().union(*(mentioned_variables(e) for e, _ in inner.conditions))
            if not names <= frozenset(shown):
                raise NotPlanned("DISTINCT rows are ordered by what they do not show")
            variables = tuple(Variable(name) for name in shown)
            return Arranged(Distinct(Project(inner.pattern, variables)), inner.conditions, offset, limit, shown)
        return Arranged(inner.pattern, inner.conditions, offset, limit, shown)
    return Arranged(pattern, (), offset, limit, None)


def report_of(
    pattern: Pattern, dataset: Dataset, report: Callable[[Node], window_nodes.Report]
) -> tuple[Node, bool]:  # fmt: skip
    """The plan of a query's pattern up to its report, and whether that orders its rows. What is no tree of operators is asked
    of the exact evaluator."""
    try:
        if dataset.exact:
            raise NotPlanned(dataset.exact)
        return _report_of(pattern, dataset, report)
    except NotPlanned as reason:
        return report(dataset.snapshot(pattern, str(reason))), is_ordered(pattern)


def _report_of(pattern: Pattern, dataset: Dataset, report: Callable[[Node], window_nodes.Report]) -> tuple[Node, bool]:
    parts = arranged(pattern)
    planner = PatternPlanner(dataset, None)
    rows = planner.node(parts.pattern)
    order = []
    for number, (expression, descending) in enumerate(parts.order):
        if isinstance(expression, Variable) and expression.name in rows.schema.variables:
            order.append((expression.name, descending))
            continue
        rows = planner.extended(rows, f"_:order{number}", expression)
        order.append((f"_:order{number}", descending))
    made = replace(report(rows), order=tuple(order), offset=parts.offset, limit=parts.limit)
    if made.output is not window_nodes.Output.ALL and (parts.offset or parts.limit is not None):
        raise NotPlanned("which rows are new is asked after LIMIT has cut them")
    root: Node = made
    if parts.shown is not None and parts.shown != rows.schema.variables:
        root = nodes.Project(made, parts.shown)
    return root, bool(order)


def plan_periodic(
    pattern: Pattern,
    windows: Sequence[WindowOn],
    grid: Step,
    count: Count,
    *,
    every: bool = False,
    exact: str = "",
    seen: Seen | None = None,
    entailed: bool = False,
) -> tuple[Node, bool]:
    """A periodic query: evaluated at every multiple of the step at which a window holds an item, or, with `every`, at all of
    them from the first item on (spec/50-sparkwave rule 2)."""
    items: Node = window_nodes.ItemScan(tuple(dict.fromkeys(iri for window in windows for iri in window.streams)))
    if not every:
        held: list[Node] = [window.over(window_nodes.ItemScan(window.streams), grid) for window in windows]
        items = reduce(nodes.Union, held)
    when = window_nodes.When.MULTIPLES if every else window_nodes.When.HELD

    def report(rows: Node) -> window_nodes.Report:
        return window_nodes.Report(rows, items, when, window_nodes.Output.ALL, grid)

    return report_of(pattern, Dataset(tuple(windows), {}, count, grid, (), exact, seen, entailed), report)


@dataclass(frozen=True, slots=True)
class Reporting:
    """When a query over windows is evaluated, and what of its answer is reported."""

    when: window_nodes.When
    output: window_nodes.Output
    step: Step
    instants: tuple[int, ...] = ()


def plan_windowed(query: WindowedQuery, contents: Mapping[IRI, Content], known: WindowFacts) -> tuple[Node, bool]:
    """A query over named windows (spec/30-rsep-ql): each is a graph of its own, by the name that patterns call it. So is a
    graph that varies; but its versions are no items, at which queries are evaluated."""
    windows = {name: content for name, content in contents.items() if isinstance(content, WindowOn)}
    reporting = known.reporting
    grid = reporting.step if reporting.when is window_nodes.When.MULTIPLES else None
    streams = tuple(dict.fromkeys(iri for window in windows.values() for iri in window.streams))
    items = window_nodes.ItemScan(streams)

    def matched(pattern: EventPattern) -> Node:
        beside = consumers(pattern, query.events, known.policy)
        every = [scan for each in (pattern, *beside) for scan in scans(each)]
        labels = {scan: windows[scan.window] for scan in every}
        found = {scan: window.over(_graph_scan(scan, window.streams[0]), grid) for scan, window in labels.items()}
        which = tuple(scan.window for scan in every)
        when, step, instants = reporting.when, reporting.step, reporting.instants
        ordered = tuple(found[scan] for scan in every)
        together = _move_together(ordered)
        return EventMatch(pattern, known.policy, ordered, which, items, when, step, instants, grid, together, beside)

    def report(rows: Node) -> window_nodes.Report:
        step, instants = reporting.step, reporting.instants
        timed = bool(query.events)
        return window_nodes.Report(rows, items, reporting.when, reporting.output, step, instants, timed=timed)

    named: dict[IRI, tuple[Content, ...]] = {window_graph(name): (content,) for name, content in contents.items()}
    default = tuple(content for content in contents.values() if isinstance(content, VersionsOf) and content.default)
    events = tuple(map(matched, query.events))
    return report_of(query.pattern, Dataset(default, named, known.count, grid, events, known.exact, known.seen), report)


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """What is known of a query over windows besides its text."""

    reporting: Reporting
    policy: Policy
    count: Count
    exact: str = ""
    """Why the exact evaluator is asked for."""
    seen: Seen | None = None
    """What a sample of the streams holds, where joins may be ordered by it."""


def _move_together(scans: Iterable[Node]) -> bool:
    """Whether the windows of some scans move at the same instants."""
    moves = set()
    for scan in scans:
        assert isinstance(scan, window_nodes.Window)
        ticks = 1 if scan.width is None else scan.step.ticks
        moves.add((ticks, scan.step.origin % ticks))
    return len(moves) == 1


def _graph_scan(scan: ItemScan, stream: IRI) -> GraphScan:
    """One label: its pattern on each item alone."""
    filters, pattern = filters_above(scan.pattern)
    alone = Steps((SequenceStep(Scan(scan.label, stream, pattern, filters)),))
    return GraphScan(plan_query(Query(Ask(), (Stream(stream),), alone)), 0)
