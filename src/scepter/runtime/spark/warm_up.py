"""`--warm-up`: a new or changed query begins with the last of its streams' history, so that its first answers are complete.

It answers as if it had been there before: what it would have told up to now is not told, what it would tell from now on is.
*Now* is a watermark: that of the run of another query whose place it takes, else where the streams' greatest times put it. How
far back it reads counts from the last event before now. Both times are found once, in one reading of the times that the
streams hold, and are kept with the checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from scepter.errors import option_error
from scepter.kafka.messages import Span
from scepter.kafka.topic import held
from scepter.kept import sealed, unsealed, write_whole
from scepter.physical.distribution.horizon import horizon
from scepter.rdf.batch import EventBatch
from scepter.runtime.options import AUTO
from scepter.runtime.spark.beginning import Beginning
from scepter.runtime.spark.bucket import patience, ticks_per_millisecond
from scepter.runtime.spark.folder import begin_behind, list_files
from scepter.runtime.spark.future import present
from scepter.runtime.spark.identity import Identity
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.kafka import KafkaReader
from scepter.runtime.spark.message_tasks import times_of
from scepter.runtime.spark.pushdown import Packing, source_options
from scepter.runtime.spark.ranges import AT_LEAST, Range, cut
from scepter.runtime.spark.source import MOST, Settings
from scepter.runtime.spark.source_tasks import read_times
from scepter.runtime.spark.splits import nowhere
from scepter.timeline import MIN_INSTANT, format_instant

FILE: Final = "warm-up.json"
_CODE: Final = "warm-up"


@dataclass(frozen=True, slots=True)
class Found:
    """What a run finds in the folder that is kept for it."""

    goes_on: bool = False
    """Whether its state is there."""
    watermark: int | None = None
    """Spark's, in milliseconds, where a run of another query had come whose place it takes."""
    buckets: int | None = None
    """How many buckets its state has; None: there is none yet, and it may have as many as it likes."""


Claim: TypeAlias = Callable[[Identity], Found]
"""Hears what a live run is before anything of it starts, and may refuse."""


class Place(NamedTuple):
    """A range of a file, or a span of a topic's partition."""

    stream: int
    path: str
    """Of a topic: the partition."""
    start: int
    stop: int
    size: int
    format: str


class Timed(NamedTuple):
    """The times of the events at a place."""

    place: Place
    first: int
    last: int
    below: int | None
    """The greatest one before the time that was asked for."""


