from __future__ import annotations

import pytest

import scepter
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


def test_tables_of_classes_are_their_closures() -> None:
    kinds = [IRI(f"http://e/{name}") for name in "abcdefgh"]
    a, b, c, d, e, f, g, h = kinds
    above = {(a, b), (a, c), (b, d), (c, d), (d, e), (f, g), (g, f), (h, f)}  # a diamond, and a circle with one below it
    schema = Schema.from_triples([Triple(low, SUB_CLASS_OF, high) for low, high in above])
    flattened = schema.flattened()
    assert flattened is not None
    for kind in kinds:
        by_rule = {t.object for t in schema.entailed(Triple(IRI("http://e/x"), TYPE, kind))} - {kind}
        assert {object for _, _, object in flattened.by_class.get(kind, ())} == by_rule
    assert {object for _, _, object in flattened.by_class[a]} == {b, c, d, e}
    assert {object for _, _, object in flattened.by_class[h]} == {f, g}


def test_a_large_schema_is_flattened_once_for_both_plans_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    flattened = Schema.flattened

    def counted(schema: Schema) -> object:
        made.append(schema)
        return flattened(schema)

    monkeypatch.setattr(Schema, "flattened", counted)
    engine = scepter.Engine(
        scepter.parse("SELECT ?x WHERE { ?x a <http://e/Flattened-Once-Top> }", "ep-sparql"),
        ontology="<http://e/Low> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/Flattened-Once-Top> .\n",
    )
    found = engine.push(scepter.Event("http://e/s", "<http://e/i> a <http://e/Low> .", 1))
    assert len(found) == 1 and len(made) == 1
