"""One reader per stream format: from an open file to event batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any, Final, Protocol, TypeAlias

import pyarrow as pa
import pyoxigraph

from scepter.errors import DataError, OptionError, option_error
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.extensions import TABLES, is_log
from scepter.rdf.formats import document_batches, events_to_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.jelly import JellyReader
from scepter.rdf.joined import Joined
from scepter.rdf.letters import SHOWN
from scepter.rdf.limits import BeyondLimit, check_turtle
from scepter.rdf.long_lines import Lines, read_whole, too_much
from scepter.rdf.messages import JsonMessages, log_events
from scepter.rdf.nquads import NQuadsReader, ReadState
from scepter.rdf.parquet import EventTable, parquet_batches, table_batches
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.timeline_notation import parse_timeline


class Lift(Protocol):
    """What makes events of rows and documents, a mapping or a context, as far as readers know it. It is shipped to workers."""

    @property
    def name(self) -> str:
        """As messages call it."""

    @property
    def option(self) -> tuple[str, str]:
        """The option of `format("rdf")` that stands for it, and its value."""

    def reader(self, extension: str) -> Reader | None:
        """The reader of files with such an extension; None where they are read as they are."""

    def sniff(self, head: bytes) -> str | None:
        """The extension of what a file without a telling name looks like."""

    def laid_out(self, text: bytes) -> bytes:
        """The triples of a beginning of a file as N-Quads, where a time is looked for that nobody named."""

    def documents(self, documents: Iterable[Document], reading: Reading) -> Iterator[EventBatch]:
        """The events of documents that were read already, such as the payloads of messages with their numbers."""


Document: TypeAlias = tuple[int | None, Any]
"""The line that a document begins on, and what it holds."""


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
    while chunk := read(max(reading.batch_bytes, _CHUNK)):
        if (batch := reader.feed(chunk)) is not None:
            yield batch
    if (batch := reader.finish()) is not None:
        yield batch


def _document(format: pyoxigraph.RdfFormat) -> Reader:
    def read(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
        text = file.read(reading.run.limits.document + 1).removeprefix(b"\xef\xbb\xbf")
        if is_log(text) and len(text) <= reading.run.limits.document:
            messages = log_events(text, format, reading.source_name, reading.dead_letter, reading.run.limits)
            yield from message_batches(messages, reading)
            return
        yield from document_batches(
            text, format, reading.key, reading.stream_index, reading.source_name, reading.dead_letter,
            predicates=reading.predicates, run=reading.run, batch_bytes=reading.batch_bytes,
        )  # fmt: skip

    return read


def message_batches(messages: Iterable[tuple[bytes, int | None]], reading: Reading) -> Iterator[EventBatch]:
    """The events of messages that were laid out as N-Quads, each with the line that it stands on in its source."""
    joined: Joined[int | None] = Joined()

    def placed(letter: DeadLetter) -> None:
        reading.dead_letter(letter if letter.line is None else replace(letter, line=joined.place(letter.line)[0]))

    reader = NQuadsReader(
        reading.key, reading.stream_index, reading.source_name, placed,
        predicates=reading.predicates, run=reading.run, batch_bytes=reading.batch_bytes,
    )  # fmt: skip
    for text, line in messages:
        if len(text) > reading.run.limits.event:
            reading.dead_letter(DeadLetter(reading.source_name, line, str(too_much(reading.run.limits.event))))
        elif text:
            joined.add(text, line)
            if joined.size >= reading.batch_bytes:
                yield from joined.read(reader)
    yield from joined.read(reader)


def read_json_lines(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    """Newline-delimited JSON-LD: each line is a message, and a line that is a context alone rules those behind it."""
    messages = JsonMessages(reading.source_name, reading.dead_letter, reading.run.limits)
    yield from message_batches(((text, line) for line, text in _json_lines(file, messages, reading)), reading)


def _json_lines(file: IO[bytes], messages: JsonMessages, reading: Reading) -> Iterator[tuple[int, bytes]]:
    limit = reading.run.limits.event
    for number, line in Lines(file, limit):
        if line is None:
            reading.dead_letter(DeadLetter(reading.source_name, number, str(too_much(limit))))
        elif line.strip(b"\xef\xbb\xbf \t\r\n"):
            yield number, messages.read(line, number)


def read_jelly(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    """Jelly: each frame is a message, unless the stream is flat."""
    yield from JellyReader(
        reading.key, reading.stream_index, reading.source_name, reading.dead_letter,
        predicates=reading.predicates, run=reading.run, batch_bytes=reading.batch_bytes,
    ).batches(file)  # fmt: skip


def read_timeline(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    """The timeline notation; a file in it is read as a whole or not at all."""
    limit = reading.run.limits.document
    try:
        data = read_whole(file, limit)
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
    if source.startswith("kafka://"):
        told = f"{source} is plain JSON, and nothing says how it becomes an event"
        return option_error(
            "needs-map", told, help="add --map FILE or --context FILE; of JSON-LD, each message brings its @context"
        )
    table = source.removesuffix(".gz").endswith((".csv", ".tsv"))
    context = "" if table else "; JSON may do with --context FILE, JSON-LD in a file named .jsonld or .ndjsonld needs neither"
    return option_error(
        "needs-map",
        f"{source} holds rows or documents, and nothing says how they become events",
        help=f"add --map FILE; scepter map {source} --suggest writes a first one{context}",
    )


def _unmapped(file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
    raise needs_map(reading.source_name)


_CHUNK: Final = 1 << 16
READERS: Final[dict[str, Reader]] = {
    ".nq": read_nquads,
    ".nquads": read_nquads,
    ".nt": read_nquads,
    ".trig": _document(pyoxigraph.RdfFormat.TRIG),
    ".ttl": _document(pyoxigraph.RdfFormat.TURTLE),
    ".jsonld": _document(pyoxigraph.RdfFormat.JSON_LD),
    ".ndjsonld": read_json_lines,
    ".jsonldl": read_json_lines,
    ".jelly": read_jelly,
    ".timeline": read_timeline,
    ".parquet": read_parquet,
    **dict.fromkeys(TABLES, _unmapped),
}
"""Readers by extension; a new format is one more entry, and one in `EXTENSIONS`."""


def reader_of(extension: str, reading: Reading) -> Reader | None:
    """The reader of a format; None of one that nobody knows."""
    mapped = None if reading.lift is None else reading.lift.reader(extension)
    return mapped or READERS.get(extension)
