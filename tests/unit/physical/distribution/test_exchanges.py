"""Where plans are cut into stages that lie one behind another, and what each is divided by."""

from __future__ import annotations

import pytest

from scepter.physical.distribution.exchanges import Stage, unit_exchanges
from scepter.physical.facts import Facts
from scepter.physical.nodes.nodes import Received, nodes
from scepter.physical.planning.planner import plan
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind

WINDOW = "FROM NAMED WINDOW :w ON :s [RANGE 6 STEP 2] WHERE"
PAIR = "FROM STREAM S :s WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?x :p ?y } DEFINE GPM B ON S { ?x :q ?z } }"


def exchanges(text: str, language: str) -> tuple[Stage, ...]:
    program = parse(f"PREFIX : <http://e/> {text}", language).program
    return unit_exchanges(plan(program, Facts(kind=TimeKind.INTEGER)).units[0])


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("ep-sparql", "SELECT DISTINCT ?z WHERE { { ?x :p ?y } SEQ { ?x :q ?z } }", [("x",), ("z",)]),
        ("ep-sparql", "ASK { { ?x :p ?y } SEQ { ?x :q ?z } }", [("x",), ()]),
        ("ep-sparql", "SELECT (COUNT(?z) AS ?n) WHERE { { ?x :p ?y } SEQ { ?x :q ?z } }", [("x",), ()]),
        ("ep-sparql", "SELECT ?y ?z WHERE { { ?x :p ?y } SEQ { ?x :q ?z } } ORDER BY ?y LIMIT 2", [("x",), ()]),
        ("sparkwave", "SELECT (COUNT(?x) AS ?n) FROM STREAM :s [RANGE 6 STEP 3] WHERE { ?x :p ?y . ?x :q ?z }", [("x",), ()]),
        ("rsep-ql", f"REGISTER ISTREAM :o AS SELECT ?y {WINDOW} {{ WINDOW :w {{ ?x :p ?y . ?x :q ?z }} }}", [("x",), ("y",)]),
        ("spaseq", f"SELECT DISTINCT ?y WITHIN 6 SLIDING {PAIR}", [(), ("the start", "the end")]),
        ("spaseq", f"ASK WITHIN 6 SLIDING {PAIR}", [(), ()]),
        # the groups of a group; what is computed may be unbound, and is no key
        (
            "sparkwave",
            "SELECT ?n (COUNT(?x) AS ?m) FROM STREAM :s [RANGE 6 STEP 3] "
            "WHERE { SELECT ?x (COUNT(?y) AS ?n) WHERE { ?x :p ?y . ?x :q ?z } GROUP BY ?x } GROUP BY ?n",
            [("x",), ()],
        ),
    ],
)
def test_an_operator_that_loses_the_key_is_a_stage_behind_what_has_it(
    language: str, text: str, expected: list[tuple[str, ...]]
) -> None:
    found = exchanges(text, language)
    assert [stage.stages.variables for stage in found] == expected
    assert found[-1].sources[0] == 0 and all(source is None for source in found[0].sources)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ep-sparql", "SELECT DISTINCT ?x ?z WHERE { { ?x :p ?y } SEQ { ?x :q ?z } }"),  # the key is shown
        ("ep-sparql", "SELECT (COUNT(?y) AS ?n) WHERE { ?x :p ?y }"),  # nothing but the aggregate has state
        ("ep-sparql", "SELECT * WHERE { { :i :a ?y } DURING { ?y :b ?z } } SEQ { ?z :d 1 }"),  # joins meet in a grid
        ("rsep-ql", f"REGISTER RSTREAM :o AS SELECT ?y {WINDOW} {{ WINDOW :w {{ ?x :p ?y . ?x :q ?z }} }}"),
        ("spaseq", f"SELECT ?y WITHIN 6 SLIDING {PAIR}"),
    ],
)
def test_one_exchange_is_enough_where_the_key_is_kept(language: str, text: str) -> None:
    assert not exchanges(text, language)


def test_what_is_read_may_cross_to_a_later_stage() -> None:
    """The instants of evaluation go straight to the stage that reports."""
    text = f"REGISTER ISTREAM :o AS SELECT ?y {WINDOW} {{ WINDOW :w {{ ?x :p ?y . ?x :q ?z }} }}"
    first, last = exchanges(text, "rsep-ql")
    assert last.sources == (0, None) and last.stages.everywhere and not first.stages.everywhere
    received = [node for node in nodes(last.stages.above) if isinstance(node, Received)]
    assert [node.place for node in received] == [0, 1]


def test_what_a_policy_consumes_is_looked_at_in_one_stage() -> None:
    program = parse("PREFIX : <http://e/> SELECT DISTINCT ?z WHERE { { ?x :p ?y } SEQ { ?x :q ?z } }", "ep-sparql").program
    unit = plan(program, Facts(kind=TimeKind.INTEGER, policy="chronological")).units[0]
    assert all("Paired" in [type(node).__name__ for node in nodes(s.stages.above)] for s in unit_exchanges(unit)[:1])
