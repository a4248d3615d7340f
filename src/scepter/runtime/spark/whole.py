"""Units that run as in one process: over slices of history, or live in one task, with the events it was given as state.

The state is the events that a later answer can depend on (`physical.horizon`), not the engine's insides: it means the same to
every release of the engine. Where no engine is at hand that has seen just these events, after a restart or in another worker,
a new one is given them, and its answers up to the time reached are dropped: they have been told.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, compress
from typing import TYPE_CHECKING, Any

import numpy as np

from scepter.algebra.query import Program
from scepter.kernel.state.container import pack, unpack
from scepter.kernel.state.shipping import furthest, reached_by
from scepter.kernel.static.background import Background
from scepter.physical.distribution.horizon import horizon
from scepter.rdf.arena import TextArena
from scepter.rdf.batch import EventBatch, kept
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime.engine import LocalEngine
from scepter.runtime.event_grounds import EventGrounds
from scepter.runtime.matches import Match, ending, sorted_matches
from scepter.runtime.notices import Notices, sent
from scepter.runtime.registry import grounds_of
from scepter.runtime.spark.arrivals import SALT_ROOM
from scepter.runtime.spark.jobs import Job, pack_batch, unpack_batch
from scepter.runtime.spark.shares import Share
from scepter.runtime.work import WorkLimits, watched
from scepter.timeline import MIN_INSTANT

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import ListState, ValueState

_VERSION = 1


def packed_events(job: Job, share: Share, batches: Iterable[EventBatch]) -> Iterator[tuple[int, int, bytes]]:
    """(bucket, greatest time, packed events): each event in the slices that read it. Every bucket hears of the last time."""
    for batch in batches:
        last = MIN_INSTANT if int(batch.stream[0]) in job.made else int(batch.end.max())
        if share.slices is None:
            yield 0, last, pack_batch(batch, last)
            continue
        turns = list(share.slices.of(batch.end))
        for bucket in range(share.buckets):
            mine = np.logical_or.reduce([turn == bucket for turn in turns])
            yield bucket, last, pack_batch(apart(kept(batch, mine)), last) if mine.any() else pack({}, {"last": last})


def apart(batch: EventBatch) -> EventBatch:
    """Events with just the texts that they refer to."""
    arena = TextArena()
    arena.add_buffer(batch.buffer)
    columns = (batch.name_at, batch.subject_at, batch.predicate_at, batch.object_at)
    flat = np.concatenate(columns)
    there = flat >= 0
    texts, places = arena.compact(flat[there])
    flat[there] = places
    name, subject, predicate, object = np.split(flat, np.cumsum([len(column) for column in columns])[:-1])
    return replace(batch, buffer=texts.buffer(), name_at=name, subject_at=subject, predicate_at=predicate, object_at=object)


_KEPT: dict[tuple[str, tuple[int, ...]], tuple[Background, list[EventGrounds | None]]] = {}
"""Of a job's units: their static data, and what they rest on, which cost as much as a slice of history does. A worker process
keeps them between buckets."""


def _rests_on(job: Job, share: Share) -> tuple[Background, list[EventGrounds | None]]:
    place = (job.name, share.units)
    if place not in _KEPT:
        if len(_KEPT) >= 16:
            _KEPT.clear()
        background = job.background()
        _KEPT[place] = background, [grounds_of(job.plan.units[n].unit, background, job.ontology) for n in share.units]
    return _KEPT[place]


def engine_of(job: Job, share: Share, **more: Any) -> LocalEngine:
    """The engine of a share's units; streams have the numbers that the job gives them."""
    units = tuple(job.plan.units[number] for number in share.units)
    program = Program(tuple(unit.unit for unit in units))
    places = {number: place for place, number in enumerate(share.units)}
    together = tuple(tuple(places[number] for number in group) for group in job.plan.shared if set(group) <= places.keys())
    background, grounds = _rests_on(job, share)
    engine = LocalEngine(
        program,
        job.options,
        background,
        ontology=job.ontology,
        key=job.key,
        plan=replace(job.plan, units=units, shared=together),
        grounds=grounds,
        **more,
    )
    engine.streams[:] = dict.fromkeys((*job.streams, *engine.streams))
    engine.reading.salt = secrets.randbits(38) * SALT_ROOM
    return engine


