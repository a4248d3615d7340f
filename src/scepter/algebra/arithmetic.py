"""Which expressions are arithmetic on integers and decimals alone: they can be computed in columns."""

from __future__ import annotations

from typing import Final

from scepter.algebra.expressions import Arithmetic, Constant, Expression, Negate, Variable
from scepter.rdf.terms import XSD, Literal
from scepter.rdf.values import ExpressionError, value_of

DIGITS: Final = 15
"""So many digits float64 tells apart."""
MOST: Final = 10**DIGITS


def can_calculate(expression: Expression) -> bool:
    """Whether an expression is made of arithmetic on variables and numbers alone.

    >>> can_calculate(Arithmetic("+", Variable("x"), Variable("y"))), can_calculate(Variable("x"))
    (True, False)
    """
    return isinstance(expression, Arithmetic | Negate) and _is_operand(expression)


def _is_operand(expression: Expression) -> bool:
    match expression:
        case Variable():
            return True
        case Constant(Literal() as term):
            return amount_of(term) is not None
        case Arithmetic(_, left, right):
            return _is_operand(left) and _is_operand(right)
        case Negate(operand):
            return _is_operand(operand)
        case _:
            return False


def amount_of(term: Literal) -> tuple[int, int, bool] | None:
    """Of an integer or a decimal: how many units of its last digit, how many digits behind the point, whether it is a decimal;
    None for any other, and where it has too many digits.

    >>> amount_of(Literal("1.50", XSD + "decimal"))
    (150, 2, True)
    >>> amount_of(Literal("20000000000", XSD + "integer"))
    (20000000000, 0, False)
    """
    if term.datatype not in (f"{XSD}integer", f"{XSD}decimal"):
        return None
    try:
        value = value_of(term)
    except ExpressionError:
        return None
    whole, _, part = (str(value) if isinstance(value, int) else f"{value:f}").partition(".")
    fits = len(part) <= DIGITS and abs(int(whole + part)) < MOST
    return (int(whole + part), len(part), term.datatype == f"{XSD}decimal") if fits else None
