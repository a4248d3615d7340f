"""A live run that begins with the last of its streams' history, and its restart."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from batches import at_time, integer, quad
from scepter.api.on_spark import run
from scepter.errors import OptionError
from scepter.runtime.queries import parse

QUERY = parse(
    "PREFIX : <http://e/> SELECT ?x ?v ?w WITHIN 10 FROM STREAM S <http://e/s> "
    "WHERE { SEQ (A : B) DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } }",
    "spaseq",
)


def event(time: int, verb: str, thing: str = "x") -> str:
    return at_time(f"e{time}", time) + quad(f"e{time}", f"<http://e/{thing}>", f"<http://e/{verb}>", integer(time))


def table(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.format("rdf").option("timestamps", "integer").load(str(folder))


def answered(found: DataFrame, checkpoint: Path, name: str) -> list[tuple[int, int]]:
    """What a run tells until it has read all there is."""
    rows: list[tuple[int, int]] = []
    writing = found.writeStream.foreachBatch(
        lambda batch, _: rows.extend((row["start"], row["end"]) for row in batch.collect())
    )
    running = writing.option("checkpointLocation", str(checkpoint)).queryName(name).start()
    try:
        running.processAllAvailable()
    finally:
        running.stop()
    return sorted(rows)


@pytest.mark.slow
def test_first_answers_are_complete_and_a_restart_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    """time   1a 5b   50a 52b 55 (now)   57b 59b, with 1 to 5 in a file that is not read again."""
    folder, state = tmp_path / "in", tmp_path / "state"
    folder.mkdir()
    (folder / "1.nq").write_text(event(1, "a") + event(5, "b"))
    (folder / "2.nq").write_text(event(50, "a") + event(52, "b") + event(55, "c"))
    first = run(QUERY, spark, {"http://e/s": table(spark, folder)}, warm_up="auto", checkpoint=state)
    assert answered(first, state, "warm") == []
    (folder / "3.nq").write_text(event(57, "b") + event(58, "c"))
    second = run(QUERY, spark, {"http://e/s": table(spark, folder)}, warm_up="auto", checkpoint=state)
    assert answered(second, state, "warm again") == [(50, 57)]
    (folder / "4.nq").write_text(event(59, "b") + event(70, "c"))
    third = run(QUERY, spark, {"http://e/s": table(spark, folder)}, checkpoint=state)  # what it began with is kept
    assert answered(third, state, "goes on") == [(50, 59)]


def test_what_cannot_be_read_again_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "1.nq").write_text(event(1, "a"))
    filtered = table(spark, tmp_path).where("start > 0")
    with pytest.raises(OptionError, match="not of format rdf alone"):
        run(QUERY, spark, {"http://e/s": filtered}, warm_up="auto")
    with pytest.raises(OptionError, match="all streams are bounded"):
        run(QUERY, spark, {"http://e/s": str(tmp_path)}, warm_up="auto")
    with pytest.raises(OptionError, match="no folder that the driver can write"):
        run(QUERY, spark, {"http://e/s": table(spark, tmp_path)}, warm_up="auto", checkpoint="s3://bucket/state")
    endless = parse(QUERY.text.replace("WITHIN 10 ", ""), "spaseq")
    with pytest.raises(OptionError, match="look back for ever"):
        run(endless, spark, {"http://e/s": table(spark, tmp_path)}, warm_up="auto")
