"""`scepter.run_local`: one answer from files, events and tables; queries that are run, diagnosed and reported on."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import scepter
from scepter import Event
from scepter.runtime.seen import SeenEvents

PRICES = "http://example/prices"
QUERY = """PREFIX : <http://example/>
SELECT ?company ?before ?after
WITHIN 10 SLIDING
FROM STREAM Prices <http://example/prices>
WHERE {
  SEQ (A : B)
  DEFINE GPM A ON Prices { ?company :price ?before }
  DEFINE GPM B ON Prices { ?company :price ?after  FILTER (?after < 0.7 * ?before) }
}
"""
GIVEN = [("e1", 1, "ACME", 100), ("e2", 3, "Beta", 60), ("e3", 8, "ACME", 65), ("e4", 9, "Beta", 55), ("e5", 12, "ACME", 60)]
TRIG = "PREFIX : <http://example/>\nPREFIX prov: <http://www.w3.org/ns/prov#>\n" + "\n".join(
    f":{name} {{ :{company} :price {price} }} :{name} prov:generatedAtTime {time} ." for name, time, company, price in GIVEN
)
PREFIXES = {"": "http://example/"}


@pytest.fixture
def query() -> scepter.Query:
    return scepter.parse(QUERY)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "prices.trig").write_text(TRIG)
    return tmp_path / "prices.trig"


def events() -> list[Event]:
    return [
        Event(PRICES, f":{company} :price {price} .", time, name=f"http://example/{name}", prefixes=PREFIXES)
        for name, time, company, price in GIVEN
    ]


def table() -> dict[str, list[Any]]:
    integer = "http://www.w3.org/2001/XMLSchema#integer"
    graphs = [
        [{"s": f"<http://example/{company}>", "p": "<http://example/price>", "o": f'"{price}"^^<{integer}>'}]
        for _, _, company, price in GIVEN
    ]
    return {"start": [t for _, t, _, _ in GIVEN], "end": [t for _, t, _, _ in GIVEN], "graph": graphs}


def rows(matches: scepter.Matches) -> list[tuple[object, ...]]:
    return [(m.start, m.end, *(str(term) for term in m.bindings.values())) for m in matches]


FALL = [(1, 8, "<http://example/ACME>", *(f'"{v}"^^<http://www.w3.org/2001/XMLSchema#integer>' for v in (100, 65)))]


class TestSources:
    def test_a_file_by_name_path_glob_or_folder(self, query: scepter.Query, file: Path) -> None:
        for source in (str(file), file, str(file.parent / "*.trig"), file.parent):
            assert rows(scepter.run_local(query, {"Prices": source})) == FALL

    @pytest.mark.parametrize("name", [PRICES, f"<{PRICES}>", "Prices", ":prices"])
    def test_a_stream_by_iri_alias_or_prefixed_name(self, query: scepter.Query, file: Path, name: str) -> None:
        assert rows(scepter.run_local(query, {name: file})) == FALL

    @pytest.mark.parametrize("name", [PRICES, ":prices", "S"])
    def test_a_mapping_for_a_stream_of_a_query_that_reads_every_stream(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "prices.csv").write_text("at,price\n1,100\n2,90\n")
        mapping = "prefixes: {ex: 'http://example/'}\ntime: $(at)\nmappings: {p: {s: ex:a, po: [[ex:price, $(price)]]}}\n"
        every = scepter.parse("PREFIX : <http://example/> SELECT ?price WHERE { ?company :price ?price }")
        for given in (mapping, {name: mapping}):
            found = scepter.run_local(every, {name: tmp_path / "prices.csv"}, map=given)
            assert [match.end for match in found] == [1, 2]

    def test_the_only_stream_needs_no_name(self, query: scepter.Query, file: Path) -> None:
        assert rows(query.run(file)) == FALL

    @pytest.mark.parametrize("make", [list, tuple, iter, lambda events: (event for event in events)])
    def test_events(self, query: scepter.Query, make: Any) -> None:
        matches = query.run(make(events()))
        assert rows(matches) == FALL
        assert matches[0].events == {"A": ["http://example/e1"], "B": ["http://example/e3"]}

    def test_events_in_any_order(self, query: scepter.Query) -> None:
        assert rows(query.run(events()[::-1])) == FALL

    def test_names_that_are_no_iris(self, query: scepter.Query) -> None:
        given = [
            Event(PRICES, ":x :price 100 .", 1, name="the first <one> \\ ü", prefixes=PREFIXES),
            Event(PRICES, ":x :price 1 .", 2, prefixes=PREFIXES),
        ]
        assert query.run(given)[0].events == {"A": ["the first <one> \\ ü"], "B": ["#1"]}

    def test_tables(self, query: scepter.Query) -> None:
        polars = pytest.importorskip("polars")
        for given in (pa.table(table()), pd.DataFrame(table()), polars.DataFrame(table())):
            assert rows(query.run(given)) == FALL

    def test_a_table_of_timestamps(self) -> None:
        query = scepter.parse(QUERY.replace("WITHIN 10", "WITHIN 10 SECONDS"))
        given = pd.DataFrame(table())
        for name in ("start", "end"):
            given[name] = pd.to_datetime(given[name], unit="s", utc=True)
        (match,) = query.run(given)
        assert (match.start, match.end) == (1_000_000, 8_000_000)

    def test_nothing_to_read(self, query: scepter.Query) -> None:
        assert query.run([]) == []
        assert query.run(pa.table({name: pa.array([], type) for name, type in _COLUMNS.items()})) == []

    def test_events_of_another_kind_of_time_are_dead_letters(self, query: scepter.Query) -> None:
        odd = Event(PRICES, ":x :price 1 .", datetime(2026, 1, 1, tzinfo=UTC), prefixes=PREFIXES)
        matches = query.run([*events(), odd])
        assert rows(matches) == FALL
        assert matches.unused == 1
        assert "a dateTime among integer times" in matches.dead_letters[0].reason
        assert "1 line or event could not be used: see .dead_letters" in repr(matches)
        assert "could not be used" in matches._repr_html_()

    def test_a_cell_that_is_run_twice_gives_the_same(self, query: scepter.Query, file: Path) -> None:
        given = events()
        assert query.run(given) is not query.run(given)
        assert rows(query.run(given)) == rows(query.run(given)) == rows(query.run(file)) == rows(query.run(file))


_COLUMNS = {
    "start": pa.int64(),
    "end": pa.int64(),
    "graph": pa.list_(pa.struct([("s", pa.string()), ("p", pa.string()), ("o", pa.string())])),
}


class TestOptions:
    def test_the_options_of_a_run(self, query: scepter.Query, file: Path) -> None:
        assert rows(query.run(file, time_unit="s")) == FALL
        assert query.run({"Prices": file}, max_delay=100)
        with pytest.raises(scepter.OptionError, match="takes no policy"):
            query.run(file, policy="recent")

    def test_background_and_ontology(self) -> None:
        query = scepter.parse(
            "PREFIX : <http://example/> SELECT ?company ?p FROM STREAM <http://example/prices> [RANGE 1] "
            "WHERE { ?company a :Firm . ?company :price ?p }",
            "sparkwave",
        )
        found = query.run(
            [events()[0]],
            background="PREFIX : <http://example/>\n:ACME a :Bank .",
            ontology="PREFIX : <http://example/>\n:Bank <http://www.w3.org/2000/01/rdf-schema#subClassOf> :Firm .",
        )
        assert [str(match.bindings["company"]) for match in found] == ["<http://example/ACME>"]


class TestInsight:
    def test_a_diagnosis_shows_itself(self, query: scepter.Query, file: Path) -> None:
        found = scepter.parse(QUERY.replace("0.7", "0.1")).diagnose(file)
        assert str(found) == repr(found)
        assert "spaseq query: 0 matches" in str(found)
        assert "FILTER (?after &lt; 0.1 * ?before)" in found._repr_html_()
        assert "1 match" in str(query.diagnose(events()))

    def test_a_report_is_a_page_and_a_file(self, query: scepter.Query, file: Path, tmp_path: Path) -> None:
        page = query.report({"Prices": file}, tmp_path / "run.html")
        assert (tmp_path / "run.html").read_text("utf-8") == page
        assert page.startswith("<!doctype html>")
        assert "1 match" not in repr(page) and "characters" in repr(page)
        assert _elements(page._repr_html_()) == ["iframe"]
        assert "Diagnosis" in page and "Diagnosis" not in query.report(events(), diagnosis=False)

    def test_a_query_says_what_it_is(self, query: scepter.Query) -> None:
        assert repr(query) == "<spaseq query <query>: reads <http://example/prices>, gives ?company ?before ?after>"

    def test_a_query_of_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "fall.spaseq").write_text(QUERY)
        query = scepter.parse(tmp_path / "fall.spaseq")
        assert (query.language, query.name) == ("spaseq", str(tmp_path / "fall.spaseq"))


class TestShown:
    def test_text(self, query: scepter.Query) -> None:
        assert repr(query.run(events())).splitlines() == [
            "start  end  ?company  ?before  ?after",
            "1      8    :ACME     100      65",
            "1 match",
        ]

    def test_names_of_events_and_prefixes_in_notebooks(self, query: scepter.Query, file: Path) -> None:
        for given in (events(), file):
            text = query.run(given)._repr_html_()
            assert "<td>:ACME</td>" in text
            assert ">:e1<" in text and ">:e3<" in text
            assert text.count("data-event=") >= 4  # drawn, and named in the table

    def test_an_engine_shows_names_too(self, query: scepter.Query) -> None:
        engine = scepter.Engine(query)
        text = scepter.Matches(engine.push_all(events()), query)._repr_html_()
        assert ">:e1<" in text and "<td>:ACME</td>" in text

    def test_a_slice_is_a_result(self, query: scepter.Query) -> None:
        matches = query.run([e for n in range(5) for e in _pair(n)])
        assert len(matches) == 5
        part = matches[1:3]
        assert isinstance(part, scepter.Matches) and len(part) == 2
        assert part.to_pandas()["start"].tolist() == [matches[1].start, matches[2].start]
        assert repr(part).endswith("2 matches")

    def test_many_are_cut_and_it_says_so(self, query: scepter.Query) -> None:
        matches = query.run([e for n in range(30) for e in _pair(n)])
        assert repr(matches).splitlines()[-1] == "30 matches (the first 20 are shown)"
        assert len(repr(matches).splitlines()) == 22

    def test_times_are_kept_of_the_first_events_only(self) -> None:
        assert SeenEvents().event(3) is None


def _pair(number: int) -> list[Event]:
    at = 100 * number
    return [
        Event(PRICES, f":c{number} :price 100 .", at, prefixes=PREFIXES),
        Event(PRICES, f":c{number} :price 1 .", at + 5, prefixes=PREFIXES),
    ]


def _elements(text: str) -> list[str]:
    found: list[str] = []

    class Elements(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            found.append(tag)

    Elements().feed(text)
    return found


RISE = "PREFIX : <http://example/> SELECT ?c WHERE { { ?c :price 65 } SEQ { ?c :price 60 } }"


def test_a_query_that_names_no_stream_reads_what_it_is_given(file: Path) -> None:
    query = scepter.parse(RISE, "ep-sparql")
    several = [
        Event(f"{PRICES}/{time}", f":{company} :price {price} .", time, prefixes=PREFIXES) for _, time, company, price in GIVEN
    ]
    for given in (events(), iter(events()), several, file, pa.table(table())):
        assert [(match.start, match.end) for match in scepter.run_local(query, given)] == [(8, 12)], given


def test_a_query_that_names_no_stream_and_is_given_none() -> None:
    with pytest.raises(scepter.OptionError, match="the query's streams are not given"):
        scepter.run_local(scepter.parse(RISE, "ep-sparql"), None)
