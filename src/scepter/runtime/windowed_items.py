"""Events that wait for their time to come, and the items they become then.

Until then they are rows of columns; terms that have been seen before are found again by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.intake import Intake
from scepter.kernel.texts import Texts, TextsView
from scepter.kernel.windowed.items import Item
from scepter.rdf.terms import IRI, Term, Triple

_REMEMBERED = 200_000


class _Chunk:
    """The wanted events of one batch."""

    def __init__(self, intake: Intake, events: NDArray[np.int64], texts: Texts) -> None:
        batch = intake.batch
        self.first = batch.first.tolist()
        self.start = batch.start.tolist()
        self.end = batch.end.tolist()
        self.number = intake.number
        self.ids = tuple(column.tolist() for column in (batch.subject, batch.predicate, batch.object))
        self.refs = tuple(column + intake.base for column in (batch.subject_at, batch.predicate_at, batch.object_at))
        """Where the texts are; exchanged in place when the arena is compacted."""
        names = np.full(batch.events, -1, np.int64)
        names[events] = intake.names()[events]
        self.view: TextsView | None = None
        if (names >= 0).any():
            self.view, names = texts.view(names)  # a copy: names may be shown when the arena has moved on
        self.names = names.tolist()


class WaitingItems:
    """Events in order of end, start and arrival; those up to a time are taken out as items."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._terms: dict[int, Term] = {}
        self._chunks: dict[int, _Chunk] = {}
        self._table = np.empty((0, 6), np.int64)
        """Columns: end, start, arrival, stream, chunk, event."""
        self._added: list[NDArray[np.int64]] = []
        self._arrivals = 0
        self._mark = 0

    def add(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Take the wanted events of a batch."""
        events = np.flatnonzero(wanted)
        if not len(events):
            return
        batch, chunk = intake.batch, self._arrivals
        arrivals = self._arrivals + np.arange(len(events))
        columns = (batch.end[events], batch.start[events], arrivals, batch.stream[events], np.full(len(events), chunk), events)
        self._chunks[chunk] = _Chunk(intake, events, self._texts)
        self._added.append(np.stack([column.astype(np.int64) for column in columns], axis=1))
        self._arrivals += len(events)

    def _rows(self) -> NDArray[np.int64]:
        """All that waits, in order."""
        if self._added:
            table = np.concatenate([self._table, *self._added])
            self._table = table[np.lexsort((table[:, 2], table[:, 1], table[:, 0]))]
            self._added = []
        return self._table

    def __len__(self) -> int:
        return len(self._rows())

    def last_time(self) -> int | None:
        """The greatest time of all."""
        rows = self._rows()
        return int(rows[-1, 0]) if len(rows) else None

    def due(self, closed: int) -> list[list[int]]:
        """Take out the events up to a time: rows for `item`, the time first and the stream fourth."""
        rows = self._rows()
        until = int(np.searchsorted(rows[:, 0], closed, side="right"))
        self._table = rows[until:]
        taken: list[list[int]] = rows[:until].tolist()
        return taken

    def release(self) -> None:
        """Let go of batches that no waiting event is in."""
        if self._chunks:
            used = set(np.unique(self._rows()[:, 4]).tolist())
            self._chunks = {number: chunk for number, chunk in self._chunks.items() if number in used}

    def item(self, row: list[int]) -> Item:
        """The item of an event."""
        chunk, event = self._chunks[row[4]], row[5]
        subject, predicate, object_ = chunk.ids
        known = self._terms
        triples = []
        for r in range(chunk.first[event], chunk.first[event + 1]):
            s, p, o = known.get(subject[r]), known.get(predicate[r]), known.get(object_[r])
            if s is None or p is None or o is None:
                s, p, o = self._decode(chunk, r)
            triples.append(Triple(s, p, o))
        return Item(row[1], row[0], tuple(triples), chunk.number + event, chunk.view, chunk.names[event])

    def _decode(self, chunk: _Chunk, row: int) -> list[Term]:
        if len(self._terms) >= _REMEMBERED:
            self._terms.clear()
        terms = [self._texts.term(int(refs[row])) for refs in chunk.refs]
        for ids, term in zip(chunk.ids, terms, strict=True):
            self._terms[ids[row]] = term
        return terms

    # ---------------------------------------------------------------- instants that may be undone

    def save(self) -> None:
        """What arrives from here on can be undone."""
        self._mark = self._arrivals

    def undo(self) -> None:
        """Forget what arrived since `save` and still waits."""
        rows = self._rows()
        self._table = rows[rows[:, 2] < self._mark]
        self.release()

    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the events."""
        rows = self._rows()
        return np.array([self._chunks[chunk].number + event for chunk, event in rows[:, 4:6].tolist()], np.int64)

    def refs(self) -> Iterator[NDArray[np.int64]]:
        """Each array of text refs."""
        for chunk in self._chunks.values():
            yield from chunk.refs


def name_of(item: Item) -> str | None:
    """The name of an item's event."""
    if item.view is None or item.name < 0:
        return None
    name = item.view.term(item.name, None)
    return name.value if isinstance(name, IRI) else str(name)
