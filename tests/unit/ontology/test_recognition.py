"""Who serves which event, and what items are found to hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from scepter.algebra.classes import HasValue, Named, Property
from scepter.algebra.events import LogicalEvent
from scepter.errors import OptionError
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.lower.descriptions import iri_of, lower_description
from scepter.ontology import hermit
from scepter.ontology.assertions import Assertions
from scepter.ontology.axioms import SubClassOf, read_ontology
from scepter.ontology.consistency import contradicted
from scepter.ontology.program import compile_rules
from scepter.ontology.reasoner import Inference
from scepter.ontology.recognition import Recogniser, route
from scepter.rdf import indexing
from scepter.rdf.formats import parse_graph
from scepter.rdf.terms import IRI, TYPE, Term, Triple
from scepter.syntax.obep_tree import LogicalDefinition
from scepter.syntax.parse import parse_obep

NS = "http://e/"
PREFIXES = f"""PREFIX : <{NS}>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
with_hermit = pytest.mark.skipif(hermit.available() is not None, reason=f"no HermiT: {hermit.available()}")


def events(text: str) -> list[LogicalEvent]:
    document = parse_obep(f"PREFIX : <{NS}> {text} RETURN X AS RDF STREAM")
    found = []
    for definition in document.definitions:
        assert isinstance(definition, LogicalDefinition)
        found.append(LogicalEvent(iri_of(definition.name), lower_description(definition.description)))
    return found


def recogniser(text: str, ontology: str = "", static: str = "") -> Recogniser:
    return Recogniser(events(text), read_ontology(parse_graph(PREFIXES + ontology)), [Graph(parse_graph(PREFIXES + static))])


def shown(inference: Inference) -> list[str]:
    lines = []
    for event, individual, justification in inference.found:
        triples = sorted(" ".join(map(short, triple)) for triple in justification)
        lines.append(f"{short(event)}({short(individual)}): {', '.join(triples)}")
    return sorted(lines)


def short(term: object) -> str:
    return str(term).replace(f"<{TYPE}>", "a").replace(f"<{NS}", "").replace(">", "")


def found(text: str, item: str, ontology: str = "", static: str = "") -> list[str]:
    (inference,) = recogniser(text, ontology, static).infer([parse_graph(PREFIXES + item)])
    assert inference.conflict is None
    return shown(inference)


