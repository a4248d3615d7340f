"""What a guard makes both sides share."""

from __future__ import annotations

import pytest

from scepter.algebra.events import EventQuery
from scepter.kernel.occurrences.guard_keys import SharedValues, shared_values
from scepter.lower import lower
from scepter.physical.event_roads import is_lasting
from scepter.rdf.formats import parse_graph
from scepter.rdf.terms import IRI

NS = "http://e/"
LEFT, RIGHT = frozenset({IRI(NS + "F")}), frozenset({IRI(NS + "G")})
GRAPH = frozenset(parse_graph(f"PREFIX : <{NS}>\n:x :p :y , :z . :y :q :x . :z :p :z ."))


def shared(guard: str) -> SharedValues | None:
    text = f"PREFIX : <{NS}> EVENT A AS C EVENT X MATCH A AS F SEQ A AS G IF {{ {guard} }} RETURN X AS RDF STREAM"
    (unit,) = lower(text, "obep").program.units
    assert isinstance(unit, EventQuery) and unit.composite[0].guard is not None
    assert is_lasting(unit.composite[0].guard) is ("RAND" not in guard)
    return shared_values(unit.composite[0].guard, LEFT, RIGHT)


@pytest.mark.parametrize(
    ("block", "values"),
    [
        ("?s :p ?o", ["x y", "x z", "z z"]),
        ("?o :p ?s", ["y x", "z x", "z z"]),
        ("?s :q ?o", ["y x"]),
        ("?s :p :z . ?s :q ?o", []),
        ("?s ?any ?o . ?o :q ?s", ["x y"]),
        ("?s (:p|:q) ?o FILTER (?o != :z)", ["x y", "y x"]),
    ],
)
def test_the_values_of_a_block(block: str, values: list[str]) -> None:
    found = shared(f"EVENT F {{ {block} }} EVENT G {{ ?o ?w ?s }}")
    assert found is not None and found.variables == ("o", "s")
    spelled = {tuple(str(term)[len(NS) + 1 : -1] for term in value) for value in found.left.values(GRAPH)}
    assert spelled == {(o, s) for s, o in (value.split() for value in values)}


def test_one_variable_at_both_ends() -> None:
    found = shared("EVENT F { ?s :p ?s } EVENT G { ?s :q ?o }")
    assert found is not None
    assert found.left.values(GRAPH) == {(IRI(NS + "z"),)}
    assert found.right.values(GRAPH) == {(IRI(NS + "y"),)}


@pytest.mark.parametrize(
    ("guard", "decides"),
    [
        ("EVENT F { ?s :p ?o } EVENT G { ?s :q ?t }", True),
        ("EVENT F { ?s :p ?o } EVENT G { ?s :q ?t } FILTER (?o != ?t)", False),
        ("EVENT F { ?s :p ?o OPTIONAL { ?s :q ?t } } EVENT G { ?s :q ?t }", False),
        ("EVENT F { ?s :p ?o } EVENT G { ?t :q ?u }", None),
        ("EVENT F { ?s :p ?o } FILTER (RAND() < 2)", None),
    ],
)
def test_whether_sharing_values_is_enough(guard: str, decides: bool | None) -> None:
    found = shared(guard)
    assert (None if found is None else found.decides) is decides