_PLACE: Final = "stream int, path string, start bigint, stop bigint, size bigint, format string"
_TIMED: Final = f"place struct<{_PLACE.replace(' ', ': ').replace(',:', ',')}>, first bigint, last bigint, below bigint"
_TIMED_SCHEMA: Final = pa.schema(
    [
        ("place", pa.struct([
            ("stream", pa.int32()), ("path", pa.string()), ("start", pa.int64()), ("stop", pa.int64()), ("size", pa.int64()),
            ("format", pa.string()),
        ])),
        ("first", pa.int64()), ("last", pa.int64()), ("below", pa.int64()),
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Warmed:
    """A job that knows with what it begins, and where its sources do, by stream."""

    job: Job
    begins: Mapping[int, str]
    line: str | None = None
    """What is to be said about it."""


def warmed(spark: SparkSession, job: Job, tables: Mapping[int, DataFrame], folder: Path | None, found: Found) -> Warmed:
    """A live job with what it begins with: what an earlier start of it has kept in the folder, or what its streams hold now."""
    before = _kept(folder)
    if before is not None:
        return Warmed(_beginning(job, before), {})
    if job.options.warm_up is None or found.goes_on:
        return Warmed(job, {})
    back = looked_back(job)
    sources = {stream: _settings(table, job, stream) for stream, table in tables.items()}
    places = [place for stream, settings in sources.items() for place in places_of(settings, stream)]
    timed = _timed(spark, sources, places, None)
    until = reached(job, timed) if found.watermark is None else found.watermark * ticks_per_millisecond(job)
    across = [each.place for each in timed if each.first < until <= each.last]
    begin = began([*timed, *_timed(spark, sources, across, until)], until, back)
    if folder is not None:
        write_whole(folder / FILE, sealed(json.dumps([begin.since, begin.told]).encode()))
    begins = {stream: begin_at(settings, stream, places, timed, begin) for stream, settings in sources.items()}
    return Warmed(_beginning(job, begin), begins, told_line(job, begin, timed))


def _beginning(job: Job, begin: Beginning) -> Job:
    """The job, which no run goes on with that began with anything else."""
    assert job.identity is not None
    identity = replace(job.identity, options={**job.identity.options, "--warm-up": f"{begin.since} to {begin.told}"})
    return replace(job, beginning=begin, identity=identity)


def looked_back(job: Job) -> int | None:
    """How far back a run begins, in ticks; None: as far as `--start` allows. OptionError where nothing tells."""
    options = job.options
    if options.max_advance is not None:
        raise option_error(
            _CODE,
            "--warm-up asks the greatest times there are how far time is, and --max-advance does not believe them all",
            help="leave out one of them",
        )
    if options.warm_up != AUTO:
        return options.warm_up_on(job.kind)
    back = horizon(job.program, job.kind, options.time_unit, options.policy)
    if back is None and options.start is None:
        raise option_error(
            _CODE,
            "--warm-up auto does not know how much to read: answers of this query may look back for ever",
            help="say how much, as in --warm-up 1h: what began before that is not found",
        )
    return back


def reached(job: Job, timed: Iterable[Timed]) -> int:
    """The watermark where all these events put it."""
    last: dict[int, int] = {}
    for each in timed:
        last[each.place.stream] = max(last.get(each.place.stream, MIN_INSTANT), each.last)
    wait = job.options.idle_streams == "wait"
    if not last or (wait and len(last) < len(job.streams)):
        return MIN_INSTANT
    scale = ticks_per_millisecond(job)
    milliseconds = (min if wait else max)(last.values()) // scale - patience(job)
    return MIN_INSTANT if milliseconds <= 0 else milliseconds * scale


def began(timed: Iterable[Timed], until: int, back: int | None) -> Beginning:
    """From when on a run reads that tells what is certain from `until` on."""
    if until == MIN_INSTANT:
        return Beginning()
    # from the last event on, not from the time: an answer may be new, or gone, against what was there at that event
    before = [each.last if each.last < until else each.below for each in timed]
    last = max((time for time in before if time is not None), default=None)
    return Beginning(MIN_INSTANT if back is None or last is None else last - back, until)


def told_line(job: Job, begin: Beginning, timed: Sequence[Timed]) -> str:
    """What is said about a beginning."""
    if begin.told == MIN_INSTANT:
        return "warm-up: nothing is certain yet of what the streams hold; all of it is read and told"
    first = max(begin.since, min(each.first for each in timed))
    since, told = (format_instant(time, job.kind) for time in (first, begin.told))
    return f"warm-up: events from {since} on are read again; what is certain from {told} on is told"


# ---------------------------------------------------------------- what sources hold


def _settings(table: DataFrame, job: Job, stream: int) -> Settings:
    options = source_options(table)
    if options is None:
        raise option_error(
            _CODE,
            f"the history of <{job.streams[stream].value}> cannot be read again: its table is not of format rdf alone",
            help='give it as spark.readStream.format("rdf").load(…), or leave out warm_up',
        )
    return replace(Settings.of(options), packing=Packing.of(job, stream))


def places_of(settings: Settings, stream: int) -> list[Place]:
    """What a source holds now, in pieces for tasks."""
    if settings.topic is not None:
        assert settings.packing is not None
        now = held(settings.topic)
        reader = KafkaReader(settings.topic, settings, None, settings.packing.kind)
        spans = [Span(number, each.low, each.high) for number, each in now.items() if each.low < each.high]
        return [Place(stream, str(span.partition), span.start, span.stop, 0, f) for span, f in reader.pieces(spans, now)]
    files = list_files(settings.sources, begun=True)
    share = min(MOST, max(AT_LEAST, -(-sum(file.size for file in files) // settings.partitions)))
    pieces = [piece for file in files for piece in cut(Range(file.path, 0, file.size, file.size, 0, settings.format), share)]
    return [Place(stream, piece.path, piece.start, piece.stop, piece.size, piece.format) for piece in pieces]


def begin_at(settings: Settings, stream: int, places: Iterable[Place], timed: Iterable[Timed], begin: Beginning) -> str:
    """The offset of a source before the first place that holds an event which the run begins with."""
    wanted = {each.place for each in timed if each.last >= begin.since}
    done: dict[str, tuple[int, int]] = {}
    """By file or partition: up to where nothing is wanted, and its size."""
    for place in sorted(place for place in places if place.stream == stream):
        start, _ = done.get(place.path, (place.start, 0))
        done[place.path] = (place.stop if start == place.start and place not in wanted else start, place.size)
    if settings.topic is not None:
        return json.dumps({partition: start for partition, (start, _) in done.items()})
    return json.dumps(begin_behind(list_files(settings.sources, begun=True), done, settings.format))


def _timed(spark: SparkSession, sources: Mapping[int, Settings], places: Sequence[Place], until: int | None) -> list[Timed]:
    """The times of some places, read in parallel."""
    if not places:
        return []
    table = spark.createDataFrame(places, _PLACE)
    spread = table.repartition(len(places), F.monotonically_increasing_id())
    found = spread.mapInArrow(partial(measured, sources, until), _TIMED)
    return [Timed(Place(*place), *times) for place, *times in found.collect()]


def measured(sources: Mapping[int, Settings], until: int | None, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The times of places at which there are events."""
    for table in rows:
        for row in table.to_pylist():
            ends = np.concatenate([np.empty(0, np.int64), *(batch.end for batch in _events(sources, Place(**row)))])
            if len(ends):
                before = ends[ends < (MIN_INSTANT if until is None else until)]
                below = int(before.max()) if len(before) else None
                made = {"place": row, "first": int(ends.min()), "last": int(ends.max()), "below": below}
                yield pa.RecordBatch.from_pylist([made], _TIMED_SCHEMA)


def _events(sources: Mapping[int, Settings], place: Place) -> Iterator[EventBatch]:
    """The events at a place, without their triples."""
    settings = sources[place.stream]
    assert settings.packing is not None
    job = settings.packing.job
    if settings.topic is not None:
        reader = KafkaReader(settings.topic, settings, None, job.kind)
        batches = times_of(reader, Span(int(place.path), place.start, place.stop), place.format)
    else:
        batches = read_times(settings, Range(place.path, place.start, place.stop, place.size, 0, place.format))
    return present(job, batches, nowhere)


# ---------------------------------------------------------------- what is kept


def kept_folder(checkpoint: str | Path) -> Path:
    """The folder of a checkpoint, made if it is not there."""
    if "://" in str(checkpoint):
        raise option_error(
            _CODE, f"{checkpoint} is no folder that the driver can write", help="give checkpoint as a path of its file system"
        )
    folder = Path(checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _kept(folder: Path | None) -> Beginning | None:
    if folder is None or not (path := folder / FILE).exists():
        return None
    data = unsealed(path.read_bytes())
    if data is None:
        raise option_error(
            "record-damaged",
            f"{path} is damaged: nobody can tell with what the run began",
            help="give back the file, or start anew with another checkpoint folder",
        )
    return Beginning(*json.loads(data))
