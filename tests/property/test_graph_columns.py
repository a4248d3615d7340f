"""Graphs made and written in columns are those of one match at a time: the same triples, the same bytes."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.graphs import constructed, occurred
from scepter.algebra.events import Form
from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import Node, TriplePattern
from scepter.algebra.query import Construct
from scepter.io import columns
from scepter.io.results import Shape, graph_rows
from scepter.io.writers import open_writer
from scepter.kernel.rows import mappings
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, RDF, STRING, TYPE, XSD, BlankNode, Literal, Term, Triple
from scepter.runtime.event_matches import EventMatches
from scepter.runtime.matches import Match, MatchBatch, MatchRows, mixed, sorted_matches
from scepter.timeline import TimeKind

_TEXT = st.text(max_size=4) | st.sampled_from(["", ",", '"', "a,b", "\\", "\n", "\t", "é", "'", '"@en', '"^^<', "\x7f", "=1"])
_IRIS = st.sampled_from(["http://e/a", "http://e/a,b", "urn:é", "http://e/it's", TYPE, "urn:scepter:occurrence:0"]).map(IRI)
_BLANKS = st.sampled_from(["b", "b0", "x1"]).map(BlankNode)
_LITERALS = st.one_of(
    _TEXT.map(Literal),
    _TEXT.map(lambda text: Literal(text, XSD + "token")),
    _TEXT.map(lambda text: Literal(text, RDF + "langString", "en")),
    st.integers(-9, 9).map(lambda n: Literal(str(n), XSD + "integer")),
)
_TERMS: st.SearchStrategy[Term] = st.one_of(_IRIS, _BLANKS, _LITERALS)
_NAMES = ("y", "x", "p")
_NODES: st.SearchStrategy[Node] = st.one_of(
    st.sampled_from([*_NAMES, "never", "_:b", "_:b0"]).map(Variable), st.one_of(_IRIS, _BLANKS, _LITERALS).map(Constant)
)
_TEMPLATES = st.lists(st.builds(TriplePattern, _NODES, _NODES, _NODES), min_size=1, max_size=4).map(
    lambda triples: Construct(tuple(triples))
)
_FORMATS = st.sampled_from(["jsonl", "csv", "trig"])
_TIMES = st.tuples(st.integers(0, 2), st.integers(2, 4)) | st.just((-(2**60), 2**60))


class _Made:
    """Terms in a table, some of them spelt in another way than they are shown."""

    def __init__(self) -> None:
        self.key, self.texts = TermKey.fixed(), Texts()

    def cell(self, term: Term) -> tuple[int, int]:
        spelt = str(term)
        if isinstance(term, Literal) and term.datatype == STRING and len(term.lexical) % 2:
            spelt += f"^^<{STRING}>"
        elif isinstance(term, Literal) and term.language is not None:
            spelt = spelt[:-2] + "EN"
        fixed = len(spelt) % 3 == 0
        ref = (self.texts.append_fixed if fixed else self.texts.append)([spelt])[0]
        return term_id(self.key, str(term)), int(ref)


@st.composite
def _constructing(draw: st.DrawFn, query: int = 0) -> MatchBatch:
    rows = draw(st.lists(st.tuples(*(st.none() | _TERMS for _ in _NAMES)), max_size=5))
    times = draw(st.lists(_TIMES, min_size=len(rows), max_size=len(rows)))
    made = _Made()
    ids, refs, _, _ = mappings(len(rows), len(_NAMES))
    for i, row in enumerate(rows):
        for j, term in enumerate(row):
            if term is not None:
                ids[i, j], refs[i, j] = made.cell(term)
    view, refs, _ = made.texts.table_view(ids, refs, np.empty(0, np.int64))
    kind = TimeKind.INTEGER if query else draw(st.sampled_from(TimeKind))
    start, end = np.array(times, np.int64).reshape(-1, 2).T
    return MatchBatch(query, kind, start, end, _NAMES, ids, refs, view, draw(_TEMPLATES), False, lambda row: {})


_TRIPLES = st.builds(Triple, _IRIS | _BLANKS, _IRIS, _TERMS)
_EVENTS = (IRI("http://e/Fire"), IRI("http://e/Smoké,x"), IRI("http://e/a"))


@st.composite
def _occurring(draw: st.DrawFn) -> EventMatches:
    rows = draw(
        st.lists(st.tuples(st.sets(_TRIPLES, max_size=4), st.none() | _IRIS | _BLANKS, st.integers(0, 2), _TIMES), max_size=5)
    )
    made, cells, first, names = _Made(), [], [0], []
    for triples, individual, _, _ in rows:
        cells += [[made.cell(term) for term in triple] for triple in triples]
        first.append(len(cells))
        names.append((0, -1) if individual is None else made.cell(individual))
    ids = np.array([[id for id, _ in row] for row in cells], np.uint64).reshape(-1, 3)
    refs = np.array([[ref for _, ref in row] for row in cells], np.int64).reshape(-1, 3)
    view, refs, individuals = made.texts.table_view(ids, refs, np.array([ref for _, ref in names], np.int64))
    return EventMatches(
        query=0,
        kind=draw(st.sampled_from(TimeKind)),
        form=draw(st.sampled_from(Form)),
        start=np.array([times[0] for *_, times in rows], np.int64),
        end=np.array([times[1] for *_, times in rows], np.int64),
        returned=_EVENTS,
        event=np.array([event for _, _, event, _ in rows], np.int64),
        first=np.array(first, np.int64),
        ids=ids,
        refs=refs,
        individual_ids=np.array([id for id, _ in names], np.uint64),
        individual_refs=individuals,
        texts=view,
    )


def _alike(matches: MatchRows, format: str, shape: Shape) -> None:
    one_by_one, together = io.StringIO(newline=""), io.StringIO(newline="")
    writer, whole = open_writer(format, one_by_one, shape), open_writer(format, together, shape)
    for match in matches:
        writer.write(match)
    assert columns.in_columns(matches)
    whole.write_all(matches[:2])
    whole.write_all(matches[2:])
    assert together.getvalue() == one_by_one.getvalue()


@given(_constructing(), _FORMATS)
def test_what_rows_construct(batch: MatchBatch, format: str) -> None:
    matches = MatchRows(batch, np.arange(len(batch.start)))
    naive = [constructed(batch, row) for row in range(len(batch.start))]
    assert [match.graph for match in matches] == naive
    assert batch.made().tolist() == [row for row, graph in enumerate(naive) if graph]
    _alike(matches, format, Shape(("x",), graphs=True))
    _alike(matches, format, Shape((), graphs=True, booleans=True, queries=("a,b",)))


@given(_occurring(), _FORMATS)
def test_what_occurrences_assert(batch: EventMatches, format: str) -> None:
    matches = MatchRows(batch, np.arange(len(batch.start)))
    naive = [occurred(batch, row) for row in range(len(batch.start))]
    assert [match.graph for match in matches] == [graph for _, graph in naive]
    if batch.form is not Form.RDF_STREAM:
        told = [(_EVENTS[batch.event[row]], individual) for row, (individual, _) in enumerate(naive)]
        assert [match.occurrence for match in matches] == told
    _alike(matches, format, Shape((), graphs=True))
    lines = io.StringIO()
    open_writer("jsonl", lines, Shape((), graphs=True)).write_all(matches)
    shown = [list(map(list, graph_rows(graph))) for _, graph in naive]
    name = "graph" if batch.form is Form.RDF_STREAM else "assertions"
    assert [json.loads(line)[name] for line in lines.getvalue().split("\n")[:-1]] == shown


@given(_constructing() | _occurring())
def test_ties_are_in_the_order_of_graphs(batch: MatchBatch | EventMatches) -> None:
    matches = MatchRows(batch, np.arange(len(batch.start)))
    every: list[Match] = list(matches)
    assert [match.row() for match in matches.sorted()] == [match.row() for match in sorted_matches(every)]


@given(_constructing(1), _constructing(2), _FORMATS)
def test_graphs_of_several_queries(one: MatchBatch, two: MatchBatch, format: str) -> None:
    asks = MatchBatch(
        0, TimeKind.INTEGER, np.array([1]), np.array([3]), (), *mappings(1, 0)[:2], one.texts, None, True, lambda row: {}
    )
    matches = mixed([MatchRows(batch, np.arange(len(batch.start))) for batch in (asks, one, two)])
    shape = Shape(("x", "y"), graphs=True, booleans=True, queries=("asks", 1, "b"))
    one_by_one, together = io.StringIO(newline=""), io.StringIO(newline="")
    writer, whole = open_writer(format, one_by_one, shape), open_writer(format, together, shape)
    for match in matches:
        writer.write(match)
    whole.write_all(matches)
    assert together.getvalue() == one_by_one.getvalue()


@given(_constructing(), _FORMATS)
def test_long_rows_are_laid_out_in_halves(batch: MatchBatch, format: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_BYTES", 40)
        _alike(MatchRows(batch, np.arange(len(batch.start))), format, Shape((), graphs=True))
