"""Events with what their triples entail (spec/50-sparkwave rule 3), before any scan: for units that see a graph as one.

A schema without rules for rdf:type itself says, predicate by predicate and class by class, what a triple entails: so whole
columns are filled at once, and an event's graph is still a set. What a batch costs does not grow with the schema: a row finds
its templates by a binary search, and they are filled for all rows together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.ontology.entailment import Filler, Flattened, Slot, Template
from scepter.ontology.vocabulary import TYPE
from scepter.rdf.batch import NOT_A_NUMBER, EventBatch
from scepter.rdf.hashing import TermKey, term_id

_Rows: TypeAlias = NDArray[np.int64]
_Ids: TypeAlias = NDArray[np.uint64]
_QUOTE = 34
_SUBJECT, _OBJECT, _CONSTANT = range(3)


class _Templates(NamedTuple):
    """All templates, a row each; by the place that is filled: from what, and which constant."""

    source: _Rows
    """(template, place): the triple's subject, its object, or a constant."""
    id: _Ids
    """(template, place): of constants."""
    text: _Rows
    """(template, place): where the text of a constant begins, among those of all constants."""


class _Groups(NamedTuple):
    """Which templates the triples of a predicate, or of a class, fill: ids in order, each with a stretch of `members`."""

    ids: _Ids
    first: _Rows
    members: _Rows

    @classmethod
    def of(cls, groups: Mapping[int, list[int]]) -> _Groups:
        ids = sorted(groups)
        first = np.concatenate([[0], np.cumsum([len(groups[id]) for id in ids], dtype=np.int64)]).astype(np.int64)
        return cls(np.array(ids, np.uint64), first, np.array([at for id in ids for at in groups[id]], np.int64))

    def filled(self, rows: _Rows, ids: _Ids) -> tuple[_Rows, _Rows]:
        """Each row as often as its id has templates, and these."""
        if not len(self.ids):
            return rows[:0], rows[:0]
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        known = np.flatnonzero(self.ids[at] == ids)
        first, count = self.first[at[known]], np.diff(self.first)[at[known]]
        ends = np.cumsum(count)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count, count)
        return np.repeat(rows[known], count), self.members[np.repeat(first, count) + within]


