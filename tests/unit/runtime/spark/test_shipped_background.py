"""Static graphs as workers get them: few triples as they are, many as the place of their index."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest
from pyspark import SparkFiles

from buckets import Buckets, job_of, triples
from scepter.errors import OptionError
from scepter.rdf.terms import IRI, BlankNode, Triple
from scepter.runtime.inputs import load_background
from scepter.runtime.queries import parse
from scepter.runtime.spark.shipped_background import MappedGraph, ShippedBackground

NS = "http://example/"
QUERY = parse(
    f"""PREFIX : <{NS}>
SELECT ?s ?o ?n WITHIN 10 FROM STREAM S <{NS}s>
WHERE {{ SEQ (A; B)
  DEFINE GPM A ON S {{ ?s :p ?v GRAPH :db {{ ?s :owner ?o }} }}
  DEFINE GPM B ON S {{ ?s :q ?w GRAPH :db {{ ?s :owner ?o . ?o :name ?n }} FILTER (?n > 30) }} }}"""
)
OWNERS = 2_000


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str | None, str]:
    monkeypatch.setenv("SCEPTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("scepter.runtime.inputs._LARGE", 10_000)
    lines = [f"<{NS}s{i}> <{NS}owner> _:o{i} . _:o{i} <{NS}name> {i} ." for i in range(OWNERS)]
    (tmp_path / "large.ttl").write_text("\n".join([*lines, f"<{NS}s1> <{NS}note> 'not asked for' ."]))
    (tmp_path / "small.ttl").write_text(f"<{NS}a> <{NS}b> <{NS}c> .")
    return {f"{NS}db": str(tmp_path / "large.ttl"), None: str(tmp_path / "small.ttl")}


def test_a_job_is_small_however_large_its_static_data_is(static: dict[str | None, str]) -> None:
    job = job_of(QUERY, background=static)
    assert len(pickle.dumps(job)) < 5_000
    (named,) = job.static.named
    assert isinstance(named[1], MappedGraph)
    assert job.static.default == (Triple(IRI(f"{NS}a"), IRI(f"{NS}b"), IRI(f"{NS}c")),)
    dataset = pickle.loads(pickle.dumps(job)).background().dataset
    graph = dataset.named[IRI(f"{NS}db")]
    assert len(graph) == 2 * OWNERS + 1
    (owner,) = graph.match(IRI(f"{NS}s7"), IRI(f"{NS}owner"), None)
    assert isinstance(owner.object, BlankNode)
    assert graph.match(owner.object, None, None)[0].predicate == IRI(f"{NS}name")


def test_answers_are_those_of_triples_that_are_sent(static: dict[str | None, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[tuple[str, ...]]:
        job = pickle.loads(pickle.dumps(job_of(QUERY, 3, background=static)))
        buckets = Buckets(job)
        for i in range(20, 60):
            buckets.take(f"{NS}s", 2 * i, 2 * i, triples(f":s{i} :p 1 ."))
            buckets.take(f"{NS}s", 2 * i + 1, 2 * i + 1, triples(f":s{i} :q 2 ."))
        found = buckets.finish()
        return sorted(tuple(str(match.bindings[name]) for name in ("s", "n")) for match in found)

    mapped = run()
    monkeypatch.setattr("scepter.runtime.inputs._LARGE", 10**9)
    assert run() == mapped
    assert len(mapped) == 29


def test_only_other_machines_are_sent_the_index(static: dict[str | None, str]) -> None:
    shipped = ShippedBackground.of(load_background(QUERY, static))
    for master, files in (("local[2]", 0), ("spark://host:7077", 1), ("yarn", 1)):
        spark = Mock(sparkContext=Mock(master=master))
        shipped.give(spark)
        assert spark.sparkContext.addFile.call_count == files


def test_a_worker_elsewhere_takes_the_copy_and_no_other_index(
    static: dict[str | None, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkFiles, "get", lambda name: str(tmp_path / "elsewhere" / name))
    job = job_of(QUERY, background=static)
    (here,) = (tmp_path / "cache").iterdir()
    copy = tmp_path / "elsewhere" / here.name
    copy.parent.mkdir()
    shutil.move(here, copy)
    assert len(job.background().dataset.named[IRI(f"{NS}db")]) == 2 * OWNERS + 1
    job_of(QUERY, background=static)  # the same file, indexed anew: ids and places are others
    assert here.is_file()
    (graph,) = job.background().dataset.named.values()
    assert graph.store.path == copy  # type: ignore[attr-defined]
    copy.unlink()
    with pytest.raises(OptionError, match="made anew while the query runs"):
        job.background()
