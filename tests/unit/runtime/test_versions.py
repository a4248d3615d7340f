"""Which graphs may vary, and how they are named."""

from __future__ import annotations

import pytest

import scepter
from scepter.errors import OptionError, QueryError
from scepter.runtime.queries import combined
from scepter.runtime.versions import varying

PREFIX = "PREFIX : <http://e/> "
WINDOW = "FROM NAMED :S WIN [RANGE 5] AS :w "
ROADS = PREFIX + "SELECT * " + WINDOW + "WHERE { WINDOW :w { ?x :on ?y } GRAPH :roads { ?y :is ?z } }"


@pytest.mark.parametrize("name", ["http://e/roads", "<http://e/roads>", ":roads", "roads"])
def test_a_graph_is_named_as_people_do(name: str) -> None:
    assert varying(scepter.parse(ROADS), [name]).streams == ["http://e/S", "http://e/roads"]


def test_a_name_that_is_no_graph_suggests_one() -> None:
    with pytest.raises(OptionError, match="no graph roades") as caught:
        scepter.Engine(scepter.parse(ROADS), versions="http://e/roades".removeprefix("http://e/"))
    assert caught.value.diagnostic.help is not None and "http://e/roads" in caught.value.diagnostic.help


SELECT = PREFIX + "SELECT * " + WINDOW
GPM = "SEQ (A) DEFINE GPM A ON S { ?h :p ?x GRAPH :roads { ?x :is ?y } }"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{SELECT} EVENT ON :w {{ ?x :p ?y GRAPH :roads {{ ?y :is ?z }} }} AS E WHERE {{ MATCH {{ E }} }}", "varying-graph"),
        (f"{SELECT} FROM :roads WHERE {{ WINDOW :w {{ ?x :p ?y }} GRAPH ?g {{ ?y :is ?z }} }}", "varying-graph"),
        (f"{PREFIX} SELECT ?h WITHIN 9 FROM STREAM S :s WHERE {{ {GPM} }}", "varying-graph"),
        (f"{PREFIX} SELECT * WHERE {{ ?x :p ?y }}", "unknown-graph"),
    ],
)
def test_what_cannot_vary_is_refused(text: str, code: str) -> None:
    with pytest.raises((OptionError, QueryError)) as caught:
        varying(scepter.parse(text), ["http://e/roads"])
    assert caught.value.code == code


def test_a_version_from_before_the_start_is_the_one_that_is_there() -> None:
    def event(stream: str, graph: str, time: int) -> scepter.Event:
        return scepter.Event(f"http://e/{stream}", graph, time, prefixes={"": "http://e/"})

    roads = [event("roads", ":r1 :is :open .", 1), event("roads", ":r2 :is :open .", 20)]
    agents = [event("S", ":a :on :r1 .", 2), event("S", ":b :on :r1 .", 12), event("S", ":b :on :r2 .", 13)]
    found = scepter.parse(ROADS).run(agents, versions={"roads": roads}, start=10)
    assert [(match.end, str(match.bindings["x"])) for match in found] == [(12, "<http://e/b>")]


def test_versions_are_a_mapping_from_graphs() -> None:
    with pytest.raises(OptionError, match="versions are given as a list"):
        scepter.parse(ROADS).run([], versions=["http://e/roads"])
    with pytest.raises(OptionError, match="3 names no graph"):
        scepter.Engine(scepter.parse(ROADS), versions=[3])  # type: ignore[list-item]


GPMS = "DEFINE GPM A ON S { ?a :on ?r } DEFINE GPM B ON S { ?b :on ?r }"
OTHERS = {
    "strict": f"{PREFIX} SELECT ?a WITHIN 90 FROM STREAM S :S WHERE {{ SEQ (A , B) {GPMS} }}",
    "timed": f"{PREFIX} SELECT ?x ?y WHERE {{ ?x :is ?y }}",
    "continuous": f"{PREFIX} SELECT ?x ?y FROM STREAM :S [RANGE 100] WHERE {{ ?x :on ?y }}",
    "events": f"{PREFIX} EVENT Open AS (is some Thing) RETURN Open AS EVENT STREAM",
}


def _event(stream: str, graph: str, time: int) -> scepter.Event:
    return scepter.Event(f"http://e/{stream}", graph, time, prefixes={"": "http://e/"})


def test_beside_queries_of_other_languages_a_graph_varies_for_those_that_read_it() -> None:
    agents = [_event("S", ":a :on :r1 .", 2), _event("S", ":b :on :r1 .", 12), _event("S", ":c :is :closed .", 13)]
    roads = [_event("roads", ":r1 :is :open .", 5)]
    queries = {"roads": scepter.parse(ROADS), **{name: scepter.parse(text) for name, text in OTHERS.items()}}
    found = scepter.run_local(queries, {"http://e/S": agents}, versions={"roads": roads})
    expected = [("continuous", 2), ("continuous", 12), ("events", 13), ("roads", 12), ("strict", 12), ("timed", 13)]
    assert sorted((list(queries)[match.query], match.end) for match in found) == expected  # a version is no event of theirs
    engine = scepter.Engine(queries, versions="roads")
    pushed = [match for event in (agents[0], roads[0], *agents[1:]) for match in engine.push(event)] + engine.close()
    assert sorted((list(queries)[match.query], match.end) for match in pushed) == expected


@pytest.mark.parametrize(
    ("other", "code"),
    [
        (f"{PREFIX} SELECT ?h WITHIN 9 FROM STREAM S :s WHERE {{ {GPM} }}", "varying-graph"),
        (f"{PREFIX} SELECT ?h WHERE {{ ?h :p ?x GRAPH :roads {{ ?x :is ?y }} }}", "varying-graph"),
        (f"{PREFIX} SELECT ?h WHERE {{ ?h :p ?x GRAPH ?g {{ ?x :is ?y }} }}", "varying-graph"),
    ],
)
def test_a_graph_does_not_vary_for_a_query_of_another_language(other: str, code: str) -> None:
    with pytest.raises((OptionError, QueryError)) as caught:
        scepter.Engine({"roads": scepter.parse(ROADS), "other": scepter.parse(other)}, versions="roads")
    assert caught.value.code == code


def test_the_default_graph_does_not_vary_for_a_query_of_another_language() -> None:
    plain = scepter.parse(f"{SELECT} WHERE {{ WINDOW :w {{ ?x :p ?y }} ?y :is ?z }}")
    with pytest.raises(OptionError, match="as it is at the start of a run"):
        varying(combined({"a": plain, "b": scepter.parse(OTHERS["timed"])}), ["urn:scepter:default-graph"])
    strict = combined({"a": plain, "b": scepter.parse(OTHERS["strict"])})
    assert varying(strict, ["urn:scepter:default-graph"]).streams[-1] == "urn:scepter:default-graph"