@dataclass(slots=True)
class EntailedEvents:
    """Adds to batches what their triples entail under a schema."""

    flattened: Flattened
    key: TermKey
    _texts: bytearray = field(default_factory=bytearray)
    """The constants of templates, each on a line of its own: they stand behind a batch's own texts."""
    _templates: _Templates = field(init=False)
    _by_predicate: dict[bool, _Groups] = field(init=False)
    """By whether the object is a literal."""
    _by_class: _Groups = field(init=False)
    _type: np.uint64 = field(init=False)

    def __post_init__(self) -> None:
        numbers: dict[Template, int] = {}

        def group(given: Iterable[tuple[Filler, tuple[Template, ...]]]) -> _Groups:
            return _Groups.of({
                term_id(self.key, str(word)): [numbers.setdefault(template, len(numbers)) for template in templates]
                for word, templates in given
            })  # fmt: skip

        by_predicate = self.flattened.by_predicate.items()
        self._by_predicate = {
            literal: group((predicate, templates) for (predicate, of), templates in by_predicate if of == literal)
            for literal in (False, True)
        }
        self._by_class = group(self.flattened.by_class.items())
        self._type = np.uint64(term_id(self.key, str(TYPE)))
        self._templates = self._columns(numbers)

    def _columns(self, templates: Iterable[Template]) -> _Templates:
        """The templates as columns, and the texts of their constants."""
        places: dict[Filler, tuple[int, int, int]] = {
            Slot.SUBJECT: (_SUBJECT, 0, 0), Slot.OBJECT: (_OBJECT, 0, 0), Slot.LITERAL: (_OBJECT, 0, 0),
        }  # fmt: skip
        for filler in (filler for template in templates for filler in template):
            if filler not in places:
                places[filler] = _CONSTANT, term_id(self.key, str(filler)), len(self._texts)
                self._texts += str(filler).encode() + b"\n"
        found = [[places[filler] for filler in template] for template in templates]
        source, id, text = ([[place[at] for place in each] for each in found] for at in range(3))
        shape = (len(found), 3)
        return _Templates(
            np.array(source, np.int64).reshape(shape),
            np.array(id, np.uint64).reshape(shape),
            np.array(text, np.int64).reshape(shape),
        )

    def __call__(self, batch: EventBatch) -> EventBatch:
        """The events with all they entail; the same batch where that is nothing more."""
        rows, templates = self._applying(batch)
        if not len(rows):
            return batch
        buffer = np.concatenate([batch.buffer, np.frombuffer(bytes(self._texts) + b"\n" * 64, np.uint8)])
        own = (
            batch.subject, batch.predicate, batch.object, batch.subject_at, batch.predicate_at, batch.object_at,
            batch.number, batch.scale,
        )  # fmt: skip
        added = self._added(batch, rows, templates)
        columns = [np.concatenate([stated, entailed]) for stated, entailed in zip(own, added, strict=True)]
        event = np.repeat(np.arange(batch.events), np.diff(batch.first))
        event = np.concatenate([event, event[rows]])
        rows = _each_once(event, columns)
        subject, predicate, object, subject_at, predicate_at, object_at, number, scale = (column[rows] for column in columns)
        first = np.concatenate([[0], np.cumsum(np.bincount(event[rows], minlength=batch.events))]).astype(np.int64)
        return replace(
            batch, buffer=buffer, first=first, subject=subject, predicate=predicate, object=object,
            subject_at=subject_at, predicate_at=predicate_at, object_at=object_at, number=number, scale=scale,
        )  # fmt: skip

    def _applying(self, batch: EventBatch) -> tuple[_Rows, _Rows]:
        """Which templates are filled, and from which rows."""
        literal = batch.buffer[batch.object_at] == _QUOTE
        found = []
        for wants, groups in self._by_predicate.items():
            rows = np.flatnonzero(literal == wants)
            found.append(groups.filled(rows, batch.predicate[rows]))
        typed = np.flatnonzero(batch.predicate == self._type)
        found.append(self._by_class.filled(typed, batch.object[typed]))
        rows, templates = (np.concatenate(column) for column in zip(*found, strict=True))
        return rows, templates

    def _added(self, batch: EventBatch, rows: _Rows, templates: _Rows) -> tuple[NDArray[np.generic], ...]:
        """The columns of what is entailed."""
        source = self._templates.source[templates]
        ids, texts = self._templates.id[templates], self._templates.text[templates] + len(batch.buffer)
        for place in range(3):
            for kind, term, text in (
                (_SUBJECT, batch.subject, batch.subject_at),
                (_OBJECT, batch.object, batch.object_at),
            ):
                taken = np.flatnonzero(source[:, place] == kind)
                ids[taken, place], texts[taken, place] = term[rows[taken]], text[rows[taken]]
        carries = source[:, 2] == _OBJECT
        number = np.where(carries, batch.number[rows], np.nan)
        scale = np.where(carries, batch.scale[rows], NOT_A_NUMBER).astype(batch.scale.dtype)
        return *ids.T, *texts.T, number, scale


def _each_once(event: _Rows, columns: list[NDArray[np.generic]]) -> _Rows:
    """The first row of each triple of an event, events in order, what they state before what it entails."""
    order = np.lexsort((np.arange(len(event)), columns[2], columns[1], columns[0], event))
    keys = [column[order] for column in (event, *columns[:3])]
    fresh = np.concatenate([[True], np.any([key[1:] != key[:-1] for key in keys], axis=0)])
    kept = order[fresh]
    rows: _Rows = kept[np.lexsort((kept, event[kept]))]
    return rows
