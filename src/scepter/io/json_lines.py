"""One JSON object per match and line (spec/00 §3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.events import Form
from scepter.io import columns
from scepter.io.results import Match, Shape, names_of, record, term_object
from scepter.io.spelling import Spelling
from scepter.rdf.lines import Column, Part, listed, own
from scepter.rdf.terms import IRI, Term
from scepter.runtime.event_matches import EventMatches
from scepter.runtime.graphs import Spelt
from scepter.runtime.matches import Match as Matched
from scepter.runtime.matches import MatchBatch


def _json_text(term: Term) -> str:
    return json.dumps(term_object(term), ensure_ascii=False)


_JSON = Spelling(
    ('{"type": "uri", "value": "', '"}'),
    ('{"type": "bnode", "value": "', '"}'),
    ('{"type": "literal", "value": "', '"}'),
    ('{"type": "literal", "value": "', '", "datatype": "', '"}'),
    _json_text,
)
_INDIVIDUAL = Spelling(('"', '"'), ('"_:', '"'), ('"', '"'), None, lambda term: _individual_text(term))


_QUOTED = Spelling(
    ('"<', '>"'),
    ('"_:', '"'),
    ('"\\"', '\\""'),
    ('"\\"', '\\"^^<', '>"'),
    lambda term: json.dumps(str(term), ensure_ascii=False),
)
"""Terms in N-Triples form as JSON strings."""


def _individual_text(term: Term) -> str:
    return json.dumps(term.value if isinstance(term, IRI) else str(term), ensure_ascii=False)


def _graph(batch: columns.Batch, rows: NDArray[np.int64]) -> list[Part]:
    """The triples of each row; of occurrences their event and individual too."""
    before: list[Part] = [', "graph": [']
    if isinstance(batch, EventMatches) and batch.form is not Form.RDF_STREAM:
        graphs, individuals = columns.occurrences(batch, rows)
        events = Column.of([json.dumps(event.value, ensure_ascii=False) for event in batch.returned], batch.event[rows])
        individual = own(_INDIVIDUAL(Spelt.of(individuals)))
        before = [', "event": ', events, ', "individual": ', individual, ', "assertions": [']
    else:
        graphs = columns.graphs(batch, rows)
    return [*before, graphs.joined(graphs.triples(_QUOTED(graphs.spelt), "[", ", ", "]"), ", "), "]"]


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
        columns.write(matches, self._lines, self._out)

    def _lines(self, batch: columns.Batch, rows: NDArray[np.int64], places: NDArray[np.int64]) -> list[Part]:
        start, end = (columns.times(instants, rows, batch.kind, '"') for instants in (batch.start, batch.end))
        query = f'"query": {json.dumps(self._shape.queries[batch.query], ensure_ascii=False)}, ' if self._shape.queries else ""
        return [f'{{{query}"start": ', start, ', "end": ', end, *self._answer(batch, rows), "}\n"]

    def _answer(self, batch: columns.Batch, rows: NDArray[np.int64]) -> list[Part]:
        """What stands behind the times."""
        if batch.constructs:
            return _graph(batch, rows)
        assert isinstance(batch, MatchBatch)
        if batch.asks:
            return [', "boolean": true']
        spelt = columns.terms(batch, rows, _JSON)
        names = names_of(spelt, self._shape.variables)
        bindings = [(f"{json.dumps(name, ensure_ascii=False)}: ", spelt[name]) for name in names]
        return [', "bindings": {', *listed(bindings, ", "), "}"]

    def close(self) -> None:
        """Hand the lines on."""
        self._out.flush()
