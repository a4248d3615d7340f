"""Programs on rows alone: which rows of a table meet all conjuncts, and which only the exact evaluator can tell."""

from __future__ import annotations

import numpy as np
from numba import njit

from scepter.kernel.condition.interpreter import (
    TRUE,
    UNDECIDED,
    Programs,
    decide,
    pointed,
    pointed_stack,
    pointed_values,
    stack,
)
from scepter.kernel.rows import Float64, Int8, Mask, UInt64
from scepter.rdf.words import zeroed


def contiguous(ids: UInt64, number: Float64, scale: Int8) -> tuple[UInt64, Float64, Int8]:
    """Columns that kernels may point into: `Values`, as they are given over."""
    return np.ascontiguousarray(ids), np.ascontiguousarray(number), np.ascontiguousarray(scale)


def decide_rows(programs: Programs, ids: UInt64, number: Float64, scale: Int8) -> tuple[Mask, Mask]:
    """Which rows are kept, and which only the exact evaluator can decide."""
    kept, undecided = _decide_rows(tuple(programs), contiguous(ids, number, scale), tuple(stack()))
    return kept, undecided


@njit(cache=True)
def _decide_rows(given, values, room):  # type: ignore[no-untyped-def]
    rows, conjuncts = len(values[0]), len(given[1]) - 1
    programs, stack = pointed(given), pointed_stack(room)
    kept, undecided = zeroed(rows, np.bool_), zeroed(rows, np.bool_)
    for r in range(rows):
        row = pointed_values(values, r)
        verdict = decide(programs, np.int64(0), conjuncts, row, row, stack)
        kept[r] = verdict == TRUE
        undecided[r] = verdict == UNDECIDED
    return kept, undecided
