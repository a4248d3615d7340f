"""Parquet files of events: `start`, `end` (timestamps or integers) and `graph` (a list of structs s, p, o in N-Triples form).

Strings may be large, binary or dictionary-encoded, as other writers choose. What of a file cannot be decoded is a dead letter;
a file whose columns are of other types is an error of whoever names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from scepter.errors import OptionError, option_error
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.formats import grouped_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.letters import letter
from scepter.rdf.limits import BeyondLimit, ReadLimits
from scepter.rdf.long_lines import read_whole
from scepter.rdf.nquads import ReadState
from scepter.rdf.source import DeadLetterTaker
from scepter.timeline import LAST_INSTANT, TimeKind

COLUMNS: Final = ("start", "end", "graph")
_ROWS: Final = 16384
_LISTS: Final = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_LIST_VIEWS: Final = (pa.types.is_list_view, pa.types.is_large_list_view)
_TERMS: Final = ("s", "p", "o")
FAULTS: Final = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError)
"""What Arrow raises for a file that is damaged, by its own names and by Python's (UnicodeDecodeError is a ValueError)."""
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_HELP: Final = "a table of events has the columns stream, start, end, graph array<struct<s,p,o>>"


def parquet_batches(file: IO[bytes], table: EventTable) -> Iterator[EventBatch]:
    """The events of a Parquet file, block by block."""
    try:
        parquet = pq.ParquetFile(seekable(file, table.limits))
        table.check(parquet.schema_arrow)
        for block in parquet.iter_batches(batch_size=_ROWS, columns=list(COLUMNS)):
            if (batch := table.batch(block)) is not None:
                yield batch
    except OptionError:
        raise
    except FAULTS as error:
        table.damaged(error)


def seekable(file: IO[bytes], limits: ReadLimits) -> Any:
    """A file in which one may go back; one that is unpacked is read as a whole. BeyondLimit if it is too long for that."""
    return file if file.seekable() else pa.BufferReader(read_whole(file, limits.document))


def table_batches(given: pa.Table, table: EventTable) -> Iterator[EventBatch]:
    """The events of a table at hand."""
    table.check(given.schema)
    for block in given.select(COLUMNS).to_batches(max_chunksize=_ROWS):
        if (batch := table.batch(block)) is not None:
            yield batch


def damage(source: str, rows: int, error: BaseException) -> DeadLetter:
    """The dead letter of a file that cannot be decoded behind so many rows."""
    lines = str(error).splitlines()
    found = lines[0][:200] if lines else type(error).__name__
    if isinstance(error, BeyondLimit):
        return DeadLetter(source, None, found)
    reason = f"not Parquet: {found}" if rows == 0 else f"not readable from row {rows + 1} on: {found}"
    return DeadLetter(source, rows + 1 if rows else None, reason)


