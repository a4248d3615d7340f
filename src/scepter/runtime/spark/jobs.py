"""What every worker of a job must know, and the engine pieces a worker keeps between tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.query import Program
from scepter.kernel.background import Background
from scepter.kernel.container import pack, unpack
from scepter.kernel.intake import Intake
from scepter.kernel.query import QueryKernel, Solved
from scepter.kernel.runs import Runs
from scepter.kernel.shipping import Slices, buckets_by_key, buckets_by_window, furthest, split
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
from scepter.runtime.options import RunOptions
from scepter.runtime.spark.background import ShippedBackground
from scepter.runtime.spark.identity import Identity, canonical
from scepter.timeline import TimeKind

STRETCH_ROWS = 1 << 16
"""So many solutions of a bucket are searched together."""
SALT_ROOM = 1 << 24
"""Each reading task counts events, and keeps blank nodes apart, in a stretch of its own."""


@dataclass(frozen=True, slots=True)
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

    @property
    def divided(self) -> bool:
        """Whether its queries can be run apart from each other, each in many buckets."""
        return all(
            isinstance(unit.root, Sequence)
            and unit.unit is unit.root.query
            and unit.unit.into not in self.streams
            and not unit.entailed
            for unit in self.plan.units
        )

    @property
    def named(self) -> bool:
        """Whether the names of events are of use to anybody."""
        return self.parts or not self.divided

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
        """What the state of a unit's bucket is of: with another mark, the state means something else."""
        told = (
            canonical(self.plan.units[number].unit),
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

    def __init__(self, job: Job, number: int, like: QueryWork | None = None) -> None:
        """A new kernel; what kernels of the query have in common is taken from `like`."""
        node = job.sequence(number)
        query = node.query
        self.job = job
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
        self._streams = np.full(len(job.streams), -1, np.int64)
        for i, stream in enumerate(query.streams):
            self._streams[job.streams.index(stream.iri)] = i

    def solve(self, batches: Iterable[EventBatch], number: int) -> Iterator[tuple[int, int, bytes]]:
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


def released(kernel: QueryKernel, until: int) -> Iterator[Runs]:
    """The runs that end up to a time, stretch by stretch."""
    for time in kernel.stretches(STRETCH_ROWS):
        if time < until:
            yield kernel.release(time, time)
            kernel.commit()
    yield kernel.release(until, until)


def division(plan: QueryPlan, *, live: bool = False) -> PartitionKind:
    """How a query's work is divided over buckets: as planned; live, slices of history and a query whose rows of several
    buckets may be one (ASK) are not divided."""
    found = partitioning(plan)
    return PartitionKind.ONE if live and (found.merges or found.kind is PartitionKind.SLICES) else found.kind


def reached_by(batch: EventBatch) -> dict[int, int]:
    """How far each stream of a batch has reached."""
    return {int(stream): int(batch.end[batch.stream == stream].max()) for stream in np.unique(batch.stream)}


_KEPT: dict[tuple[str, int], QueryWork] = {}


def work(job: Job, number: int) -> QueryWork:
    """A worker process's kernel for the stateless part of a query, kept between its tasks."""
    place = (job.name, number)
    if place not in _KEPT:
        if len(_KEPT) >= 16:
            _KEPT.clear()
        _KEPT[place] = QueryWork(job, number)
    return _KEPT[place]


def new_work(job: Job, number: int) -> QueryWork:
    """A kernel for the stateful part of a query, at little cost in a worker process that has had one."""
    return QueryWork(job, number, work(job, number))


_BATCH_ARRAYS = (
    "buffer", "stream", "start", "end", "name_at", "first", "subject", "predicate", "object", "subject_at", "predicate_at",
    "object_at", "number", "scale",
)  # fmt: skip


def pack_batch(batch: EventBatch) -> bytes:
    """An event batch as bytes."""
    return pack({name: getattr(batch, name) for name in _BATCH_ARRAYS}, {"kind": batch.kind.value})


def unpack_batch(data: bytes | memoryview) -> EventBatch:
    """The batch that `pack_batch` wrote."""
    arrays, meta = unpack(data)
    return EventBatch(kind=TimeKind(meta["kind"]), **arrays)
