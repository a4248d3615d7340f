"""From the algebra of a graph pattern to nodes on validities, or the reason why it cannot be one.

Over the union of windows and static data a triple pattern is two scans: of streamed triples, coalesced, and of static ones,
looked up. Joins start from what streams alone can give, look up static triples as soon as their keys are bound, and go on with
the triple pattern that has most constants among those connected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scepter.algebra.expressions import Aggregate, Call, Constant, Exists, Expression, Variable
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
    PathPattern,
    Pattern,
    Project,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.scope import certain, in_scope, mentioned_variables
from scepter.algebra.timed import END
from scepter.algebra.walk import find, rewrite
from scepter.optimizer.conditions import conjuncts
from scepter.physical.nodes import nodes, window_nodes
from scepter.physical.nodes.nodes import Node, variables_of
from scepter.physical.nodes.time_nodes import Rename, TimeValues
from scepter.physical.nodes.window_nodes import Coalesce, Fixed, NotStatic, Partners, ValidityJoin, ValidityOuterJoin
from scepter.physical.planning.timestamps import latest_of
from scepter.physical.planning.window_contents import Dataset, NotPlanned
from scepter.rdf.terms import IRI

_UNSTEADY = frozenset(("RAND", "UUID", "STRUUID", "BNODE", "NOW", "TIMESTAMP"))


_SPOKEN = {"OrderBy": "ORDER BY inside", "Slice": "LIMIT inside", "Graph": "GRAPH ?g"}


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """A triple pattern that has to be joined yet, with what its turn depends on: each is compared with each."""

    triple: TriplePattern
    names: frozenset[str]
    constants: int
    static: int
    streamed: int

    def rank(self, bound: frozenset[str]) -> tuple[bool, bool, int, int, int]:
        """Connected first; static look-ups before joins of streams, as they keep nothing; the fewest choices first."""
        shared = len(self.names & bound)
        return bool(self.names) and not shared, self.static == 0, self.streamed, -self.constants - shared, self.static


@dataclass(frozen=True, slots=True)
class PatternPlanner:
    """The rows of patterns and when they are there. Raises NotPlanned."""

    dataset: Dataset
    graph: IRI | None

    def node(self, pattern: Pattern) -> Node:
        """The rows of a pattern."""
        if (whole := self.dataset.whole(pattern, self.graph)) is not None:
            return whole
        match pattern:
            case BGP(triples):
                return self._bgp(triples)
            case Join(left, right):
                return ValidityJoin(self.node(left), self.node(right))
            case LeftJoin(left, right, condition):
                conditions = () if condition is None else tuple(map(steady, conjuncts(condition)))
                return self._outer(self.node(left), self.node(right), Partners.OPTIONAL, conditions)
            case Minus(left, right):
                return self._minus(left, right)
            case Union(left, right):
                return nodes.Union(self.node(left), self.node(right))
            case Filter(condition, inner):
                return self._filtered(self.node(inner), condition)
            case Extend(inner, variable, expression):
                return self.extended(self.node(inner), variable.name, expression)
            case Values(variables, rows):
                return Fixed(tuple(v.name for v in variables), rows)
            case Project(inner, variables):
                return nodes.Project(self.node(inner), tuple(v.name for v in variables if not is_hidden(v)))
            case Distinct(inner):
                return Coalesce(self.node(inner), self.dataset.grid)
            case Group():
                return self._group(pattern)
            case Match(number):
                return self.dataset.events[number]
            case PathPattern():
                return self.dataset.path(pattern, self.graph)
            case Graph(Constant(IRI() as name), inner):
                return replace(self, graph=name).node(inner)
            case _:
                raise NotPlanned(_SPOKEN.get(type(pattern).__name__, "this pattern") + " looks at the window as a whole")

    # ---- basic graph patterns

    def _bgp(self, triples: Sequence[TriplePattern]) -> Node:
        if not triples:
            return Fixed((), ((),))
        left = [self._choice(triple) for triple in triples]
        first = min(left, key=lambda c: (c.static > 0, c.static, c.streamed, -c.constants))
        left.remove(first)
        rows = self._alone(first.triple)
        while left:
            bound = frozenset(rows.schema.variables)
            following = min(left, key=lambda c: c.rank(bound))
            left.remove(following)
            rows = self._joined(rows, following.triple)
        return rows

    def _choice(self, triple: TriplePattern) -> _Choice:
        names, constants = frozenset(variables_of(triple)), _constants(triple)
        return _Choice(triple, names, constants, self._static(triple), self.dataset.streamed(triple))

    def _static(self, triple: TriplePattern) -> int:
        return self.dataset.static(triple, self.graph)

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

    def _minus(self, left: Pattern, right: Pattern) -> Node:
        return self._outer(self.node(left), self.node(right), Partners.MINUS)

    # ---- expressions and groups

    def extended(self, rows: Node, name: str, expression: Expression) -> Node:
        """Rows with the value of an expression."""
        if name in rows.schema.variables:
            raise NotPlanned(f"?{name} is bound twice")
        timed, (value,) = with_latest(rows, (expression,), self.dataset)
        return _as_wide(nodes.Extend(timed, name, steady(value)), (*rows.schema.variables, name))

    def _group(self, group: Group) -> Node:
        rows, keys, aggregates = self.node(group.pattern), [], []
        apart = any(is_hidden(variable) for variable, _ in group.keys)
        if apart and len(self.dataset.events) > 1:
            raise NotPlanned("DISTINCT rows of several MATCH are told apart by the times of each")
        for variable, expression in group.keys:
            if is_hidden(variable):
                continue
            if not (isinstance(expression, Variable) and expression.name == variable.name):
                rows = self.extended(rows, variable.name, expression)
            keys.append(variable.name)
        for number, (variable, expression) in enumerate(group.aggregates):
            if is_hidden(variable):
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


def is_hidden(variable: Variable) -> bool:
    """Whether it tells of a row of MATCH where it comes from: here lineage and occurrence do (`algebra.windows`)."""
    return variable.name.startswith("_:match")


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
    return sum(isinstance(node, Constant) for node in triple.places)


def with_latest(rows: Node, expressions: Sequence[Expression], dataset: Dataset) -> tuple[Node, tuple[Expression, ...]]:
    """Rows that tell the times which some expressions ask for, and the expressions over them. Raises NotPlanned."""
    asked = dict.fromkeys(
        call.arguments for each in expressions for call in find(each, Call) if call.function == "TIMESTAMP"
    )  # fmt: skip
    known: dict[tuple[Expression, ...], Expression] = {}
    for number, arguments in enumerate(asked):
        triple = _triple_of(arguments, rows)
        times = []
        for window, occurrences in enumerate(dataset.latest(triple)):
            times.append(Variable(f"_:time{number}.{window}"))
            told = Rename(TimeValues(occurrences, (END,)), (*occurrences.schema.variables, times[-1].name))
            rows = ValidityOuterJoin(rows, told, Partners.OPTIONAL, dataset.grid)
        known[arguments] = latest_of([(Call("BOUND", (time,)), time) for time in times])

    def replaced(node: Expression) -> Expression:
        return known[node.arguments] if isinstance(node, Call) and node.function == "TIMESTAMP" else node

    return rows, tuple(rewrite(each, replaced) for each in expressions)  # type: ignore[arg-type]


def _triple_of(arguments: Sequence[Expression], rows: Node) -> TriplePattern:
    """The triple that is looked up: a term that is unbound would find every triple."""
    for each in arguments:
        if isinstance(each, Variable) and each.name not in rows.schema.certain:
            raise NotPlanned(f"TIMESTAMP of ?{each.name}, which may be unbound, is evaluated anew at every evaluation")
    subject, predicate, object = (each if isinstance(each, Variable | Constant) else None for each in arguments)
    if subject is None or predicate is None or object is None:
        raise NotPlanned("TIMESTAMP of an expression is evaluated anew at every evaluation")
    return TriplePattern(subject, predicate, object)
