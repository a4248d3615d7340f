"""A live run as a process of its own, for the test that kills it: events of a folder in, Parquet out, one file at a time.

Usage: live_run.py EVENTS CHECKPOINT OUTPUT
"""

from __future__ import annotations

import sys

from pyspark.sql import functions as F

from scepter.api import run
from scepter.runtime.queries import parse
from scepter.runtime.spark.session import session

QUERY = """PREFIX : <http://example/>
SELECT ?s ?v ?w (COUNT(B.?b) AS ?n)
WITHIN 12 SLIDING
FROM STREAM S <http://example/s>
WHERE {
  SEQ (A ; B+ ; C)
  DEFINE GPM A ON S { ?s :a ?v }
  DEFINE GPM B ON S { ?s :b ?b }
  DEFINE GPM C ON S { ?s :c ?w FILTER (?w > ?v) }
}
"""


def main(events: str, checkpoint: str, output: str) -> None:
    spark = session("local[2]", "live run", **{"spark.sql.shuffle.partitions": "1"})
    schema = "start bigint, `end` bigint, graph array<struct<s: string, p: string, o: string>>"
    table = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(events)
    found = run(parse(QUERY, "spaseq"), spark, {"S": table})
    flat = found.select("start", "end", *(F.col(f"{name}.value").alias(name) for name in ("s", "v", "w", "n")))
    sink = flat.writeStream.format("parquet").option("path", output).option("checkpointLocation", checkpoint)
    sink.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
