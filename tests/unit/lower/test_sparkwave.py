from __future__ import annotations

import pytest

from scepter.algebra.continuous import ContinuousQuery, LastTriples, PeriodicQuery, Range
from scepter.algebra.query import Ask, Construct, Select
from scepter.lower import Lowered, lower
from scepter.rdf.terms import IRI
from scepter.timeline import Duration

HEAD = "PREFIX : <http://example/>\n"
S = IRI("http://example/s")


def lowered(text: str) -> Lowered:
    return lower(HEAD + text, "sparkwave")


def continuous(text: str) -> ContinuousQuery:
    (unit,) = lowered(text).program.units
    assert isinstance(unit, ContinuousQuery)
    return unit


def periodic(text: str) -> PeriodicQuery:
    (unit,) = lowered(text).program.units
    assert isinstance(unit, PeriodicQuery)
    return unit


@pytest.mark.parametrize(
    ("window", "extent"),
    [
        ("[RANGE 5m]", Range(Duration(300_000_000))),
        ("[range PT5M]", Range(Duration(300_000_000))),
        ("[RANGE 5 minutes]", Range(Duration(300_000_000))),
        ("[RANGE 100]", Range(Duration(100, bare=True))),
        ("[RANGE TRIPLES 7]", LastTriples(7)),
        ("[TRIPLES 7]", LastTriples(7)),
        ("", None),
    ],
)
def test_windows_of_continuous_queries(window: str, extent: Range | LastTriples | None) -> None:
    unit = continuous(f"ASK FROM STREAM :s {window} WHERE {{ ?a :p ?b }}")
    assert [(source.stream.iri, source.extent) for source in unit.sources] == [(S, extent)]


@pytest.mark.parametrize(
    ("window", "width", "step"),
    [
        ("[RANGE 3000ms STEP 1s]", Duration(3_000_000), Duration(1_000_000)),
        ("[RANGE 10 STEP 5]", Duration(10, bare=True), Duration(5, bare=True)),
        ("[RANGE 10s TUMBLING]", Duration(10_000_000), Duration(10_000_000)),
    ],
)
def test_windows_of_periodic_queries(window: str, width: Duration, step: Duration) -> None:
    (source,) = periodic(f"ASK FROM STREAM :s {window} WHERE {{ ?a :p ?b }}").sources
    assert (source.range, source.step) == (width, step)


def test_equal_steps_may_be_written_differently() -> None:
    unit = periodic("ASK FROM STREAM :s [RANGE 5m STEP 60s] FROM STREAM :t [RANGE 1m STEP 1 min] { ?a :p ?b }")
    assert len(unit.sources) == 2


def test_the_prototypes_window_is_for_every_stream_and_counts_milliseconds() -> None:
    handlers = 'HANDLERS { HANDLER { "class" = "a.B", verbose = true # why\n } }\n'
    text = handlers + "CONSTRUCT { ?a :q ?b } WHERE { ?a :p ?b . TIMEWINDOW (100) }"
    result = lowered(text)
    (unit,) = result.program.units
    assert isinstance(unit, ContinuousQuery)
    assert (unit.sources, unit.otherwise, result.every_stream) == ((), Range(Duration(100_000)), True)
    assert [warning.code for warning in result.warnings] == ["handlers"]


def test_files_that_a_pattern_file_names_are_given_as_options() -> None:
    text = 'EPSILON_ONTOLOGY = "null"\nSTATIC_INSTANCES = "a b.nt"\nSELECT * WHERE { ?a :p ?b . TIMEWINDOW (100) }'
    (warning,) = lowered(text).warnings
    assert (warning.code, warning.help) == ("pattern-file", "give it with --background a b.nt")


def test_time_window_is_for_streams_without_one() -> None:
    unit = continuous("ASK FROM STREAM :s FROM STREAM :t [RANGE 1s] { ?a :p ?b TIMEWINDOW (5) }")
    assert [source.extent for source in unit.sources] == [Range(Duration(5_000)), Range(Duration(1_000_000))]


def test_what_the_outside_must_know() -> None:
    result = lowered(
        "REGISTER STREAM :out AS CONSTRUCT { ?a :q ?b } FROM STREAM :s [RANGE 1s] FROM :static FROM NAMED :named "
        "WHERE { ?a :p ?b GRAPH :other { ?a :r ?c } }\n"
        "REGISTER QUERY Second AS SELECT ?a (STR(?a) AS ?t) FROM STREAM :out [RANGE 1s] WHERE { ?a :q ?b }"
    )
    assert [graph.iri.value for graph in result.static] == ["http://example/static"]
    assert [graph.iri.value for graph in result.graphs] == ["http://example/named", "http://example/other"]
    assert result.inputs == (S,)
    assert result.derived == {IRI("http://example/out")}
    assert (result.variables, result.every_stream) == (("a", "t"), False)


def test_the_three_kinds_of_results() -> None:
    assert isinstance(continuous("ASK FROM STREAM :s [RANGE 1s] { ?a :p ?b }").result, Ask)
    assert isinstance(continuous("CONSTRUCT { ?a :q _:x } FROM STREAM :s [RANGE 1s] { ?a :p ?b }").result, Construct)
    select = continuous("SELECT * FROM STREAM :s [RANGE 1s] { ?b :p ?a . [] :q ?a }").result
    assert isinstance(select, Select)
    assert [variable.name for variable, _ in select.columns] == ["b", "a"]


def test_the_language_is_known_by_its_words() -> None:
    for text in ("REGISTER QUERY Q AS SELECT * WHERE { ?a ?b ?c }", "ASK FROM STREAM <http://e/s> [RANGE 5] { ?a ?b ?c }"):
        assert lower(text).language == "sparkwave"
