"""Spark over a folder that is followed: the whole of it, and what a small micro-batch costs, beside one that does nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from scepter.api.on_spark import run as run_on_spark
from scepter.bench.contenders import Outcome, Work
from scepter.bench.contenders.spark import started, static_data
from scepter.bench.model import BATCH, STATE_BEFORE, STATE_LAST, Point
from scepter.runtime.queries import parse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def prepared(name: str) -> Work:
    """A session, started when the master is known."""
    return nothing if name == "empty-micro-batches" else live


def live(point: Point) -> Outcome:
    """The number of rows to the end of what is there."""
    rows = 0

    def count(found: DataFrame, number: int) -> None:
        nonlocal rows
        rows += found.count()

    [(stream, _)] = point.streams.items()
    found = run_on_spark(
        parse(point.query, point.language), started(point.master), {stream: _followed(point)}, **static_data(point)
    )
    progress = _progress(found.writeStream.foreachBatch(count))
    return Outcome(rows, extra=_told(progress))


class Nothing(StatefulProcessor):
    """A stateful operator that does nothing."""

    def init(self, handle: Any) -> None:
        """No state."""

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        """Takes the rows."""
        for _ in rows:
            pass
        return iter(())

    def close(self) -> None:
        """Nothing to close."""


def nothing(point: Point) -> Outcome:
    """The same files through an operator that does nothing: there is no answer to be wrong."""
    timed = _followed(point).selectExpr("cast(`end` % 2 as int) as place", "timestamp_millis(`end`) as at")
    places = timed.withWatermark("at", "0 seconds").groupBy("place")
    empty = places.transformWithStateInPandas(Nothing(), "place int", "Append", "EventTime")
    for _ in range(1, int(point.options.get("stages", 1))):
        empty = empty.groupBy("place").transformWithStateInPandas(Nothing(), "place int", "Append", "EventTime")
    return Outcome(point.answers, extra=_told(_progress(empty.writeStream.format("noop"))))


def _followed(point: Point) -> DataFrame:
    [(stream, path)] = point.streams.items()
    # the head of the input, which warms up, is a file, and the source follows folders
    folder = path if Path(path).is_dir() else str(Path(path).parent)
    reading = started(point.master).readStream.format("rdf").option("timestamps", "integer").option("stream", stream)
    return reading.option("maxFilesPerTrigger", str(point.options.get("files", 1))).load(folder)


def _progress(writing: Any) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as checkpoint:
        running = writing.option("checkpointLocation", checkpoint).outputMode("append").trigger(availableNow=True).start()
        running.awaitTermination()
        return [dict(each) for each in running.recentProgress if dict(each)["numInputRows"]]


def _told(progress: list[dict[str, Any]]) -> dict[str, float]:
    times = [each["durationMs"]["triggerExecution"] for each in progress]
    sizes = [sum(operator["memoryUsedBytes"] for operator in each["stateOperators"]) for each in progress]
    told = {BATCH: float(np.median(times[2:] or times or [0.0]))}
    if len(sizes) >= 4:
        told |= {STATE_BEFORE: float(max(sizes[1:-1])), STATE_LAST: float(sizes[-1])}
    return told
