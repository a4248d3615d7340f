"""What occurrences are divided by."""

from __future__ import annotations

from itertools import product

import pytest

from scepter.physical.distribution.cutting import Again
from scepter.physical.distribution.stages import Stages, stages
from scepter.physical.facts import Facts
from scepter.physical.nodes.event_nodes import _LEFT, _SAME
from scepter.physical.nodes.nodes import END, START, nodes
from scepter.physical.planning.planner import plan
from scepter.runtime.queries import parse
from scepter.timeline import Allen, Interval, TimeKind

INTERVALS = [Interval(start, end) for start, end in product(range(5), repeat=2) if start <= end]


@pytest.mark.parametrize("relation", Allen)
def test_the_ends_of_a_hull_are_those_of_a_side(relation: Allen) -> None:
    pairs = [(a, b) for a, b in product(INTERVALS, repeat=2) if relation.holds(a, b)]
    starts = {(min(a.start, b.start) == a.start, min(a.start, b.start) == b.start) for a, b in pairs}
    ends = {(max(a.end, b.end) == a.end, max(a.end, b.end) == b.end) for a, b in pairs}
    for name, found in ((START, starts), (END, ends)):
        assert all(left for left, _ in found) if relation in _LEFT[name] else all(right for _, right in found)
        assert all(left and right for left, right in found) == (relation in _SAME[name])


def divided(composite: str, returned: str = "E") -> Stages:
    logical = "PREFIX : <http://e/> EVENT A AS ClassA EVENT B AS ClassB EVENT C AS ClassC"
    unit = plan(
        parse(f"{logical} {composite} RETURN {returned} AS RDF STREAM", "obep").program, Facts(kind=TimeKind.INTEGER)
    ).units[0]
    found = stages(unit.root)
    assert isinstance(found, Stages)
    return found


@pytest.mark.parametrize(
    ("pattern", "sides"),
    [
        ("A AND B", [("the end", "the start")]),
        ("A STARTS B", [("the start",)]),
        ("A FINISHES B", [("the end",)]),
        ("A SEQ B", [("the assertions", "the end"), ("the start",)]),
        ("A OVERLAPS B", [("the end",), ("the start",)]),
        ("A DURING B", [("the assertions", "the end", "the start")]),
        ("(A SEQ B) SEQ C", [("the assertions", "the end"), ("the start",)]),
        ("FIRST A SEQ B", [("the assertions", "the end")]),
        ("A SEQ A", [("the assertions", "the end"), ("the start",)]),  # both roles of A are exchanges of their own
        ("NOT (A SEQ B)", [("the end",)]),
        ("FIRST A", []),
    ],
)
def test_occurrences_are_divided_by_what_they_show(pattern: str, sides: list[tuple[str, ...]]) -> None:
    assert sorted(each.variables for each in divided(f"EVENT E MATCH {pattern}").dimensions) == sides


def test_a_guards_variable_is_no_key_since_equal_occurrences_are_one() -> None:
    found = divided("EVENT E MATCH (A AS x) SEQ (B AS y) IF { EVENT x { ?c :p ?d } EVENT y { ?c :q ?d } }")
    assert found.why == "equal occurrences of different buckets are one"
    assert sorted(found.variables) == ["the assertions", "the end", "the start"]


def test_what_is_once_in_each_reading_task_is_made_so_again() -> None:
    found = divided("", "A")
    assert not found.why and sum(isinstance(node, Again) for node in nodes(found.above)) == 1
    assert [type(node).__name__ for node in found.told] == ["Contradictions"]


def test_events_that_stand_at_both_ends_of_others_are_sent_twice() -> None:
    found = divided("EVENT E MATCH A SEQ B EVENT F MATCH B SEQ A", "E, F")
    assert len(found.below) == 4 and len({id(node) for node in found.below}) == 2 and len(found.dimensions) == 2
