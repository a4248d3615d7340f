"""RDF in other clothes: TriG, JSON-LD, Turtle and events that exist already, brought to event batches.

TriG and JSON-LD documents are laid out anew as N-Quads, an event's lines together, and take the N-Quads reader's road: one set
of rules for times, one for dead letters.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import IO, Final, NamedTuple

import numpy as np
import pyoxigraph as ox
from numpy.typing import NDArray

from scepter.errors import DataError, Diagnostic, Source, Span, option_error
from scepter.rdf import grouping, scanner
from scepter.rdf.batch import DeadLetter, EventBatch, kept
from scepter.rdf.hashing import TermKey
from scepter.rdf.letters import SHOWN, letter
from scepter.rdf.lexing import SENTINEL
from scepter.rdf.limits import DEFAULT, BeyondLimit, ReadLimits, check_json, check_turtle, check_xml
from scepter.rdf.messages import TO_FETCH, UNNAMED, by_graph, is_to_fetch, is_unnamed
from scepter.rdf.nquads import (
    BATCH_BYTES,
    NQuadsReader,
    ReadState,
    batch_of,
    line_bound,
    padded,
    row_bound,
    scratch_for,
    spare_for,
)  # fmt: skip
from scepter.rdf.rdf12 import DIRECTION, TRIPLE_TERM
from scepter.rdf.terms import IRI, LANG_STRING, WELL_KNOWN_PREFIXES, BlankNode, Literal, Term, Triple
from scepter.rdf.whole_events import HALF, UNREADABLE, of_lines
from scepter.timeline import TimeKind

_DEFAULT: Final = ox.DefaultGraph()
_PAD: Final = len(SENTINEL)
NAMELESS: Final = -1
"""The name's offset of an event without one."""
_NO_IDS: Final = scanner.id_table(())
_TRIES: Final = 100
_TRIPLE: Final = "%s %s %s .\n"
_SMALL: Final = 4096
"""The memory that so many rows are read with is kept for the next ones."""
_NO_TEXT: Final = scratch_for(-64)
_CHECKS: Final = {ox.RdfFormat.JSON_LD: check_json, ox.RdfFormat.RDF_XML: check_xml}


class GraphEvent(NamedTuple):
    """An event whose time is known. `name` is a term in N-Triples form; `triples` are N-Triples texts of terms, or lines of
    N-Triples or N-Quads (their graph names are ignored)."""

    stream_index: int
    name: str | None
    start: int
    end: int
    triples: Sequence[tuple[str, str, str]] | bytes


def events_to_batch(
    events: Iterable[GraphEvent],
    key: TermKey,
    kind: TimeKind,
    *,
    run: ReadState | None = None,
    predicates: frozenset[int] | None = None,
    source_name: str = "event",
    dead_letter: Callable[[DeadLetter], None] | None = None,
) -> EventBatch:
    """A batch of events that are at hand. What is malformed goes to `dead_letter`; without one it raises DataError."""
    pieces: list[bytes] = []
    bounds = [0]
    given: list[int] = []  # four of each event: tuples of them would all be looked at by the garbage collector
    names: dict[int, str] = {}
    size = 0
    for stream, name, start, end, triples in events:
        name_at = NAMELESS
        if name is not None:
            # the name stands in a comment: the scanner passes over it, name_at points into it
            names[len(bounds) - 1] = name
            pieces.append(f"#{name}\n".encode())
            name_at = size + 1
            size += len(pieces[-1])
        given += (start, end, name_at, stream)
        text = triples if isinstance(triples, bytes) else "".join([f"{s} {p} {o} .\n" for s, p, o in triples]).encode()
        if not text.endswith(b"\n"):
            text += b"\n"
        pieces.append(text)
        size += len(text)
        bounds.append(size)

    def report(code: int, index: int, text: bytes) -> None:
        found = letter(source_name, None, code, text)
        if dead_letter is None:
            raise _malformed(names.get(index, index), found)
        dead_letter(found)

    return grouped_batch(
        b"".join(pieces),
        np.array(bounds, dtype=np.int64),
        np.array(given, dtype=np.int64).reshape(-1, 4),
        key, kind, report, run=run, predicates=predicates,
    )  # fmt: skip


def graphs_to_batch(
    graphs: Iterable[Sequence[tuple[str, str, str]]], given: Sequence[int], key: TermKey, kind: TimeKind, run: ReadState
) -> EventBatch:
    """A batch of events, given by their triples, N-Triples texts of terms, and four numbers of each: start, end, NAMELESS,
    stream. What is malformed raises."""
    lines = [_TRIPLE % triples[0] if len(triples) == 1 else "".join([_TRIPLE % each for each in triples]) for triples in graphs]
    text = "".join(lines)
    encoded = text.encode()
    # more than ASCII: what counts are bytes
    lengths = map(len, lines) if len(encoded) == len(text) else (len(line.encode()) for line in lines)
    told, at = np.array([*accumulate(lengths, initial=0), *given], np.int64), len(lines) + 1
    return grouped_batch(encoded, told[:at], told[at:].reshape(-1, 4), key, kind, _refuse, run=run)


