"""Tables of events (`stream, start, end, graph`) as event batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, TimestampNTZType, TimestampType

from scepter.errors import option_error
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.formats import grouped_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.letters import letter
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
                help="rows of other columns need map=, a mapping; a table of events has start and end (bigint or timestamp) "
                "and graph array<struct<s,p,o>>",
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
    report: Callable[[DeadLetter], None], *, predicates: frozenset[int] | None = None,
) -> Iterator[EventBatch]:  # fmt: skip
    """Arrow batches with columns start, end, graph (and maybe name) as event batches; broken events are reported."""

    def told(code: int, event: int, text: bytes) -> None:
        report(letter("event", None, code, text))

    for table in rows:
        usable = _usable(table, kind, stream, report)
        if usable.num_rows:
            text, bounds, names = _written(usable)
            times = [_ticks(usable.column(name), kind).to_numpy() for name in ("start", "end")]
            given = np.stack([*times, names, np.full(len(names), stream)], axis=1).astype(np.int64)
            yield grouped_batch(text, bounds, given, key, kind, told, run=run, predicates=predicates)


def _usable(table: pa.RecordBatch, kind: TimeKind, stream: int, report: Callable[[DeadLetter], None]) -> pa.RecordBatch:
    """The events that have times and triples; the others are reported."""
    start, end, graph = _ticks(table.column("start"), kind), _ticks(table.column("end"), kind), table.column("graph")
    whole = pc.and_(
        pc.fill_null(pc.less_equal(start, end), False), pc.fill_null(pc.greater(pc.list_value_length(graph), 0), False)
    )
    broken = np.asarray(pc.invert(whole))
    triples = graph.flatten()
    missing = np.asarray(pc.is_null(triples))
    for column in triples.flatten():
        missing = missing | np.asarray(pc.is_null(column))
    broken[np.asarray(pc.list_parent_indices(graph))[missing]] = True
    if not broken.any():
        return table
    for row in np.flatnonzero(broken).tolist():
        reason = _broken(start[row].as_py(), end[row].as_py(), graph[row].as_py())
        report(DeadLetter(f"stream {stream}", None, reason))
    return table.filter(pa.array(~broken))


def _written(table: pa.RecordBatch) -> tuple[memoryview, NDArray[np.int64], NDArray[np.int64]]:
    """The events as N-Triples, where each begins (and the last ends), and where its name stands: in a comment, or -1."""
    graph = table.column("graph")
    first = np.zeros(table.num_rows + 1, np.int64)
    np.cumsum(np.asarray(pc.list_value_length(graph)), out=first[1:])
    terms = graph.flatten().flatten()
    named = np.zeros(table.num_rows, np.bool_)
    if "name" in table.schema.names:
        names = table.column("name")
        named = np.asarray(pc.is_valid(names))
        event = np.zeros(first[-1], np.int64)
        event[first[:-1]] = np.arange(table.num_rows)
        begins = np.zeros(first[-1], np.bool_)
        begins[first[:-1]] = True
        comments = pc.binary_join_element_wise("#<", names, ">\n", "")
        terms.insert(0, pc.fill_null(comments.take(pa.array(event, mask=~begins)), ""))
    lines = pc.binary_join_element_wise(*terms, ".\n", " ")
    _, places, data = lines.buffers()
    offsets = np.frombuffer(places, np.int32, len(lines) + 1, 4 * lines.offset).astype(np.int64)
    bounds = offsets[first] - offsets[0]
    return memoryview(data)[offsets[0] : offsets[-1]], bounds, np.where(named, bounds[:-1] + 1, -1)


def _ticks(column: pa.Array, kind: TimeKind) -> pa.Array:
    return column if kind is TimeKind.INTEGER else pc.cast(pc.cast(column, pa.timestamp("us", "UTC")), pa.int64())


def _broken(start: int | None, end: int | None, graph: list[dict[str, str]] | None) -> str:
    if start is None or end is None:
        return "an event without a time"
    if end < start:
        return f"an event ends before it starts: {start} > {end}"
    if not graph:
        return "an event without triples"
    return "a triple with a null term"
