"""Items that differ only in names that nothing else knows entail the same, names exchanged: they are reasoned over once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scepter.ontology.assertions import RDF_TYPE
from scepter.ontology.justifications import Justification
from scepter.ontology.reasoner import Found, Inference, RuleReasoner
from scepter.rdf.terms import IRI, Literal, Term, Triple

_REMEMBERED = 50_000
_Place: TypeAlias = "Term | tuple[int, bool]"
"""A term that the static assertions or the rules know, or the number of a stranger and whether it is a literal."""
_Shape: TypeAlias = tuple[tuple[_Place, Term, _Place], ...]


@dataclass(frozen=True, slots=True)
class _Needs:
    """A justification: static assertions, and the numbers of the item's triples."""

    static: Justification
    own: tuple[int, ...]

    def of(self, triples: Sequence[Triple]) -> Justification:
        return self.static.union([triples[number] for number in self.own])


@dataclass(frozen=True, slots=True)
class _Answer:
    found: tuple[tuple[IRI, _Place, _Needs], ...]
    conflict: _Needs | None

    def of(self, triples: Sequence[Triple], strangers: Sequence[Term]) -> Inference:
        found = tuple(
            Found(event, strangers[place[0]] if isinstance(place, tuple) else place, needs.of(triples))
            for event, place, needs in self.found
        )
        return Inference(found, None if self.conflict is None else self.conflict.of(triples))


class ShapeReasoner:
    """A rule reasoner that remembers its answers by the shape of items."""

    def __init__(self, reasoner: RuleReasoner) -> None:
        self._reasoner = reasoner
        self._known: OrderedDict[_Shape, _Answer] = OrderedDict()

    def infer(self, item: Iterable[Triple]) -> Inference:
        """What an item entails; the twin of `RuleReasoner.infer`."""
        triples = sorted(self._reasoner.relevant(item), key=_order)
        if not triples:
            return Inference()
        places: dict[Term, _Place] = {}
        strangers: list[Term] = []
        for subject, predicate, object in triples:
            for term in (subject,) if predicate == RDF_TYPE else (subject, object):
                if term not in places:
                    places[term] = self._place(term, strangers)
        shape = tuple((places[s], p, o if p == RDF_TYPE else places[o]) for s, p, o in triples)
        answer = self._known.get(shape)
        if answer is not None:
            return answer.of(triples, strangers)
        inference = self._reasoner.infer(triples)
        self._known[shape] = _abstracted(inference, triples, places)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return inference

    def _place(self, term: Term, strangers: list[Term]) -> _Place:
        if self._reasoner.assertions.knows(term) or term in self._reasoner.program.nominals:
            return term
        strangers.append(term)
        return len(strangers) - 1, isinstance(term, Literal)


def _abstracted(inference: Inference, triples: Sequence[Triple], places: dict[Term, _Place]) -> _Answer:
    numbers = {triple: number for number, triple in enumerate(triples)}

    def needs(justification: Justification) -> _Needs:
        own = tuple(sorted(numbers[triple] for triple in justification if triple in numbers))
        return _Needs(justification.difference(numbers), own)

    found = tuple((event, places.get(individual, individual), needs(sets)) for event, individual, sets in inference.found)
    return _Answer(found, None if inference.conflict is None else needs(inference.conflict))


def _order(triple: Triple) -> tuple[str, str]:
    """Triples of other items stand in the same order, as far as names that strangers do not have tell."""
    return str(triple.predicate), str(triple.object) if triple.predicate == RDF_TYPE else ""