def _refuse(code: int, index: int, text: bytes) -> None:
    raise _malformed(index, letter("event", None, code, text))


def _malformed(event: int | str, found: DeadLetter) -> DataError:
    return DataError(Diagnostic("malformed-event", f"event {event}: {found.reason}: {found.text}"))


def grouped_batch(
    text: bytes | memoryview,
    bounds: NDArray[np.int64],
    given: NDArray[np.int64],
    key: TermKey,
    kind: TimeKind,
    report: Callable[[int, int, bytes], None],
    *,
    run: ReadState | None = None,
    predicates: frozenset[int] | None = None,
) -> EventBatch:
    """A batch of N-Triples lines grouped already: event e is `text[bounds[e]:bounds[e + 1]]`, and `given[e]` is its start, end,
    name's offset (or -1) and stream. `report` hears (reason's code, event, line) of what is malformed."""
    run = run if run is not None else ReadState()
    size = len(text)
    lines = line_bound(text) + len(given)
    rows = row_bound(size, lines)
    before, scratch = run.room or (None, _NO_TEXT)
    columns = scanner.allot(max(rows, len(given)), lines, before)
    if len(scratch) < size + 64:
        scratch = scratch_for(size)
    if rows <= _SMALL:
        run.room = columns, scratch
    buffer = padded(text, spare=spare_for(size, rows))
    state = columns.state
    state[scanner.SALT] = run.salt
    state[scanner.SPARE] = size + _PAD
    grouping.scan_grouped(
        buffer, scanner.id_table(predicates) if predicates else _NO_IDS, predicates is not None, scratch,
        key.words(), bounds, given,
        columns.ids, columns.places, columns.number, columns.scale, columns.events, columns.errors, columns.known_ids, state,
    )  # fmt: skip
    run.salt = state.item(scanner.SALT)
    for code, event, at in columns.errors[:errors].tolist() if (errors := state.item(scanner.ERRORS)) else ():
        report(code, event, buffer[at : min(int(scanner.line_end(buffer, at)), at + SHOWN + 1)].tobytes())
    batch = batch_of(columns, buffer, kind)
    return _whole(batch, columns.errors[:errors], given, report, run.whole) if errors and run.whole else batch


def _whole(
    batch: EventBatch,
    errors: NDArray[np.int64],
    given: NDArray[np.int64],
    report: Callable[[int, int, bytes], None],
    whole: set[int],
) -> EventBatch:
    """A batch without the events that are whole or nothing and have lines that cannot be read."""
    lines = of_lines(errors[:, 0])
    there = np.ones(len(given), np.bool_)
    there[errors[~lines, 1]] = False
    broken = np.isin(given[:, 3], list(whole)) & there
    broken &= np.isin(np.arange(len(given)), errors[lines, 1])
    for event in np.flatnonzero(broken).tolist():
        report(HALF, event, b"")
    return kept(batch, ~broken[there])


def transcode(
    source: bytes | IO[bytes],
    format: ox.RdfFormat,
    source_name: str,
    dead_letter: Callable[[DeadLetter], None],
) -> Iterator[bytes]:
    """The events of a TriG or JSON-LD document as N-Quads, one after the other in the order of their graphs' first appearance.
    What a syntax error spoils is a dead letter; the parser goes on behind it where it can."""
    spoilt: list[DeadLetter] = []

    def told(found: DeadLetter) -> None:
        spoilt.append(found)
        dead_letter(found)

    quiet = True
    for text in by_graph(_quads(source, format, source_name, told)):
        quiet = False
        yield text
    if quiet and not spoilt and format == ox.RdfFormat.JSON_LD and isinstance(source, bytes) and is_unnamed(source):
        dead_letter(DeadLetter(source_name, None, UNNAMED, source[:SHOWN].decode("utf-8", errors="replace").rstrip()))


def _quads(
    source: bytes | IO[bytes], format: ox.RdfFormat, source_name: str, dead_letter: Callable[[DeadLetter], None]
) -> Iterator[ox.Quad]:
    parser = iter(ox.parse(source, format=format))
    failures = 0
    while True:
        try:
            yield next(parser)
        except StopIteration:
            return
        except SyntaxError as error:
            reason = TO_FETCH if is_to_fetch(error) else f"not {format.name}: {error.msg}"
            dead_letter(DeadLetter(source_name, error.lineno, reason))
            failures += 1
            if failures >= _TRIES:
                dead_letter(DeadLetter(source_name, error.lineno, f"the rest is left: {_TRIES} errors"))
                return
        except (OSError, ValueError) as error:
            dead_letter(DeadLetter(source_name, None, f"not readable as {format.name}: {error}"))
            return


