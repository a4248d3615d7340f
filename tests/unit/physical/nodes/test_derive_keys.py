"""By what rules are divided."""

from __future__ import annotations

import pytest

from scepter.physical.distribution.stages import Stages, stages
from scepter.physical.facts import Facts
from scepter.physical.nodes.derive_nodes import Derive
from scepter.physical.nodes.keys import KeyAnalysis
from scepter.physical.nodes.nodes import Received, nodes
from scepter.physical.planning.planner import plan
from scepter.rdf.formats import parse_graph
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind

ASKED = "SELECT * WHERE { { ?x :t ?y } SEQ { ?x :d ?w } }"
BASE = "CONSTRUCT { ?x :t ?y } WHERE { ?x :a ?y }"


def divided(text: str, **facts: object) -> Stages:
    program = parse(f"PREFIX : <http://e/> {text}", "ep-sparql").program
    found = stages(plan(program, Facts(kind=TimeKind.INTEGER, **facts)).units[0].root)  # type: ignore[arg-type]
    assert isinstance(found, Stages)
    return found


@pytest.mark.parametrize(
    "rules",
    [
        BASE,
        "CONSTRUCT { ?x :t ?y . ?x a :Known } WHERE { ?x :a ?y }",
        f"{BASE} CONSTRUCT {{ ?x :t ?z }} WHERE {{ {{ ?x :t ?y }} SEQ {{ ?x :b ?z }} FILTER (getDURATION() < 9) }}",
        f"{BASE} CONSTRUCT {{ ?x :u ?y }} WHERE {{ ?x :t ?y }} CONSTRUCT {{ ?x :t ?z }} WHERE {{ ?x :u ?z . ?x :b ?z }}",
    ],
)
def test_rules_that_keep_a_key_in_one_place_are_divided_by_it(rules: str) -> None:
    found = divided(f"{rules} {ASKED}")
    assert not found.why and found.variables == ("x",)
    assert all(isinstance(node, Received) for node in nodes(found.above) if not node.inputs)


@pytest.mark.parametrize(
    "rules",
    [
        # what is recalled by its subject would have to be where it is an object
        f"{BASE} CONSTRUCT {{ ?z :t ?x }} WHERE {{ {{ ?x :t ?y }} SEQ {{ ?x :b ?z }} FILTER (getDURATION() < 9) }}",
        "CONSTRUCT { ?x :t ?y . ?y :u ?x } WHERE { ?x :a ?y }",
        "CONSTRUCT { :i :t :j } WHERE { ?x :a ?y }",
        "CONSTRUCT { _:n :t :j . _:m :u :j } WHERE { ?x :a ?y }",
    ],
)
def test_rules_without_one_place_of_a_key_go_to_every_bucket(rules: str) -> None:
    found = divided(f"{rules} {ASKED}")
    assert "rules derive" in found.why
    assert not any(each.divides(place) for each in found.dimensions for place in range(1, len(found.below) - 1))


def test_what_an_ontology_entails_of_derived_triples_may_be_of_any_key() -> None:
    schema = tuple(parse_graph(":t rdfs:range :C .", {"": "http://e/", "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}))
    (derive,) = (node for node in nodes(divided(f"{BASE} {ASKED}", ontology=schema).above) if isinstance(node, Derive))
    assert KeyAnalysis().keys(derive) == {}
    assert "for any key" in divided(f"{BASE} {ASKED}", policy="recent").why
