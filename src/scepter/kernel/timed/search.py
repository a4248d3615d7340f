"""The search behind EXISTS: a pattern with the outer solution's bindings in it, over what has ended by then.

By the book and from scratch each time: the operators of `joins` and `shaping` are kept up to date, this one is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import assert_never

from scepter.algebra.expressions import Exists, Variable
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
    Node,
    OrderBy,
    PathPattern,
    Pattern,
    Project,
    Related,
    Side,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.scope import in_scope
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.dataset import EMPTY_GRAPH
from scepter.kernel.sparql.dataset import Graph as RDFGraph
from scepter.kernel.sparql.matching import join_order
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.kernel.timed.expressions import Expressions
from scepter.kernel.timed.grouping import Grouped
from scepter.kernel.timed.history import History
from scepter.kernel.timed.joins import related
from scepter.kernel.timed.operators import Operator
from scepter.kernel.timed.plain import numbered
from scepter.kernel.timed.shaping import Ordered, Sliced
from scepter.kernel.timed.solutions import Instant, Timed, distinct
from scepter.rdf.terms import Term
from scepter.rdf.values import to_literal

Found = Iterator[Timed]
_Plan = Callable[[Row, int | None], Found]
"""(the outer solution's bindings, its end or None) -> the solutions that have ended by then, those bindings in their rows."""


class Searches:
    """Compiles the patterns of a query's EXISTS, once each."""

    def __init__(self, context: Context, expressions: Callable[[], Expressions], *, plain: bool = False) -> None:
        self._context = context
        self._expressions = expressions
        self._plain = plain
        self._plans: dict[int, tuple[Exists, _Plan]] = {}

    def holds(self, exists: Exists, history: History, row: Row, until: int | None) -> bool:
        """Whether the pattern has a solution under an outer one's bindings."""
        known = self._plans.get(id(exists))
        if known is None:
            plan = _Compiler(history, self._context, self._expressions(), self._plain).plan(exists.pattern)
            known = self._plans[id(exists)] = exists, plan
        return next(known[1](dict(row), until), None) is not None


@dataclass(frozen=True, slots=True)
class _Compiler:
    history: History
    context: Context
    expressions: Expressions
    plain: bool
    """Whether UNION, VALUES and paths keep how often they give a solution (rule 8)."""
    _numbers: Iterator[int] = field(default_factory=count)

    def plan(self, pattern: Pattern) -> _Plan:
        """A pattern ready to be searched."""
        match pattern:
            case BGP():
                return self._bgp(pattern)
            case PathPattern():
                return self._path(pattern)
            case Join(left, right):
                return self._joined(left, right, lambda a, b: True)
            case Related():
                return self._related(pattern)
            case LeftJoin(left, right, condition):
                test = None if condition is None else self.expressions.optional_condition(condition)
                return self._optional(self.plan(left), self.plan(right), test, _ended)
            case Minus(left, right):
                return self._minus(self.plan(left), self.plan(right))
            case Union(left, right):
                return self._union(self.plan(left), self.plan(right))
            case Filter(condition, inner):
                plan, keep = self.plan(inner), self.expressions.condition(condition)
                return lambda row, until: (s for s in plan(row, until) if keep({**row, **s.row}, s))
            case Extend():
                return self._extend(pattern)
            case Values() | Graph() | Match():
                return self._static(pattern)
            case Project(inner, variables):
                return self._project(self.plan(inner), frozenset(v.name for v in variables))
            case Distinct(inner):
                plan = self.plan(inner)
                return lambda row, until: iter(distinct(s.with_row(_in_sight(s.row)) for s in plan(row, until)))
            case Group() | OrderBy() | Slice():
                return self._shaped(pattern)
            case _:
                assert_never(pattern)

    # ---- leaves

    def _bgp(self, pattern: BGP) -> _Plan:
        names = frozenset(in_scope(pattern))

        def plan(row: Row, until: int | None) -> Found:
            order = join_order(pattern.triples, names & row.keys())
            return self._extended(order, Timed(dict(row)), until)

        return plan

    def _extended(self, triples: list[TriplePattern], solution: Timed, until: int | None) -> Found:
        if not triples:
            yield solution
            return
        first, rest = triples[0], triples[1:]
        nodes = (first.subject, first.predicate, first.object)
        wanted = [_term(node, solution.row) for node in nodes]
        for triple, interval in self.history.match(wanted, until):
            row = dict(solution.row)
            if all(_bind(row, node, term) for node, term in zip(nodes, triple, strict=True)):
                matched = Timed(row) if interval is None else Timed(row, *interval)
                yield from self._extended(rest, solution.merged(matched), until)

    def _path(self, pattern: PathPattern) -> _Plan:
        compiled = compile_pattern(pattern)

        def plan(row: Row, until: int | None) -> Found:
            context = replace(self.context, substituted=row)
            always = list(compiled(replace(context, graph=EMPTY_GRAPH))) if self.plain else []
            for found in compiled(replace(context, graph=self.history.static)):
                yield Timed(found)
            for graph, end in self.history.graphs(until):
                for found in compiled(replace(context, graph=RDFGraph(graph.triples))):
                    if found not in always:  # what is reached in no step needs no event
                        yield Timed(found, graph.start, end)

        return plan

    def _static(self, pattern: Values | Graph | Match) -> _Plan:
        compiled = compile_pattern(pattern)

        mark = f"_:row{next(self._numbers)}"

        def plan(row: Row, _: int | None) -> Found:
            rows: Iterable[Row] = compiled(replace(self.context, substituted=row))
            return (Timed({**row, **found}) for found in (numbered(rows, mark) if self.plain else rows))

        return plan

    # ---- two sides

    def _union(self, *sides: _Plan) -> _Plan:
        if not self.plain:
            return lambda row, until: (s for side in sides for s in side(row, until))
        mark = f"_:side{next(self._numbers)}"
        marked = [(side, {mark: to_literal(number)}) for number, side in enumerate(sides)]
        return lambda row, until: (s.with_row({**s.row, **own}) for side, own in marked for s in side(row, until))

    def _joined(self, left: Pattern, right: Pattern, fits: Callable[[Timed, Timed], bool]) -> _Plan:
        first, second = self.plan(left), self.plan(right)

        def plan(row: Row, until: int | None) -> Found:
            others = list(second(row, until))
            return (a.merged(b) for a in first(row, until) for b in others if _compatible(a, b) and fits(a, b))

        return plan

    def _related(self, pattern: Related) -> _Plan:
        relation = pattern.relation.on_ends
        if pattern.optional is None:
            return self._joined(pattern.left, pattern.right, lambda a, b: related(relation, a, b))
        test = None if pattern.condition is None else self.expressions.optional_condition(pattern.condition)
        left, right = self.plan(pattern.left), self.plan(pattern.right)
        if pattern.optional is Side.LEFT:
            return self._optional(right, left, test, lambda m, o: _visible(m, o) and related(relation, o, m))
        return self._optional(left, right, test, lambda m, o: _visible(m, o) and related(relation, m, o))

    def _optional(
        self,
        mandatory: _Plan,
        optional: _Plan,
        test: Callable[[Row, Timed, int | None], bool] | None,
        fits: Callable[[Timed, Timed], bool],
    ) -> _Plan:
        def plan(row: Row, until: int | None) -> Found:
            others = list(optional(row, until))
            for solution in mandatory(row, until):
                alone = True
                for other in others:
                    if not _compatible(solution, other) or not fits(solution, other):
                        continue
                    if test is None or test({**row, **solution.row, **other.row}, other, solution.end):
                        alone = False
                        yield solution.merged(other)
                if alone:
                    yield solution

        return plan

    def _minus(self, left: _Plan, right: _Plan) -> _Plan:
        def plan(row: Row, until: int | None) -> Found:
            others = list(right(row, until))
            for solution in left(row, until):
                if not any(_removes(solution, other, row) for other in others):
                    yield solution

        return plan

    # ---- one side

    def _extend(self, pattern: Extend) -> _Plan:
        inner, name = self.plan(pattern.pattern), pattern.variable.name
        value = self.expressions.value(pattern.expression)

        def plan(row: Row, until: int | None) -> Found:
            for solution in inner(row, until):
                term = value({**row, **solution.row}, solution)
                if term is None:
                    yield solution
                elif solution.row.get(name, term) == term:
                    yield solution.with_row({**solution.row, name: term})

        return plan

    def _project(self, inner: _Plan, names: frozenset[str]) -> _Plan:
        """A sub-SELECT sees only those outer bindings that it projects; what it hides still tells its solutions apart."""
        mark = f"_:hidden{next(self._numbers)}."

        def plan(row: Row, until: int | None) -> Found:
            seen = {name: term for name, term in row.items() if name in names}
            for solution in inner(seen, until):
                kept = {name if name in names else mark + name: term for name, term in solution.row.items()}
                if all(row.get(name, term) == term for name, term in kept.items()):
                    yield solution.with_row({**row, **kept})

        return plan

    def _shaped(self, pattern: Group | OrderBy | Slice) -> _Plan:
        inner = self.plan(pattern.pattern)

        def plan(row: Row, until: int | None) -> Found:
            source = _Given(list(distinct(inner(row, until))), self.history.now)
            operator = self._operator(pattern, source)
            yield from operator.fixed
            yield from operator.delta(Instant(self.history.now, ()))

        return plan

    def _operator(self, pattern: Group | OrderBy | Slice, source: Operator) -> Operator:
        match pattern:
            case Group():
                return Grouped(source, pattern, self.expressions)
            case OrderBy(_, conditions):
                return Ordered(source, [(self.expressions.value(e), descending) for e, descending in conditions])
            case Slice(_, offset, limit):
                return Sliced(source, offset, limit, ordered=True)
            case _:
                assert_never(pattern)


class _Given(Operator):
    """Solutions at hand, as the input of an operator."""

    def __init__(self, solutions: list[Timed], now: int) -> None:
        super().__init__()
        self.fixed = [s for s in solutions if s.timeless]
        self._solutions = [Timed(s.row, s.start, now, s.used) for s in solutions if not s.timeless]

    def delta(self, instant: Instant) -> list[Timed]:
        """All of them."""
        return self._solutions


def _in_sight(row: Row) -> Row:
    return {name: term for name, term in row.items() if not name.startswith("_:")}


def _term(node: Node, row: Mapping[str, Term]) -> Term | None:
    return row.get(node.name) if isinstance(node, Variable) else node.term


def _bind(row: Row, node: Node, term: Term) -> bool:
    return not isinstance(node, Variable) or row.setdefault(node.name, term) == term


def _compatible(a: Timed, b: Timed) -> bool:
    return all(b.row.get(name, term) == term for name, term in a.row.items())


def _visible(mandatory: Timed, optional: Timed) -> bool:
    """A timeless mandatory side takes timeless partners only (rule 1)."""
    return optional.timeless or not mandatory.timeless


def _ended(mandatory: Timed, optional: Timed) -> bool:
    """What a mandatory solution may take or lose by: what has ended by its end (rules 6 and 13)."""
    if optional.end is None:
        return True
    return mandatory.end is not None and optional.end <= mandatory.end


def _removes(solution: Timed, other: Timed, substituted: Row) -> bool:
    """Outer bindings are terms, no shared variables."""
    if not _ended(solution, other) or not _compatible(solution, other):
        return False
    return any(name in other.row and name not in substituted for name in solution.row)
