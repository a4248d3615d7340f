"""CSV, TSV and Parquet as rows: whole records at a time, only the columns that are asked for.

CSV is cut into blocks between records and each block is read by Arrow; cells stay texts, so that a number keeps its spelling.
What a block's reader refuses goes to the dead letters by itself, with its line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from scepter.errors import nearest
from scepter.lift.rows import TableRows
from scepter.rdf.batch import DeadLetter
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.untimed import NO_COLUMN

_BLOCK: Final = 2 << 20
_PATIENCE: Final = 64 << 20
_PARQUET_ROWS: Final = 32768
_DELIMITERS: Final = ",;\t|"
_BOM: Final = b"\xef\xbb\xbf"
_SHOWN: Final = 1000


def csv_rows(
    file: IO[bytes], needed: Sequence[str], source: str, dead_letter: DeadLetterTaker, delimiter: str | None = None
) -> Iterator[TableRows]:
    """The records of CSV with a heading, block by block."""
    # read1 gives what a pipe has, instead of waiting for a whole block
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    rest, line = b"", 1
    heading: _Heading | None = None
    ended = False
    while not ended:
        more = read(_BLOCK)
        ended = not more
        rest += more
        cut = len(rest) if ended else _record_end(rest)
        if not cut:
            continue
        block, rest = rest[:cut], rest[cut:]
        if heading is None and not block.removeprefix(_BOM).strip(b"\r\n"):
            line += block.count(b"\n")
            continue
        if heading is None:
            heading, block = _heading(block, needed, source, dead_letter, delimiter)
            line += heading.lines
            if heading.missing:
                tell_missing(heading.missing, heading.names, source, dead_letter)
        if block.strip(b"\r\n"):
            yield _block_rows(block, heading, line, source, dead_letter)
        line += block.count(b"\n")


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
    kept = tuple(name if name not in names[:i] else f"{name}\x00{i}" for i, name in enumerate(names))
    wanted = tuple(name for name in needed if name in kept)
    missing = tuple(name for name in needed if name not in kept)
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


def _record_end(text: bytes) -> int:
    """Behind the last line end that is in no quoted cell; 0 if there is none. A quote that never ends is given up in time."""
    end = text.rfind(b"\n") + 1
    if len(text) > _PATIENCE:
        return end
    while end and text.count(b'"', 0, end) % 2:
        end = text.rfind(b"\n", 0, text.rfind(b'"', 0, end)) + 1
    return end


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

    def __call__(self, row: int) -> int:
        for number in self.skipped:
            row += number <= row
        return self.of_record(row)

    def of_record(self, row: int) -> int:
        """Where a record begins, counted with those that were refused."""
        if self.block.count(b"\n") <= self.records + len(self.skipped):
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


def parquet_rows(file: IO[bytes], needed: Sequence[str], source: str, dead_letter: DeadLetterTaker) -> Iterator[TableRows]:
    """The rows of a Parquet file, the columns that are needed alone."""
    opened = file if file.seekable() else pa.BufferReader(file.read())
    try:
        table = pq.ParquetFile(opened)
    except (pa.ArrowInvalid, OSError) as error:
        dead_letter(DeadLetter(source, None, f"not Parquet: {error}"))
        return
    names = table.schema_arrow.names
    tell_missing([name for name in needed if column_of(name, names) is None], names, source, dead_letter)
    wanted = list(dict.fromkeys(found for name in needed if (found := column_of(name, names)) is not None))
    if not wanted:
        return
    # texts that repeat stand once in the file, and need be written once
    texts = [name for name in wanted if pa.types.is_string(table.schema_arrow.field(name).type)]
    table = pq.ParquetFile(opened, metadata=table.metadata, read_dictionary=texts)
    first = 1
    # what threads gain on the wall they take from whoever works on the block before
    for block in table.iter_batches(batch_size=_PARQUET_ROWS, columns=wanted, use_threads=False):
        yield TableRows(pa.Table.from_batches([block]), _counted(first))
        first += len(block)


def column_of(reference: str, names: Sequence[str]) -> str | None:
    """The column that a reference names, or leads into."""
    if reference in names:
        return reference
    head = reference.removeprefix("$.").partition(".")[0]
    return head if head in names else None


def _counted(first: int) -> Callable[[int], int | None]:
    return lambda row: first + row


def table_rows(table: pa.Table, needed: Sequence[str], source: str, dead_letter: DeadLetterTaker) -> Iterator[TableRows]:
    """The rows of a table in memory."""
    names = table.column_names
    tell_missing([name for name in needed if column_of(name, names) is None], names, source, dead_letter)
    wanted = list(dict.fromkeys(found for name in needed if (found := column_of(name, names)) is not None))
    kept = table.select(wanted)
    for first in range(0, table.num_rows, _PARQUET_ROWS):
        yield TableRows(kept.slice(first, _PARQUET_ROWS), _counted(first + 1))
