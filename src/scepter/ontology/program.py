"""Rules ready to run: only those that can make an event occur or an item inconsistent, indexed by what sets them off."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scepter.algebra.classes import Property
from scepter.ontology.axioms import Axiom
from scepter.ontology.datatypes import datatypes, is_datatype
from scepter.ontology.rules import BOTTOM, TOP, Concept, RuleBase
from scepter.ontology.saturation import closure, saturate
from scepter.rdf.terms import IRI, Term


class Step(NamedTuple):
    """A propagation along one predicate: from `concept` at one end (the subject if `forward`) to `head` at the other."""

    concept: Concept
    predicate: IRI
    forward: bool
    head: Concept


@dataclass(frozen=True, slots=True)
class RuleProgram:
    """Compiled rules. `TOP` and what everything is stand in no body."""

    goals: Mapping[Concept, IRI]
    """The concepts of the events asked for."""
    classes: Mapping[IRI, Concept]
    """The classes whose instances matter."""
    nominals: Mapping[Term, tuple[Concept, ...]]
    conjunctions: Mapping[Concept, tuple[tuple[tuple[Concept, ...], Concept], ...]]
    """Per concept: the others it needs, and what they make together."""
    makers: Mapping[Concept, tuple[tuple[Concept, ...], ...]]
    """Per concept: the bodies that make it."""
    steps: Mapping[IRI, tuple[Step, ...]]
    """Per predicate."""
    onward: Mapping[Concept, tuple[Step, ...]]
    """Per concept that a step starts from."""
    inward: Mapping[Concept, tuple[Step, ...]]
    """Per concept that a step makes."""
    inconsistent: bool = False
    """Whether the axioms alone contradict themselves."""

    @property
    def names_datatypes(self) -> bool:
        """Whether the datatypes of literals matter."""
        return any(map(is_datatype, self.classes))

    def of_literal(self, term: Term) -> list[Concept]:
        """What a literal is without any triple."""
        return [self.classes[iri] for iri in datatypes(term) if iri in self.classes]


def compile_rules(axioms: Iterable[Axiom], goals: Iterable[IRI]) -> RuleProgram:
    """Rules of axioms for the events asked for; raises BeyondFragment where an axiom has none.

    >>> from scepter.algebra.classes import Named
    >>> from scepter.ontology.axioms import SubClassOf
    >>> a, h = IRI("http://a"), IRI("http://h")
    >>> program = compile_rules([SubClassOf(Named(a), Named(h))], [h])
    >>> len(program.classes)
    2
    """
    rules = RuleBase()
    for axiom in axioms:
        rules.add(axiom)
    wanted = {rules.concept(iri): iri for iri in goals}
    rules.propagate_transitively()
    saturate(rules)
    always = closure(frozenset(), rules.conjunctions) | {TOP}
    bodies = {
        (rule.body - always, rule.head) for rule in rules.conjunctions if rule.head not in always and rule.head not in rule.body
    }
    steps = {
        step
        for rule in rules.propagations
        if rule.head not in always
        for step in _steps(rules, rule.concept, rule.property, rule.head)
    }
    steps = {Step(TOP if s.concept in always else s.concept, s.predicate, s.forward, s.head) for s in steps}
    needed = _needed({*wanted, BOTTOM}, bodies, steps)
    return _indexed(rules, wanted, needed, bodies, steps, BOTTOM in always)


def _steps(rules: RuleBase, concept: Concept, property: Property, head: Concept) -> Iterable[Step]:
    """The predicates of triples along which a propagation goes: all below its property."""
    below = {property}
    for narrow in {*rules.wider, *(p.inverted() for p in rules.wider)}:
        if property in rules.supers(narrow):
            below.add(narrow)
    return (Step(concept, each.iri, not each.inverse, head) for each in below)


def _needed(goals: set[Concept], bodies: set[tuple[frozenset[Concept], Concept]], steps: set[Step]) -> set[Concept]:
    """The concepts from which a goal can be reached."""
    makers: dict[Concept, set[Concept]] = defaultdict(set)
    for body, head in bodies:
        makers[head] |= body
    for step in steps:
        makers[step.head].add(step.concept)
    needed = set(goals)
    pending = list(goals)
    while pending:
        for concept in makers.get(pending.pop(), ()):
            if concept not in needed:
                needed.add(concept)
                pending.append(concept)
    return needed


def _indexed(
    rules: RuleBase,
    goals: Mapping[Concept, IRI],
    needed: set[Concept],
    bodies: set[tuple[frozenset[Concept], Concept]],
    steps: set[Step],
    inconsistent: bool,
) -> RuleProgram:
    conjunctions, makers = defaultdict(list), defaultdict(list)
    for body, head in sorted(((tuple(sorted(b)), h) for b, h in bodies if h in needed), key=lambda r: (r[1], r[0])):
        makers[head].append(body)
        for concept in body:
            conjunctions[concept].append((tuple(c for c in body if c != concept), head))
    by_predicate, onward, inward = defaultdict(list), defaultdict(list), defaultdict(list)
    for step in sorted((s for s in steps if s.head in needed), key=lambda s: (s.predicate.value, *s[:1], *s[2:])):
        by_predicate[step.predicate].append(step)
        onward[step.concept].append(step)
        inward[step.head].append(step)
    nominals = defaultdict(list)
    for term, concept in rules.nominals.items():
        if concept in needed:
            nominals[term].append(concept)
    return RuleProgram(
        dict(goals),
        {iri: concept for iri, concept in rules.classes.items() if concept in needed},
        {term: tuple(found) for term, found in nominals.items()},
        {concept: tuple(found) for concept, found in conjunctions.items()},
        {concept: tuple(found) for concept, found in makers.items()},
        {predicate: tuple(found) for predicate, found in by_predicate.items()},
        {concept: tuple(found) for concept, found in onward.items()},
        {concept: tuple(found) for concept, found in inward.items()},
        inconsistent,
    )
