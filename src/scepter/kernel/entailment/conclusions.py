"""Entailment in columns: from the ids of a streamed triple to the occurrences that a pattern can match.

What a triple of some predicate (and class, for rdf:type) entails is compiled into conclusions: a triple each, made of the
streamed one's terms and of constants, with the patterns it may feed as bits of a word. A streamed triple then costs one or two
look-ups, whatever the size of the schema (spec/50-sparkwave rule 3; the paper's epsilon network, flattened).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.condition.programs import number_of
from scepter.kernel.entailment.admission import (
    CONSTANT,
    OBJECT,
    PREDICATE,
    SCHEMA,
    SUBJECT,
    ConclusionColumns,
    Patterns,
    Streamed,
    Triples,
    Words,
    admit_rows,
)
from scepter.kernel.entailment.admitted import Admitted
from scepter.kernel.entailment.id_table import IdTable
from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.scan.intake import Intake
from scepter.kernel.texts import Texts
from scepter.ontology.entailment import Filler, Flattened, Slot, Template
from scepter.ontology.vocabulary import SCHEMA_CLASSES, SCHEMA_PREDICATES, TYPE, speaks_of_schema
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import Term

_NOTHING = 0
"""The set of what matches no pattern."""
_SLOTS = {Slot.SUBJECT: SUBJECT, Slot.OBJECT: OBJECT, Slot.LITERAL: OBJECT}
_MOST_WORDS = 1 << 20


@dataclass(frozen=True, slots=True)
class _Conclusion:
    """One triple that follows: where its terms come from, and the patterns that it may match."""

    sources: tuple[int, int, int]
    terms: tuple[Term | None, Term | None, Term | None]
    """The constants among them."""
    sure: int
    """The patterns that it matches whatever the rest of the triple."""
    perhaps: int


_Set: TypeAlias = tuple[tuple[_Conclusion, ...], tuple[_Conclusion, ...]]
"""What a triple stands for whose object is a resource, and whose object is a literal."""


class Conclusions:
    """What the triples of batches stand for, as far as the patterns can match it."""

    def __init__(
        self,
        triples: tuple[TriplePattern, ...],
        flattened: Flattened,
        key: TermKey,
        texts: Texts,
        shown: NDArray[np.bool_] | None = None,
    ) -> None:
        """`shown` tells for each pattern and position whether somebody may ask for the text there, None that everywhere."""
        self._shown = np.ones((len(triples), 3), np.bool_) if shown is None else shown
        self._triples = triples
        self._flattened = flattened
        self._key = key
        self._texts = texts
        self._constants = np.zeros((len(triples), 3), np.uint64)
        self._equal = np.array([_equalities(triple) for triple in triples], np.int64)
        for number, triple in enumerate(triples):
            for position, node in enumerate(triple.places):
                if isinstance(node, Constant):
                    self._constants[number, position] = self._id(node.term)
        self._type = np.uint64(self._id(TYPE))
        self._sets: dict[_Set | None, int] = {((), ()): _NOTHING, None: SCHEMA}
        """The different sets, by their numbers."""
        self._predicates, self._classes = self._tables()
        self._any_predicate = any(isinstance(t.predicate, Variable) for t in triples)
        typed = (t for t in triples if not isinstance(t.predicate, Constant) or t.predicate.term == TYPE)
        self._any_class = any(isinstance(t.object, Variable) for t in typed)
        self._otherwise = self._add(self._set(None, None))
        self._otherwise_class = self._add(self._set(TYPE, None))
        self._columns = self._compiled()
        self._room = Admitted.room(0)
        """Where rows are written before they are copied: memory that is used again costs less than new memory."""

    # ---- the tables

    def _id(self, term: Term) -> int:
        return term_id(self._key, str(term))

    def _tables(self) -> tuple[IdTable, IdTable]:
        """Predicates, and classes as objects of rdf:type, with the set that each stands for."""
        predicates, classes = IdTable(), IdTable()
        named = {t.predicate.term for t in self._triples if isinstance(t.predicate, Constant)}
        for predicate in named | {p for p, _ in self._flattened.by_predicate}:
            if not speaks_of_schema(predicate, None):
                predicates.put(self._id(predicate), self._add(self._set(predicate, None)))
        kinds = {t.object.term for t in self._triples if isinstance(t.object, Constant)}
        for kind in kinds | set(self._flattened.by_class):
            if not speaks_of_schema(TYPE, kind):
                classes.put(self._id(kind), self._add(self._set(TYPE, kind)))
        for predicate in SCHEMA_PREDICATES:
            predicates.put(self._id(predicate), SCHEMA)
        for kind in SCHEMA_CLASSES:
            classes.put(self._id(kind), SCHEMA)
        return predicates, classes

    def _add(self, found: _Set) -> int:
        return self._sets.setdefault(found, len(self._sets))

    def _set(self, predicate: Term | None, kind: Term | None) -> _Set:
        """What the triples of a predicate (and class) stand for; None is any that no pattern and no rule names."""
        if kind is not None:  # no literal
            found = self._all(predicate, kind, self._flattened.by_class.get(kind, ()))
            return found, found
        by_predicate = self._flattened.by_predicate
        resources, literals = (
            self._all(predicate, Slot.OBJECT, () if predicate is None else by_predicate.get((predicate, literal), ()))
            for literal in (False, True)
        )
        return resources, literals

    def _all(self, predicate: Term | None, object: Filler, templates: tuple[Template, ...]) -> tuple[_Conclusion, ...]:
        """A triple itself and what the templates make of it."""
        found = [*self._concluded((SUBJECT, PREDICATE, OBJECT), (None, None, None), predicate, object)]
        for subject, wider, filler in templates:
            sources = (_source(subject), CONSTANT, _source(filler))
            terms = (_constant(subject), wider, _constant(filler))
            found += self._concluded(sources, terms, wider, filler)
        return tuple(found)

    def _concluded(
        self,
        sources: tuple[int, int, int],
        terms: tuple[Term | None, Term | None, Term | None],
        predicate: Term | None,
        object: Filler,
    ) -> Iterator[_Conclusion]:
        """A triple that follows, if any pattern may match it."""
        sure = perhaps = 0
        for number, pattern in enumerate(self._triples):
            if isinstance(pattern.predicate, Constant) and pattern.predicate.term != predicate:
                continue
            fixed = isinstance(pattern.object, Constant)
            if isinstance(pattern.object, Constant) and not isinstance(object, Slot) and pattern.object.term != object:
                continue
            open = isinstance(pattern.subject, Constant) or (fixed and isinstance(object, Slot)) or self._equal[number]
            sure |= 0 if open else 1 << number
            perhaps |= 1 << number if open else 0
        if sure | perhaps:
            yield _Conclusion(sources, terms, sure, perhaps)

    def _compiled(self) -> ConclusionColumns:
        every: list[_Conclusion] = []
        sets = np.zeros((len(self._sets), 2, 2), np.int64)
        for pair, number in self._sets.items():
            for literal, found in enumerate(pair or ()):
                sets[number, literal] = len(every), len(every) + len(found)
                every += found
        terms = list({t: None for c in every for t in c.terms if t is not None})
        refs = dict(zip(terms, self._texts.append_fixed([str(t) for t in terms]).tolist(), strict=True))
        numbers = [(np.nan, NOT_A_NUMBER) if c.terms[2] is None else number_of(c.terms[2]) for c in every]
        self._most = max(len(found) for pair in self._sets if pair for found in pair)
        return ConclusionColumns(
            sets,
            np.array([c.sources for c in every], np.int64).reshape(-1, 3),
            np.array([[0 if t is None else self._id(t) for t in c.terms] for c in every], np.uint64).reshape(-1, 3),
            np.array([[0 if t is None else refs[t] for t in c.terms] for c in every], np.int64).reshape(-1, 3),
            np.array([n for n, _ in numbers], np.float64),
            np.array([s for _, s in numbers], np.int8),
            np.array([c.sure for c in every], np.uint64),
            np.array([c.perhaps for c in every], np.uint64),
            np.array([self._asked(c) for c in every], np.bool_).reshape(-1, 3),
        )

    def _asked(self, conclusion: _Conclusion) -> Sequence[bool]:
        fed = conclusion.sure | conclusion.perhaps
        return [
            any(column) for column in zip(*(row for i, row in enumerate(self._shown.tolist()) if fed >> i & 1), strict=True)
        ]

    # ---- a batch

    def admit(self, intake: Intake, wanted: NDArray[np.bool_], ticks: Int64) -> tuple[Admitted, bool]:
        """The occurrences of the wanted events that a pattern can match, in order of arrival, and whether any of the events
        holds a schema statement. `ticks` tells for each stream how long its triples count."""
        batch = intake.batch
        self._learn(intake)
        if len(self._room) < batch.triples * self._most:
            self._room = Admitted.room(batch.triples * self._most)
        found = self._room
        rows, schema = admit_rows(
            tuple(Streamed(batch.first, wanted, batch.stream, batch.start, batch.end, intake.names(), ticks)),
            tuple(
                Triples(
                    batch.buffer, intake.base, batch.subject, batch.predicate, batch.object, batch.subject_at,
                    batch.predicate_at, batch.object_at, batch.number, batch.scale,
                )
            ),
            intake.number,
            tuple(
                Words(
                    self._type, self._predicates.keys, self._predicates.values, self._classes.keys, self._classes.values,
                    self._otherwise, self._otherwise_class,
                )
            ),
            tuple(Patterns(self._constants, self._equal)),
            tuple(self._columns),
            tuple([getattr(found, name) for name in found.NAMES]),
        )  # fmt: skip
        return found.first(rows), bool(schema)

    def _learn(self, intake: Intake) -> None:
        """Words that nobody named match the patterns with a variable in their place, unless they speak of the schema: that
        their texts tell, once for each."""
        if max(len(self._predicates), len(self._classes)) > _MOST_WORDS:
            self._predicates, self._classes = self._tables()
        batch = intake.batch
        if self._any_predicate:
            for id, word in self._words(self._predicates, batch.predicate, batch.predicate_at + intake.base):
                self._predicates.put(id, _NOTHING if speaks_of_schema(word, None) else self._otherwise)
        if self._any_class:
            typed = batch.predicate == self._type
            for id, word in self._words(self._classes, batch.object[typed], batch.object_at[typed] + intake.base):
                self._classes.put(id, _NOTHING if speaks_of_schema(TYPE, word) else self._otherwise_class)

    def _words(self, table: IdTable, ids: UInt64, refs: Int64) -> Iterator[tuple[int, Term]]:
        if len(table.missing(ids)):
            different, first = np.unique(ids, return_index=True)
            new = ~np.isin(different, table.keys)
            for id, ref in zip(different[new].tolist(), refs[first[new]].tolist(), strict=True):
                yield id, self._texts.term(ref)


def _source(filler: Filler) -> int:
    return _SLOTS[filler] if isinstance(filler, Slot) else CONSTANT


def _constant(filler: Filler) -> Term | None:
    return None if isinstance(filler, Slot) else filler


def _equalities(triple: TriplePattern) -> int:
    """The positions that must be equal, as bits: 1 (subject, predicate), 2 (subject, object), 4 (predicate, object)."""
    nodes = triple.places
    pairs = ((1, 0, 1), (2, 0, 2), (4, 1, 2))
    return sum(bit for bit, i, j in pairs if isinstance(nodes[i], Variable) and nodes[i] == nodes[j])
