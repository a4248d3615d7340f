"""SPARQL's set functions over stretches of a column of numbers; what columns cannot tell is left open.

Sums of integers and decimals are exact: they are differences of running totals of whole units of the last digit. Doubles are
added without an error and rounded once. The twin, over terms, is `sparql.aggregates`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.inner import inner
from scepter.kernel.scan.solutions import Float64, Int8, Int64
from scepter.rdf.batch import DOUBLE, MAX_SCALE
from scepter.rdf.values.numeric import Number, total

WHOLE: Final = MAX_SCALE + 1
"""Scale of an xsd:decimal without digits after the point: its sums are decimals, those of integers are integers."""
_INTEGER, _DECIMAL, _FLOATING, _OPEN = 0, 1, 2, 3
_MOST = 4e18
"""What int64 holds, and some more."""


@dataclass(frozen=True, slots=True)
class Sums:
    """The sum of each stretch: units of the last digit and how many digits, or a double."""

    units: Int64
    digits: Int64
    doubles: Float64
    kind: Int8

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """Where columns do not tell."""
        return np.equal(self.kind, _OPEN)

    @property
    def is_exact(self) -> NDArray[np.bool_]:
        """Where it is a sum of integers and decimals."""
        return np.less(self.kind, _FLOATING)

    @property
    def is_decimal(self) -> NDArray[np.bool_]:
        """Where a decimal is among what was added."""
        return np.equal(self.kind, _DECIMAL)

    def value(self, i: int) -> Number:
        """The i-th sum, where it is not open."""
        if self.kind[i] == _FLOATING:
            return float(self.doubles[i])
        units = int(self.units[i])
        return units if self.kind[i] == _INTEGER else Decimal(units).scaleb(-int(self.digits[i]))


def sums(low: Int64, high: Int64, number: Float64, scale: Int64) -> Sums:
    """The sum of each stretch `[low[i], high[i])`."""
    found = Sums(*_sums(low, high, number, scale))
    _add_doubles(found, low, high, number)
    return found


def _add_doubles(found: Sums, low: Int64, high: Int64, number: Float64) -> None:
    """Sums of doubles, exact and rounded once. A stretch that has only grown goes on from parts that add up to the one before
    without an error (J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997)."""
    first = last = -1
    parts: list[float] = []
    for i in np.flatnonzero(np.equal(found.kind, _FLOATING)).tolist():
        if low[i] != first or high[i] < last:
            first, last, parts = int(low[i]), int(low[i]), []
        for value in number[last : int(high[i])].tolist():
            _add_part(parts, value)
        last = int(high[i])
        finite = all(map(math.isfinite, parts))  # parts that have left the range do not find back
        found.doubles[i] = math.fsum(parts) if finite else float(total(number[first:last].tolist()))


def _add_part(parts: list[float], value: float) -> None:
    kept = 0
    for part in parts:
        if abs(value) < abs(part):
            value, part = part, value
        high = value + part
        low = part - (high - value)
        if low:
            parts[kept] = low
            kept += 1
        value = high
    parts[kept:] = [value]


def extremes(low: Int64, high: Int64, number: Float64, scale: Int64, greatest: bool) -> Int64:
    """The place of each stretch's first least or greatest number, -1 where it is open."""
    found: Int64 = _extremes(low, high, number, scale, greatest)
    return found


@inner
def _digits(scale):  # type: ignore[no-untyped-def]
    """How many digits after the point; -1 for a double, -2 for what columns do not tell."""
    if scale == WHOLE:
        return 0
    if 0 <= scale <= MAX_SCALE:
        return scale
    return -1 if scale == DOUBLE else -2


@inner
def _unit(number, digits):  # type: ignore[no-untyped-def]
    """A number in units of its last digit: at most 15 digits, so that rounding finds the very one."""
    return np.int64(np.rint(number * 10.0**digits))


@inner
def _power(exponent):  # type: ignore[no-untyped-def]
    power = np.int64(1)
    for _ in range(exponent):
        power *= 10
    return power


@njit(cache=True)
def _sums(low, high, number, scale):  # type: ignore[no-untyped-def]
    rows = len(number)
    most = 0
    for row in range(rows):
        most = max(most, _digits(scale[row]))
    # running totals: of units of the table's last digit (modulo 2^64, which differences do not notice), of sizes, of kinds
    total = np.zeros(rows + 1, np.int64)
    size = np.zeros(rows + 1)
    kinds = np.zeros((rows + 1, 3), np.int64)
    for row in range(rows):
        digits = _digits(scale[row])
        total[row + 1], size[row + 1] = total[row], size[row]
        kinds[row + 1] = kinds[row]
        if digits >= 0:
            total[row + 1] += _unit(number[row], digits) * _power(most - digits)
            size[row + 1] += abs(number[row])
            kinds[row + 1, 0] += scale[row] != 0
        else:
            kinds[row + 1, -digits] += 1
    units = np.zeros(len(low), np.int64)
    places = np.zeros(len(low), np.int64)
    doubles = np.zeros(len(low))
    kind = np.empty(len(low), np.int8)
    for i in range(len(low)):
        a, b = low[i], high[i]
        decimals, floating, unknown = kinds[b] - kinds[a]
        if unknown > 0 or (floating > 0 and floating < b - a):
            kind[i] = _OPEN
        elif floating > 0:
            kind[i] = _FLOATING
        elif (size[b] - size[a] + 1e-9 * size[b]) * 10.0**most < _MOST:
            kind[i] = _DECIMAL if decimals > 0 else _INTEGER
            units[i] = total[b] - total[a]
            places[i] = most
        else:
            kind[i] = _OPEN
        if kind[i] == _INTEGER:
            units[i] //= _power(most)
            places[i] = 0
    return units, places, doubles, kind


@njit(cache=True)
def _extremes(low, high, number, scale, greatest):  # type: ignore[no-untyped-def]
    found = np.empty(len(low), np.int64)
    for i in range(len(low)):
        best, at = low[i], low[i]
        exact = _digits(scale[best]) >= 0
        if i > 0 and low[i] == low[i - 1] and high[i - 1] <= high[i]:  # a stretch that has only grown
            best, at = found[i - 1], high[i - 1]
        for row in range(at, high[i] if best >= 0 else at):
            digits = _digits(scale[row])
            x = number[row]
            if digits == -2 or (digits >= 0) != exact or np.isnan(x):
                best = -1
                break
            if (x > number[best]) if greatest else (x < number[best]):
                best = row
        found[i] = best
    return found
