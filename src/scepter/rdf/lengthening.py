"""Columns of numbers that grow in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from scepter.inner import inner


@inner
def lengthened(column: Any, used: Any) -> Any:
    """A column twice as long, which begins with those that are used. They are copied one by one: assigning a part of an array,
    or `np.append`, compiles the text of a message about shapes that differ, which takes seconds."""
    fresh = np.empty(2 * used, np.int64)
    for i in range(used):
        fresh[i] = column[i]
    return fresh


@inner
def lengthened_table(table: Any, used: Any, size: Any) -> Any:
    """The same of rows, as long as asked for."""
    width = table.shape[1]
    fresh = np.empty((size, width), np.int64)
    for i in range(used):
        for j in range(width):
            fresh[i, j] = table[i, j]
    return fresh
