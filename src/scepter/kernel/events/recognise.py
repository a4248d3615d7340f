"""`Recognise`: the logical events of items, with what they rest on (spec/40-obep rules 1 and 7).

Items of one shape are reasoned over once, as terms; what was found is then told of each of them in columns. Of an item only the
triples that rules can use make its shape. Where more may matter (a complete reasoner, an event stated outright, who is the
same) all of it counts, as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.events.assertion_sets import AssertionSets, Cells, column_of
from scepter.kernel.events.findings import CONFLICT, Findings, Found, ItemRows
from scepter.kernel.events.item_shapes import ItemTriples, Shapes, item_shapes, surrounding
from scepter.kernel.events.parts import Part, Parts
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64, Mask, Rows, UInt64, empty, lasting_rows, spread
from scepter.kernel.scan.intake import Intake
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.static.graph_columns import NO_TRIPLES, GraphColumns, graph_columns
from scepter.kernel.texts import Texts
from scepter.ontology.assertions import IDENTITY, RDF_TYPE
from scepter.ontology.recognition import Recogniser
from scepter.physical.nodes.event_nodes import Contradictions, ItemGraphs, Recognise
from scepter.physical.nodes.nodes import Node
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import Term, Triple

_KNOWN = 100_000
"""Shapes that are remembered."""
_QUOTE = ord('"')


class Recognising:
    """The leaves that read items: the occurrences of each logical event, the items' graphs, and what contradicts."""

    def __init__(
        self,
        leaves: Sequence[Node],
        recogniser: Recogniser,
        static: Sequence[Graph],
        sets: AssertionSets,
        key: TermKey,
        texts: Texts,
        lineage: Lineage,
        parts: Parts | None,
    ) -> None:
        self._leaves = leaves
        self._recogniser = recogniser
        self._sets, self._texts, self._lineage, self._parts = sets, texts, lineage, parts
        self._whole = any(isinstance(leaf, ItemGraphs) for leaf in leaves)
        self._words = _Words(recogniser, key)
        columns = _static_columns(static, recogniser, key, texts)
        self._base = sets.add_static(columns)
        self._static_refs = columns.refs
        self._around = surrounding(columns, self._words.type, self._words.held, self._words.typed)
        self._findings = Findings(recogniser.names, sets)

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        events, batch = wanted.nonzero()[0], intake.batch
        used, wholly = self._words.used(batch)
        triples = ItemTriples(
            batch.first, batch.subject, batch.predicate, batch.object, used, self._words.types(batch), _literal(batch)
        )
        shapes = item_shapes(events, triples, self._words.kept(triples), wholly, self._around)
        self._reason(intake, events, shapes, used)
        places = np.concatenate([[0], np.cumsum(used)])[batch.first]
        own = self._take(intake, used) + places[:-1]
        found = self._findings.of(shapes, ItemRows(own[events], np.diff(places)[events], self._base))
        graphs = self._graphs(intake, events) if self._whole else None
        return [self._rows(leaf, intake, events, found, graphs) for leaf in self._leaves]

    def _take(self, intake: Intake, used: Mask) -> int:
        """Take the used triples of a batch; the row of the first."""
        batch, at = intake.batch, used.nonzero()[0]
        ids, refs = np.empty((len(at), 3), np.uint64), np.empty((len(at), 3), np.int64)
        ids[:, 0], ids[:, 1], ids[:, 2] = batch.subject[at], batch.predicate[at], batch.object[at]
        refs[:, 0], refs[:, 1], refs[:, 2] = batch.subject_at[at], batch.predicate_at[at], batch.object_at[at]
        return self._sets.add(ids, refs + intake.base, batch.number[at], batch.scale[at])

    def _graphs(self, intake: Intake, events: Int64) -> Cells:
        """All that items say."""
        first = self._take(intake, np.ones(intake.batch.triples, np.bool_)) + intake.batch.first
        item, within = spread(np.diff(first)[events])
        return self._sets.made(np.diff(first)[events], first[events][item] + within)

    # ---- shapes that are new

    def _reason(self, intake: Intake, events: Int64, shapes: Shapes, used: Mask) -> None:
        """Reason over one item of each new shape, all at once."""
        if len(self._findings) > _KNOWN:
            self._findings = Findings(self._recogniser.names, self._sets)
        fresh: dict[int, int] = {}
        for place, key in enumerate(shapes.keys.tolist()):
            if key not in self._findings:
                fresh.setdefault(key, place)
        items = [self._item(intake, events[place], used) for place in fresh.values()]
        inferences = self._recogniser.infer(items) if items else ()
        for (key, place), item, inference in zip(fresh.items(), items, inferences, strict=True):
            around = shapes.rows[shapes.first[place] : shapes.first[place + 1]]
            self._findings.add(key, [*item, *map(self._static_triple, around.tolist())], inference)

    def _item(self, intake: Intake, event: int, used: Mask) -> list[Triple]:
        batch, known = intake.batch, self._texts.known
        low, high = batch.first[event : event + 2]
        rows = low + np.flatnonzero(used[low:high])
        columns = ((batch.subject_at, batch.subject), (batch.predicate_at, batch.predicate), (batch.object_at, batch.object))
        terms = [[*map(known, (at[rows] + intake.base).tolist(), ids[rows].tolist())] for at, ids in columns]
        return [Triple(*triple) for triple in zip(*terms, strict=True)]

    def _static_triple(self, row: int) -> Triple:
        return Triple(*map(self._texts.known, self._static_refs[row].tolist(), self._around.ids[row].tolist()))

    # ---- rows

    def _rows(self, leaf: Node, intake: Intake, events: Int64, found: Found, graphs: Cells | None) -> Rows:
        match leaf:
            case Recognise(number=number):
                at = (found.event == number).nonzero()[0]
                if not len(at):
                    return empty(1 + leaf.individuals)
                told = leaf.individuals or self._parts is not None
                rows = _rows_of(intake.batch, events[found.item[at]], _cells(found.cells, at), 1 + told)
                if told:
                    rows.ids[:, 1], rows.refs[:, 1] = self._sets.term_at(found.individual[at], found.position[at])
                if self._parts is not None:
                    rows.lineage[:] = self._parts.leaves(self._told(rows, number))
                return rows.columns(range(1 + leaf.individuals))
            case ItemGraphs():
                assert graphs is not None
                consistent = np.setdiff1d(np.arange(len(events)), found.item[found.event == CONFLICT])
                return _rows_of(intake.batch, events[consistent], _cells(graphs, consistent))
            case Contradictions():
                at = (found.event == CONFLICT).nonzero()[0]
                if not len(at):
                    return empty(1)
                of = events[found.item[at]]
                rows = _rows_of(intake.batch, of, _cells(found.cells, at))
                names, streams = intake.names()[of], intake.batch.stream[of].tolist()
                for row, stream in enumerate(streams):  # the few that contradict
                    rows.lineage[row : row + 1] = self._lineage.leaves(
                        stream, intake.number + of[row : row + 1], names[row : row + 1]
                    )
                return rows
            case _:
                raise AssertionError(f"{type(leaf).__name__} reads no items")

    def _told(self, rows: Rows, number: int) -> Iterable[Part]:
        columns = (rows.ids.tolist(), rows.refs.tolist(), rows.start.tolist(), rows.end.tolist())
        for ids, refs, start, end in zip(*columns, strict=True):
            individual = self._texts.known(refs[1], ids[1])
            yield Part(self._recogniser.names[number], individual, self._sets.terms(ids[0], refs[0]), start, end)


