"""Items that differ only in names, and in names only of what they touch, entail the same, names exchanged.

What rules can say about an item depends on its triples and on the static assertions connected with them. Where those are few
(a sensor and its room), items about different ones have the same *shape* and are reasoned over once: a shape is the list of
all these triples with numbers for names. Names that axioms speak of, and those of large neighbourhoods, stay as they are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from scepter.ontology.assertions import RDF_TYPE, individuals
from scepter.ontology.justifications import Justification
from scepter.ontology.reasoner import Found, Inference, RuleReasoner
from scepter.rdf.terms import IRI, Literal, Term, Triple

_REMEMBERED = 50_000
_NEAR = 12
"""Static assertions around a node beyond which it keeps its name."""
_Place: TypeAlias = "Term | int"
"""A name that is kept, or the number of one that is not."""
_Shape: TypeAlias = tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class _Needs:
    """A justification: assertions with kept names, and the numbers of the others."""

    kept: Justification
    own: tuple[int, ...]

    def of(self, triples: Sequence[Triple]) -> Justification:
        return self.kept.union([triples[number] for number in self.own])


@dataclass(frozen=True, slots=True)
class _Answer:
    found: tuple[tuple[IRI, _Place, _Needs], ...]
    conflict: _Needs | None

    def of(self, item: _Numbered) -> Inference:
        triples, names = item.triples, item.names
        found = tuple(
            Found(event, names[place] if isinstance(place, int) else place, needs.of(triples))
            for event, place, needs in self.found
        )
        return Inference(found, None if self.conflict is None else self.conflict.of(triples))


@dataclass(slots=True)
class _Numbered:
    """An item's triples, then the static ones around it, and its names by number."""

    triples: list[Triple]
    names: list[Term] = field(default_factory=list)
    places: dict[Term, _Place] = field(default_factory=dict)

    def number(self, name: Term) -> None:
        if name not in self.places:
            self.places[name] = len(self.names)
            self.names.append(name)

    def shape(self, own: int) -> _Shape:
        """How many triples are the item's, which names are literals (nobody's individuals) of which type, and what all say."""
        at = self.places
        said = tuple((at[s], p, o if p == RDF_TYPE else at[o]) for s, p, o in self.triples)
        literals = tuple((number, name.datatype) for number, name in enumerate(self.names) if isinstance(name, Literal))
        return (own, *literals), *said


class ShapeReasoner:
    """A rule reasoner that remembers its answers by the shape of items."""

    def __init__(self, reasoner: RuleReasoner) -> None:
        self._reasoner = reasoner
        self._known: OrderedDict[_Shape, _Answer] = OrderedDict()
        self._around: OrderedDict[Term, tuple[Triple, ...] | None] = OrderedDict()

    def infer(self, item: Iterable[Triple]) -> Inference:
        """What an item entails; the twin of `RuleReasoner.infer`."""
        triples = sorted(self._reasoner.relevant(item), key=_order)
        if not triples:
            return Inference()
        numbered = _Numbered(list(triples))
        for triple in triples:
            for name in individuals(triple):
                self._place(name, numbered)
        shape = numbered.shape(len(triples))
        answer = self._known.get(shape)
        if answer is not None:
            return answer.of(numbered)
        inference = self._reasoner.infer(triples)
        self._known[shape] = _abstracted(inference, numbered)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return inference

    def _place(self, name: Term, numbered: _Numbered) -> None:
        if name in numbered.places:
            return
        around = self._neighbourhood(name)
        if around is None:
            numbered.places[name] = name
            return
        numbered.number(name)
        for triple in around:
            numbered.triples.append(triple)
            for each in individuals(triple):
                numbered.number(each)

    def _neighbourhood(self, name: Term) -> tuple[Triple, ...] | None:
        """The static assertions that rules can reach from a node, from near to far; None if there are many, or a name among
        them that axioms speak of."""
        if not self._reasoner.assertions.knows(name):
            return None if name in self._reasoner.program.nominals else ()
        if name in self._around:
            return self._around[name]
        found = self._around[name] = self._reached(name)
        if len(self._around) > _REMEMBERED:
            self._around.popitem(last=False)
        return found

    def _reached(self, name: Term) -> tuple[Triple, ...] | None:
        program, assertions = self._reasoner.program, self._reasoner.assertions
        found: dict[Triple, None] = {}
        seen = {name: None}
        for node in seen_in_order(seen):
            if node in program.nominals:
                return None
            types = [t for t in assertions.along(RDF_TYPE, node, True) if t.object in program.classes]
            for triple in sorted(types, key=_order):
                found[triple] = None
            for predicate in program.steps:
                for triple in (*assertions.along(predicate, node, True), *assertions.along(predicate, node, False)):
                    found[triple] = None
                    seen.update(dict.fromkeys(individuals(triple)))
            if len(found) > _NEAR or not assertions.free.isdisjoint(found):
                return None
        return tuple(found)


def seen_in_order(seen: dict[Term, None]) -> Iterable[Term]:
    """The keys of a dictionary, also those that are added meanwhile."""
    done = 0
    while done < len(seen):
        fresh = list(seen)[done:]
        done += len(fresh)
        yield from fresh


def _abstracted(inference: Inference, item: _Numbered) -> _Answer:
    numbers = {triple: number for number, triple in enumerate(item.triples)}

    def needs(justification: Justification) -> _Needs:
        own = tuple(sorted(numbers[triple] for triple in justification if triple in numbers))
        return _Needs(justification.difference(numbers), own)

    found = tuple((event, item.places.get(individual, individual), needs(sets)) for event, individual, sets in inference.found)
    return _Answer(found, None if inference.conflict is None else needs(inference.conflict))


def _order(triple: Triple) -> tuple[str, str]:
    """Triples of other items stand in the same order, as far as predicates and classes tell."""
    return str(triple.predicate), str(triple.object) if triple.predicate == RDF_TYPE else ""
