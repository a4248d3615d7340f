"""From SPARQL over windows to nodes on validities, or the reason why a pattern cannot be one.

Over the union of windows and static data a triple pattern is two scans: of streamed triples, coalesced, and of static ones,
looked up. Joins start from what streams alone can give, look up static triples as soon as their keys are bound, and go on with
the triple pattern that has most constants among those connected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from scepter.algebra.expressions import Aggregate, And, Call, Constant, Exists, Expression, Variable
from scepter.algebra.patterns import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Match,
    Minus,
    OrderBy,
    Pattern,
    Project,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.scope import certain, in_scope, mentioned_variables
from scepter.algebra.walk import find
from scepter.algebra.windows import EventPattern, Policy, WindowedQuery, scans, window_graph
from scepter.physical import nodes, window_nodes
from scepter.physical.event_match import EventMatch, graph_scan, move_together
from scepter.physical.facts import Count
from scepter.physical.nodes import Node, variables_of
from scepter.physical.window_contents import Content, Dataset, NotPlanned, VersionsOf, WindowOn
from scepter.physical.window_nodes import (
    Coalesce,
    Fixed,
    NotStatic,
    Partners,
    Step,
    ValidityJoin,
    ValidityOuterJoin,
)
from scepter.physical.window_times import with_latest
from scepter.rdf.terms import IRI

_UNSTEADY = frozenset(("RAND", "UUID", "STRUUID", "BNODE", "NOW", "TIMESTAMP"))


@dataclass(frozen=True, slots=True)
class _Planner:
    """The rows of patterns and when they are there. Raises NotPlanned."""

    dataset: Dataset
    graph: IRI | None

    def node(self, pattern: Pattern) -> Node:
        match pattern:
            case BGP(triples):
                return self._bgp(triples)
            case Join(left, right):
                return ValidityJoin(self.node(left), self.node(right))
            case LeftJoin(left, right, condition):
                conditions = () if condition is None else tuple(map(steady, conjuncts(condition)))
                return self._outer(self.node(left), self.node(right), Partners.OPTIONAL, conditions)
            case Minus(left, right):
                return self._outer(self.node(left), self.node(right), Partners.MINUS)
            case Union(left, right):
                return nodes.Union(self.node(left), self.node(right))
            case Filter(condition, inner):
                return self._filtered(self.node(inner), condition)
            case Extend(inner, variable, expression):
                return self.extended(self.node(inner), variable.name, expression)
            case Values(variables, rows):
                return Fixed(tuple(v.name for v in variables), rows)
            case Project(inner, variables):
                return nodes.Project(self.node(inner), tuple(v.name for v in variables if not _is_hidden(v)))
            case Distinct(inner):
                return Coalesce(self.node(inner), self.dataset.grid)
            case Group():
                return self._group(pattern)
            case Match(number):
                return self.dataset.events[number]
            case Graph(Constant(IRI() as name), inner):
                return replace(self, graph=name).node(inner)
            case _:
                raise NotPlanned(_SPOKEN.get(type(pattern).__name__, "this pattern") + " looks at the window as a whole")

    # ---- basic graph patterns

    def _bgp(self, triples: Sequence[TriplePattern]) -> Node:
        if not triples:
            return Fixed((), ((),))
        left = list(triples)
        first = min(left, key=lambda t: (self._static(t) > 0, self._static(t), -_constants(t)))
        left.remove(first)
        rows = self._alone(first)
        while left:
            bound = frozenset(rows.schema.variables)
            following = min(left, key=lambda t: self._rank(t, bound))
            left.remove(following)
            rows = self._joined(rows, following)
        return rows

    def _static(self, triple: TriplePattern) -> int:
        return self.dataset.static(triple, self.graph)

    def _rank(self, triple: TriplePattern, bound: frozenset[str]) -> tuple[bool, bool, int, int]:
        """Connected first; static look-ups before joins of streams, as they keep nothing; the fewest choices first."""
        names = frozenset(variables_of(triple))
        known = _constants(triple) + len(names & bound)
        return bool(names) and not names & bound, self._static(triple) == 0, -known, self._static(triple)

    def _alone(self, triple: TriplePattern) -> Node:
        """All triples that match."""
        streamed = self.dataset.scan(triple, self.graph)
        fixed = Fixed(variables_of(triple), triple=triple, graph=self.graph)
        if streamed is None:
            return fixed
        return nodes.Union(fixed, NotStatic(streamed, triple, self.graph)) if self._static(triple) else streamed

    def _joined(self, rows: Node, triple: TriplePattern) -> Node:
        """Rows with a further triple: static ones by look-up, streamed ones by a join."""
        streamed = self.dataset.scan(triple, self.graph)
        if not self._static(triple) and streamed is not None:
            return ValidityJoin(rows, streamed)
        looked_up = nodes.Static(rows, self.graph, (triple,))
        if streamed is None:
            return looked_up
        return nodes.Union(looked_up, ValidityJoin(rows, NotStatic(streamed, triple, self.graph)))

    # ---- filters

    def _filtered(self, rows: Node, condition: Expression) -> Node:
        plain: list[Expression] = []
        for conjunct in conjuncts(condition):
            if isinstance(conjunct, Exists):
                rows = self._exists(rows, conjunct)
            else:
                plain.append(conjunct)
        if not plain:
            return rows
        timed, conditions = with_latest(rows, plain, self.dataset)
        return _as_wide(nodes.Filter(timed, tuple(map(steady, conditions))), rows.schema.variables)

    def _exists(self, rows: Node, exists: Exists) -> Node:
        """A row's terms stand for its variables inside EXISTS; that is a join where no other pattern sees them."""
        inner, conditions = exists.pattern, []
        while isinstance(inner, Filter):
            conditions += [steady(conjunct) for conjunct in conjuncts(inner.condition)]
            inner = inner.pattern
        if not _is_plain(inner):
            raise NotPlanned("EXISTS of more than triple patterns and filters is asked row by row")
        partners = Partners.NOT_EXISTS if exists.negated else Partners.EXISTS
        return self._outer(rows, self.node(inner), partners, tuple(conditions))

    def _outer(self, left: Node, right: Node, partners: Partners, conditions: tuple[Expression, ...] = ()) -> Node:
        return ValidityOuterJoin(left, right, partners, self.dataset.grid, conditions)

    # ---- expressions and groups

    def extended(self, rows: Node, name: str, expression: Expression) -> Node:
        """Rows with the value of an expression."""
        if name in rows.schema.variables:
            raise NotPlanned(f"?{name} is bound twice")
        timed, (value,) = with_latest(rows, (expression,), self.dataset)
        return _as_wide(nodes.Extend(timed, name, steady(value)), (*rows.schema.variables, name))

    def _group(self, group: Group) -> Node:
        rows, keys, aggregates = self.node(group.pattern), [], []
        apart = any(_is_hidden(variable) for variable, _ in group.keys)
        if apart and len(self.dataset.events) > 1:
            raise NotPlanned("DISTINCT rows of several MATCH are told apart by the times of each")
        for variable, expression in group.keys:
            if _is_hidden(variable):
                continue
            if not (isinstance(expression, Variable) and expression.name == variable.name):
                rows = self.extended(rows, variable.name, expression)
            keys.append(variable.name)
        for number, (variable, expression) in enumerate(group.aggregates):
            if _is_hidden(variable):
                continue
            assert isinstance(expression, Aggregate)
            operand = expression.operand
            if operand is not None and not (isinstance(operand, Variable) and operand.name in rows.schema.variables):
                rows = self.extended(rows, f"_:operand{number}", operand)
                operand = Variable(f"_:operand{number}")
            aggregates.append((variable.name, replace(expression, operand=operand)))
        missing = [name for name in keys if name not in rows.schema.variables]
        if missing:
            rows = nodes.Project(rows, (*rows.schema.variables, *missing))
        hull = bool(self.dataset.events)
        return window_nodes.Group(rows, tuple(keys), tuple(aggregates), self.dataset.grid, hull, apart)


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
        shown, inner = tuple(v.name for v in inner.variables if not _is_hidden(v)), inner.pattern
    if isinstance(inner, OrderBy):
        if distinct and shown is not None:
            names = frozenset().union(*(mentioned_variables(e) for e, _ in inner.conditions))
            if not names <= frozenset(shown):
                raise NotPlanned("DISTINCT rows are ordered by what they do not show")
            variables = tuple(Variable(name) for name in shown)
            return Arranged(Distinct(Project(inner.pattern, variables)), inner.conditions, offset, limit, shown)
        return Arranged(inner.pattern, inner.conditions, offset, limit, shown)
    return Arranged(pattern, (), offset, limit, None)


