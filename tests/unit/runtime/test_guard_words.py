"""Words of a guard that no occurrence of their event can have (paper 002, section 4.3)."""

from __future__ import annotations

import pytest

import scepter

NS = "http://example/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
PREFIXES = f"@prefix : <{NS}> . @prefix rdfs: <{RDFS}> . @prefix owl: <{OWL}> .\n"
EVENTS = f"""PREFIX : <{NS}>
EVENT P AS (p some Thing)
EVENT Q AS (C and q some D)
EVENT PQ MATCH P SEQ Q WITHIN (5)
"""


def told(pattern: str, guard: str, ontology: str = "") -> list[str]:
    text = f"{EVENTS}EVENT H MATCH {pattern} WITHIN (5) IF {{ {guard} }}\nRETURN H AS RDF STREAM"
    engine = scepter.Engine(scepter.parse(text, "obep"), ontology=PREFIXES + ontology if ontology else None)
    return [f"{w.code}: {w.message}" for w in engine.warnings if w.span and w.span.start > text.index("IF {")]


@pytest.mark.parametrize(
    ("pattern", "guard"),
    [
        ("P SEQ Q", "EVENT P { ?x :p ?v } EVENT Q { ?y a :C ; :q ?z . ?z a :D }"),
        ("P AS X SEQ Q", "EVENT X { ?x :p ?v . ?x a :P }"),
        ("PQ SEQ P", "EVENT PQ { ?x :p ?v ; :q ?w ; a ?c . ?h a :PQ }"),
        ("(NOT P) AS N SEQ Q", "EVENT N { ?x :zzz ?v }"),
        ("(P OR Q) AS E SEQ P AS Y", "EVENT E { ?x :p ?v . ?y a :C }"),
        ("P SEQ Q", "EVENT P { ?x ?any ?v }"),
    ],
)
def test_words_of_an_event_and_of_what_it_is_made_of(pattern: str, guard: str) -> None:
    assert told(pattern, guard) == []


@pytest.mark.parametrize(
    ("pattern", "guard", "message"),
    [
        ("P SEQ Q", "EVENT P { ?x :p ?v ; :q ?w }", ":q is a property that no occurrence of :P has"),
        ("P SEQ Q", "EVENT Q { ?x :q ?v . ?v a :E }", ":E is a class that no occurrence of :Q has"),
        ("P AS X SEQ Q", "EVENT Q { ?x :q ?v } EVENT X { ?x :q ?v }", ":q is a property that no occurrence of :P has"),
        ("PQ SEQ P", "EVENT PQ { ?x :zzz ?v }", ":zzz is a property that no occurrence of :PQ has"),
        ("(P OR Q) AS E SEQ P AS Y", "EVENT E { ?x :z ?v }", ":z is a property that no occurrence of :P or :Q has"),
    ],
)
def test_words_that_no_justification_uses(pattern: str, guard: str, message: str) -> None:
    assert told(pattern, guard) == [f"guard-word: {message}"]


def test_what_entails_an_event_is_a_word_of_it() -> None:
    schema = (
        ":sub rdfs:subPropertyOf :p . :inv owl:inverseOf :sub . :K rdfs:subClassOf :C . :r rdfs:range :K . :o rdfs:domain :E ."
    )
    assert told("P SEQ Q", "EVENT P { ?x :sub ?v . ?y :inv ?x } EVENT Q { ?z :r ?x . ?x a :K }", schema) == []
    assert told("P SEQ Q", "EVENT P { ?x :r ?v } EVENT Q { ?z :o ?x }", schema) == [
        "guard-word: :r is a property that no occurrence of :P has",
        "guard-word: :o is a property that no occurrence of :Q has",
    ]


def test_a_word_that_nobody_knows_is_told_once() -> None:
    assert told("P SEQ Q", "EVENT P { ?x :ppp ?v }", ":sub rdfs:subPropertyOf :p .") == [
        "unknown-word: :ppp is a property that neither the ontology nor the static assertions know"
    ]


def test_what_is_above_an_event_is_no_word_of_it() -> None:
    schema = ":p rdfs:subPropertyOf :wide . :p rdfs:domain :Big . :C rdfs:subClassOf :Big . :s rdfs:range :Big ."
    assert told("P SEQ Q", "EVENT P { ?x :wide ?v . ?x a :Big }", schema) == [
        "guard-word: :wide is a property that no occurrence of :P has",
        "guard-word: :Big is a class that no occurrence of :P has",
    ]


def test_beyond_rules_whatever_axioms_link_is_allowed() -> None:
    schema = ":C owl:disjointUnionOf ( :E :F ) . :z rdfs:domain :E ."
    assert told("P SEQ Q", "EVENT Q { ?x :z ?v . ?x a :F }", schema) == []
    assert told("P SEQ Q", "EVENT P { ?x :z ?v }", schema) == ["guard-word: :z is a property that no occurrence of :P has"]
