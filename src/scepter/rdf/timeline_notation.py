"""The timeline notation of case files and `.timeline` files (spec/60-cases).

    10 { :H1 :pow :Pw1 ; :loc :L1 }
    15..17 { :H2 :pow :Pw2 }          # an interval
    2026-01-01T00:00:20Z { :W1 :value 3 }

A time or `start..end`, then Turtle in braces, whose last dot may be left out. `PREFIX` lines may stand before the events.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scepter.errors import DataError, Diagnostic, Source, Span
from scepter.rdf.formats import GraphError, GraphEvent, parse_graph
from scepter.rdf.terms import Triple
from scepter.timeline import TimeKind, parse_instant

_BLANK: Final = re.compile(r"(?:\s|#[^\n]*)+")
_PREFIX: Final = re.compile(r"@?prefix\s+([^\s:]*):\s*<([^<>\s]*)>[ \t]*\.?", re.IGNORECASE)
_TIME: Final = re.compile(r"[^\s{}#]+")
# What a brace may stand in without being one: an IRI, a string of either quote, long or short, a comment.
_OPAQUE: Final = re.compile(
    r'<[^<>\s]*>|"""(?:[^"\\]|\\.|"{1,2}(?!"))*"""|\'\'\'(?:[^\'\\]|\\.|\'{1,2}(?!\'))*\'\'\''
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|\\.",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """An event as the notation gives it."""

    name: str
    """`e1`, `e2`, … in the order given."""
    start: int
    end: int
    kind: TimeKind
    triples: tuple[Triple, ...]
    line: int

    def graph_event(self, stream_index: int) -> GraphEvent:
        """The event for `events_to_batch`; its name becomes a blank node's label."""
        texts = [(str(t.subject), str(t.predicate), str(t.object)) for t in self.triples]
        return GraphEvent(stream_index, f"_:{self.name}", self.start, self.end, texts)


def parse_timeline(
    text: str, prefixes: Mapping[str, str] | None = None, *, name: str = "timeline", kind: TimeKind | None = None
) -> list[TimelineEvent]:
    """The events of a timeline, in the order given.

    >>> [(e.name, e.start, e.end) for e in parse_timeline("10 { :a :b 1 } 15..17 { :a :b '}' }", {"": "http://example/"})]
    [('e1', 10, 10), ('e2', 15, 17)]

    Raises GraphError with the place. One timeline holds one kind of time, `kind` if it is given.
    """
    return _Notation(Source(name, text), dict(prefixes or {}), kind).events()


class _Notation:
    def __init__(self, source: Source, prefixes: dict[str, str], kind: TimeKind | None) -> None:
        self._source = source
        self._text = source.text
        self._prefixes = prefixes
        self._kind = kind
        self._at = 0

    def events(self) -> list[TimelineEvent]:
        found: list[TimelineEvent] = []
        self._skip()
        while declared := _PREFIX.match(self._text, self._at):
            self._prefixes[declared.group(1)] = declared.group(2)
            self._at = declared.end()
            self._skip()
        while self._at < len(self._text):
            found.append(self._event(f"e{len(found) + 1}"))
            self._skip()
        return found

    def _event(self, name: str) -> TimelineEvent:
        line, _ = self._source.position(self._at)
        start, end = self._times()
        self._skip()
        if not self._text.startswith("{", self._at):
            raise self._error("timeline-brace", "a { with the event's triples is missing after its time", self._at)
        opened = self._at + 1
        closed = self._closing(opened)
        self._at = closed + 1
        triples = self._graph(opened, closed)
        if not triples:
            raise self._error("timeline-empty", "an event's graph has one or more triples", opened - 1)
        if self._kind is None:
            raise AssertionError("the times of an event set the kind")
        return TimelineEvent(name, start, end, self._kind, triples, line)

    def _times(self) -> tuple[int, int]:
        at = self._at
        match = _TIME.match(self._text, at)
        if match is None:
            raise self._error("timeline-time", "a time or start..end is missing here", at)
        self._at = match.end()
        first, dots, second = match.group().partition("..")
        start = self._instant(first, at)
        end = self._instant(second, at + len(first) + 2) if dots else start
        if end < start:
            raise self._error("timeline-backwards", "an event that ends before it starts", at, len(match.group()))
        return start, end

    def _instant(self, text: str, at: int) -> int:
        try:
            instant, kind = parse_instant(text)
        except ValueError as error:
            raise self._error("timeline-time", str(error), at, len(text)) from None
        if self._kind is None:
            self._kind = kind
        elif kind is not self._kind:
            raise self._error("timeline-kinds", "integers and dateTimes are mixed in one timeline", at, len(text))
        return instant

    def _closing(self, at: int) -> int:
        """The brace that closes the graph that starts at `at`."""
        start = at
        while at < len(self._text):
            if opaque := _OPAQUE.match(self._text, at):
                at = opaque.end()
            elif self._text[at] == "}":
                return at
            elif self._text[at] == "{":
                raise self._error("timeline-brace", "a { within an event's graph", at)
            else:
                at += 1
        raise self._error("timeline-brace", "this { is never closed", start - 1)

    def _graph(self, opened: int, closed: int) -> tuple[Triple, ...]:
        try:
            return tuple(parse_graph(self._text[opened:closed], self._prefixes, braced=True))
        except DataError as error:
            span = error.diagnostic.span or Span(0, 1)
            raise self._error("timeline-graph", error.diagnostic.message, opened + span.start) from None

    def _skip(self) -> None:
        if blank := _BLANK.match(self._text, self._at):
            self._at = blank.end()

    def _error(self, code: str, message: str, at: int, width: int = 1) -> GraphError:
        return GraphError(Diagnostic(code, message, Span(at, at + max(1, width))), self._source)
