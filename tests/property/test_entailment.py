"""The flattened tables against rules applied naively, against a SPARQL engine, and the reduced schema against the full one."""

from __future__ import annotations

import pyoxigraph as ox
from hypothesis import given
from hypothesis import strategies as st

from naive.entailment import A, closed
from property.schema_strategies import CLASSES, PROPERTIES, data, statements
from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.ontology.schema import Schema
from scepter.rdf.terms import BlankNode, Triple


@given(st.lists(statements(PROPERTIES), max_size=10), data(PROPERTIES))
def test_the_tables_give_what_the_rules_give(schema: list[Triple], triple: Triple) -> None:
    assert Schema.from_triples(schema).entailed(triple) == closed([triple], schema)


@given(st.lists(statements([*PROPERTIES[:2], A]), max_size=6), data(PROPERTIES[:2]))
def test_rdf_type_is_a_property_as_well(schema: list[Triple], triple: Triple) -> None:
    of_itself = closed([], schema)  # with rules about rdf:type, what a schema states about its properties entails as well
    assert Schema.from_triples(schema).entailed(triple) | of_itself == closed([triple], schema)


RULES = """
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX owl: <http://www.w3.org/2002/07/owl#>
INSERT { ?s ?q ?o } WHERE { ?p rdfs:subPropertyOf+ ?q . ?s ?p ?o } ;
INSERT { ?s a ?c } WHERE { ?p rdfs:domain ?c . ?s ?p ?o } ;
INSERT { ?o a ?c } WHERE { ?p rdfs:range ?c . ?s ?p ?o FILTER (!isLiteral(?o)) } ;
INSERT { ?s a ?d } WHERE { ?c rdfs:subClassOf+ ?d . ?s a ?c } ;
INSERT { ?o ?q ?s } WHERE { ?p (owl:inverseOf|^owl:inverseOf) ?q . ?s ?p ?o FILTER (!isLiteral(?o)) } ;
INSERT { ?o ?p ?s } WHERE { ?p a owl:SymmetricProperty . ?s ?p ?o FILTER (!isLiteral(?o)) }
"""


@given(st.lists(statements(PROPERTIES), max_size=8), st.lists(data(PROPERTIES), max_size=3))
def test_the_tables_give_what_a_sparql_engine_derives(schema: list[Triple], triples: list[Triple]) -> None:
    store = ox.Store()
    store.load("\n".join(f"{s} {p} {o} ." for s, p, o in [*schema, *triples]).encode(), ox.RdfFormat.N_TRIPLES)
    size = -1
    while size != len(store):
        size = len(store)
        store.update(RULES)
    derived = {" ".join(map(str, quad.triple)) for quad in store if not isinstance(quad.subject, ox.BlankNode)}
    compiled = Schema.from_triples(schema)
    expected = {t for triple in triples for t in compiled.entailed(triple)} | set(schema)
    rows = {f"{s} {p} {o}" for s, p, o in expected if not isinstance(s, BlankNode)}
    assert {row for row in rows if "_:" not in row} == {row for row in derived if "_:" not in row}


def patterns() -> st.SearchStrategy[TriplePattern]:
    variable = Variable("v")
    constants = st.sampled_from([*CLASSES, *PROPERTIES]).map(Constant)
    return st.one_of(
        st.builds(TriplePattern, st.just(variable), st.just(Constant(A)), st.one_of(st.just(variable), constants)),
        st.builds(TriplePattern, st.just(variable), st.sampled_from(PROPERTIES).map(Constant), st.just(variable)),
        st.just(TriplePattern(variable, variable, variable)),
    )


def matches(pattern: TriplePattern, triple: Triple) -> bool:
    nodes = (pattern.subject, pattern.predicate, pattern.object)
    return all(isinstance(n, Variable) or n.term == t for n, t in zip(nodes, triple, strict=True))


@given(st.lists(statements([*PROPERTIES, A]), max_size=10), data(PROPERTIES), st.lists(patterns(), max_size=3))
def test_the_reduced_schema_matches_what_the_full_one_does(
    schema: list[Triple], triple: Triple, used: list[TriplePattern]
) -> None:
    full = Schema.from_triples(schema)
    reduced = full.reduced(used)
    for pattern in used:
        assert {t for t in full.entailed(triple) if matches(pattern, t)} == {
            t for t in reduced.entailed(triple) if matches(pattern, t)
        }
    assert triple in reduced.entailed(triple) <= full.entailed(triple)
    assert reduced.describe().links <= full.describe().links
