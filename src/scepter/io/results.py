"""Result formats: one JSON object per match, a table, SPARQL CSV, and TriG that can be read back as a stream (spec/00 §3).

Writers take matches one at a time and never reorder them: bounded runs hand them over in the order of `order`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO, TypeAlias, assert_never
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scepter.errors import nearest, option_error
from scepter.io import columns
from scepter.physical.event_text import shortened
from scepter.rdf.terms import IRI, PROV, STRING, WELL_KNOWN_PREFIXES, XSD, BlankNode, Literal, Term, Triple
from scepter.runtime.matches import Match as Matched
from scepter.runtime.matches import MatchBatch
from scepter.runtime.why import Why
from scepter.timeline import TimeKind, format_instant

FORMATS = ("table", "jsonl", "csv", "csv-safe", "trig")
MATCH_NAME = "urn:scepter:match:"
MATCH_CLASS = "urn:scepter:Match"
VARIABLE = "urn:scepter:variable:"
HOLDS = "urn:scepter:holds"

# Rows a table lays out at once: enough to choose widths well, few enough that a long run shows rows as they come.
TABLE_PAGE = 500

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMERAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BARE = {XSD + name for name in ("integer", "decimal", "double", "boolean")}
_PIECE = 1 << 16
_TRIPLE_COLUMNS = ("match", "subject", "predicate", "object")


class Match(Protocol):
    """What a writer needs of a match."""

    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102
    @property
    def kind(self) -> TimeKind: ...  # noqa: D102
    @property
    def query(self) -> int: ...  # noqa: D102
    @property
    def bindings(self) -> Mapping[str, Term]: ...  # noqa: D102
    @property
    def events(self) -> Mapping[str, Sequence[object]]: ...  # noqa: D102
    @property
    def graph(self) -> Sequence[Triple] | None: ...  # noqa: D102
    @property
    def boolean(self) -> bool | None: ...  # noqa: D102
    @property
    def occurrence(self) -> tuple[IRI, Term] | None: ...  # noqa: D102
    @property
    def why(self) -> Why | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Shape:
    """What the queries of a file can answer: the SELECTs' variables in order, whether there is a CONSTRUCT, an ASK."""

    variables: tuple[str, ...] = ()
    graphs: bool = False
    booleans: bool = False
    whys: bool = False
    """Whether each match comes with what it rests on."""
    queries: tuple[str | int, ...] = ()
    """What the queries are called, by their numbers; empty where only one answers, and no match need say which."""

    def query(self, match: Match) -> str | int | None:
        """What the query that a match answers is called."""
        return self.queries[match.query] if self.queries else None


class ResultWriter(Protocol):
    """Writes matches in one format."""

    def write(self, match: Match) -> None:
        """Write one match."""

    def write_all(self, matches: Sequence[Matched]) -> None:
        """Write some matches: the same as one after the other, in columns where they are in columns."""

    def close(self) -> None:
        """Write what is still held back."""


JsonValue: TypeAlias = "str | int | bool | list[JsonValue] | dict[str, JsonValue]"


def open_writer(
    format: str, out: TextIO, shape: Shape, *, events: bool = False, prefixes: Mapping[str, str] | None = None
) -> ResultWriter:
    """A writer of the named format onto a text stream; `prefixes` shorten the IRIs of a table."""
    match format:
        case "jsonl":
            return JsonLinesWriter(out, shape, events)
        case "csv" | "csv-safe":
            return CsvWriter(out, shape, events, safe=format == "csv-safe")
        case "table":
            return TableWriter(out, shape, events, prefixes or {})
        case "trig":
            if shape.whys:
                raise option_error(
                    "option-not-for-format",
                    "--why cannot be shown in TriG: a match is an event there, and has no room for what it rests on",
                    help="leave out --why, or take --format jsonl",
                )
            if events:
                raise option_error(
                    "option-not-for-format",
                    "--events cannot be shown in TriG: a match is an event there, and has no room for the events it selected",
                    help="leave out --events, or take --format jsonl",
                )
            return TrigWriter(out, shape)
        case _:
            close = nearest(format, FORMATS)
            hint = f"did you mean {close}?" if close else f"the formats are {', '.join(FORMATS)}"
            raise option_error("unknown-format", f"{format!r} is no result format", help=hint)


def order(match: Match) -> tuple[int, int, int, list[tuple[str, str]], list[tuple[str, ...]]]:
    """The key by which bounded runs sort: end, start, then the answer itself (spec/00 §3)."""
    bindings = sorted((name, str(term)) for name, term in match.bindings.items())
    return match.end, match.start, match.query, bindings, graph_rows(match.graph or ())


