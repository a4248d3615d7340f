"""What every node of a plan declares: its line, its inputs, its columns."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import scepter.physical
from scepter.algebra.expressions import Compare, Constant, Variable
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import TriplePattern
from scepter.physical.nodes.nodes import Binary, Filter, Node, Project, Rowwise, Schema, StaticLeaf, TripleScan, Unary, Union
from scepter.rdf.terms import IRI, Literal

ROOT = Path(__file__).parents[4]
PLAIN = Notation({"": "http://e/"})
SCAN = TripleScan(TriplePattern(Variable("s"), Constant(IRI("http://e/p")), Variable("o")))
INSIDE = {"Core", "FirstAnswer", "Owned", "Received", "Together"}
"""What no plan shows: it stands inside a scan, stands for others on a worker, or holds units together."""


def every(kind: type[Node]) -> Iterator[type[Node]]:
    for each in kind.__subclasses__():
        if each.__module__.startswith("scepter."):
            yield each
            yield from every(each)


def operators() -> list[type[Node]]:
    for module in pkgutil.walk_packages(scepter.physical.__path__, "scepter.physical."):
        importlib.import_module(module.name)
    return [kind for kind in every(Node) if kind not in (Unary, Binary, Rowwise, StaticLeaf)]


def test_every_operator_stands_on_the_page_of_explain() -> None:
    page = (ROOT / "docs" / "reference" / "explain.md").read_text()
    table = page[page.index("| operator | does |") : page.index("## What a run did")]
    told = set(re.findall(r"`(\w+)`", table))
    said = {re.split(r"\W", getattr(kind, "says", "") or kind.__name__)[0] for kind in operators()} - {"Fixed"} - INSIDE
    assert len(said) > 40
    assert said | {"Values"} == told


@dataclass(frozen=True)
class Everything(Unary):
    says = "Everything {text}{flag:, flagged}{number:, number ~}{names:, names ~}{pairs:, pairs ~}{terms:, ~}{others:, others}"

    text: str = "x"
    flag: bool = False
    number: int | None = None
    names: tuple[str, ...] = ()
    pairs: tuple[tuple[str, bool], ...] = ()
    terms: tuple[IRI, ...] | None = None
    others: tuple[tuple[str, Node], ...] = ()


def test_a_line_says_what_is_given_and_nothing_else() -> None:
    assert Everything(SCAN).line(PLAIN) == "Everything x"
    given = Everything(
        SCAN, "y", True, 0, ("a", "b"), (("a", True), ("b", False)), (IRI("http://e/1"), IRI("http://e/2")), (("n", SCAN),)
    )
    expected = "Everything y, flagged, number 0, names ?a ?b, pairs DESC(?a), ?b, <http://e/1>, <http://e/2>, others"
    assert given.line(Notation({})) == expected


def test_conditions_hold_together_and_are_written_as_sparql_writes_them() -> None:
    five = Constant(Literal("5", "http://www.w3.org/2001/XMLSchema#integer"))
    conditions = (Compare("<", Variable("o"), five), Compare(">", Variable("o"), five))
    assert Filter(SCAN, conditions).line(PLAIN) == "Filter ?o < 5 && ?o > 5"


def test_inputs_are_the_nodes_that_fields_hold() -> None:
    other = Project(SCAN, ("s",))
    assert Everything(SCAN, others=(("a", other), ("b", SCAN))).inputs == (SCAN, other, SCAN)
    assert SCAN.inputs == ()


def test_columns_are_those_of_the_input_unless_a_node_says_otherwise() -> None:
    assert Everything(SCAN).schema == SCAN.schema == Schema(("s", "o"), frozenset({"s", "o"}))
    assert Union(SCAN, Project(SCAN, ("o", "x"))).schema == Schema(("s", "o", "x"), frozenset({"o"}))


def test_a_node_over_other_nodes_keeps_its_choices_and_itself_where_nothing_changes() -> None:
    kept = Everything(SCAN, "y", others=(("n", SCAN),))
    assert kept.over(lambda node: node) is kept
    other = Project(SCAN, ("s",))
    assert kept.over(lambda node: other) == Everything(other, "y", others=(("n", other),))
