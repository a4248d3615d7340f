"""A unit whose plan is cut into stages, at work on Spark: the lower stage in reading tasks, the upper one in buckets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scepter.kernel.rows import Rows, UInt64, empty
from scepter.kernel.texts import Texts
from scepter.physical.nodes.event_nodes import FirstOnes, LastOnes, Rest
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.window_nodes import Report
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime.event_pipeline import EventPipeline
from scepter.runtime.notices import SCHEMA_IGNORED, sent
from scepter.runtime.spark.bucket_work import BucketWork
from scepter.runtime.spark.grid import keys_of
from scepter.runtime.spark.sending import Part, in_buckets
from scepter.timeline import MIN_INSTANT

if TYPE_CHECKING:
    from scepter.runtime.spark.jobs import Job
    from scepter.runtime.spark.shares import Share


class StageWork(BucketWork):
    """Both stages of one unit."""

    every = True

    def __init__(self, job: Job, share: Share, like: StageWork | None = None, bucket: int = 0) -> None:
        assert share.stages is not None
        self.stages = share.stages
        read = zip(self.stages.below, share.sources or (None,) * len(self.stages.below), strict=True)
        self._read: tuple[Node, ...] = tuple(node for node, source in read if source is None)
        """What makes rows where events are read; those of other exchanges come from other stages."""
        unit = replace(job.plan.units[share.units[0]], root=self.stages.above)
        super().__init__(job, share, (*self._read, *self.stages.told), unit, Texts(), like, bucket)
        self._timed = any(isinstance(node, Report) for node in self.pipeline.nodes)
        self._holding = any(isinstance(node, FirstOnes | LastOnes | Rest) for node in self.pipeline.nodes)
        if share.to:  # what is behind it hears of time by its rows
            self._holding = self._holding or self.pipeline.tells_time

    # ---------------------------------------------------------------- where events are read

    def _tell(self, found: Sequence[Rows], report: DeadLetterTaker) -> None:
        for rows in (rows for rows in found[len(self._read) :] if len(rows)):
            assert isinstance(self.pipeline, EventPipeline)
            for letter in self.pipeline.letters(rows):
                report(letter)
        if self._scanner is not None and self._scanner.met_schema:
            sent(report).tell(SCHEMA_IGNORED)

    @property
    def _named(self) -> bool:
        return self.job.parts or bool(self.stages.told)

    def _keyed(self, found: Sequence[Rows]) -> list[tuple[Rows, UInt64]]:
        (key,) = self.stages.dimensions
        below = zip(self.stages.below, key.keys, found, strict=False)
        return [(rows, keys_of(rows, node, columns)) for node, (columns,), rows in below]

    def _parts(self, found: Sequence[Rows]) -> list[Part]:
        read, parts = iter(found), []
        for place, node in enumerate(self.stages.below):
            is_read = not self.share.sources or self.share.sources[place] is None
            rows = next(read) if is_read else empty(len(node.schema.variables))
            parts.append(in_buckets(self.share, place, rows, self.hot))
        return parts

    # ---------------------------------------------------------------- in a bucket

    def _last(self) -> int:
        """No further than the input: a report at the close of windows ends with it."""
        return self._reached

    @property
    def idle(self) -> bool:
        return self.pipeline.idle and not self._timed

    def next_due(self, watermark: int) -> int | None:
        """The first time whose passing can give an answer; None if only events can."""
        # operators that hold rows back until time has passed have something to say whenever it moves on
        return max(watermark, MIN_INSTANT + 1) if self._timed or self._holding else self.pipeline.next_waiting()
