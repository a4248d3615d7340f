"""Rows on their way from one stage of a unit to the next, which has another key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from scepter.kernel.rows import Rows, UInt64, concat, empty
from scepter.kernel.state.shipping import split_rows
from scepter.kernel.state.slices import NOWHERE
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.spark.grid import in_grid, keys_of
from scepter.runtime.spark.group_keys import placed
from scepter.runtime.spark.shares import Share
from scepter.runtime.spark.skew import HotKey, spread
from scepter.timeline import MIN_INSTANT

if TYPE_CHECKING:
    from scepter.kernel.texts import Texts
    from scepter.runtime.spark.jobs import Job


Part: TypeAlias = tuple[Rows, UInt64 | None]
"""The rows of an exchange and the place of each, as often as they are sent; None: all go to every place."""


def in_buckets(share: Share, exchange: int, rows: Rows, hot: Sequence[HotKey] = ()) -> Part:
    """The rows of an exchange on their way to buckets."""
    assert share.stages is not None
    node, dimensions = share.stages.below[exchange], share.stages.dimensions
    if share.buckets == 1:
        return rows, None
    if share.sides:
        return in_grid(rows, node, [each.keys[exchange] for each in dimensions], share.sides)
    if not dimensions[0].divides(exchange):
        return rows, None
    of = keys_of(rows, node, dimensions[0].keys[exchange][0])
    return in_turns(rows, spread(of, rows.end, share.buckets, hot, before=True, after=False))


def in_turns(rows: Rows, turns: Sequence[UInt64]) -> Part:
    """Rows and the place of each, as often as they are sent; NOWHERE in a turn is no place."""
    if len(turns) == 1:
        return rows, turns[0]
    # a row of a hot key stands in every slice that may need it
    wanted = [np.flatnonzero(turn != NOWHERE) for turn in turns]
    return rows.take(np.concatenate(wanted)), np.concatenate([t[w] for t, w in zip(turns, wanted, strict=True)])


class Sending:
    """Takes the rows that a stage gives, and packs them for the buckets of the stages behind it."""

    def __init__(self, job: Job, share: Share, texts: Texts, *, first: bool) -> None:
        """`first`: of all rows the first one is enough."""
        self._job, self._share, self._texts, self._first = job, share, texts, first
        self._rows: list[Rows] = []

    def take(self, rows: Rows) -> Rows:
        """Take rows, of which none is an answer here."""
        if self._first:
            rows = rows.take(np.lexsort((rows.start, rows.end, rows.since))[:1])
        if len(rows):
            self._rows.append(rows)
        return empty(rows.width)

    def packed(self, pipeline: Pipeline) -> Iterator[tuple[int, bytes]]:
        """(place, packed rows) of what was taken since it was last asked, before the pipeline lets go of what they rest on."""
        taken, self._rows = self._rows, []
        if not taken:
            return
        rows = concat(taken, taken[0].width)
        for number, exchange in self._share.to:
            to = self._job.shares[number]
            assert to.stages is not None
            parts: list[Part] = [(empty(len(node.schema.variables)), None) for node in to.stages.below]
            parts[exchange] = in_buckets(to, exchange, rows)
            told = split_rows(
                parts, to.buckets, self._texts, pipeline.around.lineage, {}, MIN_INSTANT, every=False,
                branching=self._job.parts,
            )  # fmt: skip
            for bucket, _, blob in told:
                yield placed(self._job.buckets, number, bucket), blob
