"""Live input on Spark, beside the golden cases: what comes too late, and streams that are silent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from buckets import triples
from scepter.api.on_spark import run
from scepter.errors import DataError, OptionError
from scepter.rdf.files import stream_files
from scepter.rdf.timeline_notation import TimelineEvent
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.answers import faults_told
from scepter.runtime.spark.letters import FolderLetters, collected
from scepter.runtime.spark.run import run_with_options
from scepter.runtime.spark.streaming import observed
from scepter.timeline import TimeKind
from spark_answers import answers, labelled, table_schema, write_events

FAR = 1_000_000
PAIR = """PREFIX : <http://example/>
SELECT ?v ?w
WITHIN 10 SLIDING
FROM STREAM S <http://example/s>
WHERE {
  SEQ (A ; B)
  DEFINE GPM A ON S { ?s :a ?v }
  DEFINE GPM B ON S { ?s :b ?w }
}
"""


def far_away(number: int) -> TimelineEvent:
    """An event that concerns no pattern, after all others."""
    return TimelineEvent(f"far{number}", FAR + number, FAR + number, TimeKind.INTEGER, tuple(triples(":far :away true .")), 0)


def live_table(spark: SparkSession, folder: Path, events: Sequence[Sequence[TimelineEvent]]) -> DataFrame:
    """A streaming table of so many micro-batches."""
    folder.mkdir(parents=True)
    for number, batch in enumerate(events):
        path = folder / f"{number:04}.parquet"
        write_events(path, batch)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return spark.readStream.schema(table_schema(TimeKind.INTEGER)).option("maxFilesPerTrigger", 1).parquet(str(folder))


@pytest.fixture
def one_partition(spark: SparkSession) -> Iterator[None]:
    """Several runs in one query are tasks enough."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", str(before))


def event(time: int, text: str) -> TimelineEvent:
    return TimelineEvent("e", time, time, TimeKind.INTEGER, tuple(triples(text)), 0)


@pytest.mark.slow
def test_disorder_beyond_the_delay_is_counted_and_reported(spark: SparkSession, tmp_path: Path) -> None:
    batches = [
        [event(20, ":x :a 1 ."), event(30, ":x :c 1 .")],  # the watermark goes to 25
        [event(26, ":x :b 2 ."), event(24, ":x :b 3 ."), event(3, ":x :nobody :asks .")],  # 24 and 3 are late
        [far_away(0)],
        [far_away(1)],
    ]
    table = live_table(spark, tmp_path / "events", batches)
    letters = tmp_path / "letters"
    found = run_with_options(
        parse(PAIR, "spaseq"), spark, {"S": table}, RunOptions.of(max_delay=5), find_files=stream_files,
        report=FolderLetters(letters),
    )  # fmt: skip
    sink = labelled("late", found).writeStream.format("memory").queryName("late").outputMode("append")
    live = sink.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    assert live.awaitTermination(600)
    rows = answers(spark.table("late").collect())["late"]
    assert [(a.start, a.end) for a in rows] == [(20, 26)]
    told = [observed(progress) for progress in live.recentProgress]
    assert sum(each.late for each in told) == 2
    assert sum(each.matches for each in told) == 1
    assert sorted(letter.reason for letter in collected(letters)) == [
        "late: 24 is behind the watermark 25",
        "late: 3 is behind the watermark 25",
    ]
    assert {letter.source for letter in collected(letters)} == {"http://example/s"}


def test_live_and_bounded_streams_do_not_mix(spark: SparkSession, tmp_path: Path) -> None:
    two = PAIR.replace("FROM STREAM S <http://example/s>", "FROM STREAM S <http://example/s>\nFROM STREAM T <http://example/t>")
    two = two.replace("GPM B ON S", "GPM B ON T")
    live = live_table(spark, tmp_path / "events", [[far_away(0)]])
    bounded = spark.createDataFrame([], table_schema(TimeKind.INTEGER))
    with pytest.raises(OptionError, match="some are bounded"):
        run(parse(two, "spaseq"), spark, {"S": live, "T": bounded})


TWO = """PREFIX : <http://example/>
SELECT ?v ?w
WHERE { { ?s :a ?v } SEQ { ?s :b ?w } FILTER (getDURATION() < 10) }
"""


@pytest.mark.slow
@pytest.mark.usefixtures("one_partition")
def test_an_idle_stream_holds_back_the_others_unless_it_is_ignored(spark: SparkSession, tmp_path: Path) -> None:
    busy = [[event(20, ":x :a 1 .")], [event(24, ":x :b 2 .")], [event(500, ":x :c 1 .")], [event(600, ":x :c 1 .")]]
    runs = []
    for idle in ("wait", "ignore"):
        tables = {
            "http://example/busy": live_table(spark, tmp_path / idle / "busy", busy),
            "http://example/idle": live_table(spark, tmp_path / idle / "idle", [[event(1, ":x :c 1 .")]]),
        }
        options = RunOptions.of(idle_streams=idle)
        found = run_with_options(parse(TWO, "ep-sparql"), spark, tables, options, find_files=stream_files)
        sink = labelled(idle, found).writeStream.format("memory").queryName(f"idle_{idle}").outputMode("append")
        place = str(tmp_path / idle / "checkpoint")
        runs.append(sink.option("checkpointLocation", place).trigger(availableNow=True).start())
    assert all(live.awaitTermination(600) for live in runs)
    assert answers(spark.table("idle_wait").collect()) == {}
    assert [(a.start, a.end) for a in answers(spark.table("idle_ignore").collect())["ignore"]] == [(20, 24)]


@pytest.mark.slow
@pytest.mark.usefixtures("one_partition")
def test_a_changed_query_on_an_old_checkpoint_stops_before_it_answers(spark: SparkSession, tmp_path: Path) -> None:
    batches = [[event(20, ":x :a 1 ."), event(24, ":x :b 2 .")], [far_away(0)], [far_away(1)]]
    table = live_table(spark, tmp_path / "events", batches[:1])

    def start(text: str) -> StreamingQuery:
        sink = run(parse(text, "spaseq"), spark, {"S": table}).select("start", "end").writeStream
        sink = sink.format("parquet").option("path", str(tmp_path / "found"))
        return sink.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()

    assert start(PAIR).awaitTermination(600)
    for number, batch in enumerate(batches[1:], 1):
        write_events(tmp_path / "events" / f"{number:04}.parquet", batch)
    with pytest.raises(DataError) as caught, faults_told():
        start(PAIR.replace("WITHIN 10", "WITHIN 11")).awaitTermination(600)
    assert str(caught.value).splitlines() == [
        "error[other-query]: the checkpoint holds the state of another query: line 3 is now `WITHIN 11 SLIDING`",
        "note: it was `WITHIN 10 SLIDING`",
        "help: go back to what it was, let warm_up begin with the last of its history, or start anew with another folder",
    ]
    third = "# laid out in another way\n" + PAIR.replace("\n", "\n\n")
    assert start(third).awaitTermination(600)
    assert [tuple(row) for row in spark.read.parquet(str(tmp_path / "found")).collect()] == [(20, 24)]
