"""Writing a batch of matches in columns gives the bytes of writing them one by one."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from scepter.io.results import Shape
from scepter.io.writers import open_writer
from scepter.kernel.rows import mappings
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, STRING, XSD, BlankNode, Literal, Term
from scepter.runtime.matches import Match, MatchBatch, MatchRows, mixed, sorted_matches
from scepter.timeline import TimeKind

_TEXT = st.text(max_size=6) | st.sampled_from(
    ["", ",", '"', "a,b", "\\", "\n", "\r\n", "\t", "é", '"@en', '"^^<', "{}", "\x7f", "=1"]
)
_TERMS: st.SearchStrategy[Term] = st.one_of(
    st.sampled_from(["http://e/a", "http://e/a,b", "urn:é", "http://e/it's"]).map(IRI),
    st.sampled_from(["b0", "x1"]).map(BlankNode),
    _TEXT.map(Literal),
    _TEXT.map(lambda text: Literal(text, XSD + "token")),
    _TEXT.map(lambda text: Literal(text, "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en")),
    st.integers().map(lambda n: Literal(str(n), XSD + "integer")),
    _TEXT.map(lambda text: Literal(text, STRING)),
)
_ROWS = st.lists(st.tuples(st.none() | _TERMS, st.none() | _TERMS), max_size=6)
_TIME = st.integers(-(2**62), 2**62) | st.sampled_from([0, 1, 1_000_000, 1_767_225_610_000_000])


def batch_of(rows: list[tuple[Term | None, Term | None]], times: list[tuple[int, int]], kind: TimeKind) -> MatchBatch:
    key, texts = TermKey.fixed(), Texts()
    ids, refs, _, _ = mappings(len(rows), 2)
    for i, row in enumerate(rows):
        for j, term in enumerate(row):
            if term is not None:
                ids[i, j] = term_id(key, str(term))
                refs[i, j] = texts.append([str(term)])[0]
    view, refs, _ = texts.table_view(ids, refs, np.empty(0, np.int64))
    start, end = np.array(times, np.int64).reshape(-1, 2).T
    return MatchBatch(0, kind, start, end, ("x", "start"), ids, refs, view, None, False, lambda row: {})


@given(_ROWS, st.data(), st.sampled_from(TimeKind), st.sampled_from(["jsonl", "csv", "trig"]))
@example([(Literal("a,b"), IRI("http://e/x"))], None, TimeKind.DATETIME, "trig")
def test_columns_and_rows_are_written_alike(
    rows: list[tuple[Term | None, Term | None]], data: st.DataObject | None, kind: TimeKind, format: str
) -> None:
    times = [(0, 5_000_001)] * len(rows)
    if data is not None:
        drawn = data.draw(st.lists(st.tuples(_TIME, _TIME), min_size=len(rows), max_size=len(rows)))
        times = [(min(pair), max(pair)) for pair in drawn]
    matches = MatchRows(batch_of(rows, times, kind), np.arange(len(rows)))
    shape = Shape(("start", "y", "x"))
    one_by_one, together = io.StringIO(newline=""), io.StringIO(newline="")
    writer = open_writer(format, one_by_one, shape)
    for match in matches:
        writer.write(match)
    writer.close()
    whole = open_writer(format, together, shape)
    whole.write_all(matches)
    whole.close()
    assert together.getvalue() == one_by_one.getvalue()


@given(st.lists(_ROWS, min_size=2, max_size=3), st.data(), st.sampled_from(["jsonl", "csv", "trig"]))
def test_matches_of_several_queries_are_written_alike(
    several: list[list[tuple[Term | None, Term | None]]], data: st.DataObject, format: str
) -> None:
    times = st.tuples(st.integers(0, 3), st.integers(3, 5))
    parts = []
    for number, rows in enumerate(several):
        drawn = data.draw(st.lists(times, min_size=len(rows), max_size=len(rows)))
        batch = replace(batch_of(rows, drawn, TimeKind.INTEGER), query=number)
        parts.append(MatchRows(batch, np.arange(len(rows))))
    matches = mixed(parts)
    every: list[Match] = [match for part in parts for match in part]
    assert [match.row() for match in matches] == [match.row() for match in sorted_matches(every)]
    shape = Shape(("start", "y", "x"), queries=("a", "b", 3))
    one_by_one, together = io.StringIO(newline=""), io.StringIO(newline="")
    writer, whole = open_writer(format, one_by_one, shape), open_writer(format, together, shape)
    for match in matches:
        writer.write(match)
    whole.write_all(matches)
    assert together.getvalue() == one_by_one.getvalue()
