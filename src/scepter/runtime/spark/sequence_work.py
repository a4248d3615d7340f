"""A sequence at work on Spark: its scans in reading tasks, its runs in buckets by key, by window, by slices of history, or by
the event that they begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Sequential
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scepter.kernel.row.owned import begins_in
from scepter.kernel.row.split_keys import SplitKey, begin_at, places_of
from scepter.kernel.rows import Int64, Rows, UInt64
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.sequence.matched_sequence import MatchedSequence
from scepter.kernel.sequence.run_windows import Bounds, resolve
from scepter.kernel.state.slices import NOWHERE
from scepter.kernel.texts import Texts
from scepter.physical.distribution.partitioning import PartitionKind, begins_only, partitioning, sequence_division
from scepter.physical.nodes.nodes import Received
from scepter.physical.nodes.sequence_nodes import Sequence
from scepter.physical.sequence_plan import QueryPlan
from scepter.runtime.spark.bucket_work import BucketWork
from scepter.runtime.spark.live_skew import Counted, counted, is_counted, split_before
from scepter.runtime.spark.sending import Part, in_turns
from scepter.runtime.spark.skew import spread

if TYPE_CHECKING:
    from scepter.runtime.spark.jobs import Job
    from scepter.runtime.spark.shares import Share


class SequenceWork(BucketWork):
    """One sequence."""

    by_start = True

    def __init__(self, job: Job, share: Share, like: SequenceWork | None = None, bucket: int = 0) -> None:
        """New; what those of one sequence have in common is taken from `like`."""
        unit = job.plan.units[share.units[0]]
        assert isinstance(unit.root, Sequence)
        self.plan: QueryPlan = unit.root.plan
        below = unit.root.inputs
        received = tuple(Received(each.schema, place, each) for place, each in enumerate(below))
        texts = Texts() if like is None else Texts(like.texts)
        super().__init__(job, share, below, replace(unit, root=replace(unit.root, inputs=received)), texts, like, bucket)
        self.bounds: Bounds = resolve(unit.root.query.window, job.kind, job.options.time_unit, job.start or 0, self.plan.gaps)
        self.division = sequence_division(self.plan, live=job.live)
        self._counted: Counted | None = None
        if (slices := share.slices) is not None:  # they overlap
            self.pipeline.owned = lambda rows: rows.take(slices.owns(bucket, rows.start))
        if split := split_before(job, share):
            cell = self.pipeline.around.cell
            cell.split, cell.slots, cell.buckets = split, self._slots, job.buckets

    # ---------------------------------------------------------------- where events are read

    def _sent(self, found: Sequential[Rows], reached: Mapping[int, int], last: int) -> Iterator[tuple[int, int, bytes]]:
        yield from super()._sent(found, reached, last)
        for places, parts in self._replicated(found):
            for _, greatest, blob in self._split(parts, 1, reached, last):
                yield from ((place, greatest, blob) for place in places)

    def _forget(self) -> None:
        super()._forget()
        self.texts.forget()  # its scans keep none

    @property
    def _slots(self) -> tuple[int, ...]:
        return self.plan.partition or partitioning(self.plan).slots

    def _keyed(self, found: Sequential[Rows]) -> list[tuple[Rows, UInt64]]:
        keys: dict[tuple[int, tuple[int, ...]], UInt64] = {}
        slots, keyed = self._slots, []
        for scan, rows in zip(self.plan.scans, found, strict=False):  # ticks come behind them
            columns = tuple(scan.slots.index(slot) for slot in slots)
            if (id(rows), columns) not in keys:
                keys[id(rows), columns] = key_of(rows.ids, columns)
            keyed.append((rows, keys[id(rows), columns]))
        return keyed

    def _parts(self, found: Sequential[Rows]) -> list[Part]:
        buckets, slices = np.uint64(self.job.buckets), self.share.slices
        if slices is not None:
            return _each(found, lambda rows: in_turns(rows, [*slices.of(rows.end)]))
        match self.division:
            case PartitionKind.KEY:
                ticks = found[len(self.plan.scans) :]
                told = [(rows, rows.ids[:, 0] % buckets if self.plan.partition else _nowhere(rows)) for rows in ticks]
                return [*self._by_key(self._keyed(found)), *told]
            case PartitionKind.TUMBLING:
                assert self.bounds.length is not None
                origin, length = self.bounds.origin, self.bounds.length
                return _each(found, lambda rows: (rows, ((rows.end - origin) // length % self.job.buckets).astype(np.uint64)))
            case PartitionKind.GRID:
                return self._by_first_event(found)
            case _:
                return _each(found, lambda rows: (rows, np.zeros(len(rows), np.uint64)))

    def _by_first_event(self, found: Sequential[Rows]) -> list[Part]:
        """Everything to every bucket, but what begins matches and does nothing else."""
        begins = begins_only(self.plan) if self.share.sides else ()
        own = _each(found, lambda rows: (rows, begins_in(self._first(rows), self.share.sides[0]) if begins else None))
        return [own[place] if place in begins else (rows, None) for place, rows in enumerate(found)]

    def _first(self, rows: Rows) -> Int64:
        """When the matches begin that begin with rows."""
        return rows.start if self.plan.solutions else rows.end

    def _by_key(self, keyed: Sequential[tuple[Rows, UInt64]]) -> list[Part]:
        different = {id(key): (rows, key) for rows, key in keyed}
        if is_counted(self.job, self.share):
            self._counted = counted([key for _, key in different.values()], self.job.cores)
        if split := split_before(self.job, self.share):
            return self._fragmented(keyed, split)
        before, buckets = any(chain.leading for chain in self.plan.chains), self.job.buckets
        made = {
            place: in_turns(rows, spread(key, rows.end, buckets, self.hot, before=before, after=True))
            for place, (rows, key) in different.items()
        }
        return [made[id(key)] for _, key in keyed]

    def _fragmented(self, keyed: Sequential[tuple[Rows, UInt64]], split: Sequential[SplitKey]) -> list[Part]:
        """Live: rows by key; of a split key, only those that begin matches and do nothing else."""
        hot = np.array([each.key for each in split], np.uint64)
        begins, found = begins_only(self.plan), list[Part]()
        for scan, (rows, keys) in enumerate(keyed):
            if scan in begins:
                found.append((rows, begin_at(keys, self._first(rows), self.job.buckets, split)))
            else:
                found.append((rows, np.where(np.isin(keys, hot), NOWHERE, keys % np.uint64(self.job.buckets))))
        return found

    def _replicated(self, found: Sequential[Rows]) -> Iterator[tuple[list[int], list[Part]]]:
        """Live: the rows of a split key that matches go on with, and all of its places, which are sent the same bytes."""
        split = split_before(self.job, self.share)
        keyed, begins = self._keyed(found) if split else [], begins_only(self.plan) if split else ()
        for each in split:
            of = {id(keys): np.where(keys == np.uint64(each.key), np.uint64(0), NOWHERE) for _, keys in keyed}
            parts = [(rows, _nowhere(rows) if scan in begins else of[id(keys)]) for scan, (rows, keys) in enumerate(keyed)]
            ticks = [(rows, _nowhere(rows)) for rows in found[len(keyed) :]]
            yield places_of(each, self.job.buckets), [*parts, *ticks]

    def counted(self) -> Counted | None:
        """How many rows of what was solved last the keys have that may be hot; None where nobody asks."""
        found, self._counted = self._counted, None
        return found

    # ---------------------------------------------------------------- in a bucket

    def next_due(self, watermark: int) -> int | None:
        """The first time whose passing can release or complete something; None if only events can."""
        root = self.pipeline.root
        assert isinstance(root, MatchedSequence)
        return min((time for time in (self.pipeline.next_waiting(), root.due()) if time is not None), default=None)


def _each(found: Sequential[Rows], divide: Callable[[Rows], Part]) -> list[Part]:
    """The parts of rows, of those that several scans share made once."""
    made = {place: divide(rows) for place, rows in {id(rows): rows for rows in found}.items()}
    return [made[id(rows)] for rows in found]


def _nowhere(rows: Rows) -> UInt64:
    return np.full(len(rows), NOWHERE)
