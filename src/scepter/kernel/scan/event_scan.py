"""Leaves that need an event's graph as terms: `EventScan` (paths), and triple scans under a schema that tables cannot hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np

from scepter.algebra.expressions import Constant, Variable
from scepter.kernel.encoding import encoded_rows
from scepter.kernel.lineage import Lineage
from scepter.kernel.policy.tracking import Occurrences
from scepter.kernel.rows import NO_LINEAGE, Mask, Rows, empty, lasting_rows
from scepter.kernel.scan.intake import Intake
from scepter.kernel.sparql.context import Row
from scepter.kernel.sparql.dataset import EMPTY_GRAPH, Graph
from scepter.kernel.sparql.patterns import solutions
from scepter.kernel.texts import Texts
from scepter.ontology.schema import Schema
from scepter.physical.nodes.derive_nodes import DerivedPath
from scepter.physical.nodes.instant_nodes import EventScan
from scepter.physical.nodes.nodes import TripleScan
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term, Triple
from scepter.rdf.values import to_literal


def event_graphs(intake: Intake, texts: Texts, wanted: Mask, schema: Schema) -> Iterator[tuple[int, tuple[Triple, ...]]]:
    """The wanted events of a batch, by their places, with their triples and what those entail, each once."""
    batch = intake.batch
    rows = np.flatnonzero(np.repeat(wanted, np.diff(batch.first)))
    columns = ((batch.subject_at, batch.subject), (batch.predicate_at, batch.predicate), (batch.object_at, batch.object))
    terms = ([*map(texts.known, (at[rows] + intake.base).tolist(), ids[rows].tolist())] for at, ids in columns)
    triples = map(Triple, *terms)
    sizes = np.diff(batch.first)
    for event in np.flatnonzero(wanted).tolist():
        graph = dict.fromkeys(islice(triples, int(sizes[event])))
        yield event, tuple(dict.fromkeys(c for triple in graph for c in schema.consequences(triple)))


class EventScans:
    """Patterns in the graph of each event, term by term."""

    def __init__(
        self,
        scans: Sequence[EventScan],
        schema: Schema,
        key: TermKey,
        texts: Texts,
        lineage: Lineage,
        occurrences: Occurrences,
    ) -> None:
        self._scans = scans
        self._left_out = [needless(scan) for scan in scans]
        self._schema, self._key, self._texts, self._lineage = schema, key, texts, lineage
        self._occurrences = occurrences

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Per scan its rows in order of end."""
        found: list[list[tuple[int, Row]]] = [[] for _ in self._scans]
        graphs = dict(event_graphs(intake, self._texts, wanted, self._schema))
        for event, triples in graphs.items():
            graph = Graph(triples)
            for place, scan in enumerate(self._scans):
                rows = solutions(scan.pattern, graph)
                left_out = self._left_out[place]
                found[place] += ((event, row) for row in rows if frozenset(row.items()) not in left_out)
        return [self._rows(scan, each, intake, graphs) for scan, each in zip(self._scans, found, strict=True)]

    def _rows(
        self, scan: EventScan, found: list[tuple[int, Row]], intake: Intake, graphs: dict[int, tuple[Triple, ...]]
    ) -> Rows:
        events = np.array([event for event, _ in found], np.int64)
        names, count = scan.schema.variables, len(found)
        if not count:
            return empty(len(names))
        lineage = np.full(count, NO_LINEAGE)
        if scan.tracked:
            start, end = intake.batch.start, intake.batch.end
            nodes = {
                event: self._occurrences.node(graphs[event], int(start[event]), int(end[event]), intake.number + event)
                for event in dict.fromkeys(events.tolist())
            }
            lineage = np.array([nodes[event] for event in events.tolist()], np.int64)
        bound = [{**row, scan.numbered: to_literal(intake.number + event)} if scan.numbered else row for event, row in found]
        cells = [[row.get(name) for name in names] for row in bound]
        columns = encoded_rows(cells, len(names), self._key, self._texts)
        return lasting_rows(columns, intake.batch.start[events], intake.batch.end[events], lineage).by_end()


class ExactTriples:
    """Triple scans under a schema that has rules for its own vocabulary: each event's closure, term by term."""

    def __init__(
        self, scans: Sequence[TripleScan], schema: Schema, key: TermKey, texts: Texts, lineage: Lineage,
        part: Callable[[str], int],
    ) -> None:  # fmt: skip
        self._scans = scans
        self._schema, self._key, self._texts, self._lineage = schema, key, texts, lineage
        self._parts = [part(scan.label) if scan.label else None for scan in scans]

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Per scan its rows in order of end."""
        found: list[list[tuple[int, tuple[Term, ...]]]] = [[] for _ in self._scans]
        for event, triples in event_graphs(intake, self._texts, wanted, self._schema):
            for place, scan in enumerate(self._scans):
                found[place] += ((event, row) for triple in triples if (row := _matched(scan, triple)) is not None)
        return [self._rows(place, each, intake) for place, each in enumerate(found)]

    def _rows(self, place: int, found: list[tuple[int, tuple[Term, ...]]], intake: Intake) -> Rows:
        width = len(self._scans[place].schema.variables)
        if not found:
            return empty(width)
        events, part = np.array([event for event, _ in found], np.int64), self._parts[place]
        lineage = np.full(len(found), NO_LINEAGE)
        if part is not None:
            lineage = self._lineage.leaves(part, events + intake.number, intake.names()[events])
        start, end = intake.batch.start[events], intake.batch.end[events]
        columns = encoded_rows([row for _, row in found], width, self._key, self._texts)
        return lasting_rows(columns, start, end, lineage).by_end()


def _matched(scan: TripleScan, triple: Triple) -> tuple[Term, ...] | None:
    row: dict[str, Term] = {}
    for node, term in zip(scan.pattern.places, triple, strict=True):
        if isinstance(node, Constant):
            if node.term != term:
                return None
        elif isinstance(node, Variable) and row.setdefault(node.name, term) != term:
            return None
    return tuple(row[name] for name in scan.schema.variables)


def needless(node: EventScan | DerivedPath) -> frozenset[frozenset[tuple[str, Term]]]:
    """The solutions of a pattern that need no triple, where they are to be left out of each graph's."""
    if not node.needy:
        return frozenset()
    return frozenset(frozenset(row.items()) for row in solutions(node.pattern, EMPTY_GRAPH))
