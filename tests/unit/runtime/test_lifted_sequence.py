"""Chains of SEQ in the columnar kernel: the edges of the duration bound, and intervals that touch."""

from __future__ import annotations

import pytest

from scepter import Engine, Event, parse

STREAM = "http://example/s"
CHAIN = "PREFIX : <http://example/> SELECT ?a ?b WHERE { { :x :p ?a } SEQ { :x :p ?b } FILTER (%s) }"


def answers(condition: str, *events: tuple[int, int, int]) -> list[tuple[int, int]]:
    engine = Engine(parse(CHAIN % condition, "ep-sparql"))
    found = []
    for value, start, end in events:
        found += engine.push(Event(STREAM, f"<http://example/x> <http://example/p> {value} .", start, end))
    return sorted((match.start, match.end) for match in [*found, *engine.close()])


#   0 ...... 9 10
#   1        2  3
@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("getDURATION() < 10", [(0, 9), (9, 10)]),
        ("getDURATION() <= 10", [(0, 9), (0, 10), (9, 10)]),
        ("10 > getDURATION()", [(0, 9), (9, 10)]),
        ("10 >= getDURATION()", [(0, 9), (0, 10), (9, 10)]),
    ],
)
def test_the_edge_of_the_bound(condition: str, wanted: list[tuple[int, int]]) -> None:
    assert answers(condition, (1, 0, 0), (2, 9, 9), (3, 10, 10)) == wanted


#   0----3
#        3----5      touches: does not follow
#          4-----6   follows the first
def test_an_interval_follows_only_after_the_end() -> None:
    assert answers("?a < ?b", (1, 0, 3), (2, 3, 5), (3, 4, 6)) == [(0, 6)]


def test_a_mapping_and_its_interval_are_one_solution() -> None:
    assert answers("?a < ?b", (1, 0, 0), (1, 0, 0), (2, 1, 1)) == [(0, 1)]