class TestRules:
    def test_an_empty_description_needs_no_triple_and_is_no_event(self) -> None:
        assert found("EVENT H AS Thing", ":x a :A .") == []

    def test_transitive_inverse_and_subproperty_together(self) -> None:
        ontology = ":in a owl:TransitiveProperty . :has owl:inverseOf :in . :room rdfs:subPropertyOf :in ."
        static = ":b :has :r . :b :in :c . :c a :City ."
        assert found("EVENT H AS in some City", ":x :room :r .", ontology, static) == [
            "H(x): b has r, b in c, c a City, x room r"
        ]

    def test_what_must_exist_counts(self) -> None:
        ontology = ":Dog rdfs:subClassOf [ owl:onProperty :has ; owl:someValuesFrom :Tail ] . :Tail rdfs:subClassOf :Part ."
        assert found("EVENT H AS has some Part", ":rex a :Dog .", ontology) == ["H(rex): rex a Dog"]

    def test_what_must_exist_speaks_back(self) -> None:
        ontology = """:Dog rdfs:subClassOf [ owl:onProperty :has ; owl:someValuesFrom :Tail ] .
            :Tail rdfs:subClassOf [ owl:onProperty [ owl:inverseOf :has ] ; owl:allValuesFrom :Wagger ] ."""
        assert found("EVENT H AS Wagger", ":rex a :Dog .", ontology) == ["H(rex): rex a Dog"]

    @pytest.mark.parametrize(
        ("datatype", "holds"),
        [("integer", True), ("decimal", True), ("int", False), ("string", False), ("double", False)],
    )
    def test_a_literal_is_an_instance_of_its_datatype_and_those_above(self, datatype: str, holds: bool) -> None:
        description = f"EVENT H AS r some <http://www.w3.org/2001/XMLSchema#{datatype}>"
        assert bool(found(description, ":x :r 5 .")) is holds
        assert bool(found(description, ":x :r 6 , :y .", "", ":y :r 5 .")) is holds
        assert bool(found(f"{description.replace('H', 'G', 1)} EVENT H AS s some G", ":x :s :y .", "", ":y :r 5 .")) is holds

    def test_items_that_differ_in_the_type_of_a_literal_only(self) -> None:
        run = recogniser("EVENT H AS r some <http://www.w3.org/2001/XMLSchema#integer>")
        items = [parse_graph(f"{PREFIXES} :x{n} :r {value} .") for n, value in enumerate(("1", "1.5", "2", "'a'"))]
        assert [len(each.found) for each in run.infer(items)] == [1, 0, 1, 0]

    def test_a_static_literal_may_contradict(self) -> None:
        ontology = "<http://www.w3.org/2001/XMLSchema#string> owl:disjointWith :Number . :r rdfs:range :Number ."
        with pytest.raises(OptionError, match="contradict each other"):
            recogniser("EVENT H AS A", ontology, ":x :r 'a' .")

    def test_a_value_may_be_a_literal(self) -> None:
        assert found("EVENT H AS rank value 5", ":x :rank 5 . :y :rank 6 .") == [
            'H(x): x rank "5"^^<http://www.w3.org/2001/XMLSchema#integer'
        ]

    def test_assertions_of_the_ontology_need_no_triple(self) -> None:
        assert found("EVENT H AS (A and p some B)", ":x :p :y .", ":x a :A . :y a :B .") == ["H(x): x p y"]

    def test_a_smaller_static_justification_leaves_none(self) -> None:
        assert found("EVENT H AS (A or p some Thing)", ":x :p :y .", static=":x a :A .") == ["H(x): x p y"]
        assert found("EVENT H AS A", ":x a :B .", ":B rdfs:subClassOf :A .", ":x a :A .") == ["H(x): x a B"]
        assert found("EVENT H AS p some A", ":y a :B .", ":B rdfs:subClassOf :A .", ":x :p :y . :y a :A .") == [
            "H(x): x p y, y a B"
        ]

    def test_literals_are_no_individuals_of_events(self) -> None:
        assert found("EVENT H AS inverse rank some Thing", ":x :rank 5 .") == []

    def test_an_item_that_contradicts_says_with_what(self) -> None:
        (inference,) = recogniser("EVENT H AS A", ":A owl:disjointWith :B .", ":x a :A .").infer(
            [parse_graph(PREFIXES + ":x a :B .")]
        )
        assert inference.conflict is not None and len(inference.conflict) == 2

    def test_a_stated_event_counts_both_ways(self) -> None:
        assert found("EVENT H AS (A and B) EVENT G AS A", ":x a :H .") == ["G(x): x a H", "H(x): x a H"]

    def test_an_event_that_the_ontology_names_counts_both_ways(self) -> None:
        assert found("EVENT H AS (A and B) EVENT G AS A", ":x a :C .", ":C rdfs:subClassOf :H .") == [
            "G(x): x a C",
            "H(x): x a C",
        ]


