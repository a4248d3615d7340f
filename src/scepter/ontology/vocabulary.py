"""Which statements speak of the schema and which of the data (spec/50-sparkwave)."""

from __future__ import annotations

from scepter.rdf.terms import IRI, OWL, RDF, RDFS, Term, Triple
from scepter.rdf.terms import TYPE as TYPE_TEXT

TYPE = IRI(TYPE_TEXT)
SUB_CLASS_OF = IRI(RDFS + "subClassOf")
SUB_PROPERTY_OF = IRI(RDFS + "subPropertyOf")
DOMAIN = IRI(RDFS + "domain")
RANGE = IRI(RDFS + "range")
INVERSE_OF = IRI(OWL + "inverseOf")
SYMMETRIC_PROPERTY = IRI(OWL + "SymmetricProperty")
EQUIVALENT_CLASS = IRI(OWL + "equivalentClass")
EQUIVALENT_PROPERTY = IRI(OWL + "equivalentProperty")

# What RDFS and OWL offer to say about things that are no classes and no properties.
_DATA_PREDICATES = frozenset(
    {IRI(RDFS + name) for name in ("label", "comment", "seeAlso", "isDefinedBy", "member")}
    | {IRI(OWL + name) for name in ("sameAs", "differentFrom", "versionInfo", "topObjectProperty", "topDataProperty")}
)
_DATA_CLASSES = frozenset(
    {IRI(OWL + name) for name in ("Thing", "Nothing", "NamedIndividual")}
    | {IRI(RDFS + name) for name in ("Resource", "Literal", "Container", "ContainerMembershipProperty")}
)
_PROPERTY = IRI(RDF + "Property")

SCHEMA_PREDICATES = frozenset({SUB_CLASS_OF, SUB_PROPERTY_OF, DOMAIN, RANGE, INVERSE_OF, EQUIVALENT_CLASS, EQUIVALENT_PROPERTY})
"""The predicates of the statements that entailment uses."""
SCHEMA_CLASSES = frozenset(
    {IRI(RDFS + "Class"), IRI(OWL + "Class"), IRI(OWL + "ObjectProperty"), IRI(OWL + "DatatypeProperty"), _PROPERTY}
    | {SYMMETRIC_PROPERTY}
)
"""What is declared by rdf:type in most schemas."""


def is_schema(triple: Triple) -> bool:
    """Whether a statement is one of the RDFS/OWL vocabulary, so that it acts as schema and matches no pattern.

    >>> is_schema(Triple(IRI("http://e/A"), SUB_CLASS_OF, IRI("http://e/B")))
    True
    >>> is_schema(Triple(IRI("http://e/A"), IRI(RDFS + "label"), IRI("http://e/B")))
    False
    """
    return speaks_of_schema(triple.predicate, triple.object)


def speaks_of_schema(predicate: Term, about: Term | None) -> bool:
    """`is_schema` of any statement with this predicate and object; None is an object that is not known."""
    if predicate == TYPE:
        return about == _PROPERTY or (_in_vocabulary(about) and about not in _DATA_CLASSES)
    return _in_vocabulary(predicate) and predicate not in _DATA_PREDICATES


def _in_vocabulary(term: object) -> bool:
    return isinstance(term, IRI) and term.value.startswith((RDFS, OWL))
