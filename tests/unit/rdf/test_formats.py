from __future__ import annotations

import gzip
import re
from pathlib import Path

import pyoxigraph
import pytest

from batches import KEY, XSD, events_of, integer
from scepter.errors import DataError, OptionError
from scepter.rdf.batch import DeadLetter
from scepter.rdf.formats import (
    NAMELESS,
    GraphError,
    GraphEvent,
    document_batches,
    events_to_batch,
    graphs_to_batch,
    load_dataset,
    load_graph,
    parse_graph,
)  # fmt: skip
from scepter.rdf.hashing import term_id
from scepter.rdf.nquads import ReadState
from scepter.rdf.scanner import term_text
from scepter.rdf.terms import IRI, BlankNode, Literal, Triple
from scepter.timeline import TimeKind

PREFIXES = {"": "http://e/"}
HEAD = f"PREFIX : <http://e/>\nPREFIX prov: <http://www.w3.org/ns/prov#>\nPREFIX xsd: <{XSD}>\n"
TRIG = pyoxigraph.RdfFormat.TRIG
JSON_LD = pyoxigraph.RdfFormat.JSON_LD


def document(text: str, format: pyoxigraph.RdfFormat = TRIG) -> tuple[list[object], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    batches = document_batches(text.encode(), format, KEY, 0, "doc", letters.append)
    return [(start, end, name, sorted(triples)) for start, end, name, triples in events_of(batches)], letters


def triple(subject: str, predicate: str, object: str) -> tuple[str, str, str]:
    return f"<http://e/{subject}>", f"<http://e/{predicate}>", object


def test_trig_events_are_named_graphs_with_times_anywhere() -> None:
    events, letters = document(
        HEAD
        + """:e2 prov:startedAtTime 4 ; prov:endedAtTime 6 .
        :e1 { :a :b :c . }
        :e2 { :a :b 2.50 . :a :b 2.50 }
        :e1 { :a :b "x"@EN }
        :e1 prov:generatedAtTime 10 ."""
    )
    assert events == [
        (4, 6, "<http://e/e2>", [triple("a", "b", f'"2.50"^^<{XSD}decimal>')]),
        (10, 10, "<http://e/e1>", [triple("a", "b", '"x"@en'), triple("a", "b", "<http://e/c>")]),
    ]
    assert not letters


def test_trig_follows_the_rules_of_events() -> None:
    events, letters = document(
        HEAD
        + """:e1 { :a :b :c } :e2 prov:generatedAtTime 1 . :e3 { :a :b :c } :e3 prov:generatedAtTime 1, 2 .
        :e4 { :a :b :c } :e4 prov:generatedAtTime "2026-01-01T00:00:00Z"^^xsd:dateTime .
        :e5 { :a :b :c } :e5 prov:generatedAtTime 5 ; :label "five" ."""
    )
    # the first time the run meets, e2's, makes its times integers
    assert [event[2] for event in events] == ["<http://e/e5>"]  # type: ignore[index]
    assert sorted(letter.reason for letter in letters) == [
        "a dateTime among integer times, or an integer among dateTimes",
        "a triple outside every event: it has no graph name and gives no time",
        "an event with two times",
        "an event without a time",
        "an event without triples",
    ]
    assert all(letter.line is None for letter in letters)


def test_syntax_errors_in_trig_keep_what_is_sound() -> None:
    text = HEAD + ":e1 { :a :b :c }\n:e1 prov:generatedAtTime 1 .\n:e2 { :a :b }\n:x :y :z .\n"
    events, letters = document(text)
    assert [event[2] for event in events] == ["<http://e/e1>"]  # type: ignore[index]
    assert letters[0].line == 6
    assert "TriG" in letters[0].reason


def test_blank_nodes_of_a_document_do_not_join_events() -> None:
    events, _ = document(
        HEAD + ":e1 { _:x :b _:x } :e2 { _:x :b _:x } :e1 prov:generatedAtTime 1 . :e2 prov:generatedAtTime 1 ."
    )
    (first,), (second,) = events[0][3], events[1][3]  # type: ignore[index]
    assert first[0] == first[2]
    assert second[0] == second[2]
    assert first[0] != second[0]


def test_json_ld() -> None:
    context = '{"@context": {"@vocab": "http://e/", "prov": "http://www.w3.org/ns/prov#"}, "@graph": '
    body = (
        '[{"@id": "http://e/e1", "prov:generatedAtTime": 10, "@graph": [{"@id": "http://e/a", "b": {"@id": "http://e/c"}}]}]}'
    )
    events, letters = document(context + body, JSON_LD)
    assert events == [(10, 10, "<http://e/e1>", [triple("a", "b", "<http://e/c>")])]
    assert not letters
    events, letters = document("{ not json", JSON_LD)
    assert not events
    assert letters[0].source == "doc"
    assert "JSON-LD" in letters[0].reason


@pytest.mark.parametrize("format", [TRIG, JSON_LD])
@pytest.mark.parametrize("text", ["", "\n", "\x00\x01\x02", "😀", "{" * 5000])
def test_junk_documents_end_in_dead_letters(text: str, format: pyoxigraph.RdfFormat) -> None:
    events, letters = document(text, format)
    assert not events
    assert len(letters) <= 101
    assert letters or not text.strip()


def test_ready_events() -> None:
    run = ReadState()
    events = [
        GraphEvent(2, "<http://e/e1>", 1, 3, [triple("a", "b", integer(5)), triple("a", "b", integer(5))]),
        GraphEvent(0, None, 4, 4, b"_:x <http://e/p> _:x .\n_:x <http://e/p> <http://e/o> <http://e/ignored> ."),
        GraphEvent(1, "_:e3", 5, 5, b"_:x <http://e/p> _:x .\n"),
    ]
    batch = events_to_batch(events, KEY, TimeKind.INTEGER, run=run)
    assert batch.stream.tolist() == [2, 0, 1]
    found = events_of([batch])
    assert found[0] == (1, 3, "<http://e/e1>", [triple("a", "b", integer(5))])
    assert found[1][2] is None
    assert [len(event[3]) for event in found] == [1, 2, 1]
    assert found[1][3][0][0] != found[2][3][0][0]
    assert term_text(batch.buffer, int(batch.name_at[2])) == "_:e3"
    assert run.salt == 3


def test_ready_events_prune() -> None:
    event = GraphEvent(0, None, 1, 1, [triple("a", "p", "<a:x>"), triple("a", "q", "<a:y>")])
    batch = events_to_batch([event], KEY, TimeKind.INTEGER, predicates=frozenset({term_id(KEY, "<http://e/q>")}))
    assert [t[1] for t in events_of([batch])[0][3]] == ["<http://e/q>"]


def test_malformed_ready_events() -> None:
    bad = GraphEvent(0, "<http://e/e1>", 1, 1, [("<relative>", "<a:p>", "<a:o>")])
    with pytest.raises(DataError, match="relative IRI"):
        events_to_batch([bad], KEY, TimeKind.INTEGER)
    letters: list[DeadLetter] = []
    good = GraphEvent(0, None, 2, 2, [("<a:s>", "<a:p>", "<a:o>")])
    batch = events_to_batch([bad, good], KEY, TimeKind.INTEGER, dead_letter=letters.append)
    assert batch.end.tolist() == [2]
    assert [letter.reason for letter in letters][1] == "an event without triples"
    with pytest.raises(DataError, match="without triples"):
        events_to_batch([GraphEvent(0, None, 1, 1, [])], KEY, TimeKind.INTEGER)


def test_graphs_as_columns() -> None:
    given = [[("<a:s>", "<a:p>", '"é"')], [("<a:s>", "<a:p>", "<a:o>"), ("<a:t>", "<a:p>", "_:b")]]
    named = [GraphEvent(stream, None, 1, 2 + stream, triples) for stream, triples in enumerate(given)]
    wanted = events_to_batch(named, KEY, TimeKind.INTEGER, run=ReadState())
    found = graphs_to_batch(given, [1, 2, NAMELESS, 0, 1, 3, NAMELESS, 1], KEY, TimeKind.INTEGER, ReadState())
    assert events_of([found]) == events_of([wanted])
    assert found.stream.tolist() == [0, 1]
    with pytest.raises(DataError, match=r"event 1: .*relative IRI"):
        wrong = [given[0], [("<relative>", "<a:p>", "<a:o>")]]
        graphs_to_batch(wrong, [1, 2, NAMELESS, 0, 1, 3, NAMELESS, 0], KEY, TimeKind.INTEGER, ReadState())


def test_no_events_make_an_empty_batch() -> None:
    batch = events_to_batch([], KEY, TimeKind.DATETIME)
    assert (batch.events, batch.triples, batch.first.tolist()) == (0, 0, [0])


def test_graphs_keep_lexical_forms_and_take_a_missing_dot() -> None:
    a, b = IRI("http://e/a"), IRI("http://e/b")
    decimal = Literal("01.50", XSD + "decimal")
    for text in (":a :b 01.50 .", ":a :b 01.50", ":a :b 01.50, 01.50 # x", "<http://e/a> :b 01.50 ;"):
        assert parse_graph(text, PREFIXES) == [Triple(a, b, decimal)]
    assert parse_graph("", PREFIXES) == []
    assert str(parse_graph(":a :b 'x'@EN-gb", PREFIXES)[0].object) == '"x"@en-gb'
    assert parse_graph("@prefix x: <http://x/> . x:a x:b true", {})[0].subject == IRI("http://x/a")
    assert parse_graph(":a rdf:type xsd:int", PREFIXES)[0].object == IRI(XSD + "int")


def test_blank_nodes_of_graphs_are_numbered_within_a_scope() -> None:
    first = parse_graph("[] :b _:z . _:z :b []", PREFIXES)
    assert first == parse_graph("[] :b _:z . _:z :b []", PREFIXES)
    labels = {term.label for t in first for term in t if isinstance(term, BlankNode)}
    assert labels == {"b0", "b1", "b2"}
    scoped = parse_graph("[] :b 1", PREFIXES, scope="f1x")[0].subject
    assert scoped == BlankNode("f1xb0")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [(":a :b ] .", 1, 7), (":a :b 1 .\n:c :d ] .", 2, 7), (":a :b", 1, 6), ("\n\n:a nope:b 1 .", 3, 4)],
)
def test_errors_in_graphs_point_at_the_text(text: str, line: int, column: int) -> None:
    with pytest.raises(GraphError) as caught:
        parse_graph(text, PREFIXES)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert isinstance(caught.value, ValueError)


