"""Queries over graphs under a schema answer as they do over events that state what they entail."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scepter import Engine, Event, parse, run_local
from scepter.ontology.schema import Schema
from scepter.rdf.formats import parse_graph
from scepter.rdf.terms import Triple

S = "http://e/s"
PREFIXES = (
    "PREFIX : <http://e/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX owl: <http://www.w3.org/2002/07/owl#>\n"
)
SCHEMA = (
    PREFIXES
    + """:Student rdfs:subClassOf :Person . :Person rdfs:subClassOf :Agent .
:friend rdfs:subPropertyOf :knows . :knows rdfs:range :Person ; rdfs:domain :Agent . :knows a owl:SymmetricProperty .
:taught owl:inverseOf :learns . :age rdfs:domain :Person ; rdfs:subPropertyOf :number ."""
)
QUERIES = {
    "a sequence": "SELECT ?x ?y WITHIN 6 SLIDING FROM STREAM S <http://e/s> WHERE { SEQ (A ; B) "
    "DEFINE GPM A ON S { ?x a :Person } DEFINE GPM B ON S { ?x :knows ?y . ?y a :Agent OPTIONAL { ?x :number ?n } } }",
    "counts": "SELECT ?x ?n WITHIN 6 FROM STREAM S <http://e/s> WHERE { SEQ (A : B) "
    "DEFINE GPM A ON S { ?x :learns ?t } DEFINE GPM B ON S { ?x ?p ?n FILTER (isNumeric(?n) && ?n > 1) } }",
    "background": "SELECT ?x WITHIN 6 FROM STREAM S <http://e/s> WHERE { SEQ (A) "
    "DEFINE GPM A ON S { ?x a :Agent GRAPH <http://e/db> { ?x a :Agent } } }",
    "windows": "REGISTER RSTREAM :o AS SELECT ?x ?y FROM NAMED :s WIN [RANGE 4 STEP 1] AS :w "
    "WHERE { WINDOW :w { ?x :knows ?y } }",
    "events": "REGISTER RSTREAM :o AS SELECT ?x FROM NAMED :s WIN [RANGE 5 STEP 1] AS :w EVENT ON :w { ?x a :Person } AS E1 "
    "EVENT ON :w { ?x :number ?n } AS E2 WHERE { MATCH { E1 SEQ E2 } }",
}
BACKGROUND = PREFIXES + ":a a :Student . :b :friend :c .\n"
TRIPLES = st.sampled_from(
    [
        ":a a :Student",
        ":b a :Agent",
        ":a :friend :b",
        ":b :knows :a",
        ":c :taught :a",
        ":a :age 1",
        ":b :age 2",
        ":c :friend 3",
        ":a :number 2",
    ]
)
EVENTS = st.lists(st.tuples(st.integers(1, 9), st.lists(TRIPLES, min_size=1, max_size=4, unique=True)), min_size=1, max_size=6)


def entailed(text: str, schema: Schema) -> list[tuple[object, ...]]:
    return [tuple(more) for triple in parse_graph(text) for more in schema.consequences(Triple(*triple))]


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=25, deadline=None)
@given(given=EVENTS)
def test_events_stand_for_what_they_entail(name: str, given: list[tuple[int, list[str]]]) -> None:
    query = parse(PREFIXES + QUERIES[name])
    schema = Schema.from_triples(parse_graph(SCHEMA))
    stated = [Event(S, PREFIXES + " . ".join(triples) + " .", time) for time, triples in given]
    closed = [Event(S, entailed(PREFIXES + " . ".join(triples) + " .", schema), time) for time, triples in given]  # type: ignore[arg-type]
    static: dict[str | None, str] = {"http://e/db": BACKGROUND} if name == "background" else {}
    known: dict[str | None, str] = {}
    if static:
        known = {"http://e/db": "\n".join(f"{s} {p} {o} ." for s, p, o in entailed(BACKGROUND, schema)) + "\n"}
    found = run_local(query, stated, ontology=SCHEMA, background=static)
    assert [match.row() for match in found] == [match.row() for match in run_local(query, closed, background=known)]
    engine = Engine(query, ontology=SCHEMA, background=static, max_delay=9)
    pushed = [match for event in stated for match in engine.push(event)] + engine.close()
    assert sorted(str(match.row()) for match in pushed) == sorted(str(match.row()) for match in found)
