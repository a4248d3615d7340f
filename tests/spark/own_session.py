"""A run in a session that its user has made, as in a notebook whose environment is not activated. Prints what it found.

Usage: own_session.py classic|connect FOLDER
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import scepter

QUERY = """PREFIX : <http://example/>
SELECT ?v ?w WITHIN 10 SLIDING FROM STREAM S <http://example/s>
WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?s :a ?v } DEFINE GPM B ON S { ?s :b ?w } }
"""
PATIENCE = "spark.python.authenticate.socketTimeout"
"""How long Spark waits for a Python worker to come: machines that run tests have much else to do."""
TABLE = "start bigint, `end` bigint, graph array<struct<s: string, p: string, o: string>>"


def rows() -> list[tuple[int, int, list[tuple[str, str, str]]]]:
    about = [(3, "a", 1), (5, "b", 2), (9_000, "c", 3), (9_001, "c", 3)]
    return [(time, time, [("<http://example/x>", f"<http://example/{name}>", f'"{value}"')]) for time, name, value in about]


def answers(spark: SparkSession, folder: Path) -> None:
    query = scepter.parse(QUERY)
    events = spark.createDataFrame(rows(), TABLE).coalesce(1)
    events.write.parquet(str(folder / "events"))
    found = scepter.run(query, spark, {"S": events}).select("start", "end", "v.value").collect()
    print("history", [tuple(row) for row in found], flush=True)
    table = spark.readStream.schema(TABLE).parquet(str(folder / "events"))
    try:
        scepter.run(query, spark, {"S": table})
    except scepter.OptionError as error:
        exec(str(error).partition("help: ")[2])
    writing = scepter.run(query, spark, {"S": table}).select("start", "end", "v.value").writeStream.format("parquet")
    writing = writing.option("path", str(folder / "found")).option("checkpointLocation", str(folder / "checkpoint"))
    assert writing.trigger(availableNow=True).start().awaitTermination(600)
    print("live", [tuple(row) for row in spark.read.parquet(str(folder / "found")).collect()], flush=True)


def classic(folder: Path) -> None:
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(PATIENCE, "300s").getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    answers(spark, folder)
    spark.stop()
    os.environ["PYSPARK_PYTHON"] = str(folder / "python3")
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config(PATIENCE, "300s").getOrCreate()
    try:
        scepter.run(scepter.parse(QUERY), spark, {"S": spark.read.parquet(str(folder / "events"))})
    except scepter.OptionError as error:
        print(error, flush=True)
    spark.stop()


def connect(folder: Path) -> None:
    spark = SparkSession.builder.remote("local[2]").getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    answers(spark, folder)
    spark.stop()


if __name__ == "__main__":
    {"classic": classic, "connect": connect}[sys.argv[1]](Path(sys.argv[2]))
