"""A unit whose plan is cut into stages, at work on Spark: the lower stage in reading tasks, the upper one in buckets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scepter.kernel.rows import Int64, Rows, UInt64, concat
from scepter.kernel.state.row_shipping import split_rows, unpack_rows
from scepter.kernel.state.shipping import furthest, reached_by
from scepter.kernel.texts import Texts
from scepter.physical.metrics import Metrics
from scepter.physical.nodes.event_nodes import FirstOnes, LastOnes, Rest
from scepter.physical.nodes.instant_nodes import Paired
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.window_nodes import Report
from scepter.rdf.batch import EventBatch
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime.event_pipeline import EventPipeline
from scepter.runtime.notices import SCHEMA_IGNORED, sent
from scepter.runtime.scanning import Scanner, name_parts
from scepter.runtime.spark.arrivals import Arrivals
from scepter.runtime.spark.bucket_work import BucketWork
from scepter.runtime.spark.grid import keys_of
from scepter.runtime.spark.sending import in_buckets
from scepter.runtime.spark.skew import places_of
from scepter.timeline import MIN_INSTANT

if TYPE_CHECKING:
    from scepter.runtime.spark.jobs import Job
    from scepter.runtime.spark.shares import Share

_COMPACT_FROM = 64 << 20


class StageWork(BucketWork):
    """Both stages of one unit; a worker uses the one that it is asked for."""

    def __init__(self, job: Job, share: Share, like: StageWork | None = None, bucket: int = 0) -> None:
        assert share.stages is not None
        self.stages = share.stages
        super().__init__(job, share, replace(job.plan.units[share.units[0]], root=self.stages.above), Texts(), like, bucket)
        read = zip(self.stages.below, share.sources or (None,) * len(self.stages.below), strict=True)
        self._read: tuple[Node, ...] = tuple(node for node, source in read if source is None)
        """What runs where events are read; the rows of other exchanges come from other stages."""
        name_parts((self.root,) if share.sources else self.stages.below, self.pipeline.around, job.streams)
        self._timed = any(isinstance(node, Report) for node in self.pipeline.nodes)
        self._holding = any(isinstance(node, FirstOnes | LastOnes | Rest) for node in self.pipeline.nodes)
        if share.to:  # what is behind it hears of time by its rows
            self._holding = self._holding or self.pipeline.tells_time
        self._ties = any(isinstance(node, Paired) for node in self.pipeline.nodes)
        self._arrived: Arrivals | None = None
        self._scanner: Scanner | None = None
        self._reached = MIN_INSTANT

    # ---------------------------------------------------------------- where events are read

    def solve(
        self, batches: Iterable[EventBatch], number: int, report: DeadLetterTaker = lambda letter: None
    ) -> Iterator[tuple[int, int, bytes]]:
        """(bucket, greatest time, packed rows) of batches whose events are numbered from `number` on; `report` takes those
        that cannot be used, and what there is to say."""
        if not (self._read or self.stages.told):
            return
        found, reached, last = self._scanned(batches, number, report)
        assert self._scanner is not None
        self._tell([found.pop() for _ in self.stages.told], report)
        if self._scanner.met_schema:
            sent(report).tell(SCHEMA_IGNORED)
        lineage = self.pipeline.around.lineage
        divided = list(self._in_buckets(found))
        yield from split_rows(
            divided, places_of(self.share, self.hot), self.texts, lineage, reached, last, every=not self.job.live,
            events=self.pipeline.around.events,
        )  # fmt: skip
        self._forget()

    def _tell(self, found: Sequence[Sequence[Rows]], report: DeadLetterTaker) -> None:
        for rows in (rows for parts in found for rows in parts if len(rows)):
            assert isinstance(self.pipeline, EventPipeline)
            for letter in self.pipeline.letters(rows):
                report(letter)

    def _scanned(
        self, batches: Iterable[EventBatch], number: int, report: DeadLetterTaker = lambda letter: None
    ) -> tuple[list[list[Rows]], dict[int, int], int]:
        """What the lower stage makes of events, by exchange; how far streams have reached; the last time."""
        if self._scanner is None:
            read = (*self._read, *self.stages.told)
            self._scanner = Scanner(read, self.pipeline.around, self.job.streams, measured=self.job.measured)
        reached: dict[int, int] = {}
        last = MIN_INSTANT
        found: list[list[Rows]] = [[] for _ in (*self._read, *self.stages.told)]
        for intake, wanted in self._intakes(batches, number, named=self.job.parts or bool(self.stages.told)):
            for scanned in self._bounded(self._scanner.scan, intake, wanted, report):
                for rows, parts in zip(scanned, found, strict=True):
                    parts.append(rows)
            if int(intake.batch.stream[0]) not in self.job.made:
                last = max(last, int(intake.batch.end.max()))
            reached = furthest(reached, reached_by(intake.batch))
        return found, reached, last

    def _reading(self) -> tuple[Sequence[Node], list[Metrics]]:
        return ([], []) if self._scanner is None else (self._scanner.nodes, self._scanner.metrics)

    def keys(self, batches: Iterable[EventBatch]) -> tuple[UInt64, Int64]:
        """The keys and the times of what crosses to buckets."""
        keys, times = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
        found, *_ = self._scanned(batches, 0)
        (key,) = self.stages.dimensions
        for node, (columns,), parts in zip(self.stages.below, key.keys, found, strict=False):
            rows = concat(parts, len(node.schema.variables))
            keys.append(keys_of(rows, node, columns))
            times.append(rows.end)
        self._forget()
        return np.concatenate(keys), np.concatenate(times)

    def _in_buckets(self, found: Sequence[Sequence[Rows]]) -> Iterator[tuple[Rows, UInt64 | None]]:
        read = iter(found)
        for place, node in enumerate(self.stages.below):
            parts = next(read) if not self.share.sources or self.share.sources[place] is None else ()
            yield in_buckets(self.share, place, concat(parts, len(node.schema.variables)), self.hot)

    def _forget(self) -> None:
        """Let go of what was made of events, and of their texts; those that operators hold stay."""
        around = self.pipeline.around
        around.lineage.truncate(0)
        if around.events is not None:
            around.events.forget()
        if self.texts.size > _COMPACT_FROM:
            assert self._scanner is not None
            arrays = [*self._scanner.refs(), *self.pipeline.swap_refs()]
            renewed = self.texts.compact(np.concatenate([np.empty(0, np.int64), *(a.ravel() for a in arrays)]))
            at = 0
            for array in arrays:
                array[...] = renewed[at : at + array.size].reshape(array.shape)
                at += array.size

    # ---------------------------------------------------------------- in a bucket

    def accept(self, blob: bytes | memoryview, watermark: int = MIN_INSTANT) -> dict[int, int]:
        """Take packed rows that are not behind the watermark; how far streams have reached."""
        around = self.pipeline.around
        numbered = self._arrivals().numbered if self._ties and self.job.live else None
        exchanges, reached, last = unpack_rows(blob, self.texts, around.lineage, around.events, numbered)
        self._reached = max(self._reached, last)
        self._accept(exchanges, watermark)
        return reached

    def _arrivals(self) -> Arrivals:
        """How events are counted here: a work takes one micro-batch, with what was kept of those before."""
        if self._arrived is None:
            self._arrived = Arrivals(self.pipeline.around.lineage)
        return self._arrived

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
