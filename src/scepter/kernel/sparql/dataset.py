"""Graphs and datasets in memory, indexed as far as they are asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from scepter.rdf.terms import IRI, Term, Triple

# An event's graph has a handful of triples: reading them all beats building an index that serves one question.
_SCAN_AT_MOST = 8


class Graph:
    """A set of triples, in insertion order, so that answers do not depend on hash seeds.

    >>> graph = Graph([Triple(IRI("http://a"), IRI("http://p"), IRI("http://b"))] * 2)
    >>> len(graph), graph.match(None, IRI("http://p"), None)[0].object
    (1, IRI(value='http://b'))
    """

    __slots__ = ("_indexes", "_nodes", "_triples")

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self._triples: dict[Triple, None] = dict.fromkeys(triples)
        self._indexes: dict[tuple[int, ...], dict[tuple[Term, ...], list[Triple]]] = {}
        self._nodes: dict[Term, None] | None = None

    def __len__(self) -> int:
        return len(self._triples)

    def __iter__(self) -> Iterator[Triple]:
        return iter(self._triples)

    def __contains__(self, triple: object) -> bool:
        return triple in self._triples

    def nodes(self) -> Mapping[Term, None]:
        """The subjects and objects, each once: what a zero-length path relates to itself."""
        if self._nodes is None:
            self._nodes = dict.fromkeys(term for triple in self._triples for term in (triple.subject, triple.object))
        return self._nodes

    def has_node(self, term: Term) -> bool:
        """Whether a term is a subject or an object: paths ask it for every row."""
        return term in self.nodes()

    def predicates(self) -> Collection[Term]:
        """The different predicates."""
        return {triple.predicate for triple in self._triples}

    def objects_of(self, predicate: Term) -> Collection[Term]:
        """The different objects of a predicate."""
        return {triple.object for triple in self.match(None, predicate, None)}

    def match(self, subject: Term | None, predicate: Term | None, object: Term | None) -> Sequence[Triple]:
        """The triples with these terms; None stands for any."""
        wanted = (subject, predicate, object)
        positions = tuple(i for i, term in enumerate(wanted) if term is not None)
        if not positions:
            return list(self._triples)
        if len(positions) == 3:
            triple = Triple(*wanted)  # type: ignore[arg-type]  # none of the three is None
            return [triple] if triple in self._triples else []
        if len(self._triples) <= _SCAN_AT_MOST:
            return [t for t in self._triples if all(t[i] == wanted[i] for i in positions)]
        return self._index(positions).get(tuple(t for t in wanted if t is not None), _NOTHING)

    def count(self, subject: Term | None, predicate: Term | None, object: Term | None) -> int:
        """How many triples have these terms."""
        return len(self.match(subject, predicate, object))

    def _index(self, positions: tuple[int, ...]) -> dict[tuple[Term, ...], list[Triple]]:
        index = self._indexes.get(positions)
        if index is None:
            index = self._indexes[positions] = {}
            for triple in self._triples:
                index.setdefault(tuple(triple[i] for i in positions), []).append(triple)
        return index


_NOTHING: Sequence[Triple] = ()
EMPTY_GRAPH = Graph()


@dataclass(frozen=True, slots=True)
class Dataset:
    """A default graph and named graphs."""

    default: Graph = EMPTY_GRAPH
    named: Mapping[IRI, Graph] = field(default_factory=lambda: MappingProxyType({}))


EMPTY_DATASET = Dataset()
