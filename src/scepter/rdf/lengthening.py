"""Columns of numbers that compiled code makes and lengthens."""

from __future__ import annotations

from typing import Any

import numpy as np

from scepter.inner import inner
from scepter.rdf.words import fresh


@inner
def filled(size: Any, number: Any) -> Any:
    """A column of so many times a number."""
    column = fresh(size, np.int64)
    for i in range(size):
        column[i] = number
    return column


@inner
def lengthened(column: Any, used: Any) -> Any:
    """A column twice as long, which begins with those that are used. They are copied one by one: assigning a part of an array,
    or `np.append`, compiles the text of a message about shapes that differ, which takes seconds."""
    grown = fresh(2 * used, np.int64)
    for i in range(used):
        grown[i] = column[i]
    return grown


@inner
def lengthened_table(table: Any, used: Any, size: Any) -> Any:
    """The same of rows, as long as asked for."""
    width = table.shape[1]
    grown = fresh((size, width), np.int64)
    for i in range(used):
        for j in range(width):
            grown[i, j] = table[i, j]
    return grown