class EventTable:
    """What the blocks of one table have in common, and how many of its rows are read."""

    def __init__(
        self, key: TermKey, stream_index: int, source_name: str, dead_letter: DeadLetterTaker,
        predicates: frozenset[int] | None, run: ReadState,
    ) -> None:  # fmt: skip
        self._key = key
        self._stream_index = stream_index
        self._name = source_name
        self._dead_letter = dead_letter
        self._predicates = predicates
        self._run = run
        self._rows = 0

    @property
    def limits(self) -> ReadLimits:
        """Those of the run."""
        return self._run.limits

    def damaged(self, error: BaseException) -> None:
        """Tell that the rest cannot be decoded."""
        self._dead_letter(damage(self._name, self._rows, error))

    def check(self, schema: pa.Schema) -> None:
        """Refuse a table that is none of events."""
        if missing := set(COLUMNS) - set(schema.names):
            raise self._refused(f"the column {sorted(missing)[0]} is missing")
        if twice := [name for name in COLUMNS if schema.names.count(name) > 1]:
            raise self._refused(f"the column {twice[0]} is there twice")
        for name in ("start", "end"):
            kind = schema.field(name).type
            if not (pa.types.is_timestamp(kind) or pa.types.is_integer(kind)):
                raise self._refused(f"start and end are timestamps or integers, not {kind}")
        if _kind(schema.field("start").type) is not _kind(schema.field("end").type):
            raise self._refused("start and end are of different types")
        graph = schema.field("graph").type
        if not any(is_list(graph) for is_list in (*_LISTS, *_LIST_VIEWS)) or not pa.types.is_struct(graph.value_type):
            raise self._refused(f"graph is a list of structs, not {graph}")
        triple = graph.value_type
        for name in _TERMS:
            if triple.get_field_index(name) < 0:
                raise self._refused(f"the structs of graph have no field {name}")
            if not _is_text(triple.field(name).type):
                raise self._refused(f"{name} is a string, not {triple.field(name).type}")

    def _refused(self, message: str) -> OptionError:
        return option_error("table-columns", f"{self._name}: {message}", help=_HELP)

    def batch(self, block: pa.RecordBatch) -> EventBatch | None:
        """The good events of the next block; the others are told."""
        first_row = self._rows
        start, start_lost = _instants(block.column("start"))
        end, end_lost = _instants(block.column("end"))
        graph = block.column("graph")
        kind = _kind(block.schema.field("start").type)
        self._run.kind = self._run.kind or kind
        faults: dict[int, str] = {}
        untimed = np.asarray(block.column("start").is_null()) | np.asarray(block.column("end").is_null())
        told = (
            (untimed, "an event without a time"),
            (start_lost | end_lost, "a time that does not fit into 64 bits: times reach to 2^63 - 4"),
            (start > end, "an event that ends before it starts"),
            (np.asarray(graph.is_null()), "an event without triples"),
            (np.full(len(block), kind is not self._run.kind), "a dateTime among integer times, or an integer among dateTimes"),
        )
        for rows, reason in told:
            for row in np.flatnonzero(rows).tolist():
                faults.setdefault(row, reason)
        for row in sorted(faults):
            self._dead_letter(DeadLetter(self._name, first_row + row + 1, faults[row]))
        good = np.array([row for row in range(len(block)) if row not in faults], dtype=np.int64)
        self._rows += len(block)
        if not len(good):
            return None
        found = self._grouped(graph.take(pa.array(good)), start[good], end[good], good + first_row + 1)
        return found if found.events else None

    def _grouped(self, graph: Any, start: Any, end: Any, numbers: Any) -> EventBatch:
        """The lists of structs become one text of N-Triples lines, without an object per triple."""
        flat = graph.flatten()
        terms = [pc.replace_substring_regex(_bytes(pc.struct_field(flat, name)), "[\n\r]", " ") for name in _TERMS]
        lines = pc.binary_join_element_wise(*terms, pa.scalar(b".\n", pa.large_binary()), pa.scalar(b" ", pa.large_binary()))
        sizes = np.asarray(pc.binary_length(lines), dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        lengths = np.asarray(pc.list_value_length(graph), dtype=np.int64)
        bounds = offsets[np.concatenate([[0], np.cumsum(lengths)])]
        text = memoryview(lines.buffers()[2])[: int(offsets[-1])] if len(lines) and int(offsets[-1]) else b""
        stream = np.full(len(start), self._stream_index)
        given = np.stack([start, end, np.full(len(start), -1), stream], axis=1).astype(np.int64)

        def report(code: int, event: int, line: bytes) -> None:
            self._dead_letter(letter(self._name, int(numbers[event]), code, line))

        kind = self._run.kind
        if kind is None:
            raise AssertionError("a table's columns tell the kind of its times")
        return grouped_batch(text, bounds, given, self._key, kind, report, run=self._run, predicates=self._predicates)


def _kind(type: pa.DataType) -> TimeKind:
    return TimeKind.DATETIME if pa.types.is_timestamp(type) else TimeKind.INTEGER


def _is_text(type: pa.DataType) -> bool:
    if pa.types.is_dictionary(type):
        return _is_text(type.value_type)
    tests = (
        pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary,
        pa.types.is_string_view, pa.types.is_binary_view, pa.types.is_null,
    )  # fmt: skip
    return any(test(type) for test in tests)


def _bytes(column: Any) -> Any:
    """A column of text as bytes, which the scanner checks; null is the empty text, which is no term."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return pc.coalesce(column.cast(pa.large_binary()), pa.scalar(b"", pa.large_binary()))


def _instants(column: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The times of a column, 0 for null, and which of them do not fit."""
    if pa.types.is_timestamp(column.type):
        ticks = np.asarray(column.cast(pa.int64()).fill_null(0), dtype=np.int64)
        scale = _PER_SECOND[column.type.unit]
        if scale > 1_000_000:
            return ticks // (scale // 1_000_000), np.zeros(len(ticks), np.bool_)
        factor = 1_000_000 // scale
        lost = np.abs(ticks // 2) > LAST_INSTANT // factor // 2
        return np.where(lost, 0, ticks) * factor, lost
    if pa.types.is_uint64(column.type):
        wide = np.asarray(column.fill_null(0), dtype=np.uint64)
        lost = wide > np.uint64(LAST_INSTANT)
        return np.where(lost, np.uint64(0), wide).astype(np.int64), lost
    ticks = np.asarray(column.cast(pa.int64()).fill_null(0), dtype=np.int64)
    lost = (ticks > LAST_INSTANT) | (ticks < -LAST_INSTANT)
    return np.where(lost, 0, ticks), lost
