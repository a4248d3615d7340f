"""The triples of a batch that a query can use, picked by id before any text is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.continuous.relevance import Interest
from scepter.kernel.intake import Intake
from scepter.kernel.texts import Texts
from scepter.ontology.vocabulary import SCHEMA_CLASSES, SCHEMA_PREDICATES, TYPE, is_schema
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import Term, Triple

_KEPT = 50_000


class TripleSelection:
    """Reads the useful triples of events. Terms are kept by id for a while: most come again and again."""

    def __init__(self, interest: Interest | None, key: TermKey, texts: Texts) -> None:
        self._texts = texts
        self._type = term_id(key, str(TYPE))
        self._predicates = None if interest is None else _ids(key, interest.predicates)
        self._classes = None if interest is None or interest.classes is None else _ids(key, interest.classes)
        self._schema_predicates = _ids(key, SCHEMA_PREDICATES)
        self._schema_classes = _ids(key, SCHEMA_CLASSES)
        self._terms: dict[int, Term] = {}

    def has_schema(self, intake: Intake, wanted: NDArray[np.bool_]) -> bool:
        """Whether a wanted event holds a schema statement of the usual kinds."""
        batch = intake.batch
        rows = np.isin(batch.predicate, self._schema_predicates)
        rows |= (batch.predicate == self._type) & np.isin(batch.object, self._schema_classes)
        return bool(np.any(rows)) and bool(np.any(rows & np.repeat(wanted, np.diff(batch.first))))

    def triples(self, intake: Intake, wanted: NDArray[np.bool_]) -> Iterator[tuple[int, tuple[Triple, ...]]]:
        """Each wanted event by its place in the batch with its useful triples, each once; schema statements are left out."""
        batch = intake.batch
        rows = np.repeat(wanted, np.diff(batch.first))
        if self._predicates is not None:
            rows &= np.isin(batch.predicate, self._predicates)
        if self._classes is not None:
            rows &= (batch.predicate != self._type) | np.isin(batch.object, self._classes)
        picked = np.flatnonzero(rows)
        bounds = np.searchsorted(picked, batch.first).tolist()
        columns = [
            zip(ids[picked].tolist(), (at[picked] + intake.base).tolist(), strict=True)
            for ids, at in (
                (batch.subject, batch.subject_at), (batch.predicate, batch.predicate_at), (batch.object, batch.object_at)
            )
        ]  # fmt: skip
        read = [Triple(*(self._term(id, ref) for id, ref in cells)) for cells in zip(*columns, strict=True)]
        for event in np.flatnonzero(wanted).tolist():
            found = dict.fromkeys(read[bounds[event] : bounds[event + 1]])
            yield event, tuple(t for t in found if not is_schema(t))

    def _term(self, id: int, ref: int) -> Term:
        term = self._terms.get(id)
        if term is None:
            if len(self._terms) >= _KEPT:
                self._terms.clear()
            term = self._terms[id] = self._texts.term(ref)
        return term


def _ids(key: TermKey, terms: Iterable[Term]) -> NDArray[np.uint64]:
    return np.array([term_id(key, str(term)) for term in terms], np.uint64)
