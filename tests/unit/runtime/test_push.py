from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness.feeding import S, events, feed, query, shown
from scepter import DataError, Engine, Event, OptionError, QueryError, parse
from scepter.rdf.batch import EventBatch
from scepter.rdf.formats import graphs_to_batch
from scepter.rdf.terms import IRI, Literal
from scepter.runtime import jumps, push
from scepter.runtime.engine import LocalEngine

GRAPH = "<http://e/x> <http://e/a> 1 ."


def engine(text: str | None = None, **options: object) -> Engine:
    return Engine(parse(text or query("A; B")), **options)  # type: ignore[arg-type]


# ---------------------------------------------------------------- when matches come


def test_a_match_comes_with_its_last_event() -> None:
    running = engine()
    first, second = events("1a 2b")
    assert running.push(first) == []
    assert [shown(m) for m in running.push(second)] == ["A1 B2"]


@pytest.mark.parametrize("name", ["S", S])
def test_a_stream_is_called_by_its_alias_too(name: str) -> None:
    running = engine()
    first, second = events("1a 2b")
    running.push_all([Event(name, each.triples, each.end) for each in (first, second)][:1])
    assert [shown(m) for m in running.push(Event(name, second.triples, 2, name="B2"))] != []
    with pytest.raises(OptionError, match="names no stream"):
        running.push(Event("T", second.triples, 3))


@pytest.mark.parametrize("name", ["S", ":s", "http://e/s"])
def test_a_stream_is_called_by_its_alias_beside_a_query_that_reads_every_stream(name: str) -> None:
    together = {
        "named": parse("PREFIX : <http://e/> SELECT ?x FROM STREAM S :s WHERE { SEQ (A) DEFINE GPM A ON S { ?x :p ?v } }"),
        "every": parse("PREFIX : <http://e/> SELECT ?x WHERE { ?x :p ?v }"),
    }
    told = [Event(name, ":a :p 1 .", time, prefixes={"": "http://e/"}) for time in (1, 2, 3)]
    running = Engine(together)
    found = [*running.push(told[0]), *running.push_all(told[1:]), *running.close()]
    assert Counter(match.query for match in found) == {0: 3, 1: 3}
    running = Engine(together)
    assert [
        match.query for match in running.push_all([Event("http://e/another", ":a :p 1 .", 1, prefixes={"": "http://e/"})])
    ] == [1]


