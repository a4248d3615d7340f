"""Bounded input on Spark, beside the golden cases."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import scepter
from batches import at_time, integer, quad
from scepter.api.on_spark import files_of
from scepter.io.sources import open_source
from scepter.rdf.batch import DeadLetter
from scepter.runtime.local import run_local
from scepter.runtime.options import RunOptions
from scepter.runtime.spark import batch, sampling
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.letters import FolderLetters, collected
from scepter.runtime.spark.run import run_with_options


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


@pytest.mark.slow
def test_a_key_with_most_of_the_events_is_cut_in_time(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(
        at_time(f"e{t}", t) + quad(f"e{t}", f"<http://e/x{t % 7 % 2 * t % 5}>", f"<http://e/{'ab'[t % 3 % 2]}>", integer(t))
        for t in range(600)
    )
    (tmp_path / "s.nq").write_text(text)
    query = scepter.parse(
        "PREFIX : <http://e/> SELECT ?x ?v ?w WITHIN 5 SLIDING FROM STREAM S <http://e/s> "
        "WHERE { SEQ (A : B) DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } }",
        "spaseq",
    )
    seen: list[Job] = []
    monkeypatch.setattr(sampling, "SAMPLED_FROM", 0)

    def with_hot_keys(*given: Any) -> Job:
        seen.append(sampling.with_hot_keys(*given))
        return seen[-1]

    monkeypatch.setattr(batch, "with_hot_keys", with_hot_keys)
    rows = scepter.run(query, spark, {"http://e/s": str(tmp_path / "s.nq")}).select("start", "end").collect()
    assert seen[0].hot
    wanted = scepter.run_local(query, {"http://e/s": str(tmp_path / "s.nq")})
    assert sorted((row["start"], row["end"]) for row in rows) == sorted((match.start, match.end) for match in wanted)


@pytest.mark.slow
def test_explain_analyses_a_run(spark: SparkSession, tmp_path: Path) -> None:
    text = "".join(
        at_time(f"e{t}", t) + quad(f"e{t}", f"<http://e/x{t % 5}>", f"<http://e/{'ab'[t % 3 % 2]}>", integer(t))
        for t in range(600)
    )
    (tmp_path / "s.nq").write_text(text)
    query = scepter.parse(
        "PREFIX : <http://e/> SELECT ?x ?v ?w WITHIN 5 SLIDING FROM STREAM S <http://e/s> "
        "WHERE { SEQ (A : B) DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } }",
        "spaseq",
    )
    told = json.loads(query.explain("json", analyze={"http://e/s": str(tmp_path / "s.nq")}, spark=spark))
    matches = scepter.run_local(query, {"http://e/s": str(tmp_path / "s.nq")})
    assert told["units"][0]["operators"][-1]["work"]["rows_out"] == len(matches) > 0
    reading, buckets = told["stages"]
    assert sum(task["work"]["rows_in"] for task in reading["tasks"]) == 600
    assert sum(task["work"]["rows_in"] for task in buckets["tasks"]) == 600
    assert buckets["skew"]["places"] == 8
    table = spark.read.format("rdf").load(str(tmp_path / "s.nq"))  # which packs inside its own reader
    told = json.loads(query.explain("json", analyze={"http://e/s": table}, spark=spark))
    assert sum(task["work"]["rows_out"] for task in told["stages"][1]["tasks"]) == len(matches)
    with pytest.raises(scepter.ScepterError, match="a live run has no end"):
        query.explain(analyze={"http://e/s": spark.readStream.format("rdf").load(str(tmp_path))}, spark=spark)


@pytest.mark.slow
def test_what_one_query_constructs_crosses_to_another(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "s.nq"
    path.write_text(
        "".join(
            at_time(f"e{t}", t) + quad(f"e{t}", f"<http://e/x{t % 5}>", f"<http://e/{'abc'[t % 3]}>", integer(t))
            for t in range(200)
        )
    )
    query = scepter.parse(
        "PREFIX : <http://e/> CONSTRUCT { ?x :rose ?w } INTO STREAM :rises WITHIN 19 SLIDING FROM STREAM S :s "
        "WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w FILTER (?w > ?v) } } "
        "SELECT ?x ?w ?u WITHIN 40 SLIDING FROM STREAM R :rises FROM STREAM S :s "
        "WHERE { SEQ (A ; B) DEFINE GPM A ON R { ?x :rose ?w } DEFINE GPM B ON S { ?x :c ?u } }",
        "spaseq",
    )
    wanted = sorted(
        (m.start, m.end, str(m.bindings["x"]).strip("<>")) for m in scepter.run_local(query, {"http://e/s": str(path)})
    )
    for given in (str(path), spark.read.format("rdf").load(str(path))):
        found = scepter.run(query, spark, {"http://e/s": given})
        assert found.columns == ["start", "end", "x", "w", "u", "graph"]
        assert sorted(map(tuple, found.select("start", "end", "x.value").collect())) == wanted != []
    told = json.loads(query.explain("json", analyze={"http://e/s": str(path)}, spark=spark))
    maker, reader = (unit["operators"][-1]["work"]["rows_out"] for unit in told["units"])
    assert maker > 0 and reader == len(wanted)


FAR = 10**9


@pytest.mark.slow
def test_an_event_in_the_far_future_that_nothing_confirms_takes_no_part(spark: SparkSession, tmp_path: Path) -> None:
    def events(times: Iterable[int]) -> str:
        return "".join(at_time(f"e{t}", t) + quad(f"e{t}", "<http://e/x>", "<http://e/a>", integer(t)) for t in times)

    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "0.nq").write_text(events([1, 2, FAR]))
    (tmp_path / "s" / "1.nq").write_text(events([*range(3, 40), 5_000]))
    (tmp_path / "s" / "2.nq").write_text(events([5_001, 40, 2 * FAR]))
    query = scepter.parse("PREFIX : <http://e/> SELECT ?v WHERE { ?x :a ?v }", "ep-sparql")
    wanted = [*range(1, 41), 5_000, 5_001]
    letters: list[DeadLetter] = []
    here = run_local(
        query,
        {"http://e/s": open_source(str(tmp_path / "s"))},
        options=RunOptions.of(max_advance=100),
        dead_letter=letters.append,
    )
    assert sorted(match.end for match in here) == wanted
    assert len(letters) == 2
    report = FolderLetters(tmp_path / "letters")
    found = run_with_options(
        query, spark, {"http://e/s": tmp_path / "s"}, RunOptions.of(max_advance=100), find_files=files_of, report=report
    )
    assert sorted(row["start"] for row in found.collect()) == wanted
    assert sorted(letter.reason for letter in collected(report.folder)) == sorted(letter.reason for letter in letters)
    (tmp_path / "s" / "3.nq").write_text("no quad\n")
    own = tmp_path / "own"
    table = spark.read.format("rdf").option("deadLetterPath", str(own)).load(str(tmp_path / "s"))
    rows = scepter.run(query, spark, {"http://e/s": table}, max_advance=100).collect()
    assert sorted(row["start"] for row in rows) == wanted
    assert len(list(collected(own))) == 1  # read twice, told once
    filtered = scepter.run(query, spark, {"http://e/s": table.where("start > 0")}, max_advance=100).collect()
    assert sorted(row["start"] for row in filtered) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("at", [2, "2026-01-01T00:00:00Z"])
def test_instants_of_evaluation_are_answered_without_an_event(spark: SparkSession, tmp_path: Path, at: int | str) -> None:
    """As in one process: of a file without an event, the instants tell the kind of time."""
    empty = tmp_path / "s.nq"
    empty.touch()
    query = scepter.parse(
        "SELECT RSTREAM (COUNT(?x) AS ?n) FROM NAMED <http://e/s> WIN [RANGE 5s] AS <http://e/w> "
        "WHERE { WINDOW <http://e/w> { ?x ?p ?y } }",
        "rsep-ql",
    )
    rows = scepter.run(query, spark, {"http://e/s": empty}, evaluate_at=[at]).select("start", "end", "n.value").collect()
    (wanted,) = query.run(empty, evaluate_at=[at]).to_pandas().itertuples(index=False)
    assert [row["value"] for row in rows] == ["0"] == [str(wanted.n)]
    if at == 2:
        assert [row[:2] for row in rows] == [(2, 2)]
    else:
        assert {row["start"].isoformat() for row in rows} == {row["end"].isoformat() for row in rows}
