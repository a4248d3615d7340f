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


SENSED = """\
PREFIX : <http://e/>
PREFIX sosa: <http://www.w3.org/ns/sosa/>
:e1 { :x :v 1 ; sosa:resultTime "1970-01-01T00:00:01Z" }
:e2 { :x :v 7 ; sosa:resultTime "1970-01-01T00:00:03Z" }
"""


@pytest.mark.slow
def test_the_property_that_gives_the_time(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "s.trig"
    path.write_text(SENSED)
    query = scepter.parse("SELECT ?v WHERE { { ?x <http://e/v> 1 } SEQ { ?x <http://e/v> ?v } }", "ep-sparql")
    (row,) = scepter.run(query, spark, {"http://e/s": path}, time_property="sosa").select("v.value").collect()
    assert row["value"] == "7"
    frame = spark.read.format("rdf").option("timeProperty", "sosa").load(str(path))
    assert scepter.run(query, spark, {"http://e/s": frame}).count() == 1
    with pytest.raises(scepter.DataError, match="no event of the input has a time"):
        scepter.run(query, spark, {"http://e/s": path})
