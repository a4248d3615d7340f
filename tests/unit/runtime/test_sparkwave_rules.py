"""Sparkwave through the engine, one file per what users see: when matches come, what is kept, what is said."""

from __future__ import annotations

import gzip
import logging
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from scepter import Engine, Event, QueryError, parse
from scepter.cli.options import run_options
from scepter.errors import ScepterError
from scepter.io.sources import open_source
from scepter.rdf.terms import IRI, RDFS
from scepter.runtime.inputs import load_background
from scepter.runtime.local import Progress, run_local
from scepter.runtime.matches import Match
from scepter.runtime.planning import facts_of, planned
from scepter.timeline import TimeKind

NS = "http://example/"
PREFIXES = {"": NS}
HEAD = f"PREFIX : <{NS}>\n"


def engine(text: str, **options: object) -> Engine:
    return Engine(parse(HEAD + text, "sparkwave"), **options)  # type: ignore[arg-type]


def event(graph: str, start: int, end: int | None = None, *, stream: str = "s", name: str | None = None) -> Event:
    return Event(NS + stream, graph, start, end, prefixes=PREFIXES, name=name)


def rows(matches: Iterable[Match]) -> list[tuple[int, int, dict[str, str]]]:
    short = [(m.start, m.end, {k: str(v).replace(NS, ":") for k, v in m.bindings.items()}) for m in matches]
    return [(start, end, {k: v.strip("<>").split('"^^')[0].strip('"') for k, v in row.items()}) for start, end, row in short]


PAIR = "SELECT ?x FROM STREAM :s [RANGE 10] WHERE { ?x :p ?v . ?x :q ?w }"
OPTIONAL = "SELECT ?v ?w FROM STREAM :s [RANGE 10] WHERE { ?x :p ?v OPTIONAL { ?x :q ?w } }"


# ---- when matches come


def test_a_match_comes_with_its_last_triple() -> None:
    run = engine(PAIR)
    assert run.push(event(":a :p 1 .", 1)) == []
    assert rows(run.push(event(":a :q 2 .", 4))) == [(1, 4, {"x": ":a"})]
    assert run.close() == []


def test_triples_of_one_instant_match_whatever_their_order() -> None:
    run = engine(PAIR)
    assert run.push(event(":a :q 2 .", 4)) == []
    assert rows(run.push(event(":a :p 1 .", 4))) == [(4, 4, {"x": ":a"})]
    assert run.push(event(":b :p 1 .", 4)) == []
    assert rows(run.push(event(":b :q 1 .", 4))) == [(4, 4, {"x": ":b"})]
    assert run.close() == []


def test_a_repeated_triple_at_one_time_is_one_occurrence() -> None:
    run = engine(PAIR)
    run.push(event(":a :p 1 .", 1))
    found = rows(run.push(event(":a :q 2 .", 4))) + rows(run.push(event(":a :q 2 .", 4)))
    assert found == [(1, 4, {"x": ":a"})]


def test_optional_waits_until_its_instant_is_closed() -> None:
    run = engine(OPTIONAL)
    assert run.push(event(":a :p 1 .", 1)) == []
    assert run.push(event(":a :q 2 .", 1)) == []
    assert rows(run.push(event(":b :p 3 .", 2))) == [(1, 1, {"v": "1", "w": "2"})]
    assert rows(run.close()) == [(2, 2, {"v": "3"})]


def test_optional_takes_what_came_before_and_nothing_later() -> None:
    run = engine(OPTIONAL)
    found = run.push_all([event(":a :q 7 .", 1), event(":a :p 1 .", 5), event(":a :q 8 .", 6), event(":a :p 2 .", 12)])
    assert rows(found + run.close()) == [(1, 5, {"v": "1", "w": "7"}), (6, 12, {"v": "2", "w": "8"})]


