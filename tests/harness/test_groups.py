"""Conjunction, disjunction and partitions (rules 6 and 14)."""

from __future__ import annotations

from harness.feeding import events, feed, query
from scepter import Engine, parse


def test_a_conjunction_takes_events_of_one_time() -> None:
    # time  1  1  2  3
    #       a  b  a  b
    assert feed(query("(A & B)"), "1a 1b 2a 3b") == ["1: A1 B1"]


def test_one_event_may_be_both_sides_of_a_conjunction() -> None:
    # time  1
    #       a and b in one event
    assert feed(query("(A & B)"), "1a|b") == ["1: A1 B1"]


def test_filters_of_one_side_see_the_other() -> None:
    # time  1    1    2    2
    #       a=1  b=2  a=2  b=1
    assert feed(query("(A & B)", B="?b :b ?vb FILTER (?vb > ?va)"), "1a=1 1b=2 2a=2 2b=1") == ["1: A1 B1"]


def test_many_at_one_time_are_joined_by_what_they_share() -> None:
    # time  1       1       …   1       1          each house has an a and a b, all at one time
    #       a@x0    b@x0        a@x999  b@x999
    bodies = {"A": "?h :a ?va", "B": "?h :b ?vb FILTER (?vb > ?va)"}
    timeline = " ".join(f"1a@x{n}={n} 1b@x{n}={n + n % 2}" for n in range(1000))
    engine = Engine(parse(query("(A & B)", **bodies), "spaseq"))
    found = [*engine.push_all(events(timeline)), *engine.close()]
    assert sorted(int(match.bindings["va"].lexical) for match in found) == list(range(1, 1000, 2))  # type: ignore[union-attr]


def test_filters_between_sides_are_exact_where_float64_is_not() -> None:
    # time  1                  1                  2                  2
    #       a=9007199254740992 b=9007199254740993 a=9007199254740993 b=9007199254740993
    timeline = "1a=9007199254740992 1b=9007199254740993 2a=9007199254740993 2b=9007199254740993"
    assert feed(query("(A & B)", B="?b :b ?vb FILTER (?vb > ?va)"), timeline) == ["1: A1 B1"]
    assert feed(query("(A & B)", B="?b :b ?vb FILTER (?vb = ?va)"), timeline) == ["2: A2 B2"]


def test_filters_between_sides_look_at_the_event_that_wrote_them() -> None:
    # time  1      1    2    2         c must be said by the event of b, of the value of a
    #       a=1|c  b    a=1  b|c=1
    body = "?b :b ?vb FILTER EXISTS { ?x :c ?va }"
    assert feed(query("(A & B)", B=body), "1a=0|c 1b 2a=1 2b|c=1 3a=1 3b|c=2") == ["2: A2 B2"]


def test_each_filter_between_sides_counts() -> None:
    # time  1    1    2    2    3    3
    #       a=1  b=2  a=1  b=9  a=1  b=0
    body = "?b :b ?vb FILTER (?vb > ?va) FILTER (STRLEN(CONCAT(STR(?va), STR(?vb))) = 2 && ?vb + ?va < 9)"
    assert feed(query("(A & B)", B=body), "1a=1 1b=2 2a=1 2b=9 3a=1 3b=0") == ["1: A1 B1"]


def test_a_disjunction_takes_either() -> None:
    # time  1  2  3
    #       a  c  b
    assert feed(query("A: (B | C)"), "1a 2c 3b") == ["2: A1 C2", "3: A1 B3"]


def test_and_binds_tighter_than_or() -> None:
    # time  1  2  2
    #       a  b  c
    assert feed(query("(A | B & C)"), "1a 2b 2c") == ["1: A1", "2: B2 C2"]


def test_each_partition_is_a_stream_of_its_own() -> None:
    # time   1     2     3       contiguity per house
    # x      a           b
    # y            a
    bodies = {"A": "?h :a ?va", "B": "?h :b ?vb"}
    assert feed(query("A, B", "WITHIN 10 SLIDING PARTITION BY (?h)", **bodies), "1a@x 2a@y 3b@x") == ["3: A1 B3"]
    assert feed(query("A, B", **bodies), "1a@x 2a@y 3b@x") == []


def test_an_event_that_only_a_filter_refuses_is_in_the_partition() -> None:
    # time   1    2      3       b=1 is refused by the filter, and stands between
    # x      a    b=1    b=9
    bodies = {"A": "?h :a ?va", "B": "?h :b ?vb FILTER (?vb > 5)"}
    assert feed(query("A, B", "WITHIN 10 SLIDING PARTITION BY (?h)", **bodies), "1a 2b=1 3b=9") == []
