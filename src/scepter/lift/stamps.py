"""Instants written as xsd:dateTime, and whole numbers, in bulk: Arrow's own formatting takes several times as long."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from scepter.inner import inner

_SECOND: Final = 1_000_000
_DAY: Final = 86_400 * _SECOND
_TIME_AT: Final = 11
"""Where the time begins, behind its date."""
_NO_DAY: Final = -(1 << 62)
_ZERO: Final = 48
_MINUS: Final = 45
_TEN: Final = np.uint64(10)


@inner
def _put_digits(value: Any, digits: Any, out: Any, at: Any) -> Any:
    for i in range(digits):
        out[at + digits - 1 - i] = _ZERO + value % 10
        value //= 10


@inner
def _put_two(value: Any, out: Any, at: Any) -> Any:
    tens = value * 103 >> 10  # a tenth, below 179
    out[at] = _ZERO + tens
    out[at + 1] = _ZERO + value - 10 * tens


@inner
def _date(days: Any) -> Any:
    """Year, month and day of a number of days since 1970, in the Gregorian calendar; years begin in March on the way, so that
    a leap day is the last one."""
    shifted = days + 719_468
    era = shifted // 146_097
    day_of_era = shifted - era * 146_097
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return year_of_era + era * 400 + (month <= 2), month, day


@njit(cache=True, nogil=True)
def write_stamps(ticks: Any, width: Any, fraction: Any, zoned: Any, out: Any) -> Any:
    """Writes each instant of microseconds, of the years 1 to 9999, into `width` bytes. Its date is mostly the one before's."""
    before = np.int64(_NO_DAY)
    for row in range(len(ticks)):
        at = row * width
        days = ticks[row] // _DAY
        seconds = (ticks[row] - days * _DAY) // _SECOND
        if days == before:
            for i in range(_TIME_AT):
                out[at + i] = out[at - width + i]
        else:
            year, month, day = _date(days)
            _put_digits(year, 4, out, at)
            _put_digits(month, 2, out, at + 5)
            _put_digits(day, 2, out, at + 8)
            out[at + 4] = out[at + 7] = 45
            out[at + 10] = 84
            before = days
        minutes = seconds // 60
        hours = minutes // 60
        _put_two(hours, out, at + 11)
        _put_two(minutes - 60 * hours, out, at + 14)
        _put_two(seconds - 60 * minutes, out, at + 17)
        out[at + 13] = out[at + 16] = 58
        if fraction:
            out[at + 19] = 46
            _put_digits(ticks[row] % _SECOND, 6, out, at + 20)
        if zoned:
            out[at + width - 1] = 90


@njit(cache=True, nogil=True)
def write_integers(words: Any, out: Any, bounds: Any) -> Any:
    """Writes each 64-bit number, one behind the other, in at most 20 bytes; gives where the last one ends."""
    at = 0
    for row in range(len(words)):
        bounds[row] = at
        size = words[row]
        if size >> np.uint64(63):
            size = np.uint64(0) - size
            out[at] = _MINUS
            at += 1
        digits, rest = 1, size // _TEN
        while rest:
            rest //= _TEN
            digits += 1
        for i in range(digits):
            out[at + digits - 1 - i] = np.uint64(_ZERO) + size % _TEN
            size //= _TEN
        at += digits
    bounds[len(words)] = at
    return at
