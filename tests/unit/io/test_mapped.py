"""Rows of Python programs through a mapping: `scepter.events`, `run_local`, `Engine.push`; and what is wrong with them."""

from __future__ import annotations

import io
import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import scepter
from scepter import Engine, OptionError, parse
from scepter.io.sources import PipeSource
from scepter.rdf.hashing import TermKey
from scepter.rdf.times import PROV_TIMES
from scepter.runtime.maps import mapped

MAP = """\
prefixes: {ex: "http://example/"}
time: $(time)
mappings:
  reading: {s: "ex:$(sensor)", po: [[ex:v, $(value), xsd:integer]]}
"""
QUERY = """PREFIX : <http://example/>
SELECT ?d ?x ?y WITHIN 10 SLIDING FROM STREAM S <http://example/s>
WHERE { SEQ (A; B)  DEFINE GPM A ON S { ?d :v ?x }  DEFINE GPM B ON S { ?d :v ?y FILTER (?y > ?x) } }"""
ROWS: list[dict[str, Any]] = [
    {"time": 1, "sensor": "a", "value": 1},
    {"time": 2, "sensor": "b", "value": 5},
    {"time": 4, "sensor": "a", "value": 3},
]


def found(matches: Any) -> list[tuple[int, int, str]]:
    return [(match.start, match.end, str(match.bindings["d"])) for match in matches]


EXPECTED = [(1, 4, "<http://example/a>")]


@pytest.mark.parametrize(
    "rows", [ROWS, pd.DataFrame(ROWS), pa.Table.from_pylist(ROWS), iter(ROWS)], ids=["dicts", "pandas", "arrow", "iterator"]
)
def test_rows_at_hand(rows: Any) -> None:
    assert found(scepter.run_local(parse(QUERY), scepter.events(rows, MAP))) == EXPECTED


def test_rows_given_with_a_map() -> None:
    query = parse(QUERY)
    for rows in (ROWS, pd.DataFrame(ROWS)):
        assert found(scepter.run_local(query, rows, map=MAP)) == EXPECTED
        assert found(scepter.run_local(query, {"S": rows}, map={"S": MAP})) == EXPECTED
    assert "1 match" in str(query.diagnose(ROWS, map=MAP))


def test_files_through_a_map(tmp_path: Path) -> None:
    path, mapping = tmp_path / "r.csv", tmp_path / "m.yml"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    mapping.write_text(MAP)
    assert found(scepter.run_local(parse(QUERY), path, map=mapping)) == EXPECTED
    assert found(scepter.run_local(parse(QUERY), scepter.events(path, mapping))) == EXPECTED
    with pytest.raises(OptionError, match="holds rows or documents"):
        scepter.run_local(parse(QUERY), path)


def test_polars_tables() -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert found(scepter.run_local(parse(QUERY), polars.DataFrame(ROWS), map=MAP)) == EXPECTED
    with pytest.raises(OptionError, match=r"LazyFrame of polars is not computed yet; give its \.collect\(\)"):
        scepter.run_local(parse(QUERY), polars.LazyFrame(ROWS), map=MAP)
    with pytest.raises(OptionError, match=r"give its \.collect\(\)"):
        scepter.events(polars.LazyFrame(ROWS), map=MAP, stream="http://example/s")


def test_an_engine_takes_rows() -> None:
    engine = Engine(parse(QUERY), map=MAP)
    assert [found(engine.push(row)) for row in ROWS] == [[], [], EXPECTED]
    assert engine.push({"time": 5, "sensor": "a", "value": "many"}) == []
    assert engine.push({"sensor": "a"}) == []
    assert [letter.reason for letter in engine.dead_letters] == [
        "'many' of value is no xsd:integer",
        "time is empty or absent, which is no time",
    ]
    assert found(Engine(parse(QUERY), map={"S": MAP}).push_all(ROWS)) == EXPECTED


