"""Case files read and checked: what is wrong with one is said with its place, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import yaml

from scepter.cases.document import Document, read_document
from scepter.cases.model import Case, Expectation, Graphs, Refusal, Row, Rows, Time, TimedGraph, Truth
from scepter.errors import Source, Span
from scepter.rdf.formats import GraphError, parse_graph
from scepter.rdf.terms import IRI, WELL_KNOWN_PREFIXES, Term
from scepter.rdf.timeline_notation import TimelineEvent, parse_timeline
from scepter.rdf.turtle import iris, parse_iri, parse_term, prologue
from scepter.runtime.options import POLICIES
from scepter.timeline import TIME_UNITS, TimeKind, format_instant, parse_duration, parse_instant

OPTIONS = ("time-unit", "start", "policy", "evaluate-at", "max-delay", "max-derivations")
OPTIONAL = ("prefixes", "options", "streams", "background", "versions", "ontology")
"""Keys that may stand without a value, as if they were left out."""
EXPECTATIONS = ("expect", "expect-graphs", "expect-events", "expect-boolean", "expect-error")
KEYS = ("name", "language", "prefixes", "options", "streams", "background", "versions", "ontology", "query", *EXPECTATIONS)

_Parsed = TypeVar("_Parsed")


def load_case(path: Path) -> Case:
    """The case of a file. Raises QueryError with the place of what is wrong."""
    return _Reader(read_document(path), path).case()


class _Reader:
    """Reads one document key by key, collecting the IRIs it meets."""

    def __init__(self, document: Document, path: Path) -> None:
        self._document = document
        self._path = path
        self._prefixes: dict[str, str] = dict(WELL_KNOWN_PREFIXES)
        self._known: set[str] = set()
        self._kind: TimeKind | None = None

    def case(self) -> Case:
        document = self._document
        given = document.entries(document.root, "a case", KEYS)
        entries = {entry.name: entry for entry in given if entry.name not in OPTIONAL or not document.empty(entry.value)}
        if "query" not in entries:
            document.fail("case-without-query", "a case needs a query", document.root, "add the key query:")
        texts = {name: self._text_of(entries[name].value, name) for name in ("name", "language", "query") if name in entries}
        if "prefixes" in entries:
            self._read_prefixes(entries["prefixes"].value)
        streams = self._per_name(entries["streams"].value, "stream", self._timeline) if "streams" in entries else {}
        versions = self._per_name(entries["versions"].value, "versions", self._timeline) if "versions" in entries else {}
        background = self._per_name(entries["background"].value, "background", self._turtle) if "background" in entries else {}
        background = {self._full(name): text for name, text in background.items()}
        return Case(
            path=self._path,
            name=texts.get("name", self._path.name.removesuffix(".case.yaml")),
            language=texts.get("language"),
            prefixes=self._prefixes,
            options=self._options(entries["options"].value) if "options" in entries else {},
            streams={**streams, **versions},
            background={iri or None: text for iri, text in background.items()},
            versions=tuple(versions),
            ontology=self._turtle(entries["ontology"].value, "ontology") if "ontology" in entries else None,
            query=texts["query"],
            expectation=self._expectation({name: entries[name].value for name in EXPECTATIONS if name in entries}),
            known=frozenset(self._known),
            document=document,
            query_node=entries["query"].value,
        )

    def _text_of(self, node: yaml.Node, what: str) -> str:
        return self._document.text(node, what)

    def _read_prefixes(self, node: yaml.Node) -> None:
        for entry in self._document.entries(node, "prefixes"):
            iri = self._text_of(entry.value, f"the prefix {entry.name}:")
            try:
                parse_iri(f"{entry.name}:x", {entry.name: iri})
            except GraphError as error:
                self._document.fail(
                    "case-bad-prefix", f"{entry.name}: <{iri}> declares no prefix: {error.diagnostic.message}", entry.value
                )
            self._prefixes[entry.name] = iri

    def _full(self, name: str) -> str:
        """The IRI that a name of a graph stands for, where it is a prefixed one."""
        prefix, colon, local = name.partition(":")
        return self._prefixes[prefix] + local if colon and prefix in self._prefixes and not local.startswith("//") else name

    def _per_name(self, node: yaml.Node, what: str, read: Callable[[yaml.Node, str], _Parsed]) -> dict[str, _Parsed]:
        entries = self._document.entries(node, what)
        return {entry.name: read(entry.value, f"{what} {entry.name or '(default graph)'}") for entry in entries}

    def _timeline(self, node: yaml.Node, what: str) -> tuple[TimelineEvent, ...]:
        text = self._text_of(node, what)
        found = self._located(
            node, lambda: parse_timeline(text, self._prefixes, kind=self._kind), f"{what}: ", "case-bad-timeline"
        )
        for event in found:
            self._kind = event.kind
            self._known.update(iris(event.triples))
        return tuple(found)

    def _turtle(self, node: yaml.Node, what: str) -> str:
        text = self._text_of(node, what)
        self._known.update(iris(self._located(node, lambda: parse_graph(text, self._prefixes), f"{what}: ")))
        return prologue(self._prefixes) + text

    def _options(self, node: yaml.Node) -> dict[str, str]:
        options: dict[str, str] = {}
        for entry in self._document.entries(node, "options", OPTIONS):
            if entry.name == "evaluate-at" and isinstance(entry.value, yaml.SequenceNode):
                items = self._document.items(entry.value, entry.name)
                options[entry.name] = ",".join(str(self._time(item, entry.name)) for item in items)
            else:
                options[entry.name] = self._option(entry.name, entry.value)
        return options

    def _option(self, name: str, node: yaml.Node) -> str:
        text = self._text_of(node, f"the option {name}")
        try:
            match name:
                case "start":
                    parse_instant(text)
                case "evaluate-at":
                    for instant in text.split(","):
                        parse_instant(instant)
                case "max-delay":
                    parse_duration(text)
        except ValueError as error:
            self._document.fail("case-bad-option", f"{name}: {error}", node)
        allowed = {"time-unit": TIME_UNITS, "policy": POLICIES}.get(name)
        if allowed is not None and text not in allowed:
            self._document.fail("case-bad-option", f"{name} cannot be {text!r}", node, f"one of {', '.join(allowed)}")
        return text

    def _expectation(self, given: Mapping[str, yaml.Node]) -> Expectation:
        document = self._document
        if len(given) != 1:
            message = "a case expects exactly one thing" + (f", not {' and '.join(given)}" if given else "")
            at = list(given.values())[1] if given else document.root
            document.fail("case-expectation", message, at, f"keep one of {', '.join(EXPECTATIONS)}")
        ((name, node),) = given.items()
        match name:
            case "expect":
                return Rows(tuple(self._row(item) for item in document.items(node, name)))
            case "expect-graphs":
                return Graphs(tuple(self._graph(item, ("graph",)) for item in document.items(node, name)))
            case "expect-events":
                return Graphs(tuple(self._graph(item, ("event", "assertions")) for item in document.items(node, name)))
            case "expect-boolean":
                return self._truth(node)
            case _:
                words = self._text_of(node, name)
                if not words.strip():
                    document.fail("case-expectation", "expect-error needs words of the message: any message has none", node)
                return Refusal(words)

    def _row(self, node: yaml.Node) -> Row:
        fields = self._fields(node, "a row")
        bindings = {
            name.removeprefix("?"): self._term(value, f"?{name}")
            for name, value in fields.items()
            if name not in ("start", "end")
        }
        self._known.update(term.value for term in bindings.values() if isinstance(term, IRI))
        return Row(self._time(fields["start"], "start"), self._time(fields["end"], "end"), bindings)

    def _term(self, node: yaml.Node, what: str) -> Term:
        text = self._text_of(node, what)
        return self._located(node, lambda: parse_term(text, self._prefixes))

    def _graph(self, node: yaml.Node, keys: tuple[str, ...]) -> TimedGraph:
        fields = self._fields(node, "an expected graph", keys)
        node_of_graph = fields[keys[-1]]
        text = self._text_of(node_of_graph, keys[-1])
        triples = self._located(node_of_graph, lambda: parse_graph(text, self._prefixes), f"{keys[-1]}: ")
        self._known.update(iris(triples))
        event = None
        if "event" in fields:
            event = self._located(fields["event"], lambda: parse_iri(self._text_of(fields["event"], "event"), self._prefixes))
        times = self._time(fields["start"], "start"), self._time(fields["end"], "end")
        return TimedGraph(*times, frozenset(triples), event)

    def _truth(self, node: yaml.Node) -> Truth:
        if isinstance(node, yaml.MappingNode):
            fields = self._fields(node, "expect-boolean", ())
            return Truth(True, (self._time(fields["start"], "start"), self._time(fields["end"], "end")))
        text = self._text_of(node, "expect-boolean")
        if text not in ("true", "false"):
            self._document.fail("case-expectation", "expect-boolean is true, false, or {start: …, end: …}", node)
        return Truth(text == "true")

    def _fields(self, node: yaml.Node, what: str, keys: tuple[str, ...] | None = None) -> dict[str, yaml.Node]:
        known = None if keys is None else ("start", "end", *keys)
        fields = {entry.name: entry.value for entry in self._document.entries(node, what, known)}
        for name in known or ("start", "end"):
            if name not in fields:
                self._document.fail("case-missing-key", f"{what} needs {name}", node)
        return fields

    def _time(self, node: yaml.Node, what: str) -> Time:
        try:
            instant, kind = parse_instant(self._text_of(node, what))
        except ValueError as error:
            self._document.fail("case-bad-time", f"{what}: {error}", node, "write an integer, or a dateTime in quotes")
        self._see(kind, node)
        return format_instant(instant, kind)

    def _see(self, kind: TimeKind, node: yaml.Node) -> None:
        if self._kind is not None and kind is not self._kind:
            message = (
                f"a case has one kind of time, and here is a time of the kind {kind.value} after one of {self._kind.value}"
            )
            self._document.fail("case-mixed-times", message, node)
        self._kind = kind

    def _located(self, node: yaml.Node, parse: Callable[[], _Parsed], what: str = "", code: str = "case-bad-turtle") -> _Parsed:
        try:
            return parse()
        except GraphError as error:
            span = error.diagnostic.span or Span(0, 1)
            line, column = Source("", self._text_of(node, what)).position(span.start)
            place = self._document.place(node, line, column, span.end - span.start)
            self._document.fail(code, f"{what}{error.diagnostic.message}", place, error.diagnostic.help)
