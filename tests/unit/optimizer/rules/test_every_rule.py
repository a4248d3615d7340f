"""Each rule by its fixture file: text in, text out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.events import CompositeEvent
from scepter.algebra.patterns import Pattern
from scepter.algebra.query import Ask, Program, Query, Scan, Sequence, Step, Stream, Unit
from scepter.algebra.text import format_node, parse_node
from scepter.algebra.timed import Rule as TimedRule
from scepter.algebra.timed import TimedQuery
from scepter.algebra.walk import find, is_node, walk
from scepter.algebra.windows import ItemScan, WindowedQuery
from scepter.lower import lower
from scepter.optimizer.optimizer import RULES, Rule, optimize
from scepter.rdf.terms import IRI

FIXTURES = Path(__file__).parents[3] / "fixtures" / "optimizer"


def _cases(path: Path) -> list[tuple[str, str, str]]:
    """A file's cases, parted by empty lines: comments, the text before, `=>`, and the text after (or `same`)."""
    cases = []
    for block in path.read_text().strip().split("\n\n"):
        before, arrow, after = block.partition("\n=>")
        assert arrow, f"a case without => in {path.name}: {block}"
        lines = before.split("\n")
        comments = [line for line in lines if line.startswith("#")]
        cases.append(("\n".join(comments), "\n".join(lines[len(comments) :]), after.strip()))
    return cases


def _unit(text: str) -> Unit:
    """Algebra as text, or a language's name and a query in it."""
    if text.startswith("(query"):
        return parse_node(text, Query)
    if text.startswith("("):
        return Query(Ask(), (Stream(IRI("http://s")),), Sequence((Step(cast(Any, parse_node(text))),)))
    language, _, query = text.partition("\n")
    (unit,) = lower(f"PREFIX : <http://e/>\n{query}", language).program.units
    return unit


def _after(rule: Rule, before: str) -> str:
    unit = _unit(before)
    (after,) = optimize(Program((unit,)), rules=(rule,), check=True).units
    if after == unit:
        assert after is unit, "a rule that changes nothing returns the same object"
        return "same"
    if isinstance(after, Query):
        return format_node(after if before.startswith("(query") else after.pattern.steps[0].atom)
    # a unit without a text of its own: the patterns in it
    return "\n".join(format_node(pattern, {"": "http://e/"}) for pattern in dict.fromkeys(_patterns(after)))


def _patterns(unit: Unit) -> Iterator[Pattern]:
    assert is_node(unit)
    for node in walk(unit):
        match node:
            case TimedRule() | TimedQuery() | WindowedQuery() | ItemScan() | ContinuousQuery() | PeriodicQuery():
                yield node.pattern
            case CompositeEvent(guard=guard) if guard is not None:
                yield guard


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.__name__))
def test_rule_does_as_its_fixture_says(rule: Rule, update_fixtures: bool) -> None:
    path = FIXTURES / f"{rule.__name__}.txt"
    results = [(comment, before, _after(rule, before)) for comment, before, _ in _cases(path)]
    if update_fixtures:
        path.write_text("\n".join(f"{comment}\n{before}\n=>\n{after}\n" for comment, before, after in results))
    assert results == _cases(path)


def test_every_fixture_file_belongs_to_a_rule() -> None:
    assert {path.stem for path in FIXTURES.glob("*.txt")} == {rule.__name__ for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.__name__))
def test_a_rule_does_its_work_at_once(rule: Rule) -> None:
    for _, before, _ in _cases(FIXTURES / f"{rule.__name__}.txt"):
        once = rule(_unit(before))
        assert rule(once) is once


def test_a_long_chain_is_no_deeper_than_any_other() -> None:
    condition = f"(and {' '.join(f'(> ?o {n})' for n in range(5000))})"
    query = _unit(f'(scan "A" <http://s> (bgp (triple ?s <p> ?o)) (filters {condition} (not (not {condition}))))')
    (after,) = find(optimize(Program((query,))), Query)
    atom = after.pattern.steps[0].atom
    assert isinstance(atom, Scan)
    assert len(atom.filters) == 10_000
