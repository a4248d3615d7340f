"""What is made of matches: aggregates over iterations (rule 7), identity and results (rules 11 and 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from naive.graphs import template
from naive.runs import Found, Match, Solution
from scepter.algebra.expressions import Expression, IterationAggregate
from scepter.algebra.query import Ask, Construct, Query, Select
from scepter.algebra.walk import find
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.expressions import evaluate
from scepter.rdf.terms import XSD, Literal, Term
from scepter.rdf.values import ExpressionError, arithmetic, order_key


def aggregate(node: IterationAggregate, iterations: Mapping[str, tuple[Solution, ...]]) -> Term:
    """7. CHOICE: an iteration that leaves the variable unbound is left out, except by FIRST and LAST, which are then errors."""
    rounds = iterations.get(node.part, ())
    values = [mapping[node.variable.name] for mapping in rounds if node.variable.name in mapping]
    match node.function.upper():
        case "COUNT":
            return _integer(len(values))
        case "SUM":
            return _sum(values)
        case "AVG":
            return arithmetic("/", _sum(values), _integer(len(values))) if values else _integer(0)
        case "MIN" | "MAX" | "FIRST" | "LAST" if not rounds or not values:
            raise ExpressionError("no value")
        case "MIN":
            return min(values, key=order_key)
        case "MAX":
            return max(values, key=order_key)
        case ("FIRST" | "LAST") as end:
            mapping = rounds[0 if end == "FIRST" else -1]
            if node.variable.name not in mapping:
                raise ExpressionError("unbound")
            return mapping[node.variable.name]
        case unknown:
            raise ValueError(f"no aggregate over iterations: {unknown}")


def _integer(number: int) -> Literal:
    return Literal(str(number), f"{XSD}integer")


def _sum(values: Sequence[Term]) -> Term:
    total: Term = _integer(0)
    for value in values:
        total = arithmetic("+", total, value)
    return total


def results(query: Query, found: Sequence[Found], dataset: Dataset) -> list[Match]:
    """11 and 12."""
    result = query.result
    aggregates = isinstance(result, Select) and any(True for _ in find(result, IterationAggregate))
    once: dict[object, Match] = {}
    for item in found:
        match = _match(result, item, dataset)
        events = frozenset(event.number for event in item.run.selected)
        key = (events, frozenset(item.run.mapping.items()), match.row if aggregates else None)
        # CHOICE: where two readings of `?` give the same events and mapping different ends, the match is the earlier one.
        if key not in once or match.end < once[key].end:
            once[key] = match
    matches = list(once.values())
    match result:
        case Select(distinct=True):
            return list({(match.start, match.end, match.row): match for match in matches}.values())
        case Ask():
            return sorted(matches, key=lambda match: (match.end, match.start))[:1]
        case Select() | Construct():
            return matches
        case unreachable:
            assert_never(unreachable)


def _match(result: Select | Construct | Ask, found: Found, dataset: Dataset) -> Match:
    run = found.run
    events = frozenset(event.event.name for event in run.selected)
    row: dict[str, Term] = {}
    graph = None
    match result:
        case Select(columns):
            context = Context(
                graph=Graph(), dataset=dataset, previous=None, iterations=lambda node: aggregate(node, run.iterations)
            )
            for variable, expression in columns:
                # SPARQL: an expression may use the names that stand before it in the SELECT.
                value = _value(variable if expression is None else expression, {**run.mapping, **row}, context)
                if value is not None:
                    row[variable.name] = value
        case Construct(triples):
            graph = frozenset(template(triples, run.mapping, "match"))
        case Ask():
            pass
        case unreachable:
            assert_never(unreachable)
    return Match(run.start, found.end, frozenset(row.items()), graph, events)


def _value(expression: Expression, mapping: Solution, context: Context) -> Term | None:
    try:
        return evaluate(expression, mapping, context)
    except ExpressionError:
        return None
