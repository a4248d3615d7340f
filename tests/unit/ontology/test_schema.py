from __future__ import annotations

import pytest

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import Inverse, Link, NegatedPropertySet, Path, PathPattern, PathSequence, TriplePattern
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import DOMAIN, EQUIVALENT_CLASS, INVERSE_OF, SUB_CLASS_OF, SUB_PROPERTY_OF, TYPE
from scepter.rdf.terms import IRI, OWL, RDF, RDFS, Literal, Triple


def e(name: str) -> IRI:
    return IRI("http://e/" + name)


def used(predicate: IRI, object: IRI | None = None) -> TriplePattern:
    return TriplePattern(Variable("s"), Constant(predicate), Variable("o") if object is None else Constant(object))


@pytest.mark.parametrize(
    ("predicate", "object", "schema"),
    [
        (SUB_CLASS_OF, e("C"), True),
        (IRI(OWL + "someValuesFrom"), e("C"), True),
        (TYPE, IRI(OWL + "SymmetricProperty"), True),
        (TYPE, IRI(OWL + "Class"), True),
        (TYPE, IRI(RDF + "Property"), True),
        (TYPE, e("C"), False),
        (TYPE, IRI(OWL + "Thing"), False),
        (IRI(RDFS + "label"), Literal("l"), False),
        (IRI(RDFS + "comment"), Literal("l"), False),
        (IRI(OWL + "sameAs"), e("y"), False),
        (e("p"), SUB_CLASS_OF, False),
    ],
)
def test_what_is_schema(predicate: IRI, object: IRI | Literal, schema: bool) -> None:
    assert Schema.is_schema(Triple(e("x"), predicate, object)) is schema


def test_an_empty_schema_entails_nothing() -> None:
    schema = Schema.from_triples([])
    assert not schema
    triple = Triple(e("x"), TYPE, e("C"))
    assert schema.entailed(triple) == {triple}
    assert schema.describe().entries == 0


def test_a_cycle_of_classes_ends() -> None:
    schema = Schema.from_triples([Triple(e("C"), SUB_CLASS_OF, e("D")), Triple(e("D"), SUB_CLASS_OF, e("C"))])
    assert schema.consequences(Triple(e("x"), TYPE, e("C"))) == (Triple(e("x"), TYPE, e("C")), Triple(e("x"), TYPE, e("D")))


def test_equivalent_classes_are_below_each_other() -> None:
    schema = Schema.from_triples([Triple(e("C"), EQUIVALENT_CLASS, e("D"))])
    assert Triple(e("x"), TYPE, e("C")) in schema.entailed(Triple(e("x"), TYPE, e("D")))


def test_statements_are_closed_transitively() -> None:
    schema = Schema.from_triples([Triple(e("C"), SUB_CLASS_OF, e("D")), Triple(e("D"), SUB_CLASS_OF, e("E"))])
    assert Triple(e("C"), SUB_CLASS_OF, e("E")) in schema.statements()


def test_an_ontology_may_name_its_own_words_for_schema() -> None:
    schema = Schema.from_triples([Triple(e("below"), SUB_PROPERTY_OF, SUB_CLASS_OF), Triple(e("C"), e("below"), e("D"))])
    assert Triple(e("x"), TYPE, e("D")) in schema.entailed(Triple(e("x"), TYPE, e("C")))


def test_streamed_triples_do_not_change_the_schema() -> None:
    schema = Schema.from_triples([Triple(e("below"), SUB_PROPERTY_OF, SUB_CLASS_OF)])
    triple = Triple(e("C"), e("below"), e("D"))
    assert schema.entailed(triple) == {triple}


def test_literals_have_no_class_and_no_inverse() -> None:
    schema = Schema.from_triples([Triple(e("p"), INVERSE_OF, e("q")), Triple(e("q"), DOMAIN, e("C"))])
    triple = Triple(e("x"), e("p"), Literal("text"))
    assert schema.entailed(triple) == {triple}


def test_statements_about_literals_are_no_rules() -> None:
    assert not Schema.from_triples([Triple(e("p"), DOMAIN, Literal("text"))])


def test_a_deep_hierarchy_needs_no_stack() -> None:
    chain = [Triple(e(f"C{i}"), SUB_CLASS_OF, e(f"C{i + 1}")) for i in range(20_000)]
    schema = Schema.from_triples(chain).reduced([used(TYPE, e("C20000"))])
    assert len(schema.entailed(Triple(e("x"), TYPE, e("C0")))) == 2


def test_reduction_leaves_what_patterns_use() -> None:
    full = Schema.from_triples(
        [
            *(Triple(e(f"C{i}"), SUB_CLASS_OF, e(f"C{i + 1}")) for i in range(10)),
            Triple(e("p"), DOMAIN, e("C0")),
            Triple(e("q"), SUB_PROPERTY_OF, e("r")),
        ]
    )
    reduced = full.reduced([used(TYPE, e("C3"))])
    assert (full.describe().links, reduced.describe().links) == (12, 4)
    assert reduced.entailed(Triple(e("x"), e("p"), e("y"))) == {Triple(e("x"), e("p"), e("y")), Triple(e("x"), TYPE, e("C3"))}
    assert str(reduced.describe()) == "4 classes, 1 properties, 4 links, 4 flattened entailments"


@pytest.mark.parametrize(
    ("path", "links"), [(PathSequence(Link(e("r")), Inverse(Link(e("t")))), 1), (NegatedPropertySet((e("q"),), ()), 2)]
)
def test_paths_use_their_predicates(path: Path, links: int) -> None:
    full = Schema.from_triples([Triple(e("q"), SUB_PROPERTY_OF, e("r")), Triple(e("q"), SUB_PROPERTY_OF, e("s"))])
    assert full.reduced([PathPattern(Variable("a"), path, Variable("b"))]).describe().links == links
