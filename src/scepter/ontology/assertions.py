"""Static assertions, indexed once: a million of them are never read again for an item."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scepter.ontology.justifications import NEEDS_NOTHING, Justification
from scepter.rdf.terms import IRI, OWL, TYPE, Literal, Term, Triple

RDF_TYPE = IRI(TYPE)
SAME, DIFFERENT = IRI(OWL + "sameAs"), IRI(OWL + "differentFrom")
IDENTITY = (SAME, DIFFERENT)
"""Assertions about who is who: rules take different names for different individuals, only a complete reasoner does not."""
_NONE: tuple[Triple, ...] = ()


class Assertions:
    """The background's triples, each its own justification, and those of the ontology, which need none."""

    def __init__(self, static: Iterable[Triple] = (), ontology: Iterable[Triple] = ()) -> None:
        self.free = frozenset(ontology)
        self.static = frozenset(static)
        self._from: dict[tuple[Term, Term], list[Triple]] = {}
        self._to: dict[tuple[Term, Term], list[Triple]] = {}
        self._by_predicate: dict[Term, list[Triple]] = {}
        self._about: dict[Term, list[Triple]] = {}
        for triple in (*self.static, *(self.free - self.static)):
            subject, predicate, object = triple
            self._from.setdefault((subject, predicate), []).append(triple)
            self._to.setdefault((object, predicate), []).append(triple)
            self._by_predicate.setdefault(predicate, []).append(triple)
        self._nodes = {node for node, _ in self._from} | {node for node, _ in self._to}

    def __len__(self) -> int:
        return len(self.static)

    def needs(self, triple: Triple) -> Justification:
        """What has to be shown for a triple to hold."""
        return NEEDS_NOTHING if triple in self.free else frozenset((triple,))

    def holds(self, triple: Triple) -> bool:
        """Whether a triple is there."""
        return triple in self.static or triple in self.free

    def knows(self, node: Term) -> bool:
        """Whether any triple is about a node."""
        return node in self._nodes

    def nodes(self) -> set[Term]:
        """Whom the triples are about, and the classes they name."""
        return self._nodes

    def about(self, node: Term) -> list[Triple]:
        """The triples that a node is the subject or, but for types, the object of."""
        if not self._about:
            for triple in (*self.static, *self.free):
                for each in individuals(triple):
                    self._about.setdefault(each, []).append(triple)
        return self._about.get(node, [])

    def along(self, predicate: IRI, node: Term, forward: bool) -> Sequence[Triple]:
        """The triples of a predicate that start (or, not forward, end) at a node."""
        return (self._from if forward else self._to).get((node, predicate), _NONE)

    def of_predicate(self, predicate: Term) -> Sequence[Triple]:
        """All triples of a predicate."""
        return self._by_predicate.get(predicate, _NONE)

    def vocabulary(self) -> set[IRI]:
        """The predicates and classes that the assertions use."""
        found = {p for p in self._by_predicate if isinstance(p, IRI)}
        return found | {t.object for t in self.of_predicate(RDF_TYPE) if isinstance(t.object, IRI)}


def individuals(triple: Triple) -> tuple[Term, ...]:
    """Whom a triple is about; the class of a type is nobody."""
    return (triple.subject,) if triple.predicate == RDF_TYPE else (triple.subject, triple.object)


def is_individual(term: Term) -> bool:
    """Whether an event may occur with it: literals only fill."""
    return not isinstance(term, Literal)
