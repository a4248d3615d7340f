"""Case files: what they hold, and that each mistake is told with its place."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from scepter.cases.loader import load_case
from scepter.cases.model import Graphs, Refusal, Row, Rows, Truth
from scepter.errors import QueryError, Span, query_error
from scepter.errors import Source as Text
from scepter.rdf.terms import IRI, LANG_STRING, XSD, BlankNode, Literal, Term

WHOLE = """\
name: the whole of it
language: spaseq
prefixes: {"": "http://example/"}
options: {time-unit: s, start: 0, evaluate-at: [8, 10]}
streams:
  http://example/power: |
    10 { :H1 :pow :Pw1 ; :loc :L1 }
    15..17 { :H2 :pow :Pw2 }
background:
  "": ":a :b :c ."
  http://example/db: ":H1 :owner :john ."
ontology: ":A rdfs:subClassOf :B ."
query: |
  SELECT ?h
  WHERE
expect:
  - {start: 10, end: 20, h: ":H1", v: 3, t: '"x"@EN', d: 2.50, b: "_:x"}
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "some.case.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def small(expectation: str, head: str = "") -> str:
    return f'prefixes: {{"": "http://example/"}}\n{head}query: q\n{dedent(expectation)}'


def test_keys_without_a_value_are_left_out(tmp_path: Path) -> None:
    case = load_case(write(tmp_path, small("expect: []", "options:\nbackground:\nstreams:\nontology:\nversions:\n")))
    assert (case.options, case.background, case.streams, case.ontology) == ({}, {}, {}, None)


def test_background_graphs_by_prefixed_names(tmp_path: Path) -> None:
    head = 'background: {":db": ":a :b 1 .", "http://e/g": ":a :b 2 .", "": ":a :b 3 ."}\n'
    assert set(load_case(write(tmp_path, small("expect: []", head))).background) == {"http://example/db", "http://e/g", None}


def test_derivations_may_be_bounded(tmp_path: Path) -> None:
    case = load_case(write(tmp_path, small("expect-error: endless", "options: {max-derivations: 5}\n")))
    assert case.options == {"max-derivations": "5"}


def test_a_whole_case(tmp_path: Path) -> None:
    case = load_case(write(tmp_path, WHOLE))
    assert (case.name, case.language) == ("the whole of it", "spaseq")
    assert case.options == {"time-unit": "s", "start": "0", "evaluate-at": "8,10"}
    assert set(case.streams) == {"http://example/power"}
    assert set(case.background) == {None, "http://example/db"}
    assert case.query == "SELECT ?h\nWHERE\n"
    bindings: dict[str, Term] = {
        "h": IRI("http://example/H1"),
        "v": Literal("3", XSD + "integer"),
        "t": Literal("x", LANG_STRING, "en"),
        "d": Literal("2.50", XSD + "decimal"),
        "b": BlankNode("x"),
    }
    assert case.expectation == Rows((Row(10, 20, bindings),))
    assert {"http://example/owner", "http://example/B", "http://example/H1"} <= case.known


def test_the_name_defaults_to_the_files(tmp_path: Path) -> None:
    assert load_case(write(tmp_path, small("expect: []"))).name == "some"


@pytest.mark.parametrize("written", ['"2026-01-01T01:05:00+01:00"', "2026-01-01T00:05:00Z", "2026-01-01T00:05:00.000Z"])
def test_date_times_in_any_spelling_are_one_instant(tmp_path: Path, written: str) -> None:
    case = load_case(write(tmp_path, small(f"expect:\n- {{start: {written}, end: {written}}}")))
    assert case.expectation == Rows((Row("2026-01-01T00:05:00Z", "2026-01-01T00:05:00Z", {}),))


def test_other_expectations(tmp_path: Path) -> None:
    assert load_case(write(tmp_path, small("expect-boolean: false"))).expectation == Truth(False)
    assert load_case(write(tmp_path, small("expect-boolean: true"))).expectation == Truth(True)
    assert load_case(write(tmp_path, small("expect-boolean: {start: 1, end: 2}"))).expectation == Truth(True, (1, 2))
    assert load_case(write(tmp_path, small('expect-error: "?c"'))).expectation == Refusal("?c")
    graphs = load_case(write(tmp_path, small('expect-graphs: [{start: 1, end: 2, graph: ":a :b [ :c 3 ] ."}]'))).expectation
    assert isinstance(graphs, Graphs)
    assert len(graphs.graphs[0].graph) == 2
    events = load_case(write(tmp_path, small('expect-events: [{start: 1, end: 2, event: ":E", assertions: ""}]'))).expectation
    assert isinstance(events, Graphs)
    assert events.graphs[0].event == IRI("http://example/E")


def test_a_variable_named_start_is_written_with_its_question_mark(tmp_path: Path) -> None:
    case = load_case(write(tmp_path, small('expect: [{start: 1, end: 2, "?start": 5}]')))
    assert case.expectation == Rows((Row(1, 2, {"start": Literal("5", XSD + "integer")}),))


