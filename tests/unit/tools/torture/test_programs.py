"""The chamber draws every way in which live state is divided."""

from __future__ import annotations

from typing import Any

import pytest

from division import ways_of
from scepter.cli.options import run_options
from scepter.rdf.terms import IRI
from scepter.runtime.inputs import load_background
from scepter.runtime.planning import facts_of, planned
from scepter.runtime.queries import parse
from scepter.runtime.spark.shares import shares
from scepter.timeline import TimeKind
from torture.programs import LANGUAGES, STREAM, program


def way(language: str, seed: int) -> str:
    """How a program is divided live, and by which policy."""
    drawn = program(language, seed)
    query = parse(drawn.text, language)
    pairs = zip(drawn.options[::2], drawn.options[1::2], strict=True)
    given: dict[str, Any] = {name.removeprefix("--"): value for name, value in pairs}
    facts = facts_of(run_options(query.lowered, **given), load_background(query, {}, []), kind=TimeKind.INTEGER)
    plan = planned(query.program, facts)
    (found,) = set(ways_of(plan, shares(plan, [IRI(STREAM)], 8, live=True), live=True).values())
    return f"{found}{', a policy' if given else ''}"


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("spaseq", ["key", "grid"]),
        ("ep-sparql", ["stages", "key, a policy", "key", "grid", "key"]),
        ("rsep-ql", ["stages", "key, a policy", "grid", "key"]),
        ("obep", ["one task", "grid"]),
        ("sparkwave", ["grid", "key", "key"]),
    ],
)
def test_seeds_in_a_row_go_through_the_forms_of_a_language(language: str, wanted: list[str]) -> None:
    first = 100 * len(LANGUAGES) * 12  # where the forms of every language begin anew
    assert [way(language, first + len(LANGUAGES) * turn) for turn in range(len(LANGUAGES[language]))] == wanted


def test_a_query_reads_what_another_one_constructs() -> None:
    drawn = program("sparkwave", 2 * len(LANGUAGES))
    query = parse(drawn.text, "sparkwave")
    plan = planned(query.program, facts_of(run_options(query.lowered), load_background(query, {}, []), kind=TimeKind.INTEGER))
    assert [share.depth for share in shares(plan, [IRI(STREAM)], 8, live=True)] == [0, 1]
