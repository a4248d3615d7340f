"""The operator of graphs that vary: the triples of a version are there until the next one comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from scepter.kernel.container import Arrays
from scepter.kernel.operator import Until
from scepter.kernel.rows import TIMELESS, Int64, Rows, concat, empty
from scepter.kernel.validity.held import Clock, dump_rows, load_rows, refs_of
from scepter.kernel.window.extent import Grid
from scepter.physical.nodes import Schema
from scepter.timeline import MAX_INSTANT


class Version:
    """Inputs are the triples of versions, and a row for each version; an item's `end` is its version's time.

    When a version ends is not known before the next one comes. So nothing is given beyond the instant up to which all is
    known: the rows of the last version are given again, piece by piece, as time goes on. Pieces are disjoint, which is all
    that the operators above ask for.

    Invariant: `_rows` and `_times` are the versions that are not over at the instant after `_clock.closed`, in order of time.
    """

    def __init__(self, schema: Schema, grid: Grid | None, *, timeless: bool = False) -> None:
        self.schema = schema
        self._timeless = timeless
        self._clock = Clock(grid)
        self._rows = empty(len(schema.variables))
        self._times: Int64 = np.empty(0, np.int64)
        self._saved = (self._rows, self._times, self._clock.closed)

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows of each version, for the part of its time that is certain now."""
        triples, versions = inputs
        self._rows = concat([self._rows, triples], triples.width)
        self._times = np.union1d(self._times, versions.end)
        start, stop = self._clock.closed + 1, self._clock.advance(until) + 1
        rows = self._rows
        since, gone = np.maximum(rows.end, start), np.minimum(self._over(rows.end), stop)
        given = np.flatnonzero(since < gone)
        found = rows.take(given).valid(since[given], gone[given])
        self._forget(stop)
        return found.during(*(np.full(len(found), time, np.int64) for time in TIMELESS)) if self._timeless else found

    def _over(self, times: Int64) -> Int64:
        """When versions of some times are over; the end of time where no later one has come."""
        return np.append(self._times, MAX_INSTANT)[np.searchsorted(self._times, times, "right")]

    def _forget(self, stop: int) -> None:
        self._times = self._times[self._over(self._times) > stop]
        kept = np.flatnonzero(self._over(self._rows.end) > stop)
        if len(kept) < len(self._rows):
            self._rows = self._rows.take(kept)

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = (self._rows, self._times, self._clock.closed)

    def undo(self) -> None:
        """Back to `save`."""
        self._rows, self._times, self._clock.closed = self._saved

    def evict(self, time: int) -> None:
        """Versions go when they are over."""

    def dump(self) -> Arrays:
        """The versions that are not over."""
        return {
            "closed": np.array([self._clock.closed], np.int64),
            "times": self._times,
            **dump_rows("version", self._rows),
        }

    def load(self, arrays: Arrays) -> None:
        """Take over what `dump` gave."""
        self._clock.closed = int(arrays["closed"][0])
        self._times, self._rows = arrays["times"], load_rows("version", arrays)

    def refs(self) -> Iterator[Int64]:
        """Those of its rows, its own: what came before may be shared."""
        self._rows = self._rows.take(np.arange(len(self._rows)))
        return refs_of([self._rows])

    def lineages(self) -> Iterator[Int64]:
        """Those of its rows."""
        self._rows = self._rows.take(np.arange(len(self._rows)))
        return iter([self._rows.lineage])

    def state_rows(self) -> Mapping[str, int]:
        """The triples of the last version, and of those to come."""
        return {"versions": len(self._rows)}
