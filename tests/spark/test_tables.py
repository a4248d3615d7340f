"""Matches as Arrow tables: the columns against the rows they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from batches import PROV, integer
from scepter.kernel.static.background import Background
from scepter.rdf.nquads import NQuadsReader
from scepter.rdf.terms import IRI
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match, MatchRows, MixedRows
from scepter.runtime.options import RunOptions
from scepter.runtime.push import Engine, Event
from scepter.runtime.queries import Query, parse
from scepter.runtime.spark import tables
from scepter.runtime.spark.answers import answer_of
from scepter.runtime.spark.tables import arrow_schema, match_table, result_schema
from scepter.runtime.spark.terms import term_struct
from scepter.timeline import MAX_INSTANT, TimeKind

HEAD = "PREFIX : <http://example/>\n"
BODY = """
FROM STREAM S <http://example/s>
WHERE {
  SEQ (A : B+)
  DEFINE GPM A ON S { ?s :a ?v OPTIONAL { ?s :label ?l } }
  DEFINE GPM B ON S { ?s :b ?w }
}
"""
GRAPHS = [
    ':x :a 1 ; :label "one"@en .',
    ":x :a 1.0 .",
    ":x :b _:n .",
    ":x :b <http://other/> .",
    ':y :a "text" .',
    ":y :b true .",
]


NQUADS = "".join(
    f"{triple} <http://e/{time}> .\n<http://e/{time}> <{PROV}generatedAtTime> {integer(time)} .\n"
    for time, triple in enumerate(
        [
            '<http://example/x> <http://example/a> "1"^^<http://www.w3.org/2001/XMLSchema#integer>',
            '<http://example/x> <http://example/label> "one"@en <http://e/1> .\n'
            '<http://example/x> <http://example/a> "\\u0041\\"" ',
            "<http://example/x> <http://example/b> _:n",
            "<http://example/x> <http://example/b> <http://other/>",
        ]
    )
)


def matches(select: str) -> tuple[Query, list[Match]]:
    query = parse(HEAD + select + BODY, "spaseq")
    engine = Engine(query)
    events = [
        Event("http://example/s", text, time, name=f"http://e/{time}", prefixes={"": "http://example/"})
        for time, text in enumerate(GRAPHS)
    ]
    return query, [*engine.push_all(events), *engine.close()]


def row(match: Match, names: list[str]) -> dict[str, object]:
    graph = match.graph and [{"s": str(t[0]), "p": str(t[1]), "o": str(t[2])} for t in match.graph]
    found: dict[str, object] = {"_query": match.query, "start": match.start, "end": match.end}
    found |= {"graph": graph, "boolean": match.boolean}
    found |= {name: term_struct(term) for name, term in match.bindings.items()}
    events = [(part, [str(e) for e in chosen]) for part, chosen in match.events.items()]
    return {name: events if name == "_events" else found.get(name) for name in names}


@pytest.mark.parametrize(
    "select", ["SELECT ?s ?v ?w ?l", "SELECT ?v (COUNT(B.?w) AS ?n)", "CONSTRUCT { ?s :saw ?w, [] }", "ASK"]
)
def test_columns_hold_what_the_matches_tell(select: str) -> None:
    query, found = matches(select)
    assert found
    schema = arrow_schema(query.variables, query.constructs, query.asks, TimeKind.INTEGER)
    (batch,) = match_table(found, schema)
    batch.validate(full=True)
    assert batch.to_pylist() == [row(match, schema.names) for match in found]


def test_many_matches_come_in_several_batches_and_none_in_none() -> None:
    query, found = matches("SELECT ?s ?v ?w")
    schema = arrow_schema(query.variables, query.constructs, query.asks, TimeKind.INTEGER)
    many = found * (25_000 // len(found))
    sizes = [batch.num_rows for batch in match_table(many, schema, 10_000)]
    assert sum(sizes) == len(many) and len(sizes) == 3
    assert list(match_table([], schema)) == []


def rows_of(text: str, language: str = "spaseq", data: str = NQUADS) -> tuple[Query, Sequence[Match]]:
    """The matches of a step as the engine gives them: rows of batches, none of them made."""
    query = parse(HEAD + text, language)
    engine = LocalEngine(query.program, RunOptions(), Background())
    stream = engine.stream_number(IRI("http://example/s"))
    reader = NQuadsReader(engine.key, stream, "t", lambda letter: pytest.fail(letter.reason))
    for batch in (reader.feed(data.encode()), reader.finish()):
        if batch is not None:
            engine.take(batch)
    return query, engine.advance(MAX_INSTANT - 1)


def test_rows_of_one_batch_become_columns_without_a_match_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    query, found = rows_of("SELECT ?s ?v ?w ?l" + BODY)
    assert isinstance(found, MatchRows) and len(found) == 6
    schema = arrow_schema(query.variables, query.constructs, query.asks, TimeKind.INTEGER, parts=False)
    wanted = [row(match, schema.names) for match in found]
    assert {each["l"] is None for each in wanted} == {True, False}
    monkeypatch.setattr(MatchRows, "__iter__", None)
    (batch,) = match_table(found, schema)
    batch.validate(full=True)
    assert batch.to_pylist() == wanted
    (some,) = match_table(found[1:3], schema)
    assert some.to_pylist() == wanted[1:3]


PRICES = "".join(
    f'<http://example/x> <http://example/price> "{time}"^^<http://www.w3.org/2001/XMLSchema#integer> <http://e/{time}> .\n'
    f'<http://example/x> <http://example/label> "one"@en <http://e/{time}> .\n'
    f'<http://example/x> <http://example/label> "\\u0041\\"" <http://e/{time}> .\n'
    f"<http://e/{time}> <{PROV}generatedAtTime> {integer(time)} .\n"
    for time in range(1, 5)
)
RISING = """
FROM STREAM <http://example/s>
EVENT Price AS price some Thing
EVENT Rising MATCH Price AS A SEQ Price AS B IF { EVENT A { ?x :price ?p } EVENT B { ?x :price ?q } FILTER(?q > ?p) }
RETURN Price, Rising AS """


def columns_only(found: Sequence[Match], query: Query, schema: pa.Schema, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The rows of matches in columns, compared with those of the matches one by one, in small batches too."""
    assert isinstance(found, (MatchRows, MixedRows)) and len(found) > 2
    by_row = [each for batch in match_table(list(found), schema) for each in batch.to_pylist()]
    with monkeypatch.context() as patched:
        patched.setattr(MatchRows, "__iter__", None)
        patched.setattr(MixedRows, "__iter__", None)
        for most in (2, 65_536):
            batches = list(match_table(found, schema, most))
            for batch in batches:
                batch.validate(full=True)
            of_columns = [each for batch in batches for each in batch.to_pylist()]
            assert sorted(map(str, of_columns)) == sorted(map(str, by_row))
        patched.setattr(tables, "_BYTES", 10)
        halved = [each for batch in match_table(found, schema) for each in batch.to_pylist()]
        assert sorted(map(str, halved)) == sorted(map(str, by_row))
    return by_row


