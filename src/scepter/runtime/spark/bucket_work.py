"""A unit in a bucket on Spark: rows that wait for their time, the operators above them, and their state as one blob.

State is what the operators write of themselves, with rows that wait for their time, what all of them were made of, and the
texts they refer to: one sealed blob a bucket, in one form for every unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from scepter.errors import DataError
from scepter.kernel.entailment.closure import entailed_background
from scepter.kernel.entailment.entailed_batch import EntailedEvents
from scepter.kernel.interrupts import bounded_rows
from scepter.kernel.rows import Int64, Mask, Rows, UInt64, concat
from scepter.kernel.scan.intake import Intake
from scepter.kernel.state.container import pack, unpack
from scepter.kernel.state.shipping import furthest, reached_by, split_rows, unpack_rows
from scepter.kernel.static.background import Background
from scepter.kernel.texts import FIXED, Texts
from scepter.ontology.schema import compiled
from scepter.physical.distribution.cutting import ADDED, numbers_above
from scepter.physical.distribution.partitioning import asks
from scepter.physical.metrics import Metrics
from scepter.physical.nodes.instant_nodes import Paired
from scepter.physical.nodes.nodes import Node, Received, nodes
from scepter.physical.plan import UnitPlan
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.terms import IRI
from scepter.runtime import refusals
from scepter.runtime.event_grounds import EventGrounds
from scepter.runtime.matches import Match
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.registry import TaskSetup, grounds_of, task_of
from scepter.runtime.scanning import Scanner, name_parts
from scepter.runtime.spark.arrivals import Arrivals
from scepter.runtime.spark.live_skew import Counted
from scepter.runtime.spark.sending import Part, Sending
from scepter.runtime.spark.skew import HotKey, hot_key_at, places_of
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

if TYPE_CHECKING:
    from scepter.runtime.spark.jobs import Job
    from scepter.runtime.spark.shares import Share

_Made = TypeVar("_Made")
STATE_FORM = 1
STRETCH_ROWS = 1 << 16
"""So many rows of a bucket are processed together."""
_COMPACT_FROM = 64 << 20


class BucketWork:
    """Both halves of one unit of a job; a worker uses the one that it is asked for."""

    by_start = False
    """Whether an answer belongs to the slice of its start, not of its end."""

    every = False
    """Whether every bucket hears how far time is, over history."""

    def __init__(
        self, job: Job, share: Share, below: Sequence[Node], unit: UnitPlan, texts: Texts, like: BucketWork | None, bucket: int
    ) -> None:
        """`below` runs where events are read; `unit` reads what crosses the shuffle. What is the same for all buckets is taken
        from `like`."""
        self.job = job
        self.share = share
        self.bucket = bucket
        self.texts = texts
        if like is None:
            schema = compiled(job.ontology) if unit.entailed else None
            flattened = None if schema is None else schema.flattened()
            self._entailing = None if flattened is None else EntailedEvents(flattened, job.key)
            known = job.background()
            self.background: Background = known if schema is None else entailed_background(known, schema)
        else:
            self._entailing, self.background = like._entailing, like.background
        self.grounds: EventGrounds | None = (
            grounds_of(unit.unit, self.background, job.ontology) if like is None else like.grounds
        )
        """Of events: who recognises them."""
        setup = TaskSetup(
            job.kind, job.options, self.background, job.ontology, texts, lambda: job.streams, shown_event, lasting=True,
            key=job.key, measured=job.measured, grounds=self.grounds,
        )  # fmt: skip
        self.root = job.plan.units[share.units[0]].root
        """Of the whole plan."""
        self._sending = Sending(job, share, texts, first=asks(unit)) if share.to else None
        made = task_of(unit, setup)
        assert isinstance(made, Pipeline)
        made.around.cell.sides, made.around.cell.number = share.sides, bucket
        self.pipeline: Pipeline = made
        if self._sending is not None:
            made.owned = self._sending.take
        name_parts((self.root,) if share.sources else below, made.around, job.streams)
        self._below = below
        self._scanner: Scanner | None = None
        self._ties = any(isinstance(node, Paired) for node in made.nodes)
        self._arrived: Arrivals | None = None
        self._reached = MIN_INSTANT

    # ---------------------------------------------------------------- where events are read

    def solve(
        self, batches: Iterable[EventBatch], number: int, report: DeadLetterTaker = lambda letter: None
    ) -> Iterator[tuple[int, int, bytes]]:
        """(bucket, greatest time, packed rows) of batches whose events are numbered from `number` on; `report` takes those
        that cannot be used, and what there is to say."""
        if self._below:
            found, reached, last = self._scanned(batches, number, report)
            self._tell(found, report)
            yield from self._sent(found, reached, last)
            self._forget()

    def _sent(self, found: Sequence[Rows], reached: Mapping[int, int], last: int) -> Iterator[tuple[int, int, bytes]]:
        """(place, greatest time, packed rows) of what was read."""
        return self._split(self._parts(found), places_of(self.share, self.hot), reached, last)

    def _split(
        self, parts: Sequence[Part], places: int, reached: Mapping[int, int], last: int
    ) -> Iterator[tuple[int, int, bytes]]:
        around = self.pipeline.around
        return split_rows(
            parts, places, self.texts, around.lineage, reached, last, every=self.every and not self.job.live,
            events=around.events, graphs=around.graphs,
        )  # fmt: skip

    def _tell(self, found: Sequence[Rows], report: DeadLetterTaker) -> None:
        """What there is to say of what was read."""

    def _parts(self, found: Sequence[Rows]) -> list[Part]:
        """The rows of each exchange with the place of each row."""
        raise NotImplementedError

    def _keyed(self, found: Sequence[Rows]) -> list[tuple[Rows, UInt64]]:
        """The rows of exchanges with their keys; the same array where exchanges share it."""
        raise NotImplementedError

    def _scanned(
        self, batches: Iterable[EventBatch], number: int, report: DeadLetterTaker = lambda letter: None
    ) -> tuple[list[Rows], dict[int, int], int]:
        """What is made of events, by exchange; how far streams have reached; the last time."""
        if self._scanner is None:
            self._scanner = Scanner(self._below, self.pipeline.around, self.job.streams, measured=self.job.measured)
        reached: dict[int, int] = {}
        last = MIN_INSTANT
        parts: list[list[Rows]] = [[] for _ in self._below]
        for intake, wanted in self._intakes(batches, number):
            for scanned in self._bounded(self._scanner.scan, intake, wanted, report):
                for rows, mine in zip(scanned, parts, strict=True):
                    mine.append(rows)
            if int(intake.batch.stream[0]) not in self.job.made:
                last = max(last, int(intake.batch.end.max()))
            reached = furthest(reached, reached_by(intake.batch))
        return _together([len(node.schema.variables) for node in self._below], parts), reached, last

    def _reading(self) -> tuple[Sequence[Node], list[Metrics]]:
        """The operators that run where events are read, and what each has done."""
        return ([], []) if self._scanner is None else (self._scanner.nodes, self._scanner.metrics)

    def keys(self, batches: Iterable[EventBatch]) -> tuple[UInt64, Int64]:
        """The keys and the times of what crosses to buckets; of what exchanges share, once."""
        keys, times = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
        found, *_ = self._scanned(batches, 0)
        for rows, key in {id(key): (rows, key) for rows, key in self._keyed(found)}.values():
            keys.append(key)
            times.append(rows.end)
        self._forget()
        return np.concatenate(keys), np.concatenate(times)

    def _forget(self) -> None:
        """Let go of what was made of events, and of their texts; those that operators hold stay."""
        around = self.pipeline.around
        around.lineage.truncate(0)
        around.graphs.clear()
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

    @property
    def _named(self) -> bool:
        """Whether the names of events are of use."""
        return self.job.parts

    def _intakes(self, batches: Iterable[EventBatch], number: int) -> Iterator[tuple[Intake, Mask]]:
        """Batches whose events are numbered from `number` on, with all that their triples entail; and which of the events are
        seen."""
        for batch in batches if self._entailing is None else map(self._entailing, batches):
            wanted = np.ones(batch.events, np.bool_) if self.job.start is None else batch.end >= self.job.start
            yield Intake(batch, self.texts.add(batch), number, named=self._named), wanted
            number += batch.events

    def _bounded(
        self, solve: Callable[[Intake, Mask], _Made], intake: Intake, wanted: Mask, report: DeadLetterTaker
    ) -> Iterator[_Made]:
        """What `solve` makes of the wanted events: in one piece; or, where that is more rows of an instant than an operator
        may make, live, in several: events are halved until the one is found that alone makes too many, a dead letter. Over
        history that ends the run."""
        most = self.job.options.work.rows
        try:
            with bounded_rows(most):
                made = solve(intake, wanted)
        except DataError as error:
            if error.code != "max-runs" or not self.job.live:
                raise
        else:
            yield made
            return
        events, batch = np.flatnonzero(wanted), intake.batch
        if len(events) == 1:
            (event,) = events
            reason = refusals.too_many_rows(int(batch.end[event]), most or 0, self.job.kind)
            report(DeadLetter(self.job.streams[int(batch.stream[event])].value, None, reason))
            return
        for half in np.array_split(events, 2):
            some = np.zeros(len(wanted), np.bool_)
            some[half] = True
            yield from self._bounded(solve, intake, some, report)

    # ---------------------------------------------------------------- in a bucket

    def accept(self, blob: bytes | memoryview, watermark: int = MIN_INSTANT) -> Mapping[int, int]:
        """Take packed rows that are not behind the watermark; how far streams have reached. What several exchanges share stays
        shared."""
        around = self.pipeline.around
        numbered = self._arrivals().numbered if self._ties and self.job.live else None
        exchanges, reached, last, graphs = unpack_rows(blob, self.texts, around.lineage, around.events, numbered)
        around.graphs.update(graphs)
        self._reached = max(self._reached, last)
        kept = {id(rows): rows for rows in exchanges}
        for key, rows in kept.items():
            late = rows.end < watermark
            kept[key] = rows.take(~late) if late.any() else rows
        for place, rows in enumerate(exchanges):
            self.pipeline.accept(place, kept[id(rows)])
        return reached

    def _arrivals(self) -> Arrivals:
        """How events are counted here: a work takes one micro-batch, with what was kept of those before."""
        if self._arrived is None:
            self._arrived = Arrivals(self.pipeline.around.lineage)
        return self._arrived

    def sent(self) -> list[tuple[int, bytes]]:
        """(place, packed rows) of what goes on to other stages: to be asked for behind each of the steps of `released`."""
        return [] if self._sending is None else list(self._sending.packed(self.pipeline))

    def read_work(self) -> dict[int, Metrics]:
        """What operators have done where events are read, by their numbers in the plan, since it was last asked."""
        numbers = {id(node): number for number, node in enumerate(nodes(self.root))}
        run, work = self._reading()
        found = {numbers[id(node)]: each for node, each in zip(run, work, strict=True)}
        work[:] = [Metrics() for _ in work]
        return found

    def bucket_work(self) -> dict[int, Metrics]:
        """What operators have done in a bucket, by their numbers in the plan. What makes the rows that are received here has
        kept them, and was given nothing here."""
        found: dict[int, Metrics] = {}
        for number, node, work in zip(self._numbers(), self.pipeline.nodes, self.pipeline.metrics, strict=True):
            is_received = isinstance(node, Received)
            if isinstance(node, ADDED):
                continue
            mine = Metrics(kept_most=work.kept_most, memory=work.memory) if is_received else work
            found[number] = Metrics.together([found[number], mine]) if number in found else mine
        return found

    @property
    def exchanges(self) -> list[int]:
        """The numbers of the operators whose rows cross to buckets."""
        numbered = zip(self._numbers(), self.pipeline.nodes, strict=True)
        return [number for number, node in numbered if isinstance(node, Received)]

    def _numbers(self) -> list[int]:
        return numbers_above(self.root, self.pipeline.nodes[-1])

    @property
    def received(self) -> int:
        """Rows that it was given of the exchanges."""
        nodes = zip(self.pipeline.nodes, self.pipeline.metrics, strict=True)
        return sum(work.rows_out for node, work in nodes if isinstance(node, Received))

    def counted(self) -> Counted | None:
        """How many rows of what was read last the keys have that may be hot; None where nobody asks."""
        return None

    def begun(self, until: int) -> Iterator[Sequence[Match]]:
        """What is told of the time before a run began: whether what is asked for has happened, and nothing else. What goes on
        to other stages is told there."""
        if self.pipeline.closed < until and not (self.share.to or self.share.feeds):
            for matches in self.released(until):
                yield [match for match in matches if match.boolean]

    def released(self, until: int) -> Iterator[Sequence[Match]]:
        """The matches that are certain up to a time, stretch by stretch."""
        for time in self.pipeline.stretches(STRETCH_ROWS):
            if time < until:
                yield self.pipeline.release(time, time)
                self.pipeline.commit()
        yield self.pipeline.release(until, until)
        self.pipeline.commit()

    @property
    def hot(self) -> Sequence[HotKey]:
        """The keys that have places of their own."""
        return self.job.hot.get(self.share.number, ())

    def ended(self) -> Iterator[Sequence[Match]]:
        """All matches of its bucket, or those that a hot key's place owns: the input has ended."""
        hot, bucket = hot_key_at(self.hot, self.bucket), self.bucket
        if hot is not None:
            by_start, slices = self.by_start, hot.cut(before=False, after=False)
            self.pipeline.owned = lambda rows: rows.take(slices.owns(bucket, rows.start if by_start else rows.end))
        yield from self.released(self._last())
        yield self.pipeline.finish()

    def _last(self) -> int:
        """How far time has come when the input ends."""
        return MAX_INSTANT - 1

    @property
    def idle(self) -> bool:
        """Whether it keeps nothing."""
        return self.pipeline.idle

    # ---------------------------------------------------------------- state

    def dump(self, of: str) -> bytes:
        """Its state; `of` tells what it is of."""
        arrays, meta = self.pipeline.dump()
        holding = [name for name in arrays if _holds_refs(name)]
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
        base = self.texts.insert(arrays.pop("texts").tobytes())
        for name, array in arrays.items():
            if _holds_refs(name):
                arrays[name] = np.where((array >= 0) & (array < FIXED), array + base, array)
        self.pipeline.load(arrays, meta["unit"])


def _together(widths: Sequence[int], parts: Sequence[Sequence[Rows]]) -> list[Rows]:
    """The rows of all batches by exchange; what several exchanges share stays shared."""
    places = [(width, *map(id, mine)) for width, mine in zip(widths, parts, strict=True)]
    found = {place: concat(mine, place[0]) for place, mine in dict(zip(places, parts, strict=True)).items()}
    return [found[place] for place in places]


def _holds_refs(name: str) -> bool:
    return name == "lineage.values" or name.rsplit(".", 1)[-1] in ("refs", "names", "name")


def shown_event(number: int, name: str | None) -> object:
    """What a match shows for an event."""
    if isinstance(name, IRI):
        return name.value
    return name.removeprefix("_:") if name is not None else f"#{number}"
