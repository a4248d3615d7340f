"""What `scepter map` prints: events as TriG or N-Quads, plain triples where a mapping has no time, dead letters on stderr."""

from __future__ import annotations

import io
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

import pyoxigraph as ox
import typer

from scepter.errors import option_error
from scepter.lift.context import load_context
from scepter.lift.load import load_mapping
from scepter.lift.plain import Quad, plain_quads
from scepter.lift.reader import MappedReaders
from scepter.lift.suggest import suggested
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.extensions import TABLES, foreign
from scepter.rdf.faults import NO_TIME
from scepter.rdf.files import HEAD, format_extension
from scepter.rdf.hashing import TermKey
from scepter.rdf.letters import REASONS
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Lift, Reading
from scepter.rdf.scanner import term_text
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.terms import PROV, XSD
from scepter.rdf.times import TimeProperties
from scepter.timeline import TimeKind, format_instant

Shown = tuple[str, list[str], list[tuple[str, str, str]]]
"""An event's name, the lines that give its time, and its triples."""


def print_suggestion(file: IO[bytes], path: Path) -> None:
    """A first mapping for a file."""
    if (why := foreign(_peeked(file))) is not None:
        raise option_error("unknown-format", f"{path} cannot be read: {why}")
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
    letters = _Unused()
    times = TimeProperties.of(time_property)
    if mapping.events is None and not readers.timed(times):
        _print_quads(plain_quads(file, extension, mapping, str(path), letters), limit, format)
    else:
        readers.check(times)
        _print_events(_read(readers, file, path, extension, times, letters), limit, format)
    letters.tell()


def print_in_context(
    file: IO[bytes], path: Path, context_file: Path, limit: int | None, format: str, time_property: Sequence[str] | None
) -> None:
    """The events that a context makes of JSON; its plain triples where nothing says which of them is the time."""
    readers = load_context(context_file)
    letters = _Unused()
    text = file.read()
    found = _read(readers, io.BytesIO(text), path, ".jsonl", TimeProperties.of(time_property), letters)
    first = next(found, None)
    if first is None and time_property is None:
        quads = ox.parse(readers.laid_out(text), format=ox.RdfFormat.N_QUADS)
        plain = [(str(q.subject), str(q.predicate), str(q.object), _graph(q)) for q in quads]
        _print_quads(plain, limit, format)
        letters.tell(but=REASONS[NO_TIME])
        if plain:
            told = "no document has a time: these are plain triples; --time-property says which of them is the time"
            typer.echo(told, err=True)
        return
    _print_events(itertools.chain([] if first is None else [first], found), limit, format)
    letters.tell()


def _graph(quad: ox.Quad) -> str | None:
    return None if isinstance(quad.graph_name, ox.DefaultGraph) else str(quad.graph_name)


class _Unused:
    """Counts what was not used, by place and reason."""

    def __init__(self) -> None:
        self._reasons: Counter[tuple[str, str]] = Counter()

    def __call__(self, letter: DeadLetter) -> None:
        place = f"{letter.source}:{letter.line}" if letter.line is not None else letter.source
        self._reasons[place, letter.reason] += 1

    def tell(self, but: str | None = None) -> None:
        """Tells the most frequent ones, all but those of one reason."""
        told = [(place, reason) for (place, reason), _ in self._reasons.most_common() if reason != but]
        for place, reason in told[:10]:
            typer.echo(f"not used: {place}: {reason}", err=True)
        if len(told) > 10:
            typer.echo(f"not used: {len(told) - 10} more", err=True)


def _read(
    lift: Lift, file: IO[bytes], path: Path, extension: str, times: TimeProperties, letters: DeadLetterTaker
) -> Iterator[Shown]:
    reader = lift.reader(extension)
    if reader is None:
        raise option_error("unknown-format", f"{path}: no rows or documents that a mapping could read")
    if (why := foreign(_peeked(file))) is not None:
        raise option_error("unknown-format", f"{path} cannot be read: {why}")
    reading = Reading(TermKey.fixed(), 0, str(path), letters, None, ReadState(times=times), BATCH_BYTES, {})
    return _events(reader(file, reading))


def _print_events(events: Iterable[Shown], limit: int | None, format: str) -> None:
    some = itertools.islice(events, limit)
    for line in event_nquads(some) if format == "nquads" else event_trig(some):
        typer.echo(line)


def _print_quads(quads: Iterable[Quad], limit: int | None, format: str) -> None:
    some = itertools.islice(quads, limit)
    for line in nquads(some) if format == "nquads" else trig(some):
        typer.echo(line)


def _peeked(file: IO[bytes]) -> bytes:
    found: bytes = file.peek(HEAD) if hasattr(file, "peek") else b""
    return found


def _events(batches: Iterable[EventBatch]) -> Iterator[Shown]:
    number, before = 0, ""
    for batch in batches:
        for event in range(batch.events):
            number += 1
            at = int(batch.name_at[event])
            name = f"_:e{number}" if at < 0 else term_text(batch.buffer, at)
            if name == before:  # two events of one name in a row would be read as one
                name = f"_:e{number}"
            before = name
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
