"""GROUP BY and the set functions (SPARQL 1.1 §11 and §18.5.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from scepter.algebra.expressions import Aggregate
from scepter.algebra.patterns import Group
from scepter.kernel.sparql.builtins import bounded
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.expressions import Compiled, compile_expression
from scepter.rdf.terms import IRI, BlankNode, Literal, Term
from scepter.rdf.values import ExpressionError, Number, arithmetic, number_of, numeric, order_key, to_literal

Column: TypeAlias = list[Term | None]
"""An operand's value for each row of a group; None is an error."""
SetFunction: TypeAlias = Callable[[Sequence[Row], Context], Term]
_ZERO = to_literal(0)


def compile_group(group: Group) -> Callable[[Iterable[Row], Context], Iterator[Row]]:
    """The groups of some rows, one row each; an error leaves a key or an aggregate unbound.

    Without keys there is one group, also of no rows.
    """
    keys = [(variable.name, compile_expression(expression)) for variable, expression in group.keys]
    functions: list[tuple[str, SetFunction]] = []
    for variable, expression in group.aggregates:
        if not isinstance(expression, Aggregate):
            raise ValueError(f"?{variable.name} of a Group is no aggregate")
        functions.append((variable.name, compile_aggregate(expression)))

    def groups(rows: Iterable[Row], context: Context) -> Iterator[Row]:
        members: dict[tuple[Term | None, ...], list[Row]] = {} if keys else {(): []}
        for row in rows:
            members.setdefault(tuple([value_or_error(key, row, context) for _, key in keys]), []).append(row)
        for key, group_rows in members.items():
            result = {name: term for (name, _), term in zip(keys, key, strict=True) if term is not None}
            for name, function in functions:
                try:
                    result[name] = function(group_rows, context)
                except ExpressionError:
                    continue
            yield result

    return groups


def value_or_error(expression: Compiled, row: Row, context: Context) -> Term | None:
    """The value of an expression, None for an error; inside EXISTS the outer solution's bindings are seen too."""
    try:
        return expression({**context.substituted, **row} if context.substituted else row, context)
    except ExpressionError:
        return None


def compile_aggregate(aggregate: Aggregate) -> SetFunction:
    """A set function over the rows of a group; ExpressionError where it has no value."""
    if aggregate.operand is None:
        if aggregate.function != "COUNT":
            raise ValueError(f"{aggregate.function}(*) is no aggregate")
        return _count_rows(aggregate.distinct)
    operand = compile_expression(aggregate.operand)
    combine = _combination(aggregate)

    def apply(rows: Sequence[Row], context: Context) -> Term:
        column: Column = [value_or_error(operand, row, context) for row in rows]
        return combine(list(dict.fromkeys(column)) if aggregate.distinct else column)

    return apply


def _count_rows(distinct: bool) -> SetFunction:
    def count(rows: Sequence[Row], _: Context) -> Term:
        if not distinct:
            return to_literal(len(rows))
        # Blank nodes of the pattern are no part of a solution.
        return to_literal(len({frozenset((k, v) for k, v in row.items() if not k.startswith("_:")) for row in rows}))

    return count


def _combination(aggregate: Aggregate) -> Callable[[Column], Term]:
    match aggregate.function:
        case "COUNT":
            return lambda column: to_literal(sum(term is not None for term in column))
        case "SUM":
            return lambda column: total(_numbers(column))
        case "AVG":
            return lambda column: mean(_numbers(column))
        case "MIN":
            return lambda column: min(_some(column), key=order_key)
        case "MAX":
            return lambda column: max(_some(column), key=order_key)
        case "SAMPLE":
            return lambda column: _some([term for term in column if term is not None])[0]
        case "GROUP_CONCAT":
            return lambda column: Literal(_joined(aggregate.separator, [_text(term) for term in _all(column)]))
        case unknown:
            raise ValueError(f"{unknown} is no aggregate")


def total(numbers: Iterable[Number]) -> Literal:
    """The sum, by SPARQL's arithmetic; of nothing it is 0."""
    return to_literal(numeric.total(numbers))


def mean(numbers: Sequence[Number]) -> Literal:
    """The average; of nothing it is 0 (§18.5.1.4)."""
    return arithmetic("/", total(numbers), to_literal(len(numbers))) if numbers else _ZERO


def _all(column: Column) -> list[Term]:
    """The values of a column in which no error stands; one error makes the whole aggregate an error."""
    terms = [term for term in column if term is not None]
    if len(terms) < len(column):
        raise ExpressionError("an aggregate over an error")
    return terms


def _numbers(column: Column) -> list[Number]:
    return [_number(term) for term in _all(column)]


def _number(term: Term) -> Number:
    if not isinstance(term, Literal):
        raise ExpressionError(f"{term} is no number")
    return number_of(term)


def _some(column: Column) -> list[Term]:
    terms = _all(column)
    if not terms:
        raise ExpressionError("an aggregate over nothing")
    return terms


def _text(term: Term) -> str:
    match term:
        case IRI(text) | Literal(text):
            return text
        case BlankNode():
            raise ExpressionError(f"{term} has no text")


def _joined(separator: str, texts: list[str]) -> str:
    bounded(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)
