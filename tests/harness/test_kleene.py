"""Kleene+ (rule 7)."""

from __future__ import annotations

from harness.feeding import events, feed, query
from scepter import Engine, parse


def test_every_number_of_iterations_is_a_match() -> None:
    # time  1  2  3  4
    #       a  b  b  b
    assert feed(query("A, B+"), "1a 2b 3b 4b") == ["2: A1 B2", "3: A1 B2 B3", "4: A1 B2 B3 B4"]


def test_iterations_are_contiguous_and_what_follows_may_continue_any() -> None:
    # time  1  2  3  4  5  6
    #       a  b  b  x  b  c     x ends the iteration
    wanted = ["6: A1 B2 C6", "6: A1 B2 B3 C6"]
    assert feed(query("A; B+; C"), "1a 2b 3b 4x 5b 6c") == wanted


def test_leading_iterations_go_on_by_skip_till_next() -> None:
    # time  1  2  3  4
    #       b  x  b  c
    wanted = ["4: B1 C4", "4: B1 B3 C4", "4: B3 C4"]
    assert sorted(feed(query("B+; C"), "1b 2x 3b 4c")) == sorted(wanted)


def test_prev_is_true_in_the_first_iteration() -> None:
    # time  1  2    3    4
    #       a  b=5  b=7  b=6     rising
    rising = "?b :b ?vb FILTER (?vb > PREV(?vb))"
    assert feed(query("A, B+", B=rising), "1a 2b=5 3b=7 4b=6") == ["2: A1 B2", "3: A1 B2 B3"]


def test_aggregates_look_at_all_iterations() -> None:
    # time  1  2    3    4
    #       a  b=2  b=4  c
    select = "SELECT (COUNT(B.?vb) AS ?n) (SUM(B.?vb) AS ?s) (MIN(B.?vb) AS ?least) (LAST(B.?vb) AS ?l)"
    engine = Engine(parse(query("A, B+, C", select=select)))
    (match,) = engine.push_all(events("1a 2b=2 3b=4 4c"))
    values = {name: int(term.lexical) for name, term in match.bindings.items()}  # type: ignore[union-attr]
    assert values == {"n": 2, "s": 6, "least": 2, "l": 4}


def test_min_of_unlike_terms_follows_the_order_of_sparql() -> None:
    # time  1     2       plain strings stand after numbers
    #       b=1   b="a"
    engine = Engine(parse(query("B+", select="SELECT (MIN(B.?vb) AS ?least) (MAX(B.?vb) AS ?most)")))
    (both,) = [m for m in engine.push_all(events('1b=1 2b="a"')) if len(m.events["B"]) == 2]
    assert {name: term.lexical for name, term in both.bindings.items()} == {"least": "1", "most": "a"}  # type: ignore[union-attr]


def test_an_iteration_that_differs_only_in_values_bound_anew_is_one_match() -> None:
    # time  1            2
    #       b=1 and b=2  b=1       {e1, e2} with ?vb = 1 is one match, whatever the first iteration bound
    engine = Engine(parse(query("B+", select="SELECT (COUNT(B.?vb) AS ?n) ?vb")))
    found = engine.push_all(events("1b=1|b=2 2b=1"))
    assert sorted(str(m.bindings["n"])[1] + str(m.bindings["vb"])[1] for m in found) == ["11", "11", "12", "21"]
