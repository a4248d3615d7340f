"""One JSON object per match and line (spec/00 §3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from scepter.io import columns
from scepter.io.results import Match, Shape, names_of, record, term_object, write_pieces
from scepter.rdf.terms import Term
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

    def _lines(self, batch: MatchBatch, rows: NDArray[np.int64], places: NDArray[np.int64]) -> Any:
        start, end = (columns.times(instants, rows, batch.kind, '"') for instants in (batch.start, batch.end))
        spelt = columns.terms(batch, rows, _JSON)
        bindings = [
            columns.each(f"{json.dumps(name, ensure_ascii=False)}: ", spelt[name])
            for name in names_of(spelt, self._shape.variables)
        ]
        told = columns.listed(bindings, ", ")
        query = f'"query": {json.dumps(self._shape.queries[batch.query], ensure_ascii=False)}, ' if self._shape.queries else ""
        return columns.joined([f'{{{query}"start": ', start, ', "end": ', end, ', "bindings": {', told, "}}\n"])

    def close(self) -> None:
        """Hand the lines on."""
        self._out.flush()