def term_object(term: Term) -> dict[str, JsonValue]:
    """A term as the SPARQL 1.1 Query Results JSON Format writes it.

    >>> term_object(Literal("6", XSD + "integer"))
    {'type': 'literal', 'value': '6', 'datatype': 'http://www.w3.org/2001/XMLSchema#integer'}
    """
    match term:
        case IRI(value):
            return {"type": "uri", "value": value}
        case BlankNode(label):
            return {"type": "bnode", "value": label}
        case Literal(lexical, datatype, language):
            if language is not None:
                return {"type": "literal", "value": lexical, "xml:lang": language}
            if datatype == STRING:
                return {"type": "literal", "value": lexical}
            return {"type": "literal", "value": lexical, "datatype": datatype}
        case _:
            assert_never(term)


def graph_rows(graph: Sequence[Triple]) -> list[tuple[str, ...]]:
    """The triples in N-Triples form, sorted, each once."""
    return sorted({tuple(str(term) for term in triple) for triple in graph})


def record(match: Match, shape: Shape = Shape(), *, events: bool = False) -> dict[str, JsonValue]:  # noqa: B008 - frozen
    """A match as the JSON object of the results format; bindings come in the order of the shape's variables."""
    query = shape.query(match)
    found: dict[str, JsonValue] = {} if query is None else {"query": query}
    found["start"] = format_instant(match.start, match.kind)
    found["end"] = format_instant(match.end, match.kind)
    if match.occurrence is not None:
        event, individual = match.occurrence
        found["event"] = event.value
        found["individual"] = individual.value if isinstance(individual, IRI) else str(individual)
        found["assertions"] = [list(row) for row in graph_rows(match.graph or ())]
    elif match.graph is not None:
        found["graph"] = [list(row) for row in graph_rows(match.graph)]
    elif match.boolean is not None:
        found["boolean"] = match.boolean
    else:
        bindings = match.bindings  # made anew whenever somebody asks
        found["bindings"] = {name: term_object(bindings[name]) for name in _names(bindings, shape.variables)}
    if match.why is not None:
        found["why"] = match.why.record(match.kind)
    if events:
        found["events"] = _events(match)
    return found


def _names(bound: Collection[str], variables: Sequence[str]) -> list[str]:
    known = [name for name in variables if name in bound]
    return known + sorted(set(bound) - set(known))


def _events(match: Match) -> dict[str, JsonValue]:
    return {part: [str(name) for name in names] for part, names in match.events.items()}


class JsonLinesWriter:
    """One JSON object per line."""

    def __init__(self, out: TextIO, shape: Shape, events: bool) -> None:
        self._out = out
        self._shape = shape
        self._with_events = events

    def write(self, match: Match) -> None:
        """Write one match as one line."""
        line = record(match, self._shape, events=self._with_events)
        self._out.write(json.dumps(line, ensure_ascii=False) + "\n")

    def write_all(self, matches: Sequence[Matched]) -> None:
        """Write some matches, a line each."""
        if self._with_events or not columns.in_columns(matches):
            for match in matches:
                self.write(match)
            return
        for batch, rows in columns.laid_out(matches):
            start, end = (columns.times(instants, rows, batch.kind, '"') for instants in (batch.start, batch.end))
            spelt = columns.terms(batch, rows, _JSON)
            bindings = [
                columns.each(f"{json.dumps(name, ensure_ascii=False)}: ", spelt[name])
                for name in _names(spelt, self._shape.variables)
            ]
            told = columns.listed(bindings, ", ")
            query = (
                f'"query": {json.dumps(self._shape.queries[batch.query], ensure_ascii=False)}, ' if self._shape.queries else ""
            )
            _write(self._out, columns.joined([f'{{{query}"start": ', start, ', "end": ', end, ', "bindings": {', told, "}}\n"]))

    def close(self) -> None:
        """Hand the lines on."""
        self._out.flush()


