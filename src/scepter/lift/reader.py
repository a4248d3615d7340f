"""Files, tables and payloads through a mapping: from open files to event batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from scepter.errors import OptionError, nearest, option_error
from scepter.lift.documents import document_rows, json_documents
from scepter.lift.lifter import Lifter, event_section
from scepter.lift.model import EventSection, Mapping
from scepter.lift.rows import Rows, TableRows
from scepter.lift.tables import column_of, csv_rows, parquet_rows, table_rows
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.limits import BeyondLimit
from scepter.rdf.parquet import FAULTS, seekable
from scepter.rdf.readers import READERS, Document, Reader, Reading
from scepter.rdf.times import TimeProperties

_JSON_START: Final = b"{["
_EVENT_TABLE: Final = frozenset({"start", "end", "graph"})


@dataclass(frozen=True, slots=True)
class MappedReaders:
    """A mapping as readers of files: what `Reading.lift` holds. It is shipped to workers."""

    mapping: Mapping

    def reader(self, extension: str) -> Reader | None:
        """The reader of files with such an extension; None where RDF is read as it is."""
        found: dict[str, Reader] = {
            ".csv": self._csv,
            ".tsv": self._tsv,
            ".json": self._json,
            ".jsonl": self._json,
            ".ndjson": self._json,
            ".parquet": self._parquet,
        }
        return found.get(extension)

    def sniff(self, head: bytes) -> str | None:
        """The extension of what a file without a telling name looks like, to a mapping."""
        formulation = self.mapping.hint.formulation
        if head.startswith(b"PAR1"):
            return ".parquet"
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if start and start in _JSON_START and formulation in (None, "json"):
            return ".jsonl"
        return ".tsv" if formulation == "tsv" else ".csv" if formulation in (None, "csv") else None

    @property
    def name(self) -> str:
        """As messages call it."""
        return self.mapping.name

    @property
    def option(self) -> tuple[str, str]:
        """As `format("rdf")` takes it."""
        return "map", self.mapping.text

    def laid_out(self, text: bytes) -> bytes:
        """Nothing: a mapping says itself where its times stand."""
        return b""

    def documents(self, documents: Iterable[Document], reading: Reading) -> Iterator[EventBatch]:
        """The events of documents that were read already, such as the payloads of messages with their offsets."""
        yield from lift_documents(_lifters(self.mapping, reading), list(documents), reading, {}, final=True)

    def timed(self, times: TimeProperties) -> bool:
        """Whether the mapping, or a triple that it makes, says when its events were."""
        try:
            self.check(times)
        except OptionError as error:
            if error.code != "mapping-time":
                raise
            return False
        return True

    def section(self, times: TimeProperties) -> EventSection:
        """What makes events of the rows."""
        return event_section(self.mapping, list(self.mapping.maps), times)

    def check(self, times: TimeProperties) -> None:
        """Raises what is wrong with the mapping before any data is read."""
        for iterator in self.mapping.iterators:
            Lifter(self.mapping, iterator, TermKey.fixed(), None, times)

    def _csv(self, file: IO[bytes], reading: Reading, delimiter: str | None = None) -> Iterator[EventBatch]:
        source, told, limits = reading.source_name, reading.dead_letter, reading.run.limits
        return self._table(lambda needed: csv_rows(file, needed, source, told, delimiter, limits), reading)

    def _tsv(self, file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
        return self._csv(file, reading, "\t")

    def _parquet(self, file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
        try:
            whole = seekable(file, reading.run.limits)
        except BeyondLimit as error:
            reading.dead_letter(DeadLetter(reading.source_name, None, str(error)))
            return
        if _is_event_table(whole):
            yield from READERS[".parquet"](whole, reading)
            return
        [lifter] = _lifters(_without_iterators(self.mapping), reading).values()
        blocks = parquet_rows(whole, lifter.needed, reading.source_name, reading.dead_letter)
        yield from _lifted_ahead(lifter, blocks, reading)

    def _table(self, read: Callable[[Sequence[str]], Iterator[TableRows]], reading: Reading) -> Iterator[EventBatch]:
        # a table has rows and no iterators: all triples maps are about them
        plain = _without_iterators(self.mapping)
        [lifter] = _lifters(plain, reading).values()
        yield from _lifted(lifter, read(lifter.needed), reading)

    def _json(self, file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
        lifters = _lifters(self.mapping, reading)
        carried: dict[str | None, list[Document]] = {}
        for documents in json_documents(file, reading.source_name, reading.dead_letter, reading.run.limits):
            yield from lift_documents(lifters, documents, reading, carried, final=False)
        yield from lift_documents(lifters, [], reading, carried, final=True)


def lift_documents(
    lifters: dict[str | None, Lifter], documents: Sequence[Document], reading: Reading,
    carried: dict[str | None, list[Document]], *, final: bool,
) -> Iterator[EventBatch]:  # fmt: skip
    """The events of documents. Items of an event that may go on are `carried` to the next call, until the final one."""
    for iterator, lifter in lifters.items():
        rows = document_rows(documents, iterator)
        before = carried.pop(iterator, [])
        rows.items = [item for _, item in before] + list(rows.items)
        rows.lines = [line for line, _ in before] + list(rows.lines)
        batch, taken = lifter.lift(
            rows, reading.stream_index, reading.source_name, reading.dead_letter, reading.run, final=final
        )
        if taken < rows.count:
            carried[iterator] = list(zip(rows.lines[taken:], rows.items[taken:], strict=True))
        if batch is not None:
            yield batch


def table_batches(mapping: Mapping, table: pa.Table, reading: Reading) -> Iterator[EventBatch]:
    """The events of a table in memory."""
    [lifter] = _lifters(_without_iterators(mapping), reading).values()
    yield from _lifted_ahead(lifter, table_rows(table, lifter.needed, reading.source_name, reading.dead_letter), reading)


def arrow_batches(mapping: Mapping, parts: Iterable[pa.RecordBatch], reading: Reading) -> Iterator[EventBatch]:
    """The events of record batches, as a worker is given them."""
    [lifter] = _lifters(_without_iterators(mapping), reading).values()
    tables = (pa.Table.from_batches([part]) for part in parts)
    yield from _lifted_ahead(lifter, (TableRows(table, lambda row: None) for table in tables), reading)


def needed_columns(
    mapping: Mapping, names: Sequence[str], key: TermKey, predicates: frozenset[int] | None, times: TimeProperties
) -> list[str]:
    """The columns of a table that a mapping needs for the predicates that are asked for; OptionError if one is missing."""
    needed = Lifter(_without_iterators(mapping), None, key, predicates, times).needed
    for name in needed:
        if column_of(name, names) is None:
            close = nearest(name, names)
            raise option_error(
                "table-columns",
                f"the mapping {mapping.name} uses the column {name}, which the table does not have",
                help=f"did you mean {close}?" if close else f"its columns are {', '.join(names)}",
            )
    return list(dict.fromkeys(found for name in needed if (found := column_of(name, names)) is not None))


def _lifters(mapping: Mapping, reading: Reading) -> dict[str | None, Lifter]:
    return {
        iterator: Lifter(mapping, iterator, reading.key, reading.predicates, reading.run.times)
        for iterator in mapping.iterators
    }


def _without_iterators(mapping: Mapping) -> Mapping:
    return replace(mapping, maps=tuple(replace(each, iterator=None) for each in mapping.maps))


def _lifted(lifter: Lifter, blocks: Iterable[TableRows], reading: Reading) -> Iterator[EventBatch]:
    """The events of blocks that come when they come: the rows of the last event wait for the next one."""
    return _lifted_so_far(lifter, ((rows, False) for rows in blocks), reading)


def _lifted_ahead(lifter: Lifter, blocks: Iterable[TableRows], reading: Reading) -> Iterator[EventBatch]:
    """The events of blocks that are all there: where the next block begins with another event, nothing need wait, nor be copied
    before it."""
    return _lifted_so_far(lifter, _with_ends(lifter, blocks), reading)


def _with_ends(lifter: Lifter, blocks: Iterable[TableRows]) -> Iterator[tuple[TableRows, bool]]:
    """The blocks that have rows, and whether the last event of each ends with it."""
    before: TableRows | None = None
    for rows in blocks:
        if not rows.count:
            continue
        if before is not None:
            yield (
                before,
                lifter.part(TableRows(pa.concat_tables([before.table[-1:], rows.table[:1]], promote_options="default"))),
            )
        before = rows
    if before is not None:
        yield before, True


def _lifted_so_far(lifter: Lifter, blocks: Iterable[tuple[TableRows, bool]], reading: Reading) -> Iterator[EventBatch]:
    """The events of blocks, of which we know or do not know whether they end with an event."""
    waiting: TableRows | None = None
    for block, final in blocks:
        rows = block if waiting is None else _behind(waiting, block)
        batch, taken = _lift(lifter, rows, reading, final=final)
        waiting = _rest(rows, taken) if taken < rows.count else None
        if batch is not None:
            yield batch
    if waiting is not None:
        batch, _ = _lift(lifter, waiting, reading, final=True)
        if batch is not None:
            yield batch


def _lift(lifter: Lifter, rows: Rows, reading: Reading, *, final: bool) -> tuple[EventBatch | None, int]:
    return lifter.lift(rows, reading.stream_index, reading.source_name, reading.dead_letter, reading.run, final=final)


def _rest(rows: TableRows, taken: int) -> TableRows:
    lines = rows.lines
    return TableRows(rows.table.slice(taken), lambda row: lines(row + taken))


def _behind(first: TableRows, second: TableRows) -> TableRows:
    count, before, after = first.count, first.lines, second.lines
    table = pa.concat_tables([first.table, second.table], promote_options="default")
    return TableRows(table, lambda row: before(row) if row < count else after(row - count))


def _is_event_table(file: IO[bytes] | pa.NativeFile) -> bool:
    """Whether a Parquet file holds events as it is: start, end, and graphs of triples."""
    try:
        schema = pq.read_schema(file)
    except FAULTS:
        return False
    finally:
        file.seek(0)
    return set(schema.names) >= _EVENT_TABLE and pa.types.is_list(schema.field(schema.names.index("graph")).type)
