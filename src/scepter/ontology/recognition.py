"""Which reasoner serves which event, and what an item is found to hold.

A definition `H is equivalent to B` is used from B to H only, unless something else may make an H: the ontology names it, or
data says `x a H`. Most events therefore stay within rules although their definitions read the other way round are beyond them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scepter.algebra.classes import Named, names
from scepter.algebra.events import LogicalEvent
from scepter.ontology.assertions import IDENTITY, RDF_TYPE, Assertions, Triples
from scepter.ontology.axioms import Axiom, Ontology, SubClassOf
from scepter.ontology.complete import CompleteReasoner
from scepter.ontology.contradictions import Statement, conflict_by, conflict_by_rules, contradiction
from scepter.ontology.hermit import require
from scepter.ontology.justifications import NEEDS_NOTHING
from scepter.ontology.locality import connected, module, vocabulary
from scepter.ontology.program import RuleProgram, compile_rules
from scepter.ontology.reasoner import Inference, RuleReasoner, StaticInference
from scepter.ontology.rules import BeyondFragment, RuleBase
from scepter.ontology.shapes import ShapeReasoner
from scepter.rdf.terms import IRI, Term, Triple


def beyond(axiom: Axiom) -> str | None:
    """Why an axiom has no rules; None if it has."""
    try:
        RuleBase().add(axiom)
    except BeyondFragment as error:
        return str(error)
    return None


@dataclass(frozen=True, slots=True)
class Routing:
    """How events are served while nothing but the `both_ways` events is made an H otherwise."""

    axioms: tuple[Axiom, ...]
    """The ontology's and the definitions that count both ways."""
    by_rules: tuple[LogicalEvent, ...]
    completely: tuple[LogicalEvent, ...]
    reasons: dict[IRI, str]
    """Per event served by the complete reasoner: what is beyond rules."""
    hard: tuple[tuple[Axiom, str], ...]
    """Axioms beyond rules, each with its reason: where one of them can matter, all events need the complete reasoner."""
    program: RuleProgram | None
    """None if the rules are too many."""


def route(ontology: Ontology, events: Sequence[LogicalEvent], asserted: Iterable[IRI] = ()) -> Routing:
    """Which reasoner serves which event. `asserted` are events whose instances the data states."""
    by_name = {event.event: event for event in events}
    spoken = {iri for axiom in ontology.axioms for iri in vocabulary(axiom)}
    both_ways = _reached([*(iri for iri in by_name if iri in spoken), *asserted], by_name)
    definitions = [axiom for iri in sorted(both_ways, key=str) for axiom in definition(by_name[iri])]
    axioms = (*ontology.axioms, *definitions)
    hard = tuple((axiom, reason) for axiom in axioms if (reason := beyond(axiom)) is not None)
    reasons: dict[IRI, str] = {}
    for event in events:
        if event.event not in both_ways and (reason := beyond(_towards(event))) is not None:
            reasons[event.event] = reason
    for event in events:
        for iri in _reached([event.event], by_name):
            if iri in reasons and event.event not in reasons:
                reasons[event.event] = f"{reasons[iri]} in {iri}"
    by_rules = tuple(event for event in events if event.event not in reasons)
    soft = [axiom for axiom in axioms if all(axiom != other for other, _ in hard)]
    try:
        program = compile_rules([*soft, *map(_towards, by_rules)], [event.event for event in by_rules])
    except BeyondFragment as error:
        program, hard = None, (*hard, *((axiom, str(error)) for axiom in axioms))
    return Routing(axioms, by_rules, tuple(e for e in events if e.event in reasons), reasons, hard, program)


def _towards(event: LogicalEvent) -> SubClassOf:
    return SubClassOf(event.description, Named(event.event))


def definition(event: LogicalEvent) -> tuple[SubClassOf, SubClassOf]:
    """What `EVENT H AS B` says: every B is an H, and every H a B (rule 1)."""
    return _towards(event), SubClassOf(Named(event.event), event.description)


def _reached(start: Iterable[IRI], events: dict[IRI, LogicalEvent]) -> set[IRI]:
    """Some events and those that their definitions name, and so on."""
    found: set[IRI] = set()
    pending = [iri for iri in start if iri in events]
    while pending:
        iri = pending.pop()
        if iri not in found:
            found.add(iri)
            pending += (name for name in names(events[iri].description) if name in events)
    return found


class _Served:
    """A routing at work."""

    def __init__(self, routing: Routing, events: Sequence[LogicalEvent], assertions: Assertions) -> None:
        self.routing = routing
        self._assertions = assertions
        definitions = [axiom for event in events for axiom in definition(event)]
        self._every = (*routing.axioms, *definitions)
        self._goals = [event.event for event in events]
        self.rules = None if routing.program is None else ShapeReasoner(RuleReasoner(routing.program, assertions))
        self._some: CompleteReasoner | None = None
        self._all: CompleteReasoner | None = None
        self._static_words = frozenset(assertions.vocabulary())
        self._names_alike = not self._static_words.isdisjoint(IDENTITY)
        self._needs_all: dict[frozenset[IRI], bool] = {}
        self.completely = frozenset(event.event for event in routing.completely)

    def all_completely(self, words: frozenset[IRI]) -> bool:
        """Whether an axiom beyond rules, or who is who, can matter for data in some words."""
        if self._names_alike or not words.isdisjoint(IDENTITY):
            return True
        if not self.routing.hard:
            return False
        found = self._needs_all.get(words)
        if found is None:
            inside = module(self.routing.axioms, words | self._static_words)
            found = self._needs_all[words] = any(axiom in inside for axiom, _ in self.routing.hard)
        return found

    def some(self) -> CompleteReasoner:
        """The complete reasoner for the events that rules cannot serve."""
        if self._some is None:
            words = connected(self._every, self.completely)
            require(_because(self.routing.reasons))
            self._some = CompleteReasoner(self._every, self.completely, self._assertions, words)
        return self._some

    def all(self) -> CompleteReasoner:
        """The complete reasoner for all events."""
        if self._all is None:
            words = frozenset(word for axiom in self._every for word in vocabulary(axiom))
            require(self.routing.hard[0][1] if self.routing.hard else "who is the same (owl:sameAs, owl:differentFrom)")
            self._all = CompleteReasoner(self._every, self._goals, self._assertions, words)
        return self._all

    def statements(self) -> list[Statement]:
        """All that is stated before any item comes, in words that can matter."""
        reasoner = self.all()
        triples = (*self._assertions.static, *self._assertions.free)
        return [*sorted(reasoner.relevant(triples), key=str), *self.routing.axioms]

    def contradict(self, axioms: list[Axiom], triples: list[Triple]) -> bool:
        """Whether some statements contradict each other, by the complete reasoner."""
        words = frozenset(word for axiom in self._every for word in vocabulary(axiom))
        return CompleteReasoner(axioms, (), Assertions(triples), words).conflict()


