"""One reader per stream format: from an open file to event batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Final, Protocol, TypeAlias

import pyarrow as pa
import pyoxigraph

from scepter.errors import DataError, OptionError, option_error
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.formats import document_batches, events_to_batch, json_line_events
from scepter.rdf.hashing import TermKey
from scepter.rdf.limits import BeyondLimit, check_turtle
from scepter.rdf.nquads import SHOWN, NQuadsReader, ReadState
from scepter.rdf.parquet import EventTable, parquet_batches, table_batches
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.timeline_notation import parse_timeline


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
        text = file.read(reading.run.limits.document + 1).removeprefix(b"\xef\xbb\xbf")
        yield from document_batches(
            text, format, reading.key, reading.stream_index, reading.source_name, reading.dead_letter,
            predicates=reading.predicates, run=reading.run, batch_bytes=reading.batch_bytes,
        )  # fmt: skip

    return read


def read_json_lines(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    """Newline-delimited JSON-LD: each line is a document, whose blank nodes are its own. A document without named graphs is one
    event, called by the identifier of its node, whose time stands inside (`--time-property`)."""
    reader = NQuadsReader(
        reading.key, reading.stream_index, reading.source_name, reading.dead_letter,
        predicates=reading.predicates, run=reading.run, batch_bytes=reading.batch_bytes, numbered=False,
    )  # fmt: skip
    for number, line in enumerate(file, 1):
        if line.strip(b"\xef\xbb\xbf \t\r\n"):
            for text in json_line_events(line, number, reading.source_name, reading.dead_letter, reading.run.limits):
                if (batch := reader.feed(text)) is not None:
                    yield batch
    if (batch := reader.finish()) is not None:
        yield batch


def read_timeline(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    """The timeline notation; a file in it is read as a whole or not at all."""
    limit = reading.run.limits.document
    try:
        data = file.read(limit + 1)
        if len(data) > limit:
            raise BeyondLimit(f"a document of more than {limit} bytes (limit document)")
        check_turtle(data, reading.run.limits)
        text = data.decode("utf-8-sig")
        events = parse_timeline(text, reading.prefixes, name=reading.source_name, kind=reading.run.kind)
    except UnicodeDecodeError as error:
        reading.dead_letter(DeadLetter(reading.source_name, None, f"bytes that are not UTF-8: {error.reason}"))
        return
    except BeyondLimit as error:
        reading.dead_letter(DeadLetter(reading.source_name, None, str(error)))
        return
    except DataError as error:
        shown = error.source.line(error.line) if error.source is not None and error.line is not None else ""
        reading.dead_letter(DeadLetter(reading.source_name, error.line, error.diagnostic.message, shown[:SHOWN]))
        return
    if events:
        reading.run.kind = events[0].kind
        yield events_to_batch(
            [event.graph_event(reading.stream_index) for event in events],
            reading.key, events[0].kind, run=reading.run, predicates=reading.predicates,
        )  # fmt: skip


def read_parquet(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    """Tables with columns start, end (timestamp or integer) and graph (list of structs s, p, o in N-Triples form)."""
    return parquet_batches(file, _table(reading))


def read_table(table: pa.Table, reading: Reading) -> Iterator[EventBatch]:
    """The events of an Arrow table at hand, with the columns of a Parquet file of events."""
    return table_batches(table, _table(reading))


def _table(reading: Reading) -> EventTable:
    return EventTable(
        reading.key, reading.stream_index, reading.source_name, reading.dead_letter, reading.predicates, reading.run
    )


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
    ".ndjsonld": read_json_lines,
    ".jsonldl": read_json_lines,
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
# The notation's own PREFIX lines may stand before the first event; in TriG no subject begins with a digit.
_TIMELINE_START: Final = re.compile(
    rb"(?:(?i:@?prefix)\s+[^\s:]*:\s*<[^<>\s]*>[ \t]*\.?(?:\s|#[^\n]*(?:\n|\Z))*+)*+[+-]?\d[\dTZ:.+-]*+\s*\{"
)
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