def test_intervals_count_from_start_to_end() -> None:
    run = engine(PAIR)
    found = run.push_all([event(":a :p 1 .", 0, 5), event(":a :q 1 .", 10), event(":a :q 2 .", 11)])
    assert rows(found + run.close()) == [(0, 10, {"x": ":a"})]


def test_an_event_longer_than_the_window_is_in_no_match() -> None:
    run = engine("SELECT ?x FROM STREAM :s [RANGE 10] WHERE { ?x :p ?v }")
    assert run.push_all([event(":a :p 1 .", 0, 11)]) + run.close() == []


def test_ask_is_answered_once() -> None:
    run = engine("ASK FROM STREAM :s [RANGE 10] WHERE { ?x :p ?v }")
    found = run.push_all([event(":a :p 1 .", 3), event(":a :p 2 .", 4), event(":a :p 3 .", 5)]) + run.close()
    assert [(m.start, m.end, m.boolean) for m in found] == [(3, 3, True)]


def test_periodic_answers_come_when_the_step_is_over() -> None:
    run = engine("SELECT (COUNT(*) AS ?n) FROM STREAM :s [RANGE 10 TUMBLING] WHERE { ?x :p ?v }")
    assert run.push(event(":a :p 1 .", 3)) == []
    assert run.push(event(":a :p 2 .", 10)) == []
    assert rows(run.push(event(":a :p 3 .", 11))) == [(10, 10, {"n": "2"})]
    assert rows(run.advance(20)) == [(20, 20, {"n": "1"})]
    assert run.close() == []


def test_a_window_with_events_answers_even_where_nothing_matches() -> None:
    run = engine("SELECT (COUNT(?v) AS ?n) FROM STREAM :s [RANGE 5 STEP 5] WHERE { ?x :p ?v }")
    found = run.push_all([event(":a :other 1 .", 3), event(":a :other 1 .", 100)]) + run.close()
    assert rows(found) == [(5, 5, {"n": "0"}), (100, 100, {"n": "0"})]


def test_the_origin_of_steps_can_be_chosen() -> None:
    run = engine("SELECT ?v FROM STREAM :s [RANGE 10 TUMBLING] WHERE { ?x :p ?v }", start=3)
    found = run.push_all([event(":a :p 0 .", 1), event(":a :p 1 .", 4), event(":a :p 2 .", 13), event(":a :p 3 .", 14)])
    assert rows(found + run.close()) == [(13, 13, {"v": "1"}), (13, 13, {"v": "2"}), (23, 23, {"v": "3"})]


def test_a_range_shorter_than_the_step_leaves_gaps() -> None:
    run = engine("SELECT ?v FROM STREAM :s [RANGE 2 STEP 10] WHERE { ?x :p ?v }")
    found = run.push_all([event(":a :p 1 .", 5), event(":a :p 2 .", 9), event(":a :p 3 .", 21)])
    assert rows(found + run.close()) == [(10, 10, {"v": "2"})]


def test_the_timestamp_of_a_triple_that_no_triple_pattern_names() -> None:
    run = engine("SELECT ?a ?t FROM STREAM :s [RANGE 5 STEP 5] WHERE { ?a :q ?b BIND (timestamp(?a, :p, 1) AS ?t) }")
    found = run.push_all([event(":x :q 2 .", 1), event(":x :p 1 .", 2), event(":y :q 1 .", 4)]) + run.close()
    assert rows(found) == [(5, 5, {"a": ":x", "t": "2"}), (5, 5, {"a": ":y"})]


