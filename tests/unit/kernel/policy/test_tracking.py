"""Occurrences are told by what they are, and put in the order in which policies take them."""

from __future__ import annotations

import numpy as np

from scepter.kernel.encoding import encoded
from scepter.kernel.lineage import Lineage
from scepter.kernel.policy.tracking import Occurrences
from scepter.kernel.rows import NO_LINEAGE, Int64, Rows, lasting, mappings
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI, Triple

KEY, TEXTS = TermKey.fixed(), Texts()
LINEAGE = Lineage()
OCCURRENCES = Occurrences(LINEAGE, KEY, TEXTS)


def leaves(objects: list[str], time: list[int], arrival: list[int]) -> Int64:
    """Of triples `<a> <p> <object>`, the predicate named by the pattern."""
    subject, object = (encoded([IRI(name) for name in names], KEY, TEXTS) for names in (["a"] * len(objects), objects))
    id, ref = OCCURRENCES.word("<p>")
    ids = np.stack([subject[0], np.full(len(objects), id, np.uint64), object[0]], axis=1)
    refs = np.stack([subject[1], np.full(len(objects), ref), object[1]], axis=1)
    return OCCURRENCES.leaf(ids, refs, np.array(time), np.array(time), np.array(arrival))


def rows(lineage: Int64, start: list[int], end: list[int]) -> Rows:
    return Rows(*mappings(len(lineage), 0), np.array(start), np.array(end), *lasting(len(lineage)), lineage)


def numbers(nodes: Int64) -> list[int]:
    return [int(number) for number in OCCURRENCES.nodes.part[nodes]]


def test_the_same_triple_over_the_same_interval_is_the_same_occurrence() -> None:
    first, other, later, again = numbers(leaves(["x", "y", "x", "x"], [1, 1, 2, 1], [0, 0, 1, 2]))
    assert len({first, other, later}) == 3 and first == again
    graph = OCCURRENCES.node([Triple(IRI("a"), IRI("p"), IRI("x"))], 1, 1, 7)
    assert numbers(np.array([graph])) == [first]


def test_a_graph_without_triples_is_no_occurrence() -> None:
    assert OCCURRENCES.node([], 1, 1, 0) == NO_LINEAGE


def test_the_order_is_end_start_arrival_and_then_text() -> None:
    made = leaves(["z", "b", "a", "c", "d"], [5, 5, 5, 5, 4], [3, 2, 2, 1, 9])
    ordered = OCCURRENCES.in_order(rows(made, [5, 5, 5, 4, 4], [5, 5, 5, 5, 4]), ())
    assert [OCCURRENCES.arrived(int(node))[0][1][-2] for node in ordered.lineage] == ["d", "c", "a", "b", "z"]


def test_what_rests_on_several_is_ordered_by_the_first_of_them_and_then_the_next() -> None:
    x, y, z = leaves(["x", "y", "z"], [1, 2, 2], [0, 1, 1]).reshape(3, 1)
    both = np.concatenate([LINEAGE.joined(x, z), LINEAGE.joined(y, x)])
    ordered = OCCURRENCES.in_order(rows(both, [1, 1], [2, 2]), ())
    assert ordered.lineage.tolist() == both[::-1].tolist()
    assert OCCURRENCES.arrived(int(both[1])) == [(0, "<a> <p> <x>"), (1, "<a> <p> <y>")]


def test_the_same_occurrences_are_ordered_by_what_they_bind() -> None:
    same = np.repeat(leaves(["x"], [1], [0]), 3)
    ids, refs, number, scale = (column[:, None] for column in encoded([IRI(name) for name in "cab"], KEY, TEXTS))
    at = np.ones(3, np.int64)
    given = Rows(ids, refs, number, scale, at, at, *lasting(3), same)  # type: ignore[arg-type]
    ordered = OCCURRENCES.in_order(given, ("v",))
    assert [str(TEXTS.term(int(ref))) for ref in ordered.refs[:, 0]] == ["<a>", "<b>", "<c>"]
    assert len(OCCURRENCES.each_once(given)) == 3


def test_rows_of_one_mapping_stay_apart_where_their_occurrences_differ() -> None:
    x, y = leaves(["x", "y"], [1, 2], [0, 1]).reshape(2, 1)
    ways = np.concatenate([LINEAGE.joined(x, y), LINEAGE.joined(y, x), y, LINEAGE.joined(y, y)])
    kept = OCCURRENCES.each_once(rows(ways, [1] * 4, [2] * 4))
    assert kept.lineage.tolist() == [ways[0], ways[2]]
