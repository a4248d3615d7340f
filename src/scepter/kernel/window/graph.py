"""A graph whose triples come and go, over static triples that stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.triple_index import TripleIndex
from scepter.rdf.terms import Term, Triple


class WindowGraph(Graph):
    """The union of what is in the windows and of static data. A triple is there as long as one of its sightings is; its
    indexes follow what comes and goes, and the static part is indexed once."""

    __slots__ = ("_static", "_times")

    def __init__(self, static: Graph) -> None:
        super().__init__()
        self._static = static
        self._times = TripleIndex[list[int]]()

    def enter(self, triple: Triple, time: int) -> None:
        """A triple comes."""
        times = self._times.kept.get(triple)
        if times is None:
            self._times.enter(triple, [time])
        else:
            times.append(time)

    def leave(self, triple: Triple, time: int) -> None:
        """One of its sightings goes."""
        times = self._times.kept[triple]
        times.remove(time)
        if not times:
            self._times.leave(triple)

    def latest(self, triple: Triple) -> int | None:
        """The time of its latest sighting in the window."""
        times = self._times.kept.get(triple)
        return max(times) if times else None

    @property
    def streamed(self) -> int:
        """How many different triples are in the windows."""
        return len(self._times)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Triple]:
        return chain(self._static, (t for t in self._times if t not in self._static))

    def __contains__(self, triple: object) -> bool:
        return triple in self._times.kept or triple in self._static

    def nodes(self) -> Mapping[Term, None]:
        streamed = (term for triple in self._times for term in (triple.subject, triple.object))
        return dict.fromkeys(chain(self._static.nodes(), streamed))

    def has_node(self, term: Term) -> bool:
        """Whether a term is a subject or an object, by the indexes that follow what comes and goes."""
        there = self._times.match((term, None, None)) or self._times.match((None, None, term))
        return bool(there) or self._static.has_node(term)

    def match(self, subject: Term | None, predicate: Term | None, object: Term | None) -> Sequence[Triple]:
        known = self._static.match(subject, predicate, object)
        streamed = self._times.match((subject, predicate, object))
        if not streamed:
            return known
        if not known:
            return list(streamed)
        return [*known, *(t for t in streamed if t not in self._static)]
