"""What every worker of a job must know, and the engine pieces a worker keeps between tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Sequence as Sequential
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.query import Program
from scepter.kernel.background import Background
from scepter.kernel.container import pack, unpack
from scepter.kernel.intake import Intake
from scepter.kernel.query import QueryKernel, Solved, Ticks
from scepter.kernel.runs import Runs
from scepter.kernel.shipping import Slices, buckets_by_key, buckets_by_window, furthest, split, unpack_solved
from scepter.kernel.state import dump, restore
from scepter.kernel.texts import Texts
from scepter.kernel.windows import Bounds, resolve
from scepter.physical.partitioning import PartitionKind, partitioning
from scepter.physical.plan import PhysicalPlan
from scepter.physical.sequence_plan import QueryPlan
from scepter.physical.unit_nodes import Sequence
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.readers import Lift
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.matches import Match, Matcher
from scepter.runtime.notices import Notices
from scepter.runtime.options import RunOptions
from scepter.runtime.spark.background import ShippedBackground
from scepter.runtime.spark.identity import Identity, canonical
from scepter.runtime.spark.shares import Form, Share, shares
from scepter.runtime.spark.stage_work import StageWork
from scepter.timeline import MAX_INSTANT, MIN_INSTANT, TimeKind

STRETCH_ROWS = 1 << 16
"""So many solutions of a bucket are searched together."""
SALT_ROOM = 1 << 24
"""Each reading task counts events, and keeps blank nodes apart, in a stretch of its own."""


@dataclass(frozen=True)
class Job:
    """A run as its workers see it: small, and the same for all of them."""

    name: str
    """Different for every job."""
    plan: PhysicalPlan
    options: RunOptions
    kind: TimeKind
    key: TermKey
    streams: tuple[IRI, ...]
    static: ShippedBackground
    ontology: tuple[Triple, ...]
    buckets: int
    live: bool = False
    """Whether its input is live, so that what several buckets give cannot meet once more."""
    identity: Identity | None = None
    """Of a live run: what its state depends on."""
    lifts: Mapping[int, Lift] = field(default_factory=dict)
    """What makes events of the rows of streams, by their numbers."""
    parts: bool = True
    """Whether its results tell the events that each part selected: to decode their names costs as much as all the rest."""

    @property
    def start(self) -> int | None:
        """The instant before which events are not seen."""
        return None if self.options.start is None else self.options.start.on(self.kind, "--start")

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """The parts of the program that are worked on apart from each other, each in buckets of its own."""
        return shares(self.plan, self.streams, self.buckets, live=self.live)

    @property
    def whole(self) -> Share | None:
        """Live: the part that runs in one task, over a log of its events."""
        return next((share for share in self.shares if share.form is Form.EVENTS), None)

    @property
    def named(self) -> bool:
        """Whether the names of events are of use to anybody."""
        return self.parts or any(share.form is Form.EVENTS for share in self.shares)

    @property
    def predicates(self) -> frozenset[int] | None:
        """The ids of the predicates that can matter."""
        found = self.plan.predicates
        return None if found is None else frozenset(term_id(self.key, str(predicate)) for predicate in found)

    def sequence(self, number: int) -> Sequence:
        """A unit of a program that is divided."""
        root = self.plan.units[number].root
        assert isinstance(root, Sequence)
        return root

    @property
    def program(self) -> Program:
        """What was planned."""
        return Program(tuple(unit.unit for unit in self.plan.units))

    def state_of(self, number: int) -> str:
        """What the state of a share's bucket is of: with another mark, the state means something else."""
        told = (
            tuple(canonical(self.plan.units[unit].unit) for unit in self.shares[number].units),
            self.kind.value,
            self.options.time_unit,
            self.start,
            self.key,
            self.buckets,
        )
        return blake2b(repr(told).encode(), digest_size=16).hexdigest()

    def background(self) -> Background:
        """The static graphs."""
        return self.static.opened()