TTL = '<http://e/a> <http://e/b> "x", _:n .\n'


@pytest.mark.parametrize("name", ["g.ttl", "g.TTL", "g.ttl.gz", "g.trig", "g.v2.ttl"])
def test_static_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    data = ("\ufeff" + TTL).encode()
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert len(load_graph(path)) == 2
    assert load_graph(path, "s")[1].object == BlankNode("sb0")


def test_static_files_of_other_formats(tmp_path: Path) -> None:
    rdf = f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"><rdf:Description rdf:about="http://e/a"><e:b rdf:datatype="{XSD}int">07</e:b></rdf:Description></rdf:RDF>'  # noqa: E501
    (tmp_path / "g.rdf").write_text(rdf)
    assert load_graph(tmp_path / "g.rdf") == [Triple(IRI("http://e/a"), IRI("http://e/b"), Literal("07", XSD + "int"))]
    (tmp_path / "g.nq").write_text("<a:s> <a:p> <a:o> <a:g> .\n<a:s> <a:p> <a:o> .\n")
    assert len(load_graph(tmp_path / "g.nq")) == 1
    assert [graph for _, graph in load_dataset(tmp_path / "g.nq")] == [IRI("a:g"), None]


def test_rules_of_n3_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "g.n3").write_text("@prefix : <http://e/> . :a :p 1 . { :a :p 1 } => { :a :q 2 } .")
    with pytest.raises(GraphError, match="it has a rule of N3") as caught:
        load_graph(tmp_path / "g.n3")
    assert caught.value.diagnostic.code == "n3-rule"


