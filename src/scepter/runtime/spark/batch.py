"""Bounded input on Spark: read and match in parallel, shuffle packed solutions by bucket, run the kernel per bucket."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from scepter.algebra.query import Ask
from scepter.kernel.state.container import pack
from scepter.physical.distribution.partitioning import results_of
from scepter.physical.explain.description import Ran
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.nquads import ReadState
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.runtime.queries import Query
from scepter.runtime.spark.advance import known_before, moved_to
from scepter.runtime.spark.arrivals import SALT_ROOM
from scepter.runtime.spark.beginning import recent
from scepter.runtime.spark.confirmed import confirmed, with_refused
from scepter.runtime.spark.environment import Shared, shared
from scepter.runtime.spark.frames import frame_batches
from scepter.runtime.spark.future import present
from scepter.runtime.spark.group_keys import place_of_times, placed
from scepter.runtime.spark.jobs import Job, Work, new_work, work
from scepter.runtime.spark.lifted import lifted_batches, wanted_columns
from scepter.runtime.spark.live_skew import Counted
from scepter.runtime.spark.measured import BucketTask, ReadingTask, Told, ran
from scepter.runtime.spark.pushdown import PACKED, packed_table
from scepter.runtime.spark.sampling import with_hot_keys
from scepter.runtime.spark.shares import Form
from scepter.runtime.spark.splits import Inputs, Split, given_splits, read_split, splits_of, spread, with_span
from scepter.runtime.spark.tables import QUERY, arrow_schema, graph_schema, match_table, result_schema
from scepter.runtime.spark.whole import packed_events, run_events
from scepter.timeline import MIN_INSTANT

_Packed: TypeAlias = tuple[int, int, int | None, int, bytes | None]
_PACKED = pa.schema(
    [
        ("query", pa.int32()),
        ("bucket", pa.int32()),
        ("place", pa.int32()),
        ("time", pa.int64()),
        ("events", pa.int64()),
        ("blob", pa.binary()),
    ]
)
_TOLD = -3
"""The `query` of rows that tell what a task did."""
_TIME = -2
"""The `query` of rows that tell how far time is and of how many events; of live input, their blobs hold the times of all."""

GROUP_BYTES: Final = 16 << 20
"""Batches of so much memory are packed together: fewer cost more blobs, more wait longer and cost memory."""

Report = Callable[[DeadLetter], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """What tasks are given besides their splits."""

    job: Shared[Job]
    report: Report


def run_batch(
    query: Query,
    spark: SparkSession,
    job: Job,
    inputs: Inputs,
    report: Report,
) -> DataFrame:
    """The matches of a job over bounded inputs."""
    job = with_refused(spark, job, inputs)
    told = {"parts": job.parts, "why": job.options.why}
    schema = arrow_schema(query.variables, query.constructs, query.asks, job.kind, query.occurrences, **told)
    found = partial(_matches, schema, result_schema(query, job.kind, **told))
    return reduce(DataFrame.unionAll, [_answers(job, each) for _, each in _rounds(spark, job, inputs, report, found)])


def _matches(schema: pa.Schema, made: StructType, reading: Reading, packed: DataFrame) -> DataFrame:
    """What is found in what is read."""
    return _merged(packed.mapInArrow(partial(_run_buckets, reading, schema), made), reading.job.value)


def _answers(job: Job, found: DataFrame) -> DataFrame:
    """What is not constructed for others."""
    feeding = [number for round in range(job.rounds) for number in job.fed(round)]
    return found.where(~F.col(QUERY).isin(feeding)) if feeding else found


def analyze_batch(spark: SparkSession, job: Job, inputs: Inputs, report: Report) -> Ran:
    """What the tasks of a job over bounded inputs do; its matches are counted and forgotten."""
    job = with_refused(spark, replace(job, measured=True), inputs)
    found = partial(_matches, arrow_schema((), True, False, job.kind, parts=False), graph_schema(job.kind))
    told: list[Told] = []
    for (reading, packed), _ in _rounds(spark, job, inputs, report, found):
        rows = packed.mapInArrow(partial(_measure_buckets, reading), "told binary").collect()
        told += [Told.read(bytes(row["told"])) for row in rows]
        job = reading.job.value
    return ran(job, told)


def _rounds(
    spark: SparkSession,
    job: Job,
    inputs: Inputs,
    report: Report,
    found: Callable[[Reading, DataFrame], DataFrame],
) -> Iterator[tuple[tuple[Reading, DataFrame], DataFrame]]:
    """Round after round what is read, each blob in the task of its bucket, and what is `found` in it. What units construct for
    others is read in later rounds, as a table of events among the inputs."""
    given = list(inputs.items())
    job = with_span(with_hot_keys(spark, job, splits_of(given)), splits_of(given))
    for round in range(job.rounds):
        reading = Reading(shared(spark, replace(job, round=round)), report)
        packed = _spread(spark, reading, given)
        matches = found(reading, packed)
        yield (reading, packed), matches
        for number, stream in job.fed(round).items():
            graphs = matches.where((F.col(QUERY) == number) & (F.size("graph") > 0))
            given.append((stream, graphs.select("start", "end", "graph")))


def _spread(spark: SparkSession, reading: Reading, inputs: Sequence[tuple[int, DataFrame | list[Split]]]) -> DataFrame:
    """What is read of the inputs, each blob in the task of its bucket."""
    packed = _packed(spark, reading, inputs)
    # straight to the task of its bucket: a grouping would sort the blobs first, and hash eight buckets to two tasks unevenly
    tasks = tasks_of(reading.job.value)
    return packed.where(F.col("blob").isNotNull()).repartitionById(tasks, F.col("place"))


def tasks_of(job: Job) -> int:
    """How many tasks there are behind the shuffle."""
    return max(share.buckets for share in job.at_work)


def _packed(spark: SparkSession, reading: Reading, inputs: Sequence[tuple[int, DataFrame | list[Split]]]) -> DataFrame:
    frames = []
    if splits := splits_of(inputs):
        frames.append(spread(spark, splits).mapInArrow(partial(_pack_splits, reading), PACKED))
    for stream, given in inputs:
        if isinstance(given, DataFrame):
            job = reading.job.value
            packed = None if job.refused else packed_table(given, job, stream)
            if packed is None:
                events = given.select(*wanted_columns(job, stream, given.columns))
                packed = events.mapInArrow(partial(pack_frame, reading, stream), PACKED)
            frames.append(packed)
    if reading.job.value.options.evaluate_at:
        frames.append(spark.range(0, 1, 1, 1).mapInArrow(partial(_pack_nothing, reading), PACKED))
    return reduce(DataFrame.unionAll, frames) if frames else spark.createDataFrame([], PACKED)


def _pack_nothing(reading: Reading, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in rows:
        yield from nothing_read(reading.job.value)


def nothing_read(job: Job) -> Iterator[pa.RecordBatch]:
    """What buckets are given besides events where instants of evaluation are: at those there are answers without any event."""
    found: list[_Packed] = []
    for share in job.at_work:
        blobs: Iterable[tuple[int, int, bytes]] = ()  # a sequence is not evaluated at instants
        if share.form is Form.EVENTS:
            blobs = [(bucket, MIN_INSTANT, pack({}, {"last": MIN_INSTANT})) for bucket in range(share.buckets)]
        elif share.form is Form.ROWS:
            blobs = work(job, share).solve((), 0)
        found += [(share.number, bucket, time, 0, blob) for bucket, time, blob in blobs]
    if found:
        yield _table(job, found)


def _pack_splits(reading: Reading, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Ranges of files and spans of topics as packed solutions."""
    job = reading.job.value
    for stream, split in given_splits(rows):
        batches = read_split(job, stream, split, reading.report, predicates=job.predicates, named=job.named)
        # events are numbered as their blank nodes are salted: apart from those of every other split
        yield from packed_rows(job, confirmed(job, batches, reading.report), split.salt, reading.report)


