"""Events with what their triples entail (spec/50-sparkwave rule 3), before any scan: for units that see a graph as one.

A schema without rules for rdf:type itself says, predicate by predicate and class by class, what a triple entails: so whole
columns are filled at once, and an event's graph is still a set.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.ontology.entailment import Filler, Flattened, Slot, Template
from scepter.ontology.vocabulary import TYPE
from scepter.rdf.batch import NOT_A_NUMBER, EventBatch
from scepter.rdf.hashing import TermKey, term_id

_Rows: TypeAlias = NDArray[np.int64]
_QUOTE, _LINE_END = 34, 10


@dataclass(slots=True)
class EntailedEvents:
    """Adds to batches what their triples entail under a schema."""

    flattened: Flattened
    key: TermKey
    _texts: bytearray = field(default_factory=bytearray)
    """The constants of templates, each on a line of its own: they stand behind a batch's own texts."""
    _places: dict[Filler, tuple[int, int]] = field(default_factory=dict)
    _by_predicate: dict[int, list[tuple[bool, Template]]] = field(default_factory=dict)
    _by_class: dict[int, tuple[Template, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for (predicate, literal), templates in self.flattened.by_predicate.items():
            found = self._by_predicate.setdefault(term_id(self.key, str(predicate)), [])
            found += ((literal, template) for template in templates)
        for kind, templates in self.flattened.by_class.items():
            self._by_class[term_id(self.key, str(kind))] = templates
        for templates in (*self.flattened.by_predicate.values(), *self.flattened.by_class.values()):
            for filler in (filler for template in templates for filler in template if not isinstance(filler, Slot)):
                if filler not in self._places:
                    self._places[filler] = term_id(self.key, str(filler)), len(self._texts)
                    self._texts += str(filler).encode() + b"\n"

    def __call__(self, batch: EventBatch) -> EventBatch:
        """The events with all they entail; the same batch where that is nothing more."""
        parts = [(rows, template) for rows, template in self._applying(batch) if len(rows)]
        if not parts:
            return batch
        buffer = np.concatenate([batch.buffer, np.frombuffer(bytes(self._texts) + b"\n" * 64, np.uint8)])
        added = [self._filled(batch, rows, template) for rows, template in parts]
        event = np.repeat(np.arange(batch.events), np.diff(batch.first))
        columns = [
            np.concatenate([own, *(each[at] for each in added)])
            for at, own in enumerate(
                (batch.subject, batch.predicate, batch.object, batch.subject_at, batch.predicate_at, batch.object_at,
                 batch.number, batch.scale)
            )
        ]  # fmt: skip
        event = np.concatenate([event, *(event[rows] for rows, _ in parts)])
        rows = _each_once(event, columns)
        subject, predicate, object, subject_at, predicate_at, object_at, number, scale = (column[rows] for column in columns)
        first = np.concatenate([[0], np.cumsum(np.bincount(event[rows], minlength=batch.events))]).astype(np.int64)
        return replace(
            batch, buffer=buffer, first=first, subject=subject, predicate=predicate, object=object,
            subject_at=subject_at, predicate_at=predicate_at, object_at=object_at, number=number, scale=scale,
        )  # fmt: skip

    def _applying(self, batch: EventBatch) -> list[tuple[_Rows, Template]]:
        """Which rows each template is filled from."""
        literal = batch.buffer[batch.object_at] == _QUOTE
        found: list[tuple[_Rows, Template]] = []
        for predicate in np.unique(batch.predicate).tolist():
            for wants, template in self._by_predicate.get(predicate, ()):
                found.append((np.flatnonzero((batch.predicate == np.uint64(predicate)) & (literal == wants)), template))
        typed = np.flatnonzero(batch.predicate == np.uint64(term_id(self.key, str(TYPE))))
        for kind in np.unique(batch.object[typed]).tolist():
            rows = typed[batch.object[typed] == np.uint64(kind)]
            found += ((rows, template) for template in self._by_class.get(kind, ()))
        return found

    def _filled(self, batch: EventBatch, rows: _Rows, template: Template) -> tuple[NDArray[np.generic], ...]:
        ids, places = zip(*(self._column(batch, rows, filler) for filler in template), strict=True)
        carries = isinstance(template[2], Slot) and template[2] is not Slot.SUBJECT
        number = batch.number[rows] if carries else np.full(len(rows), np.nan)
        scale = batch.scale[rows] if carries else np.full(len(rows), NOT_A_NUMBER, batch.scale.dtype)
        return (*ids, *places, number, scale)

    def _column(self, batch: EventBatch, rows: _Rows, filler: Filler) -> tuple[NDArray[np.uint64], _Rows]:
        if filler is Slot.SUBJECT:
            return batch.subject[rows], batch.subject_at[rows]
        if isinstance(filler, Slot):
            return batch.object[rows], batch.object_at[rows]
        id, place = self._places[filler]
        return np.full(len(rows), id, np.uint64), np.full(len(rows), place + len(batch.buffer), np.int64)


def _each_once(event: _Rows, columns: list[NDArray[np.generic]]) -> _Rows:
    """The first row of each triple of an event, events in order, what they state before what it entails."""
    order = np.lexsort((np.arange(len(event)), columns[2], columns[1], columns[0], event))
    keys = [column[order] for column in (event, *columns[:3])]
    fresh = np.concatenate([[True], np.any([key[1:] != key[:-1] for key in keys], axis=0)])
    kept = order[fresh]
    rows: _Rows = kept[np.lexsort((kept, event[kept]))]
    return rows
