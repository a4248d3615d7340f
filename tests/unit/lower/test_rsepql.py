"""RSEP-QL to algebra: windows, event patterns with their policies, the hidden variables of MATCH."""

from __future__ import annotations

import pytest

from scepter.algebra.patterns import Graph, Group, Match, Project
from scepter.algebra.query import Construct, Select
from scepter.algebra.scope import in_scope
from scepter.algebra.walk import find
from scepter.algebra.windows import (
    Earliest,
    EventPattern,
    Followed,
    ItemScan,
    Landmark,
    Latest,
    Policy,
    RelationToStream,
    Report,
    TimeWindow,
    WindowedQuery,
)
from scepter.lower import lower
from scepter.rdf.terms import IRI
from scepter.timeline import Duration, TimeKind

PREFIX = "PREFIX : <http://e/>\n"
HEAD = "FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?y } AS A EVENT ON :w { ?y :q ?z OPTIONAL { ?z :r ?o } } AS B\n"


def unit(text: str) -> WindowedQuery:
    (found,) = lower(PREFIX + text, "rsep-ql").program.units
    assert isinstance(found, WindowedQuery)
    return found


def shape(pattern: EventPattern) -> object:
    match pattern:
        case ItemScan(label):
            return label
        case Earliest(operand):
            return "first", shape(operand)
        case Latest(operand):
            return "last", shape(operand)
        case Followed(left, right, policy):
            return shape(left), policy and policy.value, shape(right)


@pytest.mark.parametrize(
    ("clause", "text", "expected"),
    [
        ("", "A SEQ B SEQ A", (("A", None, "B"), None, "A")),
        ("POLICY recent", "A SEQ B SEQ NAIVE A", (("A", "recent", "B"), "naive", "A")),
        ("POLICY Chronological", "A SEQ (B SEQ UNRESTRICTED A)", ("A", "chronological", ("B", "unrestricted", "A"))),
        ("", "LAST A SEQ B", (("last", "A"), None, "B")),
        ("", "LAST (A SEQ B)", ("last", ("A", None, "B"))),
        ("", "FIRST LAST A", ("first", ("last", "A"))),
    ],
)
def test_event_patterns(clause: str, text: str, expected: object) -> None:
    (found,) = unit(f"SELECT * {HEAD} {clause} WHERE {{ MATCH {{ {text} }} }}").events
    assert shape(found) == expected


def test_windows_of_both_kinds_and_spellings() -> None:
    query = unit(
        "ASK FROM NAMED :S WIN [LND 3] AS :a FROM NAMED WINDOW :b ON :T [RANGE 5s SLIDE PT1S] { WINDOW :b { ?x :p ?y } }"
    )
    landmark, moving = (window.extent for window in query.windows)
    assert landmark == Landmark(3, TimeKind.INTEGER)
    assert moving == TimeWindow(Duration(5_000_000), Duration(1_000_000))
    assert [stream.iri.value for stream in query.streams] == ["http://e/S", "http://e/T"]


def test_defaults() -> None:
    query = unit(f"SELECT * {HEAD} WHERE {{ MATCH {{ A }} }}")
    assert (query.output, query.report) == (RelationToStream.ISTREAM, Report.CONTENT_CHANGE)
    assert isinstance(query.result, Select) and [v.name for v, _ in query.result.columns] == ["x", "y"]


def test_optional_variables_of_an_event_are_not_certain() -> None:
    query = unit(f"SELECT * {HEAD} WHERE {{ MATCH {{ A SEQ B }} }}")
    (match,) = find(query.pattern, Match)
    assert [v.name for v in match.sometimes] == ["o"]
    assert [v.name for v in match.always] == ["x", "y", "z", "_:match0", "_:match0.start", "_:match0.end"]


def test_times_pass_projections_groups_and_distinct() -> None:
    for select, tail in [("?x", ""), ("DISTINCT ?x", ""), ("?x (COUNT(*) AS ?n)", "GROUP BY ?x")]:
        query = unit(f"SELECT {select} {HEAD} WHERE {{ MATCH {{ A SEQ B }} }} {tail}")
        assert {"_:match0", "_:match0.start", "_:match0.end"} <= in_scope(query.pattern)
    inner = unit(f"SELECT * {HEAD} WHERE {{ {{ SELECT ?x (COUNT(*) AS ?n) {{ MATCH {{ A }} }} GROUP BY ?x }} }}")
    assert "_:match0.end" in in_scope(inner.pattern) and len(list(find(inner.pattern, Group))) == 1


def test_a_window_is_a_graph_of_its_own_name() -> None:
    query = unit("SELECT * FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?x :p ?y } GRAPH :db { ?x :q ?z } }")
    names = [graph.name.term.value for graph in find(query.pattern, Graph)]  # type: ignore[union-attr]
    assert names == ["window:http://e/w", "http://e/db"]
    assert isinstance(query.pattern, Project)


def test_background_that_the_query_names() -> None:
    lowered = lower(
        f"{PREFIX}SELECT * {HEAD} FROM :d FROM NAMED :n WHERE {{ MATCH {{ A }} GRAPH :g {{ ?x :q ?z }} }}", "rsep-ql"
    )
    assert {graph.iri.value[-1] for graph in lowered.graphs} == {"d", "n", "g"}
    (query,) = lowered.program.units
    assert isinstance(query, WindowedQuery)
    assert (query.default_graphs, query.named_graphs) == ((IRI("http://e/d"),), (IRI("http://e/n"),))


def test_a_registered_construct_is_a_stream_of_the_file() -> None:
    lowered = lower(
        f"{PREFIX}SELECT * FROM NAMED :out WIN [RANGE 5] AS :v {{ WINDOW :v {{ ?a :b ?c }} }}\n"
        f"REGISTER RSTREAM :out AS CONSTRUCT {{ ?x :r [] }} {HEAD} WHERE {{ MATCH {{ A }} }}",
        "rsep-ql",
    )
    assert lowered.inputs == (IRI("http://e/S"),)
    second = lowered.program.units[1]
    assert isinstance(second, WindowedQuery) and isinstance(second.result, Construct)
    assert (second.into, second.output) == (IRI("http://e/out"), RelationToStream.RSTREAM)


def test_which_policies_consume() -> None:
    assert [policy.value for policy in Policy if policy.consumes] == ["chronological", "recent"]


def test_the_lowering_says_which_options_a_run_may_give() -> None:
    lowered = lower(
        "SELECT ?x FROM NAMED <http://s> WIN [RANGE 5] AS <http://w> WHERE { WINDOW <http://w> { ?x ?p ?o } }", "rsep-ql"
    )
    assert lowered.policies == ("unrestricted", "chronological", "recent", "naive")
    assert lowered.takes_evaluate_at
    other = lower("SELECT ?x WITHIN 5 FROM STREAM S <http://s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }", "spaseq")
    assert other.policies == () and not other.takes_evaluate_at
