"""Every case whose runs are not indexed: an index changes what is looked at, never what is found (SPAseq, figure 21)."""

from __future__ import annotations

from pathlib import Path

from roads import without_indexes
from scepter.algebra.query import Program
from scepter.cases.runner import Status, find_cases, run_cases
from scepter.cli.execute import case_engines
from scepter.lower import lower
from scepter.physical.facts import Facts
from scepter.physical.nodes.sequence_nodes import Sequence
from scepter.physical.planning.planner import plan
from scepter.timeline import TimeKind

CASES = Path(__file__).parents[2] / "cases"
PAIR = """PREFIX : <http://e/> SELECT ?x WITHIN 9 FROM STREAM S :s
WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } }"""


def test_the_switch_takes_the_keys_away() -> None:
    assert keys(lower(PAIR).program, indexed=True) == [1] and keys(lower(PAIR).program, indexed=False) == [0]


def keys(program: Program, *, indexed: bool) -> list[int]:
    (unit,) = plan(program, Facts(TimeKind.INTEGER, indexed=indexed)).units
    assert isinstance(unit.root, Sequence)
    return [len(step.key) for chain in unit.root.plan.chains for step in chain.steps[1:]]


def test_every_sequence_without_an_index() -> None:
    files = find_cases([CASES / "spaseq", CASES / "ep-sparql"])
    with case_engines(("local",)) as engines, without_indexes():
        results = list(run_cases(files, engines))
    assert len(results) == len(files) > 100
    assert [(result.path.name, result.detail) for result in results if result.status is Status.FAILED] == []
