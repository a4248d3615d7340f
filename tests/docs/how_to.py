"""The pages about Spark's own sources and sinks, whose programs share one session."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pyspark.sql import SparkSession

from docs.markdown import commands, run, run_python

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
READINGS = [("08:00:00", "f1", -20.0), ("08:01:00", "f2", -19.0), ("08:02:00", "f1", -12.0), ("08:20:00", "f3", 1.0)]


def page(name: str, names: dict[str, object], kinds: tuple[str, ...] = ("python spark",)) -> None:
    """Run the blocks of a page, which know the names of those before."""
    here = Path.cwd()  # the JVM's folder is another
    for block, expected in commands((PAGES / f"{name}.md").read_text("utf-8"), kinds):
        if block.kind == "sh":
            assert run(block.text) == ("" if expected is None else expected.text), block.text
            continue
        text = re.sub(r'(json\(|parquet\(|"path", |"checkpointLocation", |start\()"', rf'\1"{here}/', block.text)
        assert run_python(text, names) == ("" if expected is None else expected.text), block.text


def begun(spark: SparkSession, names: dict[str, object]) -> None:
    """The readings that the pages read, in the current folder, and the first page."""
    folder = Path.cwd()
    (folder / "readings").mkdir()
    rows = [{"at": f"2026-03-02T{at}Z", "sensor": sensor, "celsius": value} for at, sensor, value in READINGS]
    (folder / "readings" / "a.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    names["spark"] = spark
    page("spark-any-source", names)
