"""A graph whose triples come and go, over static triples that stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from scepter.kernel.sparql.dataset import Graph
from scepter.rdf.terms import Term, Triple


class WindowGraph(Graph):
    """The union of what is in the windows and of static data. A triple is there as long as one of its sightings is; its
    indexes follow what comes and goes, and the static part is indexed once."""

    __slots__ = ("_by", "_static", "_times")

    def __init__(self, static: Graph) -> None:
        super().__init__()
        self._static = static
        self._times: dict[Triple, list[int]] = {}
        self._by: dict[tuple[int, ...], dict[tuple[Term, ...], dict[Triple, None]]] = {}

    def enter(self, triple: Triple, time: int) -> None:
        """A triple comes."""
        times = self._times.get(triple)
        if times is not None:
            times.append(time)
            return
        self._times[triple] = [time]
        for positions, index in self._by.items():
            index.setdefault(tuple([triple[i] for i in positions]), {})[triple] = None

    def leave(self, triple: Triple, time: int) -> None:
        """One of its sightings goes."""
        times = self._times[triple]
        times.remove(time)
        if times:
            return
        del self._times[triple]
        for positions, index in self._by.items():
            key = tuple([triple[i] for i in positions])
            bucket = index[key]
            del bucket[triple]
            if not bucket:
                del index[key]

    def latest(self, triple: Triple) -> int | None:
        """The time of its latest sighting in the window."""
        times = self._times.get(triple)
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
        return triple in self._times or triple in self._static

    def nodes(self) -> Mapping[Term, None]:
        """The subjects and objects."""
        streamed = (term for triple in self._times for term in (triple.subject, triple.object))
        return dict.fromkeys(chain(self._static.nodes(), streamed))

    def has_node(self, term: Term) -> bool:
        """Whether a term is a subject or an object, by the indexes that follow what comes and goes."""
        return bool(self._lookup((0,), (term,)) or self._lookup((2,), (term,))) or self._static.has_node(term)

    def match(self, subject: Term | None, predicate: Term | None, object: Term | None) -> Sequence[Triple]:
        """The triples with these terms; None stands for any."""
        known = self._static.match(subject, predicate, object)
        wanted = (subject, predicate, object)
        positions = tuple(i for i, term in enumerate(wanted) if term is not None)
        streamed = self._lookup(positions, tuple(t for t in wanted if t is not None))
        if not streamed:
            return known
        if not known:
            return list(streamed)
        return [*known, *(t for t in streamed if t not in self._static)]

    def _lookup(self, positions: tuple[int, ...], key: tuple[Term, ...]) -> Mapping[Triple, object]:
        if not positions:
            return self._times
        index = self._by.get(positions)
        if index is None:
            index = self._by[positions] = {}
            for triple in self._times:
                index.setdefault(tuple([triple[i] for i in positions]), {})[triple] = None
        return index.get(key, {})
