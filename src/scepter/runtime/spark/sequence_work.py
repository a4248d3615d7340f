"""A sequence at work on Spark: its scans in reading tasks, its runs in buckets by key, by window, by slices of history, or by
the event that they begin with."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Sequential
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.build import graph_scans
from scepter.kernel.row.owned import Cell
from scepter.kernel.row.split_keys import begin_at, places_of
from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.scan.graph_scan import GraphScans, Solved, joined
from scepter.kernel.sequence.matched_sequence import MatchedSequence
from scepter.kernel.sequence.run_windows import Bounds, resolve
from scepter.kernel.state.shipping import buckets_by_window, furthest, keys_of, reached_by, split, unpack_solved
from scepter.kernel.state.slices import NOWHERE
from scepter.kernel.texts import Texts
from scepter.physical.distribution.partitioning import PartitionKind, begins_only, partitioning, sequence_division
from scepter.physical.metrics import Metrics
from scepter.physical.nodes.nodes import Node, Received
from scepter.physical.nodes.sequence_nodes import Sequence
from scepter.physical.sequence_plan import QueryPlan
from scepter.rdf.batch import EventBatch
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime.matches import Match
from scepter.runtime.spark.bucket_work import BucketWork
from scepter.runtime.spark.live_skew import Counted, counted, is_counted, split_before
from scepter.runtime.spark.skew import spread
from scepter.timeline import MIN_INSTANT

if TYPE_CHECKING:
    from scepter.runtime.spark.jobs import Job
    from scepter.runtime.spark.shares import Share


class SequenceWork(BucketWork):
    """Both halves of one sequence; a worker uses the one that it is asked for."""

    by_start = True

    def __init__(self, job: Job, share: Share, like: SequenceWork | None = None, bucket: int = 0) -> None:
        """New; what those of one sequence have in common is taken from `like`."""
        unit = job.plan.units[share.units[0]]
        assert isinstance(unit.root, Sequence)
        self._node = unit.root
        self.plan: QueryPlan = unit.root.plan
        received = tuple(Received(each.schema, place, each) for place, each in enumerate(unit.root.inputs))
        texts = Texts() if like is None else Texts(like.texts)
        super().__init__(job, share, replace(unit, root=replace(unit.root, inputs=received)), texts, like, bucket)
        self.bounds: Bounds = resolve(unit.root.query.window, job.kind, job.options.time_unit, job.start or 0, self.plan.gaps)
        self.division = sequence_division(self.plan, live=job.live)
        self._parts = [self.pipeline.around.part(scan.label) for scan in self.plan.scans]
        self._counted: Counted | None = None
        self._scanned = [Metrics() for _ in unit.root.inputs]
        if split := split_before(job, share):
            cell = self.pipeline.around.cell
            cell.split, cell.slots, cell.buckets = split, self._slots, job.buckets

    # ---------------------------------------------------------------- where events are read

    def solve(
        self, batches: Iterable[EventBatch], number: int, report: DeadLetterTaker = lambda letter: None
    ) -> Iterator[tuple[int, int, bytes]]:
        """(bucket, greatest time, packed solutions) of batches whose events are numbered from `number` on."""
        reached: dict[int, int] = {}
        parts: list[Solved] = []
        for intake, wanted in self._intakes(batches, number, named=self.job.parts):
            started = time.thread_time_ns() if self.job.measured else 0
            found = [part for part in self._bounded(self._scans.solve, intake, wanted, report) if part is not None]
            parts += found
            if self.job.measured:
                self._count(int(np.count_nonzero(wanted)), found, time.thread_time_ns() - started)
            if self.job.live:
                reached = furthest(reached, reached_by(intake.batch))
        graphs = self.pipeline.around.graphs
        whole = joined(parts, [len(scan.slots) for scan in self.plan.scans])
        if is_counted(self.job, self.share):
            keys = {id(own): own for own in keys_of(self.plan, self._slots, whole)}
            self._counted = counted([*keys.values()], self.job.cores)
        if self.share.slices is None:
            for of, ticks in self._buckets(whole):
                yield from split(whole, of, ticks, self.texts, reached, graphs)
            for places, of in self._replicated(whole):
                for _, last, blob in split(whole, of, None, self.texts, reached, graphs):
                    yield from ((place, last, blob) for place in places)
        else:
            tables = zip(*(self.share.slices.of(table.time) for table in whole.tables), strict=True)
            for rows, ticks in zip(tables, self.share.slices.of(whole.ticks.times), strict=True):
                yield from split(whole, list(rows), ticks, self.texts, graphs=graphs)
        graphs.clear()
        self.texts.forget()

    def _count(self, given: int, solved: Sequential[Solved], spent: int) -> None:
        each = [[*map(len, part.tables), len(part.ticks.times)] for part in solved]
        sizes = list(map(sum, zip(*each, strict=True))) or [0] * len(self._scanned)
        for work, size in zip(self._scanned, sizes, strict=False):  # without a leaf for ticks they are counted nowhere
            work.count(given, size, spent // len(sizes))

    @cached_property
    def _scans(self) -> GraphScans:
        return graph_scans(self._node.inputs, self.pipeline.around, ticked=True)

    def _reading(self) -> tuple[Sequential[Node], list[Metrics]]:
        return self._node.inputs, self._scanned

    def keys(self, batches: Iterable[EventBatch]) -> tuple[UInt64, Int64]:
        """The keys and the times of what crosses to buckets."""
        keys, times = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
        for intake, wanted in self._intakes(batches, 0, named=False):
            for solved in self._bounded(self._scans.solve, intake, wanted, lambda letter: None):
                if solved is None:
                    continue
                found = zip(solved.tables, keys_of(self.plan, self._slots, solved), strict=True)
                for table, key in {id(table): (table, key) for table, key in found}.values():
                    keys.append(key)
                    times.append(table.time)
        self.pipeline.around.graphs.clear()
        self.texts.forget()
        return np.concatenate(keys), np.concatenate(times)

    @property
    def _slots(self) -> tuple[int, ...]:
        return self.plan.partition or partitioning(self.plan).slots

    def _buckets(self, solved: Solved) -> Iterator[tuple[list[UInt64], UInt64 | None]]:
        """Per scan the bucket of each row, and the buckets of ticks; in several turns, since rows may go to several."""
        buckets = self.job.buckets
        match self.division:
            case PartitionKind.KEY:
                ticks = solved.ticks.groups % np.uint64(buckets) if self.plan.partition and self.plan.ticked else None
                if split_before(self.job, self.share):
                    yield self._fragmented(solved), ticks
                    return
                for turn, rows in enumerate(self._by_key(solved)):
                    yield rows, None if turn else ticks
            case PartitionKind.TUMBLING:
                assert self.bounds.length is not None
                origin, length = self.bounds.origin, self.bounds.length
                ticks = ((solved.ticks.times - origin) // length % buckets).astype(np.uint64)
                yield buckets_by_window(solved, origin, length, buckets), ticks
            case PartitionKind.GRID:
                yield from self._by_first_event(solved)
            case _:
                rows = [np.zeros(len(table), np.uint64) for table in solved.tables]
                yield rows, np.zeros(len(solved.ticks.times), np.uint64)

    def _by_first_event(self, solved: Solved) -> Iterator[tuple[list[UInt64], UInt64 | None]]:
        """Everything to every bucket, but what begins matches and does nothing else."""
        begins = begins_only(self.plan)
        for bucket in range(self.share.buckets):
            cell = Cell(self.share.sides, bucket)
            every = {id(table): np.full(len(table), bucket, np.uint64) for table in solved.tables}
            own = {
                id(table): np.where(cell.owns(table.start if self.plan.solutions else table.time), np.uint64(bucket), NOWHERE)
                for scan, table in enumerate(solved.tables)
                if scan in begins
            }
            rows = [(own if scan in begins else every)[id(table)] for scan, table in enumerate(solved.tables)]
            yield rows, np.full(len(solved.ticks.times), bucket, np.uint64) if self.plan.ticked else None

    def _fragmented(self, solved: Solved) -> list[UInt64]:
        """Live: the buckets of rows by key; of a split key, only of those that begin matches and do nothing else."""
        split = split_before(self.job, self.share)
        hot = np.array([each.key for each in split], np.uint64)
        begins, found = begins_only(self.plan), list[UInt64]()
        for scan, (table, keys) in enumerate(zip(solved.tables, keys_of(self.plan, self._slots, solved), strict=True)):
            if scan in begins:
                starts = table.start if self.plan.solutions else table.time
                found.append(begin_at(keys, starts, self.job.buckets, split))
            else:
                found.append(np.where(np.isin(keys, hot), NOWHERE, keys % np.uint64(self.job.buckets)))
        return found

    def _replicated(self, solved: Solved) -> Iterator[tuple[list[int], list[UInt64]]]:
        """Live: the rows of a split key that matches go on with, and all of its places, which are sent the same bytes."""
        split = split_before(self.job, self.share)
        keys, begins = keys_of(self.plan, self._slots, solved) if split else [], begins_only(self.plan) if split else ()
        for each in split:
            places, key = places_of(each, self.job.buckets), np.uint64(each.key)
            of = {id(own): np.where(own == key, np.uint64(places[0]), NOWHERE) for own in keys}
            yield places, [np.full(len(own), NOWHERE) if scan in begins else of[id(own)] for scan, own in enumerate(keys)]

    def counted(self) -> Counted | None:
        """How many rows of what was solved last the keys have that may be hot; None where nobody asks."""
        found, self._counted = self._counted, None
        return found

    def _by_key(self, solved: Solved) -> list[list[NDArray[np.uint64]]]:
        leading = any(chain.leading for chain in self.plan.chains)
        found: dict[tuple[int, int], list[UInt64]] = {}
        keys = keys_of(self.plan, self._slots, solved)
        for table, key in zip(solved.tables, keys, strict=True):
            if (id(table), id(key)) not in found:
                found[id(table), id(key)] = spread(key, table.time, self.job.buckets, self.hot, before=leading, after=True)
        each = [found[id(table), id(key)] for table, key in zip(solved.tables, keys, strict=True)]
        turns = max((len(rows) for rows in each), default=1)
        return [[_turn(rows, turn) for rows in each] for turn in range(turns)]

    # ---------------------------------------------------------------- in a bucket

    def accept(self, blob: bytes | memoryview, watermark: int = MIN_INSTANT) -> dict[int, int]:
        """Take packed solutions that are not behind the watermark; how far streams have reached."""
        solved, reached, graphs = unpack_solved(blob, self.texts)
        self.pipeline.around.graphs.update(graphs)
        self._accept(solved.rows(self._parts, self.pipeline.around.lineage, ticked=self.plan.ticked), watermark)
        return reached

    def ended(self) -> Iterator[Sequential[Match]]:
        """All matches of its bucket: the input has ended."""
        slices, bucket = self.share.slices, self.bucket
        if slices is not None:
            self.pipeline.owned = lambda rows: rows.take(slices.owns(bucket, rows.start))
        return super().ended()

    def next_due(self, watermark: int) -> int | None:
        """The first time whose passing can release or complete something; None if only events can."""
        root = self.pipeline.root
        assert isinstance(root, MatchedSequence)
        return min((time for time in (self.pipeline.next_waiting(), root.due()) if time is not None), default=None)


def _turn(rows: list[UInt64], turn: int) -> UInt64:
    return rows[turn] if turn < len(rows) else np.full(len(rows[0]), NOWHERE)
