"""One JSON object per match and line (spec/00 §3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.events import Form
from scepter.io import columns
from scepter.io.results import Match, Shape, names_of, record, term_object, write_pieces
from scepter.rdf.terms import IRI, Term
from scepter.runtime.event_matches import EventMatches
from scepter.runtime.graphs import Spelt
from scepter.runtime.matches import Match as Matched
from scepter.runtime.matches import MatchBatch


def _json_text(term: Term) -> str:
    return json.dumps(term_object(term), ensure_ascii=False)


_JSON = columns.Spelling(
    ('{"type": "uri", "value": "', '"}'),
    ('{"type": "bnode", "value": "', '"}'),
    ('{"type": "literal", "value": "', '"}'),
    ('{"type": "literal", "value": "', '", "datatype": "', '"}'),
    _json_text,
)
_INDIVIDUAL = columns.Spelling(('"', '"'), ('"_:', '"'), ('"', '"'), None, lambda term: _individual_text(term))


def _individual_text(term: Term) -> str:
    return json.dumps(term.value if isinstance(term, IRI) else str(term), ensure_ascii=False)


def _graph(batch: columns.Batch, rows: NDArray[np.int64]) -> list[Any]:
    """The triples of each row; of occurrences their event and individual too."""
    before: list[Any] = [', "graph": [']
    if isinstance(batch, EventMatches) and batch.form is not Form.RDF_STREAM:
        graphs, individuals = columns.occurrences(batch, rows)
        events = columns.chosen([json.dumps(event.value, ensure_ascii=False) for event in batch.returned], batch.event[rows])
        individual = columns.spelt(Spelt.of(individuals), _INDIVIDUAL)
        before = [', "event": ', events, ', "individual": ', individual, ', "assertions": [']
    else:
        graphs = columns.graphs(batch, rows)
    return [*before, graphs.joined(graphs.triples(columns.quoted(graphs.spelt), "[", ", ", "]"), ", "), "]"]


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
        for text in columns.laid_out(matches, self._lines):
            write_pieces(self._out, text)

    def _lines(self, batch: columns.Batch, rows: NDArray[np.int64], places: NDArray[np.int64]) -> Any:
        start, end = (columns.times(instants, rows, batch.kind, '"') for instants in (batch.start, batch.end))
        query = f'"query": {json.dumps(self._shape.queries[batch.query], ensure_ascii=False)}, ' if self._shape.queries else ""
        return columns.joined([f'{{{query}"start": ', start, ', "end": ', end, *self._answer(batch, rows), "}\n"])

    def _answer(self, batch: columns.Batch, rows: NDArray[np.int64]) -> list[Any]:
        """What stands behind the times, in parts."""
        if batch.constructs:
            return _graph(batch, rows)
        assert isinstance(batch, MatchBatch)
        if batch.asks:
            return [', "boolean": true']
        spelt = columns.terms(batch, rows, _JSON)
        bindings = [
            columns.each(f"{json.dumps(name, ensure_ascii=False)}: ", spelt[name])
            for name in names_of(spelt, self._shape.variables)
        ]
        return [', "bindings": {', columns.listed(bindings, ", "), "}"]

    def close(self) -> None:
        """Hand the lines on."""
        self._out.flush()
