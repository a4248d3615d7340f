"""A unit whose plan is cut into stages, at work on Spark: the lower stage in reading tasks, the upper one in buckets of a key.

State is what the upper stage's operators write of themselves, with rows that wait for their time, what all of them were made
of, and the texts they refer to: one sealed blob a bucket, in one form for every unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scepter.kernel.background import Background
from scepter.kernel.container import Arrays, pack, unpack
from scepter.kernel.intake import Intake
from scepter.kernel.row_shipping import split_rows, unpack_rows
from scepter.kernel.rows import Rows, UInt64, concat
from scepter.kernel.search import key_of
from scepter.kernel.shipping import furthest
from scepter.kernel.texts import FIXED, Texts
from scepter.physical.window_nodes import Report
from scepter.rdf.batch import EventBatch
from scepter.rdf.terms import IRI
from scepter.runtime.matches import Match
from scepter.runtime.notices import SCHEMA_IGNORED, Notices
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.registry import TaskSetup, task_of
from scepter.runtime.scanning import Scanner, name_parts
from scepter.timeline import MIN_INSTANT

if TYPE_CHECKING:
    from scepter.runtime.spark.jobs import Job
    from scepter.runtime.spark.shares import Share

STATE_FORM = 1
_REFS = ("refs", "names", "name")
_COMPACT_FROM = 64 << 20


class StageWork:
    """Both stages of one unit; a worker uses the one that it is asked for."""

    def __init__(self, job: Job, share: Share, like: StageWork | None = None) -> None:
        assert share.stages is not None
        self.job = job
        self.share = share
        self.stages = share.stages
        self.texts = Texts()
        self.background: Background = job.background() if like is None else like.background
        unit = job.plan.units[share.units[0]]
        setup = TaskSetup(
            job.kind, job.options, self.background, job.ontology, self.texts, lambda: job.streams, shown_event, lasting=True,
            key=job.key,
        )  # fmt: skip
        made = task_of(replace(unit, root=self.stages.above), setup)
        assert isinstance(made, Pipeline)
        self.pipeline = made
        name_parts(self.stages.below, made.around)
        self._timed = any(isinstance(node, Report) for node in made.nodes)
        self._scanner: Scanner | None = None
        self._last = MIN_INSTANT

    # ---------------------------------------------------------------- where events are read

    def solve(self, batches: Iterable[EventBatch], number: int, notices: Notices) -> Iterator[tuple[int, int, bytes]]:
        """(bucket, greatest time, packed rows) of batches whose events are numbered from `number` on."""
        if self._scanner is None:
            self._scanner = Scanner(self.stages.below, self.pipeline.around, self.job.streams)
        reached: dict[int, int] = {}
        last = MIN_INSTANT
        found: list[list[Rows]] = [[] for _ in self.stages.below]
        for batch in batches:
            intake = Intake(batch, self.texts.add(batch), number, named=self.job.parts)
            wanted = np.ones(batch.events, np.bool_) if self.job.start is None else batch.end >= self.job.start
            for rows, parts in zip(self._scanner.scan(intake, wanted), found, strict=True):
                parts.append(rows)
            number += batch.events
            last = max(last, int(batch.end.max()))
            for stream in np.unique(batch.stream).tolist():
                reached = furthest(reached, {stream: int(batch.end[batch.stream == stream].max())})
        if self._scanner.met_schema:
            notices.tell(SCHEMA_IGNORED)
        lineage = self.pipeline.around.lineage
        divided = list(self._in_buckets(found))
        yield from split_rows(divided, self.share.buckets, self.texts, lineage, reached, last, every=not self.job.live)
        lineage.truncate(0)
        self._forget()

    def _in_buckets(self, found: Sequence[Sequence[Rows]]) -> Iterator[tuple[Rows, UInt64 | None]]:
        for node, key, parts in zip(self.stages.below, self.stages.keys, found, strict=True):
            rows = concat(parts, len(node.schema.variables))
            if key is None:
                yield rows, None
            else:
                yield rows, key_of(rows.ids, node.schema.columns(key)) % np.uint64(self.share.buckets)

    def _forget(self) -> None:
        """Let go of the texts of events; those that operators hold stay."""
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
        exchanges, reached, last = unpack_rows(blob, self.texts, self.pipeline.around.lineage)
        self._last = max(self._last, last)
        for place, rows in enumerate(exchanges):
            late = rows.end < watermark
            self.pipeline.accept(place, rows.take(~late) if late.any() else rows)
        return reached

    def released(self, until: int) -> Iterator[Sequence[Match]]:
        """The matches that are certain up to a time, stretch by stretch."""
        for time in self.pipeline.stretches():
            if time < until:
                yield self.pipeline.release(time, time)
                self.pipeline.commit()
        yield self.pipeline.release(until, until)
        self.pipeline.commit()

    def ended(self, bucket: int) -> Iterator[Sequence[Match]]:
        """All matches: the input has ended. No further than the input: a report at the close of windows ends with it."""
        yield from self.released(self._last)
        yield self.pipeline.finish()

    @property
    def idle(self) -> bool:
        """Whether it keeps nothing."""
        return not any(self.pipeline.state_rows().values()) and not self._timed

    def next_due(self, watermark: int) -> int | None:
        """The first time whose passing can give an answer; None if only events can."""
        return max(watermark, MIN_INSTANT + 1) if self._timed else self.pipeline.next_waiting()

    # ---------------------------------------------------------------- state

    def dump(self, of: str) -> bytes:
        """The state of the upper stage; `of` tells what it is of."""
        arrays, meta = self.pipeline.dump()
        holding = [name for name in arrays if name.rsplit(".", 1)[-1] in _REFS]
        flat = np.concatenate([np.empty(0, np.int64), *(arrays[name].ravel() for name in holding)])
        data, moved = self.texts.extract_all(flat)
        at = 0
        for name in holding:
            arrays[name] = moved[at : at + arrays[name].size].reshape(arrays[name].shape)
            at += arrays[name].size
        arrays["texts"] = np.frombuffer(data, np.uint8)
        return pack(arrays, {"form": STATE_FORM, "of": of, "unit": meta}, sealed=True)

    def restore(self, data: bytes, of: str) -> None:
        """Take over what `dump` wrote; ValueError for another form or another unit."""
        arrays, meta = unpack(data)
        if meta.get("form") != STATE_FORM:
            raise ValueError(f"state of form {meta.get('form')}, but this is form {STATE_FORM}")
        if meta["of"] != of:
            raise ValueError("this is the state of another query, or of the same query with other options")
        self.pipeline.load(_settled(arrays, self.texts), meta["unit"])


def _settled(arrays: Arrays, texts: Texts) -> Arrays:
    base = texts.insert(arrays.pop("texts").tobytes())
    for name, array in arrays.items():
        if name.rsplit(".", 1)[-1] in _REFS:
            arrays[name] = np.where((array >= 0) & (array < FIXED), array + base, array)
    return arrays


def shown_event(number: int, name: str | None) -> object:
    """What a match shows for an event."""
    if isinstance(name, IRI):
        return name.value
    return name.removeprefix("_:") if name is not None else f"#{number}"