def _is_hidden(variable: Variable) -> bool:
    """Whether it tells of a row of MATCH where it comes from: here lineage and occurrence do (`algebra.windows`)."""
    return variable.name.startswith("_:match")


def conjuncts(condition: Expression) -> list[Expression]:
    """The parts of an AND."""
    if isinstance(condition, And):
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    return [condition]


def steady(expression: Expression) -> Expression:
    """An expression whose value the row alone decides. Raises NotPlanned."""
    calls = [call.function for call in find(expression, Call) if call.function in _UNSTEADY]
    if calls:
        where = " in the condition of OPTIONAL or EXISTS" if calls[0] == "TIMESTAMP" else ""
        raise NotPlanned(f"{calls[0]}{where} is evaluated anew at every evaluation")
    if next(find(expression, Exists), None) is not None:
        raise NotPlanned("EXISTS inside another expression is asked row by row")
    return expression


def _is_plain(pattern: Pattern) -> bool:
    """Joins of triple patterns whose filters read what their own group binds."""
    match pattern:
        case BGP():
            return True
        case Join(left, right):
            return _is_plain(left) and _is_plain(right)
        case Graph(Constant(), inner):
            return _is_plain(inner)
        case Filter(condition, inner):
            return mentioned_variables(condition) <= certain(inner) & in_scope(inner) and _is_plain(inner)
        case _:
            return False


