"""Static data in an index, on Spark: the answers of one process, whether workers find the index where the driver has it or
take the copy that Spark brings them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import scepter
from scepter.io.sources import open_source
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.rdf.terms import IRI, Literal, Term
from scepter.runtime.local import run_local
from scepter.runtime.spark.shipped_background import MappedGraph, Shipped

NS = "http://example/"
SPASEQ = f"""PREFIX : <{NS}>
SELECT ?s ?n WITHIN 4 FROM STREAM S <{NS}s>
WHERE {{ SEQ (A; B)
  DEFINE GPM A ON S {{ ?s :p ?v GRAPH :db {{ ?s :owner ?o }} }}
  DEFINE GPM B ON S {{ ?s :p ?w GRAPH :db {{ ?s :owner ?o . ?o :name ?n }} FILTER (?n > 10) }} }}"""
SPARKWAVE = f"""PREFIX : <{NS}>
SELECT ?s ?n FROM STREAM <{NS}s> [RANGE 4] FROM :db WHERE {{ ?s :p ?v . ?s :keeper ?o . ?o :name ?n FILTER (?n > 10) }}"""
ONTOLOGY = f"<{NS}owner> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <{NS}keeper> .\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCEPTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("scepter.runtime.inputs._LARGE", 1_000)
    owned = (f"<{NS}s{i}> <{NS}owner> _:o{i} .\n_:o{i} <{NS}name> {i} .\n" for i in range(40))
    (tmp_path / "db.ttl").write_text("".join(owned))
    time = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    events = (f"<{NS}s{8 + i % 7}> <{NS}p> <{NS}v> {time.format(i // 2)} .\n" for i in range(60))
    (tmp_path / "s.nq").write_text("".join(events))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(("text", "ontology", "brought"), [(SPASEQ, None, False), (SPARKWAVE, ONTOLOGY, True)])
def test_the_answers_of_one_process(
    spark: SparkSession, files: Path, monkeypatch: pytest.MonkeyPatch, text: str, ontology: str | None, brought: bool
) -> None:
    query = scepter.parse(text)
    static: dict[str | None, str | Path] = {f"{NS}db": files / "db.ttl"}
    local = run_local(query, {f"{NS}s": open_source(str(files / "s.nq"))}, background=static, ontology=ontology)
    expected = sorted((m.start, m.end, plain(m.bindings["s"]), plain(m.bindings["n"])) for m in local)
    assert len(expected) >= 4
    if brought:
        (index,) = (files / "cache").iterdir()
        spark.sparkContext.addFile(str(index))
        monkeypatch.setattr("scepter.runtime.spark.shipped_background._shipped", unreachable)
    found = scepter.run(query, spark, {f"{NS}s": files / "s.nq"}, background=static, ontology=ontology)
    assert sorted(map(tuple, found.selectExpr("start", "end", "s.value", "n.value").collect())) == expected


def unreachable(graph: Graph) -> Shipped:
    """As a worker on another machine is told of it."""
    if not isinstance(graph, StoredGraph):
        return ()
    assert graph.store.path is not None
    return MappedGraph(f"/nowhere/{graph.store.path.name}", graph.store.key, graph.scope, graph.salt)


def plain(term: Term) -> str:
    assert isinstance(term, (IRI, Literal))
    return term.value if isinstance(term, IRI) else term.lexical
