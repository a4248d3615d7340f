"""What a rule has to know of a filter's condition before it takes it apart or moves it."""

from __future__ import annotations

from scepter.algebra.expressions import And, Call, Exists, Expression, Not, Or, Previous
from scepter.algebra.patterns import Filter, Pattern
from scepter.algebra.timed import TIME_FUNCTIONS
from scepter.algebra.walk import find

_UNMOVABLE = frozenset(("RAND", "UUID", "STRUUID", "BNODE", "TIMESTAMP")) | TIME_FUNCTIONS
"""Functions that are another each time they are computed, or that speak of the time of the solution they stand beside."""


def conjuncts(condition: Expression) -> list[Expression]:
    """The conditions that must all be true for a filter to be true: split at `&&`, and at `!(a || b)`.

    De Morgan's law holds for SPARQL's errors too. A conjunct that uses PREV is true as a whole in the first iteration (SPAseq
    rule 7), so that only the `&&`s the user wrote outermost are split there.
    """
    found: list[Expression] = []
    pending = [condition]
    while pending:
        match pending.pop():
            case And(left, right):
                pending += (right, left)
            case Not(Or(left, right) as operand) if not uses_previous(operand):
                pending += (Not(right), Not(left))
            case node:
                found.append(node)
    return found


def filters_above(pattern: Pattern) -> tuple[tuple[Expression, ...], Pattern]:
    """The conditions of the filters that stand around a pattern, and the pattern without them."""
    conditions: list[Expression] = []
    while isinstance(pattern, Filter):
        conditions.append(pattern.condition)
        pattern = pattern.pattern
    return tuple(conditions), pattern


def uses_previous(expression: Expression) -> bool:
    """Whether PREV occurs in the expression."""
    return next(find(expression, Previous), None) is not None


def is_movable(condition: Expression) -> bool:
    """Whether the value depends on the mapping alone: not on the graph (EXISTS), nor on the times of what was matched, nor on
    how often it is computed."""
    if next(find(condition, Exists), None) is not None:
        return False
    return not any(call.function in _UNMOVABLE for call in find(condition, Call))
