"""Tables of events (`stream, start, end, graph`) as event batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, TimestampNTZType, TimestampType

from scepter.errors import option_error
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.timeline import TimeKind

_COLUMNS = ("start", "end", "graph")


def frame_kind(frame: DataFrame, stream: str) -> TimeKind:
    """The kind of a table's times; a table that lacks a column is an error."""
    types = {field.name: field.dataType for field in frame.schema.fields}
    for column in _COLUMNS:
        if column not in types:
            raise option_error(
                "table-columns",
                f"the table given for stream <{stream}> has no column {column}",
                help="its columns are start and end (bigint or timestamp) and graph array<struct<s,p,o>>",
            )
    if isinstance(types["start"], LongType) and isinstance(types["end"], LongType):
        return TimeKind.INTEGER
    if all(isinstance(types[c], (TimestampType, TimestampNTZType)) for c in ("start", "end")):
        return TimeKind.DATETIME
    raise option_error(
        "table-columns",
        f"the table given for stream <{stream}> has times of types {types['start'].simpleString()} and "
        f"{types['end'].simpleString()}",
        help="both are bigint, or both are timestamp",
    )


def frame_batches(
    rows: Iterable[pa.RecordBatch], stream: int, kind: TimeKind, key: TermKey, run: ReadState,
    report: Callable[[DeadLetter], None],
) -> Iterator[EventBatch]:  # fmt: skip
    """Arrow batches with columns start, end, graph (and maybe name) as event batches; broken events are reported."""
    for table in rows:
        starts, ends = _ticks(table.column("start"), kind), _ticks(table.column("end"), kind)
        names = table.column("name").to_pylist() if "name" in table.schema.names else [None] * table.num_rows
        events = []
        for i, graph in enumerate(table.column("graph").to_pylist()):
            start, end = starts[i], ends[i]
            if reason := _broken(start, end, graph):
                report(DeadLetter(f"stream {stream}", None, reason))
                continue
            triples = [(t["s"], t["p"], t["o"]) for t in graph]
            events.append(GraphEvent(stream, None if names[i] is None else f"<{names[i]}>", start, end, triples))
        if events:
            yield events_to_batch(events, key, kind, run=run, dead_letter=report)


def _ticks(column: pa.Array, kind: TimeKind) -> list[int]:
    plain = column if kind is TimeKind.INTEGER else pc.cast(pc.cast(column, pa.timestamp("us", "UTC")), pa.int64())
    ticks: list[int] = plain.to_pylist()
    return ticks


def _broken(start: int | None, end: int | None, graph: list[dict[str, str]] | None) -> str | None:
    if start is None or end is None:
        return "an event without a time"
    if end < start:
        return f"an event ends before it starts: {start} > {end}"
    if not graph:
        return "an event without triples"
    if any(t is None or None in t.values() for t in graph):
        return "a triple with a null term"
    return None
