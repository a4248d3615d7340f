"""ORDER BY, OFFSET and LIMIT of an answer: evaluation by evaluation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.kernel.group.extremes import ranks
from scepter.kernel.rows import Rows
from scepter.kernel.texts import Texts


class Ordering:
    """Sorts the rows of each instant by columns, each ascending or descending, and cuts a slice out of them. Rows come in order
    of instant; ties stay as they are."""

    def __init__(self, columns: Sequence[tuple[int, bool]], offset: int, limit: int | None, texts: Texts) -> None:
        self._columns = tuple(columns)
        self._offset = offset
        self._limit = limit
        self._texts = texts

    def __call__(self, rows: Rows) -> Rows:
        """The rows in order."""
        if not len(rows):
            return rows
        keys = []
        for column, descending in self._columns:
            rank = ranks(rows.ids[:, column], rows.refs[:, column], rows.number[:, column], rows.scale[:, column], self._texts)
            keys.append(-rank if descending else rank)
        if keys:
            rows = rows.take(np.lexsort((*keys[::-1], rows.since)))
        if not self._offset and self._limit is None:
            return rows
        place = np.arange(len(rows)) - np.searchsorted(rows.since, rows.since)
        kept = place >= self._offset
        if self._limit is not None:
            kept &= place - self._offset < self._limit
        return rows.take(kept)