def pack_frame(reading: Reading, stream: int, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Events of a table as packed solutions."""
    job = reading.job.value
    # drawn anew by each task: no other task of the run, nor of the run before a restart, numbers its events alike
    run = ReadState(job.kind, secrets.randbits(38) * SALT_ROOM, job.options.times, job.options.limits)
    if stream in job.lifts:
        batches = lifted_batches(job, stream, rows, run, reading.report)
    else:
        batches = frame_batches(rows, stream, job.kind, job.key, run, reading.report, predicates=job.predicates)
    used = confirmed(job, present(job, batches, reading.report), reading.report)
    yield from packed_rows(job, used, run.salt, reading.report)


def packed_rows(
    job: Job, batches: Iterable[EventBatch], number: int, report: Report = lambda letter: None
) -> Iterator[pa.RecordBatch]:
    """Solutions or rows per share and bucket, or the events as they are where nothing else crosses the shuffle. `report` takes
    what cannot be used, and what there is to say."""
    known = known_before(job)
    measured = ReadingTask(job) if job.measured else None
    first = number
    for group in _groups(recent(job, batches)):
        rows: list[_Packed] = []
        counted: dict[str, Counted] = {}
        for share in job.at_work:
            made = (
                packed_events(job, share, group) if share.form is Form.EVENTS else work(job, share).solve(group, number, report)
            )
            rows += [(share.number, bucket, time, 0, blob) for bucket, time, blob in made]
            if share.form is not Form.EVENTS and (mine := work(job, share).counted()) is not None:
                counted[str(share.number)] = mine
        stream, time = (np.concatenate([getattr(batch, name) for batch in group]) for name in ("stream", "end"))
        number += len(time)
        moved: int | None = int(time.max())
        if known is not None:  # a group is of one stream; not each of its events may move time on
            moved = moved_to(job, known, int(stream[0]), time)
            rows = [(number, bucket, None, events, blob) for number, bucket, _, events, blob in rows]
        # time moves on with every event, also with those that no pattern looks at; and any of them may be late
        told = pack({"stream": stream, "time": time}, {"counted": counted}) if job.live else None
        rows.append((_TIME, -1, moved, len(time), told))
        yield _table(job, rows)
    if measured is not None:
        yield _table(job, [(_TOLD, -1, None, 0, measured.told(number - first).written())])


def _table(job: Job, rows: Sequence[_Packed]) -> pa.RecordBatch:
    given = [(query, bucket, _place(job, query, bucket), *rest) for query, bucket, *rest in rows]
    columns = [pa.array(c, t) for c, t in zip(zip(*given, strict=True), _PACKED.types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=_PACKED)


def _place(job: Job, query: int, bucket: int) -> int:
    if not job.live:
        return max(query + bucket, 0)
    return placed(job.buckets, query, bucket) if query >= 0 else place_of_times(job.buckets)


def _groups(batches: Iterable[EventBatch]) -> Iterator[list[EventBatch]]:
    """Batches with events, as many together as are packed together."""
    group: list[EventBatch] = []
    size = 0
    for batch in filter(lambda batch: batch.events, batches):
        group.append(batch)
        size += batch.bytes
        if size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _run_buckets(reading: Reading, schema: pa.Schema, packed: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The stateful part of the buckets of a task."""
    for (query, bucket), mine in _by_bucket(packed):
        if query != _TOLD:
            for matches in run_bucket(reading, query, bucket, mine):
                yield from match_table(matches, schema)


def _measure_buckets(reading: Reading, packed: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What the buckets of a task do, and what reading tasks have told."""
    for (query, bucket), mine in _by_bucket(packed):
        if query == _TOLD:
            told = [bytes(each) for each in mine]
        else:
            measured = BucketTask(reading.job.value.shares[query], bucket)
            found = sum(len(matches) for matches in run_bucket(reading, query, bucket, mine, measured.using))
            told = [measured.told(found).written()]
        yield pa.RecordBatch.from_pydict({"told": told})


def _by_bucket(packed: Iterable[pa.RecordBatch]) -> Iterator[tuple[tuple[int, int], Iterator[memoryview]]]:
    """The blobs of a task, by share and bucket."""
    blobs: dict[tuple[int, int], list[pa.Buffer]] = {}
    for rows in packed:
        places = zip(rows.column("query").to_pylist(), rows.column("bucket").to_pylist(), strict=True)
        for place, blob in zip(places, rows.column("blob"), strict=True):
            blobs.setdefault(place, []).append(blob.as_buffer())
    for place in sorted(blobs):
        yield place, (memoryview(blob) for blob in blobs.pop(place))


def run_bucket(
    reading: Reading,
    number: int,
    bucket: int,
    blobs: Iterable[memoryview],
    using: Callable[[Work | LocalEngine], None] = lambda work: None,
) -> Iterator[Sequence[Match]]:
    """The matches of a share in one bucket; `using` is given what finds them."""
    job = reading.job.value
    share = job.shares[number]
    if share.form is Form.EVENTS:
        yield run_events(job, share, bucket, blobs, reading.report, using)
        return
    here = new_work(job, share, bucket)
    using(here)
    for blob in blobs:
        here.accept(blob)
    yield from here.ended()


def _merged(found: DataFrame, job: Job) -> DataFrame:
    """Rows of different buckets that are one row of the answer: the first answer of an ASK, DISTINCT rows."""
    for share in (share for share in job.at_work if share.buckets > 1 and share.merges):
        for unit in map(job.plan.units.__getitem__, share.units):
            for number, result in enumerate(results_of(unit.unit), unit.number):
                others, mine = found.where(F.col(QUERY) != number), found.where(F.col(QUERY) == number)
                if isinstance(result, Ask):
                    found = others.unionAll(mine.orderBy("end", "start").limit(1))
                elif share.form is not Form.EVENTS:
                    keys = [c for c in found.columns if not c.startswith("_events")]
                    found = others.unionAll(mine.dropDuplicates(keys))
    return found
