"""ORDER BY, OFFSET and LIMIT of an answer: evaluation by evaluation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.kernel.group.extremes import ranks
from scepter.kernel.rows import Int64, Rows
from scepter.kernel.texts import Texts


class Ordering:
    """Sorts the rows of each instant by columns, each ascending or descending, and cuts a slice out of them. Rows come in order
    of instant. Where a cut goes through rows that the columns do not tell apart, their occurrence and the texts of their
    terms decide: which of them stay may depend neither on the order in which events came nor on buckets."""

    def __init__(
        self, columns: Sequence[tuple[int, bool]], offset: int, limit: int | None, names: Sequence[str], texts: Texts
    ) -> None:
        """`names` are those of all columns."""
        self._columns = tuple(columns)
        self._cuts = (offset, *(() if limit is None else (offset + limit,)))
        self._shown_first = sorted(range(len(names)), key=lambda column: (names[column].startswith("_:"), names[column]))
        self._texts = texts

    def __call__(self, rows: Rows) -> Rows:
        """The rows in order."""
        if not len(rows):
            return rows
        keys = [rows.since]
        for column, descending in self._columns:
            rank = ranks(rows.ids[:, column], rows.refs[:, column], rows.number[:, column], rows.scale[:, column], self._texts)
            keys.append(-rank if descending else rank)
        order = np.lexsort(keys[::-1])
        rows = rows.take(order)
        if self._cuts == (0,):
            return rows
        new = np.concatenate([[True], np.any([np.diff(key[order]) != 0 for key in keys], axis=0)])
        place = np.arange(len(rows)) - np.searchsorted(rows.since, rows.since)
        rows = self._told_apart(rows, np.cumsum(new) - 1, place)
        kept = place >= self._cuts[0]
        if len(self._cuts) > 1:
            kept &= place < self._cuts[1]
        return rows.take(kept)

    def _told_apart(self, rows: Rows, tie: Int64, place: Int64) -> Rows:
        """The rows with those in order that are in one tie on both sides of a cut."""
        first = place[np.searchsorted(tie, tie)]
        last = place[np.searchsorted(tie, tie, side="right") - 1]
        torn = np.flatnonzero(np.any([(first < cut) & (cut <= last) for cut in self._cuts], axis=0))
        if not len(torn):
            return rows
        some = rows.take(torn)
        keys = [tie[torn], some.start, some.end, *(self._spelt(some, column) for column in self._shown_first)]
        order = np.arange(len(rows))
        order[torn] = torn[np.lexsort(keys[::-1])]
        return rows.take(order)

    def _spelt(self, rows: Rows, column: int) -> Int64:
        """The rank of each term by its text, unbound first."""
        different, first, where = np.unique(rows.ids[:, column], return_index=True, return_inverse=True)
        refs = rows.refs[first, column].tolist()
        texts = ["" if id == 0 else str(self._texts.term(ref)) for id, ref in zip(different.tolist(), refs, strict=True)]
        rank = np.empty(len(texts), np.int64)
        rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        return rank[where]
