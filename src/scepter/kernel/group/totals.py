"""COUNT, SUM and AVG, kept by adding what enters and taking away what leaves. Exact: nothing is rounded before the end.

An integer or decimal of at most 15 digits is a whole number of units of its last digit; a double is a whole number of units of
2^-1126, written in digits of 32 bits. Both are summed as 64-bit integers, digit by digit. What does not fit (long numbers,
xsd:float, sums that may overflow) is left to the exact evaluator, group by group.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from scepter.kernel.rows import Float64, Int8, Int64, Mask, UInt64
from scepter.kernel.texts import Texts
from scepter.rdf.batch import DOUBLE, INEXACT, MAX_SCALE, NOT_A_NUMBER
from scepter.rdf.terms import XSD, Literal
from scepter.rdf.values.numeric import Number, divide, nearest

MEMBERS, ERRORS, FRACTIONS, DOUBLES, OTHERS, NANS, UPS, DOWNS, UNITS = range(9)
"""The first columns of a total: rows; of these without a number, decimals, doubles, numbers for the exact evaluator, NaN,
INF, -INF; and the sum of integers and decimals in units. Digits of doubles follow."""
LIMIT = 2**61
"""Sums of sizes below it are sure to be held by 64 bits."""
_LOWEST = 1126
"""Any double is a whole multiple of 2^-1126 with the 53 bits of its significand."""
_ONE = 2**_LOWEST
_DIGIT = 32
_TEN: int = 10
_REMEMBERED = 1 << 20
_TENTHS = 10.0 ** np.arange(MAX_SCALE + 1)
_WHOLE_TENTHS = 10 ** np.arange(MAX_SCALE + 1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Scale:
    """How amounts are written: the digits after the point of a unit, and which digits of doubles have columns."""

    decimals: int = 0
    digits: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """How many columns an amount has."""
        return UNITS + 1 + len(self.digits)


class Amounts:
    """What a column of terms adds to its groups."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._known = np.empty(0, np.uint64)
        self._decimal = np.empty(0, np.bool_)
        self.scale = Scale()

    def of(self, ids: UInt64, refs: Int64, number: Float64, scale: Int8) -> Int64:
        """[row, column of a total]; the scale is widened to hold them. Rows that do not fit count as OTHERS."""
        found = np.zeros((len(ids), UNITS + 1), np.int64)
        found[:, MEMBERS] = 1
        found[:, ERRORS] = (ids == 0) | (scale == NOT_A_NUMBER)
        double, exact = scale == DOUBLE, (scale >= 0) & (scale <= MAX_SCALE)
        found[:, FRACTIONS] = (scale > 0) & exact
        whole = np.flatnonzero(scale == 0)
        if len(whole):  # `2` and `2.0` have the same digits: the datatype tells
            found[whole, FRACTIONS] = self._is_decimal(ids[whole], refs[whole])
        finite = double & np.isfinite(number)
        found[:, DOUBLES] = double
        found[:, NANS] = double & np.isnan(number)
        found[:, UPS] = double & (number == np.inf)
        found[:, DOWNS] = double & (number == -np.inf)
        found[:, OTHERS] = scale == INEXACT
        places = np.where(exact, scale, 0).astype(np.int64)
        widest = max(self.scale.decimals, int(places.max(initial=0)))
        units = np.rint(np.where(exact, number, 0.0) * _TENTHS[places])
        fits = np.abs(units) * _TENTHS[widest - places] < 2.0**53
        found[:, OTHERS] |= exact & ~fits
        found[:, UNITS] = np.where(fits, units, 0.0).astype(np.int64) * _WHOLE_TENTHS[widest - places]
        digits = _digits(np.where(finite, number, 0.0))
        self.scale = Scale(widest, tuple(sorted({*self.scale.digits, *digits})))
        columns = [digits.get(each, np.zeros(len(ids), np.int64)) for each in self.scale.digits]
        return np.concatenate([found, *(column[:, None] for column in columns)], axis=1) if columns else found

    def _is_decimal(self, ids: UInt64, refs: Int64) -> Mask:
        """Whether numbers without digits after the point are decimals, by their texts, once for each different one."""
        different, first = np.unique(ids, return_index=True)
        new = ~np.isin(different, self._known)
        if bool(new.any()):
            if len(self._known) > _REMEMBERED:
                self._known, self._decimal, new = self._known[:0], self._decimal[:0], np.ones(len(different), np.bool_)
            told_by = zip(refs[first[new]].tolist(), different[new].tolist(), strict=True)
            terms = [self._texts.known(ref, id) for ref, id in told_by]
            told = [isinstance(term, Literal) and term.datatype == XSD + "decimal" for term in terms]
            known = np.concatenate([self._known, different[new]])
            order = np.argsort(known)
            self._known = known[order]
            self._decimal = np.concatenate([self._decimal, np.array(told, np.bool_)])[order]
        return self._decimal[np.searchsorted(self._known, ids)]


