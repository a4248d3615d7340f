"""The axioms under which a justification is enough."""

from __future__ import annotations

import pytest

from scepter.algebra.events import LogicalEvent
from scepter.kernel.sparql.dataset import Graph
from scepter.lower.descriptions import iri_of, lower_description
from scepter.ontology.axioms import read_ontology
from scepter.ontology.explanations import Explainer
from scepter.ontology.justifications import minimal
from scepter.ontology.recognition import Recogniser
from scepter.ontology.statements import statement
from scepter.physical.explain.event_text import shortened
from scepter.rdf.formats import parse_graph
from scepter.syntax.obep_tree import LogicalDefinition
from scepter.syntax.parse import parse_obep

NS = "http://e/"
PREFIXES = f"""PREFIX : <{NS}>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""


def explained(text: str, item: str, ontology: str = "", static: str = "") -> list[list[str]]:
    document = parse_obep(f"PREFIX : <{NS}> {text} RETURN X AS RDF STREAM")
    events = [
        LogicalEvent(iri_of(d.name), lower_description(d.description))
        for d in document.definitions
        if isinstance(d, LogicalDefinition)
    ]
    read = read_ontology(parse_graph(PREFIXES + ontology))
    (inference,) = Recogniser(events, read, [Graph(parse_graph(PREFIXES + static))]).infer([parse_graph(PREFIXES + item)])
    explainer = Explainer(events, read)
    found = sorted(inference.found, key=str)
    return [[shortened(line, {"": NS}) for line in explainer.axioms(*each)] for each in found]


def test_only_the_axioms_that_are_needed() -> None:
    ontology = """:has owl:inverseOf :in . :in a owl:TransitiveProperty . :Dog rdfs:subClassOf :Animal .
        :Animal rdfs:subClassOf :Being . :Cat rdfs:subClassOf :Animal . :keeps rdfs:range :Animal ."""
    assert explained("EVENT H AS in some Being", ":x :in :d .", ontology, ":d a :Dog .") == [
        [":Dog SubClassOf: :Animal", ":Animal SubClassOf: :Being", ":H EquivalentTo: :in some :Being"]
    ]


def test_each_kind_of_axiom_reads_as_people_write_it() -> None:
    ontology = """:keeps rdfs:domain :Person . :near a owl:SymmetricProperty . :a owl:disjointWith :b .
        :in a owl:TransitiveProperty . :room rdfs:subPropertyOf [ owl:inverseOf :has ] . :keeps rdfs:range :Animal .
        :f a owl:FunctionalProperty . :p owl:propertyDisjointWith :q . :g owl:propertyChainAxiom (:f :p) ."""
    axioms = read_ontology(parse_graph(PREFIXES + ontology)).axioms
    assert sorted(shortened(statement(axiom), {"": NS}) for axiom in axioms) == [
        ":a DisjointWith: :b",
        ":f Characteristics: Functional",
        ":g SubPropertyChain: :f o :p",
        ":in Characteristics: Transitive",
        ":keeps Domain: :Person",
        ":keeps Range: :Animal",
        ":near Characteristics: Symmetric",
        ":p DisjointWith: :q",
        ":room SubPropertyOf: inverse :has",
    ]


def test_justifications_that_differ_in_names_have_the_same_axioms() -> None:
    found = explained("EVENT H AS A and r some B", ":x a :A ; :r :y . :y a :B . :u a :A ; :r :v . :v a :B .")
    assert found == [[":H EquivalentTo: :A and :r some :B"]] * 2


def test_an_individual_that_an_axiom_names_is_no_other() -> None:
    text = "EVENT H AS (r value a) or (r some C)"
    assert explained(text, ":x :r :a . :y :r :b .", ":C owl:equivalentClass [ a owl:Class ; owl:oneOf (:b) ] .") == [
        [":H EquivalentTo: :r value :a or :r some :C"],
        ["{:b} SubClassOf: :C", ":H EquivalentTo: :r value :a or :r some :C"],
    ]


def test_events_defined_by_events_show_both_definitions() -> None:
    assert explained("EVENT G AS A EVENT H AS G and B", ":x a :A, :B .") == [
        [":G EquivalentTo: :A"],
        [":G EquivalentTo: :A", ":H EquivalentTo: :G and :B"],
    ]


def test_what_data_states_needs_no_axiom() -> None:
    assert explained("EVENT H AS A", ":x a :H .") == [[]]


@pytest.mark.parametrize("needed", [set(), {0}, {9}, {3, 4}, set(range(10))])
def test_a_minimal_part_is_found(needed: set[int]) -> None:
    assert minimal(range(10), lambda some: needed <= set(some)) == sorted(needed)


def test_of_several_minimal_parts_one_is_found() -> None:
    found = minimal(range(6), lambda some: {0, 5} <= set(some) or {2, 3} <= set(some))
    assert set(found) in ({0, 5}, {2, 3})
