"""Groups over time in columns against the timed operators, term by term: any windows, set functions, values and batches."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import scepter
from property.epsparql_strategies import EXAMPLES, PREFIX
from roads import exact_evaluators
from scepter.algebra.timed import TimedProgram
from scepter.physical.lift_groups import lift_groups
from scepter.rdf.terms import IRI, XSD, Literal, Term, Triple
from scepter.timeline import TimeKind

STREAM = "http://example/s"
EX = "http://example/"
VALUES: list[Term] = [
    *(Literal(text, XSD + "integer") for text in ("1", "2", "-3", "007", "9007199254740993", "999999999999999")),
    *(Literal(text, XSD + "decimal") for text in ("1.0", "2.5", "-0.30", "0.000000000000001", "7", "123456789.123456789")),
    *(Literal(text, XSD + "double") for text in ("1", "0.1", "0.2", "1e300", "-1e300", "NaN", "INF", "-0.0")),
    Literal("0.1", XSD + "float"),
    Literal("300", XSD + "byte"),
    Literal("x", XSD + "integer"),
    Literal("some"),
    Literal("2026-01-01T00:00:00Z", XSD + "dateTime"),
    IRI(EX + "a"),
]
KINDS = [VALUES[:4], VALUES[:12], VALUES[12:20], VALUES[12:17], VALUES]
"""Mostly what columns decide."""
BODIES = [
    "?x :p ?v",
    "?x :p ?v FILTER (?v > 0)",
    "?x ?any ?v",
    "?x :p ?v . FILTER (BOUND(?v))",
    "{ ?x :p ?v } SEQ { ?x :q ?w }",
    "{ ?x :p ?v } SEQ { ?y :q ?w } FILTER (getDURATION() < 4 && ?v != ?w)",
]
COLUMNS = [
    "COUNT(*)",
    "COUNT(?v)",
    "SUM(?v)",
    "AVG(?v)",
    "MIN(?v)",
    "MAX(?v)",
    "SAMPLE(?v)",
    "MAX(?v) - MIN(?v)",
    "SUM(?v) / 3",
]
WINDOWS = ["", "WINDOW [ROWS 1]", "WINDOW [ROWS 2]", "WINDOW [ROWS 3]", "WINDOW [RANGE 1]", "WINDOW [RANGE 3]"]
HAVING = ["", "", "HAVING (COUNT(*) > 1)", "HAVING (SUM(?v) > 2 && MAX(?v) < 100)"]


@st.composite
def queries(draw: st.DrawFn) -> str:
    body = draw(st.sampled_from(BODIES))
    keys = [name for name in ("?x", "?v", "?w") if name in body]
    key = draw(st.sampled_from(["", keys[0], " ".join(keys[:2])]))
    chosen = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3, unique=True))
    columns = " ".join(f"({each} AS ?c{i})" for i, each in enumerate(chosen))
    group = f"GROUP BY {key}" if key else ""
    return (
        f"{PREFIX}SELECT {key} {columns} WHERE {{ {body} }} "
        f"{draw(st.sampled_from(WINDOWS))} {group} {draw(st.sampled_from(HAVING))}"
    )


@st.composite
def streams(draw: st.DrawFn) -> list[scepter.Event]:
    values = draw(st.sampled_from(KINDS))
    found, now = [], 0
    for _ in range(draw(st.integers(0, 6)) + draw(st.sampled_from([0, 4, 4]))):
        now += draw(st.integers(0, 2))
        subjects, predicates = st.sampled_from("ab"), st.sampled_from("pq")
        count = draw(st.integers(1, 2))
        triples = [
            Triple(IRI(EX + draw(subjects)), IRI(EX + draw(predicates)), draw(st.sampled_from(values))) for _ in range(count)
        ]
        found.append(scepter.Event(STREAM, triples, now - draw(st.integers(0, 2)) * (now > 1), now))
    return found


def rows(matches: Sequence[scepter.Match]) -> list[object]:
    return sorted((match.row() for match in matches), key=repr)


ONTOLOGY = "<http://example/q> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <http://example/p> .\n"


def run(query: scepter.Query, stream: list[scepter.Event], size: int, entails: bool, in_columns: bool) -> list[object]:
    with nullcontext() if in_columns else exact_evaluators():
        engine = scepter.Engine(query, ontology=ONTOLOGY if entails else None)
        found = []
        for first in range(0, len(stream), size):
            batch = stream[first : first + size]
            found += engine.push(batch[0]) if size == 1 else engine.push_all(batch)
        return rows([*found, *engine.close()])


@settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(queries(), streams(), st.sampled_from([1, 3, 100]), st.sampled_from([False, False, True]))
def test_columns_and_terms_give_the_same_rows(text: str, stream: list[scepter.Event], size: int, entails: bool) -> None:
    query = scepter.parse(text, "ep-sparql")
    (program,) = query.lowered.program.units
    assert isinstance(program, TimedProgram)
    assert lift_groups(program, TimeKind.INTEGER) is not None, "the strategy is about what is lifted"
    note(text)
    expected = run(query, stream, size, entails, in_columns=False)
    event("rows" if expected else "no rows")
    assert run(query, stream, size, entails, in_columns=True) == expected