def document_batches(
    source: bytes | IO[bytes],
    format: ox.RdfFormat,
    key: TermKey,
    stream_index: int,
    source_name: str,
    dead_letter: Callable[[DeadLetter], None],
    *,
    predicates: frozenset[int] | None = None,
    run: ReadState | None = None,
    batch_bytes: int = BATCH_BYTES,
) -> Iterator[EventBatch]:
    """The batches of a TriG or JSON-LD document. It is held in memory: a time may stand anywhere in it."""
    run = run if run is not None else ReadState()
    try:
        source = _bounded(source, format, run.limits)
    except BeyondLimit as error:
        dead_letter(DeadLetter(source_name, None, str(error)))
        return
    reader = NQuadsReader(
        key, stream_index, source_name, dead_letter,
        predicates=predicates, run=run, batch_bytes=batch_bytes, numbered=False,
    )  # fmt: skip
    read = _unspoilt if stream_index in run.whole else transcode
    for text in read(source, format, source_name, dead_letter):
        if len(text) > run.limits.event:
            reason = f"an event of more than {run.limits.event} bytes (limit event)"
            dead_letter(DeadLetter(source_name, None, reason, text[:SHOWN].decode("utf-8", errors="replace")))
            continue
        if (batch := reader.feed(text)) is not None:
            yield batch
    if (batch := reader.finish()) is not None:
        yield batch


def _unspoilt(
    source: bytes | IO[bytes], format: ox.RdfFormat, source_name: str, dead_letter: Callable[[DeadLetter], None]
) -> Iterator[bytes]:
    """The events of a document without errors: of which events another one has lost statements, nobody can tell."""
    errors: list[DeadLetter] = []
    texts = list(transcode(source, format, source_name, errors.append))
    for error in errors:
        dead_letter(error)
    if errors:
        dead_letter(DeadLetter(source_name, None, f"the document of versions {UNREADABLE}"))
    else:
        yield from texts


def _bounded(source: bytes | IO[bytes], format: ox.RdfFormat, limits: ReadLimits) -> bytes:
    """A document within its limits; raises BeyondLimit before a parser sees one that is not."""
    data = source if isinstance(source, bytes) else source.read(limits.document + 1)
    if len(data) > limits.document:
        raise BeyondLimit(f"a document of more than {limits.document} bytes (limit document)")
    _CHECKS.get(format, check_turtle)(data, limits)
    return data


def parse_graph(text: str, prefixes: Mapping[str, str] | None = None, *, scope: str = "", braced: bool = False) -> list[Triple]:
    """The triples of Turtle (or N-Triples) text, each once, lexical forms kept. The last dot may be left out. Well-known
    prefixes are declared, `prefixes` besides. Blank nodes are numbered in order, behind `scope`.

    >>> [str(term) for term in parse_graph(":a :b 01", {"": "http://example/"})[0]][2]
    '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'

    Raises GraphError with the place in `text`. `braced` takes the text as what stands between the braces of a TriG graph.
    """
    declared = {**WELL_KNOWN_PREFIXES, **(prefixes or {})}
    # on the text's first line, so that lines of errors are the text's own
    header = "".join(f"PREFIX {name}: <{iri}> " for name, iri in declared.items())
    format = ox.RdfFormat.TRIG if braced else ox.RdfFormat.TURTLE
    body = f"{header}{{ {text}\n}}" if braced else f"{header}{text}"
    try:
        check_turtle(text.encode("utf-8", errors="surrogatepass"), DEFAULT)
        parsed = list(ox.parse(body, format=format))
    except BeyondLimit as error:
        raise GraphError(Diagnostic("malformed-graph", f"not read: {error}", Span(0, 1)), Source("graph", text)) from None
    except SyntaxError as error:
        try:
            parsed = list(ox.parse(f"{body}\n.", format=format))
        except SyntaxError:
            raise _graph_error(text, error, len(header) + 2 * braced) from None
    return list(dict.fromkeys(_triples(parsed, scope)))


class GraphError(DataError, ValueError):
    """Static RDF or an event's graph is malformed."""


def _graph_error(text: str, error: SyntaxError, before: int) -> GraphError:
    line = min(max(error.lineno or 1, 1), text.count("\n") + 1)
    column = (error.offset or 1) - (before if line == 1 else 0)
    starts = [0, *(i + 1 for i, char in enumerate(text) if char == "\n")]
    at = max(0, min(starts[line - 1] + max(column, 1) - 1, len(text)))
    message = error.msg.split(": ", 1)[-1]
    return GraphError(Diagnostic("malformed-graph", f"not Turtle: {message}", Span(at, at + 1)), Source("graph", text))


