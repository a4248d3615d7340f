"""Events of a batch as items: terms that have been seen before are found again by their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.intake import Intake
from scepter.kernel.texts import Texts, TextsView
from scepter.kernel.windowed.items import Item
from scepter.rdf.terms import IRI, Term, Triple

_REMEMBERED = 200_000


class ItemReader:
    """Turns batches into items, for one task."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._terms: dict[int, Term] = {}

    def items(self, intake: Intake, wanted: NDArray[np.bool_]) -> Iterator[tuple[int, Item]]:
        """The wanted events as items, each with the number of its stream."""
        batch, term = intake.batch, self._term
        events = np.flatnonzero(wanted)
        names = self._names(intake.names()[events])
        first = batch.first
        ids = [column.tolist() for column in (batch.subject, batch.predicate, batch.object)]
        refs = [(column + intake.base).tolist() for column in (batch.subject_at, batch.predicate_at, batch.object_at)]
        (subject, predicate, object_), (subject_at, predicate_at, object_at) = ids, refs
        columns = (events, batch.stream[events], batch.start[events], batch.end[events], first[events], first[events + 1])
        for place, (event, stream, start, end, begin, stop) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            triples = [
                Triple(term(subject[r], subject_at[r]), term(predicate[r], predicate_at[r]), term(object_[r], object_at[r]))
                for r in range(begin, stop)
            ]
            yield stream, Item(start, end, tuple(triples), intake.number + event, names(place))

    def _term(self, id: int, ref: int) -> Term:
        term = self._terms.get(id)
        if term is None:
            if len(self._terms) >= _REMEMBERED:
                self._terms.clear()
            term = self._terms[id] = self._texts.term(ref)
        return term

    def _names(self, refs: NDArray[np.int64]) -> Callable[[int], Callable[[], str | None]]:
        """The names of events, decoded when somebody asks: from a copy, since the arena may be compacted by then."""
        if not (refs >= 0).any():
            return lambda place: _nameless
        view, moved = self._texts.view(refs)
        places = moved.tolist()
        return lambda place: _Name(view, places[place])


def _nameless() -> None:
    return None


class _Name:
    """A name that is decoded when it is asked for."""

    __slots__ = ("_ref", "_view")

    def __init__(self, view: TextsView, ref: int) -> None:
        self._view = view
        self._ref = ref

    def __call__(self) -> str | None:
        if self._ref < 0:
            return None
        name = self._view.term(self._ref, None)
        return name.value if isinstance(name, IRI) else str(name)
