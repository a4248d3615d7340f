"""Sequences of two labels in columns: the corners of each policy, and what is kept."""

from __future__ import annotations

from typing import Any

import pytest

import scepter

NS = "http://example/"
EVENTS = "EVENT ON :w { ?x :p ?y } AS E1 EVENT ON :w { ?y :q ?z } AS E2"


def text(match: str, extent: str = "RANGE 5", report: str = "", head: str = "SELECT ?x ?y ?z", events: str = EVENTS) -> str:
    return f"PREFIX : <{NS}> {head} FROM NAMED :S WIN [{extent}] AS :w {events} {report} WHERE {{ MATCH {{ {match} }} }}"


def event(start: int, triples: str, end: int | None = None) -> scepter.Event:
    return scepter.Event(f"{NS}S", triples, start, end, prefixes={"": NS})


def rows(matches: list[scepter.Match]) -> list[tuple[int, int, str]]:
    found = []
    for match in matches:
        letters = "".join(str(term)[-2] for _, term in sorted(match.bindings.items()))
        found.append((match.start, match.end, letters))
    return sorted(found)


def answers(query: str, *given: scepter.Event, **options: Any) -> list[tuple[int, int, str]]:
    engine = scepter.Engine(scepter.parse(query, "rsep-ql"), **options)
    return rows(engine.push_all(given) + engine.close())


def test_the_first_of_a_window_changes_when_it_goes_and_nothing_comes() -> None:
    """(t-5, t]: p at 1 and 2, q at 3. At 6, by an item that no label matches, the first p is the one at 2."""
    given = [event(1, ":a :p :b ."), event(2, ":c :p :b ."), event(3, ":b :q :d ."), event(6, ":z :z :z .")]
    assert answers(text("FIRST E1 SEQ E2"), *given) == [(1, 3, "abd"), (2, 3, "cbd")]


def test_naive_takes_what_is_last_after_the_last_has_gone_only_if_it_is_before() -> None:
    """The last q is at 3 with p at 4 behind it: nothing, until p at 4 has gone; by then q at 3 has gone too."""
    given = [event(1, ":a :p :b ."), event(3, ":b :q :d ."), event(4, ":c :p :b ."), event(6, ":z :z :z .")]
    assert answers(text("E1 SEQ NAIVE E2"), *given) == [(1, 3, "abd")]


def test_a_mapping_that_comes_about_in_two_ways_is_one() -> None:
    """p lasts from 1 to 2 and from 1 to 3: with q at 5 the same mapping, from both items."""
    given = [event(1, ":a :p :b .", 2), event(1, ":a :p :b .", 3), event(5, ":b :q :d ."), event(8, ":b :q :e .")]
    engine = scepter.Engine(scepter.parse(text("E1 SEQ E2", "RANGE 6"), "rsep-ql"))
    matches = engine.push_all(given) + engine.close()
    assert rows(matches) == [(1, 5, "abd"), (1, 8, "abe")]
    assert [match.events["E1"] for match in matches] == [given[:2], given[1:2]]
    # when the shorter one has gone, the mapping is still there: not new again
    assert answers(text("E1 SEQ E2", "RANGE 6"), *given[:3], event(8, ":z :z :z .")) == [(1, 5, "abd")]


def test_after_a_match_is_consumed_the_next_multiple_selects_among_the_rest() -> None:
    """p at 1, 2; q at 3, 4, all seen at 10: one match per multiple until nothing is left."""
    given = [
        event(1, ":a :p :b ."),
        event(2, ":c :p :b ."),
        event(3, ":b :q :d ."),
        event(4, ":b :q :e ."),
        event(29, ":z :z :z ."),
    ]
    query = text("E1 SEQ CHRONOLOGICAL E2", "RANGE 100 STEP 10", "REPORT ON WINDOW CLOSE")
    engine = scepter.Engine(scepter.parse(query, "rsep-ql"))
    assert rows(engine.push_all(given[:4]) + engine.advance(10)) == [(1, 3, "abd")]
    assert rows(engine.advance(19)) == []
    assert rows(engine.advance(20)) == [(2, 4, "cbe")]
    assert engine.close() == []


