"""Every golden case as Spark divides it over history, without Spark: some reading tasks, some buckets, one answer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from buckets import job_of
from microbatches import comparable, graph_event, rows_of
from rounds import divided, in_process
from scepter.cases.loader import load_case
from scepter.errors import ScepterError
from scepter.runtime.spark.tables import arrow_schema
from scepter.timeline import MAX_INSTANT, TimeKind
from spark_answers import case_query

CASES = sorted((Path(__file__).parents[2] / "cases").rglob("*.case.yaml"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name.removesuffix('.case.yaml')}")
def test_any_number_of_buckets_gives_what_one_process_gives(path: Path) -> None:
    case = load_case(path)
    try:
        query, options, streams = case_query(case)
        kind = next((event.kind for events in streams.values() for event in events), TimeKind.INTEGER)
    except ScepterError as error:
        pytest.skip(f"no run: {error.diagnostic.message}")
    given = sorted(((iri, e) for iri, events in streams.items() for e in events), key=lambda pair: pair[1].end)
    if not given:
        pytest.skip("no event")
    for buckets in (1, 8, 28):  # a grid has 1, 2 and 7
        try:
            job = job_of(
                query, buckets, background=case.background, options=options, kind=kind, ontology=case.ontology, given=streams
            )
        except ScepterError as error:
            pytest.skip(f"no run: {error.diagnostic.message}")
        events = [graph_event(job, iri, e.start, e.end, e.triples) for iri, e in given]
        schema = arrow_schema(query.variables, query.constructs, query.asks, job.kind, query.occurrences, parts=False)
        wanted = rows_of(in_process(job, events), schema)
        found = rows_of(divided(job, events, tasks=3), schema)
        last = MAX_INSTANT if kind is TimeKind.INTEGER else datetime.max.replace(tzinfo=UTC)
        assert comparable(found, last) == comparable(wanted, last), f"{buckets} buckets"
