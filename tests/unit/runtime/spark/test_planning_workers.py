"""Spark plans a table of format `rdf` in processes of their own, several for a live query, and waits ten seconds for each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from batches import at_time
from buckets import job_of
from scepter.runtime.queries import parse
from scepter.runtime.spark.pushdown import Packing

QUERY = "PREFIX : <http://e/> SELECT ?x WITHIN 5 FROM STREAM S :s WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }"
UNNEEDED = (
    "numba", "pandas", "polars", "lark", "yaml", "rich", "pygments", "confluent_kafka", "pyoxigraph",
    "scepter.kernel", "scepter.physical", "scepter.algebra", "scepter.rdf.readers", "scepter.rdf.hashing",
)  # fmt: skip
PLANNED = """
import sys
from pyspark.sql.types import StructType
import scepter.runtime.spark.kafka
from scepter.runtime.spark.pushdown import PACKED
from scepter.runtime.spark.source import EventSource
source = EventSource({"path": sys.argv[1], "packedFor": sys.argv[2]})
assert source.schema() == PACKED
[part] = source.reader(StructType()).partitions()
live = source.streamReader(StructType())
begin = live.initialOffset()
[part] = live.partitions(begin, live.latestOffset(begin, live.getDefaultReadLimit()))
print([name for name in sys.argv[3:] if name in sys.modules])
"""


def test_planning_loads_neither_readers_nor_engine(tmp_path: Path) -> None:
    """A process that does takes seconds of a busy machine before it answers."""
    path = tmp_path / "s.nq"
    path.write_text(at_time("e", 1))
    packing = Packing.of(job_of(parse(QUERY, "spaseq"), 4, live=True), 0).written()
    command = [sys.executable, "-c", PLANNED, str(path), packing, *UNNEEDED]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