def run_events(
    job: Job,
    share: Share,
    bucket: int,
    blobs: Iterable[memoryview],
    report: DeadLetterTaker,
    using: Callable[[LocalEngine], None] = lambda engine: None,
) -> Sequence[Match]:
    """The matches of a share over the events of one bucket; of slices those that belong to it. `using` is given the engine."""
    engine = engine_of(job, share, dead_letter=report, notices=sent(report), counting=job.measured)
    using(engine)
    last = MIN_INSTANT
    for blob in blobs:
        batch, reached = unpack_batch(blob)
        last = max(last, reached)
        if batch is not None:
            engine.take(batch)
    # no further than the input: a report at the close of windows ends with it
    given = [found for found in (engine.advance(last), engine.finish()) if found]
    if share.slices is not None:
        given = [ending(found, partial(share.slices.owns, bucket)) for found in given]
    # as columns where they are: to make them one by one would cost more than to find them
    return sorted_matches(given[0] if len(given) == 1 else chain.from_iterable(given))


@dataclass(slots=True)
class Progress:
    """How far a program is."""

    step: int = 0
    """Counts up: an engine that has taken as many steps has seen the same."""
    reached: int = MIN_INSTANT
    """What is certain up to here has been told."""
    forgotten: int = 0
    """Events that were given and are no longer in the log."""
    answered: list[int] = field(default_factory=list)
    """The units that are ASK queries and have been answered."""
    log: list[tuple[int, int]] = field(default_factory=list)
    """Of each entry of the log: its greatest time, its events."""

    def written(self, of: str) -> bytes:
        """As bytes; `of` tells what program it is of."""
        told = {"step": self.step, "reached": self.reached, "forgotten": self.forgotten, "answered": self.answered}
        return pack({}, {**told, "log": self.log, "of": of, "state": _VERSION}, sealed=True)

    @classmethod
    def read(cls, data: bytes, of: str) -> Progress:
        """What `written` gave; raises ValueError for another version's or another program's."""
        _, meta = unpack(data)
        if meta.get("state") != _VERSION:
            raise ValueError(f"state of version {meta.get('state')}, but this is version {_VERSION}")
        if meta["of"] != of:
            raise ValueError("this is the state of another program, or of the same program with other options")
        log = [(time, events) for time, events in meta["log"]]
        return cls(meta["step"], meta["reached"], meta["forgotten"], meta["answered"], log)


_AT_HAND: dict[str, tuple[int, LocalEngine, list[str], list[tuple[str, bool]]]] = {}
"""Of each job: the steps that the engine has taken which this worker process used last, the engine, and where it says what it
has to say about the data, and about what it had to forget."""


