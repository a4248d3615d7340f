"""What the pages about Spark's own sources and sinks show, in one session: files in; Parquet, a webhook, a database out."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from docs.how_to import begun, page


class Heard(BaseHTTPRequestHandler):
    """Keeps what is posted."""

    bodies: list[Any] = []  # noqa: RUF012

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.slow
def test_the_pages_about_sources_and_sinks(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    begun(spark, names)
    page("spark-to-parquet", names)
    with HTTPServer(("127.0.0.1", 0), Heard) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page("spark-to-a-webhook", names | {"webhook": f"http://127.0.0.1:{server.server_port}/"})
        server.shutdown()
    assert [(body["sensor"], body["celsius"]) for body in Heard.bodies] == [("http://example/f1", "-12")]
    # Derby writes a log where the JVM was started, unless it is told otherwise before it is loaded
    spark.sparkContext._jvm.java.lang.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))  # type: ignore[union-attr]
    page("spark-to-a-database", names | {"database": "jdbc:derby:memory:alerts;create=true"})
    page("spark-to-kafka", names)  # with a broker: tests/kafka
    [value] = [row.value for row in _history(spark, names).collect()]
    assert json.loads(value)["sensor"] == "http://example/f1"


@pytest.mark.slow
def test_the_page_about_delta(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not _has(spark, "io.delta.sql.DeltaSparkSessionExtension"):
        pytest.skip("delta-spark is not among the session's packages: none declares this version of Spark")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    begun(spark, names)
    page("spark-to-delta", names, ("python spark delta",))


@pytest.mark.slow
def test_the_page_about_a_table_in_a_lake(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page("lake", {"spark": spark}, ("python", "sh", "python spark"))


def _history(spark: SparkSession, names: dict[str, object]) -> Any:
    """The messages of the page about Kafka over what the folder holds, as a table."""
    import scepter

    rows = spark.read.schema("at timestamp, sensor string, celsius double").json(str(Path("readings").absolute()))
    known: dict[str, Any] = {"found": scepter.run(names["query"], spark, {"S": rows}, map=names["mapping"])}  # type: ignore[arg-type]
    page("spark-to-kafka", known)
    return known["messages"]


def _has(spark: SparkSession, name: str) -> bool:
    try:
        spark._jvm.java.lang.Class.forName(name)  # type: ignore[union-attr]
    except Exception:
        return False
    return True
