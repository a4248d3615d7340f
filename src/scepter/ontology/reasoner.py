"""Minimal justifications by rules: exact for what `ontology.rules` compiles (spec/40-obep rules 1 and 7).

Derivations are carried with the sets of triples they rest on. An item sets off only the rules its triples touch; what the
static assertions alone entail about an individual is worked out backwards, when a rule first asks, and kept.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from scepter.ontology.assertions import RDF_TYPE, Assertions, is_individual
from scepter.ontology.justifications import NEEDS_NOTHING, Antichain, Justification, unions
from scepter.ontology.program import RuleProgram, Step
from scepter.ontology.rules import BOTTOM, TOP, Concept
from scepter.rdf.terms import IRI, Term, Triple

Fact: TypeAlias = tuple[Concept, Term]
_NEEDS_NOTHING = (NEEDS_NOTHING,)
_NONE: tuple[Justification, ...] = ()


class Found(NamedTuple):
    """An individual that an event occurs with, and a minimal justification."""

    event: IRI
    individual: Term
    justification: Justification


@dataclass(frozen=True, slots=True)
class Inference:
    """What an item says: occurrences, or the triples it contradicts itself with."""

    found: tuple[Found, ...] = ()
    conflict: Justification | None = None


class StaticInference:
    """What the static assertions entail by themselves, worked out for the facts that are asked for."""

    def __init__(self, program: RuleProgram, assertions: Assertions) -> None:
        self._program = program
        self._assertions = assertions
        self._known: dict[Fact, tuple[Justification, ...]] = {}
        self._names = {concept: iri for iri, concept in program.classes.items()}

    def sets(self, fact: Fact) -> Sequence[Justification]:
        """The minimal justifications of a fact."""
        if fact[0] == TOP:
            return _NEEDS_NOTHING
        found = self._known.get(fact)
        if found is None:
            if not self._assertions.knows(fact[1]) and fact[1] not in self._program.nominals:
                return _NONE  # kept for nobody whom only an item mentions: items go on for ever
            self._work_out(fact)
            found = self._known[fact]
        return found

    def conflict(self) -> Justification | None:
        """A minimal set of static assertions that contradict each other, if there is one."""
        from scepter.ontology.consistency import contradicted  # with numpy, which explaining a plan does not load

        nodes = contradicted(self._program, self._assertions)
        if not nodes:
            return None
        found = self.sets((BOTTOM, min(nodes, key=str)))
        return min(found, key=lambda each: (len(each), sorted(map(str, each))))

    def _work_out(self, wanted: Fact) -> None:
        """Collect the facts that the wanted one may rest on, then let justifications flow until nothing new comes."""
        sets: dict[Fact, Antichain] = {}
        uses: dict[Fact, list[tuple[Fact, tuple[Fact, ...], Justification]]] = defaultdict(list)
        changed: deque[Fact] = deque()
        pending = [wanted]
        while pending:
            fact = pending.pop()
            if fact in sets:
                continue
            sets[fact] = Antichain(self._given(fact))
            for body, needs in self._instances(fact):
                open_parts = [part for part in body if part[0] != TOP]
                for part in open_parts:
                    uses[part].append((fact, body, needs))
                    if part not in self._known:
                        pending.append(part)
                if not open_parts:
                    sets[fact].add(needs)
            if len(sets[fact]):
                changed.append(fact)
        for part in uses:
            if part in self._known:
                changed.append(part)
        while changed:
            part = changed.popleft()
            for fact, body, needs in uses.get(part, ()):
                parts = [self._current(each, sets) for each in body]
                if all(parts) and any([sets[fact].add(needs.union(each)) for each in unions(parts)]):  # noqa: C419 - add all
                    changed.append(fact)
        self._known.update({fact: tuple(found) for fact, found in sets.items()})

    def _current(self, fact: Fact, sets: dict[Fact, Antichain]) -> Sequence[Justification]:
        if fact[0] == TOP:
            return _NEEDS_NOTHING
        found = self._known.get(fact)
        return found if found is not None else tuple(sets[fact])

    def _given(self, fact: Fact) -> Iterable[Justification]:
        concept, node = fact
        if concept in self._program.nominals.get(node, ()) or concept in self._program.of_literal(node):
            yield NEEDS_NOTHING
        iri = self._names.get(concept)
        if iri is not None and self._assertions.holds(triple := Triple(node, RDF_TYPE, iri)):
            yield self._assertions.needs(triple)

    def _instances(self, fact: Fact) -> Iterable[tuple[tuple[Fact, ...], Justification]]:
        """The rule instances over the static assertions that would make a fact."""
        concept, node = fact
        for body in self._program.makers.get(concept, ()):
            yield tuple((each, node) for each in body), NEEDS_NOTHING
        for step in self._program.inward.get(concept, ()):
            for triple in self._assertions.along(step.predicate, node, not step.forward):
                start = triple.subject if step.forward else triple.object
                yield ((step.concept, start),), self._assertions.needs(triple)


class RuleReasoner:
    """Occurrences of events in items, by rules."""

    def __init__(self, program: RuleProgram, assertions: Assertions) -> None:
        self.program = program
        self.assertions = assertions
        self.static = StaticInference(program, assertions)
        self.typed = program.names_datatypes

    def relevant(self, triples: Iterable[Triple]) -> list[Triple]:
        """The triples that a rule can use."""
        classes, steps = self.program.classes, self.program.steps
        return [t for t in triples if (t.object in classes if t.predicate == RDF_TYPE else t.predicate in steps)]

    def infer(self, triples: Iterable[Triple]) -> Inference:
        """What an item entails together with the static assertions, as far as a triple of the item is needed for it."""
        relevant = self.relevant(triples)
        return _ItemInference(self, relevant).run() if relevant else Inference()


class _ItemInference:
    def __init__(self, reasoner: RuleReasoner, triples: list[Triple]) -> None:
        self._program = reasoner.program
        self._assertions = reasoner.assertions
        self._static = reasoner.static
        self._typed = reasoner.typed
        self._triples = triples
        self._item = frozenset(triples)
        self._overlaps = any(map(self._assertions.states, triples))
        self._sets: dict[Fact, Antichain] = {}
        self._queue: deque[tuple[Fact, Justification]] = deque()
        self._edges: dict[Term, list[tuple[Step, Term, Triple]]] = defaultdict(list)
        self._conflict: Justification | None = None

    def run(self) -> Inference:
        """Let every triple of the item set off its rules."""
        steps: list[tuple[Step, Term, Term, Triple]] = []
        for triple in self._triples:
            if triple in self._assertions.free:
                continue
            if triple.predicate == RDF_TYPE:
                assert isinstance(triple.object, IRI)  # by `relevant`
                self._add((self._program.classes[triple.object], triple.subject), frozenset((triple,)))
                continue
            assert isinstance(triple.predicate, IRI)
            for step in self._program.steps[triple.predicate]:
                start, end = (triple.subject, triple.object) if step.forward else (triple.object, triple.subject)
                self._edges[start].append((step, end, triple))
                steps.append((step, start, end, triple))
        for step, start, end, triple in steps:
            for needs in self._apart((step.concept, start)):
                self._add((step.head, end), needs | {triple})
        if self._typed:
            for triple in self._triples:
                for concept in self._program.of_literal(triple.object):
                    self._add((concept, triple.object), NEEDS_NOTHING)
        while self._queue and self._conflict is None:
            fact, needs = self._queue.popleft()
            if needs in self._sets[fact]:
                self._follow(fact, needs)
        return self._inference()

    def _follow(self, fact: Fact, needs: Justification) -> None:
        concept, node = fact
        for others, head in self._program.conjunctions.get(concept, ()):
            if not others:
                self._add((head, node), needs)
                continue
            parts = [self._all((other, node)) for other in others]
            if all(parts):
                for each in unions(parts):
                    self._add((head, node), needs | each)
        for step, end, triple in self._edges.get(node, ()):
            if step.concept == concept:
                self._add((step.head, end), needs | {triple})
        for step in self._program.onward.get(concept, ()):
            for triple in self._assertions.along(step.predicate, node, step.forward):
                end = triple.object if step.forward else triple.subject
                self._add((step.head, end), needs | self._assertions.needs(triple))

    def _apart(self, fact: Fact) -> Sequence[Justification]:
        """Justifications that need no triple of the item."""
        sets = self._static.sets(fact)
        return [each for each in sets if each.isdisjoint(self._item)] if self._overlaps else sets

    def _all(self, fact: Fact) -> list[Justification]:
        found = self._sets.get(fact)
        return [*self._apart(fact), *(found or ())]

    def _add(self, fact: Fact, needs: Justification) -> None:
        if fact[0] == BOTTOM:
            if self._conflict is None or len(needs) < len(self._conflict):
                self._conflict = needs
            return
        sets = self._sets.get(fact)
        if sets is not None and sets.covers(needs):
            return
        if any(each <= needs for each in self._apart(fact)):
            return
        if sets is None:
            sets = self._sets[fact] = Antichain()
        sets.add(needs)
        self._queue.append((fact, needs))

    def _inference(self) -> Inference:
        if self._conflict is not None:
            return Inference(conflict=self._conflict)
        goals = self._program.goals
        return Inference(
            tuple(
                Found(goals[concept], node, needs)
                for (concept, node), sets in self._sets.items()
                if concept in goals and is_individual(node)
                for needs in sets
            )
        )
