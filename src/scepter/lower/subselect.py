"""Sub-SELECT: grouping, aggregates, solution modifiers (SPARQL 1.1 §18.2.4 and §18.2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scepter.algebra.expressions import And, Expression, Variable
from scepter.algebra.patterns import EMPTY, Distinct, Extend, Filter, Group, Join, OrderBy, Pattern, Project, Slice
from scepter.algebra.scope import in_scope
from scepter.algebra.walk import find
from scepter.errors import Span, query_error
from scepter.lower.expressions import AGGREGATES, Clause, Grouping, Place, fold
from scepter.syntax import tree

if TYPE_CHECKING:
    from scepter.lower.sparql import GroupLowering


def ordered_scope(pattern: Pattern) -> tuple[Variable, ...]:
    """The variables in scope, blank nodes too, in the order in which the text first names them."""
    names = in_scope(pattern)
    first: dict[str, Variable] = {}
    for variable in find(pattern, Variable):
        known = first.get(variable.name)
        if variable.name in names and (known is None or _start(variable) < _start(known)):
            first[variable.name] = variable
    return tuple(sorted(first.values(), key=lambda v: (_start(v), v.name)))


def _start(variable: Variable) -> float:
    return float("inf") if variable.span is None else variable.span.start


def lower_subselect(groups: GroupLowering, query: tree.SubSelect, outer: frozenset[str]) -> Pattern:
    """The pattern of a sub-SELECT."""
    return _SubSelect(groups, query, outer).lower()


@dataclass(slots=True)
class _SubSelect:
    groups: GroupLowering
    query: tree.SubSelect
    outer: frozenset[str]

    def lower(self) -> Pattern:
        select, modifiers = self.query.select, self.query.modifiers
        pattern = self.groups.group(self.query.group, self.outer)
        self._check_names(in_scope(pattern))
        pattern, projected = self._group(pattern) if self._grouped() else self._plain(pattern)
        pattern = Project(pattern, tuple(projected))
        if select.distinct or select.reduced:
            pattern = Distinct(pattern)
        if modifiers.limit is not None or modifiers.offset:
            pattern = Slice(pattern, modifiers.offset, modifiers.limit)
        return pattern

    def _plain(self, pattern: Pattern) -> tuple[Pattern, list[Variable]]:
        select, modifiers = self.query.select, self.query.modifiers
        if modifiers.having:
            raise query_error("aggregate", "HAVING needs GROUP BY or an aggregate", modifiers.having[0].span)
        if modifiers.values is not None:
            values = self.groups.values(modifiers.values)
            pattern = values if pattern == EMPTY else Join(pattern, values)
        if select.items is None:
            projected = [v for v in ordered_scope(pattern) if not v.name.startswith("_:")]
        else:
            projected, extends = self._items(select.items, in_scope(pattern), None)
            for variable, expression in extends:
                pattern = Extend(pattern, variable, expression)
        order = self._order(in_scope(pattern), None)
        return (OrderBy(pattern, order) if order else pattern), projected

    def _grouped(self) -> bool:
        modifiers = self.query.modifiers
        expressions = [i.expression for i in self.query.select.items or () if i.expression is not None]
        expressions += [*modifiers.having, *(o.expression for o in modifiers.order_by)]
        return bool(modifiers.group_by) or any(_aggregates(e) for e in expressions)

    def _check_names(self, bound: frozenset[str]) -> None:
        given: set[str] = set()
        for item in self.query.select.items or ():
            name = item.variable.name
            if item.expression is not None and name in given:
                raise query_error("duplicate-variable", f"SELECT names ?{name} twice", item.variable.span)
            if item.expression is not None and name in bound:
                raise query_error(
                    "variable-in-scope", f"SELECT gives ?{name} a value, but the pattern already binds it", item.variable.span
                )
            given.add(name)

    def _group(self, pattern: Pattern) -> tuple[Pattern, list[Variable]]:
        select, modifiers = self.query.select, self.query.modifiers
        if select.items is None:
            raise query_error("select-star", "SELECT * cannot stand with GROUP BY or an aggregate", select.span)
        visible = in_scope(pattern)
        keys = [self._key(key, visible) for key in modifiers.group_by]
        grouping = Grouping(frozenset(v.name for v, _ in keys), self.groups.fresh)
        computed = {item.variable.name: item.expression for item in select.items if item.expression is not None}
        conditions = [_in_full(condition, computed) for condition in modifiers.having]
        having = [self.groups.expressions.lower(h, Place(Clause.HAVING, visible, grouping=grouping)) for h in conditions]
        projected, extends = self._items(select.items, visible, grouping)
        order = self._order(visible, grouping)
        aggregates = tuple((variable, aggregate) for aggregate, variable in grouping.found.items())
        result: Pattern = Group(pattern, tuple(keys), aggregates)
        if having:
            result = Filter(fold(And, having), result)
        if modifiers.values is not None:
            result = Join(result, self.groups.values(modifiers.values))
        for variable, expression in extends:
            result = Extend(result, variable, expression)
        return (OrderBy(result, order) if order else result), projected

    def _key(self, key: tree.GroupKey, visible: frozenset[str]) -> tuple[Variable, Expression]:
        expression = self.groups.expressions.lower(key.expression, Place(Clause.GROUP_BY, visible))
        if key.variable is not None:
            if key.variable.name in visible:
                name = key.variable.name
                raise query_error(
                    "variable-in-scope", f"GROUP BY gives ?{name} a value, but the pattern already binds it", key.variable.span
                )
            return Variable(key.variable.name, key.variable.span), expression
        return (expression, expression) if isinstance(expression, Variable) else (self.groups.fresh(), expression)

    def _items(
        self, items: tuple[tree.SelectItem, ...], visible: frozenset[str], grouping: Grouping | None
    ) -> tuple[list[Variable], list[tuple[Variable, Expression]]]:
        projected: list[Variable] = []
        extends: list[tuple[Variable, Expression]] = []
        for item in items:
            variable = Variable(item.variable.name, item.variable.span)
            if item.expression is not None:
                place = Place(Clause.SELECT, visible, grouping=grouping)
                extends.append((variable, self.groups.expressions.lower(item.expression, place)))
                if grouping is not None:  # a later expression may use an earlier one's variable
                    grouping.keys = grouping.keys | {variable.name}
            elif grouping is not None:
                self.groups.expressions.lower(item.variable, Place(Clause.SELECT, visible, grouping=grouping))
            if variable not in projected:
                projected.append(variable)
        return projected, extends

    def _order(self, visible: frozenset[str], grouping: Grouping | None) -> tuple[tuple[Expression, bool], ...]:
        place = Place(Clause.ORDER_BY, visible, grouping=grouping)
        keys = self.query.modifiers.order_by
        return tuple((self.groups.expressions.lower(k.expression, place), k.descending) for k in keys)


def _in_full(expression: tree.Expression, computed: Mapping[str, tree.Expression]) -> tree.Expression:
    """A condition of HAVING in which what SELECT computes is written out where its name stands."""
    match expression:
        case tree.Var(name):
            return computed.get(name, expression)
        case tree.Operation():
            return replace(expression, operands=tuple(_in_full(each, computed) for each in expression.operands))
        case tree.Call() | tree.IriCall():
            return replace(expression, arguments=tuple(_in_full(each, computed) for each in expression.arguments))
        case _:
            return expression


def _aggregates(expression: tree.Expression) -> list[Span]:
    """Where aggregates stand in an expression, EXISTS apart."""
    found: list[Span] = []
    pending = [expression]
    while pending:
        current = pending.pop()
        match current:
            case tree.Call():
                if current.function.upper() in AGGREGATES:
                    found.append(current.span)
                pending += current.arguments
            case tree.IriCall():
                pending += current.arguments
            case tree.Operation():
                pending += current.operands
            case _:
                continue
    return found
