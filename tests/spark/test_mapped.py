"""Tables of any columns, and files of rows, through a mapping on Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import scepter

MAP = """\
prefixes: {ex: "http://example/"}
time: $(time)
mappings:
  reading: {s: "ex:$(sensor)", po: [[ex:v, $(value), xsd:integer], [ex:note, $(note)]]}
"""
QUERY = """PREFIX : <http://example/>
SELECT ?d ?x ?y WITHIN 10 SECONDS SLIDING FROM STREAM S <http://example/s>
WHERE { SEQ (A; B)  DEFINE GPM A ON S { ?d :v ?x }  DEFINE GPM B ON S { ?d :v ?y FILTER (?y > ?x) } }"""
PARTS = {"d": "value", "x": "lexical", "y": "lexical"}
ROWS = [(second, "ab"[second % 2], second % 7, "x") for second in range(40)]


def answers(found: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in found.selectExpr("d.value", "x.value", "y.value").collect())


def frame(spark: SparkSession) -> DataFrame:
    rows = [(datetime.fromtimestamp(t, UTC), sensor, value, note) for t, sensor, value, note in ROWS]
    return spark.createDataFrame(rows, "time timestamp, sensor string, value int, note string").repartition(3)


def expected() -> list[tuple[Any, ...]]:
    rows = [{"time": datetime.fromtimestamp(t, UTC).isoformat(), "sensor": s, "value": v} for t, s, v, _ in ROWS]
    query = scepter.parse(QUERY)
    found = scepter.run_local(query, rows, map=MAP)
    return sorted(tuple(getattr(match.bindings[name], field) for name, field in PARTS.items()) for match in found)


@pytest.mark.slow
def test_a_table_a_csv_file_and_a_stream_of_files_give_one_answer(spark: SparkSession, tmp_path: Path) -> None:
    query = scepter.parse(QUERY)
    rows = expected()
    assert len(rows) > 10
    assert answers(scepter.run(query, spark, {"S": frame(spark)}, map=MAP)) == rows
    folder = tmp_path / "csv"
    folder.mkdir()
    for part in range(4):
        lines = "".join(f"1970-01-01 00:00:{t:02d},{s},{v},{n}\n" for t, s, v, n in ROWS[part * 10 : part * 10 + 10])
        (folder / f"{part}.csv").write_text(f"time,sensor,value,note\n{lines}")
    assert answers(scepter.run(query, spark, {"S": folder}, map={"S": MAP})) == rows
    source = spark.read.format("rdf").option("map", MAP).load(str(folder))
    assert answers(scepter.run(query, spark, {"S": source})) == rows
    live = spark.readStream.format("rdf").option("map", MAP).option("maxFilesPerTrigger", 1).load(str(folder))
    running = (
        scepter.run(query, spark, {"S": live})
        .writeStream.format("memory").queryName("mapped").outputMode("append").trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    )  # fmt: skip
    running.awaitTermination(120)
    assert set(answers(spark.table("mapped"))) <= set(rows)
    assert spark.table("mapped").count() > 0


@pytest.mark.slow
def test_what_is_wrong_with_a_table(spark: SparkSession) -> None:
    query = scepter.parse(QUERY)
    with pytest.raises(scepter.OptionError, match="uses the column time, which the table does not have"):
        scepter.run(query, spark, {"S": frame(spark).withColumnRenamed("time", "tyme")}, map=MAP)
    with pytest.raises(scepter.OptionError, match=r"(?s)has no column start.*rows of other columns need map="):
        scepter.run(query, spark, {"S": frame(spark)})
    with pytest.raises(scepter.OptionError, match="the stream <http://example/s> is given as an int"):
        scepter.run(query, spark, {"S": 3}, map=MAP)  # type: ignore[dict-item]
