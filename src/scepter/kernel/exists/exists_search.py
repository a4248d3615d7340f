"""The search behind EXISTS: a pattern with the outer solution's bindings in it, over what has ended by then.

By the book and from scratch each time: joins are kept up to date, this one is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import compress, count
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
from scepter.kernel.exists.history import History
from scepter.kernel.exists.interval_expressions import Expressions, Value
from scepter.kernel.exists.solution import Timed, distinct, in_order, in_sight
from scepter.kernel.sparql.aggregates import compile_group
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.dataset import EMPTY_GRAPH
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.kernel.sparql.triple_matching import join_order
from scepter.rdf.terms import Term
from scepter.rdf.values import order_key, to_literal
from scepter.timeline import Allen, TimeKind
from scepter.timeline import Interval as Span

Found = Iterator[Timed]
_Plan = Callable[[Row, int | None], Found]
"""(the outer solution's bindings, its end or None) -> the solutions that have ended by then, those bindings in their rows."""


class Search:
    """Whether the pattern of an EXISTS has a solution, under an outer one's bindings and among what has ended by then."""

    def __init__(self, exists: Exists, history: History, context: Context, kind: TimeKind, *, plain: bool) -> None:
        def within(nested: Exists) -> Callable[[Row, int | None], bool]:
            return Search(nested, history, context, kind, plain=plain)

        expressions = Expressions(kind, context, within)
        self._negated = exists.negated
        self._plan = _Compiler(history, context, expressions, plain).plan(exists.pattern)

    def __call__(self, row: Row, until: int | None) -> bool:
        """The answer for one outer solution and its end; None where it has no time."""
        return (next(self._plan(in_sight(row), until), None) is not None) is not self._negated


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
                test = None if condition is None else self.expressions.condition(condition)
                return self._optional(self.plan(left), self.plan(right), test, _ended)
            case Minus(left, right):
                return self._minus(self.plan(left), self.plan(right))
            case Union(left, right):
                return self._union(self.plan(left), self.plan(right))
            case Filter(condition, inner):
                plan, keep = self.plan(inner), self.expressions.condition(condition)
                return lambda row, until: (s for s in plan(row, until) if keep({**row, **s.row}, s, s.asks(until)))
            case Extend():
                return self._extend(pattern)
            case Values() | Graph() | Match():
                return self._static(pattern)
            case Project(inner, variables):
                return self._project(self.plan(inner), frozenset(v.name for v in variables))
            case Distinct(inner):
                plan = self.plan(inner)
                return lambda row, until: iter(distinct(s.with_row(in_sight(s.row)) for s in plan(row, until)))
            case Group() | OrderBy() | Slice():
                return self._shaped(pattern)
            case _:
                assert_never(pattern)

    # ---- leaves

    def _bgp(self, pattern: BGP) -> _Plan:
        names = frozenset(in_scope(pattern))

        def plan(row: Row, until: int | None) -> Found:
            order = join_order(pattern.triples, names & row.keys())
            return self._extended(order, Timed(dict(row), free=self.plain), until)

        return plan

    def _extended(self, triples: list[TriplePattern], solution: Timed, until: int | None) -> Found:
        if not triples:
            yield solution
            return
        first, rest = triples[0], triples[1:]
        nodes = first.places
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
            for found in compiled(context):
                yield Timed(found, free=found in always)
            for graph, start, end in self.history.graphs(until):
                for found in compiled(replace(context, graph=graph)):
                    if found not in always:  # what is reached in no step needs no event
                        yield Timed(found, start, end)

        return plan

    def _static(self, pattern: Values | Graph | Match) -> _Plan:
        compiled, free = compile_pattern(pattern), self.plain and isinstance(pattern, Values)
        mark = f"_:row{next(self._numbers)}"

        def plan(row: Row, _: int | None) -> Found:
            rows: Iterable[Row] = compiled(replace(self.context, substituted=row))
            marked = ({**found, mark: to_literal(number)} for number, found in enumerate(rows))
            return (Timed({**row, **found}, free=free) for found in (marked if self.plain else rows))

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
        relation = pattern.relation
        if pattern.optional is None:
            return self._joined(pattern.left, pattern.right, lambda a, b: related(relation, a, b))
        test = None if pattern.condition is None else self.expressions.condition(pattern.condition)
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
                    if test is None or test({**row, **solution.row, **other.row}, other, solution.asks(until)):
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
                term = value({**row, **solution.row}, solution, solution.asks(until))
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
        """What is made of all solutions: those of static triples alone apart from the others. What needs no triple is there
        with what has a time."""
        inner, shape = self.plan(pattern.pattern), self._shape(pattern)

        def plan(row: Row, until: int | None) -> Found:
            solutions = distinct(inner(row, until))
            alone = [s.timeless and not s.free for s in solutions]
            yield from shape(
                list(compress(solutions, alone)), [s for s, apart in zip(solutions, alone, strict=True) if not apart]
            )

        return plan

    def _shape(self, pattern: Group | OrderBy | Slice) -> Callable[[list[Timed], list[Timed]], Found]:
        match pattern:
            case Group():
                return self._grouped(pattern)
            case OrderBy(_, conditions):
                keys = [(self.expressions.value(e), descending) for e, descending in conditions]
                return lambda timeless, timed: iter([*_ordered(timeless, keys), *_ordered(timed, keys)])
            case Slice(_, offset, limit):
                part = slice(offset, None if limit is None else offset + limit)
                return lambda timeless, timed: iter([*timeless[part], *timed[part]])
            case _:
                assert_never(pattern)

    def _grouped(self, group: Group) -> Callable[[list[Timed], list[Timed]], Found]:
        """A row for each group that something without a time is in, and one for each that something with a time entered."""
        keys = [(variable.name, self.expressions.value(expression)) for variable, expression in group.keys]
        asked = [(variable, *self.expressions.asking(expression)) for variable, expression in group.aggregates]
        aggregate = compile_group(Group(group.pattern, (), tuple((v, e) for v, e, _ in asked)))

        def by_key(solutions: list[Timed]) -> dict[tuple[Term | None, ...], list[Timed]]:
            found: dict[tuple[Term | None, ...], list[Timed]] = {}
            for solution in in_order(solutions):
                found.setdefault(tuple([value(solution.row, solution, solution.end) for _, value in keys]), []).append(solution)
            return found

        def row(key: tuple[Term | None, ...], members: list[Timed]) -> Row:
            rows = [{name: t for _, _, made in asked for name, t in made(m).items()} | m.row for m in members]
            (result,) = aggregate(rows, self.context)
            return {**{name: term for (name, _), term in zip(keys, key, strict=True) if term is not None}, **result}

        def shape(timeless: list[Timed], timed: list[Timed]) -> Found:
            static = by_key(timeless)
            yield from (Timed(row(key, members)) for key, members in static.items())
            for key, members in by_key(timed).items():
                starts = [m.start for m in members if m.start is not None]
                ends = [m.end for m in members if m.end is not None]
                found = row(key, [*static.get(key, ()), *members])
                yield Timed(found, min(starts), max(ends)) if starts else Timed(found, free=True)

        return shape


def _ordered(solutions: list[Timed], keys: list[tuple[Value, bool]]) -> list[Timed]:
    found = in_order(solutions)
    for value, descending in reversed(keys):  # stable, so the first condition is sorted by last
        found.sort(key=lambda s, value=value: order_key(value(s.row, s, s.end)), reverse=descending)  # type: ignore[misc]
    return found


def related(relation: Allen, a: Timed, b: Timed) -> bool:
    """Whether two solutions stand in a relation; what has no time stands in any (rule 1)."""
    if a.start is None or a.end is None or b.start is None or b.end is None:
        return True
    return relation.holds(Span(a.start, a.end), Span(b.start, b.end))


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
    return mandatory.free or (mandatory.end is not None and optional.end <= mandatory.end)


def _removes(solution: Timed, other: Timed, substituted: Row) -> bool:
    """Outer bindings are terms, no shared variables."""
    if not _ended(solution, other) or not _compatible(solution, other):
        return False
    return any(name in other.row and name not in substituted for name in solution.row)
