"""Which axioms can matter for data in some words: the rest holds however the words' instances are, with all else empty."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

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
    Some,
    Thing,
    names,
)
from scepter.ontology.axioms import Axiom, Chain, DisjointProperties, SubClassOf, SubProperty, Trait, Transitive
from scepter.rdf.terms import IRI


def vocabulary(axiom: Axiom) -> frozenset[IRI]:
    """The classes and properties that an axiom names."""
    match axiom:
        case SubClassOf(sub, sup):
            return frozenset((*names(sub), *names(sup)))
        case SubProperty(sub, sup):
            return frozenset((sub.iri, sup.iri))
        case Transitive(iri):
            return frozenset((iri,))
        case Chain(links, sup):
            return frozenset((sup.iri, *(link.iri for link in links)))
        case Trait(_, property):
            return frozenset((property.iri,))
        case DisjointProperties(first, second):
            return frozenset((first.iri, second.iri))
        case _:
            assert_never(axiom)


def module(axioms: Sequence[Axiom], words: Iterable[IRI]) -> list[Axiom]:
    """The axioms that can matter for data that uses the words (a syntactic bottom-locality module)."""
    known = set(words)
    inside: dict[Axiom, None] = {}
    grown = True
    while grown:
        grown = False
        for axiom in axioms:
            if axiom not in inside and not _local(axiom, known):
                inside[axiom] = None
                known |= vocabulary(axiom)
                grown = True
    return [axiom for axiom in axioms if axiom in inside]


def connected(axioms: Sequence[Axiom], words: Iterable[IRI]) -> frozenset[IRI]:
    """All words that axioms link with some: no other can bear on what those describe, in data without contradiction."""
    known = set(words)
    grown = True
    while grown:
        before = len(known)
        for axiom in axioms:
            if not known.isdisjoint(found := vocabulary(axiom)):
                known |= found
        grown = len(known) > before
    return frozenset(known)


def bearing(axioms: Sequence[Axiom], words: Iterable[IRI]) -> frozenset[IRI]:
    """All words of data from which some can follow: only for axioms that have rules, of which one direction counts.

    >>> from scepter.algebra.classes import Property
    >>> a, b, p = map(IRI, ("http://a", "http://b", "http://p"))
    >>> axioms = [SubClassOf(Named(a), Named(b)), SubClassOf(Some(Property(p), Thing()), Named(a))]
    >>> [sorted(word.value for word in bearing(axioms, [each])) for each in (a, b)]
    [['http://a', 'http://p'], ['http://a', 'http://b', 'http://p']]
    """
    known = set(words)
    grown = True
    while grown:
        before = len(known)
        for axiom in axioms:
            match axiom:
                case SubClassOf(sub, sup) if not known.isdisjoint(names(sup)):
                    known |= set(names(sub))
                case SubProperty(sub, sup) if sup.iri in known:
                    known.add(sub.iri)
                case Chain(links, sup) if sup.iri in known:
                    known |= {link.iri for link in links}
                case _:
                    continue
        grown = len(known) > before
    return frozenset(known)


def _local(axiom: Axiom, known: set[IRI]) -> bool:
    match axiom:
        case SubClassOf(sub, sup):
            return _empty(sub, known) or _full(sup, known)
        case SubProperty(sub, _):
            return sub.iri not in known
        case Transitive(iri):
            return iri not in known
        case Chain(links, _):
            return any(link.iri not in known for link in links)
        case Trait(kind, property):
            return kind != "ReflexiveObjectProperty" and property.iri not in known
        case DisjointProperties(first, second):
            return first.iri not in known or second.iri not in known
        case _:
            assert_never(axiom)


def _empty(expression: ClassExpression, known: set[IRI]) -> bool:
    """Whether nothing is described when all words but the known have no instances."""
    match expression:
        case Nothing():
            return True
        case Thing() | OneOf():
            return False
        case Named(iri):
            return iri not in known
        case And(operands):
            return any(_empty(o, known) for o in operands)
        case Or(operands):
            return all(_empty(o, known) for o in operands)
        case Not(operand):
            return _full(operand, known)
        case Some(property, filler):
            return property.iri not in known or _empty(filler, known)
        case HasValue(property) | HasSelf(property):
            return property.iri not in known
        case Only():
            return False
        case Cardinality(kind, number, property, filler):
            return kind != "max" and number > 0 and (property.iri not in known or _empty(filler, known))
        case _:
            assert_never(expression)


def _full(expression: ClassExpression, known: set[IRI]) -> bool:
    """Whether everything is described when all words but the known have no instances."""
    match expression:
        case Thing():
            return True
        case Nothing() | Named() | HasValue() | HasSelf() | OneOf() | Some():
            return False
        case And(operands):
            return all(_full(o, known) for o in operands)
        case Or(operands):
            return any(_full(o, known) for o in operands)
        case Not(operand):
            return _empty(operand, known)
        case Only(property, filler):
            return property.iri not in known or _full(filler, known)
        case Cardinality(kind, number, property, filler):
            if kind == "min":
                return number == 0
            return (kind == "max" or number == 0) and (property.iri not in known or _empty(filler, known))
        case _:
            assert_never(expression)
