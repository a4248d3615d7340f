"""Sequences over what triples entail: in columns the same as triple by triple."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import scepter
from naive.comparison import comparable_row
from naive.sparkwave import Event
from property.epsparql_strategies import EXAMPLES
from property.sparkwave_strategies import NS, events, schemas
from scepter.physical.planning.chain_as_sequence import chain_as_sequence
from scepter.physical.planning.entailment import entailment_of
from scepter.physical.planning.sequence_planner import plan_query
from scepter.rdf.formats import parse_graph
from scepter.rdf.terms import Triple
from scepter.timeline import TimeKind

ELSEWHERE = f"<{NS}z> <{NS}elsewhere> <{NS}z> .\n"
"""Static data that no pattern matches: with it a query takes the general road."""
LEAVES = st.sampled_from(
    ["?x :p ?v", "?x :q ?v", "?y :p ?x", "?x a :C", "?y a :D", ":x :q ?y", "?x :p 1", "?x :q ?x", "?x :p ?v FILTER (?v > 1)"]
)


@st.composite
def chains(draw: st.DrawFn) -> str:
    leaves = draw(st.lists(LEAVES, min_size=1, max_size=3))
    conditions = ["FILTER (?x != :z)"] if draw(st.booleans()) and any("?x" in leaf for leaf in leaves) else []
    if draw(st.booleans()):
        conditions.append("FILTER (getDURATION() < 6)")
    return f"PREFIX : <{NS}>\nSELECT * WHERE {{ {' SEQ '.join(f'{{ {leaf} }}' for leaf in leaves)} {' '.join(conditions)} }}"


def answers(text: str, stream: list[Event], schema: list[Triple], size: int, background: str | None) -> Counter[object]:
    ontology = "".join(f"{t.subject} {t.predicate} {t.object} .\n" for t in schema) + f"<{NS}E> a <{NS}Unused> .\n"
    engine = scepter.Engine(scepter.parse(text, "ep-sparql"), ontology=ontology, background=background)
    pushed = [scepter.Event(e.stream, e.triples, e.start, e.end) for e in sorted(stream, key=lambda e: (e.end, e.start))]
    found = [m for first in range(0, len(pushed), size) for m in engine.push_all(pushed[first : first + size])]
    return Counter((m.start, m.end, comparable_row(m.bindings.items())) for m in [*found, *engine.close()])


@settings(max_examples=2 * EXAMPLES, suppress_health_check=list(HealthCheck))
@given(chains(), events(), schemas(), st.sampled_from([1, 3, 9]))
def test_columns_and_terms_agree(text: str, stream: list[Event], schema: list[Triple], size: int) -> None:
    note(text)
    note(schema)
    wanted = answers(text, stream, schema, size, ELSEWHERE)
    event(f"rows: {bool(wanted)}")
    assert answers(text, stream, schema, size, None) == wanted


def test_the_one_road_is_taken_and_the_other_is_not() -> None:
    (program,) = scepter.parse(f"PREFIX : <{NS}> SELECT * WHERE {{ ?x a :C }}", "ep-sparql").program.units
    query = chain_as_sequence(program, TimeKind.INTEGER, shortest=1)  # type: ignore[arg-type]
    assert query is not None
    plan = plan_query(query)
    below = parse_graph(f"<{NS}D> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{NS}C> .")
    assert entailment_of(plan, tuple(below)) is not None
    stated = parse_graph(f"<{NS}x> a <{NS}C> .")
    assert entailment_of(plan, (*below, *stated)) is None
