"""Tables of format rdf, read as the query needs them: the same answers, and only packed solutions leave the source."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from batches import at_time, integer, quad
from scepter.api.on_spark import run
from scepter.physical.facts import Facts
from scepter.physical.planning.planner import plan
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.bucket import Bucket
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.pushdown import Packing, source_options
from scepter.runtime.spark.shipped_background import ShippedBackground
from scepter.runtime.spark.streaming import observed
from scepter.timeline import MIN_INSTANT, TimeKind

PAIR = """PREFIX : <http://e/>
SELECT ?v ?w WITHIN 10 SLIDING FROM STREAM S <http://e/S> WHERE {
  SEQ (A ; B)
  DEFINE GPM A ON S { :s :a ?v }
  DEFINE GPM B ON S { :s :b ?w }
}"""


def job(streams: Sequence[str] = ("http://e/S",), kind: TimeKind = TimeKind.INTEGER, **options: Any) -> Job:
    return Job(
        "j", plan(parse(PAIR, "spaseq").program, Facts(kind)), RunOptions.of(**options), kind, TermKey.fixed(),
        tuple(IRI(iri) for iri in streams), ShippedBackground((), ()), (), 4, live=True,
    )  # fmt: skip


def text(times: Sequence[int]) -> str:
    """An event a time: those of even times have :a, the others :b, each its time."""
    pairs = [(t, "<http://e/b>" if t % 2 else "<http://e/a>") for t in times]
    return "".join(quad(f"e{t}", "<http://e/s>", p, integer(t)) + at_time(f"e{t}", t) for t, p in pairs)


def rows(table: DataFrame) -> Counter[tuple[object, ...]]:
    return Counter((row["start"], row["end"], row["v"]["value"], row["w"]["value"]) for row in table.collect())


def test_only_a_table_that_is_nothing_but_its_files_is_looked_through(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text(text([2, 3]))
    table = spark.read.format("rdf").option("format", "nq").load(str(tmp_path / "a.nq"))
    assert source_options(table) == {"format": "nq", "paths": f'["{tmp_path}/a.nq"]'}
    assert source_options(table.where("start > 0")) is None
    assert source_options(spark.createDataFrame([], "start long, end long")) is None
    live = spark.readStream.format("rdf").option("timestamps", "integer").load(str(tmp_path))
    assert source_options(live) == {"timestamps": "integer", "paths": f'["{tmp_path}"]'}
    assert source_options(live.drop("stream")) is None


def test_bounded_tables_of_the_format_give_what_their_files_give(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text(text([2, 3, 4, 9, 20, 21]))
    table = spark.read.format("rdf").load(str(tmp_path / "a.nq"))
    found = run(parse(PAIR, "spaseq"), spark, {"S": table})
    assert "BatchScan" not in found._jdf.queryExecution().toString()
    wanted = Counter([(2, 3, "2", "3"), (4, 9, "4", "9"), (20, 21, "20", "21")])
    assert rows(found) == wanted
    through = run(parse(PAIR, "spaseq"), spark, {"S": table.where("start >= 0")})
    assert rows(through) == wanted


@pytest.mark.slow
def test_live_tables_of_the_format_send_solutions_not_terms(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number, times in enumerate([[2, 4], [9, 20, 22, 24], [21, 40], [100]]):  # 21 is late
        (folder / f"{number}.nq").write_text(text(times))
        os.utime(folder / f"{number}.nq", (1_000_000 + number, 1_000_000 + number))
    table = spark.readStream.format("rdf").option("timestamps", "integer").option("maxFilesPerTrigger", "1").load(str(folder))
    found = run(parse(PAIR, "spaseq"), spark, {"S": table})
    sink = found.writeStream.format("memory").queryName("pushed").outputMode("append")
    live = sink.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    assert live.awaitTermination(600)
    assert rows(spark.table("pushed")) == Counter([(2, 9, "2", "9"), (4, 9, "4", "9")])
    told = [observed(progress) for progress in live.recentProgress]
    assert (sum(each.events for each in told), sum(each.late for each in told)) == (9, 1)
    # certain in the micro-batch of the event that comes after it, not in a later one
    assert [each.matches for each in told if each.events] == [0, 2, 0, 0]


def test_a_job_survives_being_an_option() -> None:
    packing = Packing.read(Packing.of(job(), 3).written())
    assert (packing.job, packing.stream, packing.kind) == (job(), 3, job().kind)


def certain(of: Job, reached: dict[int, int], watermark: int) -> int:
    return Bucket(of, *([None] * 4)).certain(reached, watermark)  # type: ignore[arg-type]


def test_answers_are_certain_up_to_where_the_watermark_will_stand() -> None:
    assert certain(job(), {0: 30}, 10) == 30
    assert certain(job(max_delay=5), {0: 30}, 10) == 25
    assert certain(job(max_delay=5), {0: 12}, 10) == 10
    assert certain(job(), {}, 10) == 10
    assert certain(job(), {0: -5}, MIN_INSTANT) == MIN_INSTANT  # Spark's watermark starts at zero
    micro = job(kind=TimeKind.DATETIME, max_delay="1s")
    assert certain(micro, {0: 5_000_999}, MIN_INSTANT) == 4_000_000  # Spark tells milliseconds


def test_the_stream_furthest_behind_tells_what_is_certain_unless_idle_ones_are_ignored() -> None:
    two = job(("http://e/S", "http://e/T"), idle_streams="wait")
    assert certain(two, {0: 30, 1: 20}, 10) == 20
    assert certain(two, {0: 30}, 10) == 10
    ahead = job(("http://e/S", "http://e/T"), idle_streams="ignore")
    assert certain(ahead, {0: 30, 1: 20}, 10) == 30
    assert certain(ahead, {0: 30}, 10) == 30
