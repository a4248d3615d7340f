"""The operator that gives rows their validity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import TIMELESS, Rows
from scepter.kernel.window.extent import Extent
from scepter.physical.nodes.nodes import Schema


class Window(Stateless):
    """Rows are there while a window holds their item; rows of items that no evaluation sees are left out.

    An item belongs to a window by its end, as it is known then. Rows come in order of end, and `since` is never before it: a
    row that is given after time w is there after w alone. All operators on validities rest on that.
    """

    def __init__(self, schema: Schema, extent: Extent, *, timeless: bool = False) -> None:
        self.schema = schema
        self._extent = extent
        self._timeless = timeless

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        (rows,) = inputs
        since, gone = self._extent.validity(rows.end)
        seen = since < gone
        if not bool(seen.all()):
            kept = np.flatnonzero(seen)
            rows, since, gone = rows.take(kept), since[kept], gone[kept]
        if self._timeless:
            rows = rows.during(*(np.full(len(rows), time, np.int64) for time in TIMELESS))
        return rows.valid(since, gone)
