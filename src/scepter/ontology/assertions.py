"""Static assertions: looked up where they are, so that a million of them are never read one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from scepter.ontology.justifications import NEEDS_NOTHING, Justification
from scepter.rdf.terms import IRI, OWL, TYPE, Literal, Term, Triple

if TYPE_CHECKING:  # explaining a plan loads no numpy
    import numpy as np
    from numpy.typing import NDArray

RDF_TYPE = IRI(TYPE)
SAME, DIFFERENT = IRI(OWL + "sameAs"), IRI(OWL + "differentFrom")
IDENTITY = (SAME, DIFFERENT)
"""Assertions about who is who: rules take different names for different individuals, only a complete reasoner does not."""
_NONE: tuple[Triple, ...] = ()


class Triples(Protocol):
    """Triples that can be looked up, in memory or in a file."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Triple]: ...
    def __contains__(self, triple: object) -> bool: ...

    def match(self, subject: Term | None, predicate: Term | None, object: Term | None) -> Sequence[Triple]:
        """The triples with these terms; None stands for any."""
        ...

    def count(self, subject: Term | None, predicate: Term | None, object: Term | None) -> int:
        """How many there are of these."""
        ...

    def predicates(self) -> Collection[Term]:
        """The different predicates."""
        ...

    def objects_of(self, predicate: Term) -> Collection[Term]:
        """The different objects of a predicate."""
        ...


@runtime_checkable
class Numbered(Protocol):
    """Triples in a file, whose terms have numbers."""

    def ends(self, predicate: Term, object: Term | None = None) -> NDArray[np.int64]:
        """[triple, subject or object] of a predicate, and an object."""
        ...

    def place(self, term: Term) -> int | None:
        """The number of a term; None if no triple has it."""
        ...

    def term(self, place: int) -> Term:
        """The term of a number."""
        ...


class Assertions:
    """The background's triples, each its own justification, and those of the ontology, which need none."""

    def __init__(self, static: Iterable[Triple] = (), ontology: Iterable[Triple] = (), graphs: Sequence[Triples] = ()) -> None:
        self.free = frozenset(ontology)
        own = dict.fromkeys((*static, *self.free))
        self._own = frozenset(own)
        self._graphs = [graph for graph in graphs if len(graph)]
        self._from: dict[tuple[Term, Term], list[Triple]] = {}
        self._to: dict[tuple[Term, Term], list[Triple]] = {}
        self._about: dict[Term, list[Triple]] = {}
        self._by_predicate: dict[Term, list[Triple]] = {}
        for triple in own:
            subject, predicate, object = triple
            self._from.setdefault((subject, predicate), []).append(triple)
            self._to.setdefault((object, predicate), []).append(triple)
            self._by_predicate.setdefault(predicate, []).append(triple)
            for each in dict.fromkeys((subject, object)):
                self._about.setdefault(each, []).append(triple)
        self._static = frozenset(static)

    @property
    def only(self) -> Numbered | None:
        """The one graph that all assertions are in, if there is one, and it is in a file."""
        graph = self._graphs[0] if len(self._graphs) == 1 and not self._own else None
        return graph if isinstance(graph, Numbered) else None

    @property
    def static(self) -> Iterable[Triple]:
        """The background's, one by one."""
        yield from self._static
        for graph in self._graphs:
            yield from graph

    def states(self, triple: Triple) -> bool:
        """Whether the background has a triple."""
        return triple in self._static or any(triple in graph for graph in self._graphs)

    def needs(self, triple: Triple) -> Justification:
        """What has to be shown for a triple to hold."""
        return NEEDS_NOTHING if triple in self.free else frozenset((triple,))

    def holds(self, triple: Triple) -> bool:
        """Whether a triple is there."""
        return triple in self._own or any(triple in graph for graph in self._graphs)

    def knows(self, node: Term) -> bool:
        """Whether any triple is about a node."""
        return node in self._about or any(
            graph.count(node, None, None) or graph.count(None, None, node) for graph in self._graphs
        )

    def nodes(self) -> set[Term]:
        """Whom the triples are about, and the classes they name."""
        return {*self._about, *(term for graph in self._graphs for t in graph for term in (t.subject, t.object))}

    def about(self, node: Term) -> list[Triple]:
        """The triples that a node is the subject or, but for types, the object of."""
        found = list(self._about.get(node, _NONE))
        for graph in self._graphs:
            found += (*graph.match(node, None, None), *graph.match(None, None, node))
        return [triple for triple in dict.fromkeys(found) if node in individuals(triple)]

    def along(self, predicate: IRI, node: Term, forward: bool) -> Sequence[Triple]:
        """The triples of a predicate that start (or, not forward, end) at a node."""
        own = (self._from if forward else self._to).get((node, predicate), _NONE)
        ends = (node, predicate, None) if forward else (None, predicate, node)
        return self._all(own, *ends)

    def of_predicate(self, predicate: Term) -> Sequence[Triple]:
        """All triples of a predicate."""
        return self._all(self._by_predicate.get(predicate, _NONE), None, predicate, None)

    def instances(self, kind: IRI) -> Iterable[Term]:
        """Who is said to be of a class."""
        return (t.subject for t in self._all(self._to.get((kind, RDF_TYPE), _NONE), None, RDF_TYPE, kind))

    def _all(self, own: Sequence[Triple], subject: Term | None, predicate: Term, object: Term | None) -> Sequence[Triple]:
        """Of what is indexed here and of the graphs, each once."""
        if not self._graphs:
            return own
        found = [graph.match(subject, predicate, object) for graph in self._graphs]
        if not own and len(found) == 1:
            return found[0]
        return list(dict.fromkeys((*own, *(triple for some in found for triple in some))))

    def classes(self) -> set[IRI]:
        """The classes that somebody is said to be of."""
        found = {t.object for t in self._by_predicate.get(RDF_TYPE, _NONE)}
        return {t for t in found.union(*(graph.objects_of(RDF_TYPE) for graph in self._graphs)) if isinstance(t, IRI)}

    def vocabulary(self) -> set[IRI]:
        """The predicates and classes that the assertions use."""
        predicates = set(self._by_predicate).union(*(graph.predicates() for graph in self._graphs))
        return {p for p in predicates if isinstance(p, IRI)} | self.classes()


def individuals(triple: Triple) -> tuple[Term, ...]:
    """Whom a triple is about; the class of a type is nobody."""
    return (triple.subject,) if triple.predicate == RDF_TYPE else (triple.subject, triple.object)


def is_individual(term: Term) -> bool:
    """Whether an event may occur with it: literals only fill."""
    return not isinstance(term, Literal)