def test_events_one_by_one() -> None:
    made = scepter.events(ROWS, MAP, stream="http://example/s")
    assert found(Engine(parse(QUERY)).push_all(made)) == EXPECTED  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="none was named"):
        list(scepter.events(ROWS, MAP))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (5, "given as an int"),
        ({"time": 1}, "given as a dict"),
        ([1, 2], "item 0 of the rows is an int, not a dictionary"),
        (b"time", "given as a bytes"),
    ],
)
def test_what_is_no_rows(rows: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        scepter.events(rows, MAP)


def test_a_mapping_as_yaml_gives_it() -> None:
    given = {
        "prefixes": {"ex": "http://example/"},
        "time": "$(time)",
        "mappings": {"reading": {"s": "ex:$(sensor)", "po": [["ex:v", "$(value)", "xsd:integer"]]}},
    }
    assert found(scepter.run_local(parse(QUERY), scepter.events(ROWS, given))) == EXPECTED
    assert found(scepter.run_local(parse(QUERY), {"S": ROWS}, map=given)) == EXPECTED
    assert found(scepter.run_local(parse(QUERY), {"S": ROWS}, map={"S": given})) == EXPECTED
    assert found(Engine(parse(QUERY), map=given).push_all(ROWS)) == EXPECTED


def test_a_file_event_by_event(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    made = scepter.events(path, MAP, stream="http://example/s")
    assert [(event.start, len(event.triples)) for event in made] == [(1, 1), (2, 1), (4, 1)]  # type: ignore[attr-defined]
    assert found(scepter.run_local(parse(QUERY), made)) == EXPECTED
    assert found(Engine(parse(QUERY)).push_all(made)) == EXPECTED  # type: ignore[arg-type]
    assert repr(made) == f"<events of {path} by mapping>"


def test_nan_is_no_value_in_a_context_either() -> None:
    rows = [{**row, "room": float("nan"), "in": [{"room": float("nan")}]} for row in ROWS]
    context = {"@vocab": "http://example/", "@base": "http://example/", "sensor": "@id", "value": "v", "time": "urn:t"}
    matches = scepter.run_local(parse(QUERY), {"S": rows}, context=context, time_property="urn:t")
    assert found(matches) == EXPECTED and not matches.dead_letters


def test_one_column_is_no_table() -> None:
    with pytest.raises(OptionError, match=r"a Series of pandas is one column; give a table, \.to_frame\(\) makes one"):
        scepter.events(pd.DataFrame(ROWS)["value"], MAP)


@pytest.mark.parametrize("map", [5, ["a"], {"mapping": {}}])
def test_what_is_no_mapping(map: Any) -> None:
    with pytest.raises(OptionError, match="map cannot be"):
        scepter.events(ROWS, map)


def test_an_empty_mapping_and_a_stream_that_is_no_name() -> None:
    with pytest.raises(OptionError, match="the mapping is empty"):
        scepter.events(ROWS, "")
    with pytest.raises(OptionError, match="stream is an IRI, not an int"):
        scepter.events(ROWS, MAP, stream=7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "told"),
    [(ROWS[0], "was given one row"), (pd.DataFrame(ROWS), r"a table \(DataFrame\)"), (5, "was given an int")],
    ids=["row", "table", "number"],
)
def test_what_push_all_is_not_given(given: Any, told: str) -> None:
    with pytest.raises(OptionError, match=told):
        Engine(parse(QUERY), map=MAP).push_all(given)


def test_a_value_of_another_type_in_a_table_at_hand_costs_its_row_alone() -> None:
    others: list[Any] = ["warm", None, float("nan"), True, 2.5, Decimal("3"), date(2026, 3, 1)]
    more = [{"time": 100 + number, "sensor": "a", "value": value} for number, value in enumerate(others)]
    run = scepter.run_local(parse(QUERY), pd.DataFrame([*ROWS, *more]), map=MAP)
    assert found(run) == EXPECTED
    told = [letter.reason for letter in run.dead_letters]
    assert told == [f"'{text}' of value is no xsd:integer" for text in ("warm", "true", "2.5", "2026-03-01")]


def test_a_table_whose_values_are_no_texts_is_refused() -> None:
    with pytest.raises(OptionError, match="Arrow cannot read it"):
        scepter.run_local(parse(QUERY), pd.DataFrame([*ROWS, {**ROWS[0], "value": {"a": 1}}]), map=MAP)


def test_wrong_rows_are_told_what_is_missing() -> None:
    query = parse(QUERY)
    with pytest.raises(OptionError, match="nothing says how its rows become events"):
        scepter.run_local(query, pd.DataFrame(ROWS))
    with pytest.raises(OptionError, match="unless it has a mapping"):
        Engine(query).push(ROWS[0])
    with pytest.raises(OptionError, match="an engine takes events, not a str"):
        Engine(query).push("row")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="a row as a dictionary"):
        Engine(query, map=MAP).push("S", ROWS[0])  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="does not say which field is the time"):
        Engine(query, map=MAP.replace("time: $(time)\n", ""))
    with pytest.raises(OptionError, match="there is no file"):
        scepter.events(ROWS, "nowhere.yml")


@pytest.mark.parametrize(
    "text",
    ["time,sensor,value\n1,a,1\n4,a,3\n", '{"time": 1, "sensor": "a", "value": 1}\n{"time": 4, "sensor": "a", "value": 3}\n'],
)
def test_a_pipe_through_a_map(text: str) -> None:
    lift = mapped(MAP, PROV_TIMES)
    source = PipeSource(lambda: io.BytesIO(text.encode()), lift=lift)
    events = list(source.batches(TermKey.fixed(), 0, print))
    assert [batch.end.tolist() for batch in events] == [[1, 4]]
    spooled = PipeSource(lambda: io.BytesIO(text.encode()), lift=lift)
    assert found(scepter.run_local(parse(QUERY), spooled)) == EXPECTED
    spooled.close()


def test_a_table_without_the_column_of_the_time_says_so(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("t,sensor,value\n1,a,2\n")
    mapping = "time: $(time)\nmappings: {r: {s: 'http://example/$(sensor)', po: [[http://example/value, $(value)]]}}\n"
    query = scepter.parse(
        "SELECT ?s WITHIN 9 FROM STREAM R <http://example/r> "
        "WHERE { SEQ (A) DEFINE GPM A ON R { ?s <http://example/value> ?v } }",
        "spaseq",
    )
    with pytest.raises(scepter.ScepterError, match="there is no column time; it has t, sensor, value"):
        scepter.run_local(query, path, map=mapping)


def test_a_table_at_hand_without_a_column_of_the_mapping_is_an_error() -> None:
    table = pa.table({"time": [1], "sensor": ["a"], "valeu": [1]})
    with pytest.raises(scepter.OptionError, match=r"uses the column value, .*\nhelp: did you mean valeu"):
        scepter.run_local(scepter.parse(QUERY), table, map=MAP)
    with pytest.raises(scepter.OptionError, match="has the columns time, sensor, valeu: nothing says how its rows"):
        scepter.run_local(scepter.parse(QUERY), table)
    with pytest.raises(scepter.OptionError, match="is given as a dict"):
        scepter.run_local(scepter.parse(QUERY), {"S": {"time": 1}}, map=MAP)


def test_a_document_that_is_not_used_is_shown_as_json(tmp_path: Path) -> None:
    document = {**ROWS[0], "time": "when it was cold", "note": 'a "quote"', "more": [None, True, 1.5]}
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, [*ROWS, document])))
    run = scepter.run_local(parse(QUERY), path, map=MAP)
    assert [json.loads(letter.text) for letter in run.dead_letters] == [document]