def _as_wide(rows: Node, names: tuple[str, ...]) -> Node:
    """Rows without the times that an expression asked for."""
    return rows if rows.schema.variables == names else nodes.Project(rows, names)


def _constants(triple: TriplePattern) -> int:
    return sum(isinstance(node, Constant) for node in (triple.subject, triple.predicate, triple.object))


_SPOKEN = {"PathPattern": "a property path", "OrderBy": "ORDER BY inside", "Slice": "LIMIT inside", "Graph": "GRAPH ?g"}


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
        return report(dataset.snapshot(pattern, str(reason))), _is_ordered(pattern)


def _is_ordered(pattern: Pattern) -> bool:
    while isinstance(pattern, Slice | Project | Distinct):
        pattern = pattern.pattern
    return isinstance(pattern, OrderBy)


def _report_of(pattern: Pattern, dataset: Dataset, report: Callable[[Node], window_nodes.Report]) -> tuple[Node, bool]:
    parts = arranged(pattern)
    planner = _Planner(dataset, None)
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
    pattern: Pattern, windows: Sequence[WindowOn], grid: Step, count: Count, *, every: bool = False, exact: str = ""
) -> tuple[Node, bool]:  # fmt: skip
    """A periodic query: evaluated at every multiple of the step at which a window holds an item, or, with `every`, at all of
    them from the first item on (spec/50-sparkwave rule 2)."""
    items: Node = window_nodes.ItemScan(tuple(dict.fromkeys(iri for window in windows for iri in window.streams)))
    if not every:
        held: list[Node] = [window.over(window_nodes.ItemScan(window.streams), grid) for window in windows]
        items = reduce(nodes.Union, held)
    when = window_nodes.When.MULTIPLES if every else window_nodes.When.HELD

    def report(rows: Node) -> window_nodes.Report:
        return window_nodes.Report(rows, items, when, window_nodes.Output.ALL, grid)

    return report_of(pattern, Dataset(tuple(windows), {}, count, grid, (), exact), report)


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
        labels = {scan: windows[scan.window] for scan in scans(pattern)}
        found = {scan: window.over(graph_scan(scan, window.streams[0]), grid) for scan, window in labels.items()}
        which = tuple(scan.window for scan in scans(pattern))
        when, step, instants = reporting.when, reporting.step, reporting.instants
        ordered = tuple(found[scan] for scan in scans(pattern))
        together = move_together(ordered)
        return EventMatch(pattern, known.policy, ordered, which, items, when, step, instants, grid, together)

    def report(rows: Node) -> window_nodes.Report:
        step, instants = reporting.step, reporting.instants
        timed = bool(query.events)
        return window_nodes.Report(rows, items, reporting.when, reporting.output, step, instants, timed=timed)

    named: dict[IRI, tuple[Content, ...]] = {window_graph(name): (content,) for name, content in contents.items()}
    default = tuple(content for content in contents.values() if isinstance(content, VersionsOf) and content.default)
    events = tuple(map(matched, query.events))
    return report_of(query.pattern, Dataset(default, named, known.count, grid, events, known.exact), report)


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """What is known of a query over windows besides its text."""

    reporting: Reporting
    policy: Policy
    count: Count
    exact: str = ""
    """Why the exact evaluator is asked for."""
