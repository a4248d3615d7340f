"""Triple occurrences in columns, in order of arrival or of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scepter.kernel.column_table import ColumnTable
from scepter.kernel.rows import Float64, Int8, Int64, UInt64

START, END, EXPIRES = 0, 1, 2
EVENT, STREAM, TRIPLE = 0, 1, 2
NAME = 3
FOR_EVER = 2**63 - 1
"""No end: for what no window lets go of."""


@dataclass(frozen=True, slots=True)
class Admitted(ColumnTable):
    """One row per occurrence that some pattern can match."""

    ids: UInt64
    """[row, position]."""
    refs: Int64
    """[row, position, and the name of the event]: where the texts stand; -1 for no name."""
    number: Float64
    """Of the object."""
    scale: Int8
    when: Int64
    """[row]: start, end, and the last instant at which the stream's window holds it."""
    source: Int64
    """[row]: the number of the event, that of the stream, and the place of the triple in the batch that says or entails it."""
    feeds: UInt64
    """The patterns that it matches, as bits."""

    @classmethod
    def room(cls, rows: int) -> Admitted:
        """Room for so many rows."""
        return cls(
            np.empty((rows, 3), np.uint64), np.empty((rows, 4), np.int64), np.empty(rows), np.empty(rows, np.int8),
            np.empty((rows, 3), np.int64), np.empty((rows, 3), np.int64), np.empty(rows, np.uint64),
        )  # fmt: skip

    def first(self, rows: int) -> Admitted:
        """A copy of the first rows."""
        return Admitted(*(getattr(self, name)[:rows].copy() for name in self.NAMES))
