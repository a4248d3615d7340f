"""Ontologies read from triples."""

from __future__ import annotations

import pytest

from scepter.algebra.classes import And, Cardinality, HasValue, Named, Not, Nothing, OneOf, Only, Or, Property, Some, Thing
from scepter.errors import OptionError
from scepter.ontology.axioms import (
    Axiom,
    Chain,
    DisjointProperties,
    Ontology,
    SubClassOf,
    SubProperty,
    Trait,
    Transitive,
    read_ontology,
)
from scepter.rdf.formats import parse_graph
from scepter.rdf.terms import IRI

PREFIXES = """PREFIX : <http://e/>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
"""


def e(name: str) -> IRI:
    return IRI(f"http://e/{name}")


def c(name: str) -> Named:
    return Named(e(name))


def read(text: str) -> Ontology:
    return read_ontology(parse_graph(PREFIXES + text))


P, Q = Property(e("p")), Property(e("q"))


@pytest.mark.parametrize(
    ("text", "axioms"),
    [
        (":A rdfs:subClassOf :B .", [SubClassOf(c("A"), c("B"))]),
        (":A rdfs:subClassOf owl:Thing .", [SubClassOf(c("A"), Thing())]),
        (":A owl:equivalentClass :B .", [SubClassOf(c("A"), c("B")), SubClassOf(c("B"), c("A"))]),
        (":A owl:disjointWith :B .", [SubClassOf(And((c("A"), c("B"))), Nothing())]),
        (":p rdfs:domain :A .", [SubClassOf(Some(P, Thing()), c("A"))]),
        (":p rdfs:range :A .", [SubClassOf(Some(P.inverted(), Thing()), c("A"))]),
        (":p rdfs:subPropertyOf :q .", [SubProperty(P, Q)]),
        (":p owl:equivalentProperty :q .", [SubProperty(P, Q), SubProperty(Q, P)]),
        (":p owl:inverseOf :q .", [SubProperty(P, Q.inverted()), SubProperty(Q.inverted(), P)]),
        (":p a owl:SymmetricProperty .", [SubProperty(P, P.inverted())]),
        (":p a owl:TransitiveProperty .", [Transitive(e("p"))]),
        (":p a owl:FunctionalProperty .", [Trait("FunctionalObjectProperty", P)]),
        (":p owl:propertyDisjointWith :q .", [DisjointProperties(P, Q)]),
        (":p owl:propertyChainAxiom ( :q [ owl:inverseOf :p ] ) .", [Chain((Q, P.inverted()), P)]),
        (":A owl:oneOf ( :x ) .", [SubClassOf(c("A"), OneOf((e("x"),))), SubClassOf(OneOf((e("x"),)), c("A"))]),
        (
            ":A rdfs:subClassOf [ owl:unionOf ( :B [ owl:complementOf :C ] ) ] .",
            [SubClassOf(c("A"), Or((c("B"), Not(c("C")))))],
        ),
        (
            ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:allValuesFrom :B ] .",
            [SubClassOf(c("A"), Only(P, c("B")))],
        ),
        (
            ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty [ owl:inverseOf :p ] ; owl:someValuesFrom :B ] .",
            [SubClassOf(c("A"), Some(P.inverted(), c("B")))],
        ),
        (
            ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:hasValue :x ] .",
            [SubClassOf(c("A"), HasValue(P, e("x")))],
        ),
        (
            ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:maxQualifiedCardinality 2 ; owl:onClass :B ] .",
            [SubClassOf(c("A"), Cardinality("max", 2, P, c("B")))],
        ),
        (
            "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) .",
            [SubClassOf(And((c(x), c(y))), Nothing()) for x, y in ("AB", "AC", "BC")],
        ),
    ],
)
def test_axioms(text: str, axioms: list[Axiom]) -> None:
    ontology = read(text)
    assert list(ontology.axioms) == axioms
    assert ontology.assertions == ()


def test_what_only_declares_or_explains_says_nothing() -> None:
    assert (
        read(""":A a owl:Class ; rdfs:label "a" . :p a owl:ObjectProperty , rdf:Property . <http://e/> a owl:Ontology .""")
        == Ontology()
    )


def test_the_rest_are_assertions() -> None:
    assert len(read(":x a :A . :x :p :y .").assertions) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (":A owl:unionOf _:l . _:l rdf:first :B ; rdf:rest _:l .", "does not end"),
        (":A rdfs:subClassOf 5 .", "where a class should"),
        (":A rdfs:subClassOf _:r . _:r owl:onProperty :p , :q ; owl:someValuesFrom :B .", "2 values"),
        (":A rdfs:subClassOf [ owl:onProperty :p ] .", "no supported kind"),
        (":A owl:hasKey ( :p ) .", "hasKey"),
        (":A rdfs:subClassOf _:c . _:c owl:complementOf _:c .", "where a class should"),
        (":A rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality -1 ] .", "no cardinality"),
        ("_:n rdfs:subPropertyOf :p .", "where a property should"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        read(text)