def test_an_item_is_consumed_as_a_whole_and_only_where_it_was_selected() -> None:
    both = event(2, ":b :q :d . :e :p :b .")
    given = [event(1, ":a :p :b ."), both, event(3, ":b :q :f .")]
    # its p would go with q at 3, had the item not been consumed for its q
    assert answers(text("E1 SEQ RECENT E2"), *given) == [(1, 2, "abd")]
    apart = text("E1 SEQ RECENT E2", events=EVENTS.replace("EVENT ON :w { ?y", "EVENT ON :v { ?y")).replace(
        "EVENT", "FROM NAMED :S WIN [RANGE 5] AS :v EVENT", 1
    )
    assert answers(apart, *given) == [(1, 2, "abd"), (2, 3, "ebf")]


def test_an_item_that_is_given_twice_is_one_mapping_from_two_events() -> None:
    given = [event(1, ":a :p :b ."), event(1, ":a :p :b ."), event(2, ":b :q :d .")]
    engine = scepter.Engine(scepter.parse(text("E1 SEQ CHRONOLOGICAL E2"), "rsep-ql"))
    (match,) = engine.push_all(given) + engine.close()
    assert match.events == {"E1": given[:2], "E2": given[2:]}


def test_rows_that_differ_in_what_is_not_selected_are_counted() -> None:
    given = [event(1, ":a :p :b , :c ."), event(2, ":b :q :d . :c :q :d .")]
    assert answers(text("E1 SEQ E2", head="SELECT ?x ?z"), *given) == [(1, 2, "ad"), (1, 2, "ad")]


@pytest.mark.parametrize("match", ["E1 SEQ E2", "LAST E1 SEQ E2", "E1 SEQ RECENT E2", "E1 SEQ NAIVE E2"])
def test_state_is_as_wide_as_the_window(match: str) -> None:
    """5,000 items, each key once: windows, slots and rows are let go."""
    engine = scepter.Engine(scepter.parse(text(match, "RANGE 20"), "rsep-ql"))
    found = 0
    for first in range(0, 5_000, 500):
        some = [event(i, f":a{i} :p :b{i} ." if i % 2 else f":b{i - 1} :q :c .") for i in range(first, first + 500)]
        found += len(engine.push_all(some))
    sizes = engine.state_size()
    assert found == 2_499
    assert sizes["mappings"] <= 21 and sizes["answer"] <= 10 and sizes["waiting"] + sizes["candidates"] <= 3
    assert sizes["events"] < 5_000


def test_texts_that_move_keep_their_meaning() -> None:
    """More text than the arena holds before it is compacted, while p waits in a wide window for q."""
    engine = scepter.Engine(scepter.parse(text("E1 SEQ E2", "RANGE 1000000"), "rsep-ql"))
    engine.push(event(1, ":a :p :b ."))
    filler = "x" * 1_000_000
    for i in range(2, 80):
        engine.push(event(i, f":s :r :{filler}{i} ."))
    assert rows(engine.push_all([event(100, ":b :q :d ."), event(101, ":z :z :z .")])) == [(1, 100, "abd")]


@pytest.mark.parametrize("extent", ["RANGE 9223372036854775807", "RANGE 1000000000000000000", "LND -9223372036854775804"])
@pytest.mark.parametrize("at", [0, 9223372036854775800, -9223372036854775800])
def test_the_ends_of_time(extent: str, at: int) -> None:
    given = [event(at + 1, ":a :p :b ."), event(at + 3, ":b :q :d ."), event(at + 4, ":z :z :z .")]
    assert answers(text("E1 SEQ E2", extent), *given) == [(at + 1, at + 3, "abd")]


def test_a_huge_window_is_evaluated_when_it_moves() -> None:
    given = [event(1, ":a :p :b ."), event(3, ":b :q :d ."), event(4, ":z :z :z .")]
    assert answers(text("E1 SEQ E2", "RANGE 1000000000000000000", "REPORT ON WINDOW CLOSE"), *given) == [(1, 3, "abd")]
