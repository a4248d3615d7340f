"""Filters that no solution can pass: false by themselves, or bounds on a number that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from scepter.algebra.expressions import Call, Compare, Constant, Exists, Expression, IterationAggregate, Previous, Variable
from scepter.algebra.notation import Notation
from scepter.algebra.scope import mentioned_variables
from scepter.algebra.walk import walk
from scepter.errors import Diagnostic, Severity, Span
from scepter.insight.hints.needed_patterns import needed_patterns
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import holds
from scepter.rdf.terms import XSD, Literal
from scepter.runtime.queries import Query

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
_EXACT = frozenset(XSD + name for name in ("integer", "decimal", "int", "long", "short", "byte", "nonNegativeInteger"))


def false_filters(query: Query) -> Iterator[Diagnostic]:
    """A warning for each filter, or pair of filters, that nothing can pass."""
    notation = Notation(dict(query.lowered.prefixes))
    for unit in query.lowered.program.units:
        for needed in needed_patterns(unit):
            yield from _constant(needed.conditions, notation)
            yield from _contradictory(needed.conditions, notation)


def _constant(conditions: Sequence[Expression], notation: Notation) -> Iterator[Diagnostic]:
    for condition in conditions:
        if _steady(condition) and not holds(condition, {}, Context()):
            yield _warning(f"FILTER ({notation.expression(condition)}) is never true", condition)


def _steady(condition: Expression) -> bool:
    """Whether the query alone decides it."""
    depends = (Call, Exists, IterationAggregate, Previous)
    return not mentioned_variables(condition) and not any(isinstance(node, depends) for node in walk(condition))


def _contradictory(conditions: Sequence[Expression], notation: Notation) -> Iterator[Diagnostic]:
    bounds = [bound for condition in conditions if (bound := _bound(condition)) is not None]
    told: set[str] = set()
    for at, bound in enumerate(bounds):
        for other in bounds[:at]:
            if other.variable == bound.variable and bound.variable not in told and not _both(other, bound):
                told.add(bound.variable)
                first, second = (notation.expression(each.condition) for each in (other, bound))
                yield _warning(f"{first} and {second} are never both true", bound.condition)


@dataclass(frozen=True, slots=True)
class _Bound:
    """`?variable operator number`."""

    variable: str
    operator: str
    number: Fraction
    condition: Expression


def _bound(condition: Expression) -> _Bound | None:
    match condition:
        case Compare(operator, Variable(name), Constant(Literal() as literal)) if operator in _FLIPPED:
            number = _number(literal)
        case Compare(operator, Constant(Literal() as literal), Variable(name)) if operator in _FLIPPED:
            operator, number = _FLIPPED[operator], _number(literal)
        case _:
            return None
    return None if number is None else _Bound(name, operator, number, condition)


def _number(literal: Literal) -> Fraction | None:
    if literal.datatype not in _EXACT:
        return None
    try:
        return Fraction(literal.lexical)
    except ValueError:
        return None


def _both(a: _Bound, b: _Bound) -> bool:
    """Whether a number can satisfy both."""
    if a.operator == "=" or b.operator == "=":
        equal, other = (a, b) if a.operator == "=" else (b, a)
        tests = {
            "=": equal.number == other.number,
            "<": equal.number < other.number,
            "<=": equal.number <= other.number,
            ">": equal.number > other.number,
            ">=": equal.number >= other.number,
        }
        return tests[other.operator]
    if a.operator[0] == b.operator[0]:
        return True
    upper, lower = (a, b) if a.operator[0] == "<" else (b, a)
    closed = upper.operator == "<=" and lower.operator == ">="
    return lower.number < upper.number or (closed and lower.number == upper.number)


def _warning(message: str, condition: Expression) -> Diagnostic:
    return Diagnostic("never-true", message, _span(condition), severity=Severity.WARNING)


def _span(condition: Expression) -> Span | None:
    """From the first to the last place that the condition's terms have in the query."""
    spans = [n.span for n in walk(condition) if isinstance(n, (Variable, Constant)) and n.span is not None]
    return Span(min(s.start for s in spans), max(s.end for s in spans)) if spans else None
