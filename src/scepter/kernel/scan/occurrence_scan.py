"""`OccurrenceScan`: the triples of events, and what they entail, that triple patterns match. Stateless.

A triple is looked up once for all patterns, and tells by bits which of them it matches (`kernel.entailment.conclusions`);
statements of the schema vocabulary match nothing. A row is there until its stream's window lets go of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Constant, Expression, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.condition.interpreter import ROW, Programs
from scepter.kernel.condition.programs import compile_conjuncts
from scepter.kernel.condition.row_programs import decide_rows
from scepter.kernel.encoding import encoded_rows
from scepter.kernel.entailment.admitted import END, EVENT, EXPIRES, FOR_EVER, NAME, START, STREAM, TRIPLE, Admitted
from scepter.kernel.entailment.conclusions import Conclusions
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64, Mask, Rows, UInt64, concat, lasting, lasting_rows
from scepter.kernel.scan.intake import Intake
from scepter.kernel.texts import Texts
from scepter.ontology.entailment import Flattened
from scepter.ontology.vocabulary import is_schema
from scepter.physical.nodes.star_nodes import WORD, Counts, OccurrenceScan
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI, Term, Triple
from scepter.timeline import MAX_INSTANT

_EVERY = TriplePattern(Variable("s"), Variable("p"), Variable("o"))
Streams = Callable[[], Sequence[IRI]]


class _Windows:
    """The windows of streams by their number in batches."""

    def __init__(self, node: OccurrenceScan, streams: Streams, part: Callable[[str], int]) -> None:
        self._counts = dict(node.sources)
        self._otherwise = node.otherwise
        self._streams, self._part = streams, part

    def of(self, stream: int) -> Counts:
        return self._counts.get(self._streams()[stream], self._otherwise)

    def ticks(self) -> Int64:
        """How long the triples of each stream count; for ever where they are counted."""
        every = (self.of(stream).ticks for stream in range(len(self._streams())))
        return np.array([FOR_EVER if t is None else min(t, FOR_EVER) for t in every], np.int64)

    def parts(self) -> Int64:
        """The part of the lineage that each stream is."""
        return np.array([self._part(iri.value) for iri in self._streams()], np.int64)

    def counted(self) -> NDArray[np.bool_]:
        """Of which streams the last so many triples count."""
        return np.array([self.of(stream).last is not None for stream in range(len(self._streams()))], np.bool_)


class OccurrenceScans:
    """The scan of one unit's triples, by tables of what predicates and classes entail."""

    def __init__(
        self, node: OccurrenceScan, flattened: Flattened, key: TermKey, texts: Texts, lineage: Lineage,
        part: Callable[[str], int], streams: Streams,
    ) -> None:  # fmt: skip
        self._node = node
        self._windows = _Windows(node, streams, part)
        self._lineage = lineage
        self._words = [_Word(node, word, flattened, key, texts) for word in range(len(node.words))]
        self._every = Conclusions((_EVERY,), flattened, key, texts) if node.counted else None
        """Of counted streams every triple takes a place, whatever it matches."""
        self.met_schema = False
        """Whether a wanted event held a schema statement."""

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Its rows in order of end."""
        ticks, found = self._windows.ticks(), []
        for number, word in enumerate(self._words):
            admitted, schema = word.admit(intake, wanted, ticks)
            self.met_schema = self.met_schema or schema
            found.append(self._rows(intake, admitted, number))
        if self._every is not None:
            counted = wanted & self._windows.counted()[intake.batch.stream]
            admitted, _ = self._every.admit(intake, counted, ticks)
            found.append(self._rows(intake, _own(admitted, intake), None))
        return [concat(found, len(self._node.schema.variables)).by_end()]

    def _rows(self, intake: Intake, found: Admitted, word: int | None) -> Rows:
        count, width = len(found), len(self._node.schema.variables)
        ids, refs = np.empty((count, width), np.uint64), np.empty((count, width), np.int64)
        number, scale = np.empty((count, width)), np.full((count, width), NOT_A_NUMBER, np.int8)
        ids[:, :3], ids[:, 3:] = found.ids, 0
        refs[:, :3], refs[:, 3:] = found.refs[:, :3], NO_REF
        number[...], number[:, 2], scale[:, 2] = np.nan, found.number, found.scale
        if word is not None:
            ids[:, 3 + word] = found.feeds
        if self._every is not None:
            for column, (ids_of, places) in enumerate(_columns(intake), width - 3):
                at = found.source[:, TRIPLE]
                ids[:, column], refs[:, column] = ids_of[at], places[at] + intake.base
        parts = self._windows.parts()[found.source[:, STREAM]]
        lineage = self._lineage.leaves(parts, found.source[:, EVENT], found.refs[:, NAME])
        since, _ = lasting(count)
        until = np.minimum(found.when[:, EXPIRES], FOR_EVER - 1) + 1
        return Rows(ids, refs, number, scale, found.when[:, START].copy(), found.when[:, END].copy(), since, until, lineage)


def _columns(intake: Intake) -> tuple[tuple[UInt64, Int64], ...]:
    batch = intake.batch
    return (batch.subject, batch.subject_at), (batch.predicate, batch.predicate_at), (batch.object, batch.object_at)


def _own(found: Admitted, intake: Intake) -> Admitted:
    """Without what is entailed."""
    at, own = found.source[:, TRIPLE], np.ones(len(found), np.bool_)
    for position, (ids, _) in enumerate(_columns(intake)):
        own &= found.ids[:, position] == ids[at]
    return found.take(own)


class _Word:
    """Up to 64 patterns: what matches them, and the conditions that speak of one alone."""

    def __init__(self, node: OccurrenceScan, word: int, flattened: Flattened, key: TermKey, texts: Texts) -> None:
        first = word * WORD
        patterns = node.patterns[first : first + WORD]
        shown = np.ones((len(patterns), 3), np.bool_)
        if node.shown is not None:
            shown = np.array([[(first + i, p) in node.shown for p in range(3)] for i in range(len(patterns))], np.bool_)
        self._conclusions = Conclusions(patterns, flattened, key, texts, shown)
        self._local = [
            (place - first, _local(node.patterns[place], conditions, key))
            for place, conditions in node.local
            if first <= place < first + WORD
        ]

    def admit(self, intake: Intake, wanted: Mask, ticks: Int64) -> tuple[Admitted, bool]:
        """The triples that match, and whether a schema statement was seen."""
        admitted, schema = self._conclusions.admit(intake, wanted, ticks)
        for pattern, programs in self._local:
            admitted = _passing(admitted, pattern, programs)
        return admitted, schema


def _local(triple: TriplePattern, conditions: tuple[Expression, ...], key: TermKey) -> Programs:
    place = {node.name: i for i, node in enumerate(triple.places) if isinstance(node, Variable)}
    return compile_conjuncts(conditions, lambda name, _: (ROW, i, i) if (i := place.get(name)) is not None else None, key)


def _passing(admitted: Admitted, pattern: int, programs: Programs) -> Admitted:
    """Without the rows that fail a pattern's conditions for sure and match no other."""
    bit = np.uint64(1 << pattern)
    rows = np.flatnonzero(admitted.feeds & bit)
    if not len(rows):
        return admitted
    number, scale = np.full((len(rows), 3), np.nan), np.full((len(rows), 3), NOT_A_NUMBER, np.int8)
    number[:, 2], scale[:, 2] = admitted.number[rows], admitted.scale[rows]
    kept, undecided = decide_rows(programs, admitted.ids[rows], number, scale)
    failing = rows[~(kept | undecided)]
    if not len(failing):
        return admitted
    admitted.feeds[failing] &= ~bit
    return admitted.take(admitted.feeds != 0)


