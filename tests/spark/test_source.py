from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from batches import PROV, XSD, at_time, integer, quad
from scepter.errors import OptionError
from scepter.rdf.batch import DeadLetter
from scepter.runtime.spark.letters import FolderLetters, collected
from scepter.runtime.spark.source import Settings

TRIG = f"<a:e1> {{ <a:s> <a:p> _:x , 2 }} <a:e1> <{PROV}generatedAtTime> 3 ."
BROKEN = "no quad at all\n"


def events(count: int, first: int = 0) -> str:
    return "".join(at_time(f"e{i}", i) + quad(f"e{i}", object=integer(i)) for i in range(first, first + count))


def load(spark: SparkSession, *paths: Path, **options: object) -> DataFrame:
    return spark.read.format("rdf").options(**options).load([str(path) for path in paths])  # type: ignore[arg-type]


def starts(frame: DataFrame) -> list[int]:
    return sorted(row["start"] for row in frame.select("start").toLocalIterator())


def test_a_table_of_events(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text(at_time("é", 7) + quad("é", object='"☃"@EN') + quad("é", "_:x", object='"a\\nb"'))
    frame = load(spark, tmp_path / "a.nq", stream="http://e/stream", names=True)
    assert frame.schema.simpleString() == (
        "struct<stream:string,start:bigint,end:bigint,graph:array<struct<s:string,p:string,o:string>>,name:string>"
    )
    [row] = frame.collect()
    assert (row["stream"], row["start"], row["end"], row["name"]) == ("http://e/stream", 7, 7, "http://e/é")
    assert row["graph"][0] == ("<http://e/s>", "<http://e/p>", '"☃"@EN')
    subject, _, text = row["graph"][1]
    assert subject.startswith("_:")
    assert text == '"a\\nb"'


def test_date_times_are_timestamps(spark: SparkSession, tmp_path: Path) -> None:
    start, end = (f'"2026-01-01T00:00:0{second}.5+01:00"^^<{XSD}dateTime>' for second in (1, 2))
    text = f"<a:e> <{PROV}startedAtTime> {start} .\n<a:e> <{PROV}endedAtTime> {end} .\n<a:s> <a:p> <a:o> <a:e> .\n"
    (tmp_path / "a.nq").write_text(text)
    frame = load(spark, tmp_path / "a.nq")
    assert frame.schema["start"].dataType.simpleString() == "timestamp"
    shown = frame.selectExpr("unix_micros(start) s", "cast(end as string) e").first()
    assert shown is not None
    assert tuple(shown) == (1_767_222_001_500_000, "2025-12-31 23:00:02.5")


def test_every_format_and_ranges_of_the_line_formats(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text(events(60_000))
    (tmp_path / "b.nq.gz").write_bytes(gzip.compress(events(5, 100_000).encode()))
    (tmp_path / "c.trig").write_text(TRIG)
    (tmp_path / "d.timeline").write_text("200000 { <a:s> <a:p> 1 }")
    frame = load(spark, tmp_path, partitions=2)
    assert frame.rdd.getNumPartitions() > 4
    assert starts(frame) == sorted([*range(60_000), *range(100_000, 100_005), 3, 200_000])
    assert starts(load(spark, tmp_path / "*.nq*")) == [*range(60_000), *range(100_000, 100_005)]
    assert starts(load(spark, tmp_path / "b.nq.gz", tmp_path / "c.trig")) == [3, *range(100_000, 100_005)]


def test_blank_nodes_of_different_events_differ(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a.nq", "b.nq"):
        (tmp_path / name).write_text("".join(at_time(f"e{i}", i) + quad(f"e{i}", "_:x") for i in range(20)))
    found = [row["graph"][0]["s"] for row in load(spark, tmp_path).collect()]
    assert len(set(found)) == len(found) == 40


def test_the_format_can_be_said(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("# what is it?\n" * 6_000 + events(2))
    with pytest.raises(PySparkException, match="neither the extension nor the content"):
        load(spark, tmp_path / "a.txt")
    assert starts(load(spark, tmp_path / "a.txt", format="nq")) == [0, 1]


def test_dead_letters_come_once_from_whatever_task(spark: SparkSession, tmp_path: Path) -> None:
    text = "".join(at_time(f"e{i}", i) + quad(f"e{i}") + BROKEN * (i % 1_000 == 0) for i in range(30_000))
    (tmp_path / "a.nq").write_text(text)
    frame = load(spark, tmp_path / "a.nq", partitions=3, deadLetterPath=tmp_path / "dead")
    assert frame.count() == 30_000
    letters = list(collected(tmp_path / "dead"))
    assert len(letters) == len({(letter.source, letter.line) for letter in letters}) == 30
    assert {letter.text for letter in letters} == {BROKEN.strip()}


def test_letters_of_an_attempt_that_was_tried_again_do_not_count(tmp_path: Path) -> None:
    for attempt, sources in enumerate((["x", "y"], ["x", "y", "z"])):
        lines = [json.dumps({"source": source, "line": 1, "reason": "r", "text": "é"}) + "\n" for source in sources]
        (tmp_path / f"run-3-0-{attempt}.jsonl").write_text("".join(lines))
    (tmp_path / "run-3-1-0.jsonl").write_text(json.dumps({"source": "w", "line": None, "reason": "r", "text": ""}) + "\n")
    (tmp_path / "notes.txt").write_text("no letters")
    assert [letter.source for letter in collected(tmp_path)] == ["x", "y", "z", "w"]


def test_letters_of_the_driver(tmp_path: Path) -> None:
    letters = FolderLetters(tmp_path / "deep" / "dead")
    letters(DeadLetter("a.nq", 3, "a reason", "é\n"))
    assert list(collected(tmp_path / "deep" / "dead")) == [DeadLetter("a.nq", 3, "a reason", "é\n")]
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="no folder for dead letters"):
        FolderLetters(tmp_path / "file")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs a path"),
        ({"path": "a.nq", "maxFilePerTrigger": "1"}, "maxFilesPerTrigger"),
        ({"path": "a.nq", "timestamps": "integers"}, "did you mean integer"),
        ({"path": "a.nq", "format": "xml"}, "one of nq"),
        ({"path": "a.nq", "names": "perhaps"}, "one of true, false"),
        ({"path": "a.nq", "partitions": "0"}, "whole number above 0"),
        ({"path": "a.nq", "maxEventsPerTrigger": "-1"}, "whole number above 0"),
        ({"path": "a.nq", "maxEventsPerTrigger": "1", "maxFilesPerTrigger": "1"}, "exclude each other"),
        ({"path": "a.nq", "maxFileAge": "P1M"}, "no fixed length"),
    ],
)
def test_options_are_checked(options: dict[str, str], words: str) -> None:
    with pytest.raises(OptionError) as error:
        Settings.of(options)
    assert words in str(error.value)


def test_an_empty_folder_needs_to_be_told_the_kind(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PySparkException, match="add option timestamps"):
        load(spark, tmp_path)
    with pytest.raises(PySparkException, match="does not exist"):
        load(spark, tmp_path / "none.nq")
    with pytest.raises(PySparkException, match="say option timestamps instead"):
        spark.read.format("rdf").schema("start bigint").load(str(tmp_path)).count()


class Stream:
    """A streaming read into a table in memory, driven by hand."""

    def __init__(self, spark: SparkSession, folder: Path, checkpoint: Path, **options: Any) -> None:
        self.checkpoint = checkpoint
        self.reading = spark.readStream.format("rdf").options(timestamps="integer", **options).load(str(folder))
        self.batches: list[list[int]] = []

    def run(self) -> list[list[int]]:
        """The starts of each micro-batch until nothing is left."""
        self.batches = []

        def take(batch: DataFrame, number: int) -> None:
            self.batches.append(starts(batch))

        writing = self.reading.writeStream.foreachBatch(take).option("checkpointLocation", str(self.checkpoint))
        query = writing.trigger(availableNow=True).start()
        assert query.awaitTermination(120)
        return [batch for batch in self.batches if batch]


def dated(path: Path, text: str, seconds: int) -> None:
    path.write_text(text)
    os.utime(path, (seconds, seconds))


@pytest.mark.slow
def test_a_stream_takes_new_files_once(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    dated(folder / "b.nq", events(2), 100)
    dated(folder / "a.nq", events(2, 10), 101)
    stream = Stream(spark, folder, tmp_path / "state", maxFilesPerTrigger=1)
    assert stream.run() == [[0, 1], [10, 11]]
    assert stream.run() == []
    dated(folder / "c.nq", events(1, 20), 99)  # older than what is done, within maxFileAge
    dated(folder / "_hidden.nq", events(1, 30), 102)
    dated(folder / ".c.nq", events(1, 30), 102)
    dated(folder / "empty.nq", "", 102)
    dated(folder / "notes.txt", "nothing", 102)
    assert stream.run() == [[20]]
    dated(folder / "ancient.nq", events(1, 40), -(8 * 86_400))
    assert stream.run() == []


@pytest.mark.slow
def test_a_stream_takes_so_many_events_at_a_time(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    dated(folder / "a.nq", events(5), 100)
    dated(folder / "b.trig", TRIG, 101)
    dated(folder / "c.nq", events(3, 10), 102)
    stream = Stream(spark, folder, tmp_path / "state", maxEventsPerTrigger=2, names=True)
    assert stream.run() == [[0, 1], [2, 3], [3, 4], [10, 11], [12]]
    assert stream.run() == []
