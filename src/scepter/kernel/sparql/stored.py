"""A graph over columns in files: triples become terms when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.sparql.dataset import Graph
from scepter.rdf.hashing import term_id
from scepter.rdf.indexing import SALTED
from scepter.rdf.store import TripleStore
from scepter.rdf.terms import BlankNode, Term, Triple, parse_term

_KEPT: Final = 100_000
_HIGH: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)
_NOTHING: Sequence[Triple] = ()
_NO_ROWS: Final = np.empty(0, np.int64)


class StoredGraph(Graph):
    """A set of triples like any other. The blank nodes of its texts have labels that begin with `salt`; in the run, `scope`
    stands there instead."""

    __slots__ = ("_by_position", "_terms", "salt", "scope", "store")

    def __init__(self, store: TripleStore, scope: str = "", *, salt: str = SALTED) -> None:
        super().__init__()
        self.store = store
        self.scope = scope
        self.salt = salt
        self._terms: dict[int, Term] = {}
        self._by_position: dict[int, tuple[NDArray[np.uint64], NDArray[np.int64]]] = {}

    def __len__(self) -> int:
        return len(self.store)

    def __iter__(self) -> Iterator[Triple]:
        return (self._triple(row) for row in range(len(self.store)))

    def __contains__(self, triple: object) -> bool:
        return isinstance(triple, Triple) and len(self.rows(*triple)) > 0

    def nodes(self) -> Mapping[Term, None]:
        places = np.unique(np.concatenate([self.store.subjects & _LOW, self.store.objects.astype(np.uint64)]))
        return {self.term(place): None for place in places.tolist()}

    def has_node(self, term: Term) -> bool:
        """Whether a term is a subject or an object: looked up, since to list all nodes decodes every term."""
        return bool(self.count(term, None, None) or self.count(None, None, term))

    def predicates(self) -> list[Term]:
        found, subjects, row = [], self.store.subjects, 0
        while row < len(subjects):  # in order: a search per predicate, not a look at each triple
            place = int(subjects[row]) >> 32
            found.append(self.term(place))
            row = _range(subjects, place)[1]
        return found

    def objects_of(self, predicate: Term) -> list[Term]:
        """The different objects of a predicate."""
        if (place := self.place(predicate)) is None:
            return []
        low, high = _range(self.store.by_object, place)
        return [self.term(each) for each in np.unique(self.store.by_object[low:high] & _LOW).tolist()]

    def match(self, subject: Term | None, predicate: Term | None, object: Term | None) -> Sequence[Triple]:
        rows = self.rows(subject, predicate, object)
        return [self._triple(row) for row in rows.tolist()] if len(rows) else _NOTHING

    def count(self, subject: Term | None, predicate: Term | None, object: Term | None) -> int:
        return len(self.rows(subject, predicate, object))

    def rows(self, subject: Term | None, predicate: Term | None, object: Term | None) -> NDArray[np.int64]:
        """Which triples of the store have these terms."""
        wanted = (subject, predicate, object)
        places = [None if term is None else self.place(term) for term in wanted]
        if any(term is not None and place is None for term, place in zip(wanted, places, strict=True)):
            return _NO_ROWS
        return self._rows(*places)

    def rows_of(self, several: Iterable[tuple[Term | None, Term | None, Term | None]]) -> NDArray[np.int64]:
        """Which triples have the terms of any of several."""
        found = np.zeros(len(self.store), np.bool_)
        for wanted in several:
            found[self.rows(*wanted)] = True
        return np.flatnonzero(found)

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """[triple, position]: the places of the terms of some triples."""
        both = self.store.subjects[rows]
        return np.stack([both & _LOW, both >> _HIGH, self.store.objects[rows].astype(np.uint64)], axis=1).astype(np.int64)

    def ends(self, predicate: Term, object: Term | None = None) -> NDArray[np.int64]:
        """[triple, subject or object]: the places of both ends of a predicate's triples, or of those with an object."""
        return self.places(self.rows(None, predicate, object))[:, ::2]

    def _rows(self, subject: int | None, predicate: int | None, object: int | None) -> NDArray[np.int64]:
        store = self.store
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
            return np.arange(len(self.store))
        position, place = (0, subject) if subject is not None else (2, object)
        if position not in self._by_position:
            values = self.store.subjects & _LOW if position == 0 else self.store.objects.astype(np.uint64)
            order = np.argsort(values, kind="stable")
            self._by_position[position] = values[order], order
        values, order = self._by_position[position]
        low, high = (
            np.searchsorted(values, np.uint64(place or 0), "left"),
            np.searchsorted(values, np.uint64(place or 0), "right"),
        )
        rows = np.sort(order[low:high])
        return rows if subject is None or object is None else rows[self.store.objects[rows] == object]

    def place(self, term: Term) -> int | None:
        """Where a term stands among those of the store; None if it does not."""
        text = str(term)
        if isinstance(term, BlankNode):
            if not term.label.startswith(self.scope):
                return None
            text = f"_:{self.salt}{term.label.removeprefix(self.scope)}"
        ids, id = self.store.ids, np.uint64(term_id(self.store.key, text))
        place = int(np.searchsorted(ids, id))
        return place if place < len(ids) and ids[place] == id else None

    def _triple(self, row: int) -> Triple:
        both = int(self.store.subjects[row])
        return Triple(self.term(both & 0xFFFFFFFF), self.term(both >> 32), self.term(int(self.store.objects[row])))

    def term(self, place: int) -> Term:
        """The term that stands there."""
        term = self._terms.get(place)
        if term is None:
            if len(self._terms) >= _KEPT:
                self._terms.clear()
            term = self._terms[place] = self.term_at(int(self.store.refs[place]))
        return term

    def term_at(self, ref: int) -> Term:
        """The term whose text stands there, as the run knows it."""
        term = parse_term(self.store.texts.text(ref))
        return BlankNode(self.scope + term.label.removeprefix(self.salt)) if isinstance(term, BlankNode) else term


def _range(keys: NDArray[np.uint64], predicate: int, other: int | None = None) -> tuple[int, int]:
    """Where the rows of a predicate (and of a subject or object) stand."""
    least = np.uint64(predicate << 32 | (other or 0))
    most = np.uint64(predicate << 32 | (0xFFFFFFFF if other is None else other))
    return int(np.searchsorted(keys, least, "left")), int(np.searchsorted(keys, most, "right"))