class ExactOccurrenceScans:
    """The same under a schema that has rules for its own vocabulary: what each triple entails, term by term."""

    def __init__(
        self, node: OccurrenceScan, consequences: Callable[[Triple], Iterable[Triple]], key: TermKey, texts: Texts,
        lineage: Lineage, part: Callable[[str], int], streams: Streams,
    ) -> None:  # fmt: skip
        self._node = node
        self._consequences = consequences
        self._windows = _Windows(node, streams, part)
        self._key, self._texts, self._lineage = key, texts, lineage
        self._matches = [_matcher(pattern) for pattern in node.patterns]
        self.met_schema = False
        """Whether a wanted event held a schema statement."""

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Its rows in order of end."""
        batch, counted = intake.batch, self._windows.counted()
        events: list[int] = []
        rows: list[tuple[Term, ...]] = []
        bits: list[int] = []
        for event, triple in self._streamed(intake, wanted):
            for entailed in dict.fromkeys((*self._consequences(triple), triple)):
                fed = sum(1 << i for i, matches in enumerate(self._matches) if matches(entailed))
                if fed or (entailed == triple and counted[batch.stream[event]]):
                    events.append(event)
                    rows.append((*entailed, *(triple if self._node.counted else ())))
                    bits.append(fed)
        return [self._rows(intake, np.array(events, np.int64), rows, bits)]

    def _streamed(self, intake: Intake, wanted: Mask) -> Iterator[tuple[int, Triple]]:
        batch, known, columns = intake.batch, self._texts.known, _columns(intake)
        for event in np.flatnonzero(wanted).tolist():
            for at in range(int(batch.first[event]), int(batch.first[event + 1])):
                triple = Triple(*(known(int(where[at]) + intake.base, int(term[at])) for term, where in columns))
                if is_schema(triple):
                    self.met_schema = True
                else:
                    yield event, triple

    def _rows(self, intake: Intake, events: Int64, found: list[tuple[Term, ...]], bits: list[int]) -> Rows:
        batch, node = intake.batch, self._node
        start, end, stream = batch.start[events], batch.end[events], batch.stream[events]
        lineage = self._lineage.leaves_of(self._windows.parts()[stream], events + intake.number, intake.names()[events])
        columns = encoded_rows(found, 6 if node.counted else 3, self._key, self._texts)
        made = lasting_rows(columns, start, end, lineage)
        words = [-1] * len(node.words)
        rows = made.columns((0, 1, 2, *words, *((3, 4, 5) if node.counted else ())))
        for word in range(len(words)):
            rows.ids[:, 3 + word] = np.array([each >> (WORD * word) & (2**WORD - 1) for each in bits], np.uint64)
        ticks = self._windows.ticks()[stream]
        until = [min(int(s) + int(t) + 1, MAX_INSTANT) for s, t in zip(start, ticks, strict=True)]
        return rows.valid(rows.since, np.array(until, np.int64)).by_end()


def _matcher(pattern: TriplePattern) -> Callable[[Triple], bool]:
    nodes = pattern.places
    constants = [(i, node.term) for i, node in enumerate(nodes) if isinstance(node, Constant)]
    equal = [(i, nodes.index(node)) for i, node in enumerate(nodes) if isinstance(node, Variable) and nodes.index(node) < i]
    return lambda triple: all(triple[i] == term for i, term in constants) and all(triple[i] == triple[j] for i, j in equal)
