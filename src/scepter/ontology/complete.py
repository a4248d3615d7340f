"""Minimal justifications with a complete reasoner that only says what holds (spec/40-obep rule 7).

The reasoner is a process that starts in about a second, so that nothing is asked alone: the questions of a whole batch (is this
subset of that item enough for this individual to be an H?) go to it as copies of the data side by side, each with individuals
of its own. Justifications are found by shrinking a sufficient set and then looking for one that misses a triple of each found.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from itertools import chain
from typing import TypeAlias

from scepter.algebra.classes import HasValue, Named, OneOf
from scepter.algebra.classes import parts as parts_of
from scepter.ontology.assertions import IDENTITY, RDF_TYPE, SAME, Assertions, individuals, is_individual
from scepter.ontology.axioms import Axiom, SubClassOf
from scepter.ontology.datatypes import datatypes
from scepter.ontology.functional import Individuals, write_axiom
from scepter.ontology.hermit import Inconsistent, realise
from scepter.ontology.justifications import Justification
from scepter.ontology.reasoner import Found, Inference
from scepter.rdf.terms import IRI, Literal, Term, Triple

Types: TypeAlias = dict[Term, frozenset[IRI]]
Question: TypeAlias = frozenset[Triple]
Search: TypeAlias = Generator[list[Question], list[bool], set[Justification]]

_AT_ONCE = 3_000
"""Assertions in one call."""


class CompleteReasoner:
    """Occurrences of events in items, by HermiT."""

    def __init__(
        self, axioms: Sequence[Axiom], goals: Iterable[IRI], assertions: Assertions, vocabulary: frozenset[IRI]
    ) -> None:
        self._individuals = Individuals()
        self._axioms = [write_axiom(axiom, self._individuals) for axiom in axioms]
        self._goals = {iri.value: iri for iri in goals}
        self._declared = [f"Declaration(Class({iri}))" for iri in self._goals.values()]
        self._assertions = assertions
        self._vocabulary = vocabulary.union(IDENTITY)
        # Copies must not share individuals, and an axiom that names one would be about all of them.
        self._named = frozenset(chain.from_iterable(named_individuals(axiom) for axiom in axioms))
        self._answers: dict[Question, Types | None] = {}

    def relevant(self, triples: Iterable[Triple]) -> frozenset[Triple]:
        """The triples that say something in the words of the axioms."""
        words = self._vocabulary
        return frozenset(t for t in triples if (t.object if t.predicate == RDF_TYPE else t.predicate) in words)

    def infer(self, items: Sequence[frozenset[Triple]]) -> list[Inference]:
        """What each item (its relevant triples) entails together with the static assertions around it."""
        wholes = [self._around(item) for item in items]
        answers = self._ask([frozenset(whole) for whole in wholes])
        searches: list[tuple[int, Found]] = []
        for number, types in enumerate(answers):
            for term, classes in (types or {}).items():
                for iri in sorted(classes, key=str):
                    if is_individual(term) and term != _ANYBODY:
                        searches.append((number, Found(iri, term, frozenset())))
        found: list[list[Found]] = [[] for _ in items]
        sets = self._search([(wholes[n], each) for n, each in searches])
        for (number, each), justifications in zip(searches, sets, strict=True):
            for justification in justifications:
                if not justification.isdisjoint(items[number]):
                    found[number].append(each._replace(justification=justification))
        return [
            Inference(conflict=frozenset(items[n]) if types is None else None, found=tuple(found[n]))
            for n, types in enumerate(answers)
        ]

    def conflict(self) -> bool:
        """Whether the axioms and all static assertions contradict each other."""
        return self._ask([self.relevant(self._assertions.static)])[0] is None

    def _around(self, item: frozenset[Triple]) -> list[Triple]:
        """The item and the static assertions that are connected with it, from near to far."""
        found = dict.fromkeys(sorted(item, key=str))
        seen: set[Term] = set()
        pending = [*dict.fromkeys(term for triple in found for term in individuals(triple)), *self._named]
        while pending:
            reached: list[Term] = []
            for term in pending:
                if term in seen or (isinstance(term, Literal) and term not in self._named):
                    continue
                seen.add(term)
                for triple in self.relevant(self._assertions.about(term)):
                    if triple not in self._assertions.free:
                        found[triple] = None
                    reached += individuals(triple)
            pending = reached
        return list(found)

    # ---- questions

    def _search(self, searches: Sequence[tuple[list[Triple], Found]]) -> list[set[Justification]]:
        """Run the searches in step, so that their questions go to the reasoner together."""
        running: dict[int, Search] = {n: all_minimal(whole) for n, (whole, _) in enumerate(searches)}
        asked = {n: next(search) for n, search in running.items()}
        results: list[set[Justification]] = [set() for _ in searches]
        while asked:
            questions = list(dict.fromkeys(q for wanted in asked.values() for q in wanted))
            known = dict(zip(questions, self._ask(questions), strict=True))
            following: dict[int, list[Question]] = {}
            for n, wanted in asked.items():
                _, goal = searches[n]
                try:
                    following[n] = running[n].send([_is_one(known[q], goal) for q in wanted])
                except StopIteration as done:
                    results[n] = done.value
            asked = following
        return results

    def _ask(self, questions: Sequence[Question]) -> list[Types | None]:
        """The events that each individual of each question belongs to; None for a contradiction."""
        fresh = [q for q in dict.fromkeys(questions) if q not in self._answers]
        if len(self._answers) > 10 * _AT_ONCE:
            self._answers.clear()
            fresh = list(dict.fromkeys(questions))
        while fresh:
            chunk: list[Question] = []
            size = 0
            while fresh and (not chunk or (size + len(fresh[0]) <= _AT_ONCE and not self._named)):
                size += len(fresh[0]) + 1
                chunk.append(fresh.pop(0))
            self._answer(chunk)
        return [self._answers[q] for q in questions]

    def _answer(self, chunk: Sequence[Question]) -> None:
        """Ask all at once; a contradiction somewhere is looked for by halves."""
        try:
            types = realise([*self._declared, *self._axioms, *self._written(chunk)])
        except Inconsistent:
            if len(chunk) == 1:
                self._answers[chunk[0]] = None
                return
            middle = len(chunk) // 2
            self._answer(chunk[:middle])
            self._answer(chunk[middle:])
            return
        for copy, question in enumerate(chunk):
            found: Types = {}
            for term in self._terms(question):
                name = self._individuals.name(term, self._copy(term, copy))[1:-1]
                found[term] = frozenset(self._goals[iri] for iri in types[name] if iri in self._goals)
            self._answers[question] = found

    def _terms(self, question: Question) -> dict[Term, None]:
        free = (t for t in self.relevant(self._assertions.free))
        terms = dict.fromkeys(term for triple in (*question, *free) for term in individuals(triple))
        return {**terms, **dict.fromkeys(self._named), _ANYBODY: None}

    def _copy(self, term: Term, copy: int) -> int | None:
        return None if term in self._named else copy

    def _written(self, chunk: Sequence[Question]) -> Iterable[str]:
        for copy, question in enumerate(chunk):
            triples = (*question, *self.relevant(self._assertions.free))
            for s, p, o in triples:
                subject = self._individuals.name(s, self._copy(s, copy))
                if p == RDF_TYPE:
                    yield f"ClassAssertion({o} {subject})"
                    continue
                other = self._individuals.name(o, self._copy(o, copy))
                if p in IDENTITY:
                    yield f"{'SameIndividual' if p == SAME else 'DifferentIndividuals'}({subject} {other})"
                else:
                    yield f"ObjectPropertyAssertion({p} {subject} {other})"
            anybody = self._individuals.name(_ANYBODY, self._copy(_ANYBODY, copy))
            yield f"ClassAssertion(<http://www.w3.org/2002/07/owl#Thing> {anybody})"
            literals = [t for t in self._terms(question) if isinstance(t, Literal)]
            for literal in literals:
                name = self._individuals.name(literal, self._copy(literal, copy))
                yield from (f"ClassAssertion({iri} {name})" for iri in datatypes(literal) if iri in self._vocabulary)
            if len(literals) > 1:
                yield f"DifferentIndividuals({' '.join(self._individuals.name(t, self._copy(t, copy)) for t in literals)})"


_ANYBODY = IRI("urn:scepter:anybody")
"""Somebody of whom nothing is said."""


def _is_one(types: Types | None, goal: Found) -> bool:
    """Whether an individual is one of an event's; of whom nothing is said is like anybody."""
    assert types is not None  # a part of what does not contradict itself does not either
    return goal.event in types.get(goal.individual, types[_ANYBODY])


