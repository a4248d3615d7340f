"""Groups over time against their definition: any windows, set functions, values and batches."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import scepter
from naive import epsparql as naive
from naive.comparison import comparable_row
from property.epsparql_strategies import EXAMPLES, PREFIX
from property.test_epsparql_naive import by_definition
from scepter.rdf.terms import IRI, XSD, Literal, Term, Triple

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
def streams(draw: st.DrawFn) -> list[naive.Event]:
    values = draw(st.sampled_from(KINDS))
    made, now = [], 0
    for _ in range(draw(st.integers(0, 6)) + draw(st.sampled_from([0, 4, 4]))):
        now += draw(st.integers(0, 2))
        subjects, predicates = st.sampled_from("ab"), st.sampled_from("pq")
        count = draw(st.integers(1, 2))
        triples = [
            Triple(IRI(EX + draw(subjects)), IRI(EX + draw(predicates)), draw(st.sampled_from(values))) for _ in range(count)
        ]
        made.append(naive.Event(tuple(dict.fromkeys(triples)), now - draw(st.integers(0, 2)) * (now > 1), now, STREAM))
    return made


ONTOLOGY = "<http://example/q> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <http://example/p> .\n"


def defined(query: scepter.Query, stream: list[naive.Event], entails: bool) -> Counter[object]:
    events = []
    for each in stream:
        more = [Triple(t.subject, IRI(EX + "p"), t.object) for t in each.triples if entails and t.predicate == IRI(EX + "q")]
        events.append(naive.Event(tuple(dict.fromkeys([*each.triples, *more])), each.start, each.end, STREAM))
    return by_definition(query, events)


def found(query: scepter.Query, stream: list[naive.Event], size: int, entails: bool) -> Counter[object]:
    engine = scepter.Engine(query, ontology=ONTOLOGY if entails else None)
    matches = []
    for first in range(0, len(stream), size):
        batch = [scepter.Event(e.stream, e.triples, e.start, e.end) for e in stream[first : first + size]]
        matches += engine.push(batch[0]) if size == 1 else engine.push_all(batch)
    matches += engine.close()
    return Counter((m.query, m.start, m.end, comparable_row(m.bindings.items())) for m in matches)


@settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(queries(), streams(), st.sampled_from([1, 3, 100]), st.sampled_from([False, False, True]))
def test_groups_have_the_rows_of_their_definition(text: str, stream: list[naive.Event], size: int, entails: bool) -> None:
    query = scepter.parse(text, "ep-sparql")
    note(text)
    expected = defined(query, stream, entails)
    event("rows" if expected else "no rows")
    assert found(query, stream, size, entails) == expected
