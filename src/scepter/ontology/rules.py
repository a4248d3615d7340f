"""Axioms to rules: the Horn part of description logic, compiled once (spec/40-obep rule 7).

A class expression becomes rules over *concepts*, numbered from `TOP` and `BOTTOM` on, of three shapes:

    Conjunction   A1(x), …, An(x) -> B(x)
    Propagation   A(x), r(x, y)   -> B(y)      `r some C` on the left is C pushed along the inverse of r
    Existence     A(x)            -> r(x, y), B(y) for some y

Existences are compiled away by `ontology.saturation`, transitivity by propagation along itself: what is left needs no more
than the facts of individuals. What has no such rules (`not` on the left, `or` on the right …) raises BeyondFragment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

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
from scepter.ontology.axioms import Axiom, Chain, DisjointProperties, SubClassOf, SubProperty, Trait, Transitive
from scepter.rdf.terms import IRI, Term

Concept: TypeAlias = int
TOP: Concept = 0
BOTTOM: Concept = 1


class BeyondFragment(Exception):
    """What was met has no rules; `str()` says what it is, in a user's words."""


@dataclass(frozen=True, slots=True)
class Conjunction:
    """`body` concepts of one individual make it a `head`; the body may be empty."""

    body: frozenset[Concept]
    head: Concept


@dataclass(frozen=True, slots=True)
class Propagation:
    """`concept(x), property(x, y) -> head(y)`."""

    concept: Concept
    property: Property
    head: Concept


@dataclass(frozen=True, slots=True)
class Existence:
    """`concept(x) -> property(x, y), filler(y)` for some y."""

    concept: Concept
    property: Property
    filler: Concept


@dataclass(slots=True)
class RuleBase:
    """Rules as they are collected, and the concepts that names stand for."""

    conjunctions: dict[Conjunction, None] = field(default_factory=dict)
    propagations: dict[Propagation, None] = field(default_factory=dict)
    existences: dict[Existence, None] = field(default_factory=dict)
    nominals: dict[Term, Concept] = field(default_factory=dict)
    """The concepts of `{a}`: a is one without any triple."""
    classes: dict[IRI, Concept] = field(default_factory=dict)
    wider: dict[Property, set[Property]] = field(default_factory=dict)
    """Direct super-properties."""
    transitive: set[IRI] = field(default_factory=set)
    _made: dict[ClassExpression, Concept] = field(default_factory=dict)
    _count: int = 2

    def add(self, axiom: Axiom) -> None:
        """Take an axiom's rules; raises BeyondFragment and then holds none of them."""
        match axiom:
            case SubClassOf(sub, sup):
                check_left(sub)
                check_right(sup)
                if (concept := self.left(sub)) is not None:
                    self.right(concept, sup)
            case SubProperty(sub, sup):
                self.wider.setdefault(sub, set()).add(sup)
                self.wider.setdefault(sub.inverted(), set()).add(sup.inverted())
            case Transitive(property):
                self.transitive.add(property)
            case Chain() | Trait() | DisjointProperties():
                raise BeyondFragment(_words(axiom))
            case _:
                assert_never(axiom)

    def concept(self, iri: IRI) -> Concept:
        """The concept of a class's name."""
        found = self.classes.get(iri)
        if found is None:
            found = self.classes[iri] = self._fresh()
        return found

    def _fresh(self) -> Concept:
        self._count += 1
        return self._count - 1

    def nominal(self, term: Term) -> Concept:
        """The concept of `{a}`."""
        found = self.nominals.get(term)
        if found is None:
            found = self.nominals[term] = self._fresh()
        return found

    # ---- the left side: whatever is in the expression is in the concept

    def left(self, expression: ClassExpression) -> Concept | None:
        """A concept that holds of all that the expression describes; None if that is nothing."""
        match expression:
            case Thing():
                return TOP
            case Nothing():
                return None
            case Named(iri):
                return self.concept(iri)
        found = self._made.get(expression)
        if found is None:
            found = self._made[expression] = self._fresh()
            self._define(expression, found)
        return found

    def _define(self, expression: ClassExpression, head: Concept) -> None:
        match expression:
            case And(operands):
                concepts = [self.left(operand) for operand in operands]
                if None not in concepts:
                    self._conjunction(frozenset(c for c in concepts if c is not None), head)
            case Or(operands):
                for operand in operands:
                    if (concept := self.left(operand)) is not None:
                        self._conjunction(frozenset({concept}), head)
            case Some(property, filler) | Cardinality("min", 1, property, filler):
                if (concept := self.left(filler)) is not None:
                    self.propagations[Propagation(concept, property.inverted(), head)] = None
            case HasValue(property, value):
                self.propagations[Propagation(self.nominal(value), property.inverted(), head)] = None
            case OneOf(values):
                for value in values:
                    self._conjunction(frozenset({self.nominal(value)}), head)
            case Not() | Only() | Cardinality():
                self._conjunction(frozenset(), head)  # check_left lets only those through that hold of everything
            case _:
                raise BeyondFragment(_words_of(expression))

    def _conjunction(self, body: frozenset[Concept], head: Concept) -> None:
        self.conjunctions[Conjunction(body - {TOP}, head)] = None

    # ---- the right side: whatever is in the concept is in the expression

    def right(self, concept: Concept, expression: ClassExpression) -> None:
        """Rules that make all of a concept what the expression describes."""
        body = frozenset({concept})
        match expression:
            case Thing():
                return
            case Nothing():
                self._conjunction(body, BOTTOM)
            case Named(iri):
                self._conjunction(body, self.concept(iri))
            case And(operands) | Or(operands):
                for operand in operands:  # check_right lets an Or of one through
                    self.right(concept, operand)
            case Not(operand) | Cardinality("max", 0, _, operand):
                denied = operand if isinstance(expression, Not) else Some(expression.property, operand)
                if (other := self.left(denied)) is not None:
                    self._conjunction(body | {other}, BOTTOM)
            case Only(property, filler):
                inner = self._fresh()
                self.propagations[Propagation(concept, property, inner)] = None
                self.right(inner, filler)
            case Some(property, filler) | Cardinality("min", 1, property, filler):
                inner = self._fresh()
                self.existences[Existence(concept, property, inner)] = None
                self.right(inner, filler)
            case Cardinality("min", 0):
                return
            case _:
                raise BeyondFragment(_words_of(expression))

    # ---- properties

    def supers(self, property: Property) -> set[Property]:
        """The property and all above it."""
        found = {property}
        pending = [property]
        while pending:
            for above in self.wider.get(pending.pop(), ()):
                if above not in found:
                    found.add(above)
                    pending.append(above)
        return found

    def propagate_transitively(self) -> None:
        """Let what is propagated along a property go on along each transitive one below it."""
        along = {p for iri in self.transitive for p in (Property(iri), Property(iri, True))}
        for property in sorted(along, key=lambda p: (p.iri.value, p.inverse)):
            above = self.supers(property)
            carriers: dict[Concept, Concept] = {}
            for rule in [r for r in self.propagations if r.property in above]:
                carrier = carriers.get(rule.head)
                if carrier is None:
                    carrier = carriers[rule.head] = self._fresh()
                    self.propagations[Propagation(carrier, property, carrier)] = None
                    self._conjunction(frozenset({carrier}), rule.head)
                self.propagations[Propagation(rule.concept, property, carrier)] = None


