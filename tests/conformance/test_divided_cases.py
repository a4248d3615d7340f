"""Every golden case as Spark divides it over history, without Spark: some reading tasks, some buckets, one answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from buckets import job_of
from microbatches import comparable, graph_event, rows_of
from scepter.algebra.query import Ask
from scepter.cases.loader import load_case
from scepter.errors import ScepterError
from scepter.physical.partitioning import results_of
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.nquads import ReadState
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.runtime.spark.batch import Reading, packed_rows, run_bucket
from scepter.runtime.spark.environment import Enclosed
from scepter.runtime.spark.jobs import SALT_ROOM, Job
from scepter.runtime.spark.tables import arrow_schema
from scepter.timeline import MAX_INSTANT, TimeKind
from spark_answers import case_query

CASES = sorted((Path(__file__).parents[2] / "cases").rglob("*.case.yaml"))


def divided(job: Job, events: list[GraphEvent], tasks: int) -> list[Match]:
    """What the buckets of a job find in events that so many tasks read, in turn."""
    blobs: dict[tuple[int, int], list[memoryview]] = {}
    for task in range(tasks):
        run = ReadState(job.kind, (task + 1) * SALT_ROOM)
        mine = events[task::tasks]
        if mine:
            for part in packed_rows(job, [events_to_batch(mine, job.key, job.kind, run=run)], run.salt):
                for row in part.to_pylist():
                    if row["query"] >= 0:
                        blobs.setdefault((row["query"], row["bucket"]), []).append(memoryview(row["blob"]))
    reading = Reading(Enclosed(job), lambda letter: None)
    found = [m for (share, bucket), of in blobs.items() for part in run_bucket(reading, share, bucket, of) for m in part]
    return list(_once(job, found))


def _once(job: Job, found: list[Match]) -> Iterator[Match]:
    """Of the answers to an ASK, the first: as Spark merges them."""
    asks = {
        number
        for unit in job.plan.units
        for number, result in enumerate(results_of(unit.unit), unit.number)
        if isinstance(result, Ask)
    }
    for match in sorted(found, key=lambda match: (match.end, match.start)):
        if match.query in asks:
            asks.discard(match.query)
            asks.add(-1 - match.query)
        elif -1 - match.query in asks:
            continue
        yield match


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
        wanted = rows_of(_in_process(job, events), schema)
        found = rows_of(divided(job, events, tasks=3), schema)
        last = MAX_INSTANT if kind is TimeKind.INTEGER else datetime.max.replace(tzinfo=UTC)
        assert comparable(found, last) == comparable(wanted, last), f"{buckets} buckets"


def _in_process(job: Job, events: list[GraphEvent]) -> list[Match]:
    engine = LocalEngine(job.program, job.options, job.background(), ontology=job.ontology, key=job.key)
    for stream in job.streams:
        engine.stream_number(stream)
    batch = events_to_batch(events, job.key, job.kind, run=engine.reading)
    engine.take(batch)
    return [*engine.advance(int(batch.end.max())), *engine.finish()]
