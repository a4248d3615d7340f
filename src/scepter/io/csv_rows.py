"""SPARQL CSV: a row per match, or per triple of a graph."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import TextIO, assert_never

import numpy as np
from numpy.typing import NDArray

from scepter.io import columns
from scepter.io.results import Match, Shape, event_names
from scepter.io.spelling import Spelling
from scepter.rdf.lines import Part
from scepter.rdf.terms import IRI, BlankNode, Literal, Term
from scepter.runtime.matches import Match as Matched
from scepter.runtime.matches import MatchBatch
from scepter.timeline import format_instant

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMERAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TRIPLE_COLUMNS = ("match", "subject", "predicate", "object")


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


def _csv_text(term: Term) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(["", _plain(term)])  # behind another cell: alone, "" is quoted
    return line.getvalue()[1:-2]


_CSV = Spelling(("", ""), ("_:", ""), ("", ""), None, _csv_text, commas=True)


class CsvWriter:
    """SPARQL 1.1 CSV with `start,end` first; a CONSTRUCT gives one line per triple, numbered by match."""

    def __init__(self, out: TextIO, shape: Shape, events: bool, *, safe: bool = False, written: int = 0) -> None:
        """`safe`: an apostrophe stands before a cell that a spreadsheet would take for a formula."""
        self._out = out
        self._shape = shape
        self._with_events = events
        self._cell = _harmless if safe else _plain
        self._rows = csv.writer(out, lineterminator="\r\n")
        self._written = written
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
        tail += [json.dumps(event_names(match), ensure_ascii=False)] if self._with_events else []
        for triple in triples:
            self._rows.writerow([*times, *values, *(triple if self._shape.graphs else []), *tail])

    def write_all(self, matches: Sequence[Matched]) -> None:
        """Write some matches, a line each."""
        others = self._shape.whys or self._with_events
        if others or self._cell is not _plain or not columns.in_columns(matches):
            for match in matches:
                self.write(match)
            return
        columns.write(matches, self._lines, self._out)
        self._written += len(matches)

    def _lines(self, batch: columns.Batch, rows: NDArray[np.int64], places: NDArray[np.int64]) -> list[Part]:
        start, end = (columns.times(instants, rows, batch.kind) for instants in (batch.start, batch.end))
        spelt = (
            columns.terms(batch, rows, _CSV) if isinstance(batch, MatchBatch) and not (batch.constructs or batch.asks) else {}
        )
        query = [_csv_text(Literal(str(self._shape.queries[batch.query]))), ","] if self._shape.queries else []
        line: list[Part] = [*query, start, ",", end]
        for name in self._shape.variables:
            line += [",", *([spelt[name]] if name in spelt else [])]
        behind = ("," + "true" * batch.asks if self._shape.booleans else "") + "\r\n"
        if not batch.constructs:
            return [*line, "," * len(_TRIPLE_COLUMNS) if self._shape.graphs else "", behind]
        graphs = columns.graphs(batch, rows)
        before = [*line, ",", self._written + 1 + places, ","]
        return [columns.per_triple(graphs, before, graphs.triples(_CSV(graphs.spelt), "", ",", ""), ",,", behind)]

    def close(self) -> None:
        """Hand the lines on."""
        self._out.flush()
