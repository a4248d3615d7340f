"""Programs on rows alone: which rows of a table meet all conjuncts, and which only the exact evaluator can tell."""

from __future__ import annotations

import numpy as np
from numba import njit

from scepter.kernel.condition.interpreter import (
    TRUE,
    UNDECIDED,
    Programs,
    Values,
    decide,
    pointed,
    pointed_stack,
    pointed_values,
    stack,
)
from scepter.kernel.rows import Float64, Int8, Mask, UInt64
from scepter.rdf.words import zeroed


def contiguous(ids: UInt64, number: Float64, scale: Int8) -> Values:
    """Columns that kernels may point into."""
    return Values(np.ascontiguousarray(ids), np.ascontiguousarray(number), np.ascontiguousarray(scale))


def decide_rows(programs: Programs, ids: UInt64, number: Float64, scale: Int8) -> tuple[Mask, Mask]:
    """Which rows are kept, and which only the exact evaluator can decide."""
    kept, undecided = _decide_rows(programs, contiguous(ids, number, scale), stack())
    return kept, undecided


@njit(cache=True)
def _decide_rows(given, values, room):  # type: ignore[no-untyped-def]
    conjuncts = len(given.offsets) - 1
    programs, stack = pointed(given), pointed_stack(room)
    kept = zeroed(len(values.ids), np.bool_)
    undecided = zeroed(len(values.ids), np.bool_)
    for r in range(len(values.ids)):
        row = pointed_values(values, r)
        verdict = decide(programs, np.int64(0), conjuncts, row, row, stack)
        kept[r] = verdict == TRUE
        undecided[r] = verdict == UNDECIDED
    return kept, undecided
