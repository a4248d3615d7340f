"""Windows (rule 10)."""

from __future__ import annotations

from harness.feeding import feed, query


def test_a_sliding_window_bounds_each_match_and_includes_its_end() -> None:
    # time  1 ... 6   7
    #       a     b   b      5 wide: 1 to 6
    assert feed(query("A: B", "WITHIN 5 SLIDING"), "1a 6b 7b") == ["6: A1 B6"]


def test_a_tumbling_window_is_half_open() -> None:
    # time  8  9 | 10  11 | 20
    #       a  b | b   a  | b       windows of 10 from 0
    assert feed(query("A: B", "WITHIN 10"), "8a 9b 10b 11a 20b") == ["9: A8 B9"]


def test_tumbling_windows_begin_at_the_start_and_nothing_before_it_is_seen() -> None:
    # start 3: windows 3..7, 8..12
    # time  1  4  7 | 8
    #       a  a  b | b
    assert feed(query("A: B", "WITHIN 5"), "1a 4a 7b 8b", start=3) == ["7: A4 B7"]


def test_a_window_of_events_counts_those_of_the_streamset() -> None:
    # time  1  2  3  4  5
    #       a  x  b  x  b      three events: 1 2 3
    assert feed(query("A: B", "WITHIN 3 EVENTS"), "1a 2x 3b 4x 5b") == ["4: A1 B3"]


def test_events_at_the_last_instant_can_still_overfill_a_window_of_events() -> None:
    # time  1  2  2  3
    #       a  b  x  x       at 2 there are three events in [1, 2]
    assert feed(query("A: B", "WITHIN 2 EVENTS"), "1a 2b 2x 3x") == []


def test_the_start_of_an_interval_counts_for_the_window() -> None:
    # time  1----6   8
    #       a        b       5 wide, from the start 1
    assert feed(query("A; B", "WITHIN 5 SLIDING"), "1-6a 8b") == []
    assert feed(query("A; B", "WITHIN 7 SLIDING"), "1-6a 8b") == ["8: A6 B8"]
