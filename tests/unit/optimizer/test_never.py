"""Rules that can never fire are warned of, where they stand."""

from __future__ import annotations

import pytest

import scepter

RULES = "PREFIX : <http://e/> CONSTRUCT { ?x :b 1 } WHERE { %s } SELECT ?x WHERE { ?x :b ?n }"


@pytest.mark.parametrize(
    ("body", "never"),
    [
        ("?x :a ?n FILTER (2 > 3)", True),
        ("?x :a ?n FILTER (?n > 3 && 2 > 3)", True),
        ("{ ?x :a ?n } SEQ { ?x :c ?m FILTER (false) } FILTER (getDURATION() < 5)", True),
        ("?x :a ?n OPTIONAL { ?x :c ?m FILTER (false) }", False),
        ("?x :a ?n FILTER (?n > 3 || 2 > 3)", False),
        ("?x :a ?n", False),
    ],
)
def test_a_rule_that_never_fires_is_told(body: str, never: bool) -> None:
    query = scepter.parse(RULES % body, "ep-sparql")
    found = [warning for warning in query.warnings if warning.code == "never-fires"]
    assert bool(found) == never
    for warning in found:
        assert warning.span is not None and query.text[warning.span.start : warning.span.end] == "CONSTRUCT"