def _digits(number: Float64) -> dict[int, Int64]:
    """Doubles as digits of 32 bits, by the digit's place; places at which all are 0 are left out."""
    at = np.flatnonzero(number)
    if not len(at):
        return {}
    significand, exponent = np.frexp(number[at])
    whole = np.ldexp(significand, 53).astype(np.int64)
    sign, size = np.sign(whole), np.abs(whole).astype(np.uint64)
    place = exponent.astype(np.int64) - 53 + _LOWEST
    shift = (place % _DIGIT).astype(np.uint64)
    low = np.uint64(2**_DIGIT - 1)
    # 53 bits moved by up to 31 are three digits; the upper part is taken first, so that nothing leaves the word
    upper = size >> np.uint64(_DIGIT) << shift
    lower = (size & low) << shift
    upper += lower >> np.uint64(_DIGIT)
    parts = (lower & low, upper & low, upper >> np.uint64(_DIGIT))
    found: dict[int, Int64] = {}
    for step, part in enumerate(parts):
        for each in np.unique((place // _DIGIT + step)[part != 0]).tolist():
            mine = (place // _DIGIT + step) == each
            column = found.setdefault(each, np.zeros(len(number), np.int64))
            column[at[mine]] += part[mine].astype(np.int64) * sign[mine]
    return found


def rescaled(base: Int64, old: Scale, new: Scale) -> Int64 | None:
    """Totals per group in the columns of a wider scale; None where one would not fit."""
    if old == new:
        return base
    if len(base) and float(np.abs(base[:, UNITS]).max()) * 10.0 ** (new.decimals - old.decimals) >= LIMIT:
        return None
    wide = np.zeros((len(base), new.width), np.int64)
    wide[:, : UNITS + 1] = base[:, : UNITS + 1]
    wide[:, UNITS] *= 10 ** (new.decimals - old.decimals)
    for column, digit in enumerate(old.digits):
        wide[:, UNITS + 1 + new.digits.index(digit)] = base[:, UNITS + 1 + column]
    return wide


def may_overflow(base: Int64, amounts: Int64) -> bool:
    """Whether a sum of units or digits may leave 64 bits."""
    most = np.abs(base[:, UNITS:]).max(axis=0, initial=0).astype(np.float64)
    return bool((most + np.abs(amounts[:, UNITS:]).astype(np.float64).sum(axis=0) >= LIMIT).any())


@dataclass(frozen=True, slots=True)
class Total:
    """The total of one group, as Python's numbers."""

    columns: tuple[int, ...]
    scale: Scale

    def sum(self) -> Number:
        """The sum, in the widest type of what was added; doubles are rounded once, whatever their order."""
        row = self.columns
        if not row[DOUBLES]:
            if not row[FRACTIONS]:
                return int(row[UNITS] // _TEN**self.scale.decimals)
            return Decimal(row[UNITS]).scaleb(-self.scale.decimals)
        if row[NANS] or (row[UPS] and row[DOWNS]):
            return float("nan")
        if row[UPS] or row[DOWNS]:
            return float("inf") if row[UPS] else float("-inf")
        whole = sum(amount << (_DIGIT * digit) for digit, amount in zip(self.scale.digits, row[UNITS + 1 :], strict=True))
        if not row[UNITS] and whole.bit_length() < _LOWEST + 1023:  # Python divides whole numbers exactly, and rounds once
            return float(whole / _ONE)
        return nearest(Fraction(whole, _ONE) + Fraction(row[UNITS], 10**self.scale.decimals))

    def mean(self) -> Number:
        """The average; of nothing it is 0."""
        return divide(self.sum(), self.columns[MEMBERS]) if self.columns[MEMBERS] else 0
