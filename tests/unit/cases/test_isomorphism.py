"""Graph isomorphism and terms by value."""

from __future__ import annotations

import random

import pytest

from scepter.cases.isomorphism import blanked, by_value, isomorphic
from scepter.rdf.terms import IRI, XSD, BlankNode, Literal, Triple

P = IRI("http://example/p")


def edges(*pairs: tuple[str, str]) -> frozenset[Triple]:
    return frozenset(Triple(BlankNode(a), P, BlankNode(b)) for a, b in pairs)


def renamed(graph: frozenset[Triple], seed: int) -> frozenset[Triple]:
    labels = sorted({term.label for triple in graph for term in triple if isinstance(term, BlankNode)})
    shuffled = labels[:]
    random.Random(seed).shuffle(shuffled)
    names = dict(zip(labels, (f"n{label}" for label in shuffled), strict=True))
    return frozenset(
        Triple(*(BlankNode(names[term.label]) if isinstance(term, BlankNode) else term for term in triple)) for triple in graph
    )


def test_empty_and_ground_graphs() -> None:
    assert isomorphic(frozenset(), frozenset())
    one = frozenset({Triple(P, P, P)})
    assert isomorphic(one, one)
    assert not isomorphic(one, frozenset())
    assert not isomorphic(one, frozenset({Triple(P, P, Literal("x"))}))


def test_two_triangles_are_no_hexagon() -> None:
    triangles = edges(("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "f"), ("f", "d"))
    hexagon = edges(("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "a"))
    assert not isomorphic(triangles, hexagon)
    assert isomorphic(hexagon, renamed(hexagon, 1))
    assert isomorphic(triangles, renamed(triangles, 2))


def test_a_loop_is_no_pair() -> None:
    assert not isomorphic(edges(("a", "a"), ("b", "b")), edges(("a", "b"), ("b", "a")))


def test_many_equal_nodes_are_quick() -> None:
    star = frozenset(Triple(P, P, BlankNode(f"b{n}")) for n in range(60))
    assert isomorphic(star, renamed(star, 3))
    cycles = edges(*((f"{c}-{n}", f"{c}-{(n + 1) % 5}") for c in range(8) for n in range(5)))
    assert isomorphic(cycles, renamed(cycles, 4))


def test_two_blank_nodes_do_not_stand_for_one() -> None:
    two = frozenset({Triple(BlankNode("a"), P, P), Triple(BlankNode("b"), P, Literal("x"))})
    one = frozenset({Triple(BlankNode("a"), P, P), Triple(BlankNode("a"), P, Literal("x"))})
    assert not isomorphic(two, one)
    assert not isomorphic(one, two)


def test_a_generated_iri_stands_as_a_blank_node() -> None:
    expected = frozenset({Triple(BlankNode("c"), P, P)})
    found = [Triple(IRI("urn:scepter:made-up"), P, P)]
    assert isomorphic(blanked(found, {P.value}), blanked(expected, {P.value}))
    assert not isomorphic(blanked(found, {P.value, "urn:scepter:made-up"}), blanked(expected, {P.value}))


def test_a_generated_predicate_is_followed_too() -> None:
    left = blanked([Triple(P, IRI("urn:x"), P), Triple(P, IRI("urn:y"), Literal("1"))], {P.value})
    right = blanked([Triple(P, IRI("urn:b"), P), Triple(P, IRI("urn:a"), Literal("1"))], {P.value})
    assert isomorphic(left, right)


@pytest.mark.parametrize(
    ("datatype", "left", "right", "same"),
    [
        ("integer", "2", "+02", True),
        ("integer", "-0", "0", True),
        ("integer", "9007199254740993", "9007199254740992", False),
        ("integer", "1" + "0" * 5_000, "01" + "0" * 5_000, True),
        ("integer", "2.0", "2", False),
        ("byte", "007", "7", True),
        ("decimal", "2.50", "2.5", True),
        ("decimal", "2.", "2", True),
        ("decimal", ".5", "0.5", True),
        ("decimal", "-.0", "0", True),
        ("decimal", ".", "0", False),
        ("decimal", "", "0", False),
        ("double", "1e0", "1.0", True),
        ("double", "-0", "0.0E0", True),
        ("double", "INF", "+INF", True),
        ("double", "NaN", "NaN", True),
        ("double", "nan", "NaN", False),
        ("double", "1e400", "INF", True),
        ("double", "0.1", "0.10000000000000000001", True),
        ("float", "0.1", "0.10000000149", True),
        ("float", "1e39", "INF", True),
        ("double", "0.1", "0.10000000149", False),
        ("boolean", "1", "true", False),
    ],
)
def test_numbers_by_datatype_and_value(datatype: str, left: str, right: str, same: bool) -> None:
    values = [by_value(Literal(lexical, XSD + datatype)) for lexical in (left, right)]
    assert (values[0] == values[1]) is same


def test_equal_values_of_other_datatypes_differ() -> None:
    assert by_value(Literal("2", XSD + "integer")) != by_value(Literal("2", XSD + "decimal"))
