"""The tasks of a run on Spark, one after the other in this process: how their work compares, without a JVM and whatever else
the machine does."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from statistics import mean
from typing import Final, TypeVar

from scepter.bench.contenders import Outcome, Work
from scepter.bench.contenders.spark import static_data
from scepter.bench.model import ALL_TASKS, SLOWEST, SLOWEST_BY_KEY, SLOWEST_TASK, Point
from scepter.kernel.state.container import unpack
from scepter.rdf.files import stream_files
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI
from scepter.runtime.inputs import load_background, load_ontology
from scepter.runtime.options import RunOptions
from scepter.runtime.planning import facts_of, planned
from scepter.runtime.queries import parse
from scepter.runtime.spark.batch import Reading, packed_rows, run_bucket, tasks_of
from scepter.runtime.spark.environment import Enclosed
from scepter.runtime.spark.jobs import Job, new_work
from scepter.runtime.spark.live_skew import NOTHING, SKEWED, known_after
from scepter.runtime.spark.range_reading import first_kind, read_range
from scepter.runtime.spark.ranges import Range, plan_ranges
from scepter.runtime.spark.sampling import chosen, counted_keys, sample_of
from scepter.runtime.spark.shares import A_CORE
from scepter.runtime.spark.shipped_background import ShippedBackground
from scepter.runtime.spark.splits import with_span
from scepter.timeline import MIN_INSTANT, TimeKind

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
    if point.options.get("live"):
        return _live(replace(_job(point, kind, A_CORE * _TASKS), live=True, cores=_TASKS), ranges)
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

        def of_one(task: dict[tuple[int, int], list[memoryview]] = of_task) -> int:
            return sum(len(part) for place, mine in task.items() for part in run_bucket(reading, *place, mine))

        rows, cpu = _measured(of_one)
        found += rows
        spent.append(cpu)
    return found, spent


_Found = TypeVar("_Found")


def _measured(run: Callable[[], _Found]) -> tuple[_Found, float]:
    """What it gives, and the least CPU seconds of some turns."""
    turns = []
    for _ in range(_TURNS):
        begun = time.process_time()
        found = run()
        turns.append(time.process_time() - begun)
    return found, min(turns)


def _live(job: Job, ranges: list[tuple[int, Range]]) -> Outcome:
    """Each range is a micro-batch, read by one task; the first one tells which keys are hot. Buckets are the tasks' in turn."""
    answers, split = _micro_batches(job, ranges, tells=True)
    others, by_key = _micro_batches(job, ranges, tells=False)
    assert answers == others
    extra = {SLOWEST_BY_KEY: max(by_key) / mean(by_key), SLOWEST: max(split) / mean(split)}
    return Outcome(answers, extra={**extra, SLOWEST_TASK: max(split) / max(by_key), ALL_TASKS: sum(split) / sum(by_key)})


def _micro_batches(job: Job, ranges: list[tuple[int, Range]], *, tells: bool) -> tuple[int, list[float]]:
    """How many rows the buckets give, and the CPU seconds of the tasks, without the first micro-batch where there are more."""
    job = replace(job, name=f"{job.name}-{tells}")
    (share,) = job.shares
    kept, known, watermark, answers = NOTHING, "", MIN_INSTANT, 0
    state: dict[int, bytes] = {}
    spent = [0.0] * _TASKS
    for number, (stream, part) in enumerate(ranges):
        blobs: dict[int, list[bytes]] = {}
        batches = read_range(part, job.key, stream, lambda letter: None, predicates=job.predicates, kind=job.kind, named=False)
        with SKEWED.told(known):
            for row in (row for packed in packed_rows(job, batches, part.salt) for row in packed.to_pylist()):
                blobs.setdefault(row["bucket"], []).append(row["blob"])
            times = [unpack(blob) for blob in blobs.pop(-1)]
            greatest = max(int(arrays["time"].max()) for arrays, _ in times)
            kept, news = known_after(job, kept, [told["counted"] for _, told in times], greatest)
            for bucket, mine in blobs.items():

                def step(
                    bucket: int = bucket, mine: list[bytes] = mine, behind: int = watermark, until: int = greatest
                ) -> tuple[int, bytes]:
                    work = new_work(job, share, bucket)
                    if bucket in state:
                        work.restore(state[bucket], "")
                    for blob in mine:
                        work.accept(blob, behind)
                    return sum(len(matches) for matches in work.released(until - 1)), work.dump("")

                (found, after), cpu = _measured(step)
                state[bucket] = after
                answers += found
                spent[bucket % _TASKS] += cpu if number or len(ranges) == 1 else 0
        watermark, known = greatest, (news or known) if tells else ""
    with SKEWED.told(known):
        for bucket, blob in state.items():
            work = new_work(job, share, bucket)
            work.restore(blob, "")
            answers += sum(len(matches) for matches in work.ended())
    return answers, spent
