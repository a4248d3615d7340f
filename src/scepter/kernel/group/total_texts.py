"""Counts, sums and averages of integers and decimals as N-Triples texts, in canonical form, written by one compiled loop.

An average has 24 digits behind its first one, or behind the point, and is rounded half to even, as `rdf.values.divide` does it:
by long division in whole numbers, nine digits at a time.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.kernel.rows import Int64, Mappings, Mask, mappings
from scepter.kernel.texts import Texts
from scepter.rdf.batch import INEXACT, NOT_A_NUMBER
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import XSD
from scepter.rdf.values.numeric import QUOTIENT_DIGITS
from scepter.rdf.words import fresh

_ENDS: Final = tuple(np.frombuffer(bytearray(f'"^^<{XSD}{name}>\n'.encode()), np.uint8) for name in ("integer", "decimal"))
_FIGURES: Final = 128
"""More digits than a quotient has: 20 of a whole number, 24 behind them, and before the first one as many zeros as 64 bits and
a scale give."""
_LONGEST: Final = _FIGURES + len(_ENDS[0]) + 4
_WIDE: Final = np.uint64(1 << 34)
"""Below it, a remainder and nine digits more fit into 64 bits; up to 2^60 one digit does, and nobody counts further."""


def encoded_quotients(units: Int64, decimals: int, by: Int64, decimal: Mask, key: TermKey, texts: Texts) -> Mappings:
    """One column of terms: numbers in units of their last digit, divided by a count (0: unbound), as integers or as decimals.

    >>> one = np.array([5]), 1, np.array([2]), np.array([True])
    >>> texts = Texts()
    >>> str(texts.term(int(encoded_quotients(*one, TermKey.fixed(), texts)[1][0])))
    '"0.25"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    """
    ids, refs, number, scale = column = mappings(len(units), 1)
    bound = np.flatnonzero(by)
    room, starts = np.empty(len(bound) * _LONGEST + 8, np.uint8), np.zeros(len(bound) + 1, np.int64)
    _write(units[bound], decimals, by[bound], decimal[bound], _ENDS, room, starts)
    lines = room[: starts[-1] + 8].copy()[:-8]  # texts are read by words: the last one may reach beyond the last text
    refs[bound, 0] = texts.append_lines(lines) + starts[:-1]
    known = texts.read(refs[bound, 0], key, numbers=False)
    long = np.flatnonzero(known.scale == NOT_A_NUMBER)
    if len(long):  # more digits than float64 carries: its value is near, and the text decides
        data, first = lines.tobytes(), starts[long] + 1
        last = starts[long + 1] - np.where(decimal[bound[long]], len(_ENDS[1]), len(_ENDS[0]))
        known.number[long] = [float(data[low:high]) for low, high in zip(first.tolist(), last.tolist(), strict=True)]
        known.scale[long] = INEXACT
    ids[bound, 0], number[bound, 0], scale[bound, 0] = known.ids, known.number, known.scale
    return column.column(0)


@inner
def _length(number: Any) -> Any:
    """How many digits a whole number has; 0 has one."""
    count = 1
    while number >= np.uint64(10):
        number //= np.uint64(10)
        count += 1
    return count


@inner
def _put(number: Any, count: Any, figures: Any, at: Any) -> Any:
    """So many digits of a whole number."""
    for i in range(at + count - 1, at - 1, -1):
        figures[i] = number % np.uint64(10)
        number //= np.uint64(10)


@inner
def _rounded(figures: Any, end: Any, kept: Any, rest: Any, by: Any) -> Any:
    """Leave so many figures, with what stood behind them and the remainder rounded half to even. The first figure is 0."""
    half: Any = 0  # of what is left out, against half of the last figure: below, even or above
    if kept < end:
        more = rest != np.uint64(0)
        for i in range(kept + 1, end):
            more = more or figures[i] != 0
        half = np.int64(figures[kept]) - 5
        if half == 0 and more:
            half = 1
    else:
        half = 1 if rest + rest > by else 0 if rest + rest == by else -1
    if half > 0 or (half == 0 and figures[kept - 1] % 2 == 1):
        at = kept - 1
        while figures[at] == 9:
            figures[at] = 0
            at -= 1
        figures[at] += 1


@inner
def _divided(size: Any, decimals: Any, by: Any, figures: Any) -> Any:
    """The figures of a quotient; returns how many there are, and before which of them the point stands."""
    whole = size // by
    rest = size - whole * by
    figures[0] = 0  # for what rounding carries
    end = np.int64(1)
    if whole != np.uint64(0):
        end += _length(whole)
        _put(whole, end - 1, figures, np.int64(1))
    point = end - decimals
    digits = max(np.int64(0), _length(size) - _length(by) - decimals + 1) + QUOTIENT_DIGITS
    significant = end - 1
    step, wide = (np.int64(9), np.uint64(1_000_000_000)) if by < _WIDE else (np.int64(1), np.uint64(10))
    while rest != np.uint64(0) and significant < digits:
        rest *= wide
        whole = rest // by
        rest -= whole * by
        _put(whole, step, figures, end)
        end += step
        if significant > 0:
            significant += step
        elif whole != np.uint64(0):
            significant = _length(whole)
    if significant >= digits:
        kept = end - (significant - digits)
        _rounded(figures, end, kept, rest, by)
        end = kept
    return end, point


@njit(cache=True, nogil=True)
def _write(units: Any, decimals: Any, by: Any, decimal: Any, ends: Any, out: Any, starts: Any) -> Any:
    figures = fresh(_FIGURES, np.uint8)
    at = 0
    for i in range(len(units)):
        out[at] = 34  # a quotation mark
        at += 1
        if units[i] < 0:
            out[at] = 45
            at += 1
        end, point = _divided(np.uint64(abs(units[i])), decimals, np.uint64(by[i]), figures)
        while end > max(point, 0) and figures[end - 1] == 0:
            end -= 1
        first = 0
        while first < point - 1 and figures[first] == 0:
            first += 1
        if point <= 0:
            out[at] = 48
            at += 1
        for j in range(first, point):
            out[at] = 48 + figures[j]
            at += 1
        if end > max(point, 0):
            out[at] = 46
            at += 1
            for _ in range(point, 0):
                out[at] = 48
                at += 1
            for j in range(max(point, 0), end):
                out[at] = 48 + figures[j]
                at += 1
        kind = ends[1] if decimal[i] else ends[0]
        for j in range(len(kind)):
            out[at] = kind[j]
            at += 1
        starts[i + 1] = at
