"""Strict contiguity, skip-till-next, skip-till-any (rules 3 to 5)."""

from __future__ import annotations

from harness.feeding import feed, query


def test_strict_takes_the_very_next_instant() -> None:
    # time  1  2  3  4
    #       a  b  a  c  then b at 5: c stands between
    assert feed(query("A, B"), "1a 2b 3a 4c 5b") == ["2: A1 B2"]


def test_strict_takes_every_event_of_the_next_instant() -> None:
    # time  1  2   2     2
    #       a  b=1 c     b=2
    assert feed(query("A, B"), "1a 2b=1 2c 2b=2") == ["2: A1 B2", "2: A1 B2"]


def test_strict_does_not_take_its_own_instant() -> None:
    # time  1    1
    #       a    b
    assert feed(query("A, B"), "1a 1b") == []


def test_next_skips_what_does_not_fit() -> None:
    # time  1    2    3    4    5
    #       a=5  b=4  c    b=6  b=7
    assert feed(query("A; B", B="?b :b ?vb FILTER (?vb > ?va)"), "1a=5 2b=4 3c 4b=6 5b=7") == ["4: A1 B4"]


def test_next_takes_all_events_at_the_earliest_time() -> None:
    # time  1    3    3    4
    #       a    b=1  b=2  b=3
    assert feed(query("A; B"), "1a 3b=1 3b=2 4b=3") == ["3: A1 B3", "3: A1 B3"]


def test_any_takes_all_of_them() -> None:
    # time  1  2  3  4  5
    #       a  b  a  b  b
    wanted = ["2: A1 B2", "4: A1 B4", "4: A3 B4", "5: A1 B5", "5: A3 B5"]
    assert feed(query("A: B"), "1a 2b 3a 4b 5b") == wanted


def test_one_run_per_mapping_of_an_event() -> None:
    # time  1                2
    #       a of x and of y  b of y
    assert feed(query("A; B", A="?h :a ?va", B="?h :b ?vb"), "1a@x|a@y 2b@y") == ["2: A1 B2"]


def test_an_interval_is_seen_at_its_end() -> None:
    # time  1    2----5    6
    #       a    b         b       the match starts with the least start
    assert feed(query("A; B"), "1a 2-5b 6b") == ["5: A1 B5"]


def test_a_float_is_compared_as_a_float() -> None:
    # time  1             2
    #       a=0.70000001  b=0.7 as xsd:float: the float nearest to both is the same, though its value is below a's
    single = '"0.7"^^<http://www.w3.org/2001/XMLSchema#float>'
    assert feed(query("A; B", B="?b :b ?vb FILTER (?vb >= ?va)"), f"1a=0.70000001 2b={single}") == ["2: A1 B2"]
