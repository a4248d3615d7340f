"""What `scepter map` prints: events as TriG or N-Quads, plain triples where a mapping has no time, dead letters on stderr."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

import typer

from scepter.errors import option_error
from scepter.lift.load import load_mapping
from scepter.lift.plain import Quad, plain_quads
from scepter.lift.reader import MappedReaders
from scepter.lift.suggest import suggested
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.files import HEAD, format_extension
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import TABLES, Reading
from scepter.rdf.scanner import term_text
from scepter.rdf.terms import PROV, XSD
from scepter.rdf.times import TimeProperties
from scepter.timeline import TimeKind, format_instant


def print_suggestion(file: IO[bytes], path: Path) -> None:
    """A first mapping for a file."""
    extension = format_extension(path)
    if extension not in (*TABLES, ".parquet"):
        extension = ".jsonl" if _peeked(file).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else ".csv"
    typer.echo(suggested(file, extension, str(path)), nl=False)


def print_mapped(
    file: IO[bytes], path: Path, mapping_file: Path, limit: int | None, format: str, time_property: Sequence[str] | None
) -> None:
    """The events that a mapping makes of a file; then how many rows were not used, and why."""
    mapping = load_mapping(mapping_file)
    readers = MappedReaders(mapping)
    extension = format_extension(path)
    if extension not in (*TABLES, ".parquet"):
        extension = readers.sniff(_peeked(file)) or ".csv"
    reasons: Counter[str] = Counter()
    times = TimeProperties.of(time_property)

    def take(letter: DeadLetter) -> None:
        place = f"{letter.source}:{letter.line}" if letter.line is not None else letter.source
        reasons[f"{place}: {letter.reason}"] += 1

    if mapping.events is None and not readers.timed(times):
        quads = plain_quads(file, extension, mapping, str(path), take)
        lines = nquads(itertools.islice(quads, limit)) if format == "nquads" else trig(itertools.islice(quads, limit))
    else:
        readers.check(times)
        reader = readers.reader(extension)
        if reader is None:
            raise option_error("unknown-format", f"{path}: no rows or documents that a mapping could read")
        reading = Reading(TermKey.fixed(), 0, str(path), take, None, ReadState(times=times), BATCH_BYTES, {})
        events = itertools.islice(_events(reader(file, reading)), limit)
        lines = event_nquads(events) if format == "nquads" else event_trig(events)
    for line in lines:
        typer.echo(line)
    for reason, _ in reasons.most_common(10):
        typer.echo(f"not used: {reason}", err=True)
    if len(reasons) > 10:
        typer.echo(f"not used: {len(reasons) - 10} more", err=True)


def _peeked(file: IO[bytes]) -> bytes:
    found: bytes = file.peek(HEAD) if hasattr(file, "peek") else b""
    return found


Shown = tuple[str, list[str], list[tuple[str, str, str]]]
"""An event's name, the lines that give its time, and its triples."""


def _events(batches: Iterable[EventBatch]) -> Iterator[Shown]:
    number = 0
    for batch in batches:
        for event in range(batch.events):
            number += 1
            at = int(batch.name_at[event])
            name = f"_:e{number}" if at < 0 else term_text(batch.buffer, at)
            rows = range(int(batch.first[event]), int(batch.first[event + 1]))
            columns = (batch.subject_at, batch.predicate_at, batch.object_at)
            triples = [tuple(term_text(batch.buffer, int(column[row])) for column in columns) for row in rows]
            yield name, _times(batch, event), triples  # type: ignore[misc]


def _times(batch: EventBatch, event: int) -> list[str]:
    start, end = int(batch.start[event]), int(batch.end[event])
    if start == end:
        return [f"<{PROV}generatedAtTime> {_time(start, batch.kind)}"]
    return [f"<{PROV}startedAtTime> {_time(start, batch.kind)}", f"<{PROV}endedAtTime> {_time(end, batch.kind)}"]


def _time(instant: int, kind: TimeKind) -> str:
    type = "integer" if kind is TimeKind.INTEGER else "dateTime"
    return f'"{format_instant(instant, kind)}"^^<{XSD}{type}>'


def event_nquads(events: Iterable[Shown]) -> Iterator[str]:
    """Events as N-Quads, the time first."""
    for name, times, triples in events:
        yield from (f"{name} {time} ." for time in times)
        yield from (f"{s} {p} {o} {name} ." for s, p, o in triples)


def event_trig(events: Iterable[Shown]) -> Iterator[str]:
    """Events as TriG."""
    for name, times, triples in events:
        yield f"{name} {' ; '.join(times)} ."
        yield f"{name} {{"
        yield from (f"  {s} {p} {o} ." for s, p, o in triples)
        yield "}"


def nquads(quads: Iterable[Quad]) -> Iterator[str]:
    """Triples and named graphs as N-Quads."""
    for s, p, o, graph in quads:
        yield f"{s} {p} {o} ." if graph is None else f"{s} {p} {o} {graph} ."


def trig(quads: Iterable[Quad]) -> Iterator[str]:
    """Triples and named graphs as TriG."""
    for graph, some in itertools.groupby(quads, key=lambda quad: quad[3]):
        before, after = ("", "") if graph is None else (f"{graph} {{ ", " }")
        yield from (f"{before}{s} {p} {o} .{after}" for s, p, o, _ in some)
