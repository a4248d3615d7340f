"""Matches as tables: native types where all values of a column have one, text where they have not."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

import scepter
from scepter.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from scepter.runtime.native import native_values, plain_text

STREAM = "http://example/s"
PREFIXES = {"": "http://example/"}
QUERY = """PREFIX : <http://example/>
SELECT ?x ?v WITHIN 10 FROM STREAM S <http://example/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x :v ?v } }"""


def lit(text: str, datatype: str = "integer") -> Literal:
    return Literal(text, XSD + datatype)


def native(*terms: Term) -> tuple[pa.DataType, list[object]]:
    found = native_values(terms, plain_text)
    return found.type, found.to_pylist()


UTC_TIME = pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([lit("1"), lit("-2", "long")], (pa.int64(), [1, -2])),
        ([lit("007")], (pa.int64(), [7])),
        ([lit("1"), lit("2.5", "decimal")], (pa.float64(), [1.0, 2.5])),
        ([lit("1"), lit("1e3", "double")], (pa.float64(), [1.0, 1000.0])),
        ([lit("INF", "double")], (pa.float64(), [float("inf")])),
        ([lit("9" * 400), lit("1", "double")], (pa.float64(), [float("inf"), 1.0])),
        ([lit("0.1234567890123456789", "decimal")], (pa.decimal128(38, 19), [Decimal("0.1234567890123456789")])),
        ([lit(str(2**63))], (pa.decimal128(38, 0), [Decimal(2**63)])),
        ([lit("1" + "0" * 17, "decimal"), lit("1")], (pa.float64(), [1e17, 1.0])),
        ([lit("9" * 40)], (pa.string(), ["9" * 40])),
        ([lit("1" + "0" * 400)], (pa.string(), ["1" + "0" * 400])),
        ([lit("true", "boolean"), lit("0", "boolean")], (pa.bool_(), [True, False])),
        (
            [lit("2026-01-01T02:00:00+02:00", "dateTime"), lit("2026-01-01T00:00:00.5Z", "dateTime")],
            (UTC_TIME, [datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)]),
        ),
        ([lit("2026-01-01T00:00:00", "dateTime")], (pa.timestamp("us"), [datetime(2026, 1, 1)])),
        (
            [lit("2026-01-01T00:00:00", "dateTime"), lit("2026-01-01T00:00:00Z", "dateTime")],
            (pa.string(), ["2026-01-01T00:00:00", "2026-01-01T00:00:00Z"]),
        ),
        ([lit("2026-01-01T00:00:00.1234567Z", "dateTime")], (pa.string(), ["2026-01-01T00:00:00.1234567Z"])),
        ([lit("2026-01-01", "date")], (pa.date32(), [date(2026, 1, 1)])),
        ([lit("2026-01-01Z", "date")], (pa.string(), ["2026-01-01Z"])),
        ([Literal("a"), Literal("b", language="en", datatype="")], (pa.string(), ["a", "b"])),
        ([lit("no number")], (pa.string(), ["no number"])),
        ([lit("1"), IRI("http://example/a"), BlankNode("b")], (pa.string(), ["1", "http://example/a", "_:b"])),
        ([lit("1"), lit("true", "boolean")], (pa.string(), ["1", "true"])),
        ([], (pa.string(), [])),
    ],
)
def test_one_type_for_a_column(terms: list[Term], expected: tuple[pa.DataType, list[object]]) -> None:
    assert native(*terms) == expected


def matches(*values: str, query: str = QUERY) -> scepter.Matches:
    given = [scepter.Event(STREAM, f":x{n} :v {value} .", n, name=f"e{n}", prefixes=PREFIXES) for n, value in enumerate(values)]
    return scepter.parse(query).run(given)


def test_columns_and_short_names() -> None:
    found = matches("1", "2")
    assert found.to_arrow().to_pydict() == {
        "start": [0, 1], "end": [0, 1], "x": ["http://example/x0", "http://example/x1"], "v": [1, 2],
    }  # fmt: skip
    assert found.to_arrow(short=True).column("x").to_pylist() == [":x0", ":x1"]
    assert found.to_arrow(events=True).column("events.A").to_pylist() == [["e0"], ["e1"]]


def test_pandas_and_polars() -> None:
    polars = pytest.importorskip("polars")
    found = matches("1", "2.5")
    assert found.to_pandas()["v"].tolist() == [1.0, 2.5]
    assert str(found.to_pandas()["v"].dtype) == "float64"
    assert found.to_polars().schema["v"] == polars.Float64
    assert found.to_polars(short=True)["x"].to_list() == [":x0", ":x1"]


def test_times_are_timestamps_and_gaps_are_gaps() -> None:
    query = """PREFIX : <http://example/>
        SELECT ?x ?v ?w WITHIN 10 SECONDS FROM STREAM S <http://example/s>
        WHERE { SEQ (A; B?) DEFINE GPM A ON S { ?x :v ?v } DEFINE GPM B ON S { ?x :w ?w } }"""
    given = [
        scepter.Event(STREAM, ":a :v 1 .", "2026-01-01T00:00:00Z", prefixes=PREFIXES),
        scepter.Event(STREAM, ":b :v 1 .", "2026-01-01T00:01:00Z", prefixes=PREFIXES),
        scepter.Event(STREAM, ":b :w 7 .", "2026-01-01T00:01:01Z", prefixes=PREFIXES),
    ]
    frame = scepter.parse(query).run(given).to_pandas()
    assert str(frame["start"].dtype) == "datetime64[us, UTC]"
    assert str(frame["w"].dtype) == "Int64"
    assert frame["w"].isna().any() and frame["w"].dropna().tolist() == [7]


def test_graphs_booleans_and_no_matches() -> None:
    construct = QUERY.replace("SELECT ?x ?v", "CONSTRUCT { ?x :had ?v }")
    (graph,) = matches("1", query=construct).to_arrow().column("graph").to_pylist()
    assert graph == [
        {"s": "<http://example/x0>", "p": "<http://example/had>", "o": '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'}
    ]
    asked = QUERY.replace("SELECT ?x ?v", "ASK")
    assert matches("1", query=asked).to_arrow().column("boolean").to_pylist() == [True]
    assert "true" in repr(matches("1", query=asked))
    none = matches()
    assert none.to_arrow().column_names == ["start", "end", "x", "v"]
    assert len(none.to_pandas()) == 0 and repr(none) == "[]"


def test_a_variable_that_is_called_as_a_column_of_its_own() -> None:
    found = matches("1", query=QUERY.replace("?v", "?end"))
    assert found.to_arrow().column_names == ["start", "end", "x", "?end"]


def test_matches_of_several_queries_and_steps_are_one_table() -> None:
    two = QUERY + "\n" + QUERY.partition("\n")[2]
    found = matches("1", "2", query=two)
    assert sorted(found.to_arrow().column("query").to_pylist()) == [1, 1, 2, 2]
    pushed = scepter.Matches()
    engine = scepter.Engine(scepter.parse(QUERY))
    for n in range(3):
        pushed += engine.push(scepter.Event(STREAM, f":x{n % 2} :v {n} .", n, prefixes=PREFIXES))
    assert pushed.to_arrow().column("x").to_pylist() == [f"http://example/x{n % 2}" for n in range(3)]


def test_rows_from_columns_are_rows_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found = matches(*(["1", "2", '"a"', ":b"] * 20))
    fast = found.to_arrow().to_pydict()
    monkeypatch.setattr("scepter.runtime.matches.MatchBatch.in_columns", property(lambda self: False))
    assert found.to_arrow().to_pydict() == fast
