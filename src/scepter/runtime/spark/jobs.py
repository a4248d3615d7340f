"""What every worker of a job must know, and the engine pieces a worker keeps between tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TypeAlias

from scepter.algebra.query import Program
from scepter.kernel.state.container import pack, unpack
from scepter.kernel.static.background import Background
from scepter.physical.distribution.hot_keys import live_hot_keys
from scepter.physical.plan import PhysicalPlan
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.readers import Lift
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.options import RunOptions
from scepter.runtime.spark.beginning import EVERYTHING, Beginning
from scepter.runtime.spark.identity import Identity, canonical
from scepter.runtime.spark.sequence_work import SequenceWork
from scepter.runtime.spark.shares import Form, Share, Span, shares
from scepter.runtime.spark.shipped_background import ShippedBackground
from scepter.runtime.spark.skew import HotKey
from scepter.runtime.spark.stage_work import StageWork
from scepter.timeline import TimeKind


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
    beginning: Beginning = EVERYTHING
    """Of a live run: its first times."""
    told_as: str = ""
    """Of a live run: by what its driver tells its tasks from those of other runs (`telling`)."""
    cores: int = 1
    """Of a live run: how many tasks its session runs at a time."""
    measured: bool = False
    """Whether its tasks tell what their operators did."""
    hot: Mapping[int, tuple[HotKey, ...]] = field(default_factory=dict)
    """Over history: the keys with more than a task's share of the rows, by share."""
    span: Span | None = None
    """Over history: about how long it is, where a look at its files tells."""
    round: int = 0
    """Over history: which of the rounds of its program this is."""
    refused: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Over history: the times of events that would move time on by too much and that nothing confirms, by stream."""

    @property
    def start(self) -> int | None:
        """The instant before which events are not seen."""
        return None if self.options.start is None else self.options.start.on(self.kind, "--start")

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """The parts of the program that are worked on apart from each other, each in buckets of its own."""
        return shares(self.plan, self.streams, self.buckets, live=self.live, span=self.span)

    @cached_property
    def splittable(self) -> frozenset[int]:
        """Live: the shares whose hot keys may be divided by the first event of matches."""
        found = [share for share in self.shares if share.form is Form.SOLUTIONS and share.buckets > 1 and not share.feeds]
        return frozenset(share.number for share in found if self.live and live_hot_keys(self.plan.units[share.units[0]]) == "")

    @property
    def rounds(self) -> int:
        """How many rounds there are: over history a unit that reads what others construct comes behind them."""
        return 1 + max(share.round for share in self.shares)

    @property
    def depth(self) -> int:
        """How many stateful parts lie one behind another, live: as many as the longest way from an event to an answer."""
        return 1 + max((share.depth for share in self.shares), default=0)

    @property
    def at_work(self) -> tuple[Share, ...]:
        """The parts of this round."""
        return tuple(share for share in self.shares if share.round == self.round)

    def fed(self, round: int) -> Mapping[int, int]:
        """The streams that units of a round construct for later ones, by the numbers of the units in answers."""
        plan = self.plan
        made = {n: into for n, into in plan.feeds.items() if plan.rounds[n] == round}
        return {plan.units[n].number: self.streams.index(into) for n, into in made.items()}

    @cached_property
    def made(self) -> frozenset[int]:
        """The streams that units of earlier rounds have constructed: their events do not tell how far the input goes."""
        return frozenset(stream for round in range(self.round) for stream in self.fed(round).values())

    @property
    def whole(self) -> Share | None:
        """Live: the part that runs in one task, over a log of its events."""
        return next((share for share in self.shares if share.form is Form.EVENTS), None)

    @property
    def named(self) -> bool:
        """Whether the names of events are of use to anybody."""
        return self.parts or any(s.form is Form.EVENTS or (s.stages is not None and s.stages.told) for s in self.shares)

    @property
    def predicates(self) -> frozenset[int] | None:
        """The ids of the predicates that can matter."""
        found = self.plan.predicates
        return None if found is None else frozenset(term_id(self.key, str(predicate)) for predicate in found)

    @property
    def program(self) -> Program:
        """What was planned."""
        return Program(tuple(unit.unit for unit in self.plan.units))

    def state_of(self, number: int) -> str:
        """What the state of a share's bucket is of: with another mark, the state means something else."""
        return self._marks[number]

    @cached_property
    def _marks(self) -> tuple[str, ...]:
        """The mark of each share, made once: every bucket of every micro-batch asks."""
        return tuple(map(self._mark, self.shares))

    def _mark(self, share: Share) -> str:
        told = (
            tuple(canonical(self.plan.units[unit].unit) for unit in share.units),
            self.kind.value,
            self.options.time_unit,
            self.start,
            self.key,
            self.buckets,
            *share.sides,
            *((share.sources, share.to) if share.sources else ()),
        )
        return blake2b(repr(told).encode(), digest_size=16).hexdigest()

    def background(self) -> Background:
        """The static graphs."""
        return self.static.opened()


Work: TypeAlias = SequenceWork | StageWork
"""A share that is divided, in a worker: the stateless part in reading tasks, the stateful part in buckets."""
_KEPT: dict[tuple[str, int], Work] = {}


def work(job: Job, share: Share) -> Work:
    """A worker process's part of a share for the stateless part, kept between its tasks."""
    place = (job.name, share.number)
    if place not in _KEPT:
        if len(_KEPT) >= 16:
            _KEPT.clear()
        _KEPT[place] = _new(job, share, None, 0)
    return _KEPT[place]


def new_work(job: Job, share: Share, bucket: int) -> Work:
    """A share for the stateful part of a bucket, at little cost in a worker process that has had one."""
    return _new(job, share, work(job, share), bucket)


def _new(job: Job, share: Share, like: Work | None, bucket: int) -> Work:
    if share.form is Form.SOLUTIONS:
        return SequenceWork(job, share, like if isinstance(like, SequenceWork) else None, bucket)
    return StageWork(job, share, like if isinstance(like, StageWork) else None, bucket)


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
