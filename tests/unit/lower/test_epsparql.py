"""EP-SPARQL's lowering: what a file becomes, and the bounds its conditions state."""

from __future__ import annotations

import pytest

from scepter.algebra.patterns import Filter, LeftJoin, Project, Related, Side, Union
from scepter.algebra.query import Construct, Counting, Select, Sliding
from scepter.algebra.timed import TimedProgram
from scepter.algebra.timed_bounds import duration_bounds
from scepter.algebra.walk import find
from scepter.lower import Lowered, lower
from scepter.timeline import Allen, TimeKind


def lowered(text: str) -> Lowered:
    return lower("PREFIX : <http://example/>\n" + text, "ep-sparql")


def program(text: str) -> TimedProgram:
    (unit,) = lowered(text).program.units
    assert isinstance(unit, TimedProgram)
    return unit


def test_chains_lean_to_the_left() -> None:
    pattern = program("ASK { { ?a :p ?b } UNION { ?a :q ?b } SEQ { ?a :r ?c } }").queries[0].pattern
    assert isinstance(pattern, Related) and isinstance(pattern.left, Union) and pattern.relation is Allen.BEFORE


def test_the_filter_of_an_optional_group_sees_both_sides() -> None:
    pattern = program("ASK { { ?a :p ?b FILTER (?b > ?c) } OPTIONALSEQ { ?a :q ?c } }").queries[0].pattern
    assert isinstance(pattern, Related) and pattern.optional is Side.LEFT and pattern.condition is not None
    assert next(find(pattern, Filter), None) is None


def test_the_filters_of_an_optional_chain_stay_in_its_groups() -> None:
    text = "ASK { { ?a :p ?b FILTER (?b > 1) } SEQ { ?a :r ?d } OPTIONALSEQ { ?a :q ?c } }"
    pattern = program(text).queries[0].pattern
    assert isinstance(pattern, Related) and pattern.condition is None and next(find(pattern.left, Filter), None) is not None


def test_rules_beside_a_query_only_feed_it() -> None:
    rule = "CONSTRUCT { ?a :q ?b } WHERE { ?a :p ?b }"
    both = program(f"{rule}\nSELECT ?a {{ ?a :q ?b }}")
    assert len(both.rules) == 1 and isinstance(both.queries[0].result, Select)
    rules = program(f"{rule}\n{rule}")
    assert isinstance(rules.queries[0].result, Construct) and rules.queries[0].pattern is rules.rules[0].pattern
    assert [each.label for each in rules.rules] == ["the CONSTRUCT at line 2", "the CONSTRUCT at line 3"]


def test_alone_in_its_file_a_construct_is_a_query() -> None:
    alone = program("CONSTRUCT { ?a :q ?b } WHERE { ?a :p ?b }")
    assert isinstance(alone.queries[0].result, Construct) and not alone.rules


def test_what_the_outside_must_know() -> None:
    found = lowered("SELECT ?a (?b AS ?c) FROM STREAM :s FROM :g { ?a :p ?b GRAPH :h { ?a :p ?d } }")
    assert (found.variables, found.constructs, found.every_stream) == (("a", "c"), False, False)
    assert [graph.iri.value for graph in found.graphs] == ["http://example/g", "http://example/h"]
    assert lowered("SELECT * { ?b :p ?a }").every_stream


def test_windows_of_a_query() -> None:
    query = "SELECT (COUNT(*) AS ?n) { ?a :p ?b } WINDOW [%s] GROUP BY ?a HAVING (COUNT(*) > 1)"
    assert isinstance(program(query % "ROWS 3").queries[0].window, Counting)
    assert isinstance(program(query % "RANGE 3 h").queries[0].window, Sliding)


def test_modifiers_of_construct_and_ask() -> None:
    pattern = program("CONSTRUCT { ?a :n ?a } WHERE { ?a :p ?b } GROUP BY ?a ORDER BY ?a LIMIT 1").queries[0].pattern
    assert next(find(pattern, Project), None) is not None
    assert program("ASK { ?a :p ?b } HAVING (COUNT(*) > 2)").queries[0].pattern


def test_leading_optional_has_an_empty_left_side() -> None:
    assert isinstance(program("ASK { OPTIONAL { ?a :p ?b } }").queries[0].pattern, LeftJoin)


@pytest.mark.parametrize(
    ("condition", "integers", "datetimes"),
    [
        ("getDURATION() < 10", 9, None),
        ("getDURATION() <= 10", 10, None),
        ("10.5 > getDURATION()", 10, None),
        ("getDURATION() = 4", 4, None),
        ("getENDTIME() - getSTARTTIME() < 10", 9, None),
        ("getENDTIME() <= getSTARTTIME() + 10", 10, None),
        ("getDURATION() * 2 + 1 < 10", 4, None),
        ("getDURATION() / 2 < 10", 19, None),
        ('getDURATION() < "PT1S"^^xsd:duration', None, 999_999),
        ('getDURATION() <= "P1D"^^xsd:dayTimeDuration', None, 86_400_000_000),
        ('getENDTIME() < getSTARTTIME() + "PT1S"^^xsd:dayTimeDuration', None, 999_999),
        ('getDURATION() < "P1M"^^xsd:duration', None, 31 * 86_400_000_000 - 1),
        ("?b = 1 && getDURATION() < 3", 2, None),
    ],
)
def test_bounds(condition: str, integers: int | None, datetimes: int | None) -> None:
    (found,) = find(program(f"ASK {{ ?a :p ?b FILTER ({condition}) }}").queries[0].pattern, Filter)
    (bound,) = duration_bounds(found.condition)
    assert (bound.longest(TimeKind.INTEGER), bound.longest(TimeKind.DATETIME)) == (integers, datetimes)


@pytest.mark.parametrize(
    "condition",
    [
        "getDURATION() > 10", "getDURATION() < ?b", "getENDTIME() < 10", "getDURATION() < 10 || ?b = 1",
        "!(getDURATION() < 10)",
        "getDURATION() != 10", "getSTARTTIME() - getENDTIME() < 10", "getDURATION() < 1 / 0", "-getDURATION() < 5",
    ],
)  # fmt: skip
def test_what_is_no_bound(condition: str) -> None:
    (found,) = find(program(f"ASK {{ ?a :p ?b FILTER ({condition}) }}").queries[0].pattern, Filter)
    assert duration_bounds(found.condition) == []
