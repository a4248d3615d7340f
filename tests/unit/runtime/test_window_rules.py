"""RSEP-QL through `scepter.Engine`: when rows come, what they look like, what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import scepter
from scepter.errors import OptionError, QueryError
from scepter.rdf.terms import IRI

PREFIX = "PREFIX : <http://example/>\n"
WINDOWS = "FROM NAMED :S WIN [LND 0] AS :w\n"
EVENTS = "EVENT ON :w { ?x :p ?y } AS E1\nEVENT ON :w { ?y :q ?z } AS E2\n"


def event(time: int | str, text: str, stream: str = "S", end: int | None = None, name: str | None = None) -> Any:
    return scepter.Event(f"http://example/{stream}", text, time, end, prefixes={"": "http://example/"}, name=name)


def engine(query: str, **options: Any) -> Any:
    return scepter.Engine(scepter.parse(PREFIX + query, "rsep-ql"), **options)


def rows(matches: list[Any]) -> list[tuple[object, ...]]:
    found = []
    for match in matches:
        values = {k: v.value.rpartition("/")[2] if isinstance(v, IRI) else v.lexical for k, v in match.bindings.items()}
        found.append((match.start, match.end, *(f"{k}={v}" for k, v in sorted(values.items()))))
    return sorted(found, key=str)


def test_rows_come_when_their_instant_is_closed() -> None:
    run = engine(f"SELECT ?x ?z {WINDOWS}{EVENTS} WHERE {{ MATCH {{ E1 SEQ E2 }} }}")
    assert run.push(event(1, ":a :p :b .")) == []
    assert run.push(event(3, ":b :q :c .")) == []
    assert rows(run.push(event(4, ":z :z :z ."))) == [(1, 3, "x=a", "z=c")]
    assert run.close() == []


def test_advance_closes_an_instant_too() -> None:
    run = engine(f"SELECT ?x ?z {WINDOWS}{EVENTS} WHERE {{ MATCH {{ E1 SEQ E2 }} }}")
    run.push_all([event(1, ":a :p :b ."), event(3, ":b :q :c .")])
    assert rows(run.advance(3)) == [(1, 3, "x=a", "z=c")]


class TestWithoutEvents:
    """Rule 2: the instants of evaluation are those that are given, also where nothing has come: there the count is 0."""

    QUERY = (
        "REGISTER RSTREAM :out AS SELECT (COUNT(?x) AS ?n) FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?x :p ?y } }"
    )

    def test_by_push(self) -> None:
        run = engine(self.QUERY, evaluate_at=[0, 1, 5])
        assert rows(run.advance(3)) == [(0, 0, "n=0"), (1, 1, "n=0")]
        assert rows(run.close()) == [(5, 5, "n=0")]
        assert rows(engine(self.QUERY, evaluate_at=[4]).close()) == [(4, 4, "n=0")]
        assert engine(self.QUERY).close() == []

    def test_events_come_after_all(self) -> None:
        run = engine(self.QUERY, evaluate_at=[0, 5])
        assert rows(run.advance(3)) == [(0, 0, "n=0")]
        assert run.push(event(4, ":a :p :b .")) == []
        assert rows(run.close()) == [(5, 5, "n=1")]

    def test_the_instants_tell_the_kind_of_time(self) -> None:
        run = engine(self.QUERY, evaluate_at=[0, 5])
        with pytest.raises(OptionError, match="of kind integer"):
            run.advance("2026-01-01T00:00:00Z")

    def test_over_an_empty_file(self, tmp_path: Path) -> None:
        empty = tmp_path / "empty.nq"
        empty.touch()
        found = scepter.parse(PREFIX + self.QUERY, "rsep-ql").run(empty, evaluate_at=[2])
        assert rows(list(found)) == [(2, 2, "n=0")]


def test_window_close_goes_on_while_nothing_comes() -> None:
    """DSTREAM over (t-2, t]: the item at 1 leaves at 3."""
    run = engine(
        "REGISTER DSTREAM :out AS SELECT ?x FROM NAMED :S WIN [RANGE 2 STEP 1] AS :w REPORT ON WINDOW CLOSE\n"
        "WHERE { WINDOW :w { ?x :p ?y } }"
    )
    run.push(event(1, ":a :p :b ."))
    assert run.advance(2) == []
    assert rows(run.advance(1_000_000_000)) == [(3, 3, "x=a")]
    kept = {kind: rows for kind, rows in run.state_size().items() if kind not in ("texts", "events")}
    assert sum(kept.values()) == 0, kept


def test_a_small_step_over_a_long_silence_costs_nothing() -> None:
    run = engine(
        "SELECT ?x FROM NAMED :S WIN [RANGE 1h STEP 1ms] AS :w REPORT ON WINDOW CLOSE WHERE { WINDOW :w { ?x :p ?y } }",
        time_unit="us",
    )
    run.push(event(0, ":a :p :b ."))
    assert rows(run.push(event(10**13, ":c :p :d ."))) == [(0, 0, "x=a")]
    assert rows(run.close()) == [(10**13, 10**13, "x=c")]


def test_given_instants_after_the_last_item_are_evaluated_at_the_end() -> None:
    run = engine("SELECT ?x FROM NAMED :S WIN [RANGE 5 STEP 1] AS :w WHERE { WINDOW :w { ?x :p ?y } }", evaluate_at=[12, 4, 12])
    assert run.push(event(10, ":a :p :b .")) == []
    assert rows(run.close()) == [(12, 12, "x=a")]


def test_a_match_shows_the_events_of_each_label() -> None:
    run = engine(f"SELECT ?x {WINDOWS}{EVENTS} POLICY chronological WHERE {{ MATCH {{ E1 SEQ E2 }} }}")
    first, second = event(1, ":a :p :b ."), event(3, ":b :q :c .")
    run.push_all([first, second])
    (match,) = run.close()
    assert match.events == {"E1": [first], "E2": [second]}


def test_dstream_shows_the_events_that_have_gone() -> None:
    run = engine(
        "REGISTER DSTREAM :out AS SELECT ?x FROM NAMED :S WIN [RANGE 3 STEP 1] AS :w EVENT ON :w { ?x :p ?y } AS E1\n"
        "WHERE { MATCH { E1 } }"
    )
    first = event(1, ":a :p :b .")
    run.push_all([first, event(9, ":z :z :z .")])
    (match,) = run.close()
    assert (match.start, match.end, match.events) == (1, 1, {"E1": [first]})


def test_ask_answers_once() -> None:
    run = engine(f"ASK {WINDOWS}{EVENTS} WHERE {{ MATCH {{ E1 SEQ E2 }} }}")
    found = run.push_all([event(1, ":a :p :b ."), event(2, ":b :q :c , :d ."), event(3, ":b :q :e .")])
    assert [(m.start, m.end, m.boolean, m.bindings) for m in found] == [(1, 2, True, {})]
    assert run.close() == []


def test_what_one_query_constructs_another_reads() -> None:
    """Pairs are constructed at 3 and 5; the second query counts those of the last 3 instants."""
    run = engine(
        f"REGISTER ISTREAM :pairs AS CONSTRUCT {{ ?x :then ?z }} {WINDOWS}{EVENTS} WHERE {{ MATCH {{ E1 SEQ E2 }} }}\n"
        "SELECT (COUNT(?x) AS ?n) FROM NAMED :pairs WIN [RANGE 3 STEP 1] AS :v WHERE { WINDOW :v { ?x :then ?z } }"
    )
    assert run.query.streams == ["http://example/S"]
    found = run.push_all([event(1, ":a :p :b ."), event(3, ":b :q :c ."), event(5, ":b :q :d ."), event(9, ":b :q :e .")])
    assert rows(found + run.close()) == [(3, 3, "n=1"), (5, 5, "n=2"), (9, 9, "n=1")]


def test_items_of_a_constructed_stream_reach_from_the_match_to_the_evaluation() -> None:
    run = engine(
        f"REGISTER ISTREAM :pairs AS CONSTRUCT {{ ?x :then ?z }} {WINDOWS}{EVENTS} WHERE {{ MATCH {{ E1 SEQ E2 }} }}\n"
        "SELECT ?x FROM NAMED :pairs WIN [LND 0] AS :v EVENT ON :v { ?x :then ?z } AS P WHERE { MATCH { P } }",
        evaluate_at=[8],
    )
    run.push_all([event(1, ":a :p :b ."), event(3, ":b :q :c .")])
    assert rows(run.close()) == [(1, 8, "x=a")]


def test_a_constructed_graph_has_blank_nodes_of_its_own() -> None:
    run = engine(f"CONSTRUCT {{ [] :of ?x }} {WINDOWS}{EVENTS} WHERE {{ MATCH {{ E1 }} }}")
    run.push_all([event(1, ":a :p :b ."), event(2, ":a :p :b .")])
    graphs = [match.graph for match in run.close()]
    assert len(graphs) == 1 and len({triple.subject for graph in graphs for triple in graph}) == 1


def test_groups_over_matches_have_the_hull_of_their_times() -> None:
    run = engine(
        f"SELECT ?x (COUNT(*) AS ?n) {WINDOWS}{EVENTS} WHERE {{ MATCH {{ E1 SEQ E2 }} }} GROUP BY ?x HAVING (COUNT(*) > 1)",
        evaluate_at=[9],
    )
    run.push_all([event(1, ":a :p :b ."), event(2, ":c :p :d ."), event(4, ":b :q :e ."), event(6, ":b :q :f .")])
    (match,) = run.close()
    assert (match.start, match.end, match.bindings["n"].lexical) == (1, 6, "2")
    assert [len(match.events[label]) for label in ("E1", "E2")] == [1, 2]


def test_order_and_limit_hold_for_each_evaluation() -> None:
    run = engine(
        "REGISTER RSTREAM :out AS SELECT ?x FROM NAMED :S WIN [LND 0] AS :w WHERE { WINDOW :w { ?x :p ?y } }\n"
        "ORDER BY DESC(?x) LIMIT 1"
    )
    found = run.push_all([event(1, ":a :p :b ."), event(2, ":c :p :d ."), event(3, ":b :p :d .")]) + run.close()
    assert rows(found) == [(1, 1, "x=a"), (2, 2, "x=c"), (3, 3, "x=c")]


def test_from_adds_to_the_default_graph_and_from_named_is_what_graph_ranges_over() -> None:
    query = (
        "SELECT ?n ?g FROM NAMED :S WIN [RANGE 5] AS :w FROM <static.ttl> FROM NAMED :names\n"
        "WHERE { WINDOW :w { ?x :p ?y } ?x :kind ?k GRAPH ?g { ?x :name ?n } }"
    )
    names = "@prefix : <http://example/> .\n"
    background = {
        None: f"{names}:b :kind :k .",
        "static.ttl": f"{names}:a :kind :k .",
        "http://example/names": f"{names}:a :name :ann . :b :name :bob .",
        "http://example/more": f"{names}:a :name :nobody .",
    }
    run = engine(query, background=background)
    run.push_all([event(1, ":a :p :y . :b :p :y . :c :p :y .")])
    assert rows(run.close()) == [(1, 1, "g=names", "n=ann"), (1, 1, "g=names", "n=bob")]


def test_a_graph_that_nobody_gave() -> None:
    with pytest.raises(QueryError, match="background graph that was not given"):
        engine("SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w FROM :db WHERE { WINDOW :w { ?x :p ?y } }")


def test_blank_nodes_of_different_items_stay_apart() -> None:
    run = engine("SELECT ?x ?z FROM NAMED :S WIN [LND 0] AS :w WHERE { WINDOW :w { ?x :p ?y . ?y :q ?z } }")
    run.push_all([event(1, ":a :p _:n ."), event(2, "_:n :q :c ."), event(3, ":d :p _:n . _:n :q :e .")])
    assert rows(run.close()) == [(3, 3, "x=d", "z=e")]


def test_durations_in_every_spelling_and_datetimes() -> None:
    for spelling in ("RANGE 5s STEP 1s", "RANGE PT5S SLIDE 1000ms", "RANGE 5000", "RANGE 5 SECONDS STEP 1 SECOND"):
        run = engine(f"SELECT ?x FROM NAMED :S WIN [{spelling}] AS :w WHERE {{ WINDOW :w {{ ?x :p ?y }} }}")
        run.push_all([event("2026-01-01T00:00:00Z", ":a :p :b ."), event("2026-01-01T00:00:05Z", ":c :p :b .")])
        assert [m.bindings["x"] for m in run.close()] == [IRI("http://example/c")]


def test_a_landmark_of_the_wrong_kind() -> None:
    run = engine("SELECT ?x FROM NAMED :S WIN [LND 2026-01-01T00:00:00Z] AS :w WHERE { WINDOW :w { ?x :p ?y } }")
    with pytest.raises(QueryError, match="the streams' timestamps are integers"):
        run.push(event(1, ":a :p :b ."))


def test_a_step_that_is_no_whole_number_of_units() -> None:
    run = engine("SELECT ?x FROM NAMED :S WIN [RANGE 5s STEP 1ms] AS :w WHERE { WINDOW :w { ?x :p ?y } }", time_unit="s")
    with pytest.raises(QueryError, match="no whole number of time units"):
        run.push(event(1, ":a :p :b ."))


def test_an_instant_of_the_wrong_kind() -> None:
    run = engine(
        "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?x :p ?y } }", evaluate_at=["2026-01-01T00:00:00Z"]
    )
    with pytest.raises(OptionError, match="evaluate_at"):
        run.push(event(1, ":a :p :b ."))


@pytest.mark.parametrize("policy", ["unrestricted", "chronological", "recent", "naive"])
def test_state_follows_the_window(policy: str) -> None:
    """1,000 items through windows of 20: what is kept does not grow."""
    run = engine(
        "SELECT ?x ?z FROM NAMED :S WIN [RANGE 20 STEP 1] AS :w\n" + EVENTS + "WHERE { MATCH { E1 SEQ E2 } }", policy=policy
    )
    sizes = []
    for time in range(1_000):
        run.push(event(time, ":a :p :b ." if time % 2 else f":b :q :c{time % 3} ."))
        sizes.append({k: v for k, v in run.state_size().items() if k != "texts"})
    assert max(size["mappings"] + size["candidates"] + size["waiting"] for size in sizes) <= 24
    assert max(size["answer"] for size in sizes[500:]) <= max(size["answer"] for size in sizes[:500]) <= 110


def test_consumed_items_of_a_landmark_window_are_let_go() -> None:
    run = engine(f"SELECT ?x {WINDOWS}{EVENTS} WHERE {{ MATCH {{ E1 SEQ E2 }} }}", policy="chronological")
    for time in range(200):
        run.push(event(time, ":a :p :b ." if time % 2 == 0 else ":b :q :c ."))
    assert run.state_size()["mappings"] <= 6


def test_a_landmark_left_side_forgets_pairs_whose_right_side_has_gone() -> None:
    run = engine(
        "SELECT ?x FROM NAMED :S WIN [LND 0] AS :w FROM NAMED :S WIN [RANGE 5] AS :v\n"
        "EVENT ON :w { ?x :p ?y } AS E1 EVENT ON :v { ?y :q ?z } AS E2 WHERE { MATCH { E1 SEQ E2 } }"
    )
    run.push(event(0, ":a :p :b ."))
    for time in range(1, 300):
        run.push(event(time, ":b :q :c ."))
    assert run.state_size()["answer"] <= 6 and run.state_size()["mappings"] <= 20


def test_a_left_side_that_enters_its_window_after_the_right_side() -> None:
    """E1 at 1 is inside from 4 on (STEP 4), E2 at 2 from 2 on: the pair is there at 4, not at 3."""
    run = engine(
        "SELECT ?x ?z FROM NAMED :S WIN [RANGE 10 STEP 4] AS :w FROM NAMED :S WIN [RANGE 10 STEP 1] AS :v\n"
        "EVENT ON :w { ?x :p ?y } AS E1 EVENT ON :v { ?y :q ?z } AS E2 WHERE { MATCH { E1 SEQ E2 } }"
    )
    found = run.push_all([event(1, ":a :p :b ."), event(2, ":b :q :c ."), event(3, ":z :z :z ."), event(4, ":z :z :z .")])
    assert found == []
    assert rows(run.close()) == [(1, 2, "x=a", "z=c")]