def test_blank_nodes_of_two_files_differ(tmp_path: Path) -> None:
    for name in ("a.ttl", "b.ttl"):
        (tmp_path / name).write_text("_:x <a:p> 1 .")
    assert load_graph(tmp_path / "a.ttl")[0].subject != load_graph(tmp_path / "b.ttl")[0].subject


def test_static_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bad.ttl").write_text("<a:s> <a:p>\n]")
    with pytest.raises(GraphError, match=r"bad\.ttl:2"):
        load_graph(tmp_path / "bad.ttl")
    (tmp_path / "bad.ttl.gz").write_bytes(b"no gzip")
    with pytest.raises(OptionError, match="cannot be read"):
        load_graph(tmp_path / "bad.ttl.gz")
    with pytest.raises(OptionError, match="cannot be read"):
        load_graph(tmp_path / "missing.ttl")
    for name in ("notes.txt", "noextension", "x.gz"):
        with pytest.raises(OptionError, match="extension"):
            load_graph(tmp_path / name)


def test_a_term_of_rdf_1_2_in_static_data_is_told_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "b.ttl"
    path.write_text('<http://e/s> <http://e/p> "x"@en--ltr .')
    with pytest.raises(GraphError, match=rf"{re.escape(str(path))}: \"x\"@en--ltr is a language tag with a base direction"):
        load_graph(path)
