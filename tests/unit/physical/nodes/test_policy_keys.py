"""By what pairs that consume are divided."""

from __future__ import annotations

import pytest

from scepter.physical.distribution.stages import Stages, stages
from scepter.physical.facts import Facts
from scepter.physical.planning.planner import plan
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind


def key(text: str, policy: str) -> tuple[str, ...] | str:
    program = parse(f"PREFIX : <http://e/> {text}", "ep-sparql").program
    found = stages(plan(program, Facts(kind=TimeKind.INTEGER, policy=policy)).units[0].root)
    return found.why or found.variables if isinstance(found, Stages) else found.why


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("{ ?c :a ?x } SEQ { ?c :b ?y }", ("c",)),
        ("{ ?c :a ?x } SEQ { ?c :a ?y }", ("c",)),
        ("{ { ?c :a ?x } SEQ { ?c :b ?y } } SEQ { ?c :d ?z }", ("c",)),
        ("{ { ?c :a ?x } SEQ { ?c :b ?y } } OPTIONALSEQ { ?c :d ?z }", ("c",)),
        ("{ ?c :a ?x } SEQ { ?x :b ?y }", ("x",)),
        ("{ ?c :a ?x } SEQ { ?d :b ?y }", "share no variable"),
        # a triple that matches nothing but constants would be in every bucket, and be consumed in each
        ("{ ?c :a ?x . :i :b :j } SEQ { ?c :d ?z }", "share no variable"),
        # :a :p :b is of the key :b on the left, of :a on the right
        ("{ ?c :a ?x } SEQ { ?x :a ?y }", "consumed for two keys"),
        ("{ ?c ?p ?x } SEQ { ?x :a ?y }", "consumed for two keys"),
        ("{ ?c :a ?c } SEQ { ?c :a ?y }", ("c",)),
    ],
)
def test_each_occurrence_is_in_one_bucket(where: str, expected: tuple[str, ...] | str) -> None:
    found = key(f"SELECT * WHERE {{ {where} }}", policy="chronological")
    assert found == expected if isinstance(expected, tuple) else isinstance(found, str) and expected in found


def test_what_a_path_consumes_is_looked_at_with_all_events_at_hand() -> None:
    assert "triples of a path" in key("SELECT * WHERE { { ?c :a+ ?x } SEQ { ?c :b ?y } }", policy="recent")
