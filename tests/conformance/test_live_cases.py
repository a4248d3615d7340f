"""Every golden case as live input, in many small micro-batches. Workers come and go: what they kept in memory is lost."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from buckets import job_of, triples
from microbatches import Micro, comparable, engine_answers, graph_event, rows_of
from scepter.cases.loader import load_case
from scepter.errors import ScepterError
from scepter.runtime.queries import check_endless
from scepter.runtime.spark import whole
from scepter.timeline import TimeKind
from spark_answers import case_query

CASES = sorted((Path(__file__).parents[2] / "cases").rglob("*.case.yaml"))
FAR = triples(":far :away true .")
_BUCKETS = 16


@pytest.mark.parametrize("size", [1, 3], ids=["one by one", "three by three"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name.removesuffix('.case.yaml')}")
def test_live_gives_what_the_engine_gives(path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scepter.runtime.spark.bucket_work.STRETCH_ROWS", 1)  # what comes at once is searched bit by bit
    case = load_case(path)
    try:
        query, options, streams = case_query(case)
        check_endless(query)
        kind = next((event.kind for events in streams.values() for event in events), TimeKind.INTEGER)
        job = job_of(
            query, _BUCKETS, background=case.background, options=options, kind=kind, live=True, ontology=case.ontology,
            given=streams,
        )  # fmt: skip
    except ScepterError as error:
        pytest.skip(f"no live run: {error.diagnostic.message}")
    given = sorted(((iri, e) for iri, events in streams.items() for e in events), key=lambda pair: pair[1].end)
    if not given:
        pytest.skip("no event")
    far = given[-1][1].end + (1000 if kind is TimeKind.INTEGER else 60_000_000)
    far = max(1000, far - far % 1000)  # Spark tells time in milliseconds, and its watermark begins at 0
    events = [graph_event(job, iri, e.start, e.end, e.triples) for iri, e in given]
    events += [graph_event(job, iri, far, far, FAR) for iri in streams]
    live = Micro(query, job)
    for number, first in enumerate(range(0, len(events), size)):
        live.batch(events[first : first + size])
        if number % 3 == 2:
            whole._AT_HAND.clear()  # another worker takes over
    wanted = rows_of(engine_answers(job, events, far), live.schema)
    end = pa.array([far], live.schema.field("end").type)[0].as_py()
    assert comparable(live.rows, end) == comparable(wanted, end)
    assert live.late == 0
