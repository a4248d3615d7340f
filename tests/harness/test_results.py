"""SELECT, DISTINCT, CONSTRUCT, ASK, chains of queries, the events of a match (rules 11 and 12)."""

from __future__ import annotations

from harness.feeding import S, T, events, query
from scepter import BlankNode, Engine, parse


def test_distinct_compares_bindings_with_start_and_end() -> None:
    # time  1  2    2       both b bind the same ?a
    #       a  b=1  b=2
    plain, distinct = (Engine(parse(query("A; B", select=f"SELECT {word} ?a"))) for word in ("", "DISTINCT"))
    stream = events("1a 2b=1 2b=2")
    assert len(plain.push_all(stream)) == 2
    assert len(distinct.push_all(stream)) == 1


def test_distinct_holds_over_the_pushes_of_one_instant() -> None:
    # time  1  2    2       pushed one by one
    #       a  b=1  b=2
    engine = Engine(parse(query("A; B", select="SELECT DISTINCT ?a")))
    assert [len(engine.push(event)) for event in events("1a 2b=1 2b=2")] == [0, 1, 0]


def test_ask_answers_once() -> None:
    # time  1  2  3  4
    #       a  b  a  b
    engine = Engine(parse(query("A; B", select="ASK")))
    answers = [engine.push(event) for event in events("1a 2b 3a 4b")]
    assert [[m.boolean for m in found] for found in answers] == [[], [True], [], []]
    assert engine.close() == []


def test_construct_makes_fresh_blank_nodes_for_each_match() -> None:
    # time  1  2  3
    #       a  b  b
    engine = Engine(parse(query("A: B", select="CONSTRUCT { _:m :of ?a . _:m :value ?vb }")))
    first, second = engine.push_all(events("1a 2b=5 3b=6"))
    nodes = [{t.subject for t in m.graph or ()} for m in (first, second)]
    assert all(len(found) == 1 and isinstance(next(iter(found)), BlankNode) for found in nodes)
    assert nodes[0] != nodes[1]


def test_what_is_constructed_into_a_stream_is_read_by_the_next_query() -> None:
    # time      1  2  3  4
    # S         a  b  a  b
    # derived      d     d      two of them make an alarm
    text = f"""PREFIX : <http://e/> CONSTRUCT {{ ?a :d ?vb }} INTO STREAM <{T}> WITHIN 10 SLIDING FROM STREAM S <{S}>
    WHERE {{ SEQ (A, B) DEFINE GPM A ON S {{ ?a :a ?va }} DEFINE GPM B ON S {{ ?b :b ?vb }} }}
    SELECT ?u ?w WITHIN 10 SLIDING FROM STREAM D <{T}>
    WHERE {{ SEQ (P; Q) DEFINE GPM P ON D {{ ?x :d ?u }} DEFINE GPM Q ON D {{ ?y :d ?w }} }}"""
    engine = Engine(parse(text))
    found = [engine.push(event) for event in events("1a 2b=5 3a 4b=6")]
    assert [len(matches) for matches in found] == [0, 0, 0, 1]
    (match,) = found[3]
    assert (match.start, match.end) == (1, 4)
    assert {name: str(term)[1] for name, term in match.bindings.items()} == {"u": "5", "w": "6"}


def test_several_queries_in_one_file_answer_side_by_side() -> None:
    # time  1  2
    #       a  b
    both = query("A; B") + "\n" + query("B", select="SELECT ?vb").removeprefix("PREFIX : <http://e/> ")
    engine = Engine(parse(both))
    found = engine.push_all(events("1a 2b"))
    assert sorted((m.query, m.start, m.end) for m in found) == [(0, 1, 2), (1, 2, 2)]


def test_a_match_holds_the_very_events_that_were_pushed() -> None:
    # time  1  2  3
    #       a  b  b
    engine = Engine(parse(query("A, B+")))
    stream = events("1a 2b 3b")
    *_, last = engine.push_all(stream)
    assert last.events == {"A": [stream[0]], "B": [stream[1], stream[2]]}
    assert last.events["A"][0] is stream[0]
