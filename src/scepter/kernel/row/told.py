"""What has been told at an instant that is still open, where equal rows are one: its rows may come in parts."""

from __future__ import annotations

import numpy as np

from scepter.kernel.operator import Until
from scepter.kernel.rows import Mask, Rows, UInt64


class ToldBefore:
    """The rows told so far at an open instant, by what tells them apart."""

    __slots__ = ("_at", "_rows")

    def __init__(self) -> None:
        self._at: int | None = None
        self._rows: set[bytes] = set()

    def fresh(self, rows: UInt64, until: Until) -> Mask | None:
        """Which rows, each of them once among those given, have not been told at this instant; None for all of them."""
        if self._at != until.time or not until.open:
            self.forget()
        if not until.open:  # equal rows have equal ends, and those of an instant that is closed come together
            return None
        self._at = until.time
        keys = [row.tobytes() for row in rows]
        found = np.array([key not in self._rows for key in keys], np.bool_)
        self._rows.update(keys)
        return None if found.all() else found

    def solutions(self, rows: Rows, until: Until) -> Rows:
        """The rows that have not been told at this instant, each mapping and interval once."""
        if not until.open or not len(rows):
            return rows
        fresh = self.fresh(np.column_stack([rows.ids, rows.start.view(np.uint64), rows.end.view(np.uint64)]), until)
        return rows if fresh is None else rows.take(fresh)

    def forget(self) -> None:
        """Nothing has been told: the instant is over, or done anew."""
        self._at = None
        self._rows.clear()