def _because(reasons: dict[IRI, str]) -> str:
    iri, reason = next(iter(reasons.items()))
    return f"{iri} ({reason})"


class Recogniser:
    """The logical events of items."""

    def __init__(self, events: Sequence[LogicalEvent], ontology: Ontology, static: Sequence[Triples] = ()) -> None:
        self._events = tuple(events)
        self.names = tuple(event.event for event in events)
        """The events, in order."""
        self._ontology = ontology
        self._assertions = Assertions((), ontology.assertions, static)
        self._asserted = self._assertions.classes() & frozenset(self.names)
        self._served: dict[frozenset[IRI], _Served] = {}
        self._check()

    def _stated(self, triples: Iterable[Triple]) -> frozenset[IRI]:
        return frozenset(
            t.object for t in triples if t.predicate == RDF_TYPE and isinstance(t.object, IRI) and t.object in self.names
        )

    def _serve(self, asserted: frozenset[IRI]) -> _Served:
        served = self._served.get(asserted)
        if served is None:
            routing = route(self._ontology, self._events, asserted)
            served = self._served[asserted] = _Served(routing, self._events, self._assertions)
        return served

    @property
    def routing(self) -> Routing:
        """How events are served."""
        return self._serve(frozenset(self._asserted)).routing

    def used_words(self) -> tuple[tuple[IRI, ...], tuple[IRI, ...]] | None:
        """The predicates and classes that alone decide what an item holds, unless it states an event or who is who; None: all
        do."""
        routing = self.routing
        if routing.program is None or routing.hard or routing.completely or not self.words().isdisjoint(IDENTITY):
            return None
        return tuple(routing.program.steps), tuple(routing.program.classes)

    def words(self) -> set[IRI]:
        """The predicates and classes of the static assertions and of those that the ontology makes."""
        return self._assertions.vocabulary()

    def spoken(self) -> set[Term]:
        """Whom assertions of the ontology are about: they need no justification, and so are told apart from all others."""
        return {term for triple in self._assertions.free for term in (triple.subject, triple.object)}

    def _check(self) -> None:
        """Refuse an ontology, or static assertions, that contradict themselves: every item would."""
        served = self._serve(frozenset(self._asserted))
        if (program := served.routing.program) is not None:
            conflict = NEEDS_NOTHING if program.inconsistent else StaticInference(program, self._assertions).conflict()
            if conflict is not None:
                soft = [axiom for axiom in served.routing.axioms if beyond(axiom) is None]
                raise contradiction(conflict_by_rules(soft, conflict, self._ontology.assertions), self._ontology.assertions)
        if served.all_completely(frozenset()) and served.all().conflict():
            raise contradiction(conflict_by(served.contradict, served.statements()), self._ontology.assertions)

    def infer(self, items: Sequence[Iterable[Triple]]) -> list[Inference]:
        """What each item is found to hold; items of the same content are looked at once."""
        contents = [item if isinstance(item, frozenset) else frozenset(item) for item in items]
        distinct = list(dict.fromkeys(contents))
        known = dict(zip(distinct, self._infer(distinct), strict=True))
        return [known[content] for content in contents]

    def _infer(self, items: Sequence[frozenset[Triple]]) -> list[Inference]:
        results: list[Inference] = [Inference()] * len(items)
        some: dict[_Served, list[int]] = {}
        all_: dict[_Served, list[int]] = {}
        for number, item in enumerate(items):
            stated = self._stated(item)
            served = self._serve(frozenset(self._asserted | stated))
            words = _words(item)
            if served.rules is None or served.all_completely(words):
                all_.setdefault(served, []).append(number)
                continue
            results[number] = served.rules.infer(item)
            if served.completely and results[number].conflict is None:
                some.setdefault(served, []).append(number)
        for served, numbers in all_.items():
            self._completely(served.all(), items, numbers, results)
        for served, numbers in some.items():
            self._completely(served.some(), items, numbers, results)
        return results

    def _completely(
        self, reasoner: CompleteReasoner, items: Sequence[frozenset[Triple]], numbers: list[int], results: list[Inference]
    ) -> None:
        relevant = {number: reasoner.relevant(items[number]) for number in numbers}
        asked = [number for number in numbers if relevant[number]]
        for number, inference in zip(asked, reasoner.infer([relevant[n] for n in asked]), strict=True):
            results[number] = Inference((*results[number].found, *inference.found), inference.conflict)


def _words(item: Iterable[Triple]) -> frozenset[IRI]:
    words = (t.object if t.predicate == RDF_TYPE else t.predicate for t in item)
    return frozenset(word for word in words if isinstance(word, IRI))
