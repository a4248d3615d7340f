"""Sequences after a sequence that selects: values that are kept, and let go when what they rest on has gone."""

from __future__ import annotations

import scepter

NS = "http://example/"
QUERY = """PREFIX : <http://example/> REGISTER {output} :out AS SELECT *
FROM NAMED :S WIN [{wide}] AS :w  FROM NAMED :S WIN [{narrow}] AS :n
EVENT ON :w {{ ?x :p ?y }} AS A  EVENT ON :n {{ ?y :q ?z }} AS B  EVENT ON :w {{ ?z :r ?v }} AS C
WHERE {{ MATCH {{ {match} }} }}"""


def rows(match: str, *given: tuple[int, str], output: str = "DSTREAM", wide: str = "LND 0", narrow: str = "RANGE 3") -> object:
    text = QUERY.format(output=output, wide=wide, narrow=narrow, match=match)
    engine = scepter.Engine(scepter.parse(text, "rsep-ql"))
    events = [scepter.Event(f"{NS}S", triples, time, prefixes={"": NS}) for time, triples in given]
    return [(match.start, match.end) for match in engine.push_all(events) + engine.close()]


PATH = ((1, ":a :p :b ."), (3, ":b :q :c ."), (5, ":c :r :d ."))
LATER = (6, ":z :z :z .")


def test_a_value_goes_with_the_right_side_it_rests_on() -> None:
    """B's window is (t-3, t]: at 6 the B at 3 has gone, while A and C stay."""
    assert rows("(LAST A SEQ B) SEQ C", *PATH, LATER) == [(1, 5)]
    assert rows("(LAST A SEQ B) SEQ C", *PATH, LATER, narrow="RANGE 4") == []


def test_a_value_goes_with_the_left_side_it_rests_on() -> None:
    assert rows("(A SEQ NAIVE B) SEQ C", *PATH, LATER, wide="RANGE 5", narrow="RANGE 9") == [(1, 5)]


def test_the_last_stands_in_the_way_of_naive_and_of_no_other_policy() -> None:
    """At 5 the last B before C is one that no A fits."""
    blocked = ((1, ":a :p :b ."), (3, ":b :q :c ."), (4, ":o :q :c ."), (5, ":c :r :d ."), (7, ":z :z :z ."))
    assert rows("(A SEQ NAIVE B) SEQ C", *blocked, output="ISTREAM", narrow="RANGE 9") == []
    assert rows("(A SEQ CHRONOLOGICAL B) SEQ C", *blocked, output="ISTREAM", narrow="RANGE 9") == [(1, 5)]


def test_values_are_found_once() -> None:
    """Kept values are as many as there are right sides, and go with them."""
    text = QUERY.format(output="ISTREAM", wide="RANGE 20", narrow="RANGE 20", match="(LAST A SEQ B) SEQ C")
    engine = scepter.Engine(scepter.parse(text, "rsep-ql"))
    triples = (":a :p :b .", ":b :q :c .", ":c :r :d .")
    for time in range(300):
        engine.push(scepter.Event(f"{NS}S", triples[time % 3], time, prefixes={"": NS}))
    mappings = engine.state_size()["mappings"]
    assert mappings < 20 + 20 + 100
    engine.push(scepter.Event(f"{NS}S", triples[0], 1_000, prefixes={"": NS}))
    engine.advance(2_000)
    assert engine.state_size()["mappings"] <= 1