class CsvWriter:
    """SPARQL 1.1 CSV with `start,end` first; a CONSTRUCT gives one line per triple, numbered by match."""

    def __init__(self, out: TextIO, shape: Shape, events: bool, *, safe: bool = False) -> None:
        """`safe`: an apostrophe stands before a cell that a spreadsheet would take for a formula."""
        self._out = out
        self._shape = shape
        self._with_events = events
        self._cell = _harmless if safe else _plain
        self._rows = csv.writer(out, lineterminator="\r\n")
        self._written = 0
        self._rows.writerow(self._header())

    def _header(self) -> list[str]:
        own = {
            "start",
            "end",
            *(("query",) if self._shape.queries else ()),
            *(_TRIPLE_COLUMNS if self._shape.graphs else ()),
            "boolean",
            "why",
            "events",
        }
        # A variable that has the name of one of our columns keeps its question mark, so that both can be told apart.
        names = [f"?{name}" if name in own else name for name in self._shape.variables]
        names += _TRIPLE_COLUMNS if self._shape.graphs else ()
        names += ["boolean"] if self._shape.booleans else []
        names += ["why"] if self._shape.whys else []
        names += ["events"] if self._with_events else []
        return [*(["query"] if self._shape.queries else []), "start", "end", *names]

    def write(self, match: Match) -> None:
        """Write one match: one line, or one per triple of its graph."""
        self._written += 1
        query = self._shape.query(match)
        times = [] if query is None else [self._cell(Literal(str(query)))]
        times += [str(format_instant(instant, match.kind)) for instant in (match.start, match.end)]
        bindings = match.bindings
        values = [self._cell(bindings.get(name)) for name in self._shape.variables]
        triples: list[list[str]] = [[""] * len(_TRIPLE_COLUMNS)]
        if match.graph is not None:
            # Matches of one interval stay apart by their number; an empty graph still is a match, and gets a line.
            ordered = sorted(set(match.graph), key=lambda triple: tuple(map(str, triple)))
            triples = [[str(self._written), *map(self._cell, triple)] for triple in ordered] or [
                [str(self._written), "", "", ""]
            ]
        tail = ["" if match.boolean is None else str(match.boolean).lower()] if self._shape.booleans else []
        if self._shape.whys:
            tail.append("" if match.why is None else json.dumps(match.why.record(match.kind), ensure_ascii=False))
        tail += [json.dumps(_events(match), ensure_ascii=False)] if self._with_events else []
        for triple in triples:
            self._rows.writerow([*times, *values, *(triple if self._shape.graphs else []), *tail])

    def write_all(self, matches: Sequence[Matched]) -> None:
        """Write some matches, a line each."""
        others = self._shape.graphs or self._shape.booleans or self._shape.whys or self._with_events
        if others or self._cell is not _plain or not columns.in_columns(matches):
            for match in matches:
                self.write(match)
            return
        for batch, rows in columns.laid_out(matches):
            self._written += len(rows)
            start, end = (columns.times(instants, rows, batch.kind) for instants in (batch.start, batch.end))
            spelt = columns.terms(batch, rows, _CSV)
            query = [_csv_text(Literal(str(self._shape.queries[batch.query]))), ","] if self._shape.queries else []
            line = [*query, start, ",", end]
            for name in self._shape.variables:
                line += [",", columns.filled(spelt[name]) if name in spelt else ""]
            _write(self._out, columns.joined([*line, "\r\n"]))

    def close(self) -> None:
        """Hand the lines on."""
        self._out.flush()


def _plain(term: Term | None) -> str:
    match term:
        case None:
            return ""
        case IRI(value):
            return value
        case BlankNode():
            return str(term)
        case Literal(lexical):
            return lexical
        case _:
            assert_never(term)


def _harmless(term: Term | None) -> str:
    """As `_plain`, but no formula: `-3.5` and `+2E1` are numbers, and stay as they are.

    >>> _harmless(Literal("=cmd()")), _harmless(Literal("-3.5"))
    ("'=cmd()", '-3.5')
    """
    text = _plain(term)
    return "'" + text if text.startswith(_FORMULA) and not _NUMERAL.fullmatch(text) else text