@pytest.mark.parametrize(
    ("where", "reasons"),
    [
        ("?a :p ?b FILTER (timestamp(?a, :p, ?b) > 2)", ()),
        (
            "?a :p ?b OPTIONAL { ?a :q ?c } FILTER (timestamp(?a, :q, ?c) > 2)",
            ("TIMESTAMP of ?c, which may be unbound, is evaluated anew at every evaluation",),
        ),
        (
            "?a :p ?b FILTER (timestamp(IRI(STR(?a)), :p, ?b) > 2)",
            ("TIMESTAMP of an expression is evaluated anew at every evaluation",),
        ),
        (
            "?a :p ?b OPTIONAL { ?a :q ?c FILTER (timestamp(?a, :q, ?c) > 2) }",
            ("TIMESTAMP in the condition of OPTIONAL or EXISTS is evaluated anew at every evaluation",),
        ),
    ],
)
def test_which_timestamps_are_in_columns(where: str, reasons: tuple[str, ...]) -> None:
    query = parse(f"{HEAD}SELECT * FROM STREAM :s [RANGE 5 STEP 5] WHERE {{ {where} }}", "sparkwave")
    facts = facts_of(run_options(query.lowered), load_background(query, {}), (), TimeKind.INTEGER)
    (unit,) = planned(query.program, facts).units
    assert unit.exact == reasons


# ---- streams, static data, schema


def test_a_constructed_stream_feeds_the_next_query() -> None:
    run = engine(
        "REGISTER STREAM :hot AS CONSTRUCT { ?x :is :hot } FROM STREAM :s [RANGE 5] WHERE { ?x :temp ?t FILTER (?t > 30) }\n"
        "REGISTER QUERY Pairs AS SELECT ?x ?y FROM STREAM :hot [RANGE 5] WHERE { ?x :is :hot . ?y :is :hot FILTER (?x != ?y) }"
    )
    found = run.push_all([event(":a :temp 31 .", 1), event(":b :temp 40 .", 3), event(":c :temp 20 .", 4)]) + run.close()
    assert rows(found) == [(1, 3, {"x": ":a", "y": ":b"}), (1, 3, {"x": ":b", "y": ":a"})]


def test_a_query_without_streams_reads_all_that_are_given() -> None:
    run = engine("CONSTRUCT { ?x :both ?w } WHERE { ?x :p ?v . ?x :q ?w . TIMEWINDOW (10) }")
    found = run.push_all([event(":a :p 1 .", 1), event(":a :q 2 .", 11, stream="t")])
    assert [" ".join(map(str, t)).replace(NS, ":") for m in found for t in m.graph or ()] == [
        '<:a> <:both> "2"^^<http://www.w3.org/2001/XMLSchema#integer>'
    ]


def test_a_missing_static_graph_is_an_error_before_any_event() -> None:
    text = "SELECT ?x FROM STREAM :s [RANGE 5] FROM :static WHERE { ?x :p ?v }"
    with pytest.raises(QueryError, match="FROM <http://example/static> is a background graph that was not given"):
        engine(text)
    engine(text, ontology=f"<{NS}C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{NS}D> .\n")


def test_schema_among_static_data_is_schema(caplog: pytest.LogCaptureFixture) -> None:
    static = (
        f"@prefix : <{NS}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n:C rdfs:subClassOf :D ; rdfs:label 'c' ."
    )
    run = engine("SELECT ?x FROM STREAM :s [RANGE 5] FROM :static WHERE { ?x a :D }", background={NS + "static": static})
    assert rows(run.push(event(":a a :C .", 1))) == [(1, 1, {"x": ":a"})]
    assert not caplog.records


def test_schema_in_the_stream_is_ignored_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    run = engine("SELECT ?x ?y FROM STREAM :s [RANGE 5] WHERE { ?x ?p ?y }")
    schema = f"@prefix rdfs: <{RDFS}> . :C rdfs:subClassOf :D ."
    with caplog.at_level(logging.WARNING):
        found = run.push_all([event(schema, 1), event(schema, 2), event(":x :p :y .", 3)])
    assert rows(found) == [(3, 3, {"x": ":x", "y": ":y"})]
    assert [r.message for r in caplog.records] == [
        "a stream carries schema statements, which are ignored: the schema of a run is fixed"
    ]


