"""Which groups over time are made in columns, and which are not."""

from __future__ import annotations

import pytest

from scepter.algebra.query import Counting
from scepter.algebra.timed import TimedProgram
from scepter.lower import lower
from scepter.physical.lift_groups import GroupedSequence, lift_groups
from scepter.timeline import TimeKind

HEAD = "PREFIX : <http://example/>\n"
MEAN = "SELECT ?c (AVG(?p) AS ?mean)"


def lifted(text: str) -> GroupedSequence | None:
    (program,) = lower(HEAD + text, "ep-sparql").program.units
    assert isinstance(program, TimedProgram)
    return lift_groups(program, TimeKind.INTEGER)


def test_groups_of_a_triple_pattern() -> None:
    found = lifted(f"{MEAN} {{ ?c :price ?p FILTER (?p > 1) }} WINDOW [ROWS 10] GROUP BY ?c HAVING (COUNT(*) > 2)")
    assert found is not None
    assert found.keys == (("c", "c"),) and found.shown == ("c", "mean") and found.window == Counting(10)
    assert {aggregate.function for _, aggregate in found.aggregates} == {"AVG", "COUNT"}
    assert [name for name, _ in found.above] == [None, "mean"], "conditions come before what is shown"
    assert len(found.sequence.pattern.steps) == 1 and found.sequence.solutions


@pytest.mark.parametrize(
    "text",
    [
        "SELECT (MAX(?p) AS ?top) { { ?c :price ?p } SEQ { ?c :price ?q } FILTER (getDURATION() < 9) }",
        "SELECT (COUNT(*) AS ?n) FROM STREAM <http://example/s> { ?c :price ?p } WINDOW [RANGE 5]",
        "SELECT ?c (MAX(?p) - MIN(?p) AS ?spread) { ?c :price ?p } GROUP BY ?c",
    ],
)
def test_taken(text: str) -> None:
    assert lifted(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?c ?p { ?c :price ?p }",
        f"{MEAN} {{ ?c :price ?p . ?c :volume ?v }} GROUP BY ?c",
        f"{MEAN} {{ ?c :price ?p }} GROUP BY ?c ORDER BY ?mean",
        f"{MEAN} {{ ?c :price ?p }} GROUP BY ?c LIMIT 1",
        f"{MEAN} {{ ?c :price ?p . FILTER EXISTS {{ ?c :volume ?v }} }} GROUP BY ?c",
        f"{MEAN} {{ ?c :price ?p }} GROUP BY ?c HAVING (RAND() > 0.5)",
        f"{MEAN} {{ ?c :price ?p }} GROUP BY ?c HAVING EXISTS {{ ?c :volume ?v }}",
        f"{MEAN.replace('SELECT', 'SELECT DISTINCT')} {{ ?c :price ?p }} GROUP BY ?c",
        "SELECT (COUNT(DISTINCT ?p) AS ?n) { ?c :price ?p }",
        "SELECT (SUM(?p * 2) AS ?n) { ?c :price ?p }",
        "SELECT (GROUP_CONCAT(?p) AS ?n) { ?c :price ?p }",
        "SELECT ?k (COUNT(*) AS ?n) { ?c :price ?p } GROUP BY (?p + 1 AS ?k)",
        "SELECT (COUNT(*) AS ?n) { [] :price ?p }",
        "CONSTRUCT { ?c :mean ?p } { SELECT ?c (AVG(?v) AS ?p) { ?c :price ?v } GROUP BY ?c }",
        "CONSTRUCT { ?c :cheap ?p } WHERE { ?c :price ?p } SELECT (COUNT(*) AS ?n) { ?c :cheap ?p }",
    ],
)
def test_left_to_the_timed_kernel(text: str) -> None:
    assert lifted(text) is None
