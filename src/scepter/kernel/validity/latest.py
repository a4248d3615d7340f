"""The latest occurrence of each mapping that a window holds: what `timestamp()` asks for.

An occurrence is the latest until the next one of its mapping comes or the window lets go of it. When it comes, the next one is
not known: as in outer joins it is given for the stretch that is certain with each step of the watermark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scepter.kernel.operator import Until
from scepter.kernel.rows import Rows, concat, empty
from scepter.kernel.state.state_parts import Clock, Held, InParts, KeptRows
from scepter.kernel.window.extent import Grid
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.distinct import distinct
from scepter.timeline import MAX_INSTANT


class Latest(InParts):
    """Each mapping once at a time, with the occurrence that ended last.

    The rows are those of one window: what ends later comes no earlier and goes no earlier. So the next occurrence hides the one
    before it for good, and one row of each mapping is all there is to keep.
    """

    def __init__(self, schema: Schema, grid: Grid | None = None) -> None:
        self.schema = schema
        self._held = Held(len(schema.variables))
        self._last = KeptRows(len(schema.variables))
        self._clock = Clock(grid)
        self._parts = {"closed": self._clock, "held": self._held, "last": self._last}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The pieces of the stretch that is certain now."""
        start, stop = self._clock.closed + 1, self._clock.advance(until) + 1
        due = self._held.due(inputs[0], stop - 1)
        rows = concat([self._last.value, due], due.width)
        if stop <= start or not len(rows):
            return empty(due.width)
        _, of = distinct(rows.ids)
        order = np.lexsort((rows.end, rows.since, of))
        rows, of = rows.take(order), of[order]
        followed = np.zeros(len(rows), np.bool_)
        followed[:-1] = of[1:] == of[:-1]
        hidden = np.full(len(rows), MAX_INSTANT, np.int64)
        hidden[:-1][followed[:-1]] = rows.since[1:][followed[:-1]]
        self._last.value = rows.take(np.flatnonzero(~followed & (rows.until > stop)))
        low, high = np.maximum(rows.since, start), np.minimum(np.minimum(rows.until, hidden), stop)
        seen = np.flatnonzero(low < high)
        return rows.take(seen).valid(low[seen], high[seen])

    def state_rows(self) -> Mapping[str, int]:
        return {"latest": len(self._last), "waiting": len(self._held)}