class QueryWork:
    """One query's kernel in a worker: the stateless part in reading tasks, the stateful part in buckets."""

    def __init__(self, job: Job, share: Share, like: QueryWork | None = None) -> None:
        """A new kernel; what kernels of the query have in common is taken from `like`."""
        (number,) = share.units
        node = job.sequence(number)
        query = node.query
        self.job = job
        self.share = share
        self.number = number
        self.plan: QueryPlan = node.plan
        self.bounds: Bounds = resolve(query.window, job.kind, job.options.time_unit, job.start or 0, node.plan.gaps)
        self.background: Background = job.background() if like is None else like.background
        self.texts: Texts = Texts() if like is None else Texts(like.texts)
        self.kernel = QueryKernel(self.plan, self.bounds, job.key, self.background, self.texts)
        self.division = division(self.plan, live=job.live)
        self.slices: Slices | None = None
        if self.division is PartitionKind.SLICES and job.buckets > 1:
            assert self.bounds.length is not None
            self.slices = Slices(self.bounds.length, job.buckets, partitioning(self.plan).look_back)
        known = {stream.iri: 0 if query.merged else i for i, stream in enumerate(query.streams)}
        every = query.merged and not query.streams
        self._streams = np.array([0 if every else known.get(iri, -1) for iri in job.streams], np.int64)

    def solve(
        self, batches: Iterable[EventBatch], number: int, notices: Notices | None = None
    ) -> Iterator[tuple[int, int, bytes]]:
        """(bucket, greatest time, packed solutions) of batches whose events are numbered from `number` on."""
        reached: dict[int, int] = {}
        for batch in batches:
            intake = Intake(batch, self.texts.add(batch), number, named=self.job.parts)
            wanted = np.ones(batch.events, np.bool_) if self.job.start is None else batch.end >= self.job.start
            self.kernel.take(intake, self._streams, wanted)
            number += batch.events
            if self.job.live:
                reached = furthest(reached, reached_by(batch))
        solved = self.kernel.drain()
        if self.slices is None:
            yield from split(solved, *self._buckets(solved), self.texts, reached)
        else:
            tables = zip(*(self.slices.of(table.time) for table in solved.tables), strict=True)
            for rows, ticks in zip(tables, self.slices.of(solved.ticks.times), strict=True):
                yield from split(solved, list(rows), ticks, self.texts)
        self.texts.forget()

    def _buckets(self, solved: Solved) -> tuple[list[NDArray[np.uint64]], NDArray[np.uint64] | None]:
        buckets = self.job.buckets
        match self.division:
            case PartitionKind.KEY:
                slots = self.plan.partition or partitioning(self.plan).slots
                ticks = solved.ticks.groups % np.uint64(buckets) if self.plan.partition and self.kernel.needs_ticks else None
                return buckets_by_key(self.plan, slots, solved, buckets), ticks
            case PartitionKind.TUMBLING:
                assert self.bounds.length is not None
                origin, length = self.bounds.origin, self.bounds.length
                ticks = ((solved.ticks.times - origin) // length % buckets).astype(np.uint64)
                return buckets_by_window(solved, origin, length, buckets), ticks
            case _:
                rows = [np.zeros(len(table), np.uint64) for table in solved.tables]
                return rows, np.zeros(len(solved.ticks.times), np.uint64)

    # ---------------------------------------------------------------- in a bucket

    def accept(self, blob: bytes | memoryview, watermark: int = MIN_INSTANT) -> dict[int, int]:
        """Take packed solutions that are not behind the watermark; how far streams have reached."""
        solved, reached = unpack_solved(blob, self.texts)
        self.kernel.accept(punctual(solved, watermark))
        return reached

    def released(self, until: int) -> Iterator[Sequential[Match]]:
        """The matches that are certain up to a time, stretch by stretch."""
        return map(self._matcher(), self._runs(until))

    def ended(self, bucket: int) -> Iterator[Sequential[Match]]:
        """All matches of a bucket: the input has ended."""
        matcher = self._matcher()
        for runs in chain(self._runs(MAX_INSTANT - 1), (self.kernel.finish() for _ in range(1))):
            yield matcher(runs if self.slices is None else runs.take(self.slices.owns(bucket, runs.start)))

    def _matcher(self) -> Matcher:
        return Matcher(self.number, self.kernel, self.texts, self.job.kind, shown, lasting=True)

    def _runs(self, until: int) -> Iterator[Runs]:
        for time in self.kernel.stretches(STRETCH_ROWS):
            if time < until:
                yield self.kernel.release(time, time)
                self.kernel.commit()
        yield self.kernel.release(until, until)
        self.kernel.commit()

    @property
    def idle(self) -> bool:
        """Whether it keeps nothing."""
        return self.kernel.idle

    def next_due(self, watermark: int) -> int | None:
        """The first time whose passing can release or complete something; None if only events can."""
        return self.kernel.next_due()

    def dump(self, of: str) -> bytes:
        """Its state; `of` tells what it is of."""
        return dump(self.kernel, self.texts, of)

    def restore(self, data: bytes, of: str) -> None:
        """Take over what `dump` wrote."""
        restore(self.kernel, self.texts, data, of)


def shown(number: int, name: object) -> object:
    """What a match shows for an event."""
    return name.value if isinstance(name, IRI) else str(name) if name is not None else f"#{number}"


def punctual(solved: Solved, watermark: int) -> Solved:
    """What is not behind the watermark."""
    if all(bool((times >= watermark).all()) for times in (solved.ticks.times, *(table.time for table in solved.tables))):
        return solved
    kept = {id(table): table.take(table.time >= watermark) for table in solved.tables}
    keep = solved.ticks.times >= watermark
    return Solved(tuple(kept[id(table)] for table in solved.tables), Ticks(solved.ticks.groups[keep], solved.ticks.times[keep]))


def division(plan: QueryPlan, *, live: bool = False) -> PartitionKind:
    """How a query's work is divided over buckets: as planned; live, slices of history and a query whose rows of several
    buckets may be one (ASK) are not divided."""
    found = partitioning(plan)
    return PartitionKind.ONE if live and (found.merges or found.kind is PartitionKind.SLICES) else found.kind


def reached_by(batch: EventBatch) -> dict[int, int]:
    """How far each stream of a batch has reached."""
    return {int(stream): int(batch.end[batch.stream == stream].max()) for stream in np.unique(batch.stream)}


Work: TypeAlias = QueryWork | StageWork
"""A share that is divided, in a worker: the stateless part in reading tasks, the stateful part in buckets."""
_KEPT: dict[tuple[str, int], Work] = {}


def work(job: Job, share: Share) -> Work:
    """A worker process's part of a share for the stateless part, kept between its tasks."""
    place = (job.name, share.number)
    if place not in _KEPT:
        if len(_KEPT) >= 16:
            _KEPT.clear()
        _KEPT[place] = _new(job, share, None)
    return _KEPT[place]


def new_work(job: Job, share: Share) -> Work:
    """A share for the stateful part, at little cost in a worker process that has had one."""
    return _new(job, share, work(job, share))


def _new(job: Job, share: Share, like: Work | None) -> Work:
    if share.form is Form.SOLUTIONS:
        return QueryWork(job, share, like if isinstance(like, QueryWork) else None)
    return StageWork(job, share, like if isinstance(like, StageWork) else None)


_BATCH_ARRAYS = (
    "buffer", "stream", "start", "end", "name_at", "first", "subject", "predicate", "object", "subject_at", "predicate_at",
    "object_at", "number", "scale",
)  # fmt: skip


def pack_batch(batch: EventBatch, last: int) -> bytes:
    """An event batch as bytes, and how far time is."""
    return pack({name: getattr(batch, name) for name in _BATCH_ARRAYS}, {"kind": batch.kind.value, "last": last})


def unpack_batch(data: bytes | memoryview) -> tuple[EventBatch | None, int]:
    """The batch that `pack_batch` wrote, None where time alone was told, and how far time is."""
    arrays, meta = unpack(data)
    return EventBatch(kind=TimeKind(meta["kind"]), **arrays) if arrays else None, meta["last"]
