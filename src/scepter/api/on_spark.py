"""`scepter.run`: a query on Spark. (`scepter.run_local` and `scepter.Engine` need none.)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scepter.api.local import shown
from scepter.errors import a_type, option_error
from scepter.rdf.files import stream_files
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven
from scepter.runtime.maps import ContextGiven, MapGiven, lifts_of
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import QueriesGiven, one_query
from scepter.runtime.spark import each_batch as spark_each_batch
from scepter.runtime.spark import run as spark_run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def run(
    query: QueriesGiven,
    spark: SparkSession,
    streams: Mapping[str, DataFrame | str | Path],
    *,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    policy: str | None = None,
    time_unit: str = "ms",
    start: int | str | datetime | None = None,
    evaluate_at: Sequence[int | str | datetime] | None = None,
    max_delay: int | str | timedelta | None = None,
    why: bool = False,
    idle_streams: str | None = None,
    time_property: str | Sequence[str] | None = None,
    limits: Mapping[str, int | str] | None = None,
    map: MapGiven = None,
    context: ContextGiven = None,
    max_future: int | str | None = None,
    max_advance: int | str | timedelta | None = None,
    warm_up: int | str | None = None,
    checkpoint: str | Path | None = None,
) -> DataFrame:
    """The matches of a query as a DataFrame: batch in, batch out; streaming in, streaming out (append mode).

    Columns: `start` and `end` (bigint or timestamp, as the input), then one column per projected variable,
    `struct<type, value, datatype, lang>`, null where unbound (`?start` and its like keep their question mark); for CONSTRUCT a
    column `graph array<struct<s, p, o>>`, for ASK a column `boolean`. `why` adds a column `why`: what each occurrence of an
    OBEP event rests on, as JSON. Of several queries, given as a list or as a dictionary by their names, a first column `query`
    says which a row answers. A stream is given as a DataFrame with columns `start, end, graph`, or as a file, glob or folder.
    Of several live streams, `idle_streams` says whether time waits for the one that is behind ("wait", the default) or goes
    with the one ahead ("ignore").
    Live events with dateTimes more than `max_future` (default "1h") ahead of the clock are dead letters; `limits` bounds what
    one input may ask of its reader (`{"depth": 50}`). Of bounded input, events that alone would move time on by more than
    `max_advance` are left out unless another one confirms them.
    `warm_up` lets a new live run begin with the history that its answers can look back to ("auto"), or with that much of it
    ("1h"): what it would have told before now is left out. Give `checkpoint`, the folder that `writeStream` is given, to every
    live run: it is looked at before anything starts (another query, another version, a missing part), and a restart knows from
    it with what the run began.
    `time_property`: IRIs, or names of vocabularies such as "sosa", of what gives an event in a file its time.
    `map`: how the rows of other tables, CSV, JSON or Parquet become events, as a mapping in YARRRML or RML (a file or its
    text), or a dictionary of them by stream. `context`: a JSON-LD context for files and topics of plain JSON.

    >>> from pathlib import Path
    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> spark = SparkSession.builder.master("local[1]").getOrCreate()  # doctest: +SKIP
    >>> query = parse(Path("fall.spaseq"))  # doctest: +SKIP
    >>> run(query, spark, {"http://example/prices": "prices.trig"}).select("start", "end").collect()  # doctest: +SKIP
    [Row(start=1, end=8)]
    """
    return spark_run.run(
        one_query(query), spark, _checked(spark, streams), find_files=files_of, background=background, ontology=ontology,
        policy=policy, time_unit=time_unit, start=start, evaluate_at=evaluate_at, max_delay=max_delay,
        why=why, idle_streams=idle_streams, time_property=time_property, limits=limits, max_future=max_future, map=map,
        max_advance=max_advance, context=context, warm_up=warm_up, checkpoint=checkpoint,
    )  # fmt: skip


def each_batch(
    write: Callable[[DataFrame, int], None], spark: SparkSession, checkpoint: str | Path
) -> Callable[[DataFrame, int], None]:
    """What `foreachBatch` is given to write the rows of a live run, so that keys with more than a core's share of events are
    split over several buckets: `write` takes a micro-batch and its number; then the next one is told which keys are hot.

    `checkpoint` is the folder that both `scepter.run` and `writeStream` are given, on a disk that driver and workers share.
    Make it anew for each start, in the thread that starts. `query.explain()` says whether a query's keys can be split.

    >>> def write(rows: DataFrame, number: int) -> None:
    ...     rows.write.parquet(f"found/{number}", mode="overwrite")
    >>> found = run(query, spark, {"S": table}, checkpoint="state")  # doctest: +SKIP
    >>> writing = found.writeStream.foreachBatch(each_batch(write, spark, "state"))  # doctest: +SKIP
    >>> running = writing.option("checkpointLocation", "state").start()  # doctest: +SKIP
    """
    if not callable(write) or not isinstance(checkpoint, str | Path):
        raise option_error(
            "each-batch",
            f"scepter.each_batch takes a function and a folder, and was given a {type(write).__name__} and a "
            f"{type(checkpoint).__name__}",
            help='scepter.each_batch(write, spark, "state") with def write(rows, number)',
        )
    _check_session(spark, "each_batch(write, spark, checkpoint)")
    return spark_each_batch.each_batch(write, spark, checkpoint)


def analyze(
    query: QueriesGiven,
    spark: SparkSession,
    streams: Mapping[str, DataFrame | str | Path],
    format: str = "text",
    *,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    map: MapGiven = None,
    context: ContextGiven = None,
    **options: Any,
) -> str:
    """The plan of a run on Spark, and what its operators and stages did (`Query.explain` with `analyze` and `spark`)."""
    query, streams = one_query(query), _checked(spark, streams)
    chosen = RunOptions.of(**options)
    lifts = lifts_of(query, map, streams, chosen.times, context)
    found = spark_run.analyze_with_options(
        query, spark, streams, chosen, find_files=files_of, background=background, ontology=ontology, lifts=lifts
    )
    return shown(found, format)


def _check_session(spark: SparkSession, call: str) -> None:
    if not hasattr(spark, "createDataFrame"):
        raise option_error(
            "no-session", f"scepter.{call.partition('(')[0]} was given a {type(spark).__name__} as its session",
            help=f"scepter.{call}",
        )  # fmt: skip


def _checked(spark: SparkSession, streams: Mapping[str, DataFrame | str | Path]) -> Mapping[str, DataFrame | str | Path]:
    if not hasattr(spark, "createDataFrame"):
        what = "streams" if isinstance(spark, Mapping) else a_type(spark)
        raise option_error(
            "no-session",
            f"scepter.run takes a SparkSession after the query, and was given {what}",
            help="scepter.run(query, spark, streams); without Spark: scepter.run_local(query, streams)",
        )
    if not isinstance(streams, Mapping):
        raise option_error("streams", f"the streams are a dict, not {a_type(streams)}", help="{'http://…': 'events.nq'}")
    return streams


def files_of(source: str) -> Sequence[Path]:
    """The files a SOURCE stands for; Spark reads no pipes."""
    if source == "-" or "://" in source:
        raise option_error("source", f"{source} cannot be read by Spark's workers", help="give a file, a glob or a folder")
    return stream_files(source)