class TableWriter:
    """A table for people: one per kind of answer, in pages, with times in words and IRIs shortened by the query's prefixes."""

    def __init__(self, out: TextIO, shape: Shape, events: bool, prefixes: Mapping[str, str]) -> None:
        self._out = out
        self._shape = shape
        self._with_events = events
        self._longest_first = sorted({**WELL_KNOWN_PREFIXES, **prefixes}.items(), key=lambda item: -len(item[1]))
        self._page: list[Match] = []

    def write(self, match: Match) -> None:
        """Take one match; a page is printed when it is full or the next match belongs to another query."""
        if self._page and (len(self._page) >= TABLE_PAGE or self._form(match) != self._form(self._page[0])):
            self._print_page()
        self._page.append(match)

    def write_all(self, matches: Sequence[Matched]) -> None:
        """Take some matches."""
        for match in matches:
            self.write(match)

    def close(self) -> None:
        """Print the last page."""
        if self._page:
            self._print_page()
        self._out.flush()

    def _form(self, match: Match) -> tuple[int | None, bool, bool, TimeKind]:
        """What the matches of a page have in common; rows that say which query they answer need no table for each."""
        query = None if self._shape.queries else match.query
        return query, match.graph is not None, match.boolean is not None, match.kind

    def _print_page(self) -> None:
        page, self._page = self._page, []
        table = self._layout(page[0])
        for match in page:
            table.add_row(*(Text(cell) for cell in self._cells(match)))
        console = Console(file=self._out, highlight=False, soft_wrap=False)
        if not console.is_terminal:
            # In a file nothing is cut or folded: the table gets the width it wants.
            console.width = max(1, console.measure(table, options=console.options.update(max_width=1_000_000)).maximum)
        console.print(table)

    def _layout(self, first: Match) -> Table:
        zone = " (UTC)" if first.kind is TimeKind.DATETIME else ""
        justify = "left" if first.kind is TimeKind.DATETIME else "right"
        table = Table()
        if self._shape.queries:
            table.add_column(Text("query"), overflow="fold")
        for name in ("start", "end"):
            table.add_column(Text(name + zone), justify=justify, no_wrap=True)  # type: ignore[arg-type]
        for name in self._columns(first):
            table.add_column(Text(name), overflow="fold")
        return table

    def _columns(self, first: Match) -> list[str]:
        if first.graph is not None:
            names = ["graph"]
        elif first.boolean is not None:
            names = ["answer"]
        else:
            names = [f"?{name}" for name in self._shape.variables]
        names += ["why"] if self._shape.whys else []
        return [*names, "events"] if self._with_events else names

    def _cells(self, match: Match) -> Iterator[str]:
        if (query := self._shape.query(match)) is not None:
            yield str(query)
        yield from (_readable(instant, match.kind) for instant in (match.start, match.end))
        if match.graph is not None:
            ordered = sorted(set(match.graph), key=lambda triple: tuple(map(str, triple)))
            yield "\n".join(" ".join(self._short(term) for term in triple) + " ." for triple in ordered)
        elif match.boolean is not None:
            yield "true" if match.boolean else "false"
        else:
            yield from (self._short(match.bindings.get(name)) for name in self._shape.variables)
        if self._shape.whys:
            yield "" if match.why is None else "\n".join(match.why.lines(match.kind, self._short, self._shortened))
        if self._with_events:
            yield "  ".join(f"{part}: {', '.join(map(str, names))}" for part, names in match.events.items())

    def _shortened(self, text: str) -> str:
        return shortened(text, dict(self._longest_first))

    def _short(self, term: Term | None) -> str:
        match term:
            case None:
                return ""
            case IRI(value):
                for prefix, namespace in self._longest_first:
                    local = value.removeprefix(namespace)
                    if local != value and local.replace("_", "").replace("-", "").isalnum():
                        return f"{prefix}:{local}"
                return str(term)
            case Literal(lexical, datatype) if datatype in _BARE:
                return lexical
            case Literal(lexical, datatype, None) if datatype != STRING:
                return f"{Literal(lexical)}^^{self._short(IRI(datatype))}"
            case Literal() | BlankNode():
                return str(term)
            case _:
                assert_never(term)


def _readable(instant: int, kind: TimeKind) -> str:
    return str(format_instant(instant, kind)).replace("T", " ").removesuffix("Z")


class TrigWriter:
    """Each match as a named graph with its time in PROV terms: a stream file (spec/00 §2).

    A CONSTRUCT's graph stands as it is; a row becomes `<match> var:name value`, an ASK `<match> <urn:scepter:holds> true`.
    Of several queries, the one that a match answers stands in its name: `<urn:scepter:match:fall:1>`.
    """

    def __init__(self, out: TextIO, shape: Shape) -> None:
        self._out = out
        self._shape = shape
        self._written = 0
        out.write(f"PREFIX prov: <{PROV}>\nPREFIX xsd: <{XSD}>\nPREFIX var: <{VARIABLE}>\n")

    def write(self, match: Match) -> None:
        """Write one match as one event."""
        self._written += 1
        name = f"<{self._begun(match.query)}{self._written}>"
        statements = self._statements(name, match)
        if not statements:
            # spec/00 §1: an event's graph has at least one triple, so an empty CONSTRUCT is none.
            self._out.write(f"# match {self._written} has an empty graph\n")
            return
        self._out.write(f"{name} {{\n" + "".join(f"  {statement} .\n" for statement in statements) + "}\n")
        self._out.write(f"{name} {_prov(match)} .\n")

    def write_all(self, matches: Sequence[Matched]) -> None:
        """Write some matches, an event each."""
        if not columns.in_columns(matches):
            for match in matches:
                self.write(match)
            return
        for batch, rows in columns.laid_out(matches):
            name = columns.numbered(f"<{self._begun(batch.query)}", self._written + 1, len(rows), ">")
            self._written += len(rows)
            spelt = columns.terms(batch, rows, _TRIG)
            values = [columns.each("  ", name, f" var:{v} ", spelt[v], " .\n") for v in _names(spelt, self._shape.variables)]
            head = [name, " {\n  ", name, f" a <{MATCH_CLASS}> .\n", columns.listed(values, ""), "}\n"]
            _write(self._out, columns.joined([*head, name, " ", _prov_column(batch, rows), " .\n"]))

    def _begun(self, query: int) -> str:
        """How the names of a query's matches begin."""
        return f"{MATCH_NAME}{quote(str(self._shape.queries[query]), '')}:" if self._shape.queries else MATCH_NAME

    def _statements(self, name: str, match: Match) -> list[str]:
        if match.graph is not None:
            return [" ".join(row) for row in graph_rows(match.graph)]
        if match.boolean is not None:
            return [f"{name} <{HOLDS}> {str(match.boolean).lower()}"]
        bindings = match.bindings
        values = [f"{name} var:{variable} {bindings[variable]}" for variable in _names(bindings, self._shape.variables)]
        return [f"{name} a <{MATCH_CLASS}>", *values]

    def close(self) -> None:
        """Hand the text on."""
        self._out.flush()