class TestRefusals:
    def test_an_ontology_that_contradicts_itself(self) -> None:
        with pytest.raises(OptionError) as caught:
            recogniser("EVENT H AS A", ":A rdfs:subClassOf :B . owl:Thing rdfs:subClassOf owl:Nothing .")
        assert caught.value.code == "inconsistent-ontology"
        assert caught.value.diagnostic.notes[1:] == ("  Thing SubClassOf: Nothing",)

    def test_static_assertions_that_contradict_the_ontology_name_a_minimal_set(self) -> None:
        with pytest.raises(OptionError) as caught:
            recogniser("EVENT H AS A", ":A owl:disjointWith :B .", ":x a :A , :B , :C . :y a :A .")
        assert [short(note) for note in caught.value.diagnostic.notes[1:]] == ["  x a A .", "  x a B .", "  A DisjointWith: B"]

    @with_hermit
    def test_a_contradiction_that_the_complete_reasoner_sees_names_a_minimal_set_too(self) -> None:
        with pytest.raises(OptionError) as caught:
            recogniser("EVENT H AS A", ":p a owl:FunctionalProperty . :q a owl:FunctionalProperty .", ":x :p 1 , 2 ; :q 1 .")
        assert [short(note).split("^^")[0] for note in caught.value.diagnostic.notes[1:]] == [
            '  x p "1"', '  x p "2"', "  p Characteristics: Functional",
        ]  # fmt: skip

    def test_without_hermit_the_way_to_it_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(hermit, "available", lambda: "owlready2, which brings HermiT along, is not installed")
        with pytest.raises(OptionError, match="needs a complete reasoner") as caught:
            found("EVENT H AS not A", ":x a :A .")
        assert "pip install 'scepter[owl]'" in str(caught.value)