def test_one_warning_whichever_queries_of_a_file_find_it(caplog: pytest.LogCaptureFixture) -> None:
    """On columns, term by term, and at steps."""
    run = engine(
        "SELECT ?x FROM STREAM :s [RANGE 5] WHERE { ?x :p ?y } "
        "SELECT ?x FROM STREAM :s [RANGE 5] WHERE { ?x :p ?y OPTIONAL { ?x :q ?z } } "
        "SELECT ?x FROM STREAM :s [RANGE 5 STEP 1] WHERE { ?x :p ?y }"
    )
    with caplog.at_level(logging.WARNING):
        run.push_all([event(f"@prefix rdfs: <{RDFS}> . :C rdfs:subClassOf :D . :x :p :y .", 1)])
    assert len(caplog.records) == 1


def test_blank_nodes_of_two_events_never_meet() -> None:
    run = engine("SELECT ?v ?w FROM STREAM :s [RANGE 5] WHERE { ?x :p ?v . ?x :q ?w }")
    assert rows(run.push_all([event("_:b :p 1 .", 1), event("_:b :q 2 .", 2), event("[] :p 3 ; :q 4 .", 3)])) == [
        (3, 3, {"v": "3", "w": "4"})
    ]


def test_a_match_shows_its_events_by_stream() -> None:
    run = engine("SELECT ?x FROM STREAM :s [RANGE 10] FROM STREAM :t [RANGE 10] WHERE { ?x :p ?v . ?x :q ?w }")
    first, second = event(":a :p 1 .", 1), event(":a :q 2 .", 2, stream="t")
    (match,) = run.push_all([first, second])
    assert match.events == {NS + "s": [first], NS + "t": [second]}


# ---- what is kept


def test_what_has_left_its_window_is_released() -> None:
    run = engine(
        "SELECT ?x FROM STREAM :s [RANGE 10] FROM STREAM :t [RANGE 50] WHERE { ?x :p ?v { ?x :q ?w } UNION { ?x :r ?w } }"
    )
    sizes = []
    for time in range(1_000):
        run.push(event(f":x{time} :p 1 ; :q 2 ; :unused 3 .", time))
        run.push(event(f":y{time} :r 1 .", time, stream="t"))
        sizes.append(dict(run.state_size()))
    assert sizes[-1]["occurrences"] == 11 * 2 + 51
    assert sizes[-1]["pattern entries"] == 11 * 2 + 51
    assert 11 + 51 <= sizes[-1]["solutions"] <= 2 * (11 + 51)  # a join lets go of many at a time
    assert sizes[-1]["waiting"] == 0
    assert sizes[500]["occurrences"] == sizes[-1]["occurrences"]


def test_the_last_n_triples_are_kept_and_no_more() -> None:
    run = engine("SELECT ?x FROM STREAM :s [RANGE TRIPLES 5] WHERE { ?x :p ?v . ?x :q ?w }")
    for time in range(100):
        run.push(event(f":x{time} :p 1 .", time))
    assert run.state_size()["occurrences"] <= 5


def test_windows_that_are_over_hold_nothing() -> None:
    run = engine("SELECT ?x FROM STREAM :s [RANGE 10 STEP 5] WHERE { ?x :p ?v }")
    for time in range(200):
        run.push(event(f":x{time} :p 1 .", time))
    assert sum(rows for kind, rows in run.state_size().items() if kind not in ("texts", "events")) <= 27


def test_undone_instants_leave_nothing_behind() -> None:
    run = engine(PAIR)
    for number in range(50):
        run.push(event(f":x{number} :p 1 .", 5))
    assert run.state_size()["occurrences"] == 50
    run.push(event(":z :p 1 .", 100))
    assert run.state_size()["occurrences"] == 1


def test_order_by_orders_the_rows_of_one_evaluation() -> None:
    run = engine("SELECT ?v FROM STREAM :s [RANGE 10 TUMBLING] WHERE { ?x :p ?v } ORDER BY DESC(?v) LIMIT 2")
    found = run.push_all([event(f":x{v} :p {v} .", 3) for v in (2, 9, 5, 7)]) + run.close()
    assert rows(found) == [(10, 10, {"v": "9"}), (10, 10, {"v": "7"})]


