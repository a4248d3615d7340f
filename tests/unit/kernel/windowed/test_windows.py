"""Windows as time goes on: what is inside, what the union holds, when something changes."""

from __future__ import annotations

import random

import pytest

from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.windowed.content import LandmarkBounds, TimeBounds, WindowContent
from scepter.kernel.windowed.items import Item
from scepter.kernel.windowed.union import UnionGraph
from scepter.rdf.terms import IRI, Triple


def triple(s: str, p: str, o: str) -> Triple:
    return Triple(IRI(s), IRI(p), IRI(o))


def test_a_landmark_window_has_everything_from_its_start_on() -> None:
    bounds = LandmarkBounds(3)
    assert (bounds.first(10), bounds.last(10), bounds.exit(5)) == (3, 10, None)


@pytest.mark.parametrize("t", range(-12, 30))
@pytest.mark.parametrize(("width", "step"), [(5, 1), (3, 4), (4, 4), (7, 3), (1, 1)])
def test_a_time_window_is_that_of_the_last_step(width: int, step: int, t: int) -> None:
    bounds = TimeBounds(width, step)
    moved = t // step * step
    inside = [time for time in range(-40, 40) if bounds.first(t) <= time <= bounds.last(t)]
    assert inside == [time for time in range(-40, 40) if moved - width < time <= moved]


@pytest.mark.parametrize(("width", "step"), [(5, 1), (3, 4), (4, 4), (7, 3)])
def test_items_enter_and_leave_when_the_bounds_say_so(width: int, step: int) -> None:
    bounds = TimeBounds(width, step)
    for time in range(-6, 12):
        inside = [t for t in range(-20, 40) if bounds.first(t) <= time <= bounds.last(t)]
        gone = bounds.exit(time)
        assert gone is not None
        assert not inside or (bounds.entry(time), gone) == (inside[0], inside[-1] + 1)


def test_the_union_counts_its_triples() -> None:
    content = WindowContent(TimeBounds(3, 1))
    content.graph = UnionGraph()
    shared, own = triple("a", "p", "b"), triple("c", "p", "d")
    content.arrive(Item(1, 1, (shared, own)))
    content.arrive(Item(3, 3, (shared,)))
    assert content.advance(3)
    assert set(content.graph) == {shared, own}
    assert content.advance(4)
    assert set(content.graph) == {shared}
    assert content.advance(6) and not len(content.graph) and not len(content)
    assert not content.advance(7)


def test_an_item_that_no_evaluation_sees_costs_nothing() -> None:
    content = WindowContent(TimeBounds(2, 1))
    content.graph = UnionGraph()
    content.arrive(Item(1, 1, (triple("a", "p", "b"),)))
    assert not content.advance(50)
    assert (len(content), len(content.graph), content.next_change()) == (0, 0, None)


def test_the_union_answers_as_a_graph_of_its_triples_does() -> None:
    """Indexes follow random changes, asked in every way."""
    dice = random.Random(7)
    union = UnionGraph()
    held: list[tuple[Triple, ...]] = []
    for _ in range(400):
        if held and dice.random() < 0.5:
            union.remove(held.pop(dice.randrange(len(held))))
        else:
            held.append(tuple({triple(dice.choice("abc"), dice.choice("pq"), dice.choice("abcd")) for _ in range(3)}))
            union.add(held[-1])
        plain = Graph(t for item in held for t in item)
        asked = tuple(IRI(dice.choice("abpq")) if dice.random() < 0.5 else None for _ in range(3))
        assert set(union.match(*asked)) == set(plain.match(*asked))
        assert (set(union), len(union), set(union.nodes())) == (set(plain), len(plain), set(plain.nodes()))
        assert all(t in union for t in plain)
