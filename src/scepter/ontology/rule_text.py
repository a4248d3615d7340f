"""Compiled rules for people: what has to hold for an event to occur, with nameless concepts unfolded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice, product
from typing import TypeAlias

from scepter.ontology.program import RuleProgram
from scepter.ontology.rules import BOTTOM, TOP, Concept
from scepter.rdf.terms import IRI, Term

_Atom: TypeAlias = tuple[str, tuple["int | str", ...]]
"""A predicate or class, and its variables (numbers) or individuals."""
_LETTERS = "xyzuvw"
_MOST = 12
"""Rules shown of an event; a user who has more reads the ontology."""


def rules_of(program: RuleProgram, event: IRI) -> list[str]:
    """The rules that can make an event occur, those of the event first, with full IRIs.

    >>> from scepter.algebra.classes import Named, Property, Some
    >>> from scepter.ontology.axioms import SubClassOf
    >>> from scepter.ontology.program import compile_rules
    >>> h, r, a = (IRI(f"http://{name}") for name in "hra")
    >>> rules_of(compile_rules([SubClassOf(Some(Property(r), Named(a)), Named(h))], [h]), h)
    ['<http://h>(x) if <http://r>(x, y), <http://a>(y)']
    """
    goal = next((concept for concept, iri in program.goals.items() if iri == event), None)
    return [] if goal is None else _cut(_Unfolding(program).rules(goal))


def conflict_rules(program: RuleProgram) -> list[str]:
    """The rules that make an item inconsistent."""
    return _cut(_Unfolding(program).rules(BOTTOM, alone=True))


def _cut(rules: Iterable[str]) -> list[str]:
    found = list(islice(rules, _MOST + 1))
    return found if len(found) <= _MOST else [*found[:_MOST], "…"]


@dataclass(slots=True)
class _Unfolding:
    program: RuleProgram
    _variables: Iterator[int] = field(default_factory=lambda: count(1))
    _names: dict[Concept, str] = field(init=False)
    _individuals: dict[Concept, list[Term]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names = {concept: str(iri) for iri, concept in self.program.classes.items()}
        self._names |= {concept: str(iri) for concept, iri in self.program.goals.items()} | {BOTTOM: "contradiction"}
        for term, concepts in self.program.nominals.items():
            for concept in concepts:
                self._individuals.setdefault(concept, []).append(term)
        self._names |= {concept: f"#{concept}" for concept in self._recursive() if concept not in self._names}

    def _parts(self, concept: Concept) -> set[Concept]:
        bodies = {part for body in self.program.makers.get(concept, ()) for part in body}
        return bodies | {step.concept for step in self.program.inward.get(concept, ())}

    def _recursive(self) -> set[Concept]:
        """Nameless concepts that are made of themselves, as along transitive properties: they get a number for a name."""
        every = {*self.program.makers, *self.program.inward}
        found: set[Concept] = set()
        for concept in every:
            seen: set[Concept] = set()
            pending = [concept]
            while pending:
                reached = self._parts(pending.pop()) - seen - set(self._names)
                seen |= reached
                pending += reached
            if concept in seen:
                found.add(concept)
        return found

    def rules(self, goal: Concept, alone: bool = False) -> Iterator[str]:
        """The rules of a concept and, unless alone, of the named ones that they mention."""
        done: set[Concept] = set()
        pending = [goal]
        numbers = {name: concept for concept, name in self._names.items()}
        while pending:
            concept = pending.pop(0)
            if concept in done:
                continue
            done.add(concept)
            for body in self._bodies(concept, 0):
                yield _rule(self._names[concept], body)
                if not alone:
                    pending += (numbers[name] for name, terms in body if len(terms) == 1 and name in numbers)

    def _bodies(self, concept: Concept, at: int) -> Iterator[list[_Atom]]:
        """The ways to make a concept hold of a variable."""
        for term in self._individuals.get(concept, ()):
            yield [("=", (at, str(term)))]
        for body in self.program.makers.get(concept, ()):
            for parts in product(*(list(self._ways(part, at)) for part in body)):
                yield [atom for part in parts for atom in part]
        for step in self.program.inward.get(concept, ()):
            other = next(self._variables)
            ends = (other, at) if step.forward else (at, other)
            for way in self._ways(step.concept, other):
                yield [(str(step.predicate), ends), *way]

    def _ways(self, concept: Concept, at: int) -> Iterator[list[_Atom]]:
        if concept == TOP:
            yield []
        elif concept in self._names:
            yield [(self._names[concept], (at,))]
        else:
            yield from self._bodies(concept, at)


def _rule(head: str, body: list[_Atom]) -> str:
    names: dict[int, str] = {0: "x"}
    for _, terms in body:
        for term in terms:
            if isinstance(term, int) and term not in names:
                turn, letter = divmod(len(names), len(_LETTERS))
                names[term] = f"{_LETTERS[letter]}{turn or ''}"
    shown = [[names[term] if isinstance(term, int) else term for term in terms] for _, terms in body]
    atoms = [
        f"{terms[0]} is {terms[1]}" if name == "=" else f"{name}({', '.join(terms)})"
        for (name, _), terms in zip(body, shown, strict=True)
    ]
    return f"{head}(x) if {', '.join(atoms) or 'anything'}"
