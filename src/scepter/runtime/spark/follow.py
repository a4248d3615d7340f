"""Following live input: micro-batches handed over one by one, a stop between two of them, and how the run is doing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from scepter.runtime.matches import Match
from scepter.runtime.queries import Query
from scepter.runtime.spark.answers import batch_answers, faults_told
from scepter.runtime.spark.streaming import observed
from scepter.runtime.spark.telling import Record

Take = Callable[[int, Sequence[Match]], None]
"""Takes the matches of the micro-batch of that number; a number may come again after a crash."""
_LOOK: Final = 0.5
_LAST_BATCH: Final = 60.0
_SLOW_START: Final = "Python worker failed to connect back"
"""What ends a query whose worker has not started within ten seconds, which Spark has no setting for."""
_STARTS: Final = 6
"""So often a query is started whose workers are slow, without a micro-batch between."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a followed run is doing."""

    events: int
    """Read since it started."""
    per_second: float
    watermark: str | None
    """As Spark tells it, ISO 8601."""
    state_rows: int
    state_bytes: int
    late: int = 0
    """Events behind the watermark when they came."""


@dataclass(slots=True)
class _Tally:
    batch: int = -1
    events: int = 0
    per_second: float = 0.0
    late: int = 0


def follow(
    found: DataFrame,
    query: Query,
    take: Take,
    *,
    checkpoint: str,
    stop: threading.Event,
    every: str | None = None,
    told: Sequence[Record] = (),
    tell: Callable[[Standing], None] = lambda standing: None,
    clock: Callable[[], float] = time.monotonic,
    tell_every: float = 5.0,
) -> None:
    """Runs until `stop` is set, and then ends behind a whole micro-batch. `every` is the least time between two of them;
    tasks are `told` what these know."""

    def hand_over(batch: DataFrame, number: int) -> None:
        take(number, batch_answers(batch, query))
        for record in told:  # in the thread of the JVM that begins the next micro-batch
            record.tell(batch.sparkSession.sparkContext)

    for record in told:
        record.tell(found.sparkSession.sparkContext)

    writing = found.writeStream.foreachBatch(hand_over).option("checkpointLocation", checkpoint).outputMode("append")
    writing = writing if every is None else writing.trigger(processingTime=every)
    tally, last_told, slow = _Tally(), clock(), 0

    def watch(running: StreamingQuery) -> None:
        nonlocal last_told
        try:
            while not stop.wait(_LOOK) and running.isActive:
                standing = _standing(running, tally)
                if standing is not None and clock() - last_told >= tell_every:
                    last_told = clock()
                    tell(standing)
            if not stop.is_set():
                running.awaitTermination()  # raises what ended it
        finally:
            _end(running, clock)
            last = _standing(running, tally)
        if last is not None:
            tell(last)

    with faults_told(checkpoint):
        while True:
            before = tally.batch
            try:
                return watch(writing.start())
            except PySparkException as error:  # the machine is busy: the checkpoint knows where to go on
                slow = 1 if tally.batch > before else slow + 1
                if _SLOW_START not in str(error) or slow >= _STARTS:
                    raise


def _end(running: StreamingQuery, clock: Callable[[], float]) -> None:
    """Stops behind the current micro-batch, or after a minute within it: the checkpoint knows where to go on either way."""
    current, patience = _finished(running), clock() + _LAST_BATCH
    while running.isActive and running.status["isTriggerActive"] and _finished(running) == current and clock() < patience:
        time.sleep(_LOOK / 10)
    running.stop()


def _finished(running: StreamingQuery) -> int:
    last: Any = running.lastProgress
    return -1 if last is None else int(last["batchId"])


def _standing(running: StreamingQuery, tally: _Tally) -> Standing | None:
    for progress in running.recentProgress:
        if progress["batchId"] > tally.batch:
            tally.batch = progress["batchId"]
            seen = observed(progress)
            tally.events += seen.events
            tally.late += seen.late
            tally.per_second = 1000 * seen.events / max(1, progress["durationMs"].get("triggerExecution", 0))
    last: Any = running.lastProgress
    if last is None:
        return None
    operators = last["stateOperators"]
    return Standing(
        events=tally.events,
        per_second=tally.per_second,
        watermark=last["eventTime"].get("watermark"),
        state_rows=sum(each["numRowsTotal"] for each in operators),
        state_bytes=sum(each["memoryUsedBytes"] for each in operators),
        late=tally.late,
    )
