"""A live run as a process of its own, for tests that kill it, or its workers: events of a folder in, Parquet out, one file at a
time.

Usage: live_run.py LANGUAGE MASTER PARTITIONS EVENTS CHECKPOINT OUTPUT
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pyspark.sql import functions as F

from scepter.api.on_spark import run
from scepter.runtime.queries import parse
from scepter.runtime.spark.session import session

WHOLE = "whole"
"""Stands beside the folder of events when no more will come."""
QUERIES = {
    "spaseq": """PREFIX : <http://example/>
SELECT ?s ?v ?w (COUNT(B.?b) AS ?n)
WITHIN 12 SLIDING
FROM STREAM S <http://example/s>
WHERE {
  SEQ (A ; B+ ; C)
  DEFINE GPM A ON S { ?s :a ?v }
  DEFINE GPM B ON S { ?s :b ?b }
  DEFINE GPM C ON S { ?s :c ?w FILTER (?w > ?v) }
}
""",
    "ep-sparql": """PREFIX : <http://example/>
SELECT DISTINCT ?v ?w
WHERE { { ?s :a ?v } OPTIONAL { ?s :b ?b } } SEQ { ?s :c ?w }
FILTER (getDURATION() < 12 && ?w > ?v)
""",
}
"""One in buckets of its key, and one whose rows cross to other buckets behind them: they hide their key."""


def main(language: str, master: str, partitions: str, events: str, checkpoint: str, output: str) -> None:
    small = {"spark.sql.shuffle.partitions": partitions, "spark.executor.memory": "512m"}
    spark = session(master, "live run", small)
    schema = "start bigint, `end` bigint, graph array<struct<s: string, p: string, o: string>>"
    table = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(events)
    query = parse(QUERIES[language], language)
    found = run(query, spark, {"http://example/s": table})
    flat = found.select("start", "end", *(F.col(f"{name}.value").alias(name) for name in query.variables))
    sink = flat.writeStream.format("parquet").option("path", output).option("checkpointLocation", checkpoint)
    running = sink.start()
    while True:
        whole = Path(events).with_name(WHOLE).exists()  # asked first: what comes later is read in the next round
        running.processAllAvailable()
        if whole:
            break
        time.sleep(0.05)
    running.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