def test_limit_takes_among_the_matches_of_one_end() -> None:
    run = engine("SELECT ?v FROM STREAM :s [RANGE 10] WHERE { ?x :p ?v } ORDER BY DESC(?v) LIMIT 1")
    found = run.push_all([*(event(f":x{v} :p {v} .", 3) for v in (2, 9, 5)), event(":x :p 1 .", 4)]) + run.close()
    assert rows(found) == [(3, 3, {"v": "9"}), (4, 4, {"v": "1"})]


def test_a_graph_without_triples_is_no_result() -> None:
    run = engine("CONSTRUCT { ?x :is ?w } FROM STREAM :s [RANGE 10] WHERE { ?x :p ?v OPTIONAL { ?x :q ?w } }")
    found = run.push_all([event(":a :p 1 .", 1), event(":b :p 1 ; :q 2 .", 2)]) + run.close()
    assert [(m.end, len(m.graph or ())) for m in found] == [(2, 1)]


def test_long_queries_need_no_deep_stack() -> None:
    columns = " ".join(f"(?v + {n} AS ?c{n})" for n in range(500))
    run = engine(f"SELECT {columns} FROM STREAM :s [RANGE 10] WHERE {{ ?x :p ?v }}")
    (match,) = run.push(event(":a :p 1 .", 1))
    assert len(match.bindings) == 500
    branches = " UNION ".join(f"{{ ?x :p{n} ?v }}" for n in range(500))
    run = engine(f"SELECT ?v FROM STREAM :s [RANGE 10] WHERE {{ {branches} }}")
    assert rows(run.push(event(":a :p499 7 .", 1))) == [(1, 1, {"v": "7"})]


def test_large_static_files_stay_in_columns_with_the_same_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCEPTER_CACHE", str(tmp_path / "cache"))
    data, graph = tmp_path / "data.ttl", tmp_path / "graph.nt"
    data.write_text(
        "PREFIX : <http://e/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
        ":Vendor rdfs:subClassOf :Agent . :serves rdfs:domain :Vendor . :Old a rdfs:Class .\n"
        ":v1 :serves :GB . :v2 a :Vendor . :v3 a :Other . :v1 :label _:b . _:b :text 'one' .\n"
    )
    graph.write_text('<http://e/v1> <http://e/rank> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n')
    queries = [
        "?offer :vendor ?v . ?v a :Agent",
        "?offer :vendor ?v . ?v :label ?l . ?l :text ?t",
        "?offer :vendor ?v . ?v ?p ?o",
        "?offer :vendor ?v GRAPH <http://e/g> { ?v :rank ?r }",
        "?offer :vendor ?v OPTIONAL { ?v :serves ?where }",
    ]
    for window in ("[RANGE 5]", "[RANGE 5 STEP 1]"):
        for where in queries:
            text = f"PREFIX : <http://e/>\nSELECT * FROM STREAM :s {window} FROM :static FROM NAMED :g WHERE {{ {where} }}"
            found = []
            for large in (0, 2**30):
                monkeypatch.setattr("scepter.runtime.inputs._LARGE", large)
                engine = Engine(parse(text, "sparkwave"), background={"http://e/static": data, "http://e/g": graph})
                events = [Event("http://e/s", f"<http://e/o{i}> <http://e/vendor> <http://e/v{i}> .", i) for i in (1, 2, 3)]
                rows = [m.row() for m in [*engine.push_all(events), *engine.close()]]
                found.append([re.sub("_:[A-Za-z0-9]+", "_:x", str(row)) for row in rows])
            assert sorted(found[0]) == sorted(found[1])
            assert found[0]