def named_individuals(axiom: Axiom) -> Iterable[Term]:
    """The individuals that an axiom names."""
    pending = [axiom.sub, axiom.sup] if isinstance(axiom, SubClassOf) else []
    while pending:
        expression = pending.pop()
        match expression:
            case HasValue(_, value):
                yield value
            case OneOf(values):
                yield from values
            case Named():
                continue
            case _:
                pending += parts_of(expression)


def all_minimal(whole: Sequence[Triple]) -> Search:
    """All minimal subsets that are enough, given that all together are. Yields subsets to be judged, is sent the verdicts."""
    found: set[Justification] = set()
    found.add((yield from _shrunk(list(whole))))
    tried: set[Question] = set()
    while True:
        # A further justification misses a triple of each one found: it lies in the rest of a way to hit them all.
        rests = [frozenset(whole) - hit for hit in hitting_sets(found)]
        fresh = [rest for rest in rests if rest not in tried]
        if not fresh:
            return found
        verdicts = yield fresh
        tried.update(fresh)
        for rest, enough in zip(fresh, verdicts, strict=True):
            if enough:
                found.add((yield from _shrunk([t for t in whole if t in rest])))


def _shrunk(candidates: list[Triple]) -> Generator[list[Question], list[bool], Justification]:
    """One minimal subset: the shortest beginning that is enough ends with a triple that it needs."""
    needed: Justification = frozenset()
    while True:
        beginnings = [needed.union(candidates[:length]) for length in range(len(candidates) + 1)]
        verdicts = yield beginnings
        length = verdicts.index(True)
        if length == 0:
            return needed
        needed |= {candidates[length - 1]}
        candidates = candidates[: length - 1]


def hitting_sets(sets: Iterable[Justification]) -> list[Justification]:
    """The minimal sets that share a triple with each; none if one of the sets is empty.

    >>> [sorted(hit) for hit in hitting_sets([frozenset("ab"), frozenset("bc")])]
    [['b'], ['a', 'c']]
    """
    hits: list[Justification] = [frozenset()]
    for each in sets:
        longer = [hit for hit in hits if not hit.isdisjoint(each)]
        extended = {hit | {triple} for hit in hits if hit.isdisjoint(each) for triple in each}
        hits = longer + [h for h in extended if not any(other <= h for other in longer)]
    return sorted(hits, key=lambda hit: (len(hit), sorted(map(str, hit))))
