"""SPARQL TSV: a row per match, or per triple of a graph, terms as Turtle writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import TextIO

from scepter.io.results import Match, Shape, event_names
from scepter.rdf.terms import XSD, Literal, Term
from scepter.runtime.matches import Match as Matched
from scepter.timeline import TimeKind, format_instant

# What Turtle reads back as the very same literal without quotes.
_SHORT = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+"),
    XSD + "boolean": re.compile("true|false"),
}


def _turtle(term: Term | None) -> str:
    """A term on one line, without a tab; nothing for no term.

    >>> _turtle(Literal("6", XSD + "integer")), _turtle(Literal("6", XSD + "byte")), _turtle(Literal("a"))
    ('6', '"6"^^<http://www.w3.org/2001/XMLSchema#byte>', '"a"')
    """
    if term is None:
        return ""
    if isinstance(term, Literal) and (short := _SHORT.get(term.datatype)) is not None and short.fullmatch(term.lexical):
        return term.lexical
    return str(term).replace("\t", "\\t")


def _instant(instant: int, kind: TimeKind) -> str:
    datatype = XSD + ("integer" if kind is TimeKind.INTEGER else "dateTime")
    return _turtle(Literal(str(format_instant(instant, kind)), datatype))


class TsvWriter:
    """SPARQL 1.1 TSV: every column is a variable, `?start` and `?end` first; lines end with a line feed."""

    def __init__(self, out: TextIO, shape: Shape, events: bool, written: int = 0) -> None:
        """Columns beside the query's variables are those of CSV; one whose name a variable has gets a `_` behind it."""
        self._out = out
        self._shape = shape
        self._with_events = events
        self._written = written
        before = [*(["query"] if shape.queries else []), "start", "end"]
        behind = ["match", "subject", "predicate", "object"] if shape.graphs else []
        behind += [name for name, there in (("boolean", shape.booleans), ("why", shape.whys), ("events", events)) if there]
        self._line([*map(self._own, before), *(f"?{name}" for name in shape.variables), *map(self._own, behind)])

    def _own(self, name: str) -> str:
        while name in self._shape.variables:
            name += "_"
        return f"?{name}"

    def _line(self, cells: Iterable[str]) -> None:
        self._out.write("\t".join(cells) + "\n")

    def write(self, match: Match) -> None:
        """Write one match: one line, or one per triple of its graph."""
        self._written += 1
        query = self._shape.query(match)
        before = [] if query is None else [_turtle(Literal(str(query)))]
        before += [_instant(match.start, match.kind), _instant(match.end, match.kind)]
        bindings = match.bindings
        before += [_turtle(bindings.get(name)) for name in self._shape.variables]
        behind = ["" if match.boolean is None else str(match.boolean).lower()] if self._shape.booleans else []
        if self._shape.whys:
            behind.append("" if match.why is None else _json(match.why.record(match.kind)))
        behind += [_json(event_names(match))] if self._with_events else []
        for triple in self._triples(match):
            self._line([*before, *triple, *behind])

    def _triples(self, match: Match) -> list[list[str]]:
        """The cells of each triple; an empty graph still is a match, and gets a line."""
        if not self._shape.graphs:
            return [[]]
        if match.graph is None:
            return [[""] * 4]
        ordered = sorted(set(match.graph), key=lambda triple: tuple(map(str, triple)))
        number = str(self._written)
        return [[number, *map(_turtle, triple)] for triple in ordered] or [[number, "", "", ""]]

    def write_all(self, matches: Sequence[Matched]) -> None:
        """Write some matches, one after the other."""
        for match in matches:
            self.write(match)

    def close(self) -> None:
        """Hand the lines on."""
        self._out.flush()


def _json(value: object) -> str:
    return _turtle(Literal(json.dumps(value, ensure_ascii=False)))