def test_indexing_a_large_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCEPTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("scepter.runtime.inputs._LARGE", 100)
    static, stream = tmp_path / "static.nt", tmp_path / "stream.nt"
    static.write_text("".join(f"<http://e/v{i}> <http://e/in> <http://e/GB> .\n" for i in range(100)))
    stream.write_text('<http://e/o> <http://e/by> <http://e/v7> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n')
    query = parse(
        "SELECT * FROM STREAM <http://e/s> [RANGE 5] FROM <http://e/g> WHERE { ?o <http://e/by> ?v . ?v <http://e/in> ?c }",
        "sparkwave",
    )
    heard: list[Progress] = []
    for again in (False, True):
        heard.clear()
        found = run_local(query, {"http://e/s": open_source(stream)}, background={"http://e/g": static}, progress=heard.append)
        assert [m.bindings["c"] for m in found] == [IRI("http://e/GB")]
        told = [p for p in heard if p.triples == 0 and p.total == static.stat().st_size]
        assert bool(told) is not again  # once it is indexed, there is nothing to wait for


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cut.nt.gz", gzip.compress(b"<http://e/v> <http://e/in> <http://e/GB> .\n" * 1_000)[:-20], "cannot be read"),
        ("bad.nt", b"<http://e/v> <http://e/in> <http://e/GB> .\n<http://e/v> <http://e/in .\n", "bad.nt:2"),
        ("bad.ttl", b"<http://e/v> <http://e/in> .", "bad.ttl:1"),
        ("what.bin", b"<http://e/v> <http://e/in> <http://e/GB> .", "no RDF format"),
    ],
)
def test_a_large_file_that_cannot_be_indexed_is_told_as_a_small_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, message: str
) -> None:
    monkeypatch.setenv("SCEPTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("scepter.runtime.inputs._LARGE", 0)
    path = tmp_path / name
    path.write_bytes(content)
    query = parse("SELECT * FROM STREAM <http://e/s> [RANGE 5] FROM <http://e/g> WHERE { ?v <http://e/in> ?c }", "sparkwave")
    with pytest.raises(ScepterError, match=message):
        Engine(query, background={"http://e/g": path})


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("a file in its place")
    monkeypatch.setenv("SCEPTER_CACHE", str(tmp_path / "cache" / "graphs"))
    monkeypatch.setattr("scepter.runtime.inputs._LARGE", 0)
    path = tmp_path / "some.nt"
    path.write_text("<http://e/v> <http://e/in> <http://e/GB> .\n")
    query = parse(
        "SELECT * FROM STREAM <http://e/s> [RANGE 5] FROM <http://e/g> WHERE { ?o <http://e/by> ?v . ?v <http://e/in> ?c }",
        "sparkwave",
    )
    engine = Engine(query, background={"http://e/g": path})
    assert len(engine.push(Event("http://e/s", "<http://e/o> <http://e/by> <http://e/v> .", 1))) == 1


def test_paths_and_aggregates_over_static_data() -> None:
    near = engine(
        "SELECT ?x ?n FROM STREAM :s [RANGE 5] FROM NAMED :db WHERE { ?x :at ?p . "
        "GRAPH :db { SELECT ?p (COUNT(*) AS ?n) WHERE { ?p :in* ?q } GROUP BY ?p } }",
        background={NS + "db": f"@prefix : <{NS}> .\n:a :in :b . :b :in :c ."},
    )
    found = [m for t, p in ((1, "a"), (2, "b"), (3, "x")) for m in near.push(event(f":x{t} :at :{p} .", t))]
    assert [(m.end, m.bindings["n"].lexical) for m in found] == [(1, "3"), (2, "2")]  # type: ignore[union-attr]


def test_a_path_over_static_data_keeps_nothing_more_of_the_stream() -> None:
    near = engine(
        "SELECT ?x FROM STREAM :s [RANGE 5] FROM NAMED :db WHERE { ?x :at ?p . GRAPH :db { ?p :in+ :c } }",
        background={NS + "db": f"@prefix : <{NS}> .\n:a :in :b . :b :in :c ."},
    )
    near.push(event(":x :noise 1 ; :at :a .", 1))
    assert near.state_size()["occurrences"] == 1
