"""The axioms of an ontology, read from its triples (OWL 2's mapping to RDF graphs).

Everything that says something about classes is one `SubClassOf`: equivalence, disjointness, domain and range are written with
it. What is no axiom is an assertion about individuals, which holds without needing a triple of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from scepter.algebra.classes import (
    And,
    Cardinality,
    ClassExpression,
    HasSelf,
    HasValue,
    Named,
    Not,
    Nothing,
    OneOf,
    Only,
    Or,
    Property,
    Some,
    Thing,
)
from scepter.errors import option_error
from scepter.rdf.terms import IRI, OWL, RDF, RDFS, TYPE, BlankNode, Literal, Term, Triple


@dataclass(frozen=True, slots=True)
class SubClassOf:
    """Every `sub` is a `sup`."""

    sub: ClassExpression
    sup: ClassExpression


@dataclass(frozen=True, slots=True)
class SubProperty:
    """Whatever `sub` relates, `sup` relates."""

    sub: Property
    sup: Property


@dataclass(frozen=True, slots=True)
class Transitive:
    """`r` of `r` is `r`."""

    property: IRI


@dataclass(frozen=True, slots=True)
class Chain:
    """`r1 o r2 o … -> r`."""

    links: tuple[Property, ...]
    sup: Property


@dataclass(frozen=True, slots=True)
class Trait:
    """`FunctionalObjectProperty(r)` and the like: traits that only a complete reasoner knows how to use."""

    kind: str
    property: Property


@dataclass(frozen=True, slots=True)
class DisjointProperties:
    """No pair is related by both."""

    first: Property
    second: Property


Axiom: TypeAlias = SubClassOf | SubProperty | Transitive | Chain | Trait | DisjointProperties


@dataclass(frozen=True, slots=True)
class Ontology:
    """Axioms, and assertions about individuals."""

    axioms: tuple[Axiom, ...] = ()
    assertions: tuple[Triple, ...] = ()


def _owl(name: str) -> IRI:
    return IRI(OWL + name)


def _rdfs(name: str) -> IRI:
    return IRI(RDFS + name)


_TYPE = IRI(TYPE)
_FIRST, _REST, _NIL = IRI(RDF + "first"), IRI(RDF + "rest"), IRI(RDF + "nil")
_TRAITS = {
    _owl("FunctionalProperty"): "FunctionalObjectProperty",
    _owl("InverseFunctionalProperty"): "InverseFunctionalObjectProperty",
    _owl("AsymmetricProperty"): "AsymmetricObjectProperty",
    _owl("ReflexiveProperty"): "ReflexiveObjectProperty",
    _owl("IrreflexiveProperty"): "IrreflexiveObjectProperty",
}
_COUNTS = {
    _owl("minCardinality"): "min",
    _owl("maxCardinality"): "max",
    _owl("cardinality"): "exactly",
    _owl("minQualifiedCardinality"): "min",
    _owl("maxQualifiedCardinality"): "max",
    _owl("qualifiedCardinality"): "exactly",
}
_DECLARED = {
    *(_owl(n) for n in ("Class", "ObjectProperty", "DatatypeProperty", "AnnotationProperty", "NamedIndividual", "Ontology")),
    *(_owl(n) for n in ("Restriction", "DeprecatedClass", "DeprecatedProperty")),
    _rdfs("Class"), _rdfs("Datatype"), IRI(RDF + "Property"), IRI(RDF + "List"),
}  # fmt: skip
_ANNOTATIONS = {
    *(_rdfs(n) for n in ("label", "comment", "seeAlso", "isDefinedBy")),
    *(_owl(n) for n in ("versionInfo", "versionIRI", "imports", "deprecated", "priorVersion", "backwardCompatibleWith")),
}
_INSIDE = {
    *(_owl(n) for n in ("onProperty", "someValuesFrom", "allValuesFrom", "hasValue", "hasSelf", "intersectionOf", "unionOf")),
    *(_owl(n) for n in ("complementOf", "oneOf", "onClass", "onDataRange", "onDatatype", "withRestrictions", "members")),
    *_COUNTS, _FIRST, _REST,
}  # fmt: skip
"""Parts of class expressions and lists: read from where they are used."""
_UNKNOWN = {
    *(_owl(n) for n in ("hasKey", "NegativePropertyAssertion", "sourceIndividual", "assertionProperty", "targetIndividual")),
    *(_owl(n) for n in ("targetValue", "AllDifferent", "distinctMembers")),
}


def read_ontology(triples: Iterable[Triple]) -> Ontology:
    """The axioms and assertions of an ontology's triples.

    >>> a, b = IRI("http://a"), IRI("http://b")
    >>> read_ontology([Triple(a, IRI(RDFS + "subClassOf"), b)]).axioms[0]
    SubClassOf(sub=Named(iri=IRI(value='http://a')), sup=Named(iri=IRI(value='http://b')))

    Raises OptionError for what is broken, or means something that neither reasoner is asked to know.
    """
    graph = _Graph(triples)
    axioms: list[Axiom] = []
    assertions: list[Triple] = []
    for triple in graph.triples:
        found = graph.axioms_of(triple)
        if found is None:
            assertions.append(triple)
        else:
            axioms += found
    return Ontology(tuple(dict.fromkeys(axioms)), tuple(assertions))


def _broken(message: str) -> Exception:
    return option_error("ontology", f"the ontology cannot be read: {message}")


@dataclass(slots=True)
class _Graph:
    given: Iterable[Triple]
    triples: list[Triple] = field(default_factory=list)
    _objects: dict[tuple[Term, Term], list[Term]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.triples = list(dict.fromkeys(self.given))
        for s, p, o in self.triples:
            self._objects.setdefault((s, p), []).append(o)

    def one(self, subject: Term, predicate: IRI) -> Term | None:
        """The object of a predicate that may stand once."""
        found = self._objects.get((subject, predicate), ())
        if len(found) > 1:
            raise _broken(f"{subject} has {len(found)} values for {predicate}")
        return found[0] if found else None

    # ---- axioms

    def axioms_of(self, triple: Triple) -> list[Axiom] | None:
        """What a triple says; None for an assertion about an individual."""
        s, p, o = triple
        if p == _TYPE:
            return self._typed(s, o)
        if p in _UNKNOWN:
            raise _broken(f"{p} is not supported")
        if p in _ANNOTATIONS or (p in _INSIDE and not self._is_definition(s, p)):
            return []
        if p in (_rdfs("subClassOf"), _owl("equivalentClass"), _owl("disjointWith"), _owl("disjointUnionOf")) or p in _INSIDE:
            return list(self._class_axioms(s, p, o))
        return self._property_axioms(s, p, o)

    def _is_definition(self, subject: Term, predicate: Term) -> bool:
        """`A owl:unionOf (…)` with a name for a subject defines A."""
        defining = (_owl("intersectionOf"), _owl("unionOf"), _owl("complementOf"), _owl("oneOf"))
        return isinstance(subject, IRI) and predicate in defining

    def _typed(self, subject: Term, kind: Term) -> list[Axiom] | None:
        if kind in _DECLARED:
            return []
        if kind == _owl("TransitiveProperty"):
            return [Transitive(self._property_name(subject))]
        if kind == _owl("SymmetricProperty"):
            property = Property(self._property_name(subject))
            return [SubProperty(property, property.inverted())]
        if kind in _TRAITS:
            return [Trait(_TRAITS[kind], self.property(subject))]
        if kind == _owl("AllDisjointClasses"):
            members = [self.expression(m) for m in self.listed(self.one(subject, _owl("members")))]
            return list(_disjoint(members))
        if kind == _owl("AllDisjointProperties"):
            properties = [self.property(m) for m in self.listed(self.one(subject, _owl("members")))]
            return [DisjointProperties(a, b) for i, a in enumerate(properties) for b in properties[i + 1 :]]
        if kind in (_owl("Axiom"), _owl("Annotation")):
            return []
        if isinstance(kind, IRI) and kind.value.startswith(OWL) and kind not in (_owl("Thing"), _owl("Nothing")):
            raise _broken(f"{kind} is not supported")
        return None

    def _class_axioms(self, s: Term, p: Term, o: Term) -> Iterator[Axiom]:
        sub = self.expression(s) if isinstance(s, BlankNode) else Named(_iri(s))
        sub = sub if not isinstance(sub, Named) else _named(sub.iri)
        if p == _rdfs("subClassOf"):
            yield SubClassOf(sub, self.expression(o))
        elif p == _owl("equivalentClass"):
            other = self.expression(o)
            yield from (SubClassOf(sub, other), SubClassOf(other, sub))
        elif p == _owl("disjointWith"):
            yield from _disjoint([sub, self.expression(o)])
        elif p == _owl("disjointUnionOf"):
            members = [self.expression(m) for m in self.listed(o)]
            yield from (SubClassOf(sub, Or(tuple(members))), SubClassOf(Or(tuple(members)), sub))
            yield from _disjoint(members)
        else:
            other = self._boolean(p, o)
            yield from (SubClassOf(sub, other), SubClassOf(other, sub))

    def _property_axioms(self, s: Term, p: Term, o: Term) -> list[Axiom] | None:
        if p == _rdfs("subPropertyOf"):
            return [SubProperty(self.property(s), self.property(o))]
        if p == _owl("equivalentProperty"):
            a, b = self.property(s), self.property(o)
            return [SubProperty(a, b), SubProperty(b, a)]
        if p == _owl("inverseOf"):
            if isinstance(s, BlankNode):
                return []  # the name of an inverse, read where it is used
            a, b = self.property(s), self.property(o).inverted()
            return [SubProperty(a, b), SubProperty(b, a)]
        if p == _rdfs("domain"):
            return [SubClassOf(Some(self.property(s), Thing()), self.expression(o))]
        if p == _rdfs("range"):
            return [SubClassOf(Some(self.property(s).inverted(), Thing()), self.expression(o))]
        if p == _owl("propertyDisjointWith"):
            return [DisjointProperties(self.property(s), self.property(o))]
        if p == _owl("propertyChainAxiom"):
            return [Chain(tuple(self.property(link) for link in self.listed(o)), self.property(s))]
        return None

    # ---- parts

    def _property_name(self, term: Term) -> IRI:
        return self.property(term).iri

    def property(self, term: Term) -> Property:
        """A property, or `[ owl:inverseOf r ]`."""
        if isinstance(term, BlankNode):
            inverse = self.one(term, _owl("inverseOf"))
            if inverse is None:
                raise _broken(f"{term} stands where a property should")
            return self.property(inverse).inverted()
        return Property(_iri(term))

    def listed(self, cell: Term | None) -> list[Term]:
        """The members of an RDF list."""
        found: list[Term] = []
        seen: set[Term] = set()
        while cell != _NIL:
            if cell is None or cell in seen:
                raise _broken("a list does not end")
            seen.add(cell)
            member = self.one(cell, _FIRST)
            if member is None:
                raise _broken("a list has a cell without a value")
            found.append(member)
            cell = self.one(cell, _REST)
        return found

    def expression(self, term: Term, above: frozenset[Term] = frozenset()) -> ClassExpression:
        """The class expression that a node stands for."""
        if isinstance(term, IRI):
            return _named(term)
        if not isinstance(term, BlankNode) or term in above:
            raise _broken(f"{term} stands where a class should")
        inside = above | {term}
        for predicate in (_owl("intersectionOf"), _owl("unionOf"), _owl("complementOf"), _owl("oneOf")):
            value = self.one(term, predicate)
            if value is not None:
                return self._boolean(predicate, value, inside)
        on = self.one(term, _owl("onProperty"))
        if on is None:
            raise _broken(f"{term} is no class expression that is supported")
        return self._restriction(term, self.property(on), inside)

    def _boolean(self, predicate: Term, value: Term, inside: frozenset[Term] = frozenset()) -> ClassExpression:
        if predicate == _owl("complementOf"):
            return Not(self.expression(value, inside))
        members = self.listed(value)
        if predicate == _owl("oneOf"):
            return OneOf(tuple(members))
        operands = tuple(self.expression(member, inside) for member in members)
        if predicate == _owl("intersectionOf"):
            return And(operands) if operands else Thing()
        return Or(operands) if operands else Nothing()

    def _restriction(self, term: BlankNode, property: Property, inside: frozenset[Term]) -> ClassExpression:
        if (filler := self.one(term, _owl("someValuesFrom"))) is not None:
            return Some(property, self.expression(filler, inside))
        if (filler := self.one(term, _owl("allValuesFrom"))) is not None:
            return Only(property, self.expression(filler, inside))
        if (value := self.one(term, _owl("hasValue"))) is not None:
            return HasValue(property, value)
        if self.one(term, _owl("hasSelf")) is not None:
            return HasSelf(property)
        for predicate, kind in _COUNTS.items():
            if (count := self.one(term, predicate)) is not None:
                on = self.one(term, _owl("onClass")) or self.one(term, _owl("onDataRange"))
                if not isinstance(count, Literal) or not count.lexical.isdecimal():
                    raise _broken(f"{count} is no cardinality")
                return Cardinality(kind, int(count.lexical), property, Thing() if on is None else self.expression(on, inside))
        raise _broken(f"the restriction on {property.iri} is of no supported kind")


def _iri(term: Term) -> IRI:
    if not isinstance(term, IRI):
        raise _broken(f"{term} stands where a name should")
    return term


def _named(iri: IRI) -> ClassExpression:
    if iri in (_owl("Thing"), _rdfs("Resource")):
        return Thing()
    return Nothing() if iri == _owl("Nothing") else Named(iri)


def _disjoint(members: list[ClassExpression]) -> Iterator[SubClassOf]:
    for i, a in enumerate(members):
        for b in members[i + 1 :]:
            yield SubClassOf(And((a, b)), Nothing())
