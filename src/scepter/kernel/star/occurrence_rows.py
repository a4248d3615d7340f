"""Occurrences as a star keeps them: columns in order of end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scepter.kernel.column_table import ColumnTable
from scepter.kernel.rows import Float64, Int8, Int64, Mask, Rows, UInt64


@dataclass(frozen=True, slots=True)
class Occurring(ColumnTable):
    """One row per occurrence that some pattern of the star matches."""

    ids: UInt64
    """[row, position]."""
    refs: Int64
    number: Float64
    """Of the object."""
    scale: Int8
    when: Int64
    """[row]: start, end, and the last instant at which its window holds it."""
    lineage: Int64
    feeds: UInt64
    """The patterns that it matches, as bits."""
    numbered: Int64
    """Its number, where it is not known on arrival when its window lets go of it; else 0."""

    @classmethod
    def room(cls, rows: int) -> Occurring:
        """Room for so many rows."""
        return cls(
            np.empty((rows, 3), np.uint64), np.empty((rows, 3), np.int64), np.empty(rows), np.empty(rows, np.int8),
            np.empty((rows, 3), np.int64), np.empty(rows, np.int64), np.empty(rows, np.uint64), np.empty(rows, np.int64),
        )  # fmt: skip

    @classmethod
    def of(cls, rows: Rows, feeds: UInt64, numbered: Int64) -> Occurring:
        """Rows of triples, their patterns told."""
        when = np.stack([rows.start, rows.end, rows.until - 1], axis=1)
        ids, refs = rows.ids[:, :3], rows.refs[:, :3]
        return cls(ids, refs, rows.number[:, 2], rows.scale[:, 2], when, rows.lineage, feeds, numbered)

    def part(self, rows: slice | Mask | Int64) -> Occurring:
        """Some rows."""
        return Occurring(*(getattr(self, name)[rows] for name in self.NAMES))

    def put(self, at: int, rows: Occurring) -> None:
        """Write rows from a place on."""
        for name in self.NAMES:
            getattr(self, name)[at : at + len(rows)] = getattr(rows, name)
