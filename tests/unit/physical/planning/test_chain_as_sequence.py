"""Which chains of SEQ take the columnar kernel, and which do not."""

from __future__ import annotations

import pytest

from scepter.algebra.query import Query, Selection
from scepter.algebra.timed import TimedProgram
from scepter.lower import lower
from scepter.physical.planning.chain_as_sequence import chain_as_sequence
from scepter.timeline import TimeKind

HEAD = "PREFIX : <http://example/>\n"
TWO = "{ ?c :price ?p1 } SEQ { ?c :price ?p2 }"


def lifted(text: str, kind: TimeKind = TimeKind.INTEGER) -> Query | None:
    (program,) = lower(HEAD + text, "ep-sparql").program.units
    assert isinstance(program, TimedProgram)
    return chain_as_sequence(program, kind)


def test_a_chain_with_a_bound() -> None:
    query = lifted(f"SELECT ?c WHERE {{ {TWO} FILTER (?p2 < ?p1 * 0.7 && getDURATION() < 10) }}")
    assert query is not None
    assert [step.selection for step in query.pattern.steps] == [None, Selection.BEFORE]
    assert query.solutions and query.merged and query.streams == ()
    assert query.window is not None and query.window.exclusive  # type: ignore[union-attr]


def test_the_tightest_bound_rules() -> None:
    query = lifted(f"SELECT ?c WHERE {{ {TWO} FILTER (getDURATION() <= 10 && 10 > getDURATION() && getDURATION() < 20) }}")
    assert query is not None and query.window is not None
    assert query.window.duration.amount == 10 and query.window.exclusive  # type: ignore[union-attr]


def test_conditions_go_to_the_first_scan_that_can_judge_them() -> None:
    query = lifted(
        "SELECT ?c WHERE { { ?c :p ?a FILTER (?a > 1) } SEQ { ?c :p ?b } SEQ { ?c :p ?d } FILTER (?b > ?a && ?d > 2) }"
    )
    assert query is not None
    assert [len(step.atom.filters) for step in query.pattern.steps] == [1, 1, 1]  # type: ignore[union-attr]


def test_a_named_stream() -> None:
    query = lifted(f"SELECT ?c FROM STREAM <http://example/s> WHERE {{ {TWO} }}")
    assert query is not None and [s.iri.value for s in query.streams] == ["http://example/s"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?c WHERE { ?c :price ?p }",
        "SELECT ?c ?unbound WHERE { { ?c :price ?p } SEQ { ?c :price ?q } }",
        "SELECT ?c WHERE { { ?c :price ?p1 . ?c :volume ?v } SEQ { ?c :price ?p2 } }",
        "SELECT ?c WHERE { { ?c :price ?p1 } EQUALS { ?c :price ?p2 } }",
        "SELECT ?c WHERE { { ?c :price ?p1 } OPTIONALSEQ { ?c :price ?p2 } }",
        f"SELECT DISTINCT ?c WHERE {{ {TWO} }}",
        f"SELECT (getDURATION() AS ?d) WHERE {{ {TWO} }}",
        f"SELECT (COUNT(*) AS ?n) WHERE {{ {TWO} }}",
        f"SELECT ?c WHERE {{ {TWO} FILTER (getENDTIME() < 10) }}",
        f"SELECT ?c WHERE {{ {TWO} FILTER (getDURATION() < 2.5) }}",
        f"SELECT ?c WHERE {{ {TWO} FILTER EXISTS {{ ?c :halted true }} }}",
        f"SELECT ?c WHERE {{ {TWO} }} ORDER BY ?c LIMIT 1",
        f"ASK {{ {TWO} }}",
    ],
)
def test_what_the_timed_kernel_keeps(text: str) -> None:
    assert lifted(text) is None


def test_a_bound_of_the_other_kind_of_time_is_not_taken() -> None:
    text = f'SELECT ?c WHERE {{ {TWO} FILTER (getDURATION() < "PT5S"^^xsd:duration) }}'
    assert lifted(text, TimeKind.DATETIME) is not None
    assert lifted(text, TimeKind.INTEGER) is None
