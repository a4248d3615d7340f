"""Matches as Arrow tables: the columns against the rows they stand for."""

from __future__ import annotations

import pytest

from scepter.runtime.matches import Match
from scepter.runtime.push import Engine, Event
from scepter.runtime.queries import Query, parse
from scepter.runtime.spark.answers import answer_of
from scepter.runtime.spark.tables import arrow_schema, match_table, result_schema, term_struct
from scepter.timeline import TimeKind

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
    sizes = [batch.num_rows for batch in match_table(many, schema)]
    assert sum(sizes) == len(many) and len(sizes) == 3
    assert list(match_table([], schema)) == []


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