def test_triples_of_texts_in_n_triples_form() -> None:
    said = Event(S, [("<http://e/x>", "<http://e/a>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>')], 1)
    assert said.triples == Event(S, GRAPH, 1).triples
    for wrong in ("http://e/x", '"text"', "x"):
        with pytest.raises(OptionError, match="is no RDF triple") as told:
            Event(S, [(wrong, "<http://e/a>", "<http://e/y>")], 1)
        assert "N-Triples form" in str(told.value)


def test_times_of_a_program_are_taken() -> None:
    """A datetime wherever an instant is asked for, a timedelta wherever a duration is."""
    running = engine(query("A; B", "WITHIN 10 SECONDS"), start=datetime(2026, 1, 1), max_delay=timedelta(seconds=5))
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    for when, graph in ((0, GRAPH), (4, GRAPH.replace("/a>", "/b>"))):
        assert running.push(Event(S, graph, noon + timedelta(seconds=when))) == []
    assert len(running.advance(noon + timedelta(seconds=9))) == 1
    with pytest.raises(OptionError, match="max_delay"):
        engine(max_delay=timedelta(seconds=-1))
    with pytest.raises(OptionError, match="is empty"):
        engine(evaluate_at=[])


@pytest.mark.parametrize("seq", ["A; B", "A: B", "A, B", "A, B+", "A; N!; B", "(A & B)", "(A | B): C"])
def test_events_of_one_time_in_any_order_give_each_match_once(seq: str) -> None:
    # time  1  2  2  2      each order of the three at 2
    #       a  ·  ·  ·
    wanted = None
    for order in itertools.permutations(["2a", "2b=1", "2b=2", "2c"]):
        said = sorted(word.partition(": ")[2] for word in feed(query(seq), "1a 1b " + " ".join(order) + " 3b 3n 4c"))
        wanted = said if wanted is None else wanted
        assert said == wanted
    assert wanted


def test_an_event_at_an_open_instant_is_processed_on_top_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # time  1  2  2  3      skip-till-next takes both at 2, and then nothing at 3
    #       a  b  b  b
    monkeypatch.setattr(LocalEngine, "undo", lambda self: pytest.fail("the instant is undone"))
    running = engine()
    told = [[shown(match) for match in running.push(event)] for event in events("1a 2b=1 2b=2 3b=3")]
    assert [len(each) for each in told] == [0, 1, 1, 0]


def test_a_solution_is_told_once_at_an_open_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    # two events say the same at 2: by mapping and interval there is one solution
    monkeypatch.setattr(LocalEngine, "undo", lambda self: pytest.fail("the instant is undone"))
    for relation in ("SEQ", "EQUALS"):
        running = engine(f"SELECT ?x WHERE {{ {{ ?x <http://e/a> 1 }} {relation} {{ ?x <http://e/b> ?v }} }}")
        at = 1 if relation == "SEQ" else 2
        told = [len(running.push(Event(S, GRAPH, at)))]
        told += [len(running.push(Event(S, "<http://e/x> <http://e/b> 1 .", 2))) for _ in range(2)]
        assert told == [0, 1, 0]


def test_where_events_of_one_time_go_together_the_instant_is_done_anew() -> None:
    running = engine(query("A; (B & C)"))
    told = [[shown(match) for match in running.push(event)] for event in events("1a 2b 2c")]
    assert [len(each) for each in told] == [0, 0, 1]


def test_many_events_of_one_time_do_not_repeat_what_was_said() -> None:
    running = engine(query("A: B"))
    running.push_all(events("1a"))
    counts = [len(running.push(event)) for event in events(" ".join(f"2b={i}" for i in range(30)))]
    assert counts == [1] * 30


def test_equal_rows_of_different_events_are_different_matches() -> None:
    # time  1  2  2     the two b are alike; ?a does not tell them apart
    #       a  b  b
    running = engine(query("A; B", select="SELECT ?a"))
    assert [len(running.push(event)) for event in events("1a 2b 2b")] == [0, 1, 1]


# ---------------------------------------------------------------- disorder


def test_with_a_delay_a_match_waits_for_the_watermark() -> None:
    # arrival  1a 4b 3b 6x      delay 2: at 6 the watermark is 4
    running = engine(max_delay=2)
    said = [[shown(m) for m in running.push(event)] for event in events("1a 4b 3b 6x")]
    assert said == [[], [], [], ["A1 B3"]]


def test_events_that_wait_are_taken_in_order_however_they_came() -> None:
    # arrival  5b | 4a 9a 3a 8b | 6x | 12x     delay 6: at 12 the watermark is 6
    running = engine(max_delay=6)
    running.push(events("5b")[0])
    running.push_all(events("4a 9a 3a 8b"))
    running.push(events("6x")[0])
    assert sorted(shown(m) for m in running.push(events("12x")[0])) == ["A3 B5", "A4 B5"]
    assert [shown(m) for m in running.close()] == []


def test_what_comes_behind_the_watermark_is_late_and_takes_part_in_nothing() -> None:
    running = engine(max_delay=2)
    assert [shown(m) for m in running.push_all(events("1a 10x 7b 8b"))] == ["A1 B8"]
    assert [(late.event.end, late.watermark) for late in running.late] == [(7, 8)]
    assert [letter.reason for letter in running.dead_letters] == ["late: 7 is behind the watermark 8"]
    assert running.close() == []


def test_without_a_delay_an_earlier_event_is_late() -> None:
    running = engine()
    assert running.push_all(events("5a 4b")) == []
    assert len(running.late) == 1
    assert [shown(m) for m in running.push(events("5b")[0])] == []
    assert [shown(m) for m in running.push(events("6b")[0])] == ["A5 B6"]


def test_advance_closes_windows_without_an_event() -> None:
    running = engine(query("A; N!"))
    running.push_all(events("1a"))
    assert running.advance(10) == []
    assert [m.end for m in running.advance(11)] == [11]
    assert running.advance(5) == []
    assert running.close() == []


def test_advance_counts_from_the_allowed_delay() -> None:
    running = engine(query("A; N!"), max_delay=5)
    running.push_all(events("1a"))
    assert running.advance(15) == []
    assert len(running.advance(16)) == 1


def test_advance_before_any_event_says_nothing() -> None:
    assert engine().advance(100) == []


# ---------------------------------------------------------------- the end


def test_close_twice_says_nothing_more_and_nothing_may_follow() -> None:
    running = engine(query("A; N!"))
    running.push_all(events("1a"))
    assert len(running.close()) == 1
    assert running.close() == []
    with pytest.raises(DataError, match="closed"):
        running.push(events("2a")[0])


def test_close_without_events_says_nothing() -> None:
    assert engine().close() == []


# ---------------------------------------------------------------- what is broken off


@pytest.mark.parametrize("step", ["take", "advance", "commit", "save"])
def test_after_a_step_that_was_broken_off_an_engine_takes_nothing(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    # time  1  2  2  3     Ctrl-C at the second b: the instant 2 was open, and more of it comes
    #       a  b  b  b
    running = engine(query("A: B"))
    running.push_all(events("1a 2b=1"))

    def interrupted(*given: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LocalEngine, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            running.push_all(events("2b=2 3b=3"))
    next_one = events("3b=3")[0]
    goes_on: list[Callable[[], object]] = [lambda: running.push(next_one), lambda: running.advance(9), running.close]
    for again in goes_on:
        with pytest.raises(DataError, match="a step of this engine was broken off") as caught:
            again()
        assert caught.value.code == "broken-off"


def test_so_it_does_after_a_limit_and_one_instant_has_its_limit_too() -> None:
    crowd = " . ".join(f"?x{i} :a ?y{i}" for i in range(6))
    pattern = f"SEQ (A) DEFINE GPM A ON S {{ {crowd} }}"
    running = engine(f"PREFIX : <http://e/> SELECT ?x0 WITHIN 5 FROM STREAM S <{S}> WHERE {{ {pattern} }}", max_runs=5)
    text = " ".join(f"<http://e/{i}> <http://e/a> {i} ." for i in range(200))
    with pytest.raises(DataError, match="an operator makes more than 1000000 rows at one instant") as caught:
        running.push(Event(S, text, 1))
    assert caught.value.code == "max-runs"
    with pytest.raises(DataError, match="broken off"):
        running.push(Event(S, GRAPH, 2))


def test_an_event_that_is_refused_breaks_nothing_off() -> None:
    running = engine()
    running.push_all(events("1a"))
    with pytest.raises(OptionError):
        running.push(Event("http://e/nowhere", GRAPH, 2))
    assert len(running.push_all(events("2b"))) == 1


def test_half_a_character_is_refused_before_it_is_pushed() -> None:
    for graph in ('<http://e/x> <http://e/a> "\ud800" .', [(IRI("http://e/x"), IRI("http://e/a"), Literal("\ud800"))]):
        with pytest.raises(OptionError, match="U\\+D800 alone"):
            Event(S, graph, 1)


# ---------------------------------------------------------------- what is refused


def test_an_unknown_stream_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OptionError):
        engine().push(Event("http://e/nowhere", GRAPH, 1))


def test_a_stream_the_query_makes_itself_is_refused() -> None:
    made = f"""PREFIX : <http://e/> CONSTRUCT {{ ?a :d 1 }} INTO STREAM <http://e/d> WITHIN 5 FROM STREAM S <{S}>
    WHERE {{ SEQ (A) DEFINE GPM A ON S {{ ?a :a ?v }} }}
    SELECT ?x WITHIN 5 FROM STREAM D <http://e/d> WHERE {{ SEQ (P) DEFINE GPM P ON D {{ ?x :d ?u }} }}"""
    with pytest.raises(OptionError, match="constructed by the query itself"):
        engine(made).push(Event("http://e/d", GRAPH, 1))


def test_one_query_sees_one_kind_of_time() -> None:
    running = engine()
    running.push(Event(S, GRAPH, 1))
    with pytest.raises(DataError, match="kind"):
        running.push(Event(S, GRAPH, "2026-01-01T00:00:00Z"))
    with pytest.raises(OptionError, match="kind"):
        running.advance("2026-01-01T00:00:00Z")


def test_a_start_of_another_kind_is_refused() -> None:
    with pytest.raises(OptionError, match="start"):
        engine(start="2026-01-01T00:00:00Z").push(Event(S, GRAPH, 1))


def test_a_delay_that_is_no_whole_tick_is_refused_each_time() -> None:
    running = engine(max_delay="500us")
    for _ in range(2):
        with pytest.raises(OptionError, match="max_delay"):
            running.push(Event(S, GRAPH, 1))


def test_a_window_that_is_no_whole_tick_is_refused() -> None:
    with pytest.raises(QueryError, match="whole number"):
        engine(query("A; B", "WITHIN 1500 MILLISECONDS"), time_unit="s").push(Event(S, GRAPH, 1))


@pytest.mark.parametrize("time", [1.5, True, "yesterday", [1]])
def test_what_is_no_time_is_refused(time: object) -> None:
    with pytest.raises(OptionError):
        Event(S, GRAPH, time)  # type: ignore[arg-type]


def test_events_need_triples_that_are_triples_and_a_start_before_the_end() -> None:
    with pytest.raises(OptionError, match="one or more triples"):
        Event(S, [], 1)
    with pytest.raises(OptionError, match="no RDF triple"):
        Event(S, [(Literal("x"), IRI("http://e/p"), Literal("y"))], 1)
    with pytest.raises(OptionError, match="ends before it starts"):
        Event(S, GRAPH, 2, 1)
    with pytest.raises(OptionError, match="different kinds"):
        Event(S, GRAPH, 1, "2026-01-01T00:00:00Z")


def test_times_may_be_datetimes_and_naive_ones_are_utc() -> None:
    aware, text = Event(S, GRAPH, datetime(2026, 1, 1, tzinfo=UTC)), Event(S, GRAPH, "2026-01-01T00:00:00Z")
    assert aware.end == text.end == Event(S, GRAPH, datetime(2026, 1, 1)).end


def test_a_match_keeps_its_events_when_the_engine_has_let_go_of_them() -> None:
    running = engine()
    first, second = events("1a 2b")
    (match,) = running.push_all([first, second])
    running.push_all(Event(S, "<http://e/x> <http://e/z> 1 .", 3 + i // 100) for i in range(20_000))
    assert running.state_size()["events"] < 10_000
    assert match.events == {"A": [first], "B": [second]}


SOSA = "http://www.w3.org/ns/sosa/"


def sensed(value: int, time: object, kind: str = "resultTime") -> Event:
    return Event("http://example/s", f'<http://example/x> <http://example/v> {value} ; <{SOSA}{kind}> "{time}" .')


def test_the_time_of_an_event_may_stand_in_its_graph() -> None:
    query = parse("""PREFIX : <http://example/>
        SELECT ?v WITHIN 10 FROM STREAM S <http://example/s>
        WHERE { SEQ (A; B) DEFINE GPM A ON S { ?x :v 1 } DEFINE GPM B ON S { ?x :v ?v } }""")
    engine = Engine(query, time_property="sosa")
    assert engine.push(sensed(1, 5)) == []
    [match] = engine.push(sensed(2, 9))
    assert (match.start, match.end) == (5, 9)
    with pytest.raises(DataError, match="has no time: none of its triples has sosa"):
        engine.push(sensed(3, 10, "madeAt"))
    with pytest.raises(DataError, match="'soon' is no xsd:dateTime"):
        engine.push(sensed(3, "soon"))
    with pytest.raises(DataError, match="has no time: it was given none"):
        Engine(query).push(sensed(3, 10))
    with pytest.raises(OptionError, match="an end and no start"):
        Event("http://example/s", "<http://example/x> <http://example/v> 1 .", None, 5)


def test_an_instant_done_again_finds_what_was_closed_before_it() -> None:
    text = "PREFIX : <http://example/> SELECT ?w ?v WHERE { { ?y :q ?w } SEQ { ?x :p ?v } }"
    running = Engine(parse(text, "ep-sparql"), policy="chronological")
    pushed = [(":a :q 1, 2 .", 0), (":a :p 1 ; :q 3 .", 1), (":a :p 1 .", 2), (":a :p 1 .", 2)]
    found = [
        match
        for graph, time in pushed
        for match in running.push(Event("http://example/s", "PREFIX : <http://example/> " + graph, time))
    ]
    found += running.close()
    assert [(match.start, match.end) for match in found] == [(0, 1), (0, 2)]


def test_many_events_at_one_instant_are_each_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    plain = graphs_to_batch

    def counted(given: list[list[tuple[str, str, str]]], *rest: Any) -> EventBatch:
        read.append(len(given))
        return plain(given, *rest)

    monkeypatch.setattr(push, "graphs_to_batch", counted)
    chain = parse("PREFIX : <http://e/> SELECT ?x ?a ?b WHERE { { ?x :p ?a } SEQ { ?x :q ?b } }", "ep-sparql")
    one_by_one, together = Engine(chain), Engine(chain)
    given = [Event("http://e/s", f"<http://e/x{i % 3}> <http://e/p> _:b .", 1) for i in range(20)]
    given += [Event("http://e/s", f"<http://e/x{i}> <http://e/q> {i} .", 2) for i in range(5)]
    matches = [match for event in given for match in one_by_one.push(event)]
    assert read == [1] * 25
    assert len(matches) == 20
    found = [*together.push_all(given), *together.close()]
    assert sorted((m.end, str(m.bindings["x"])) for m in found) == sorted((m.end, str(m.bindings["x"])) for m in matches)
    assert one_by_one.close() == []


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("disorder", [0, 3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_many_together_are_as_one_by_one(delay: int, disorder: int, seed: int) -> None:
    """In order and not, with late ones, more of an instant that is open already, and texts beyond ASCII."""
    drawn = random.Random(seed)
    text = "SELECT ?x ?a ?b WHERE { { ?x :p ?a } SEQ { ?x :q ?b } FILTER (getDURATION() < 5) }"
    chain = parse("PREFIX : <http://e/> " + text, "ep-sparql")
    given = []
    for i, end in enumerate(sorted(drawn.choices(range(40), k=120))):
        graph = f'<http://e/x{drawn.randint(0, 2)}> <http://e/{drawn.choice("pq")}> "é{i}" .'
        given.append(Event("http://e/s", graph, end - drawn.randint(0, 1), end))
    given.sort(key=lambda event: event.end + drawn.randint(0, disorder))
    one_by_one, together = Engine(chain, max_delay=delay), Engine(chain, max_delay=delay)
    wanted = [match for event in given for match in one_by_one.push(event)]
    found = []
    while given:
        size = drawn.choice([1, 20, 50])
        found += together.push_all(given[:size])
        del given[:size]
    wanted += one_by_one.close()
    found += together.close()
    assert wanted and Counter(map(str, wanted)) == Counter(map(str, found))
    assert [(late.event, late.watermark) for late in one_by_one.late] == [
        (late.event, late.watermark) for late in together.late
    ]


def test_texts_of_one_instant_are_kept_once_however_many_events_come_at_it() -> None:
    names = parse(
        "PREFIX : <http://e/> SELECT ?x ?n WHERE { { ?x :p ?a BIND (CONCAT(?a, '!') AS ?n) } SEQ { ?x :q ?b } }", "ep-sparql"
    )
    running, together = Engine(names), Engine(names)
    given = [Event("http://e/s", f"<http://e/x{i % 3}> <http://e/p> 'é{i}' .", 1) for i in range(200)]
    for event in given:
        running.push(event)
    assert running.state_size()["texts"] < 200 * 1000  # each redone instant would add up to 200 times 60 bytes
    given += [Event("http://e/s", f"<http://e/x{i}> <http://e/q> {i} .", 2) for i in range(3)]
    found = [match for event in given[200:] for match in running.push(event)]
    assert len(found) == 200
    wanted = [*together.push_all(given), *together.close()]
    assert sorted(str(match.row()) for match in found) == sorted(str(match.row()) for match in wanted)


def test_what_is_remembered_is_bounded_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push, "_REMEMBERED", 5)
    monkeypatch.setattr(jumps, "_MOST", 20)
    running = engine(max_advance=100)
    for time in (100, *range(20)):
        running.push(Event(S, GRAPH, time))
    assert [late.event.end for late in running.late] == [15, 16, 17, 18, 19]
    assert (running.state_size()["late"], len(running.dead_letters)) == (5, 5)
    for jump in range(1, 50):
        running.push(Event(S, GRAPH, 10_000 * jump))
    size = running.state_size()
    assert (size["held"], len(running.held), size["refused"]) == (20, 20, 5)
    assert "no other event confirms it" in running.dead_letters[0].reason
    running = engine(max_delay=10)
    running.push_all([Event(S, GRAPH, time) for time in (1, 5, 8)])
    assert running.state_size()["ahead"] == 3
