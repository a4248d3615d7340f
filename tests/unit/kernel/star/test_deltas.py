"""Joins in columns: stars, many matches at once, and what a match is made of."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from scepter import Engine, Event, parse
from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.star.join_plan import plan_joins
from scepter.rdf.terms import IRI

NS = "http://e/"


def triple(subject: str, predicate: str, object: str) -> TriplePattern:
    nodes = (Variable(t[1:]) if t.startswith("?") else Constant(IRI(NS + t)) for t in (subject, predicate, object))
    return TriplePattern(*nodes)


def engine(where: str, window: int = 10, head: str = "SELECT *") -> Engine:
    return Engine(parse(f"PREFIX : <{NS}> {head} FROM STREAM :s [RANGE {window}] WHERE {{ {where} }}", "sparkwave"))


def event(time: int, *triples: str) -> Event:
    terms = (" ".join(f"<{NS}{term}>" for term in triple.split()) for triple in triples)
    return Event(NS + "s", " . ".join(terms) + " .", time)


def test_what_is_new_asks_at_once_for_all_that_its_own_terms_tell() -> None:
    plan = plan_joins(
        [triple("?o", "p", "?x"), triple("?o", "q", "?y"), triple("?x", "a", "T"), triple("?z", "r", "?w")], [0] * 4
    )
    asked = {
        pivot: {pattern: bool(told) for (pattern, _), told in zip(plan.steps[pivot].tolist(), plan.at_once[pivot], strict=True)}
        for pivot in range(4)
    }
    assert asked[0] == {1: True, 2: True, 3: True}  # what does not connect is asked for anything
    assert asked[1] == {0: True, 2: False, 3: True}
    assert asked[2] == {0: True, 1: False, 3: True}


def test_indexes_share_links_where_no_triple_is_in_both() -> None:
    apart = plan_joins([triple("?o", "p", "?x"), triple("?o", "q", "?y"), triple("?x", "r", "?z")], [0] * 3)
    assert set(apart.links.tolist()) == {0, 1}  # the first is asked by subject and by object
    together = plan_joins([triple("?o", "p", "?x"), triple("?o", "?any", "?y")], [0] * 2)
    assert len(set(together.links.tolist())) == len(together.links)


STAR = ["o p a", "o q b", "o r c", "o s d"]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_a_star_is_found_when_its_last_triple_comes(order: tuple[int, ...]) -> None:
    running = engine("?o :p ?a ; :q ?b ; :r ?c ; :s ?d")
    running.push(event(0, "x p a", "x q b", "y r c", "y s d"))  # halves of other stars
    found = [len(running.push(event(time, STAR[number]))) for time, number in enumerate(order, 1)]
    assert found == [0, 0, 0, 1]
    assert len(running.push(event(5, STAR[order[0]]))) == 1
    assert running.push(event(14, STAR[order[1]])) == []  # the third has gone


def test_a_part_that_has_left_the_window_is_lacking() -> None:
    running = engine("?o :p ?a ; :q ?b ; :r ?c", window=3)
    assert running.push(event(0, "o p a", "o q b")) == []
    assert running.push(event(4, "o r c")) == []
    assert len(running.push(event(5, "o p a", "o q b"))) == 1


@pytest.mark.parametrize("first", ["in", "out", "mixed"])
def test_more_matches_than_there_is_room_for_at_first(first: str) -> None:
    # edges into a hub and out of it, which feed both patterns: 40 x 40 paths through it, and those of its loop
    into, out = [f"i{n} p hub" for n in range(40)], [f"hub p o{n}" for n in range(40)]
    edges = {"in": into + out, "out": out + into, "mixed": [e for pair in zip(into, out, strict=True) for e in pair]}[first]
    running = engine("?a :p ?b . ?b :p ?c")
    matches = [*running.push(event(1, *edges, "hub p hub"))]
    paths = Counter(tuple(str(term).rpartition("/")[2][:-1] for term in match.bindings.values()) for match in matches)
    starts, ends = [f"i{n}" for n in range(40)] + ["hub"], [f"o{n}" for n in range(40)] + ["hub"]
    assert paths == Counter((a, "hub", c) for a in starts for c in ends)
    assert running.state_size()["occurrences"] == 81


def test_a_match_tells_each_event_once_and_in_order() -> None:
    running = engine("?o :p ?a ; :q ?b ; :r ?c")
    events = [event(1, "o p a", "o q b"), event(1, "o q b"), event(2, "o r c", "z r c")]  # the second is one more sighting
    *_, match = [match for each in events for match in running.push(each)]
    assert match.events == {NS + "s": events}
    assert (match.start, match.end) == (1, 2)