def check_left(expression: ClassExpression) -> None:
    """Raise BeyondFragment for what has no rules on the left of an axiom."""
    match expression:
        case Thing() | Nothing() | Named() | HasValue() | OneOf():
            return
        case And(operands) | Or(operands):
            for operand in operands:
                check_left(operand)
        case Some(_, filler) | Cardinality("min", 1, _, filler):
            check_left(filler)
        case Not(Nothing()) | Only(_, Thing()) | Cardinality("min", 0):
            return
        case Not() | Only() | Cardinality() | HasSelf():
            raise BeyondFragment(_words_of(expression))
        case _:
            assert_never(expression)


def check_right(expression: ClassExpression) -> None:
    """Raise BeyondFragment for what has no rules on the right of an axiom."""
    match expression:
        case Thing() | Nothing() | Named():
            return
        case And(operands):
            for operand in operands:
                check_right(operand)
        case Or((operand,)):
            check_right(operand)
        case Not(operand) | Cardinality("max", 0, _, operand):
            check_left(operand)
        case Some(_, filler) | Only(_, filler) | Cardinality("min", 1, _, filler):
            check_right(filler)
        case Cardinality("min", 0):
            return
        case Or() | HasValue() | HasSelf() | OneOf() | Cardinality():
            raise BeyondFragment(_words_of(expression))
        case _:
            assert_never(expression)


def _words_of(expression: ClassExpression) -> str:
    match expression:
        case Not():
            return "'not'"
        case Only():
            return "'only'"
        case Or():
            return "'or' on the right of an axiom"
        case HasValue():
            return "'value' on the right of an axiom"
        case HasSelf():
            return "'Self'"
        case OneOf():
            return "an enumeration on the right of an axiom"
        case Cardinality(kind, number):
            return f"'{kind} {number}'"
        case _:
            return type(expression).__name__


def _words(axiom: Chain | Trait | DisjointProperties) -> str:
    match axiom:
        case Chain(_, sup):
            return f"a property chain for {sup.iri}"
        case Trait(kind, property):
            return f"{kind.removesuffix('ObjectProperty').lower()} property {property.iri}"
        case DisjointProperties(first, second):
            return f"the disjoint properties {first.iri} and {second.iri}"
        case _:
            assert_never(axiom)
