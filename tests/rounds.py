"""A run over history as Spark divides it, without Spark: some reading tasks, some buckets, one round after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scepter.algebra.query import Ask
from scepter.physical.distribution.partitioning import results_of
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.nquads import ReadState
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.runtime.spark.arrivals import SALT_ROOM
from scepter.runtime.spark.batch import Reading, nothing_read, packed_rows, run_bucket
from scepter.runtime.spark.environment import Enclosed
from scepter.runtime.spark.jobs import Job
from scepter.timeline import MIN_INSTANT


def divided(job: Job, events: Sequence[GraphEvent], tasks: int) -> list[Match]:
    """What the buckets of a job find in events that so many tasks read, in turn; in rounds, where units feed others."""
    found: list[Match] = []
    given = list(events)
    for round in range(job.rounds):
        fed = job.fed(round)
        for match in _one_round(replace(job, round=round), given, tasks):
            if match.query not in fed:
                found.append(match)
            elif match.graph:
                made = [(str(triple.subject), str(triple.predicate), str(triple.object)) for triple in match.graph]
                given.append(GraphEvent(fed[match.query], None, match.start, match.end, made))
    return list(_once(job, found))


def _one_round(job: Job, events: list[GraphEvent], tasks: int) -> list[Match]:
    blobs: dict[tuple[int, int], list[memoryview]] = {}
    for task in range(tasks):
        run = ReadState(job.kind, (task + 1) * SALT_ROOM)
        mine = events[task::tasks]
        for stream in sorted({event.stream_index for event in mine}):  # a task reads one stream after the other
            of_stream = [event for event in mine if event.stream_index == stream]
            for part in packed_rows(job, [events_to_batch(of_stream, job.key, job.kind, run=run)], run.salt):
                for row in part.to_pylist():
                    if row["query"] >= 0:
                        blobs.setdefault((row["query"], row["bucket"]), []).append(memoryview(row["blob"]))
    if job.options.evaluate_at:
        for row in (row for part in nothing_read(job) for row in part.to_pylist()):
            blobs.setdefault((row["query"], row["bucket"]), []).append(memoryview(row["blob"]))
    reading = Reading(Enclosed(job), lambda letter: None)
    return [m for (share, bucket), of in blobs.items() for part in run_bucket(reading, share, bucket, of) for m in part]


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


def in_process(job: Job, events: Sequence[GraphEvent]) -> list[Match]:
    """What one process finds in the same events."""
    engine = LocalEngine(job.program, job.options, job.background(), ontology=job.ontology, key=job.key)
    for stream in job.streams:
        engine.stream_number(stream)
    batch = events_to_batch(list(events), job.key, job.kind, run=engine.reading)
    engine.take(batch)
    return [*engine.advance(int(batch.end.max(initial=MIN_INSTANT))), *engine.finish()]
