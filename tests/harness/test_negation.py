"""Negation and optional atoms (rules 8 and 9)."""

from __future__ import annotations

import pytest

from harness.feeding import feed, query


def test_nothing_refused_may_stand_between() -> None:
    # time  1  2  3 | 4  5
    #       a  n  b | a  b
    assert feed(query("A; N!; B"), "1a 2n 3b 4a 5b") == ["5: A4 B5"]


def test_a_refused_event_at_the_very_time_of_the_last_does_not_count() -> None:
    # time  1  3  3
    #       a  b  n
    assert feed(query("A; N!; B"), "1a 3b 3n") == ["3: A1 B3"]


def test_a_negation_sees_the_run() -> None:
    # time  1    2    3
    #       a=5  n=4  b        only an n above 5 is refused
    only = "?n :n ?vn FILTER (?vn > ?va)"
    assert feed(query("A; N!; B", N=only), "1a=5 2n=4 3b") == ["3: A1 B3"]
    assert feed(query("A; N!; B", N=only), "1a=5 2n=6 3b") == []


def test_before_strict_contiguity_one_event_may_stand_between() -> None:
    # time  1  2  3       x is the next event and no n; then b
    #       a  x  b
    assert feed(query("A, N!, B"), "1a 2x 3b") == ["3: A1 B3"]
    assert feed(query("A, N!, B"), "1a 2n 3b") == []
    assert feed(query("A, N!, B"), "1a 2b") == ["2: A1 B2"]
    assert feed(query("A, N!, B"), "1a 2x 3x 4b") == []


def test_a_leading_negation_looks_back_to_the_start_of_the_window() -> None:
    # time  1  5  7      10 wide: n is within reach of 7
    #       n  a  b
    assert feed(query("N!; A; B", "WITHIN 10 SLIDING"), "1n 5a 7b") == []
    # time  1  11  12    12 - 10 = 2: out of reach
    #       n  a   b
    assert feed(query("N!; A; B", "WITHIN 10 SLIDING"), "1n 11a 12b") == ["12: A11 B12"]


def test_a_trailing_negation_fires_when_the_window_closes() -> None:
    # time  1  2  ... 11 | 12
    #       a  b         | x      1 + 10 = 11 has passed at 12
    assert feed(query("A; B; N!"), "1a 2b 12x") == ["12: A1 B2"]
    assert feed(query("A; B; N!"), "1a 2b 11n 12x") == []
    assert feed(query("A; B; N!"), "1a 2b") == ["end: A1 B2"]


def test_an_optional_atom_is_taken_or_nothing_of_it_is_there() -> None:
    # time  1  2  3 | 4  5
    #       a  o  b | a  b
    assert feed(query("A; O?; B"), "1a 2o 3b 4a 5b") == ["3: A1 O2 B3", "5: A4 B5"]


@pytest.mark.parametrize("both", ["7c@x=1|c@y=1", "7c@y=1|c@x=1"])
def test_a_refused_run_takes_none_with_it_that_differs_in_an_earlier_iteration(both: str) -> None:
    # time  3     7           8
    #       n(x)  c(x), c(y)  c(z)      the run that began with x is refused, the one that began with y goes on
    text = query("N!; C+", "WITHIN 12", N="?c :n ?v", C="?c :c ?v")
    assert feed(text, f"3n@x=1 {both} 8c@z=6") == ["7: C7", "8: C7 C8", "8: C8"]
