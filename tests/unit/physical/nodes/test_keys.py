"""What nodes say of how their input may be divided."""

from __future__ import annotations

import pytest

from scepter.physical.distribution.stages import Stages, stages
from scepter.physical.facts import Facts
from scepter.physical.planning.planner import plan
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind


def divided(text: str, language: str) -> Stages:
    found = stages(plan(parse(f"PREFIX : <http://e/> {text}", language).program, Facts(kind=TimeKind.INTEGER)).units[0].root)
    assert isinstance(found, Stages)
    return found


def test_distinct_rows_are_not_divided_by_what_they_do_not_show() -> None:
    found = divided("SELECT DISTINCT ?v FROM STREAM :x [RANGE 5 STEP 5] WHERE { ?s :v ?v . ?s :w ?w }", "sparkwave")
    assert found.why and "s" not in found.variables


def test_what_an_exists_of_an_optional_part_looks_at_is_in_every_bucket() -> None:
    asked = "EXISTS { ?c :d ?z OPTIONAL { ?z :e ?w } }"
    found = divided(f"SELECT ?c WHERE {{ ?c :a ?x OPTIONAL {{ ?c :b ?y FILTER {asked} }} }}", "ep-sparql")
    assert found.why == "EXISTS may look at rows from anywhere"
    (dimension,) = found.dimensions
    assert [dimension.divides(place) for place in range(len(found.below))] == [True, True, False, False]


@pytest.mark.parametrize(
    ("where", "variables"),
    [
        ("{ ?x :a ?y . ?y :b ?x } UNION { ?y :c ?x . ?x :d ?y }", ("x", "y")),
        ("?x :a ?y . ?y :b ?z OPTIONAL { ?x :c ?w . ?w :d ?v }", ("x", "y")),
    ],
)
def test_a_star_is_divided_by_the_places_of_its_own_patterns(where: str, variables: tuple[str, ...]) -> None:
    assert divided(f"SELECT * FROM STREAM :s [RANGE 5] WHERE {{ {where} }}", "sparkwave").variables == variables
