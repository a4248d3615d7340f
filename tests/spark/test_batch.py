"""Bounded input on Spark gives what the cases say, however the work is divided."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import scepter
from scepter.cases.compare import difference
from scepter.cases.loader import load_case
from scepter.cases.model import Case, Refusal
from scepter.cases.nquads import case_nquads
from scepter.cases.runner import find_cases
from scepter.errors import ScepterError
from scepter.rdf.files import stream_files
from scepter.runtime.spark.run import Given, run_with_options
from spark_answers import answers, case_query, labelled, table_schema, together, write_events

CASES = [load_case(path) for path in find_cases([Path(__file__).parents[2] / "cases" / "spaseq"])]
ANSWERED = [case for case in CASES if not isinstance(case.expectation, Refusal)]


@pytest.fixture
def partitions(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[int]:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(request.param))
    yield request.param
    spark.conf.set("spark.sql.shuffle.partitions", str(before))


def given(spark: SparkSession, case: Case, folder: Path, *, tables: bool) -> dict[str, Given]:
    _, _, streams = case_query(case)
    found: dict[str, Given] = {}
    for number, (iri, events) in enumerate(streams.items()):
        path = folder / f"{case.path.name}-{number}{'.parquet' if tables else '.nq'}"
        if tables and events:
            write_events(path, events)
            found[iri] = spark.read.schema(table_schema(events[0].kind)).parquet(str(path)).repartition(3)
        else:
            path.with_suffix(".nq").write_text(case_nquads(events), encoding="utf-8", newline="\n")
            found[iri] = str(path.with_suffix(".nq"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("partitions", "tables"), [(1, False), (2, True), (7, False)], indirect=["partitions"])
def test_every_case(spark: SparkSession, partitions: int, tables: bool, tmp_path: Path) -> None:
    runs = []
    for case in ANSWERED:
        query, options, _ = case_query(case)
        streams = given(spark, case, tmp_path, tables=tables)
        found = run_with_options(
            query, spark, streams, options, find_files=stream_files, background=case.background, ontology=case.ontology
        )
        runs.append(labelled(case.path.name, found))
    got = answers(together(runs).collect())
    wrong = {case.path.name: difference(case, got.get(case.path.name, [])) for case in ANSWERED}
    assert not {name: text for name, text in wrong.items() if text is not None}
    assert len(got) > 40, "most cases have answers"


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


def test_what_is_refused_is_refused_before_any_job_runs(spark: SparkSession, tmp_path: Path) -> None:
    refused = [case for case in CASES if isinstance(case.expectation, Refusal)]
    assert refused
    for case in refused:
        assert isinstance(case.expectation, Refusal)
        with pytest.raises(ScepterError) as told:
            query, options, _ = case_query(case)
            streams = given(spark, case, tmp_path, tables=False)
            run_with_options(query, spark, streams, options, find_files=stream_files, background=case.background)
        assert case.expectation.words in told.value.diagnostic.message
