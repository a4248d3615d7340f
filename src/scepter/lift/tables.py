"""CSV, TSV and Parquet as rows: whole records at a time, only the columns that are asked for.

CSV is cut into blocks between records and each block is read by Arrow; cells stay texts, so that a number keeps its spelling.
What a block's reader refuses goes to the dead letters by itself, with its line.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from scepter.errors import nearest
from scepter.lift.columns import is_value
from scepter.lift.records import record_blocks
from scepter.lift.rows import TableRows
from scepter.rdf.batch import DeadLetter
from scepter.rdf.limits import DEFAULT, ReadLimits
from scepter.rdf.long_lines import too_much
from scepter.rdf.parquet import FAULTS, damage, seekable
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.untimed import NO_COLUMN

_PARQUET_ROWS: Final = 32768
_DELIMITERS: Final = ",;\t|"
_BOM: Final = b"\xef\xbb\xbf"
_SHOWN: Final = 1000


def csv_rows(
    file: IO[bytes], needed: Sequence[str], source: str, dead_letter: DeadLetterTaker, delimiter: str | None = None,
    limits: ReadLimits = DEFAULT,
) -> Iterator[TableRows]:  # fmt: skip
    """The records of CSV with a heading, block by block."""
    heading: _Heading | None = None

    def too_long(line: int) -> None:
        dead_letter(DeadLetter(source, line, str(too_much(limits.event))))

    for line, block in record_blocks(file, limits.event, too_long):
        if heading is None:
            if not block.removeprefix(_BOM).strip(b"\r\n"):
                continue
            heading, block = _heading(block, needed, source, dead_letter, delimiter)
            line += heading.lines
            if heading.missing:
                tell_missing(heading.missing, heading.names, source, dead_letter)
        if block.strip(b"\r\n"):
            yield _block_rows(block, heading, line, source, dead_letter)


@dataclass(frozen=True, slots=True)
class _Heading:
    names: tuple[str, ...]
    delimiter: str
    wanted: tuple[str, ...]
    missing: tuple[str, ...]
    lines: int


def _heading(
    block: bytes, needed: Sequence[str], source: str, dead_letter: DeadLetterTaker, delimiter: str | None
) -> tuple[_Heading, bytes]:
    whole = block.removeprefix(_BOM)
    text = whole.lstrip(b"\r\n")  # empty lines before the heading are no heading
    end = _first_record(text)
    written = text[:end].decode("utf-8", errors="replace").rstrip("\r\n")
    delimiter = delimiter or max(_DELIMITERS, key=written.count)
    names = next(csv.reader(io.StringIO(written, newline=""), delimiter=delimiter), [])
    # a name that comes twice means its first column
    first: dict[str, int] = {}
    kept = tuple(name if first.setdefault(name, i) == i else f"{name}\x00{i}" for i, name in enumerate(names))
    wanted = tuple(name for name in needed if name in first)
    missing = tuple(name for name in needed if name not in first)
    lines = whole.count(b"\n", 0, len(whole) - len(text) + end)
    return _Heading(kept, delimiter, wanted, missing, lines), text[end:]


def tell_missing(missing: Sequence[str], names: Sequence[str], source: str, dead_letter: DeadLetterTaker) -> None:
    """A dead letter for each field that the mapping uses and the table has not."""
    for name in missing:
        close = nearest(name, names)
        hint = f"; did the mapping mean {close}?" if close else f"; it has {', '.join(names[:20])}"
        dead_letter(DeadLetter(source, 1, f"{NO_COLUMN}{name}{hint}"))


def _first_record(text: bytes) -> int:
    at = text.find(b"\n") + 1
    while at and text.count(b'"', 0, at) % 2:
        at = text.find(b"\n", at) + 1
    return at or len(text)


@dataclass(slots=True)
class _Lines:
    """Where the records of a block stand; found only when somebody asks."""

    block: bytes
    first: int
    delimiter: str
    skipped: list[int] = field(default_factory=list)
    """Records that were refused, by number."""
    records: int = 0
    _exact: list[int] | None = None
    _feeds: int | None = None
    _before: list[int] | None = None
    """Of each record that was refused, how many that were not stand before it."""

    def __call__(self, row: int) -> int:
        if self._before is None:
            self._before = [number - refused for refused, number in enumerate(self.skipped)]
        return self.of_record(row + bisect_right(self._before, row))

    def of_record(self, row: int) -> int:
        """Where a record begins, counted with those that were refused."""
        if self._feeds is None:
            self._feeds = self.block.count(b"\n")
        if self._feeds <= self.records + len(self.skipped):
            return self.first + row
        if self._exact is None:
            self._exact = self._read()
        return self._exact[row] if row < len(self._exact) else self.first + row

    def _read(self) -> list[int]:
        lines, reader = [], csv.reader(
            io.StringIO(self.block.decode("utf-8", errors="replace"), newline=""), delimiter=self.delimiter
        )  # fmt: skip
        before = 0
        try:
            for record in reader:
                if record:
                    lines.append(self.first + before)
                before = reader.line_num
        except csv.Error:
            pass  # beyond its limits: the lines so far are right
        return lines


def _block_rows(block: bytes, heading: _Heading, line: int, source: str, dead_letter: DeadLetterTaker) -> TableRows:
    block = _decodable(block, line, source, dead_letter)
    lines = _Lines(block, line, heading.delimiter)

    def refuse(record: Any) -> str:
        number = (record.number or 1) - 1
        lines.skipped.append(number)
        found = f"{record.actual_columns} cells where the heading has {record.expected_columns}"
        letters.append((number, found, record.text or ""))
        return "skip"

    letters: list[tuple[int, str, str]] = []
    try:
        table = _parsed(block, heading, refuse)
    except pa.ArrowInvalid as error:
        dead_letter(DeadLetter(source, line, f"not CSV: {error}"))
        table = pa.table({name: pa.array([], pa.string()) for name in heading.wanted})
    lines.records = table.num_rows
    for number, reason, text in letters:
        dead_letter(DeadLetter(source, lines.of_record(number), reason, text[:_SHOWN]))
    return TableRows(table, lines)


def _parsed(block: bytes, heading: _Heading, refuse: Callable[[Any], str]) -> pa.Table:
    return pacsv.read_csv(
        pa.BufferReader(block),
        pacsv.ReadOptions(column_names=list(heading.names), block_size=max(len(block), 1) + 1, use_threads=False),
        pacsv.ParseOptions(delimiter=heading.delimiter, newlines_in_values=b'"' in block, invalid_row_handler=refuse),
        pacsv.ConvertOptions(
            include_columns=list(heading.wanted), column_types=dict.fromkeys(heading.wanted, pa.string()),
            strings_can_be_null=False, null_values=[], check_utf8=False,  # `_decodable` has seen to it
        ),
    )  # fmt: skip


def _is_utf8(block: bytes) -> bool:
    try:
        return block.isascii() or bool(block.decode())
    except UnicodeDecodeError:
        return False


def _decodable(block: bytes, line: int, source: str, dead_letter: DeadLetterTaker) -> bytes:
    """The lines that are UTF-8; the others are told, and leave an empty line behind.

    It goes before Arrow, which shows a row that it refuses as text, and fails there.
    """
    if _is_utf8(block):
        return block
    kept = []
    for number, text in enumerate(block.split(b"\n")):
        try:
            text.decode()
            kept.append(text)
        except UnicodeDecodeError:
            shown = text[:_SHOWN].decode("utf-8", errors="replace")
            dead_letter(DeadLetter(source, line + number, "bytes that are not UTF-8", shown))
            kept.append(b"")
    return b"\n".join(kept)


def parquet_rows(
    file: IO[bytes], needed: Sequence[str], source: str, dead_letter: DeadLetterTaker, limits: ReadLimits = DEFAULT
) -> Iterator[TableRows]:
    """The rows of a Parquet file, the columns that are needed alone."""
    rows = 0
    try:
        opened = seekable(file, limits)
        table = pq.ParquetFile(opened)
        names = table.schema_arrow.names
        tell_missing([name for name in needed if column_of(name, names) is None], names, source, dead_letter)
        _tell_nested(table.schema_arrow, needed, source, dead_letter)
        wanted = list(dict.fromkeys(found for name in needed if (found := column_of(name, names)) is not None))
        if not wanted:
            return
        # texts that repeat stand once in the file, and need be written once
        texts = [name for name in wanted if pa.types.is_string(table.schema_arrow.field(names.index(name)).type)]
        table = pq.ParquetFile(opened, metadata=table.metadata, read_dictionary=texts)
        # what threads gain on the wall they take from whoever works on the block before
        blocks = table.iter_batches(batch_size=_PARQUET_ROWS, columns=wanted, use_threads=False)
        while (block := next(blocks, None)) is not None:
            yield TableRows(_first_columns(pa.Table.from_batches([block]), wanted), _counted(1 + rows))
            rows += len(block)
    except FAULTS as error:
        dead_letter(damage(source, rows, error))


def _tell_nested(schema: pa.Schema, needed: Sequence[str], source: str, dead_letter: DeadLetterTaker) -> None:
    """A dead letter for each column that the mapping takes for a value and that has none: a struct, a map."""
    for name in needed:
        if name in schema.names and not is_value(kind := schema.field(schema.names.index(name)).type):
            inner = (
                f"; a path leads into it: $({name}.{kind.field(0).name})"
                if pa.types.is_struct(kind) and kind.num_fields
                else ""
            )
            dead_letter(DeadLetter(source, 1, f"the column {name} is of type {kind}, which is no value{inner}"))


def column_of(reference: str, names: Sequence[str]) -> str | None:
    """The column that a reference names, or leads into."""
    if reference in names:
        return reference
    head = reference.removeprefix("$.").partition(".")[0]
    return head if head in names else None


def _first_columns(table: pa.Table, wanted: Sequence[str]) -> pa.Table:
    """The columns of these names; a name that comes twice means its first column."""
    return table.select([table.column_names.index(name) for name in wanted])


def _counted(first: int) -> Callable[[int], int | None]:
    return lambda row: first + row


def table_rows(table: pa.Table, needed: Sequence[str], source: str, dead_letter: DeadLetterTaker) -> Iterator[TableRows]:
    """The rows of a table in memory."""
    names = table.column_names
    tell_missing([name for name in needed if column_of(name, names) is None], names, source, dead_letter)
    _tell_nested(table.schema, needed, source, dead_letter)
    wanted = list(dict.fromkeys(found for name in needed if (found := column_of(name, names)) is not None))
    kept = _first_columns(table, wanted)
    for first in range(0, table.num_rows, _PARQUET_ROWS):
        yield TableRows(kept.slice(first, _PARQUET_ROWS), _counted(first + 1))