@pytest.mark.parametrize("form", ["EVENT STREAM", "RDF STREAM"])
@pytest.mark.parametrize("parts", [False, True])
def test_occurrences_become_columns_without_a_match_being_made(form: str, parts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    query, found = rows_of(RISING + form, "obep", PRICES)
    schema = arrow_schema(query.variables, query.constructs, query.asks, TimeKind.INTEGER, query.occurrences, parts=parts)
    rows = columns_only(found, query, schema, monkeypatch)
    assert all(each["graph"] for each in rows)
    if form == "EVENT STREAM":
        assert {each["event"] for each in rows} == {"<http://example/Price>", "<http://example/Rising>"}
        assert all(each["individual"] for each in rows)


def test_constructed_graphs_become_columns_without_a_match_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    query, found = rows_of("CONSTRUCT { ?s :saw ?w ; :read ?v . [] :named ?l }" + BODY)
    schema = arrow_schema(query.variables, query.constructs, query.asks, TimeKind.INTEGER, parts=False)
    rows = columns_only(found, query, schema, monkeypatch)
    assert {len(each["graph"]) for each in rows} == {2, 3}


def test_matches_of_several_queries_become_columns_without_a_match_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    query, found = rows_of("SELECT ?s ?v" + BODY + "\nCONSTRUCT { ?s :saw ?w }" + BODY)
    schema = arrow_schema(query.variables, query.constructs, query.asks, TimeKind.INTEGER, parts=False)
    rows = columns_only(found, query, schema, monkeypatch)
    assert {(each["_query"], each["graph"] is None) for each in rows} == {(0, True), (1, False)}


def test_variables_of_other_queries_are_null_in_columns() -> None:
    _, found = rows_of("SELECT ?s" + BODY)
    schema = arrow_schema(["other", "s"], False, False, TimeKind.DATETIME, parts=False)
    (batch,) = match_table(found, schema)
    assert set(batch.column("other").to_pylist()) == {None}
    assert batch.to_pylist()[0]["s"] == term_struct(IRI("http://example/x"))
    assert batch.to_pylist()[0]["start"].isoformat().startswith("1970-01-01T00:00:00")


def test_datetimes_are_timestamps() -> None:
    query, found = matches("SELECT ?s")
    schema = arrow_schema(query.variables, query.constructs, query.asks, TimeKind.DATETIME)
    (batch,) = match_table(found[:1], schema)
    assert batch.to_pylist()[0]["start"].isoformat().startswith("1970-01-01T00:00:00")


def test_an_occurrence_has_its_event_and_its_individual() -> None:
    text = HEAD + "FROM STREAM <http://example/s>\nEVENT Price AS price some Thing\nRETURN Price AS EVENT STREAM"
    query = parse(text, "obep")
    engine = Engine(query)
    event = Event("http://example/s", ":x :price 1 .", 3, prefixes={"": "http://example/"})
    found = [*engine.push(event), *engine.close()]
    schema = arrow_schema(query.variables, query.constructs, query.asks, TimeKind.INTEGER, query.occurrences)
    (batch,) = match_table(found, schema)
    (only,) = batch.to_pylist()
    assert (only["start"], only["end"], only["event"]) == (3, 3, "<http://example/Price>")
    assert only["individual"] == "<http://example/x>"


def test_what_an_occurrence_rests_on_comes_back_from_a_row() -> None:
    text = HEAD + "FROM STREAM <http://example/s>\nEVENT Price AS price some Thing\nRETURN Price AS EVENT STREAM"
    query = parse(text, "obep")
    engine = Engine(query, why=True)
    (found,) = engine.push(Event("http://example/s", ":x :price 1 .", 3, prefixes={"": "http://example/"}))
    schema = arrow_schema(query.variables, query.constructs, query.asks, TimeKind.INTEGER, query.occurrences, why=True)
    (batch,) = match_table([found], schema)
    assert result_schema(query, TimeKind.INTEGER, why=True).names == schema.names
    (only,) = batch.to_pylist()
    assert found.why is not None
    assert answer_of(tuple(only[name] for name in schema.names), query, TimeKind.INTEGER).why == found.why


def test_the_selected_events_are_left_out_where_nobody_looks_at_them() -> None:
    query, found = matches("SELECT ?s ?v ?w")
    schema = arrow_schema(query.variables, query.constructs, query.asks, TimeKind.INTEGER, parts=False)
    (batch,) = match_table(found, schema)
    assert batch.to_pylist() == [row(match, schema.names) for match in found]
    assert schema.names == ["_query", "start", "end", "s", "v", "w"]
    assert result_schema(query, TimeKind.INTEGER, parts=False).names == schema.names
