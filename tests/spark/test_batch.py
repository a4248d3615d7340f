"""Bounded input on Spark, beside the golden cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import scepter


@pytest.mark.slow
def test_variables_with_the_names_of_other_columns(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "s.nq"
    path.write_text('<http://e/a> <http://e/p> <http://e/b> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .\n')
    query = scepter.parse("SELECT ?start ?graph ?end WHERE { ?start ?graph ?end }", "ep-sparql")
    (row,) = (
        scepter.run(query, spark, {"http://e/s": path})
        .selectExpr("start", "`?start`.value", "`?graph`.value", "`?end`.value")
        .collect()
    )
    assert tuple(row) == (7, "http://e/a", "http://e/p", "http://e/b")
