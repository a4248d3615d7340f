"""Every golden case that Spark divides into buckets, over history: stretch by stretch the same rows as all at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from buckets import job_of
from microbatches import graph_event
from scepter.cases.loader import load_case
from scepter.errors import ScepterError
from scepter.rdf.formats import events_to_batch
from scepter.rdf.nquads import ReadState
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.spark import batch, bucket_work
from scepter.runtime.spark.shares import Form
from scepter.runtime.spark.tables import arrow_schema
from scepter.timeline import TimeKind
from spark_answers import case_query

CASES = sorted((Path(__file__).parents[2] / "cases" / "spaseq").rglob("*.case.yaml"))


def rows(path: Path) -> Counter[str]:
    case = load_case(path)
    query, options, streams = case_query(case)
    kind = next((event.kind for events in streams.values() for event in events), TimeKind.INTEGER)
    job = job_of(query, 3, background=case.background, options=options, kind=kind, ontology=case.ontology, given=streams)
    if any(share.form is Form.EVENTS for share in job.shares):
        return Counter()
    events = [graph_event(job, iri, e.start, e.end, e.triples) for iri, given in streams.items() for e in given]
    packed = batch.packed_rows(job, [events_to_batch(events, job.key, kind, run=ReadState(kind))], 0)
    blobs = [part.filter(part.column("blob").is_valid()) for part in packed]
    schema = arrow_schema(query.variables, query.constructs, query.asks, kind, query.occurrences, parts=False)
    reading = cast("batch.Reading", SimpleNamespace(job=SimpleNamespace(value=job), report=lambda letter: None))
    found = batch._run_buckets(reading, schema, blobs)
    return Counter(repr(sorted((k, v) for k, v in row.items() if k != "graph")) for part in found for row in part.to_pylist())


def test_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    parted = answered = 0
    for path in CASES:
        try:
            whole = rows(path)
        except ScepterError:
            continue  # refused
        stretches = 0
        with monkeypatch.context() as patched:
            patched.setattr(bucket_work, "STRETCH_ROWS", 1)
            plain = Pipeline.stretches

            def counted(pipeline: Pipeline, size: int, plain: object = plain) -> list[int]:
                nonlocal stretches
                found: list[int] = plain(pipeline, size)  # type: ignore[operator]
                stretches += len(found)
                return found

            patched.setattr(Pipeline, "stretches", counted)
            assert rows(path) == whole, path.name
        parted += stretches > 1
        answered += bool(whole)
    assert parted > 20
    assert answered > 20
