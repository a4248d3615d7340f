"""Yardstick: Spark's own join of two streams, over the same text, followed as a folder."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from scepter.bench.contenders import Outcome, Work
from scepter.bench.contenders.spark import started
from scepter.bench.model import Point

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def prepared(name: str) -> Work:
    """A session, started when the master is known."""
    return run


def run(point: Point) -> Outcome:
    """The text joins the streaming view `lines` with itself."""
    rows = 0

    def count(found: DataFrame, number: int) -> None:
        nonlocal rows
        rows += found.count()

    spark = started(point.master)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as checkpoint:
        [path] = point.streams.values()
        shutil.copy(path, Path(folder) / "lines.nq")
        spark.readStream.text(folder).createOrReplaceTempView("lines")
        *before, query = [part for part in point.yardsticks["spark-join"].split(";") if part.strip()]
        for statement in before:
            spark.sql(statement)
        writing = spark.sql(query).writeStream.foreachBatch(count).option("checkpointLocation", checkpoint)
        writing.outputMode("append").trigger(availableNow=True).start().awaitTermination()
    return Outcome(rows)
