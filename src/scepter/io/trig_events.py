"""TriG in which each match is an event, so that it can be read back as a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from scepter.io import columns
from scepter.io.results import Match, Shape, graph_rows, names_of
from scepter.io.spelling import Spelling
from scepter.rdf.lines import Column, Part, either, joined
from scepter.rdf.terms import PROV, XSD
from scepter.runtime.matches import Match as Matched
from scepter.runtime.matches import MatchBatch
from scepter.timeline import TimeKind, format_instant

MATCH_NAME = "urn:scepter:match:"
MATCH_CLASS = "urn:scepter:Match"
VARIABLE = "urn:scepter:variable:"
HOLDS = "urn:scepter:holds"
_TRIG = Spelling(
    ("<", "> .\n"), ("_:", " .\n"), ('"', '" .\n'), ('"', '"^^<', "> .\n"), lambda term: f"{term} .\n"
)  # fmt: skip
"""With what ends a statement behind them."""


class TrigWriter:
    """Each match as a named graph with its time in PROV terms: a stream file (spec/00 §2).

    A CONSTRUCT's graph stands as it is; a row becomes `<match> var:name value`, an ASK `<match> <urn:scepter:holds> true`.
    Of several queries, the one that a match answers stands in its name: `<urn:scepter:match:fall:1>`.
    """

    def __init__(self, out: TextIO, shape: Shape, written: int = 0) -> None:
        self._out = out
        self._shape = shape
        self._written = written
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
        columns.write(matches, self._events, self._out)
        self._written += len(matches)

    def _events(self, batch: columns.Batch, rows: NDArray[np.int64], places: NDArray[np.int64]) -> list[Part]:
        number = self._written + 1 + places
        name: list[Part] = [f"<{self._begun(batch.query)}", number, ">"]
        behind = ["}\n", *name, " ", _prov_column(batch, rows), " .\n"]
        if batch.constructs:
            graphs = columns.graphs(batch, rows)
            statements = graphs.joined(graphs.triples(graphs.spelt.texts, "  ", " ", " .\n"))
            empty = joined(["# match ", number, " has an empty graph\n"], len(rows))
            return [either(np.diff(graphs.first) == 0, empty, joined([*name, " {\n", statements, *behind], len(rows)))]
        assert isinstance(batch, MatchBatch)
        if batch.asks:
            return [*name, " {\n  ", *name, f" <{HOLDS}> true .\n", *behind]
        spelt, own = columns.terms(batch, rows, _TRIG), joined(["  ", *name], len(rows))
        values: list[Part] = [*name, " {\n", own, f" a <{MATCH_CLASS}> .\n"]
        for variable in names_of(spelt, self._shape.variables):
            bound = spelt[variable].place >= 0
            of = Column.of([f" var:{variable} "], np.where(bound, 0, -1))
            values += [Column(own.texts, np.where(bound, own.place, -1)), of, spelt[variable]]
        return [*values, *behind]

    def _begun(self, query: int) -> str:
        """How the names of a query's matches begin."""
        return f"{MATCH_NAME}{quote(str(self._shape.queries[query]), '')}:" if self._shape.queries else MATCH_NAME

    def _statements(self, name: str, match: Match) -> list[str]:
        if match.graph is not None:
            return [" ".join(row) for row in graph_rows(match.graph)]
        if match.boolean is not None:
            return [f"{name} <{HOLDS}> {str(match.boolean).lower()}"]
        bindings = match.bindings
        values = [f"{name} var:{variable} {bindings[variable]}" for variable in names_of(bindings, self._shape.variables)]
        return [f"{name} a <{MATCH_CLASS}>", *values]

    def close(self) -> None:
        """Hand the text on."""
        self._out.flush()


def _prov(match: Match) -> str:
    if match.start == match.end:
        return f"prov:generatedAtTime {_time_literal(match.start, match.kind)}"
    start, end = (_time_literal(instant, match.kind) for instant in (match.start, match.end))
    return f"prov:startedAtTime {start} ; prov:endedAtTime {end}"


def _prov_column(batch: columns.Batch, rows: NDArray[np.int64]) -> Column:
    """`_prov` of some rows."""
    type = _time_type(batch.kind)
    start, end = (columns.times(each, rows, batch.kind, '"' if type else "") for each in (batch.start, batch.end))
    instant = joined(["prov:generatedAtTime ", start, type], len(rows))
    interval = joined(["prov:startedAtTime ", start, f"{type} ; prov:endedAtTime ", end, type], len(rows))
    return either(batch.start[rows] == batch.end[rows], instant, interval)


def _time_literal(instant: int, kind: TimeKind) -> str:
    text = format_instant(instant, kind)
    return str(text) if kind is TimeKind.INTEGER else f'"{text}"{_time_type(kind)}'


def _time_type(kind: TimeKind) -> str:
    """What stands behind the digits of a time."""
    return "" if kind is TimeKind.INTEGER else "^^xsd:dateTime"
