"""A hot key of a followed run is split over several buckets: found in one micro-batch, used in the next, also by a driver that
comes back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import scepter
from batches import at_time, integer, quad
from scepter.runtime.spark.each_batch import mark_of
from scepter.runtime.spark.live_skew import SKEWED
from scepter.runtime.spark.telling import Record
from torture.kills import Run

QUERY = (
    "PREFIX : <http://example/>\nSELECT ?c ?x ?y WITHIN 8 SLIDING FROM STREAM S <http://example/s>\n"
    "WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?c :a ?x } DEFINE GPM B ON S { ?c :b ?y } }\n"
)
MANY = 36_000


def event(t: int) -> str:
    subject = "<http://example/hot>" if t % 2 else f"<http://example/x{t % 40}>"
    return at_time(f"e{t}", t) + quad(f"e{t}", subject, f"<http://example/{'ab'[t % 3 > 0]}>", integer(t))


@pytest.mark.slow
@pytest.mark.spark
def test_a_hot_key_is_split_and_nothing_is_lost_or_twice(tmp_path: Path) -> None:
    ends = [0, MANY, MANY + 500, MANY + 1000, MANY + 1500]
    texts = ["".join(map(event, range(1 + first, 1 + last))) for first, last in pairwise(ends)]
    run = Run(tmp_path, "spaseq", 1, texts)
    (tmp_path / "query").write_text(QUERY)
    run.start()
    try:
        for number in range(len(texts)):
            run.put(number)
            run.wait(number + 1)
            if number == 1:
                run.end_all()
                run.start()
        run.stop()
    finally:
        run.end_all()
    kept = Record(SKEWED, run.kept / "checkpoint")._kept.batches
    assert '"0": [[' in kept[-1][1]
    matches, letters = run.written()
    assert not letters
    found = Counter[tuple[int, int]]()
    for line, count in matches.items():
        told = json.loads(line)
        found[told["start"], told["end"]] += count
    check(found, texts, tmp_path)


@pytest.mark.slow
def test_a_program_splits_them_too_and_does_not_go_on_without_knowing_them(spark: SparkSession, tmp_path: Path) -> None:
    """Its second start learns what the first one has found; one whose driver tells nothing is stopped before it answers."""
    ends = [0, MANY, MANY + 500, MANY + 1000, MANY + 1500]
    texts = ["".join(map(event, range(1 + first, 1 + last))) for first, last in pairwise(ends)]
    events, state, found = tmp_path / "in", tmp_path / "state", Counter[tuple[int, int]]()
    events.mkdir()

    def write(rows: DataFrame, number: int) -> None:
        found.update((row["start"], row["end"]) for row in rows.collect())

    def go_on(*numbers: int, tells: bool = True) -> None:
        table = spark.readStream.format("rdf").option("timestamps", "integer").load(str(events))
        writing = scepter.run(scepter.parse(QUERY), spark, {"S": table}, checkpoint=state).writeStream
        writing = writing.foreachBatch(scepter.each_batch(write, spark, state) if tells else write)
        running = writing.option("checkpointLocation", str(state)).start()
        try:
            for number in numbers:
                (tmp_path / "draft").write_text(texts[number])
                (tmp_path / "draft").rename(events / f"{number}.nq")
                running.processAllAvailable()
        finally:
            running.stop()

    go_on(0, 1)
    ((_, text),) = Record(SKEWED, state)._kept.batches
    assert '"0": [[' in text
    go_on(2)
    before = found.total()
    told = SKEWED.named(mark_of(state))
    spark.sparkContext.setLocalProperty(told, None)  # type: ignore[arg-type]  # as in a process that begins
    with pytest.raises(StreamingQueryException, match="split over several buckets, and this run does not know which"):
        go_on(3, tells=False)
    assert found.total() == before
    (events / "3.nq").unlink()
    go_on(3)
    check(found, texts, tmp_path)


def check(found: Counter[tuple[int, int]], texts: Sequence[str], folder: Path) -> None:
    """Each match once, as in this process; the last ones wait for time to pass."""
    (folder / "all.nq").write_text("".join(texts))
    certain = MANY + 1400
    wanted = Counter(
        (match.start, match.end) for match in scepter.run_local(scepter.parse(QUERY), streams={"S": str(folder / "all.nq")})
    )
    assert {at: n for at, n in found.items() if at[1] < certain} == {at: n for at, n in wanted.items() if at[1] < certain}
