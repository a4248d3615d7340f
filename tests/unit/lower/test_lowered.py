from __future__ import annotations

import pytest

from scepter.algebra.query import Scan
from scepter.algebra.walk import find
from scepter.errors import OptionError, QueryError
from scepter.lower import LANGUAGES, lower
from scepter.rdf.terms import IRI

CHAIN = """\
PREFIX : <http://example/>
CONSTRUCT { ?a :seen ?x } INTO STREAM :derived
WITHIN 5
FROM STREAM S :s
WHERE { SEQ (A) DEFINE GPM A ON S { ?a :v ?x GRAPH :db { ?a :name ?n FILTER EXISTS { GRAPH :more { ?a ?b ?c } } } } }

SELECT ?a
WITHIN 5
FROM STREAM D :derived
FROM STREAM T <http://example/t>
WHERE { SEQ (A; B) DEFINE GPM A ON D { ?a :seen ?x } DEFINE GPM B ON T { ?b :v ?x GRAPH :db { ?b :name ?m } } }
"""


def test_streams_and_graphs() -> None:
    lowered = lower(CHAIN)
    assert lowered.language == "spaseq"
    assert lowered.warnings == ()
    assert [(s.alias, s.iri.value) for s in lowered.streams] == [
        ("S", "http://example/s"),
        ("D", "http://example/derived"),
        ("T", "http://example/t"),
    ]
    assert lowered.derived == {IRI("http://example/derived")}
    assert [iri.value for iri in lowered.inputs] == ["http://example/s", "http://example/t"]
    assert [(g.iri.value, CHAIN[g.span.start : g.span.end]) for g in lowered.graphs] == [
        ("http://example/db", ":db"),
        ("http://example/more", ":more"),
    ]
    assert lowered.graphs[0].span.start == CHAIN.index(":db")


@pytest.mark.parametrize("name", ["http://example/s", "<http://example/s>", "S", ":s"])
def test_a_stream_by_any_of_its_names(name: str) -> None:
    assert lower(CHAIN).stream(name) == IRI("http://example/s")


def test_an_unknown_stream() -> None:
    with pytest.raises(OptionError) as caught:
        lower(CHAIN).stream("http://example/tt")
    assert caught.value.code == "unknown-stream"
    assert caught.value.diagnostic.help == "did you mean http://example/t?"


def test_an_alias_of_two_streams() -> None:
    query = "ASK FROM STREAM S <http://example/{0}> {{ SEQ (A) DEFINE GPM A ON S {{ ?a ?b ?c }} }}\n"
    lowered = lower(query.format("one") + query.format("two"))
    with pytest.raises(OptionError) as caught:
        lowered.stream("S")
    assert caught.value.code == "ambiguous-stream"


def test_every_language_is_lowered() -> None:
    assert set(LANGUAGES) == {"ep-sparql", "obep", "rsep-ql", "sparkwave", "spaseq"}
    for language in LANGUAGES:
        with pytest.raises(QueryError):
            lower("this is no query", language)


def test_errors_carry_the_name_of_the_text() -> None:
    with pytest.raises(QueryError) as caught:
        lower("ASK { SEQ (A) }", "spaseq", "my.spaseq")
    assert "my.spaseq:1:12" in str(caught.value)


def test_a_single_event_needs_no_window() -> None:
    query = "ASK FROM STREAM S <http://example/s> { SEQ (A#) DEFINE GPM A ON S { ?a ?b ?c } }"
    assert lower(query.replace("#", "")).warnings == ()
    assert [w.code for w in lower(query.replace("#", "+")).warnings] == ["unbounded-state"]


def test_the_same_warning_is_given_once() -> None:
    query = "ASK WITHIN 5 FROM STREAM S <http://example/s> { SEQ (A; A) DEFINE GPM A ON S { ?a ?b ?c BIND (?z AS ?d) } }"
    assert [w.code for w in lower(query).warnings] == ["unbound-variable"]


def test_ten_thousand_conjuncts_are_as_many_filters() -> None:
    condition = " && ".join(["?c > 1"] * 10_000)
    query = f"ASK FROM STREAM S <http://example/s> {{ SEQ (A) DEFINE GPM A ON S {{ ?a ?b ?c FILTER ({condition}) }} }}"
    (scan,) = find(lower(query).program, Scan)
    assert len(scan.filters) == 10_000
