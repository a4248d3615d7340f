"""A graph over columns in files: triples become terms when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.sparql.dataset import Graph
from scepter.rdf.hashing import term_id
from scepter.rdf.scanner import decode_term
from scepter.rdf.store import SALTED, TripleStore
from scepter.rdf.terms import BlankNode, Term, Triple

_KEPT: Final = 100_000
_HIGH: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)
_NOTHING: Sequence[Triple] = ()


class StoredGraph(Graph):
    """A set of triples like any other. `scope` stands before the labels of its blank nodes."""

    __slots__ = ("_by_position", "_scope", "_store", "_terms")

    def __init__(self, store: TripleStore, scope: str = "") -> None:
        super().__init__()
        self._store = store
        self._scope = scope
        self._terms: dict[int, Term] = {}
        self._by_position: dict[int, tuple[NDArray[np.uint64], NDArray[np.int64]]] = {}

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[Triple]:
        return (self._triple(row) for row in range(len(self._store)))

    def __contains__(self, triple: object) -> bool:
        return isinstance(triple, Triple) and bool(self.match(*triple))

    def nodes(self) -> Mapping[Term, None]:
        """The subjects and objects."""
        store = self._store
        places = np.unique(np.concatenate([store.subjects & _LOW, store.objects.astype(np.uint64)]))
        return {self._term(place): None for place in places.tolist()}

    def predicates(self) -> list[Term]:
        """The different predicates."""
        return [self._term(place) for place in np.unique(self._store.subjects >> _HIGH).tolist()]

    def objects_of(self, predicate: Term) -> list[Term]:
        """The different objects of a predicate."""
        if (place := self._place(predicate)) is None:
            return []
        low, high = _range(self._store.by_object, place)
        return [self._term(each) for each in np.unique(self._store.by_object[low:high] & _LOW).tolist()]

    def match(self, subject: Term | None, predicate: Term | None, object: Term | None) -> Sequence[Triple]:
        """The triples with these terms; None stands for any."""
        places = [None if term is None else self._place(term) for term in (subject, predicate, object)]
        if any(term is not None and place is None for term, place in zip((subject, predicate, object), places, strict=True)):
            return _NOTHING
        return [self._triple(row) for row in self._rows(*places).tolist()]

    def _rows(self, subject: int | None, predicate: int | None, object: int | None) -> NDArray[np.int64]:
        store = self._store
        if predicate is None:
            return self._anywhere(subject, object)
        if subject is None and object is not None:
            low, high = _range(store.by_object, predicate, object)
            return np.sort(store.order[low:high]).astype(np.int64)
        low, high = _range(store.subjects, predicate, subject)
        rows = np.arange(low, high)
        return rows if object is None else rows[store.objects[low:high] == object]

    def _anywhere(self, subject: int | None, object: int | None) -> NDArray[np.int64]:
        """Whatever the predicate: by an order that is made when it is first asked for."""
        if subject is None and object is None:
            return np.arange(len(self._store))
        position, place = (0, subject) if subject is not None else (2, object)
        if position not in self._by_position:
            values = self._store.subjects & _LOW if position == 0 else self._store.objects.astype(np.uint64)
            order = np.argsort(values, kind="stable")
            self._by_position[position] = values[order], order
        values, order = self._by_position[position]
        low, high = (
            np.searchsorted(values, np.uint64(place or 0), "left"),
            np.searchsorted(values, np.uint64(place or 0), "right"),
        )
        rows = np.sort(order[low:high])
        return rows if subject is None or object is None else rows[self._store.objects[rows] == object]

    def _place(self, term: Term) -> int | None:
        text = str(term)
        if isinstance(term, BlankNode):
            if not term.label.startswith(self._scope):
                return None
            text = f"_:{SALTED}{term.label.removeprefix(self._scope)}"
        id = np.uint64(term_id(self._store.key, text))
        place = int(np.searchsorted(self._store.ids, id))
        return place if place < len(self._store.ids) and self._store.ids[place] == id else None

    def _triple(self, row: int) -> Triple:
        both = int(self._store.subjects[row])
        return Triple(self._term(both & 0xFFFFFFFF), self._term(both >> 32), self._term(int(self._store.objects[row])))

    def _term(self, place: int) -> Term:
        term = self._terms.get(place)
        if term is None:
            if len(self._terms) >= _KEPT:
                self._terms.clear()
            term = decode_term(self._store.texts, int(self._store.refs[place]))
            if isinstance(term, BlankNode):
                term = BlankNode(self._scope + term.label.removeprefix(SALTED))
            self._terms[place] = term
        return term


def _range(keys: NDArray[np.uint64], predicate: int, other: int | None = None) -> tuple[int, int]:
    """Where the rows of a predicate (and of a subject or object) stand."""
    least = np.uint64(predicate << 32 | (other or 0))
    most = np.uint64(predicate << 32 | (0xFFFFFFFF if other is None else other))
    return int(np.searchsorted(keys, least, "left")), int(np.searchsorted(keys, most, "right"))
