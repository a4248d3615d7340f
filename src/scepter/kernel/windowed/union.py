"""The union of a window's graphs, kept as items come and go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scepter.kernel.sparql.dataset import Graph
from scepter.rdf.terms import Term, Triple


class UnionGraph(Graph):
    """A graph whose triples are counted: a triple stays as long as one item that holds it does.

    The indexes follow each change, so that a step of a wide window costs what came and went.

    >>> from scepter.rdf.terms import IRI
    >>> a, b = (Triple(IRI("http://s"), IRI("http://p"), IRI(f"http://{o}")) for o in "ab")
    >>> graph = UnionGraph()
    >>> graph.add([a, b]); graph.add([b]); graph.remove([a, b])
    >>> list(graph) == [b]
    True
    """

    __slots__ = ("_counts", "_node_counts", "_places")

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[Triple, int] = {}
        self._places: dict[tuple[int, ...], dict[tuple[Term, ...], dict[Triple, None]]] = {}
        self._node_counts: dict[Term, int] | None = None

    def add(self, triples: Iterable[Triple]) -> None:
        """One item's triples, each once."""
        for triple in triples:
            count = self._counts.get(triple, 0)
            self._counts[triple] = count + 1
            if not count:
                self._enter(triple)

    def remove(self, triples: Iterable[Triple]) -> None:
        """Take an item's triples away."""
        for triple in triples:
            count = self._counts[triple] - 1
            if count:
                self._counts[triple] = count
            else:
                del self._counts[triple]
                self._leave(triple)

    def _enter(self, triple: Triple) -> None:
        for positions, index in self._places.items():
            index.setdefault(tuple([triple[i] for i in positions]), {})[triple] = None
        if self._node_counts is not None:
            for term in (triple.subject, triple.object):
                self._node_counts[term] = self._node_counts.get(term, 0) + 1

    def _leave(self, triple: Triple) -> None:
        for positions, index in self._places.items():
            key = tuple([triple[i] for i in positions])
            bucket = index[key]
            del bucket[triple]
            if not bucket:
                del index[key]
        if self._node_counts is not None:
            for term in (triple.subject, triple.object):
                self._node_counts[term] -= 1
                if not self._node_counts[term]:
                    del self._node_counts[term]

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[Triple]:
        return iter(self._counts)

    def __contains__(self, triple: object) -> bool:
        return triple in self._counts

    def nodes(self) -> Mapping[Term, None]:
        """The subjects and objects, each once."""
        if self._node_counts is None:
            self._node_counts = {}
            for triple in self._counts:
                for term in (triple.subject, triple.object):
                    self._node_counts[term] = self._node_counts.get(term, 0) + 1
        return dict.fromkeys(self._node_counts)

    def match(self, subject: Term | None, predicate: Term | None, object: Term | None) -> Sequence[Triple]:
        """The triples with these terms; None stands for any."""
        wanted = (subject, predicate, object)
        positions = tuple([i for i, term in enumerate(wanted) if term is not None])
        if not positions:
            return list(self._counts)
        if len(positions) == 3:
            triple = Triple(*wanted)  # type: ignore[arg-type]  # none of the three is None
            return [triple] if triple in self._counts else []
        found = self._place(positions).get(tuple([t for t in wanted if t is not None]))
        return [] if found is None else list(found)

    def _place(self, positions: tuple[int, ...]) -> dict[tuple[Term, ...], dict[Triple, None]]:
        index = self._places.get(positions)
        if index is None:
            index = self._places[positions] = {}
            for triple in self._counts:
                index.setdefault(tuple([triple[i] for i in positions]), {})[triple] = None
        return index