def _prov(match: Match) -> str:
    if match.start == match.end:
        return f"prov:generatedAtTime {_time_literal(match.start, match.kind)}"
    start, end = (_time_literal(instant, match.kind) for instant in (match.start, match.end))
    return f"prov:startedAtTime {start} ; prov:endedAtTime {end}"


def _write(out: TextIO, text: str) -> None:
    """In pieces: that nobody reads a pipe any more is told by the next write, not by the one that was under way."""
    for at in range(0, len(text), _PIECE):
        out.write(text[at : at + _PIECE])


def _prov_column(batch: MatchBatch, rows: NDArray[np.int64]) -> object:
    """`_prov` of some rows."""
    type = _time_type(batch.kind)
    start, end = (columns.times(each, rows, batch.kind, '"' if type else "") for each in (batch.start, batch.end))
    instant = columns.each("prov:generatedAtTime ", start, type)
    interval = columns.each("prov:startedAtTime ", start, f"{type} ; prov:endedAtTime ", end, type)
    return columns.either(columns.equal(start, end), instant, interval)


def _time_literal(instant: int, kind: TimeKind) -> str:
    text = format_instant(instant, kind)
    return str(text) if kind is TimeKind.INTEGER else f'"{text}"{_time_type(kind)}'


def _time_type(kind: TimeKind) -> str:
    """What stands behind the digits of a time."""
    return "" if kind is TimeKind.INTEGER else "^^xsd:dateTime"


def _json_text(term: Term) -> str:
    return json.dumps(term_object(term), ensure_ascii=False)


def _csv_text(term: Term) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(["", _plain(term)])  # behind another cell: alone, "" is quoted
    return line.getvalue()[1:-2]


_JSON = columns.Spelling(
    ('{"type": "uri", "value": "', '"}'),
    ('{"type": "bnode", "value": "', '"}'),
    ('{"type": "literal", "value": "', '"}'),
    ('{"type": "literal", "value": "', '", "datatype": "', '"}'),
    _json_text,
)
_CSV = columns.Spelling(("", ""), ("_:", ""), ("", ""), None, _csv_text, columns.with_commas_quoted)
_TRIG = columns.Spelling(("<", ">"), ("_:", ""), ('"', '"'), ('"', '"^^<', ">"), str)


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a file that appears under its name only when all went well; an error or Ctrl-C leaves what was there before.

    A device or a pipe is written directly: it cannot be renamed.
    """
    try:
        target = path.resolve()
    except ValueError as error:  # a zero byte
        raise option_error("output-not-writable", f"--output {str(path)!r} cannot be written: {error}") from None
    if target.is_dir():
        raise option_error("output-is-a-folder", f"--output {path} is a folder", help="name a file in it")
    if target.exists() and not target.is_file():
        with open(target, "w", encoding="utf-8", newline="") as out:
            yield out
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        out = open(part, "w", encoding="utf-8", newline="")  # noqa: SIM115  (closed below, before the rename)
    except OSError as error:
        hint = None if target.parent.is_dir() else f"there is no folder {path.parent}; make it first"
        raise option_error("output-not-writable", f"--output {path} cannot be written: {error.strerror}", help=hint) from None
    try:
        with out:
            yield out
        part.replace(target)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
