"""A bucket of a live run: a kernel restored from Spark's state store, stepped, and put back.

A bucket's state is one versioned blob (`bucket_work`). Solutions wait in it until they are certain; a timer wakes the bucket
when the watermark has passed them, also when no event comes. What is behind the watermark on arrival is late.

Spark moves its watermark when a micro-batch is done. All events of the micro-batch are here before, and where it will move to
is seen from their times: so far answers are given at once, instead of all events going to the state store and back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import ListState, StatefulProcessorHandle, ValueState

from scepter.errors import DataError
from scepter.kernel.state.container import pack, unpack
from scepter.kernel.state.shipping import furthest
from scepter.physical.distribution.partitioning import asks
from scepter.runtime.matches import Match
from scepter.runtime.notices import SKEW
from scepter.runtime.spark.advance import known_after, known_before, left_behind, written
from scepter.runtime.spark.feeding import constructed
from scepter.runtime.spark.group_keys import at_place, placed, undone
from scepter.runtime.spark.jobs import Job, Work, new_work
from scepter.runtime.spark.live_skew import NOTHING
from scepter.runtime.spark.live_skew import known_after as hot_after
from scepter.runtime.spark.shares import Share
from scepter.runtime.spark.tables import match_table
from scepter.runtime.spark.whole import WholeProgram
from scepter.runtime.work import BROKEN_OFF, taken, watched
from scepter.timeline import MIN_INSTANT, TimeKind

_Step = TypeVar("_Step")
_ROWS: Final = 8192
_NOBODYS: Final = undone(-1)
"""The place of what no bucket takes."""
_PACKED: Final = pa.ipc.IpcWriteOptions(compression="lz4")
"""Rows go through the JVM twice on their way out, and their terms repeat each other: a tenth of the bytes."""
FOUND: Final = "place int, blob binary, made binary, rows binary, matches bigint, late bigint, letters binary"
"""What a bucket gives. To the buckets behind it, with their place: what was read for them, and rows that were made for them.
For nobody there, in a place of no bucket: rows of the result as an Arrow stream, how many, how many late events, and their
times."""


def ticks_per_millisecond(job: Job) -> int:
    """How Spark, which tells time in milliseconds, is told a run's times: a tick of an integer timeline counts as one unless
    it is a microsecond, so that small numbers move the watermark."""
    return 1000 if job.kind is TimeKind.DATETIME or job.options.time_unit == "us" else 1


def patience(job: Job) -> int:
    """How many of Spark's milliseconds events may be late."""
    return -(-(job.options.delay_on(job.kind) or 0) // ticks_per_millisecond(job))


class Bucket:
    """The kernels of the buckets that a task sees, one after the other; Spark's handle is always that of the current one."""

    def __init__(
        self,
        job: Job,
        schema: pa.Schema,
        handle: StatefulProcessorHandle,
        state: ValueState,
        answered: ValueState,
        log: ListState | None = None,
        depth: int = 0,
    ) -> None:
        """`depth`: how many stateful parts lie before this one."""
        self._job = job
        self._depth = depth
        self._at = (0, 0)
        """The share and the bucket that it is at."""
        self._schema = schema
        self._handle = handle
        self._state = state
        self._answered = answered
        self._scale = ticks_per_millisecond(job)
        self._whole: WholeProgram | None = None
        self._taken = None if job.options.work.memory is None else taken()
        """What the process had before it kept anything."""
        self._let_go: list[str] = []
        """What limits have made it forget, until it is told."""
        if log is not None and job.whole is not None:
            self._whole = WholeProgram(job, job.whole, state, log, self.certain, self._taken)
        self._marks = [job.state_of(share.number) for share in job.shares]

    def given(self, key: int, frames: Iterable[pd.DataFrame], milliseconds: int) -> Iterator[pd.DataFrame]:
        """What Spark has for a group: what is not for here passes, found already or for the buckets behind these."""
        share, _ = self._at = at_place(self._job.buckets, key)
        if self._job.shares[share].depth != self._depth if share >= 0 else self._depth > 0:
            for frame in frames:
                yield _passed(frame)
            return
        blobs, made = [], []
        for frame in frames:
            blobs += [bytes(blob) for blob in frame["blob"].dropna()]
            made += [bytes(blob) for blob in frame["made"].dropna()] if self._depth else []
        yield from self._take(blobs, self._ticks(milliseconds), made)

    def _take(self, blobs: Iterable[bytes], watermark: int, made: Iterable[bytes]) -> Iterator[pd.DataFrame]:
        """Take packed solutions, and what other stages have made, and release what the watermark has passed."""
        if self._at[0] < 0:
            yield from self._times(blobs, watermark, self._checked())
        elif self._is_whole():
            yield from self._step_whole(blobs, watermark)
        elif not self._is_answered():
            work = self._restored()
            reached: dict[int, int] = {}
            # what is made of punctual events is, whenever it is known
            given = chain(((blob, watermark) for blob in blobs), ((blob, MIN_INSTANT) for blob in made))
            for part in given:  # one that is broken off leaves the others
                for each in self._within(work, map(work.accept, *zip(part, strict=True))):
                    reached = furthest(reached, each)
            # stages that follow each other go with the watermark: then all rows up to it are there, from whatever bucket
            alone = not (work.share.to or work.share.feeds or work.share.depth)
            yield from self._step(work, self.certain(reached, watermark) if alone else watermark)

    def _checked(self) -> dict[str, Any]:
        """The place that hears of every micro-batch keeps what the state is of: another run stops here, before it answers."""
        kept, identity = self._state.get(), self._job.identity
        if kept is None:
            told = {} if identity is None else json.loads(identity.written())
            return {**told, SKEW: dict(NOTHING)}
        if identity is not None and (refused := identity.refusal(bytes(kept[0]), "the checkpoint")) is not None:
            raise DataError(refused)
        found: dict[str, Any] = json.loads(bytes(kept[0]))
        return found

    def wake(self, key: int, milliseconds: int) -> Iterator[pd.DataFrame]:
        """The watermark has moved: release what it has passed."""
        self._at, watermark = at_place(self._job.buckets, key), self._ticks(milliseconds)
        if self._is_whole():
            yield from self._step_whole((), watermark)
        elif not self._is_answered():
            yield from self._step(self._restored(), watermark)

    def _is_whole(self) -> bool:
        return self._whole is not None and self._share is self._job.whole

    @property
    def _share(self) -> Share:
        return self._job.shares[self._at[0]]

    def _step_whole(self, blobs: Iterable[bytes], watermark: int) -> Iterator[pd.DataFrame]:
        whole = self._whole
        assert whole is not None
        yield from self._rows(whole.step(blobs, watermark))
        while whole.notices:
            yield _found(letters=pack({}, {"notice": whole.notices.pop(0)}))
        while whole.let_go:
            yield _found(letters=pack({}, {"limit": whole.let_go.pop(0)[0]}))
        self._sleep()
        self._handle.registerTimer(max(whole.reached + 1, watermark, 0) // self._scale + 1)  # as soon as time moves on

    def _times(self, blobs: Iterable[bytes], watermark: int, kept: dict[str, Any]) -> Iterator[pd.DataFrame]:
        """All times of a micro-batch: which are late, how far they move time on, and which keys are hot."""
        parts, told = zip(*map(unpack, blobs), strict=True)
        stream = np.concatenate([np.empty(0, np.int64), *(part["stream"] for part in parts)])
        time = np.concatenate([np.empty(0, np.int64), *(part["time"] for part in parts)])
        if SKEW in kept:  # a version before did not keep how far events had come
            kept[SKEW], news = hot_after(self._job, kept[SKEW], [each["counted"] for each in told], int(time.max()))
            if news is not None:
                yield _found(letters=pack({}, {SKEW: news}))
        self._state.update((json.dumps(kept, ensure_ascii=False).encode(),))
        late = time < watermark
        if late.any():
            behind = pack({"stream": stream[late], "time": time[late]}, {"watermark": watermark})
            yield _found(late=int(late.sum()), letters=behind)
            for notice in left_behind(self._job, stream, time, watermark):
                yield _found(letters=pack({}, {"notice": notice}))
        if (known := known_before(self._job)) is not None:
            after, notices = known_after(self._job, known, stream, time)
            yield _found(letters=pack({}, {"times": written(after)}))
            for notice in notices:
                yield _found(letters=pack({}, {"notice": notice}))

    def certain(self, reached: Mapping[int, int], watermark: int) -> int:
        """Where Spark's watermark will stand behind a micro-batch with events up to these times, or a time before that."""
        wait = self._job.options.idle_streams == "wait"
        if self._job.options.max_advance is not None:  # not all of them may move it
            return watermark
        if not reached or (wait and len(reached) < len(self._job.streams)):
            return watermark
        furthest = min(reached.values()) if wait else max(reached.values())
        return max(watermark, self._ticks(furthest // self._scale - patience(self._job)))

    def _rows(self, matches: Sequence[Match]) -> Iterator[pd.DataFrame]:
        """Rows as values of some megabytes: nested columns would go through pandas, which knows none."""
        for batch in match_table(matches, self._schema, _ROWS):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, self._schema, options=_PACKED) as writer:
                writer.write_batch(batch)
            # in as many places as they come from: where others are behind this part, they pass there
            place = placed(self._job.buckets, -1 - self._at[0], self._at[1])
            yield _found(place, rows=sink.getvalue().to_pybytes(), matches=batch.num_rows)

    def _asks(self, share: Share) -> bool:
        return any(asks(self._job.plan.units[unit]) for unit in share.units)

    def _is_answered(self) -> bool:
        return self._asks(self._share) and self._answered.get() is not None

    def _restored(self) -> Work:
        work = new_work(self._job, self._share, self._at[1])
        if (kept := self._state.get()) is not None:
            work.restore(bytes(kept[0]), self._marks[work.share.number])
        return work

    def _step(self, work: Work, watermark: int) -> Iterator[pd.DataFrame]:
        if watermark > MIN_INSTANT:
            begun = work.begun(min(watermark, self._job.beginning.told) - 1)
            for matches in self._within(work, chain(begun, work.released(watermark - 1))):
                sent = work.sent()
                if work.share.feeds:  # what others read is no answer
                    sent += constructed(self._job, work.share, matches, lambda letter: self._let_go.append(letter.reason))
                    matches = ()
                yield from self._rows(matches)
                for place, blob in sent:
                    yield _found(place, made=blob)
                if (matches or sent) and self._asks(work.share):
                    self._answered.update((True,))
                    self._state.clear()
                    self._sleep()
                    return
        self._sleep()
        if self._job.options.work.runs is not None:
            self._shed(work, self._job.options.work.runs)
        while self._let_go:
            yield _found(letters=pack({}, {"limit": self._let_go.pop(0)}))
        if work.idle:
            self._state.clear()
        else:
            self._state.update((work.dump(self._marks[work.share.number]),))
            self._wake(work.next_due(watermark), watermark)

    def _within(self, work: Work, steps: Iterator[_Step]) -> Iterator[_Step]:
        """What steps give, each within its seconds and its memory; where one asks for more, the bucket begins anew."""
        limits = self._job.options.work
        while True:
            try:
                with watched(limits, self._taken):  # Spark's own work is not interrupted: it would not know where it was
                    step = next(steps, None)
            except DataError as error:
                if error.code not in BROKEN_OFF:
                    raise
                why = BROKEN_OFF[error.code].format(limits.seconds, limits.memory, limits.rows)
                self._begin_anew(work, why, waiting=error.code != "max-memory")  # what waits may be what fills it
                return
            if step is None:
                return
            yield step

    def _begin_anew(self, work: Work, why: str, *, waiting: bool = True) -> None:
        work.pipeline.begin_anew(waiting=waiting)
        self._let_go.append(f"query {work.share.units[0] + 1}: {why}; its bucket begins anew, without the events before")

    def _shed(self, work: Work, most: int) -> None:
        """Let go of keys that keep too much; where they cannot be told apart, the bucket begins anew."""
        query, gone = work.share.units[0] + 1, work.pipeline.shed(most)
        if gone is None:
            self._begin_anew(work, f"more than {most} rows of state (--max-runs)")
        self._let_go += [f"query {query}: {each} are more than {most} (--max-runs), and let go" for each in gone or ()]

    def _sleep(self) -> None:
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)

    def _wake(self, due: int | None, watermark: int) -> None:
        """One timer, at the first time at which something can be released."""
        if due is not None:
            # when the watermark is beyond it; Spark takes no timer that is due already, and its watermark starts at 0
            self._handle.registerTimer(max(due, watermark, 0) // self._scale + 1)

    def _ticks(self, milliseconds: int) -> int:
        return MIN_INSTANT if milliseconds <= 0 else milliseconds * self._scale


def _found(place: int = _NOBODYS, **given: object) -> pd.DataFrame:
    nothing = {"place": place, "blob": None, "made": None, "rows": None, "matches": 0, "late": 0, "letters": None}
    return pd.DataFrame({name: [given.get(name, default)] for name, default in nothing.items()})


def _passed(frame: pd.DataFrame) -> pd.DataFrame:
    """What is for the buckets behind these, as these give it."""
    if "made" in frame:
        return frame
    return pd.concat([_found(place, blob=blob) for place, blob in zip(frame["place"], frame["blob"], strict=True)])
