"""Sums, differences, products and quotients of integers and decimals in columns; `numerals` writes them as terms.

A number is a count of units of its last digit. What columns cannot tell is left open, to be decided over terms
(`sparql.expressions`): numbers of more than 15 digits, quotients that do not end, doubles, other datatypes, errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numba import njit

from scepter.algebra.arithmetic import MOST, amount_of
from scepter.algebra.expressions import Arithmetic, Constant, Expression, Negate, Variable
from scepter.inner import inner
from scepter.kernel.column_table import ColumnTable
from scepter.kernel.rows import Int64, Mask, Rows
from scepter.kernel.texts import Texts
from scepter.rdf.batch import MAX_SCALE
from scepter.rdf.terms import XSD, Literal

INTEGER, DECIMAL, OPEN = 0, 1, 2
TENTHS = 10 ** np.arange(MAX_SCALE + 1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Amounts(ColumnTable):
    """Numbers in columns: `units` of the digit `digits` behind the point; `kind` is INTEGER, DECIMAL or OPEN."""

    units: Int64
    digits: Int64
    kind: Int64

    @property
    def is_open(self) -> Mask:
        """Where columns do not tell."""
        found: Mask = self.kind == OPEN
        return found


def calculated(expression: Expression, rows: Rows, names: Sequence[str], texts: Texts) -> Amounts:
    """The value of an expression that `can_calculate` for each row."""
    match expression:
        case Variable(name):
            return given(rows, names.index(name), texts) if name in names else _all(len(rows), (0, 0, OPEN))
        case Constant(Literal() as term):
            return _all(len(rows), amount_of(term) or (0, 0, OPEN))
        case Negate(operand):
            found = calculated(operand, rows, names, texts)
            return Amounts(-found.units, found.digits, found.kind)
        case Arithmetic(operator, left, right):
            a, b = calculated(left, rows, names, texts), calculated(right, rows, names, texts)
            made = Amounts(*(np.empty(len(rows), np.int64) for _ in range(3)))
            _calculate(
                "+-*/".index(operator),
                a.units, a.digits, a.kind, b.units, b.digits, b.kind, made.units, made.digits, made.kind, TENTHS,
            )  # fmt: skip
            return made
        case _:
            raise AssertionError("no arithmetic")


def _all(count: int, value: tuple[int, int, int]) -> Amounts:
    units, digits, kind = (np.full(count, part, np.int64) for part in value)
    return Amounts(units, digits, kind)


def given(rows: Rows, column: int, texts: Texts) -> Amounts:
    """The numbers of a column; what is none, or has too many digits, is open."""
    scale = rows.scale[:, column].astype(np.int64)
    exact = (scale >= 0) & (scale <= MAX_SCALE)
    digits = np.where(exact, scale, 0)
    number = np.where(exact, rows.number[:, column], 0.0)
    units = np.rint(number * TENTHS[digits]).astype(np.int64)
    kind = np.where(exact, DECIMAL, OPEN)
    whole = np.flatnonzero(scale == 0)  # integers, and decimals without a point: the text tells
    kind[whole] = _KINDS[texts.endings(rows.refs[whole, column], _NAMES)]
    return Amounts(units, digits, kind)


_NAMES: Final = tuple(f'"^^<{XSD}{name}>'.encode() for name in ("integer", "decimal"))
_KINDS = np.array([INTEGER, DECIMAL, OPEN])


@njit(cache=True)
def _calculate(operator, ua, da, ka, ub, db, kb, units, digits, kind, tenths):  # type: ignore[no-untyped-def]
    for i in range(len(units)):
        units[i], digits[i], kind[i] = figured(operator, ua[i], da[i], ka[i], ub[i], db[i], kb[i], tenths)


@inner
def figured(operator, a, x, of_a, b, y, of_b, tenths):  # type: ignore[no-untyped-def]
    """(units, digits, kind) of a sum, a difference, a product or a quotient, by its place in `+-*/`."""
    of = max(of_a, of_b)
    if of == OPEN:
        return np.int64(0), np.int64(0), np.int64(OPEN)
    if of == INTEGER and operator < 2:
        found = a + b if operator == 0 else a - b
        return (found, np.int64(0), of) if abs(found) < MOST else (np.int64(0), np.int64(0), np.int64(OPEN))
    if operator == 3:
        found, places = _quotient(a, b, x, y)
        of = np.int64(DECIMAL)
    elif operator == 2:
        near = float(a) * float(b)
        places = x + y if abs(near) < MOST and x + y <= MAX_SCALE else np.int64(-1)
        found = a * b if places >= 0 else np.int64(0)
    else:
        places = max(x, y)
        times_a, times_b = tenths[places - x], tenths[places - y]
        if abs(float(a) * float(times_a)) < MOST and abs(float(b) * float(times_b)) < MOST:
            found = a * times_a + b * times_b if operator == 0 else a * times_a - b * times_b
        else:
            found, places = np.int64(0), np.int64(-1)
    if places < 0 or abs(found) >= MOST:
        return np.int64(0), np.int64(0), np.int64(OPEN)
    while places > 0 and found % 10 == 0:
        found //= 10
        places -= 1
    return found, places, of


@inner
def _quotient(a, b, x, y):  # type: ignore[no-untyped-def]
    """(a / 10^x) / (b / 10^y), if it ends soon enough; -1 places if not."""
    if b == 0:
        return np.int64(0), np.int64(-1)
    places = x - y
    while places < 0 or a % b != 0:
        a *= 10
        places += 1
        if abs(a) >= 10**17 or places > MAX_SCALE:
            return np.int64(0), np.int64(-1)
    return a // b, places