class TestRouting:
    def test_reasons(self) -> None:
        text = "EVENT F AS (A or B) EVENT G AS not A EVENT H AS (G and B) EVENT I AS r min 2 A EVENT J AS r min 1 A"
        routing = route(read_ontology([]), events(text))
        assert {iri.value.removeprefix(NS): why for iri, why in routing.reasons.items()} == {
            "G": "'not'", "H": "'not' in <http://e/G>", "I": "'min 2'",
        }  # fmt: skip

    def test_or_is_beyond_rules_only_where_the_event_is_stated(self) -> None:
        assert route(read_ontology([]), events("EVENT H AS (A or B)")).hard == ()
        assert route(read_ontology([]), events("EVENT H AS (A or B)"), [IRI(NS + "H")]).hard != ()

    def test_an_axiom_beyond_rules_does_not_matter_for_other_words(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(hermit, "available", lambda: "not here")
        ontology = ":D owl:equivalentClass [ owl:unionOf ( :E :F ) ] . :q a owl:FunctionalProperty ."
        assert found("EVENT H AS (A and p some B)", ":x a :A ; :p :y . :y a :B .", ontology) == ["H(x): x a A, x p y, y a B"]
        with pytest.raises(OptionError):
            found("EVENT H AS A", ":x a :D .", ontology)


@with_hermit
@pytest.mark.slow
class TestComplete:
    def test_or_on_the_right_by_cases(self) -> None:
        ontology = ":D rdfs:subClassOf [ owl:unionOf ( :E :F ) ] . :E rdfs:subClassOf :A . :F rdfs:subClassOf :A ."
        assert found("EVENT H AS A", ":x a :D .", ontology) == ["H(x): x a D"]

    def test_value_on_the_right(self) -> None:
        ontology = ":D rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :y ] ."
        assert found("EVENT H AS p some B", ":x a :D .", ontology, ":y a :B .") == ["H(x): x a D, y a B"]

    def test_a_contradiction_that_only_counting_sees(self) -> None:
        (inference,) = recogniser("EVENT H AS A", ":p a owl:FunctionalProperty .").infer(
            [parse_graph(PREFIXES + ":x :p 1 , 2 ; a :A .")]
        )
        assert inference.conflict is not None

    def test_the_datatype_of_a_literal_counts(self) -> None:
        description = "EVENT H AS r some <http://www.w3.org/2001/XMLSchema#decimal> and not A"
        ontology = ":A owl:disjointWith :B ."
        assert len(found(description, ":x :r 5 ; a :B .", ontology)) == 1
        assert found(description, ":x :r 'a' ; a :B .", ontology) == []

    def test_who_is_the_same_counts(self) -> None:
        assert found("EVENT H AS A and B", ":x a :A ; owl:sameAs :y . :y a :B .") == [
            "H(x): x <http://www.w3.org/2002/07/owl#sameAs y, x a A, y a B",
            "H(y): x <http://www.w3.org/2002/07/owl#sameAs y, x a A, y a B",
        ]

    def test_who_is_the_same_may_be_static(self) -> None:
        assert found("EVENT H AS A and B", ":x a :A .", "", ":y owl:sameAs :x ; a :B .") == [
            "H(x): x a A, y <http://www.w3.org/2002/07/owl#sameAs x, y a B",
            "H(y): x a A, y <http://www.w3.org/2002/07/owl#sameAs x, y a B",
        ]

    def test_nobody_is_the_same_and_different(self) -> None:
        (inference,) = recogniser("EVENT H AS A").infer([parse_graph(PREFIXES + ":x owl:sameAs :y ; owl:differentFrom :y .")])
        assert inference.conflict is not None

    def test_who_is_different_counts(self) -> None:
        item = ":x :p :a , :b . :a owl:differentFrom :b ."
        assert len(found("EVENT H AS p min 2 Thing", item)) == 1
        assert found("EVENT H AS p min 2 Thing", ":x :p :a , :b .") == []

    def test_several_justifications(self) -> None:
        ontology = ":A owl:disjointWith :B . :C rdfs:subClassOf :B ."
        assert found("EVENT H AS not A", ":x a :B , :C .", ontology) == ["H(x): x a B", "H(x): x a C"]


class Counted(Graph):
    """A graph that counts how many triples it has given."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        super().__init__(triples)
        self.given = 0

    def __iter__(self) -> Iterator[Triple]:
        for triple in super().__iter__():
            self.given += 1
            yield triple

    def match(self, subject: Term | None, predicate: Term | None, object: Term | None) -> Sequence[Triple]:
        found = super().match(subject, predicate, object)
        self.given += len(found)
        return found


def test_static_assertions_are_not_read_again_for_each_item() -> None:
    static = [
        triple
        for n in range(5_000)
        for room, sensor in [(IRI(f"{NS}r{n}"), IRI(f"{NS}s{n}"))]
        for triple in (
            Triple(room, IRI(TYPE), IRI(NS + "Room")),
            Triple(room, IRI(NS + "armedWith"), sensor),
            Triple(sensor, IRI(TYPE), IRI(NS + "Sensor")),
        )
    ]
    described = events("EVENT H AS (Room and armedWith some (Sensor and sees some Thing))")
    graph = Counted(static)
    found = Recogniser(described, read_ontology([]), [graph])
    items = [[Triple(IRI(f"{NS}s{n}"), IRI(NS + "sees"), IRI(NS + "bob"))] for n in range(500)]
    assert sum(len(each.found) for each in found.infer(items)) == 500
    assert graph.given < 5 * len(static)  # a few readings of all of it, not one for each of 500 items


def test_what_contradicts_is_found_in_a_file_as_in_memory(tmp_path: Path) -> None:
    text = PREFIXES + ":x a :A . :x :p :y . :y :q :z . :z a :B . :u a :B ."
    path = tmp_path / "static.ttl"
    path.write_text(text, encoding="utf-8")
    ontology = read_ontology(parse_graph(PREFIXES + ":p rdfs:range :B . :B rdfs:subClassOf :C . :C owl:disjointWith :D ."))
    of_z = SubClassOf(HasValue(Property(IRI(NS + "q")), IRI(NS + "z")), Named(IRI(NS + "D")))
    program = compile_rules([*ontology.axioms, of_z], [])
    for graph in (Graph(parse_graph(text)), StoredGraph(indexing.stored(path))):
        assert contradicted(program, Assertions(graphs=[graph])) == {IRI(NS + "y")}