def _triples(quads: Iterable[ox.Quad], scope: str) -> Iterator[Triple]:
    labels: dict[str, BlankNode] = {}
    for quad in quads:
        yield Triple(
            _term(quad.subject, labels, scope), _term(quad.predicate, labels, scope), _term(quad.object, labels, scope)
        )


def _term(node: object, labels: dict[str, BlankNode], scope: str) -> Term:
    match node:
        case ox.NamedNode():
            return IRI(node.value)
        case ox.BlankNode():
            return labels.setdefault(node.value, BlankNode(f"{scope}b{len(labels)}"))
        case ox.Literal() if node.direction is not None:
            raise GraphError(Diagnostic("unsupported-term", f"{node} is {DIRECTION}"))
        case ox.Literal() if node.language is not None:
            return Literal(node.value, LANG_STRING, node.language.lower())
        case ox.Literal():
            return Literal(node.value, node.datatype.value)
        case _:
            raise GraphError(Diagnostic("unsupported-term", f"<<( {node} )>> is {TRIPLE_TERM}"))


GRAPH_FORMATS: Final = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".nq": ox.RdfFormat.N_QUADS,
    ".nquads": ox.RdfFormat.N_QUADS,
    ".trig": ox.RdfFormat.TRIG,
    ".jsonld": ox.RdfFormat.JSON_LD,
    ".n3": ox.RdfFormat.N3,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML,
}
"""The formats of static RDF by extension; each also with .gz behind it."""


def load_dataset(path: str | Path, scope: str | None = None) -> Iterator[tuple[Triple, IRI | BlankNode | None]]:
    """The triples of a file of static RDF, each with the name of its graph, None for the default graph.

    Blank nodes are scoped to the file: `scope` stands before their labels, and is made from the path if none is given. Of
    static data nothing may be missing: what cannot be read raises GraphError, a file that is not there OptionError.
    """
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    format = GRAPH_FORMATS.get("".join((suffixes[:-1] if packed else suffixes)[-1:]))
    if format is None:
        raise option_error(
            "graph-format",
            f"{path}: no RDF format is known by this extension",
            help=f"name the file {', '.join(GRAPH_FORMATS)}, each also .gz",
        )
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            yield from _dataset(
                bounded_static(file.read(), format, path), format, _file_scope(path) if scope is None else scope, path
            )
    except (OSError, EOFError, zlib.error) as error:
        raise option_error("unreadable", f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def bounded_static(data: bytes, format: ox.RdfFormat, path: Path) -> bytes:
    """The bytes of static RDF. It is the user's own and may be of any size; nesting and expansion are bounded all the same."""
    try:
        _CHECKS.get(format, check_turtle)(data, replace(DEFAULT, literal=len(data) + 1))
    except BeyondLimit as error:
        raise GraphError(Diagnostic("malformed-graph", f"{path}: not read: {error}")) from None
    return data


def load_graph(path: str | Path, scope: str | None = None) -> list[Triple]:
    """The triples of a file of static RDF, of all its graphs together, each once. See `load_dataset`."""
    return list(dict.fromkeys(triple for triple, _ in load_dataset(path, scope)))


_IMPLIES: Final = ox.NamedNode("http://www.w3.org/2000/10/swap/log#implies")


def _file_scope(path: Path) -> str:
    return f"f{zlib.crc32(str(path).encode()):08x}x"


def _dataset(data: bytes, format: ox.RdfFormat, scope: str, path: Path) -> Iterator[tuple[Triple, IRI | BlankNode | None]]:
    labels: dict[str, BlankNode] = {}
    try:
        for quad in ox.parse(data.removeprefix(b"\xef\xbb\xbf"), format=format, base_iri=path.absolute().as_uri()):
            triple = Triple(
                _term(quad.subject, labels, scope), _term(quad.predicate, labels, scope), _term(quad.object, labels, scope)
            )
            if quad.predicate == _IMPLIES:
                message = f"{path}: it has a rule of N3 (=>), and rules are not applied to static data"
                raise GraphError(
                    Diagnostic("n3-rule", message, None, "leave the rule out, or write it as a CONSTRUCT in EP-SPARQL")
                )
            name = None if quad.graph_name == _DEFAULT else _term(quad.graph_name, labels, scope)
            if isinstance(name, Literal):
                raise AssertionError("a graph is not named by a literal")
            yield triple, name
    except SyntaxError as error:
        message = f"{path}:{error.lineno or 1}: not {format.name}: {error.msg.split(': ', 1)[-1]}"
        raise GraphError(Diagnostic("malformed-graph", message)) from None
    except GraphError as error:
        found = error.diagnostic
        if found.code != "unsupported-term":
            raise
        raise GraphError(replace(found, message=f"{path}: {found.message}")) from None