class WholeProgram:
    """A program in its one place."""

    def __init__(
        self,
        job: Job,
        share: Share,
        progress: ValueState,
        log: ListState,
        certain: Callable[[Mapping[int, int], int], int],
        taken: int | None = None,
    ) -> None:
        """`log` holds the events as they came, and the watermark when they did: those behind it took no part. `certain`
        tells up to where answers are, given how far each stream's events reach and the watermark. `taken` is the memory
        that the process had before."""
        self.reached = MIN_INSTANT
        """The last time up to which answers have been given."""
        self._certain = certain
        self._job = job
        self._memory = partial(watched, WorkLimits(memory=job.options.work.memory), taken)
        self._share = share
        self._progress = progress
        self._log = log
        self._identity = job.state_of(share.number)
        self.notices: list[str] = []
        """What is to be said about the data, until somebody takes it from here."""
        self.let_go: list[tuple[str, bool]] = []
        """What limits have made it forget, and whether that is all it kept, until somebody takes it from here."""
        program = Program(tuple(job.plan.units[number].unit for number in share.units))
        self._horizon = horizon(program, job.kind, job.options.time_unit, job.options.policy)

    def step(self, blobs: Iterable[bytes], watermark: int) -> list[Match]:
        """Take packed events; the matches that are certain now."""
        before = self._progress.get()
        progress = Progress() if before is None else Progress.read(bytes(before[0]), self._identity)
        engine = self._engine(progress)
        reached: dict[int, int] = {}
        for blob in blobs:
            batch, _ = unpack_batch(blob)
            assert batch is not None
            reached = furthest(reached, reached_by(batch))
            wanted = batch.end >= watermark
            if wanted.any():
                with self._memory():
                    engine.take(batch, wanted)
                self._log.appendValue((watermark, blob))
                progress.log.append((int(batch.end.max()), batch.events))
        found: list[Match] = []
        until = self._certain(reached, watermark) - 1
        if until > progress.reached:
            with self._memory():
                if progress.reached < (begun := min(until, self._job.beginning.told - 1)):
                    found = self._fresh((match for match in engine.advance(begun) if match.boolean), progress)
                    engine.commit()
                found += self._fresh(engine.advance(until), progress)
                engine.commit()
            progress.reached = until
            self._forget(progress)
            self._empty(progress)
        self.reached = progress.reached
        progress.step += 1
        self._progress.update((progress.written(self._identity),))
        _AT_HAND[self._job.name] = (progress.step, engine, self.notices, self.let_go)
        return found

    def _engine(self, progress: Progress) -> LocalEngine:
        # taken out: an engine that a failed step has gone through half must not be found again
        step, engine, notices, let_go = _AT_HAND.pop(self._job.name, (-1, None, self.notices, self.let_go))
        if engine is not None and step == progress.step:
            self.notices, self.let_go = notices, let_go
            return engine
        heard = self.let_go
        engine = engine_of(
            self._job, self._share, notices=Notices(self.notices.append), numbered_from=progress.forgotten,
            shedding=lambda text, whole: heard.append((text, whole)),
        )  # fmt: skip
        if progress.log:
            for watermark, blob in self._log.get():
                batch, _ = unpack_batch(bytes(blob))
                assert batch is not None
                with self._memory():
                    engine.take(batch, batch.end >= watermark)
            with self._memory():
                engine.advance(progress.reached)
                engine.commit()
            self.let_go.clear()  # told when it was
        return engine

    def _empty(self, progress: Progress) -> None:
        """A unit has begun anew: so do all, whose events are one log. Those that wait for their time stay."""
        if any(whole for _, whole in self.let_go):
            waits = [time > progress.reached for time, _ in progress.log]
            later = [(max(mark, progress.reached + 1), blob) for mark, blob in compress(self._log.get(), waits)]
            progress.forgotten += sum(events for (_, events), kept in zip(progress.log, waits, strict=True) if not kept)
            progress.log = list(compress(progress.log, waits))
            self._log.put(later)

    def _fresh(self, matches: Iterable[Match], progress: Progress) -> list[Match]:
        """Without the answers of ASK queries that have been answered before."""
        found = []
        for match in matches:
            if match.boolean is not None:
                if match.query in progress.answered:
                    continue
                progress.answered.append(match.query)
            found.append(match)
        return found

    def _forget(self, progress: Progress) -> None:
        """Let go of events that concern nothing any more, once they are the greater part."""
        if self._horizon is None:
            return
        # the last event that answers have been given for, not the time they have been given up to: what left a window since
        # then is told (DSTREAM) when something next changes
        last = max((time for time, _ in progress.log if time <= progress.reached), default=None)
        if last is None:
            return
        live = [time > last - self._horizon for time, _ in progress.log]
        live[-1] = True  # time goes on from the last events, also where nothing else is left
        if 2 * sum(live) > len(live):
            return
        progress.forgotten += sum(events for (_, events), kept in zip(progress.log, live, strict=True) if not kept)
        self._log.put(list(compress(self._log.get(), live)))
        progress.log = list(compress(progress.log, live))