class _Words:
    """The words that decide what items are, as ids."""

    def __init__(self, recogniser: Recogniser, key: TermKey) -> None:
        program, words = recogniser.routing.program, recogniser.used_words()

        def ids(terms: Iterable[Term]) -> UInt64:
            return np.unique(np.array([term_id(key, str(term)) for term in terms], np.uint64))

        self.type = np.uint64(term_id(key, str(RDF_TYPE)))
        self._known = None if words is None else tuple(map(ids, words))
        self._events, self._identity = ids(recogniser.names), ids(IDENTITY)
        self.typed = program is None or program.names_datatypes
        """Whether literals are told apart."""
        self.held = ids({*(() if program is None else program.nominals), *recogniser.spoken()})
        """The names that axioms speak of: they stay as they are."""

    def types(self, batch: EventBatch) -> Mask:
        """The triples that say what somebody is."""
        found: Mask = batch.predicate == self.type
        return found

    def used(self, batch: EventBatch) -> tuple[Mask, Mask]:
        """The triples that count, and the items of which all do, as they stand."""
        if self._known is None:
            return np.ones(batch.triples, np.bool_), np.ones(batch.events, np.bool_)
        predicates, classes = self._known
        types = self.types(batch)
        used = _among(batch.predicate, predicates)
        used[types] = _among(batch.object[types], classes)
        stated = types & _among(batch.object, self._events)
        stated |= _among(batch.predicate, self._identity)
        wholly = np.zeros(batch.events, np.bool_)
        if stated.any():  # then definitions count both ways, or names do not tell individuals apart: all words may matter
            rows = np.repeat(np.arange(batch.events), np.diff(batch.first))
            wholly[rows[stated]] = True
            used |= wholly[rows]
        return used, wholly

    def kept(self, triples: ItemTriples) -> Mask:
        """[triple, subject or object] whether a name stays as it is."""
        kept: Mask = np.zeros((len(triples.subject), 2), np.bool_)
        if len(self.held):
            kept[:, 0], kept[:, 1] = _among(triples.subject, self.held), _among(triples.object, self.held)
        if self.typed:
            kept[:, 1] |= triples.literal
        return kept


def _among(ids: UInt64, words: UInt64) -> Mask:
    """Which ids are among some words, which are in order: a tenth of the cost of `np.isin` for the triples of one item."""
    if not len(words):
        return np.zeros(len(ids), np.bool_)
    found: Mask = words[np.minimum(np.searchsorted(words, ids), len(words) - 1)] == ids
    return found


def _static_columns(graphs: Sequence[Graph], recogniser: Recogniser, key: TermKey, texts: Texts) -> GraphColumns:
    """The static assertions that rules can use."""
    words = recogniser.used_words()
    if words is None:
        return NO_TRIPLES
    predicates, classes = words
    s, o = Variable("s"), Variable("o")
    patterns = [TriplePattern(s, Constant(predicate), o) for predicate in predicates]
    patterns += [TriplePattern(s, Constant(RDF_TYPE), Constant(iri)) for iri in classes]
    return GraphColumns.joined([NO_TRIPLES, *(graph_columns(graph, key, texts, patterns) for graph in graphs)])


def _literal(batch: EventBatch) -> Mask:
    found: Mask = batch.buffer[batch.object_at] == _QUOTE
    return found


def _cells(cells: Cells, at: Int64) -> Cells:
    return cells[0][at], cells[1][at]


def _rows_of(batch: EventBatch, events: Int64, cells: Cells, width: int = 1) -> Rows:
    """A row for each item, with a set."""
    return lasting_rows(column_of(cells, width), batch.start[events], batch.end[events])