MISTAKES = {
    "an unknown key": (small("expect: []", "sreams: {}\n"), "case-unknown-key", 2, 1, "did you mean streams?"),
    "no query": ("name: x\nexpect: []\n", "case-without-query", 1, 1, "add the key query:"),
    "a key twice": (small("expect: []", "name: a\nname: b\n"), "case-duplicate-key", 3, 1, "stands twice"),
    "no expectation": ("query: q\n", "case-expectation", 1, 1, "exactly one thing"),
    "two expectations": (small("expect: []\nexpect-boolean: true"), "case-expectation", 4, 17, "expect and expect-boolean"),
    "a bad time": (small("expect:\n  - {start: 1x, end: 2}"), "case-bad-time", 4, 13, "'1x' is no xsd:dateTime"),
    "a missing time": (small("expect:\n  - {start: 1}"), "case-missing-key", 4, 5, "a row needs end"),
    "two kinds of time": (
        small('expect:\n  - {start: 1, end: "2026-01-01T00:00:00Z"}'),
        "case-mixed-times",
        4,
        21,
        "one kind of time",
    ),
    "bad Turtle": (small("expect: []", 'ontology: ":a :b ."\n'), "case-bad-turtle", 2, 18, "ontology:"),
    "bad Turtle in a block": (
        small("expect: []", "background:\n  http://e/: |\n\n    :a :b :c .\n    :a nope:x :c .\n"),
        "case-bad-turtle",
        6,
        8,
        "nope",
    ),
    "an undeclared prefix in a row": (small('expect: [{start: 1, end: 1, x: "y:z"}]'), "case-bad-turtle", 3, 33, "y:"),
    "two terms": (small('expect: [{start: 1, end: 1, x: ":a, :b"}]'), "case-bad-turtle", 3, 33, "more than one term"),
    "a term and a statement": (
        small('expect: [{start: 1, end: 1, x: ":a . :b :c :d"}]'),
        "case-bad-turtle",
        3,
        33,
        "more than one",
    ),
    "no value": (small("expect: [{start: 1, end: 1, x: }]"), "case-no-value", 3, 31, "has no value"),
    "a row that is no mapping": (small("expect: [3]"), "case-not-a-mapping", 3, 10, "a row must be a mapping"),
    "rows that are no list": (small("expect: {start: 1}"), "case-not-a-list", 3, 9, "expect must be a list"),
    "an unknown option": (
        small("expect: []", "options: {tim-unit: s}\n"),
        "case-unknown-key",
        2,
        11,
        "did you mean time-unit?",
    ),
    "a bad unit": (small("expect: []", "options: {time-unit: year}\n"), "case-bad-option", 2, 22, "one of us, ms"),
    "a bad policy": (small("expect: []", "options: {policy: newest}\n"), "case-bad-option", 2, 19, "chronological"),
    "a bad start": (small("expect: []", "options: {start: soon}\n"), "case-bad-option", 2, 18, "soon"),
    "a bad delay": (small("expect: []", "options: {max-delay: 5 parsecs}\n"), "case-bad-option", 2, 22, "parsecs"),
    "a bad prefix": ('prefixes: {a: "not an iri"}\nquery: q\nexpect: []', "case-bad-prefix", 1, 15, "declares no prefix"),
    "an event that is no IRI": (
        small('expect-events: [{start: 1, end: 1, event: "3", assertions: ""}]'),
        "case-bad-turtle",
        3,
        44,
        "is no IRI",
    ),
    "bad YAML": ("query: [\n", "case-bad-yaml", 2, 1, "this is no YAML"),
    "a control character": ("query: \x00", "case-bad-yaml", 1, 8, "this is no YAML"),
    "two documents": ("query: a\n---\nquery: b\n", "case-bad-yaml", 2, 1, "this is no YAML"),
    "a boolean that is none": (small("expect-boolean: maybe"), "case-expectation", 3, 17, "true, false, or"),
    "an error without words": (small('expect-error: ""'), "case-expectation", 3, 15, "needs words"),
    "a list": ("- a\n", "case-not-a-mapping", 1, 1, "a case must be a mapping"),
    "a tag": ("query: !!python/object:os.system x\n", "case-expectation", 1, 1, "exactly one thing"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, mistake: str) -> None:
    text, code, line, column, words = MISTAKES[mistake]
    with pytest.raises(QueryError) as caught:
        load_case(write(tmp_path, text))
    error = caught.value
    assert (error.code, error.line, error.column) == (code, line, column), str(error)
    assert words in str(error)
    assert f"some.case.yaml:{line}:{column}" in str(error)


def test_an_empty_file_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="is empty"):
        load_case(write(tmp_path, "# nothing\n"))
    with pytest.raises(QueryError, match="cannot be read"):
        load_case(tmp_path / "none.case.yaml")
    binary = tmp_path / "binary.case.yaml"
    binary.write_bytes(b"query: \xff\xfe")
    with pytest.raises(QueryError, match="no UTF-8"):
        load_case(binary)


def test_deep_nesting_is_an_error_and_no_crash(tmp_path: Path) -> None:
    with pytest.raises(QueryError):
        load_case(write(tmp_path, "[" * 50_000))


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_an_error_of_the_query_points_into_the_case_file(tmp_path: Path, line_end: str) -> None:
    path = tmp_path / "some.case.yaml"
    path.write_bytes(WHOLE.replace("\n", line_end).encode())
    case = load_case(path)
    error = query_error("bad", "WHERE what?", Span(10, 15))
    error.source = Text("q", case.query)
    moved = case.in_file(error)
    assert (moved.line, moved.column) == (15, 3)
    assert " 15 |   WHERE" in str(moved)


def test_every_golden_case_can_be_read() -> None:
    files = sorted((Path(__file__).parents[3] / "cases").rglob("*.case.yaml"))
    assert len(files) >= 148
    for path in files:
        assert load_case(path).name
