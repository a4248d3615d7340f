"""Compiled rules as a person reads them."""

from __future__ import annotations

from scepter.algebra.events import LogicalEvent
from scepter.lower.descriptions import iri_of, lower_description
from scepter.ontology.axioms import read_ontology
from scepter.ontology.recognition import route
from scepter.ontology.rule_text import conflict_rules, rules_of
from scepter.physical.explain.event_text import shortened
from scepter.rdf.formats import parse_graph
from scepter.rdf.terms import IRI
from scepter.syntax.obep_tree import LogicalDefinition
from scepter.syntax.parse import parse_obep

NS = "http://e/"
PREFIXES = f"""PREFIX : <{NS}>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""


def rules(text: str, ontology: str = "", event: str | None = "H") -> list[str]:
    document = parse_obep(f"PREFIX : <{NS}> {text} RETURN X AS RDF STREAM")
    events = [
        LogicalEvent(iri_of(d.name), lower_description(d.description))
        for d in document.definitions
        if isinstance(d, LogicalDefinition)
    ]
    program = route(read_ontology(parse_graph(PREFIXES + ontology)), events).program
    assert program is not None
    found = conflict_rules(program) if event is None else rules_of(program, IRI(NS + event))
    return [shortened(rule, {"": NS}) for rule in found]


def test_nested_descriptions_are_one_rule() -> None:
    assert rules("EVENT H AS A and r some (B and inverse s some Thing)") == [":H(x) if :A(x), :r(x, y), :B(y), :s(z, y)"]


def test_or_gives_a_rule_each() -> None:
    assert sorted(rules("EVENT H AS A or r some (B or C)")) == [
        ":H(x) if :A(x)",
        ":H(x) if :r(x, y), :B(y)",
        ":H(x) if :r(x, y), :C(y)",
    ]


def test_an_individual_that_is_named() -> None:
    assert rules("EVENT H AS r value a") == [":H(x) if :r(x, y), y is :a"]


def test_what_the_ontology_adds_comes_after_it() -> None:
    assert rules("EVENT H AS A", ":B rdfs:subClassOf :A . :r rdfs:domain :B . :C rdfs:subClassOf :D .") == [
        ":H(x) if :A(x)",
        ":A(x) if :B(x)",
        ":B(x) if :r(x, y)",
    ]


def test_a_transitive_property_goes_on_under_a_number() -> None:
    found = rules("EVENT H AS in some A", ":in a owl:TransitiveProperty .")
    carrier = next(rule.split("(")[0] for rule in found if rule.startswith("#"))
    assert {":H(x) if :in(x, y), :A(y)", f":H(x) if {carrier}(x)", f"{carrier}(x) if :in(x, y), {carrier}(y)"} <= set(found)


def test_an_event_of_an_event() -> None:
    assert rules("EVENT G AS A EVENT H AS G and B") == [":H(x) if :G(x), :B(x)", ":G(x) if :A(x)"]


def test_what_makes_an_item_inconsistent() -> None:
    assert rules("EVENT H AS A", ":A owl:disjointWith :B .", event=None) == ["contradiction(x) if :A(x), :B(x)"]


def test_an_event_that_holds_of_everything() -> None:
    assert rules("EVENT H AS Thing") == []


def test_many_rules_are_cut() -> None:
    found = rules(f"EVENT H AS {' or '.join(f'C{n}' for n in range(40))}")
    assert len(found) == 13 and found[-1] == "…"
