"""Set functions over spans of a table of rows, one for each result: the functions of `group`, whose slots the results are.

Sums are differences of running totals, which may wrap: subtracting undoes that, as long as each result fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Aggregate, Variable
from scepter.kernel.group.set_functions import FUNCTIONS, Choosing, Column, Concatenating, Totalling, Totals
from scepter.kernel.group.totals import LIMIT, OTHERS, UNITS, Scale
from scepter.kernel.rows import Int64, Mask, Rows
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey

_N = TypeVar("_N", np.int64, np.float64)


@dataclass(frozen=True, slots=True)
class Spans:
    """Members of groups, and for each result from where to where they are its own: no result begins or ends before another
    that comes before it."""

    rows: Rows
    low: Int64
    high: Int64

    @property
    def entered(self) -> Int64:
        """Members are in the order in which they came."""
        return np.arange(len(self.rows))

    @property
    def wanted(self) -> Mask:
        """All results."""
        return np.ones(len(self.low), np.bool_)

    def bounds(self) -> tuple[Int64, Int64]:
        """From which to which result each member is inside."""
        place = self.entered
        return np.searchsorted(self.high, place, side="right"), np.searchsorted(self.low, place, side="right")


class SpanTotals(Totals):
    """COUNT, SUM or AVG over spans."""

    def values(self, spans: Spans) -> Column:
        """A term for each result; none where it is an error."""
        self._amounts.scale = Scale()  # nothing is kept, so that a unit need not be finer than what is there
        amounts = self._amount(spans.rows)
        self._scale = self._amounts.scale
        totals = _summed(amounts, spans)
        sizes = _summed(np.abs(amounts[:, UNITS:]).astype(np.float64), spans)
        totals[np.flatnonzero(sizes.max(axis=1) >= LIMIT), OTHERS] = 1
        return self._written(totals, spans)


def _summed(amounts: NDArray[_N], spans: Spans) -> NDArray[_N]:
    running = np.zeros((len(amounts) + 1, amounts.shape[1]), amounts.dtype)
    np.cumsum(amounts, axis=0, out=running[1:])
    found: NDArray[_N] = running[spans.high] - running[spans.low]
    return found


def span_function(aggregate: Aggregate, names: Sequence[str], key: TermKey, texts: Texts) -> SpanTotals | Choosing:
    """A set function over spans; DISTINCT, and an operand that nothing binds, are left to the definition."""
    unknown = isinstance(aggregate.operand, Variable) and aggregate.operand.name not in names
    if aggregate.distinct or unknown:
        return Concatenating(aggregate, names, key, texts)
    made = FUNCTIONS[aggregate.function]
    if issubclass(made, Totalling):
        return SpanTotals(aggregate, names, key, texts)
    return made(aggregate, names, key, texts)
