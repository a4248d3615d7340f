"""Several queries as one: names, what they share, and where their errors stand."""

from __future__ import annotations

import pytest

from scepter.errors import OptionError, QueryError, Source
from scepter.lower import Lowered, lower
from scepter.lower.together import called, together

FALL = """PREFIX : <http://e/>
SELECT ?c WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?c :price ?p } }"""
RISE = "PREFIX : <http://other/> SELECT ?d WHERE { ?d :price ?p }"
TWO = RISE + "\nASK { ?x ?y ?z }"


def given(**texts: str) -> dict[str, Lowered]:
    return {name: lower(text, name=f"{name}.txt") for name, text in texts.items()}


class TestNames:
    def test_a_query_is_called_by_its_file(self) -> None:
        assert together(given(fall=FALL, rise=RISE)).names == ("fall", "rise")

    def test_those_of_one_file_are_numbered(self) -> None:
        assert together(given(fall=FALL, two=TWO)).names == ("fall", "two#1", "two#2")

    def test_a_registered_one_has_its_own_name(self) -> None:
        text = "REGISTER QUERY {} AS SELECT ?s FROM STREAM <http://e/s> [RANGE 5] WHERE {{ ?s ?p ?o }}"
        both = text.format("near") + "\n" + text.format("far")
        assert together(given(places=both, fall=FALL)).names == ("places#near", "places#far", "fall")

    def test_files_of_one_name_are_told_apart(self) -> None:
        assert called(["a/x.spaseq", "b/x.spaseq"]) == ["a/x.spaseq", "b/x.spaseq"]
        assert called(["x.spaseq", "x.spaseq"]) == ["x.spaseq", "x.spaseq#2"]


class TestShared:
    def test_streams_and_columns(self) -> None:
        joined = together(given(fall=FALL, rise=RISE))
        assert [stream.iri.value for stream in joined.streams] == ["http://e/s"]
        assert joined.variables == ("c", "d")
        assert joined.every_stream

    def test_a_prefix_that_means_two_things_means_nothing(self) -> None:
        joined = together(given(fall=FALL, rise=RISE))
        assert "" not in dict(joined.prefixes)
        with pytest.raises(OptionError, match="names no stream"):
            together(given(fall=FALL, fell=FALL.replace("e/>\n", "x/>\n"))).stream(":s")

    def test_a_policy_is_for_those_that_take_one(self) -> None:
        assert together(given(fall=FALL, rise=RISE)).policies == ("unrestricted", "chronological", "recent")
        assert together(given(fall=FALL)).policies == ()


class TestPlaces:
    def test_a_place_is_told_in_its_own_file(self) -> None:
        joined = together(given(first=FALL, fall=FALL))
        (_, second) = joined.streams
        assert second.span is not None
        source, span = joined.source.located(second.span)
        assert source.name == "fall.txt"
        assert source.text[span.start : span.end] == "FROM STREAM S <http://e/s>"

    def test_queries_that_feed_each_other(self) -> None:
        text = """CONSTRUCT {{ ?c <http://e/p> ?p }} INTO STREAM <http://e/{}> WITHIN 5 FROM STREAM S <http://e/{}>
        WHERE {{ SEQ (A) DEFINE GPM A ON S {{ ?c <http://e/p> ?p }} }}"""
        with pytest.raises(QueryError, match="feed each other in a circle") as caught:
            together(given(a=text.format("x", "y"), b=text.format("y", "x")))
        assert "--> b.txt:1:" in str(caught.value)

    def test_definitions_stand_before_the_query(self) -> None:
        defined = Source("rooms.obep", "PREFIX : <http://e/>\nEVENT Busy AS (Room)\nEVENT Idle AS (Room)")
        lowered = lower("RETURN Busy AS RDF STREAM", "obep", "q.obep", [defined])
        assert lowered.warnings == ()  # a definition that this query does not use may serve another
        with pytest.raises(QueryError) as caught:
            lower("RETURN Bsy AS RDF STREAM", "obep", "q.obep", [defined])
        assert "--> q.obep:1:8" in str(caught.value)
