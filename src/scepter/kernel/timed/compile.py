"""Patterns to operators, with the duration bounds of their groups pushed down (spec/20-ep-sparql rule 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import assert_never

from scepter.algebra.expressions import Call, Exists, Expression, Variable
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
    NegatedPropertySet,
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
from scepter.algebra.scope import certain, expression_variables, in_scope
from scepter.algebra.timed import TIME_FUNCTIONS
from scepter.algebra.timed_bounds import duration_bounds
from scepter.algebra.walk import find
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.dataset import Graph as RDFGraph
from scepter.kernel.sparql.matching import join_order
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.kernel.timed.expressions import VOLATILE, Expressions
from scepter.kernel.timed.grouping import Grouped
from scepter.kernel.timed.joins import Condition, Joined, Optional, Removed, United
from scepter.kernel.timed.memory import Meeting
from scepter.kernel.timed.operators import Fixed, Operator, PathScan, Scan
from scepter.kernel.timed.plain import EveryInstant, holds_always, is_constant, numbered
from scepter.kernel.timed.policies import Paired, Policy
from scepter.kernel.timed.shaping import Extended, Filtered, Ordered, Projected, Sliced, Unique
from scepter.rdf.terms import IRI, Term
from scepter.timeline import Allen, TimeKind


@dataclass(frozen=True, slots=True)
class Window:
    """Over which solutions of a group its aggregates run: those of a duration in ticks, or a number of them."""

    duration: int | None = None
    rows: int | None = None


@dataclass(slots=True)
class Compiler:
    """Makes the operators of one query."""

    kind: TimeKind
    static: RDFGraph
    context: Context
    expressions: Expressions
    policy: Policy | None = None
    plain: bool = False
    """Whether UNION, VALUES and paths keep how often they give a solution."""
    always: bool = True
    """Whether what needs no triple holds at each instant of a plain query."""
    _numbers: Iterator[int] = field(default_factory=count)

    def compile(
        self, pattern: Pattern, bound: int | None = None, window: Window | None = None, *, alone: bool = False
    ) -> Operator:
        """The operator of a pattern.

        `bound` is the longest duration its solutions may have to be of use, `window` that of the outermost grouping. `alone`
        says that no join gives its solutions a time: the whole query, or a mandatory side.
        """
        if alone and self.plain and self.always:
            constant = is_constant(pattern)
            operator = self._compile(pattern, bound, window, alone=not constant)
            passed_on = isinstance(pattern, _PASSING) and not constant
            return operator if passed_on or not any(map(holds_always, operator.fixed)) else EveryInstant(operator)
        return self._compile(pattern, bound, window, alone=alone)

    def _compile(self, pattern: Pattern, bound: int | None, window: Window | None, *, alone: bool) -> Operator:
        match pattern:
            case BGP(triples):
                return self._bgp(triples, bound)
            case PathPattern():
                return self._path(pattern, bound)
            case Values() | Graph() | Match():
                return self._fixed(pattern)
            case Join(left, right):
                # VALUES after the modifiers of a grouped query stand beside its groups.
                sides = self.compile(left, bound, window), self.compile(right, bound)
                return Joined(*sides, _meeting(left, right), None, bound)
            case Related():
                return self._related(pattern, bound)
            case LeftJoin(left, right, condition):
                return self._optional(left, right, None, condition, bound, flipped=False)
            case Minus(left, right):
                shared = in_scope(left) & in_scope(right)
                return Removed(self.compile(left, bound, alone=True), self.compile(right), _meeting(left, right), shared)
            case Union():
                mark = f"_:side{next(self._numbers)}" if self.plain else None
                return United(*(self.compile(side, bound, alone=alone) for side in _sides(pattern)), mark=mark)
            case Filter(condition, inner):
                return self._filter(condition, inner, bound, window, alone=alone)
            case Extend():
                return self._extend(pattern, bound, window, alone=alone)
            case Group():
                window = window or Window()
                # What needs no triple is in its group at each instant (rule 13).
                source = self.compile(pattern.pattern, alone=not is_constant(pattern.pattern))
                return Grouped(source, pattern, self.expressions, window.duration, window.rows)
            case OrderBy(inner, conditions):
                keys = [(self.expressions.value(expression), descending) for expression, descending in conditions]
                return Ordered(self.compile(inner, bound, window, alone=alone), keys)
            case Project(inner, variables):
                mark = f"_:hidden{next(self._numbers)}."
                return Projected(self.compile(inner, bound, window, alone=alone), (v.name for v in variables), mark)
            case Distinct(inner):
                return Unique(self.compile(inner, bound, window, alone=alone))
            case Slice(inner, offset, limit):
                # A bound would take rows away before they are counted.
                return Sliced(self.compile(inner, None, window, alone=alone), offset, limit, ordered=is_ordered(inner))
            case _:
                assert_never(pattern)

    # ---- leaves

    def _bgp(self, triples: tuple[TriplePattern, ...], bound: int | None) -> Operator:
        if not triples:
            return Fixed([{}])
        ordered = join_order(triples, frozenset())
        operator: Operator = self._scan(ordered[0], bound)
        bound_names = in_scope(BGP((ordered[0],)))
        for triple in ordered[1:]:
            names = in_scope(BGP((triple,)))
            meeting = Meeting(tuple(sorted(bound_names & names)))
            operator = Joined(operator, self._scan(triple, bound), meeting, None, bound)
            bound_names |= names
        return operator

    def _fixed(self, pattern: Values | Graph | Match) -> Fixed:
        rows: Iterable[Row] = compile_pattern(pattern)(replace(self.context, graph=self.static))
        if self.plain and not isinstance(pattern, Match):
            rows = numbered(rows, f"_:row{next(self._numbers)}")
        return Fixed(list(rows), static=not isinstance(pattern, Values))

    def _scan(self, triple: TriplePattern, bound: int | None) -> Scan:
        return Scan(triple, self.static, bound, self.policy is not None)

    def _path(self, pattern: PathPattern, bound: int | None) -> Operator:
        """A negated set is one triple with another predicate; as such it keeps how often it matches."""
        if not isinstance(pattern.path, NegatedPropertySet):
            return PathScan(pattern, self.static, bound, self.policy is not None, once=self.plain)
        path, sides = pattern.path, []
        if path.forward or not path.backward:
            sides.append((pattern.subject, pattern.object, path.forward))
        if path.backward:
            sides.append((pattern.object, pattern.subject, path.backward))
        return United(*(self._other_predicate(subject, object, excluded, bound) for subject, object, excluded in sides))

    def _other_predicate(self, subject: Node, object: Node, excluded: tuple[IRI, ...], bound: int | None) -> Operator:
        predicate = Variable(f"_:path{next(self._numbers)}")
        scan = self._scan(TriplePattern(subject, predicate, object), bound)
        unwanted = frozenset[Term](excluded)
        return Filtered(scan, lambda row, _: row[predicate.name] not in unwanted, None)

    # ---- two sides

    def _related(self, pattern: Related, bound: int | None) -> Operator:
        left, right, relation = pattern.left, pattern.right, pattern.relation
        if pattern.optional is Side.LEFT:
            return self._optional(right, left, relation, pattern.condition, bound, flipped=True)
        if pattern.optional is Side.RIGHT:
            return self._optional(left, right, relation, pattern.condition, bound, flipped=False)
        sides = self.compile(left, bound), self.compile(right, bound)
        meeting = _meeting(left, right)
        if self.policy is not None and relation in (Allen.BEFORE, Allen.EQUALS):
            return Paired(*sides, meeting, relation, bound, self.policy)
        return Joined(*sides, meeting, relation, bound)

    def _optional(
        self,
        mandatory: Pattern,
        optional: Pattern,
        relation: Allen | None,
        condition: Expression | None,
        bound: int | None,
        *,
        flipped: bool,
    ) -> Operator:
        # Equal intervals are equally long. Any other optional part may be longer than the bound: the result is then out of
        # bounds, but its partner does not stand alone.
        inner_bound = bound if relation is Allen.EQUALS else None
        return Optional(
            self.compile(mandatory, bound, alone=True),
            self.compile(optional, inner_bound),
            _meeting(mandatory, optional),
            relation,
            flipped=flipped,
            condition=None if condition is None else self._condition(condition),
            bound=bound,
            shrink=_trace(mandatory, optional, condition),
        )

    def _condition(self, expression: Expression) -> Condition:
        """The FILTER of an optional group: both mappings, and the interval of the group itself (rule 2)."""
        test = self.expressions.optional_condition(expression)
        return lambda mandatory, optional: test({**mandatory.row, **optional.row}, optional, mandatory.end)

    # ---- one side

    def _filter(
        self, condition: Expression, inner: Pattern, bound: int | None, window: Window | None, *, alone: bool
    ) -> Operator:
        limits = [limit for each in duration_bounds(condition) if (limit := each.longest(self.kind)) is not None]
        if bound is not None:
            limits.append(bound)
        tightest = min(limits, default=None)
        source = self.compile(inner, tightest, window, alone=alone or _asks_exists(condition))
        return Filtered(source, self.expressions.condition(condition), tightest)

    def _extend(self, pattern: Extend, bound: int | None, window: Window | None, *, alone: bool) -> Operator:
        steps: list[tuple[str, Expression]] = []
        node: Pattern = pattern
        while isinstance(node, Extend):
            steps.append((node.variable.name, node.expression))
            node = node.pattern
        steps.reverse()
        volatile = any(call.function in VOLATILE for _, expression in steps for call in find(expression, Call))
        source = self.compile(node, bound, window, alone=alone or any(_asks_exists(expression) for _, expression in steps))
        return Extended(source, self.expressions.values(steps), volatile=volatile)


_PASSING = (Union, Filter, Extend, OrderBy, Project, Distinct, Slice)
"""Whose inputs stand alone where they do."""


def _asks_exists(expression: Expression) -> bool:
    return next(find(expression, Exists), None) is not None


def _meeting(left: Pattern, right: Pattern) -> Meeting:
    return Meeting.of(in_scope(left), certain(left), in_scope(right), certain(right))


def _sides(pattern: Union) -> Iterable[Pattern]:
    pending: list[Pattern] = [pattern]
    while pending:  # a long chain of UNIONs is a list, not a deep tree
        node = pending.pop()
        if isinstance(node, Union):
            pending += (node.right, node.left)
        else:
            yield node


def is_ordered(pattern: Pattern) -> bool:
    """Whether the solutions of one end come in an order that the query gives them (ORDER BY)."""
    while isinstance(pattern, (Distinct, Project, Slice)):
        pattern = pattern.pattern
    return isinstance(pattern, OrderBy)


def _trace(mandatory: Pattern, optional: Pattern, condition: Expression | None) -> Callable[[Row], Row] | None:
    """What must stay known of an optional solution that is out of bounds; None where that is all of it."""
    names = in_scope(mandatory) & in_scope(optional)
    if condition is not None:
        asks = any(call.function in TIME_FUNCTIONS for call in find(condition, Call))
        if asks or _asks_exists(condition):
            return None
        names |= expression_variables(condition) & in_scope(optional)
    return lambda row: {name: term for name, term in row.items() if name in names}
