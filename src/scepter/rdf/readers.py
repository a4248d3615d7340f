"""One reader per stream format: from an open file to event batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, Final, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyoxigraph

from scepter.errors import DataError, OptionError, option_error
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.formats import document_batches, events_to_batch, grouped_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import REASONS, NQuadsReader, ReadState
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.timeline_notation import parse_timeline
from scepter.timeline import TimeKind

_PARQUET_ROWS: Final = 16384


class Lift(Protocol):
    """A mapping, as far as readers know it: tables and JSON to events."""

    def reader(self, extension: str) -> Reader | None:
        """The reader of files with such an extension; None where they are read as they are."""

    def sniff(self, head: bytes) -> str | None:
        """The extension of what a file without a telling name looks like."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader is asked for."""

    key: TermKey
    stream_index: int
    source_name: str
    dead_letter: DeadLetterTaker
    predicates: frozenset[int] | None
    run: ReadState
    batch_bytes: int
    prefixes: Mapping[str, str]

    lift: Lift | None = None
    """What makes events of rows and documents."""


Reader: TypeAlias = Callable[[IO[bytes], Reading], Iterator[EventBatch]]


def read_nquads(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    """N-Quads and timestamped N-Triples, as they come."""
    reader = NQuadsReader(
        reading.key, reading.stream_index, reading.source_name, reading.dead_letter,
        predicates=reading.predicates, run=reading.run, batch_bytes=reading.batch_bytes,
    )  # fmt: skip
    # read1 gives what a pipe has, instead of waiting for a whole chunk
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    while chunk := read(reading.batch_bytes):
        if (batch := reader.feed(chunk)) is not None:
            yield batch
    if (batch := reader.finish()) is not None:
        yield batch


def _document(format: pyoxigraph.RdfFormat) -> Reader:
    def read(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
        text = file.read().removeprefix(b"\xef\xbb\xbf")
        yield from document_batches(
            text, format, reading.key, reading.stream_index, reading.source_name, reading.dead_letter,
            predicates=reading.predicates, run=reading.run, batch_bytes=reading.batch_bytes,
        )  # fmt: skip

    return read


def read_timeline(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    """The timeline notation; a file in it is read as a whole or not at all."""
    try:
        text = file.read().decode("utf-8-sig")
        events = parse_timeline(text, reading.prefixes, name=reading.source_name, kind=reading.run.kind)
    except UnicodeDecodeError as error:
        reading.dead_letter(DeadLetter(reading.source_name, None, f"bytes that are not UTF-8: {error.reason}"))
        return
    except DataError as error:
        shown = error.source.line(error.line) if error.source is not None and error.line is not None else ""
        reading.dead_letter(DeadLetter(reading.source_name, error.line, error.diagnostic.message, shown))
        return
    if events:
        reading.run.kind = events[0].kind
        yield events_to_batch(
            [event.graph_event(reading.stream_index) for event in events],
            reading.key, events[0].kind, run=reading.run, predicates=reading.predicates,
        )  # fmt: skip


def read_parquet(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    """Tables with columns start, end (timestamp or integer) and graph (list of structs s, p, o in N-Triples form)."""
    try:
        table = pq.ParquetFile(file if file.seekable() else pa.BufferReader(file.read()))
        names = set(table.schema_arrow.names)
    except pa.ArrowInvalid as error:
        reading.dead_letter(DeadLetter(reading.source_name, None, f"not Parquet: {error}"))
        return
    if missing := {"start", "end", "graph"} - names:
        raise option_error(
            "table-columns",
            f"{reading.source_name}: the column {sorted(missing)[0]} is missing",
            help="a table of events has the columns stream, start, end, graph array<struct<s,p,o>>",
        )
    row = 0
    for block in table.iter_batches(batch_size=_PARQUET_ROWS, columns=["start", "end", "graph"]):
        if (batch := _table_batch(block, reading, row)) is not None:
            yield batch
        row += len(block)


def _table_batch(block: Any, reading: Reading, first_row: int) -> EventBatch | None:
    start, start_kind = _instants(block.column("start"), reading.source_name)
    end, end_kind = _instants(block.column("end"), reading.source_name)
    graph = block.column("graph")
    if start_kind is not end_kind:
        raise option_error("table-columns", f"{reading.source_name}: start and end are of different types")
    run = reading.run
    run.kind = run.kind or start_kind
    faults: dict[int, str] = {}
    valid = ~(np.asarray(block.column("start").is_null()) | np.asarray(block.column("end").is_null()))
    for row in np.flatnonzero(~valid).tolist():
        faults[row] = "an event without a time"
    for row in np.flatnonzero(valid & (start > end)).tolist():
        faults[row] = "an event that ends before it starts"
    for row in np.flatnonzero(np.asarray(graph.is_null())).tolist():
        faults.setdefault(row, "an event without triples")
    if start_kind is not run.kind:
        faults = dict.fromkeys(range(len(block)), "a dateTime among integer times, or an integer among dateTimes")
    for row in sorted(faults):
        reading.dead_letter(DeadLetter(reading.source_name, first_row + row + 1, faults[row]))
    rows = np.array([row for row in range(len(block)) if row not in faults], dtype=np.int64)
    if not len(rows):
        return None
    return _grouped(graph.take(pa.array(rows)), start[rows], end[rows], rows + first_row + 1, reading)


def _grouped(graph: Any, start: Any, end: Any, numbers: Any, reading: Reading) -> EventBatch:
    """The lists of structs become one text of N-Triples lines, without an object per triple."""
    flat = graph.flatten()
    terms = [pc.replace_substring_regex(pc.coalesce(flat.field(name), ""), "[\n\r]", " ") for name in ("s", "p", "o")]
    lines = pc.binary_join_element_wise(*terms, ".\n", " ").cast(pa.large_string())
    sizes = np.asarray(pc.binary_length(lines), dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    lengths = np.asarray(pc.list_value_length(graph), dtype=np.int64)
    bounds = offsets[np.concatenate([[0], np.cumsum(lengths)])]
    text = memoryview(lines.buffers()[2])[: int(offsets[-1])] if len(lines) else b""
    given = np.stack([start, end, np.full(len(start), -1), np.full(len(start), reading.stream_index)], axis=1).astype(np.int64)

    def report(code: int, event: int, line: bytes) -> None:
        shown = line[:1000].decode("utf-8", errors="replace")
        reading.dead_letter(DeadLetter(reading.source_name, int(numbers[event]), REASONS[code], shown))

    kind = reading.run.kind
    if kind is None:
        raise AssertionError("a table's columns tell the kind of its times")
    return grouped_batch(text, bounds, given, reading.key, kind, report, run=reading.run, predicates=reading.predicates)


def _instants(column: Any, source_name: str) -> tuple[Any, TimeKind]:
    if pa.types.is_timestamp(column.type):
        micros = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
        return np.asarray(micros.fill_null(0), dtype=np.int64), TimeKind.DATETIME
    if pa.types.is_integer(column.type):
        return np.asarray(column.cast(pa.int64()).fill_null(0), dtype=np.int64), TimeKind.INTEGER
    raise option_error("table-columns", f"{source_name}: start and end are timestamps or integers, not {column.type}")


def needs_map(source: str) -> OptionError:
    """The error for rows and documents without a mapping."""
    return option_error(
        "needs-map",
        f"{source} holds rows or documents, and nothing says how they become events",
        help=f"add --map FILE; scepter map {source} --suggest writes a first one",
    )


def _unmapped(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    raise needs_map(reading.source_name)


TABLES: Final = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
"""The extensions of what only a mapping makes events of."""
READERS: Final[dict[str, Reader]] = {
    ".nq": read_nquads,
    ".nquads": read_nquads,
    ".nt": read_nquads,
    ".trig": _document(pyoxigraph.RdfFormat.TRIG),
    ".jsonld": _document(pyoxigraph.RdfFormat.JSON_LD),
    ".timeline": read_timeline,
    ".parquet": read_parquet,
    **dict.fromkeys(TABLES, _unmapped),
}
"""Readers by extension; a new format is one more entry."""


def reader_of(extension: str, reading: Reading) -> Reader | None:
    """The reader of a format; None of one that nobody knows."""
    mapped = None if reading.lift is None else reading.lift.reader(extension)
    return mapped or READERS.get(extension)


_JSON_START: Final = re.compile(rb'\s*(?:\[\s*[{\]]|\{\s*["}])')
_TIMELINE_START: Final = re.compile(rb"[+-]?\d[\dTZ:.+-]*\s*\{")
_NQUADS_START: Final = re.compile(rb'(?:<[^<>"{}|^`\x00-\x20]*>|_:\S+)[ \t]*<[^<>"{}|^`\x00-\x20]*>[ \t]*[<_"]')
_TRIG_START: Final = re.compile(rb"(?i:@?prefix\b|@?base\b|graph\b)|\{|\[|(?:<[^<>\s]*>|[\w.-]*:[\w.-]*)\s*[\{<\w:\[\"']")
_LEADING: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|#[^\n]*(?:\n|\Z))*")


def sniff(head: bytes) -> str | None:
    """The extension of the format that the first bytes of a file look like.

    >>> sniff(b"# a comment\\n10 { <a:b> <a:c> 1 }")
    '.timeline'
    """
    if head.startswith(b"PAR1"):
        return ".parquet"
    leading = _LEADING.match(head)
    text = head[leading.end() if leading else 0 :]
    if _JSON_START.match(text):
        return ".jsonld"
    if _TIMELINE_START.match(text):
        return ".timeline"
    if _NQUADS_START.match(text):
        return ".nq"
    return ".trig" if _TRIG_START.match(text) else None
