"""Triples that come and go, found by any of their terms: indexed as far as they are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from scepter.rdf.terms import Term, Triple

T = TypeVar("T")


class TripleIndex(Generic[T]):
    """Triples in the order they came, each with what is kept of it. Indexes are made when first asked for, and then follow."""

    __slots__ = ("_by", "kept")

    def __init__(self) -> None:
        self.kept: dict[Triple, T] = {}
        self._by: dict[tuple[int, ...], dict[tuple[Term, ...], dict[Triple, None]]] = {}

    def __len__(self) -> int:
        return len(self.kept)

    def __iter__(self) -> Iterator[Triple]:
        return iter(self.kept)

    def enter(self, triple: Triple, kept: T) -> None:
        """A triple that is not there comes."""
        self.kept[triple] = kept
        for positions, index in self._by.items():
            index.setdefault(tuple([triple[i] for i in positions]), {})[triple] = None

    def leave(self, triple: Triple) -> None:
        """A triple that is there goes."""
        del self.kept[triple]
        for positions, index in self._by.items():
            key = tuple([triple[i] for i in positions])
            bucket = index[key]
            del bucket[triple]
            if not bucket:
                del index[key]

    def clear(self) -> None:
        """All of them go."""
        self.kept.clear()
        self._by.clear()

    def match(self, wanted: Sequence[Term | None]) -> Mapping[Triple, object]:
        """The triples with these terms; None stands for any."""
        positions = tuple(i for i, term in enumerate(wanted) if term is not None)
        if not positions:
            return self.kept
        index = self._by.get(positions)
        if index is None:
            index = self._by[positions] = {}
            for triple in self.kept:
                index.setdefault(tuple([triple[i] for i in positions]), {})[triple] = None
        return index.get(tuple([term for term in wanted if term is not None]), {})
