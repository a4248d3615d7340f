"""The tasks of a run over history on Spark, one after the other in this process: how their work compares, without a JVM and
whatever else the machine does."""

from __future__ import annotations

import time
import uuid
from itertools import chain
from statistics import mean
from typing import Final

from scepter.bench.contenders import Outcome, Work
from scepter.bench.contenders.spark import static_data
from scepter.bench.model import SLOWEST, SLOWEST_BY_KEY, Point
from scepter.rdf.files import stream_files
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI
from scepter.runtime.inputs import load_background, load_ontology
from scepter.runtime.options import RunOptions
from scepter.runtime.planning import facts_of, planned
from scepter.runtime.queries import parse
from scepter.runtime.spark.batch import Reading, packed_rows, run_bucket, tasks_of
from scepter.runtime.spark.environment import Enclosed
from scepter.runtime.spark.history_span import with_span
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.range_reading import first_kind, read_range
from scepter.runtime.spark.ranges import Range, plan_ranges
from scepter.runtime.spark.sampling import chosen, counted_keys, sample_of
from scepter.runtime.spark.shipped_background import ShippedBackground
from scepter.timeline import TimeKind

_TASKS: Final = 8
"""Of a stage, unless the point says how many buckets there are: as on two cores."""
_TURNS: Final = 3
"""A task takes some milliseconds: of several turns the least is its own, the rest the machine's."""


def prepared(name: str) -> Work:
    """Nothing to set up."""
    return run


def run(point: Point) -> Outcome:
    """The number of rows, and the CPU of the slowest task against that of all: with hot keys apart, and by key alone."""
    ranges = [
        (stream, part)
        for stream, source in enumerate(point.streams.values())
        for part in plan_ranges(stream_files(source), parts=_TASKS, salt=stream << 40)
    ]
    kind = first_kind([part.path for _, part in ranges]) or TimeKind.INTEGER
    tasks = int(point.options.get("buckets", _TASKS))
    by_key = _job(point, kind, tasks)
    spread = chosen(by_key, chain.from_iterable(counted_keys(by_key, stream, sample_of(part)) for stream, part in ranges))
    _, before = _tasks(by_key, ranges)
    answers, after = _tasks(with_span(spread, ranges), ranges)
    return Outcome(answers, extra={SLOWEST_BY_KEY: max(before) / mean(before), SLOWEST: max(after) / mean(after)})


def _job(point: Point, kind: TimeKind, buckets: int) -> Job:
    query, options = parse(point.query, point.language), RunOptions()
    given = static_data(point)
    static, schema = load_background(query, given["background"], given["ontology"]), load_ontology(query, given["ontology"])
    return Job(
        name=uuid.uuid4().hex,
        plan=planned(query.program, facts_of(options, static, schema, kind)),
        options=options,
        kind=kind,
        key=TermKey.fixed(),
        streams=tuple(map(IRI, point.streams)),
        static=ShippedBackground.of(static),
        ontology=schema,
        buckets=buckets,
        parts=False,
    )


def _tasks(job: Job, ranges: list[tuple[int, Range]]) -> tuple[int, list[float]]:
    """How many rows the tasks behind the shuffle give, and the CPU seconds of each."""
    tasks = tasks_of(job)
    blobs: dict[int, dict[tuple[int, int], list[memoryview]]] = {task: {} for task in range(tasks)}
    for stream, part in ranges:
        batches = read_range(part, job.key, stream, lambda letter: None, predicates=job.predicates, kind=job.kind, named=False)
        for packed in packed_rows(job, batches, part.salt):
            for row in packed.to_pylist():
                if row["blob"] is not None:
                    place = row["query"], row["bucket"]
                    blobs[sum(place) % tasks].setdefault(place, []).append(memoryview(row["blob"]))
    reading, found, spent = Reading(Enclosed(job), lambda letter: None), 0, []
    for of_task in blobs.values():
        turns = []
        for _ in range(_TURNS):
            begun = time.process_time()
            rows = sum(len(part) for place, mine in of_task.items() for part in run_bucket(reading, *place, mine))
            turns.append(time.process_time() - begun)
        found += rows
        spent.append(min(turns))
    return found, spent
