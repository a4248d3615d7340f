"""The variables that anything in an EP-SPARQL query binds, whatever their scope: a misspelt name is none of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from scepter.syntax import epsparql_tree as syntax
from scepter.syntax import tree


def bound_names(query: syntax.EpsparqlQuery) -> frozenset[str]:
    """Every name in a place that binds: triples, BIND, VALUES, GRAPH, AS."""
    return frozenset(_modifiers(query.result, query.modifiers)) | frozenset(_group(query.group))


def _modifiers(result: object, modifiers: tree.Modifiers) -> Iterator[str]:
    if isinstance(result, tree.SelectClause):
        for item in result.items or ():
            if item.expression is not None:
                yield item.variable.name
                yield from _expression(item.expression)
    for key in modifiers.group_by:
        if key.variable is not None:
            yield key.variable.name
    for condition in modifiers.having:
        yield from _expression(condition)
    if modifiers.values is not None:
        yield from (v.name for v in modifiers.values.variables)


def _group(group: tree.Group) -> Iterator[str]:
    for element in group.elements:
        yield from _element(element)


def _element(element: tree.Element) -> Iterator[str]:
    match element:
        case tree.Triples(triples):
            yield from (n.name for t in triples for n in (t.subject, t.verb, t.object) if isinstance(n, tree.Var))
        case tree.FilterClause(condition):
            yield from _expression(condition)
        case tree.BindClause(expression, variable):
            yield variable.name
            yield from _expression(expression)
        case tree.ValuesClause(variables):
            yield from (v.name for v in variables)
        case tree.SubSelect(select, group, modifiers):
            yield from _modifiers(select, modifiers)
            yield from _group(group)
        case tree.GraphClause(name, group) | tree.ServiceClause(name, group):
            if isinstance(name, tree.Var):
                yield name.name
            yield from _group(group)
        case tree.Alternatives(groups):
            for group in groups:
                yield from _group(group)
        case tree.Chain(first, links):
            for group in (first, *(group for _, group in links)):
                yield from _group(group)
        case tree.OptionalClause(group) | tree.MinusClause(group):
            yield from _group(group)
        case tree.LanguageElement():
            return  # another language's
        case _:
            assert_never(element)


def _expression(expression: tree.Expression) -> Iterator[str]:
    """Only EXISTS binds anything inside an expression."""
    pending = [expression]
    while pending:
        match pending.pop():
            case tree.ExistsTest(group):
                yield from _group(group)
            case tree.Operation(_, operands):
                pending += operands
            case tree.Call(_, arguments) | tree.IriCall(_, arguments):
                pending += arguments
            case _:
                continue
